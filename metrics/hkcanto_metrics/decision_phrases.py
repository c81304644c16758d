"""The phrases by which a response states a decision, refutes an option, or merely speaks of one.

Data for `hkcanto_metrics.choice`. Every pattern meets text that `normalize_response` has reduced:
Simplified script, 是 also for 係, 不 for 唔, 的 for 嘅, 选 for 揀, 对 for 啱. Case is ignored
but for options' letters. Chinese characters are word characters, so `\\b` appears nowhere: in
«is|are», no Latin letter stands around the words.
"""

from __future__ import annotations

import re

from hkcanto_metrics.script import fold_script

_WORDS = {
    "opt": r"选项|这?一?项",
    "noun": r"答案?|正解|选项|answers?|ans|choice|option|solution",
    "surely": r"应该?|就|先|都|咪|其实|一定|(?:most )?likely|probably|clearly|definitely|actually",
    "maybe": r"可能|也许|或许|似乎|好似|perhaps|might|may|could",
    "then": r"所以|因此|故此?|于是|综上所?述?|总之|可见|那么|咁样?|therefore|so|thus|hence|overall",
    "right": r"(?<!in)correct|right|true|best|正确|(?<!对)对(?![于面比应象方对])|符合"
    r"|合适|适合|合理|恰当|贴切|唯一|the only|可能性最大|[最较]似|[✓✔✅☑]",
    # ... and not the option after it: B（唔係C）
    "wrong": r"(?:not(?! only| sure)|n't|never|incorrect|wrong|false|(?<![无没])[错误]"
    r"|不(?![仅但过单])|无(?![疑误错一])|未|没(?!错)|排除|eliminated|ruled out|excluded|[✗✘❌×✖])"
    r"(?!是?选?\s?\(?{opt}?\(?(?-i:[A-J])(?![a-z]))",
    "they": r"(?:人|同学|学生|考生|网民|网友|他|她|[A-J]君|网上|老师|朋友|阿[^我,。;])们?"
    r"(?:(?!应)[^,。;]){0,8}?(?:说|讲|认为|觉得|选|答|猜|估|想)|«students?|people|someone|others"
    r"|some|he|she|they|friend|teacher|(?-i:(?!We)[A-Z][a-z]+)»(?: might| may| would| often)? "
    r"«says?|said|thinks?|believes?|claim(?:s|ed)?|argues?|cho(?:se|oses?)|pick(?:s|ed)?|insists?»",
}


def phrase(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which `{name}` stands for one of several words."""
    for name, words in reversed(_WORDS.items()):
        pattern = pattern.replace(f"{{{name}}}", f"(?:{words})")
    pattern = pattern.replace("«", r"(?<![a-z])(?:").replace("»", r")(?![a-z])")
    return re.compile(fold_script(pattern), re.IGNORECASE)


# Right before an option, these make it the decision.
CUE = phrase(
    r"(?:{noun}(?-i:[^\n。;!?A-J]){0,60}?(?:是|在|be(?![a-z])|[:→⇒=]>?|-+>?|…+)"
    r"|(?<![^\n。,;:!?. ()])(?:正确|最[终后佳])?{noun}[.)]?"
    r"|选择?(?:的?是|了|返)?|(?:我|会)[答填投]|倾向于?|改了?[为成返做]|剩[下返低]?|[净得][返低]"
    r"|«(?:choos|chose|pick|select)[a-z]*|go(?:ing)? (?:with|for)|opt(?:ing)? for|vote for"
    r"|settl(?:e|ing) (?:on|for)|lean(?:ing)? (?:towards?|to)|leaves|left with»(?: us)?"
    r"|(?<![a-z]){then},?(?: it)?(?:{surely}|\s)*(?:是| is)?"
    r"|(?:想|觉得|估|猜|信|支持|«think|believe|guess|say»)(?: that)?是?)[\s(:]*$"
)
# After these, an option need not end its clause.
FIRM = phrase(r"(?:(?:答案|answer)(?:是|为|:| is)|只有|唯有|(?<![a-z])only)[\s(:]*$")
# After a copula it must.
COPULA = phrase(
    r"(?:(?<!关)是|为|属于?|即|:|→|⇒|«is|are|be|namely|(?:look|seem)s? like|corresponds? to»|'s)"
    r"(?:[\s:]*{maybe})*[\s(]*$|(?<![^\n。,;:!?. ]){surely}[\s(]*$"
)
# A line that leads on to an option on the next one.
LEADS_ON = phrase(r"\A(?!.[.):、])(?:.*(?:[:是为]|«is|are»)|.{0,6}(?:答案|answer))\s*\Z")
HEDGED = phrase(r"{maybe}")

# Right after an option.
ASKED = phrase(r"[) ]*[吗咩]|[^,]*\?$")
CLAIMED = phrase(
    r"[) ]*{opt}?(?:{surely}|至|\s|无疑|must|would|will)*(?:(?:是|is|be)\s?(?:the |my |final "
    r"|most [a-z]+ |likely |最佳|最[好终]|[本呢这]题|标准|我|的)*(?:答案|正解|选项|answer|choice)"
    r"|(?<=[才先至])算?最?{right}|(?<=[才先至])是(?=[.。,!])|it is(?=[.!])|is more likely|最有可能"
    r"|makes more sense)"
)
AFFIRMED = phrase(r"[).、 :]*(?-i:[^\n。.,;:!?A-J]){0,12}?[,:]?\s?{right}")
REFUTED = phrase(r"\(?(?-i:[^\n。,;!?(A-J]){0,24}?{wrong}")
# ... though it was just chosen.
ASSAILED = phrase(
    r"[) :(-]{0,4}(?:this|that|which|it)?\s?{opt}?(?:是|都|也|明显|is|was|\s)*{wrong}"
)
# What ends the clause of an option, or leads over to a reason.
CLOSED = phrase(
    r"[) ]*{opt}?\)?(?:$|[\n.。,、;!:(-]"
    r"|[呀啊啦喇囉咯喎嘞啫吖㗎架的吧哦喔哩啩囖嚹噃了嘛卦掛先]{1,3}(?=$|[\s.。,、;!~)])|因|由于|而"
    r"|其|就?[无没][误错疑]|好|作为|为|最|解|理由|原因|说明|并?[不非]是?选?(?-i:[A-J])|一票"
    r"|(?:because|since|as|for|due|given|based|and|not|over|instead|here|in|with|which|where|though"
    r"|but|by|from|then|again|too|rather|i (?:think|believe|guess)|probably|definitely)(?![a-z]))"
)

OPTION_WORD = phrase(r"(?<!正确)(?<!最佳)(?:选项|(?<![a-z])(?:the )?option)[ (]*$")
# Letters that are no options; what comes after "A" and "I" if they are none of these words.
NO_OPTION_BEFORE = phrase(
    r"(?:维他命|成绩|等级|评级|血型|型号|«vitamin|plan|grades?|type|class|hepatitis|exit|block|gate"
    r"|team|level|score|point»)(?:是|:| is)?\s?$"
)
AFTER_LETTER = "is|and|seems|must|would|has|fits|because|as|since|for|with|by|but|over|not"

# Before an option, with its cue: a negation.
NEGATED = phrase(
    r"(?:[不勿别未无非]|没有?)(?:会|能|可以|可能|应该?|好|要|该|必|想|敢|等于|一定|建议|使"
    r"|是)*(?:选择?|答)?[\s(]*$|(?:«not|never|cannot|avoid|instead of|rather than|neither|nor"
    r"|except|exclude|eliminate|rule out»|n't)(?: [a-z]+){0,4}[\s(]*$"
    r"|(?:除了|排除|剔除)[\s(]*$|≠\s*$|不(?:认为|觉得|同意|信)[^。,]*$"
)
# Anywhere before it in its sentence: a condition, a doubt, a consideration, another's view.
NOT_OWN = phrase(
    r"(?:如果|假如|假设|要是|(?<![相假])若(?!干))(?!要我|.{0,6}(?:必须|只能|要)[选答])|是否"
    r"|是咪|难道|以为|本来|原本|起初|取决|视乎|短期|长期|{they}|首先|逐一?|不是[^,、]{1,10}就是?$"
    r"|(?<![为因])否则|«if(?! (?:forced|i (?:had|have) to|i must))|whether|unless|suppos(?:e|ing)"
    r"|assum(?:e|ing)|doubt|depends?|otherwise|short[- ]term|long[- ]term|first,|consider|look at"
    r"|let's see|let me|(?<!second )thought|was going to|not sure»"
)
# From here on in its sentence, none of these.
CONTRAST = phrase(
    r"但是?|不过|然而|后来|结果|所以|因此|故(?!事)|于是|其实|最[^,。]{1,6}的?是|当中|(?<=[,。;])我"
    r"|«but|however|so|therefore|thus|hence|finally»"
)

REVISED = phrase(
    r"不对|错|等等|等阵|更正|改|重新|其实|再想|想清楚|(?<=[,。…\n])不,"
    r"|«wait|hold on|actually|correction|sorry|mistake|instead|second thought|rather»"
)
RETRACTED = phrase(
    r"[\n。!?, ](?:(?<! )|(?<=[^\s:;][.,] ))(?P<words>不对|不是|我?搞?错了?|no|nope"
    r"|that(?:'s| is) (?:not right|wrong|incorrect)|scratch that)(?=[,.。!;\n])"
)
# From here on, the response speaks of something else; base models go on to another question.
NEXT_PART = phrase(
    r"[\n。](?:常见|易错|注意[:事]|延伸|变式|[如假]?[果如若]题目|common (?:mistake|error|pitfall)"
    r"|if the question|note|follow-up|similar question"
    r"|(?P<question>(?<=\n)(?:(?:(?:next )?question|q|问题|题目?|problem|human|user|input"
    r"|instruction|样例|例题?|assistant)\s?\d{0,3}\s?[:.)]|第[一二三四五六七八九十\d]{1,3}题"
    r"|以下是(?:中国)?(?:关于|.{0,8}考试)|the following (?:are|is) "
    r"|[^\n]{0,200}(?:(?:哪|何者|下列|边个)[^\n]*|[?:]|的是)\n+A[).:、][^\n]*\nB[).:、])))"
)
REFUSED = phrase(
    r"[无不没][法知能会]|抱歉|对不起|[无没]有?(?:正确|适用)?(?:答案|选项)"
    r"|«cannot|can't|unable|sorry|don't know|none of the|content filtered»"
)
