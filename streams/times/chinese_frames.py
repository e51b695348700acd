"""Chinese around a time: what is none, what recurs, which session, which tense, empty words."""

import re
from typing import Final

from .chinese_words import CLOCK_PARTS, DAY_NUMBER, MONTH_NUMBER, WEEK, chinese_number, weekday_of
from .english_frames import WEEKDAY_CODES
from .named_days import Tense
from .time_values import SessionOrdinal

__all__ = [
    "CHINESE_EMPTY",
    "CHINESE_NOT_TIMES",
    "chinese_ordinal",
    "chinese_rule",
    "chinese_tense",
]

Place = tuple[int, int]
"""Where something stands: its first character and the one after its last."""

_NAMES: Final = r"(?:[一二三四五六七八九]月|国庆|元旦|中秋|春节|立春|冬至|清明)"
"""What people and pets are called as well."""

CHINESE_NOT_TIMES: Final = re.compile(
    r"(?:早上|上午|中午|下午|晚上|早|晚|午)(?:好|安)(?=[！!，,。 ~～?？呀啊吗]|$|\x00)"
    r"|(?:新年|新春|春节|元旦|圣诞节?|中秋节?|端午节?|国庆节?|元宵节?|周末|假期|节日|生日|母亲节"
    r"|父亲节|教师节|儿童节|情人节|劳动节|五一节?|七夕|感恩节|万圣节|除夕)"
    r"(?:节)?(?:快乐|愉快|安康|好(?=[！!，,。]|$)|大吉)"
    r"|后天(?=努力|培养|教育|形成|习得|养成|因素|环境|失调|性|的(?:努力|培养|因素|环境|影响|教育))"
    r"|早晚(?!上|[七八九十\d])|下午茶|一天天|一天到晚|有朝一日|总有一天|有一天|某一天|哪天|改天"
    r"|天天向上"
    r"|半天(?!前|后|以|之)|从此以后|从今以后|从今往后|好久以前|很久以前|很久之前|不久以后|不久之后"
    r"|初[一二三](?=(?:的时候|那年|上学|下学|时|毕业|学生|数学|班|年级|语文|英语|物理|化学|开学"
    r"|生))|(?<![月年])初[一二三四五六七八九十](?!月)"
    r"|[大高][一二三四](?:上|下)?(?:学期|那年|的时候|时|学|开学)?(?![年月])|星期五餐厅|周五餐厅"
    r"|五月天|周一鸣|周一围|周三多|六月雪|八月未央"
    r"|今日头条|明日方舟|明日之后|明日之星|昨日重现|今日说法|七月与安生|春天里|三月兔"
    r"|四月是你的谎言|九月新娘|十月怀胎|东正教?(?:复活节|圣诞节?|新年)|小年夜?|二月兰|一月份牌"
    r"|\d+号(?:楼|线|店|机|房|桌|门|馆|厅|选手|球|床|车|院|电池)"
    r"|(?:一|两|三|四|五|六|七|八|九|十|几|\d+)(?:天|周|星期|个?月|年)[一两三四五六七八九十几\d]+次"
    r"|三分钟热度|五分钟热度|一日三餐|一日游|[三两二四五七]日游|一年一度|一年四季|年年岁岁"
    r"|春夏秋冬|春秋|夏令营|冬令营|冬奥会"
    rf"|(?<=叫){_NAMES}(?![我你咱去过见说说])|(?<=[妹姐哥弟叔姨舅姑友学事师女儿猫狗]){_NAMES}的"
    r"(?=电话(?!费)|手机|号码|微信|地址|生日|爱好|名字|老公|老婆|男友|女友|男朋友|女朋友)"
    r"|日久天长|天长地久|中秋月饼|春节联欢晚会|春晚|元宵(?=好吃|馅|汤|真)|端午粽"
)
"""What looks like a time and is none: greetings, fixed phrases, durations, names, numbers."""


# --- what recurs ---------------------------------------------------------------------------------

_DAYS: Final = (
    r"[一二三四五六日天]"
    rf"(?:(?:、|和|,|，|跟|与|及)(?:每?个?{WEEK})?[一二三四五六日天](?![点个次天]))*"
)
_SPAN: Final = rf"[一二三四五六日天](?:到|至|-|~)(?:{WEEK})?[一二三四五六日天]"
_PARTS: Final = "|".join(sorted(CLOCK_PARTS, key=len, reverse=True))
_RULE: Final = re.compile(
    r"(?:隔周|每隔一周|每隔一个星期|每两周|每两个星期|每双周"
    rf"|双周)的?(?:{WEEK})?(?P<other>{_DAYS})(?![次个天])"
    rf"|(?:每逢|每个|每|逢)(?:{WEEK})(?P<span>{_SPAN})"
    rf"|{WEEK}(?P<span2>{_SPAN})(?=(?:我|都|，)?(?:每天|天天|都要上班|上班))(?:每天|天天)?"
    rf"|(?:每逢|每个|每|逢)(?:{WEEK}的?)?(?:{WEEK})(?P<days>{_DAYS})(?![次个遍趟顿]|天(?!气))"
    r"|(?P<ends>(?:每逢|每个?|逢)周末)|(?P<work>(?:每个?|每逢)?工作日)"
    rf"|每个?月的?(?P<nth>{DAY_NUMBER})[号日]"
    rf"|每年的?(?P<month>{MONTH_NUMBER})月(?P<day>{DAY_NUMBER})[号日]?"
    r"|每(?:年|逢|个)的?(?P<feast>元旦|情人节|妇女节|劳动节|五一|儿童节|六一|教师节|国庆节?"
    r"|万圣节|平安夜|圣诞节?|双十一|双十二)"
    rf"|(?:每天|每日|天天)(?:的)?(?P<daypart>{_PARTS})?|每个?(?P<part>早上|早晨|上午|中午|下午"
    r"|傍晚|晚上|晚|早)(?![餐饭])"
)
_CLOCK: Final = re.compile(
    rf"(?:{_PARTS})?的?(?:\d{{1,2}}|[一二两三四五六七八九十]{{1,3}})(?:点|时(?!候|间))(?:半|钟"
    rf"|整|一刻|三刻|[零一二三四五六七八九十\d]{{1,3}}分?)?"
    rf"|\d{{1,2}}:\d\d|(?:{_PARTS})"
)
_FEASTS: Final = {
    "元旦": "01-01", "情人": "02-14", "妇女": "03-08", "劳动": "05-01", "五一": "05-01",
    "儿童": "06-01", "六一": "06-01", "教师": "09-10", "国庆": "10-01", "万圣": "10-31",
    "平安": "12-24", "圣诞": "12-25", "双十一": "11-11", "双十二": "12-12",
}  # fmt: skip
_ONE_DAY: Final = re.compile(r"[一二三四五六日天]")


def chinese_rule(low: str) -> tuple[str, list[Place]] | None:
    """Find what recurs in a text.

    Returns:
        The rule and the places it was read from, clock times included, or None.
    """
    match = _RULE.search(low)
    if match is None:
        return None
    clocks = list(_CLOCK.finditer(low))
    places = [match.span(), *(one.span() for one in clocks)]
    return _rule(match), places


def _rule(match: re.Match[str]) -> str:
    if match["other"]:
        return f"weekly/2:{_codes(match['other'])}"
    if spans := match["span"] or match["span2"]:
        first, last = (weekday_of(spans[at]) for at in (0, -1))
        return f"weekly:{','.join(WEEKDAY_CODES[first : last + 1])}"
    if match["days"]:
        return f"weekly:{_codes(match['days'])}"
    if match["ends"]:
        return "weekly:sat,sun"
    if match["work"]:
        return f"weekly:{','.join(WEEKDAY_CODES[:5])}"
    return _rarer_rule(match)


def _rarer_rule(match: re.Match[str]) -> str:
    if match["nth"]:
        return f"monthly:{chinese_number(match['nth'])}"
    if match["month"]:
        return f"yearly:{chinese_number(match['month']):02}-{chinese_number(match['day']):02}"
    if match["feast"]:
        return "yearly:" + next(
            day for key, day in _FEASTS.items() if match["feast"].startswith(key)
        )
    part = match["part"] or match["daypart"]
    if not part:
        return "daily"
    key = {"晚": "night", "早": "morning"}.get(part) or CLOCK_PARTS[part]
    common = {
        "early morning": "morning",
        "dusk": "evening",
        "late night": "night",
        "deep night": "night",
    }
    return f"daily:{common.get(key, key)}"


def _codes(words: str) -> str:
    numbers = sorted({weekday_of(word) for word in _ONE_DAY.findall(words)})
    return ",".join(WEEKDAY_CODES[number] for number in numbers)


# --- sessions ------------------------------------------------------------------------------------

_NOUN: Final = (
    r"(?:聊天|对话|谈话|会话|交谈|聊|谈|交流|沟通|讨论|说话|讲话|打招呼|发(?:消息|信息|短信|微信)"
    r"|留言|写信)"
)
_TALKS: Final = (
    r"(?:聊|谈|说|讲|提|问|告诉|对话|讨论|交流|沟通|推荐|建议|回答|答应|承诺|解释|介绍|记|写|总结)"
)
_NUMBER: Final = r"(?:\d{1,3}|[一二三四五六七八九十]{1,3})"
_WHO: Final = r"(?:我们|咱们|咱俩|我俩|我|你|您)?(?:俩|两个)?"
_NEAR: Final = (
    rf"(?={_WHO}(?:跟|和|对|与)?(?:我们|我|你|您)?(?:都|还|也|又|是|在|都在)?"
    rf"(?:跟|和|对|与|给|为|向)?(?:我|你|您)?{_TALKS}"
    r"|[，,。？?！!、：:的\x00]*$|[，,：:、]|的?(?:时候|话题|内容|会话|建议|问题|回答|结论))"
)
_SESSION: Final = re.compile(
    rf"倒数第(?P<back>{_NUMBER})次(?:的)?(?={_WHO}(?:跟|和)?(?:我|你)?{_TALKS}|{_NOUN})(?:{_NOUN})?"
    rf"|(?P<nth>第{_NUMBER}[次回]|头一[次回]|头回|首次)(?:的)?(?:{_WHO}(?:跟|和|与|给|找)?(?:我|你"
    rf"|您)?{_NOUN})"
    rf"|(?P<opening>最(?:开始|早|初)的?那[次回]{_NEAR}|(?:最|刚)开始{_WHO}(?:跟|和|与|给|找)?(?:我"
    rf"|你|您)?{_NOUN})"
    rf"|(?P<beyond>上上一?[次回]|再上一?[次回]|前两次)(?:(?:的)?{_NOUN}|{_NEAR})"
    rf"|(?P<last>上一?次|前一次|最后一次|最近一次|上一回|上回|上一个|上一场)(?:(?:的)?{_NOUN}"
    rf"|(?<!个)(?<!场)(?<!最后一次){_NEAR})"
    rf"|(?P<now>这一?次|本次|当前|这个|这场|此次)的?(?:聊天|对话|谈话|会话|交谈)"
    rf"|(?P<ago>{_NUMBER}|两)次(?:聊天|对话|谈话|会话)(?:之前|以前|前)"
)


def chinese_ordinal(low: str) -> tuple[SessionOrdinal, Place] | None:
    """Find which session a text asks for."""
    match = _SESSION.search(low)
    if match is None:
        return None
    if match["opening"]:
        return SessionOrdinal(1, from_end=False), match.span()
    if match["nth"]:
        word = match["nth"].removeprefix("第").rstrip("次回")
        number = 1 if word in {"头一", "首", "头"} else chinese_number(word)
        return SessionOrdinal(number, from_end=False), match.span()
    if match["now"]:
        return SessionOrdinal(0, from_end=True), match.span()
    count = match["back"] or match["ago"]
    if count:
        return SessionOrdinal(chinese_number(count), from_end=True), match.span()
    return SessionOrdinal(2 if match["beyond"] else 1, from_end=True), match.span()


# --- tense ---------------------------------------------------------------------------------------

_PAST: Final = re.compile(
    r"来着|曾经?|(?<!经)过(?!年|节|敏|期|程|去|来|几|两|一|[三四五六七八九十\d]|夜|冬|分)"
    r"|(?<!除)(?<!为)了(?!解|不起|不得)"
    r"|上次|上回|昨|前天|去年|上周|上个?月|刚才|刚刚|是.{0,12}的(?=[。？?！!]|$)"
)
_FUTURE: Final = re.compile(
    r"(?<![重需主必想还只])要(?!求|是|紧|点|素)|(?<![开大机社聚约晚协误体学])会(?!议|上|员|计"
    r"|话)|将(?!近|军)|打算|准备(?!好)|计划(?=[去在])|就.{1,8}了(?=[。！!]|$)"
    r"|快.{1,4}了|(?<=[我你他她们天点])得(?!到|了)|必须|记得|别忘|提醒|到期|下周|下个?月"
    r"|明[天年]|后天|再见|见(?=[。！!]|$)"
)
_ASKS: Final = re.compile(
    r"(?:说|聊|提|讲|谈|问|写|记|告诉|答应|讨论).{0,8}(?:什么|啥|哪|谁|吗|呢|几|多少)"
    r"|(?:什么|啥|哪|谁|怎么样|多少|吗|为什么).{0,10}(?:[？?]|$)"
)


def chinese_tense(low: str) -> Tense | None:
    """Guess the tense of the main verb of a text; None where nothing marks it."""
    future, past = _FUTURE.search(low), _PAST.search(low)
    if future is not None and (past is None or future[0].startswith(("就", "快"))):
        return "future"
    if past is not None:
        return "past"
    return "past" if _ASKS.search(low) else None


CHINESE_EMPTY: Final = re.compile(
    r"我们|咱们|我|你|您|跟|和|对(?=我|你)|给(?=我|你)|告诉|说到|提到|聊到|讲到|谈到|说过|聊过"
    r"|提过|讲过|讨论|聊天|对话|谈话"
    r"|说(?!服|明)|聊|谈(?!恋)|提(?!高|升|前|醒)|讲(?!座|师)|问(?!题)|记(?!者|忆)|做(?!饭|菜|梦)"
    r"|干(?!净|燥)|发生|关于|什么时候|什么|哪些|哪个|哪里|哪儿|哪|啥|吗|呢|吧|啊"
    r"|的时候|时候|那天|当天|期间|里面|事情|事儿|事(?!业|故)|东西|内容|话题|都|些|一下|总结|回顾"
    r"|列出|列一下|帮|请|把|所有|全部|有没有|有|是|在|了|过|来着|的|到|里|还|又|也|想(?!象)"
    r"|怎么样|怎么|会(?!议)|要"
)
"""Words that a question about a time holds beside the time."""
