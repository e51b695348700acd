"""How near texts come to each other that have nothing in common: measured, for any encoder.

What a cosine says depends on the encoder: .5 is much with one and nothing with another. Ten
questions and ten turns of each language, none about what another is about, tell what comes by
chance.
"""

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Final

from ..schemas.ports import Vectors

__all__ = ["measured_chance"]

_DEVIATIONS: Final = 2.5
"""Over the mean. So a question meets by chance, among a few hundred turns, one that is as near: the
packaged encoder's own values, measured with lives and talks, are 2.5 to 3 over it."""

_MOST: Final = 0.95
"""Of an encoder that tells nothing apart, so that what is over it still counts."""

_UNRELATED: Final = MappingProxyType(
    {
        "en": (
            (
                "When does my passport expire?",
                "What did the plumber charge me?",
                "Which wine did we drink at the wedding?",
                "How tall is my nephew now?",
                "Where did I park the bicycle?",
                "Who is looking after the cat in June?",
                "What colour did we paint the kitchen?",
                "Did I ever answer the landlord's letter?",
                "Which train goes to the airport?",
                "What's the name of my guitar teacher?",
            ),
            (
                "The exam went better than I feared.",
                "It rained the whole weekend, so we stayed in and baked.",
                "My manager wants the report before noon.",
                "I've started reading a novel about whales.",
                "The dentist says the tooth can stay.",
                "We lost the match in the last minute.",
                "Her sister moved to Canada for a job.",
                "The printer at work is broken again.",
                "I can't sleep when it's this hot.",
                "He bought new shoes for the marathon.",
            ),
        ),
        "zh": (
            (
                "我的护照什么时候到期？",
                "水管工收了我多少钱？",
                "婚礼上我们喝的是哪种酒？",
                "我侄子现在多高了？",
                "我把自行车停在哪里了？",
                "六月份谁来照顾猫？",
                "厨房我们刷成了什么颜色？",
                "房东的信我回了没有？",
                "去机场坐哪趟火车？",
                "我的吉他老师叫什么名字？",
            ),
            (
                "考试比我担心的要好。",
                "整个周末都在下雨，我们就待在家里烤面包。",
                "经理要我中午之前交报告。",
                "我开始看一本讲鲸鱼的小说。",
                "牙医说这颗牙可以留着。",
                "比赛最后一分钟我们输了。",
                "她妹妹为了工作搬去了加拿大。",
                "公司的打印机又坏了。",
                "这么热的天我睡不着。",
                "他为马拉松买了新鞋。",
            ),
        ),
    }
)


def measured_chance(encode: Callable[[Sequence[str]], Vectors]) -> dict[str, float]:
    """Measure up to which cosine a question and a turn may come by chance.

    Args:
        encode: Returns unit vectors, float32 of shape (texts, dimension); called twice a language.

    Returns:
        The cosine by language: "en", "zh", and "und" with the higher of both.
    """
    found: dict[str, float] = {}
    for language, (questions, turns) in _UNRELATED.items():
        cosines = encode(questions) @ encode(turns).T
        found[language] = min(float(cosines.mean() + _DEVIATIONS * cosines.std()), _MOST)
    return found | {"und": max(found.values())}
