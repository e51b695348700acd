"""What a turn holds that is worth keeping."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.schemas.ports import Entity
from eunoe.streams.extraction import (
    AskedSlot,
    Extracted,
    asked_slots,
    extract,
    gate,
    guard,
    summarise_context,
    topics,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


def entity(text: str, name: str) -> Entity:
    """Make the entity of a name in a text."""
    start = text.index(name)
    return Entity(name, "other", start, start + len(name))


def user(text: str, *names: str) -> Extracted:
    """Extract from a user's turn."""
    return extract(text, [entity(text, name) for name in names], speaker=None, role="user")


def slots(text: str) -> set[tuple[str, str]]:
    """Return the slots that a user's turn states."""
    return {(one.slot, one.value) for one in user(text).statements if one.kind == "slot"}


# --- gate ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "trigger"),
    [
        ("The Falcon project starts", "Falcon", "entity"),
        ("猎鹰项目启动了", "猎鹰", "entity"),
        ("I prefer window seats", None, "preference"),
        ("我更喜欢靠窗的位置", None, "preference"),
        ("I'll send the draft by Friday", None, "commitment"),
        ("我答应周五把初稿发你", None, "commitment"),
        ("no, it's 14 not 40", None, "correction"),
        ("不是周三，是周四", None, "correction"),
        ("from now on use lists", None, "standing_order"),
        ("以后都用列表", None, "standing_order"),
        ("Remember that the key is under the pot", None, "remember"),
        ("记住，钥匙在花盆下面", None, "remember"),
        ("It is due next Tuesday", None, "time"),
        ("下周二截止", None, "time"),
        ("The rent is 1,200 euros", None, "number"),
        ("房租三千四百块", None, "number"),
        ("We decided to move", None, "decision"),
        ("我决定不去了", None, "decision"),
        ("My sister is a nurse", None, "relation"),
        ("我姐是护士", None, "relation"),
        ("My name is Gareth", None, "slot"),
        ("我叫邵一凡", None, "slot"),
    ],
)
def test_d2_1_each_cue_opens_the_gate(text: str, name: str | None, trigger: str) -> None:
    """An entity, preference, promise, correction, time, number or order triggers extraction."""
    assert trigger in gate(text, [entity(text, name)] if name else [])


@pytest.mark.parametrize(
    "text",
    [
        "I see.",
        "I guess so",
        "ok thanks!",
        "I'm good, you?",
        "haha",
        "你好",
        "我知道了",
        "我也是",
        "谢谢",
        "哈哈哈",
    ],
)
def test_a3_4_what_matches_no_trigger_is_not_kept(text: str) -> None:
    """Small talk, first person included, opens no gate and yields nothing."""
    assert gate(text, []) == frozenset()
    assert user(text) == Extracted()


@pytest.mark.parametrize("text", ["it went on like that", "就那样呗"])
def test_d2_3_no_entity_and_no_cue_is_no_write(text: str) -> None:
    """A sentence with neither names nor cues yields no proposal and no statement."""
    assert user(text) == Extracted()


# --- preferences ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "slot", "value", "condition"),
    [
        ("stop asking which format", "order/format", "stop asking which format", None),
        ("别再问我格式了", "order/格式", "别再问我格式了", None),
        ("never send copies by default", "order/copies", "never send copies by default", None),
        ("默认不要抄送", "order/抄送", "默认不要抄送", None),
        ("reply in lists", "order/reply", "reply in lists", None),
        ("请用列表回答", "order/回答", "请用列表回答", None),
        ("以后周报都用列表", "order/周报", "以后周报都用列表", None),
        (
            "For mails to Wang, reply in French.",
            "order/reply",
            "reply in French",
            "For mails to Wang",
        ),
        ("给王经理的邮件以后都用英文", "order/邮件", "以后都用英文", "给王经理的邮件"),
        ("Don't send reports after 10 pm", "order/reports", "Don't send reports", "after 10 pm"),
        ("晚上十点以后别给我发消息", "order/消息", "以后别给我发消息", "晚上十点以后"),
        ("I can't stand coriander", "like/coriander", "can't stand", None),
        ("我不吃香菜", "喜好/香菜", "不吃", None),
        ("I prefer tea over coffee", "prefer/coffee or tea", "tea", None),
        ("我更喜欢茶", "偏好/茶", "茶", None),
    ],
)
def test_a3_1_explicit_preference_is_extracted(
    text: str, slot: str, value: str, condition: str | None
) -> None:
    """A preference or standing order is a statement on its matter, with its condition."""
    stated = [one for one in user(text).statements if one.kind == "preference"]
    assert [(one.slot, one.value, one.condition) for one in stated] == [(slot, value, condition)]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I can't stand coriander", "I love coriander now"),
        ("我不吃香菜", "我喜欢香菜"),
        ("reply in lists", "Reply in prose from now on"),
        ("never send copies", "please send copies by default"),
        ("I prefer tea over coffee", "I prefer coffee over tea"),
        ("以后周报都用列表", "以后周报都用表格"),
    ],
)
def test_a3_1_a_newer_preference_on_the_same_matter_has_the_same_slot(
    older: str, newer: str
) -> None:
    """So it becomes a newer version, with another value."""
    (first,), (second,) = user(older).statements, user(newer).statements
    assert first.slot == second.slot
    assert first.value != second.value


@pytest.mark.parametrize(
    "text",
    [
        "Do you like coriander?",
        "你喜欢香菜吗",
        "I used to love coriander",
        "my sister hates coriander",
    ],
)
def test_questions_and_other_peoples_tastes_state_no_preference(text: str) -> None:
    """Only what the speaker says of himself, now, is a preference."""
    assert not [one for one in user(text).statements if one.kind == "preference"]


# --- slots ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("My name is Gareth.", "name", "Gareth"),
        ("我叫邵一凡，请多关照。", "name", "邵一凡"),
        ("I live in Utrecht these days", "home", "Utrecht"),
        ("我现在住在合肥，租的房子。", "home", "合肥"),
        ("I'm from Cork", "hometown", "Cork"),
        ("我是赣州人", "hometown", "赣州"),
        ("I'm an electrician", "job", "electrician"),
        ("我是焊工", "job", "焊工"),
        ("I work for Northwind Logistics.", "employer", "Northwind Logistics"),
        ("我在中石化上班", "employer", "中石化"),
        ("My birthday is on 4 July", "birthday", "4 July"),
        ("我生日是三月八号", "birthday", "三月八号"),
        ("I'm 57 years old", "age", "57"),
        ("我今年五十七岁了", "age", "五十七"),
        ("My email is lena.fors@example.com, use that", "email", "lena.fors@example.com"),
        ("我的邮箱是 lin88@example.cn，发这儿", "email", "lin88@example.cn"),
        ("My mobile number is +44 7700 900123.", "phone", "+44 7700 900123"),
        ("我手机号是13800000000", "phone", "13800000000"),
        ("My time zone is UTC+5:30, plan around that.", "timezone", "UTC+5:30"),
        ("我这边是东八区", "timezone", "东八区"),
        ("My native language is Catalan.", "language", "Catalan"),
        ("我的母语是粤语", "language", "粤语"),
        ("My girlfriend's name is Saoirse", "partner", "Saoirse"),
        ("女朋友名叫阮棠", "partner", "阮棠"),
        ("We have a tortoise named Winston.", "pet", "Winston"),
        ("我养了只乌龟，叫慢慢。", "pet", "慢慢"),
        ("I'm a strict vegetarian", "diet", "vegetarian"),
        ("我是清真饮食", "diet", "清真"),
        ("I'm allergic to bee stings, I carry a pen", "allergy", "bee stings"),
        ("我对蜂毒过敏", "allergy", "蜂毒"),
        ("My favorite colors are teal and red", "favourite/colour", "teal and red"),
        ("我最喜欢的颜色是青色", "favourite/颜色", "青色"),
        ("my default backup folder is D:/backup", "default/backup folder", "D:/backup"),
        ("我的默认备份文件夹是 /data/bak", "default/备份文件夹", "/data/bak"),
    ],
)
def test_a_stated_slot_has_its_exact_value(text: str, slot: str, value: str) -> None:
    """The value is the text's own characters."""
    assert (slot, value) in slots(text)
    assert value in text


@pytest.mark.parametrize(
    "text",
    [
        "I don't live in Berlin any more",
        "我早就不住北京了",
        "Do I live in Rome?",
        "我住在哪里？",
        "If I lived in Rome I'd be happy",
        "要是我住在海边就好了",
        "She lives in Oslo",
        "她住在上海",
        "My sister lives in Rome",
        "我妈的生日是五月一号",
        "I'm 10 minutes late",
        "I'm a bit tired",
        "我是夜猫子那一派的人",
        "My friend is allergic to nuts",
    ],
)
def test_what_is_not_the_speakers_own_fact_states_no_slot(text: str) -> None:
    """Negations, questions, wishes and other people's facts state nothing."""
    assert slots(text) == set()


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
@pytest.mark.parametrize(
    "text", ["I live in Utrecht.", "我住在合肥。", "never send copies", "以后都用列表"]
)
def test_only_a_user_states(text: str, role: str) -> None:
    """What a model or a tool says of itself is nobody's slot."""
    assert extract(text, [], speaker=None, role=role).statements == ()


def test_a_named_speaker_states_his_own_slots() -> None:
    """In a chat between people the statement has no subject: it is whoever speaks."""
    (stated,) = extract("I live in Utrecht.", [], speaker="Ana", role="user").statements
    assert (stated.subject, stated.slot, stated.value) == (None, "home", "Utrecht")


# --- proposals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to drop the second phase.", "decision"),
        ("第二期先不做了，我们决定放弃。", "decision"),
        ("I promised to call Tom on Friday.", "commitment"),
        ("我答应周五给他打电话。", "commitment"),
        ("Dad had his hip replaced on 12 November.", "event"),
        ("我妈上周二做了白内障手术。", "event"),
        ("My cousin Theo owns the garage.", "relation"),
        ("街角那家修车铺是我堂哥开的。", "relation"),
    ],
)
def test_a_sentence_is_proposed_with_its_kind(text: str, kind: str) -> None:
    """A proposal is a sentence of the turn, in its place."""
    (proposal,) = user(text).proposals
    assert proposal.kind == kind
    assert text[proposal.start : proposal.end] == proposal.text


@pytest.mark.parametrize(
    ("text", "details"),
    [
        (
            "Hi! We sold the boat to Raj in May. ok then. My exam is on 22 January. Cheers.",
            ("boat", "exam"),
        ),
        ("你好！我们五月把船卖给了老魏。好的。对了，我一月二十二号考试。回见。", ("船", "考试")),
    ],
)
def test_d2_4_each_topic_of_a_turn_keeps_its_details(text: str, details: tuple[str, str]) -> None:
    """Sentences are read one by one, so that a later topic doesn't cover an earlier one."""
    kept = [proposal.text for proposal in user(text).proposals]
    assert all(any(detail in one for one in kept) for detail in details)
    assert not any(
        one in ("Hi!", "ok then.", "Cheers.", "你好！", "好的。", "回见。") for one in kept
    )


def test_a_long_turn_yields_at_most_eight_proposals_in_order() -> None:
    """The strongest are kept, as they stand in the turn."""
    text = " ".join(f"My cousin number {n} moved to Leeds in May." for n in range(40))
    proposals = user(text).proposals
    assert len(proposals) == 8
    assert [one.start for one in proposals] == sorted(one.start for one in proposals)


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "我" * 1_000_000, "I love it. " * 90_000, "my " * 300_000]
)
def test_a_megabyte_is_read_in_time(text: str) -> None:
    """No pattern explodes on a long turn."""
    begun = time.perf_counter()
    user(text)
    assert time.perf_counter() - begun < 10


@given(TEXTS, st.sampled_from(["user", "assistant", "tool", "system"]))
def test_any_text_is_read(text: str, role: str) -> None:
    """Nothing crashes, and what is found stands in the text."""
    found = extract(text, [], speaker=None, role=role)
    for proposal in found.proposals:
        assert text[proposal.start : proposal.end] == proposal.text
    for stated in found.statements:
        assert stated.value in text
    guard(text, [])
    asked_slots(text)
    topics(text, [])


# --- guard ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I take 20 mg", "I take 40 mg"),
        ("我每天吃二十毫克", "我每天吃四十毫克"),
        ("I eat fish", "I don't eat fish"),
        ("我吃鱼", "我不吃鱼"),
        ("I eat fish and I drink", "I don't eat fish and I don't drink"),
        ("We meet on Wednesday", "We meet on Thursday"),
        ("周三开会", "周四开会"),
        ("It is on May 3", "It is on May 4"),
        ("at 3 pm", "at 3 am"),
        ("I have two kids", "I have three kids"),
        ("一万八", "一万九"),
    ],
)
def test_different_facts_have_different_guards(one: str, other: str) -> None:
    """Negation, numbers, dates and times keep two memories apart."""
    assert guard(one, []) != guard(other, [])


def test_different_names_have_different_guards() -> None:
    """Ana is not Anna; ana is Ana."""
    ana, anna, lower = (f"{name} called" for name in ("Ana", "Anna", "ana"))
    guards = [guard(one, [entity(one, one.split()[0])]) for one in (ana, anna, lower)]
    assert guards[0] != guards[1]
    assert guards[0] == guards[2]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I have two kids", "I have 2 kids"),
        ("我有二十三本书", "我有23本书"),
        ("1,500 guests", "1500 guests"),
        ("工资一万八", "工资18000"),
        ("20 mg a day", "20mg a day"),
        ("吃20毫克", "吃二十毫克"),
    ],
)
def test_one_number_has_one_form(one: str, other: str) -> None:
    """Words and digits, with and without separators, are the same number."""
    assert guard(one, []) == guard(other, [])


# --- questions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "subject", "slot"),
    [
        ("what is my name", None, "name"),
        ("我叫什么名字", None, "name"),
        ("where do I live?", None, "home"),
        ("我住在哪？", None, "home"),
        ("What's my favorite color?", None, "favourite/colour"),
        ("我最喜欢的颜色是什么", None, "favourite/颜色"),
        ("what is my default backup folder", None, "default/backup folder"),
        ("我的默认导出格式是什么", None, "default/导出格式"),
        ("when is Ana's birthday", "Ana", "birthday"),
        ("小王的生日是哪天", "小王", "birthday"),
        ("What am I allergic to?", None, "allergy"),
        ("我对什么过敏", None, "allergy"),
    ],
)
def test_a_whole_question_asks_for_a_slot(question: str, subject: str | None, slot: str) -> None:
    """The slot is named as extraction names it."""
    assert asked_slots(question) == (AskedSlot(subject, slot),)


@pytest.mark.parametrize(
    "question",
    [
        "Which restaurant did I mention?",
        "我提过哪家餐馆",
        "where do I live and work?",
        "What's the weather?",
        "what's his email",
        "what did I say about my name",
        "",
    ],
)
def test_other_questions_ask_for_none(question: str) -> None:
    """What is not wholly a slot's question goes to the search."""
    assert asked_slots(question) == ()


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("My favourite colours are teal and red", "what's my favorite color?"),
        ("我最喜欢的歌手是朴树", "我最喜欢的歌手是谁"),
        ("my default airport is Gatwick", "What is my default airport?"),
        ("默认导出格式是PDF", "我的默认导出格式是什么？"),
    ],
)
def test_question_and_statement_name_the_same_slot(statement: str, question: str) -> None:
    """So an exact key finds the value."""
    (asked,) = asked_slots(question)
    assert asked.slot in {one.slot for one in user(statement).statements}


# --- context and topics --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("previous", "expected"),
    [
        (
            [("Ana", "I moved to Lisbon. " + "It was long ago " * 20), ("Bo", "Why?")],
            "Ana: I moved to Lisbon.\nBo: Why?",
        ),
        (
            [("小安", "我搬到了杭州。" + "好久以前的事" * 40), ("阿博", "为什么？")],
            "小安: 我搬到了杭州。\n阿博: 为什么？",
        ),
    ],
)
def test_d2_2_context_is_the_last_turns_clipped_at_sentences(
    previous: list[tuple[str, str]], expected: str
) -> None:
    """A candidate carries a short summary of what went before."""
    assert summarise_context(previous, 120) == expected


@given(st.lists(st.tuples(st.text(max_size=5), TEXTS), max_size=5), st.integers(0, 200))
def test_d2_2_context_keeps_its_limit(previous: list[tuple[str, str]], limit: int) -> None:
    """However much was said."""
    assert len(summarise_context(previous, limit)) <= limit


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("Raj sees the doctor", "Raj", ("raj", "health")),
        ("老魏去医院了", "老魏", ("老魏", "health")),
    ],
)
def test_topics_are_names_and_matters(text: str, name: str, expected: tuple[str, ...]) -> None:
    """Tags are lower case, each once."""
    assert topics(text, [entity(text, name)]) == expected
