"""The phrases by which a response to a multiple-choice question states, or unstates, a decision.

Data for `hkcanto_metrics.choice`. Every pattern is matched, ignoring case, against a response that
`normalize_response` has reduced: punctuation half-width except 。and 、, brackets round, the
characters below Simplified, no space next to a Chinese character. Chinese characters are word
characters, so 答案是A has no word boundary: `\\b` appears nowhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Strength(Enum):
    """How firmly a phrase announces the option that follows it."""

    FIRM = "a decision, also when an English sentence goes on after the option"
    LOOSE = "a decision if the option ends its clause"
    HINT = "a decision only where the response states no other"


@dataclass(frozen=True, slots=True)
class Cue:
    """A phrase after which an option is a decision.

    Attributes:
        name: the phrase in its plainest form.
        pattern: it ends where the option begins; `{words}` are looked up in `WORDS`.
        strength: what the phrase is worth.
        examples: responses that this phrase decides for option C.
    """

    name: str
    pattern: str
    strength: Strength
    examples: tuple[str, ...]


WORDS: dict[str, str] = {
    # The beginning of a clause, and an option letter to come.
    "start": r'(?:(?<![^\n.,;:。、!?()"])|(?<=[.,;:!?)"] ))',
    "letter_ahead": r'(?=[\s(":]{0,4}(?-i:[A-H])(?![A-Za-z]))',
    # Chinese
    "maybe": r"可能|大概|或者|也许|或许|估计|似乎|恐怕",
    "surely": r"应该|应当|就|便|先|才|最|都|亦|也|正|只能|必定|必然|一定|肯定|当然|理应|显然"
    r"|其实|毫无疑问|最终|将会|将|会|咪|我",
    "is": r"(?:就|即|应|该|正)?(?:是|係|系|为|乃)",
    "be": r"{is}|属于|即",
    "pick": r"选(?!项)择?|拣|答|填|圈",
    "fitting": r"正确|最佳|(?:最|较|更|应|该)?(?:合适|适合|适当|恰当|合理|准确|贴切|接近|好|啱|对"
    r"|符合[^\n.,。;!?]{0,6})|(?:我|你)?(?:应该?|会|要|想)?{pick}",
    "thing": r"选项|答案|选择|一项|一个|描述|说法|叙述|解释|项",
    "answer": r"答案|正解|解答|结论|选项(?!:)|选择"
    r"|(?<![不唔非未])(?:{fitting}(?:的|嘅|嗰个?|那个){thing}?|(?:正确|最佳){thing}?)",
    "then": r"所以|因此|因而|故此|故|于是|综上所述|综上|综合以上|总之|总结|总括而言|由此可见"
    r"|由此可知|可见|可知|那么|咁样?|最后|最终|结论",
    # English
    "en_answer": r"answers?|option(?!s)|choice(?!s)|solution|conclusion|response|pick|selection"
    r"|guess|ans|verdict|letter|(?:correct|right|best) one",
    "en_modal": r"must|should|would|will|has to|have to|ought to|can only|most likely|likely"
    r"|probably|might|may|could|appears? to|seems? to",
    "en_surely": r"most likely|likely|probably|possibly|clearly|definitely|therefore|thus|indeed"
    r"|actually|obviously|simply|indicated by|represented by|given by|either|that|still",
    "en_pick": r"choose|pick|select|go(?:ing)? (?:with|for)|went with|opt(?:ing)? for|say|answer"
    r"|guess|settle (?:on|for)|lean(?:ing)? (?:towards?|to)|vote for|choosing|picking|selecting"
    r"|chose|picked|selected|bet on",
    "en_then": r"so|therefore|thus|hence|consequently|ergo|in conclusion|in summary|to conclude"
    r"|overall|finally|accordingly|as a result",
    # What refutes an option.
    "wrong": r"not(?! only| sure| certain| entirely)|isn't|n't|incorrect|wrong|false|错|误"
    r"|不(?!仅|但|过|止|同意|太|肯定|确定)|唔(?!太|肯定)|冇|未|非(?!常)"
    r"|排除|eliminated|ruled out|excluded|[✗✘❌×✖]",
    "right": r"(?<!in)correct|right|true|accurate|best|正确|啱|对(?![于面比应象方])|符合|成立|合适"
    r"|适合|合理|the only|most likely|唯一|最有可能|可能性最[大高]|[✓✔✅☑]",
}


def phrase(pattern: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """Compile a pattern in which `{words}` stands for one of the alternatives in `WORDS`.

    >>> bool(phrase("{then}").fullmatch("因此"))
    True
    """
    while (filled := re.sub(r"\{([a-z_]+)\}", lambda m: f"(?:{WORDS[m[1]]})", pattern)) != pattern:
        pattern = filled
    return re.compile(pattern, flags)


CUES: tuple[Cue, ...] = (
    Cue(r"\boxed", r"\\boxed", Strength.FIRM, (r"\boxed{C}", r"$\boxed{\text{(C)}}$")),
    Cue(
        "答案是",
        r"{answer}(?:\([^()\n]{0,24}\))?[\s\")]{0,3}(?:{surely}|{maybe}){0,4}"
        r"(?:{be}(?:{surely}|{maybe})?{pick}?|应?{pick}|[在喺]|[-=]>|[:=→⇒]|[–—-]{1,3}|\.{3,6})",
        Strength.FIRM,
        ("正確答案應該係C。", "答案选C", "最符合題意的是C", "啱嘅選項係 C 呀", "答案（Answer）：C"),
    ),
    Cue(
        "答案…是",
        r"{answer}[^\n.。;!?,:不唔非未冇咪否]{1,24}?(?:{be}|:){letter_ahead}",
        Strength.FIRM,
        ("答案根據課文內容是C。",),
    ),
    Cue(
        "答案",
        r"{start}(?:我的|我嘅|本题|此题|呢题|这题|正确|最终|最后|标准|{then}){0,4}(?:答案|正解)"
        r"(?=[^一-鿿]|$)",
        Strength.LOOSE,
        ("最終答案\n\nC", "答案 C"),
    ),
    Cue("答", r"{start}我?[回作]?答:", Strength.FIRM, ("答：C", "作答：C")),
    Cue(
        "我揀",
        r"(?:{start}|我|会|要|应该?|宜|就|只能|只可以|必须|{then}|决定|倾向于?|题|请|直接|当然|[梗紧]係|一定"
        r"|都係|还是|不如|宁愿|改|转|则|便|建议|终){pick}(?:的是|的係|咗|返|番|埋)?",
        Strength.LOOSE,
        ("我揀 C。", "故選（C）。", "因此本題應選擇C", "我會答C囉", "選C"),
    ),
    Cue("改為", r"(?:改|更正|修正|更改|订正|修改)[为成返做至到答]", Strength.FIRM, ("更正為C。",)),
    Cue(
        "剩下",
        r"(?:剩下|剩低|净返|净低|剩返|余下|只剩|剩余|得返)[的嘅]?{thing}?(?:只有|就|{be}){0,4}",
        Strength.LOOSE,
        ("A、B、D都唔啱，淨返C。",),
    ),
    Cue(
        "所以",
        r"{then}[,:]?(?:{surely}|只有){0,4}(?:{be}|选)?",
        Strength.LOOSE,
        ("所以係C。", "因此，C。", "綜上所述，應為 C"),
    ),
    Cue(
        "應該係",
        r"(?:应该|应当|应|我(?:谂|觉得|认为|估|信|相信|猜|话|会话)|相信|睇嚟|睇来|看来|一定|必定|肯定"
        r"|而|(?<!(?-i:[A-H]))就|只能|似|梗|紧|当然|其实|多数|八成|始终|还|反而|{maybe})(?:{surely}|{maybe}){0,4}{be}",
        Strength.LOOSE,
        ("我諗係（C）啦。", "應該就係C。", "唔係A而係C。"),
    ),
    Cue(
        "我估",
        r"{start}我?(?:谂|觉得|认为|估|猜|倾向于?|支持)",
        Strength.LOOSE,
        ("我估 C。",),
    ),
    Cue("係", r"{start}都?{is}", Strength.LOOSE, ("唔係A，係C。", "係 C 呀。")),
    Cue("✅", r"{start}[✅☑✓✔👉∴] ?(?!\n)", Strength.LOOSE, ("✅ C. 北角",)),
    Cue(
        "the answer is",
        r"(?<![a-z]){en_answer}(?:\([^()\n]{0,30}\))?[\s\")]{0,3}(?:{en_modal}\s){0,4}"
        r"(?:(?:'s|is|be|was|are|being)(?![a-z])|[-=]>|[:=→⇒–—-])"
        r"(?:\s?:?\s?{en_surely}(?![a-z])){0,4}",
        Strength.FIRM,
        (
            "The correct option is (C) North Point.",
            '{"answer": "C"}',
            "The answer is most likely C.",
            "Answer -> C",
            "The answer must be C.",
        ),
    ),
    Cue(
        "the answer … is",
        r"(?<![a-z])(?:answer|option(?!s)|choice(?!s))"
        r"(?:(?!cannot|n't|not |never|neither|without)[^.?!;\n:]){0,60}?"
        r"(?:is|be|are|:)(?![a-z]){letter_ahead}",
        Strength.FIRM,
        ("The answer to this question about power stations is C.",),
    ),
    Cue(
        "answer",
        r"{start}(?:(?:the|my|final|correct|best|{en_then}) ){0,4}(?:answer|ans)(?![a-z])\.?",
        Strength.LOOSE,
        ("Final Answer\n\nC", "Ans. C"),
    ),
    Cue(
        "final",
        r"{start}(?:final|verdict|conclusion|result|correct|correction|chosen):",
        Strength.FIRM,
        ("Final: C",),
    ),
    Cue(
        "I choose",
        r"(?:{start}|(?<![a-z'])(?:i|we|i'd|we'd|i'll|we'll|i'm|would|will|should|must|let's)"
        r"(?: (?:am|have|going|need|want|like|would|will|to|rather|probably|definitely|still"
        r"|therefore|also|just|finally)){0,4} )"
        r"{en_pick}(?![a-z])(?:\s?:)?(?: with)?",
        Strength.LOOSE,
        ("I would choose option c.", "I'd go with C", "Choose C."),
    ),
    Cue(
        "leaving",
        r"(?<![a-z])(?:leaves|leaving|left with|remaining (?:option|choice|answer) is)(?: us)?"
        r"(?: with)?(?: only)?",
        Strength.LOOSE,
        ("A, B and D are out, leaving C.",),
    ),
    Cue(
        "therefore",
        r"(?<![a-z]){en_then}(?![a-z]),?(?: (?:it|this|that))?"
        r"(?:'s| is| must be| has to be| should be)?",
        Strength.LOOSE,
        ("Therefore, C.", "So it must be (C)."),
    ),
    Cue(
        "it is",
        r"(?<![a-z])(?:(?:it|this|that)(?:'s| is)|{en_modal}(?: also)? be"
        r"|i(?:'m| am)? (?:think|believe|guess|suspect|reckon|say|feel|confident|sure)(?: that)?"
        r"(?: it(?:'s| is))?|i'd say|probably|most likely|definitely|maybe|perhaps|clearly|surely"
        r"|but|(?:looks|seems) like|(?:it|this|that) (?:corresponds to|matches|points to"
        r"|means))(?![a-z])(?: {en_surely}(?![a-z])){0,4}",
        Strength.LOOSE,
        ("It's C.", "I think it is C.", "Not A but C."),
    ),
    Cue("即", r"[亦也]?即(?:是|係|系|为)?|[也亦]就是", Strength.HINT, ("發電廠在北角，即 C。",)),
    Cue(
        "最…的是",
        r"最[^\n.,。;!?:]{1,6}[的嘅者]{thing}?{be}|(?<![a-z])the (?:[a-z]+est|most [a-z]+) "
        r"[^\n.,;!?:]{0,30}is(?![a-z])",
        Strength.HINT,
        ("A在九龍。B在新界。最早的是C。", "It has three. The oldest station is C."),
    ),
    Cue("→", r"(?<![A-H])(?<![A-H] )[→⇒](?!\n)", Strength.HINT, ("It stood in North Point → C.",)),
    Cue(
        "namely",
        r"(?<![a-z])(?:namely|which (?:is|means|corresponds to|matches)|i\.e\.,?|that is,)",
        Strength.HINT,
        ("It stood in North Point, which is C.",),
    ),
)

# Right after an option, these make it a decision without a cue: B 是正確答案, B it is.
CLAIMED = phrase(
    r'[)" ]{0,4}(?:(?:就|才|先至?|至|便|正|应该?|无疑|绝对|必定|一定|should|must|would|will|clearly'
    r"|definitely|most likely| ){0,4}(?:是|係|系|为|is|be|seems to be|appears to be|(?=the )) ?"
    r"(?:the |my |our |only |single |final |best |most [a-z]+ |correct |right |true |likely |clear "
    r"|正确|最佳|唯一|最终|最好|最合适|最适合|[最更较]?符合[^\n.,。;!?不]{0,8}|[本此呢这]题|这道题|标准"
    r"|我|啱|对|的|嘅){0,4}(?:答案|正解|选择|选项|answer|choice|option|response)"
    r"|(?:才|先至?|至)(?:是|係|系|算)?最?(?:正确|啱|对(?!于)|符合|合适|成立|合理|正解)"
    r"|(?:才|先至?)(?:是|係)(?=[.。,!]|$)|it is(?=[.!]|$)"
    r"|(?:must|has to|have to) be (?:correct|right|true))"
)
# Near an option, these speak for it or against it, without being a decision.
AFFIRMED = phrase(r'[)" :]{0,3}(?-i:[^\n.。,;:!?A-H]){0,12}?[,:]?{right}')
REFUTED_NEARBY = phrase(r"(?-i:[^\n.。;!?A-H]){0,24}?{wrong}")

# Right after an option, these take the decision back: 答案是A嗎, 選A是錯的.
ASKED = phrase(
    r'[)" ]{0,3}(?:选项)?(?:吗|咩|吧|呢|啊|呀|㗎|架|喎|好唔好|啱唔啱|对不对)?[)" ]{0,2}\?'
    r'|[)" ]{0,3}(?:吗|咩)'
)
REFUTED = phrase(
    r'[)" :(-]{0,4}(?:[这呢]个?|this|that|which|it)? ?(?:选项)?'
    r"(?:is |was |'s |係|是|都|也|均|亦|完全|明显|显然|绝对|并| ){0,4}"
    r"(?!(?:不是|唔係|而非|非|not) ?\(?(?-i:[A-H])){wrong}"
)
REFUTED_ITEM = phrase(
    r'[)" .:、-]{0,4}(?:is |this is |这是|係|是)?'
    r"(?:incorrect|wrong|false|not correct|错|不正确|不对|不符|唔啱|排除|[✗✘❌×✖])"
)

# Right after an option, these end its clause or lead over to the reason.
CLOSED = phrase(
    r'[)" ]{0,4}(?:$|[\n.。,、;!:()"–—-]'
    r"|[呀啊啦喇囉啰咯喎嘞啫吖㗎架嘅的吧哦喔哈哩啩掛囖嚹噃了嘛卦]{1,3}(?=$|[\s.。,、;!~()])"
    r"|因|由于|而|即|其|最?(?:好|恰当|合适|适合|合理|贴切)|无误|没错|冇错|无疑|作为|为(?:正确|答案|最)|解释|理由|原因|解析|说明"
    r"|(?:就|才|先至?|至)(?:是|係|系|算)?(?:正确|啱|对|符合|合理|最|冇错|没错)"
    r"|[并而]?[不唔][是係](?-i:[A-H])"
    r"|(?:because|since|as|for|due|given)(?![a-z]))"
)
# After a letter, also these.
LED_ON = phrase(
    r'[)" ]{0,4}(?:based|and|not|over|instead|here|in|with|which|where|though|although|but|by|from'
    r"|then|again|too|rather|i (?:think|believe|guess)|probably|definitely)(?![a-z])"
)
# After a firm cue an English sentence may go on, unless the option is its subject or an article.
GOES_ON = phrase(
    r"[)\"]{0,3} (?!(?:is|isn't|are|was|were|would|will|may|might|could|can|cannot|can't|does"
    r"|doesn't|has|seems|looks|or)(?![a-z]))[A-Za-z]"
)
GOES_ON_AFTER_A = phrase(r'[)"]{0,3} [A-Z][a-z]+:', re.RegexFlag(0))

# Between options that are named together.
JOIN = phrase(
    r"\s?(?P<firm>、|/|&|\+|和|同埋|同|与|及|以及|跟|至|到"
    r"|(?:或者|或|定係|定系|定|还是)(?:选择?|拣|是|係)?|,(?:或者|或|和|同|与|及)"
    r"|,? ?(?:and/or|and|or|to|nor)(?![a-z]))\s?|(?P<weak>[,;] ?| )"
)
# What follows the last of several options: after a mere comma nothing else may.
JOINED = phrase(
    r"\s?(?:$|[\n.。,、;!?/&)]|[都皆均两俱和同与及或跟定是係不唔错误正啱对]|其中|之间"
    r"|both|are|may|might|all|could|and|or)"
)
JOINED_WEAKLY = phrase(r'[)" ]{0,3}(?:$|\n|[.。!](?:\s|$)|[,、;/])| (?-i:[A-H])(?![A-Za-z])')

# Before a cue, in its clause, these make it no decision: a negation right before it; a condition,
# a doubt or another person's view anywhere.
BLOCKED = phrase(
    r"(?:[不唔勿别未冇]|没有?|无法|难以|毋须|并非)(?:会|能|可以|可能|应该?|好|要|该|想|敢|认为|觉得|代表"
    r"|等于|一定|打算|建议|使|系|係|是|确定|肯定|知道?){0,4}$"
    r"|(?<![a-z])(?:not|n't|never|cannot|can't|avoid|wouldn't|don't|doesn't|isn't|instead of"
    r"|rather than)(?: (?:be|say|choose|pick|select|the|that|to|think|believe|want|going)){0,4}\s?$"
    r"|(?<![a-z])(?:anything|everything|all|any)\s?$"
    r"|如果|假如|假设|假使|倘若|要是|(?<![相假])若(?!干)|除非|是否|係咪|难道|唔通|以为|本来|原本|原先|起初"
    r"|曾经|不认为|唔认为|不觉得|唔觉得|唔信|不相信|佢(?:哋)?[^,]{0,4}$"
    r"|(?:有|好多|很多|部分|不少|多数|一些)(?:人|同学|学生|考生|网民)[^,]{0,6}$"
    r"|(?<![a-z])(?:if|whether|unless|suppose|supposing|assume|assuming|(?<!second )thought|doubt"
    r"|not think|not believe|not sure|unsure"
    r"|(?:students?|people|somebody|someone|others|many|some|one|he|she|they)(?: [a-z]+){0,3}"
    r" (?:might|may|would|say|think|believe|claim|argue|choose|pick|select|answer)s?)(?![a-z])"
    r"|n't think"
    r"|(?<![a-z])(?:students?|people|others|many|some|they)(?: (?:often|usually|will)){0,4}\s?$"
)
HEDGED = phrase(r"{maybe}|(?<![a-z])(?:maybe|perhaps|possibly|might|may|could)(?![a-z])")

# A sentence by itself that takes the last decision back: 不對。 No, that's wrong.
RETRACTED = phrase(
    r"(?:(?<=[\n。!?,])|(?<=[^\s:;][.,] ))(?<!\n[A-H]\. )"
    r"(?:(?:等等|等阵|等一等|慢住|啊|噢|咦|哦|wait|hmm|oh|sorry|actually|hold on|oops)"
    r"[,.!…\s-]{0,4}){0,3}"
    r"(?:不对|唔对|唔啱|不是|唔係|错了|错咗|我?搞错了?|我错了|应该不是|[这呢]个?(?:不对|唔啱)"
    r"|no|nope|that(?:'s| is) (?:not right|wrong|incorrect)|i made a mistake|scratch that)"
    r"(?=[,.。!;\n]|$)"
)
# Shortly before a decision, these tell that it departs from an answer already given.
REVISED = phrase(
    r"不对|唔啱|唔对|错|等等|等阵|更正|修正|改|重新|应该?|所以|因此|故|综上|总结|最终|最后|其实"
    r"|(?<![a-z])(?:wait|no,|actually|correction|sorry|mistake|instead|second thought|re-?check"
    r"|therefore|thus|hence|so|final|conclusion|rather)(?![a-z])"
)
# Base models go on to write another question.
NEW_QUESTION = phrase(
    r"\n(?:(?:next )?question|q|问题|题目|题|problem|human|user|input|instruction)"
    r"\s?\d{0,3}\s?[:.)]"
    r"|\n第[一二三四五六七八九十\d]{1,3}题|\n以下是关[于於]|\nthe following (?:are|is) "
    r"|\n[^\n]{0,200}(?:\?|哪|何者|下列|边个|[:_])\n+(?:(?-i:A)[.):、]|…)"
)
EXPLAINED = phrase(r"解释|解析|分析|理由|原因|因为|说明|explanation|reason|because")
# A sentence that looks at an option in order to judge it.
CONSIDERED = phrase(
    r"首先|逐|分析(?:每|各|一下|如下|选项|:)|先看|考虑|睇下|如下|以下"
    r"|(?<![a-z])(?:first,|firstly|consider|look at|let's|let me|analy[sz]|examin|following)"
)
# A sentence that names an option's text without standing by it.
NOT_STATED = phrase(
    r"[不唔冇无没未或?吗]|可能|(?<![a-z])(?:not|no|never|or|may|might|could)(?![a-z])|n't"
)
# An option that a sentence ends with: 最高的山是A. But not 成績是A.
IS_AT_END = phrase(
    r"^(?!.*(?:成绩|等级|评级|血型|型号|[班座室级队线组]|维他命"
    r"|grade|plan|vitamin|type|class|score|team))"
    r".*(?:是|係|系|为|(?<![a-z])is) ?\(?(?P<letter>(?-i:[A-H]))$"
)
# Words before an option that make it the subject of its clause.
SUBJECT_AHEAD = phrase(
    r"(?:^|[\n,.;:!?。、(✗✘❌×✖✓✔✅☑]|选项|答案|只有|得|净係|唯有|而|但|所以|因此|故|则|就|认为|觉得|谂"
    r"|(?<![a-z])(?:option|choice|answer|only|that|think|believe|then|so|and|but|because|makes"
    r"|making))"
    r"[\s(\":]*$"
)
# Words before an option that leave no room for another.
ALONE_AHEAD = phrase(
    r"(?:只有|唯有|只得|净係得|唯一[^\n.,。;!?]{0,6}|(?<![a-z])only)(?: option| choice|选项)?"
    r"[\s(\":]*$"
)
# An option at the end, in brackets or as a clause of its own.
LAST_CLAUSE = phrase(
    r"(?:(?<=[,.。!?;…])(?<!(?-i:[A-H]),) ?(?:option |选项)?(?P<letter>(?-i:[A-H]))[\" ]*[.。!]+"
    r"|\((?P<bracketed>(?-i:[A-H]))\)[.。!]?)$"
)
# An "A" that is no option.
ARTICLE = phrase(
    r"(?<![A-Za-z])A (?=[a-z])"
    r"(?!(?:is|was|and|or|nor|to|seems|looks|must|should|would|has|fits|best|it)[ ,.])",
    re.RegexFlag(0),
)
SENTENCE_END = phrase(r"[。!?\n]|(?<![A-H])\.(?=\s|$)", re.RegexFlag(0))
