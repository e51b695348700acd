"""Of each slot, words of which one must stand in a text: a look-up that spares most searches.

"@" stands for an address and "#" for a number of several digits.
"""

from typing import Final

__all__ = ["CHINESE_SLOT_WORDS", "ENGLISH_SLOT_WORDS"]

ENGLISH_SLOT_WORDS: Final = {
    "name": "name named names name's called call calls i'm im am here speaking go",
    "home": "live lives living based reside residing settled staying dwell moved relocated home",
    "hometown": "from grew born raised hometown town native hail",
    "job": "i'm im am been work working job living make here trade profession",
    "employer":
        "work working employed employer company firm workplace joined started hired i'm im am",
    "birthday": "birthday bday b-day birth dob born birthday's",
    "age": "i'm im am turned turning turn age old be hit at yo here",
    "email": "@",
    "phone": "#",
    "timezone": "zone timezone time utc gmt #zone i'm im work live on in",
    "language": "language tongue speak speaker",
    "partner":
        "wife husband partner girlfriend boyfriend fiance fiancé fiancee fiancée spouse half "
        "gf bf hubby married engaged dating "
    "wife's husband's partner's girlfriend's boyfriend's fiancé's fiancée's spouse's",
    "pet":
        "dog cat puppy pup kitten rabbit bunny hamster parrot budgie canary tortoise turtle "
        "horse pony goldfish fish snake lizard gecko "
    "pig ferret rat mouse bird chinchilla hedgehog iguana cockatiel pet labrador poodle "
    "beagle corgi retriever terrier spaniel dachshund "
    "collie greyhound tabby goat donkey hen chicken llama axolotl dog's cat's puppy's "
    "rabbit's parrot's horse's tortoise's hamster's",
    "diet":
        "vegetarian vegan pescatarian pescetarian flexitarian fruitarian carnivore kosher "
        "halal keto paleo free gluten-free dairy-free "
    "lactose-free carb low-carb based plant-based coeliac celiac intolerant diet",
    "allergy": "allergic allergy allergies",
    "favourite": "favourite favorite favourites favorites",
    "default": "default",
}  # fmt: skip
CHINESE_SLOT_WORDS: Final = {
    "name": "叫 名 我姓 我是 喊我 称呼 鄙人",
    "home":
        "住 定居 家在 常驻 现居 人在 长居 搬 落户 生活 安家 租房 买房 家就安在 移居 迁到 常住 "
        "买了房",
    "hometown":
        "人 老家 家乡 故乡 籍贯 祖籍 来自 出生 长大 生在 长在 来的 出来的 过来的 我是 从小 "
        "小时候 生于",
    "job":
        "师 员 护士 生 医 教授 司机 编辑 记者 警 人 工 农民 经理 主 总监 店长 厂长 老板 秘书 "
        "助理 前台 保 厨 手 销售 客服 运营 产品 策划 翻译 "
    "导 演 画家 作家 诗 模特 匠 空姐 裁 官 者 体户 全职 出纳 质检 采购 职业 工作 本行 的 "
    "大夫 会计 行",
    "employer":
        "上班 工作 任职 供职 就职 当 做 干 教书 实习 部 组 值班 打工 受雇 效力 入职 加入 跳 "
        "公司 单位 东家 雇主",
    "birthday": "生日 生辰 出生 生的 生人 生于",
    "age": "岁 今年 现在 我已经 我都 我快",
    "email": "@",
    "phone": "手机 电话 座机 联系 号码 打我 找我 拨",
    "timezone": "时区 区 UTC GMT utc gmt 时间",
    "language": "语 话 文",
    "partner":
        "老婆 老公 妻 丈夫 太太 先生 媳妇 爱人 对象 男朋友 女朋友 男友 女友 未婚 另一半 伴侣",
    "pet": "叫 是 取名",
    "diet": "素 清真 生酮 无麸质 低碳 无糖 低盐 低脂 低嘌呤 吃斋 不吃荤",
    "allergy": "过敏 起疹子",
    "favourite": "最",
    "default": "默认",
}  # fmt: skip
