"""Whom and what a question names."""

import pytest

from eunoe.streams.mentions import asks_the_agent, names


@pytest.mark.parametrize(
    "question",
    [
        "What painters did you recommend to me?",
        "Do you remember which museum you mentioned?",
        "you told me how long to boil it, how long was that",
        "What was your advice about the headaches?",
        "Which version have you already written?",
        "Can you remind me of the restaurant you recommended?",
        "What was the third item on the list you provided?",
        "Didn't you say that it takes an hour?",
        "你曾经给我推荐过哪些画家？",
        "你告诉我的那个办法是什么",
        "上回你推荐的书叫什么",
        "关于如何放松，你给了我什么建议？",
        "你上次说的那家店叫什么",
        "你还记得你提到的那本书吗",
        "你的建议是什么来着",
    ],
)
def test_the_agents_own_words_are_asked_for(question: str) -> None:
    """A question about what the agent said is told from others, in both languages."""
    assert asks_the_agent(question)


@pytest.mark.parametrize(
    "question",
    [
        "Do you remember what I ate on Monday?",
        "I told you about my travel plans. Where did I plan to go?",
        "Do you know where my keys are?",
        "Can you tell me where I parked?",
        "Could you list my allergies and show me the address?",
        "What did I ask you to write?",
        "What did Ana recommend?",
        "Where do I live?",
        "你还记得我说过的那本书吗？",
        "我和你分享过一部电影，它的名字是？",
        "我跟你提过乌龟的名字吗",
        "你知道我妈住哪家医院吗",
        "你能告诉我我说过什么吗",
        "你可以提醒我车停在哪里吗",
        "你帮我总结一下我的计划",
        "安娜推荐了哪家店",
    ],
)
def test_the_users_own_words_are_asked_for(question: str) -> None:
    """What the user told the agent, or somebody else said, isn't the agent's."""
    assert not asks_the_agent(question)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("We've just driven into Girraween. Which pitch is ours?", ["Girraween"]),
        ("Who is Wei Jie, and where's the Quillstack call?", ["Wei Jie", "Quillstack"]),
        ("Who wrote War and Peace?", ["War and Peace"]),
        ("Where did I go on Tuesday in May? I'm lost.", []),
        ("where is the spare key", []),
        ("Maple 最后定哪天切", ["Maple"]),
        ("去 Pearson 接二老是哪天", ["Pearson"]),
        ("备用钥匙在哪", []),
    ],
)
def test_names_are_what_letters_show(question: str, found: list[str]) -> None:
    """Capitalised words within a sentence are names, and Latin words within Chinese."""
    assert names(question) == found
