"""The words with which a response decides for an option, refutes it, or merely speaks of it.

Each class of words has one home; a pattern joins classes in the order that a sentence has them. They
meet text that `normalize_response` has reduced: Simplified script, 是 also for 係, 不 for 唔, 的 for
嘅, 选 for 揀, 对 for 啱, ✓ and ✗ for all such marks. Case is ignored but for options' letters.
Chinese characters are word characters, so `\\b` appears nowhere: in «is|are», no Latin letter stands
around the words.
"""

from __future__ import annotations

import re

from hkcanto_metrics.script import fold_script

_CLASSES = {
    "opt": r"选项|这?一?项|(?:选项)?的?(?:说法|讲法|描述|陈述|叙述)",
    "answer": r"[回作]?答案?|回应|正解|选项|answers?|response|ans|choice|option|solution|pick|exception"
    r"|odd one out",
    "surely": r"应该?|就|先|都|咪|其实|一定|(?:most )?likely|probably|clearly|definitely|actually",
    "maybe": r"可能|也许|或许|似乎|好似|perhaps|might|may|could",
    "then": r"所以|因此|故此?|于是|综上所?述?|总之|可见|那么|咁样?|therefore|so|thus|hence|overall",
    "right": r"(?<!in)correct|right|true|best|正确|正解|(?<!对)对(?![于面比应象方对])|符合|吻合|合适|适合|合理|恰当|贴切"
    r"|[说讲行]得通|唯一|the only|可能性最大|稳妥|妥当|可取|可信|说服力|[较更]好|[较更最]佳|[最较](?:似|贴|接近)|✓|←|works"
    r"|wins|fits|makes? (?:more |most )?sense|stands out|most likely",
    # ... and not the option after it: B（唔係C）
    "wrong": r"(?:not(?! only| sure)|n't|never|incorrect|wrong|false|(?<![无没])[错误]|有误"
    r"|不(?![仅但过单同断少])|无(?![疑误错一])|未|并非|没(?!错)|排除|eliminated|ruled out|excluded"
    r"|×)(?!是?选? ?\(?{opt}?\(?(?-i:[A-J])(?![a-z]))|✗",
    "they": r"(?:人|同学|学生|考生|网民|网友|他|她|[A-J]君|网上|老师|朋友|阿[^我,。;])们?(?:(?!应)[^,。;]){0,8}?(?:说|讲|认为|觉得"
    r"|选|答|猜|估|想)|«students?|people|someone|others|some|he|she|they|friend|teacher"
    r"|(?-i:(?!We)[A-Z][a-z]+)»(?: might| may| would| often)? «says?|said|thinks?|believes?"
    r"|claim(?:s|ed)?|argues?|cho(?:se|oses?)|pick(?:s|ed)?|insists?»"
    r"|«(?!always)[a-z]+s (?:would |will |might )?(?:choose|pick|select|prefer)»",
}


def words(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which `{name}` stands for a class of words."""
    for name, members in reversed(_CLASSES.items()):
        pattern = pattern.replace(f"{{{name}}}", f"(?:{members})")
    pattern = pattern.replace("«", r"(?<![a-z])(?:").replace("»", r")(?![a-z])")
    return re.compile(fold_script(pattern), re.IGNORECASE)


# Before an option, up to it: an answer is named, or the response says that it chooses.
ANSWER = words(
    r"(?:{answer}(?-i:[^\n。;!?A-J]){0,60}?(?:是|在|«is|are|be»|[:→⇒=]>?|-+>?|…+)"
    r"|(?<![^\n。,;:!?. ()])(?:正确|最[终后佳])?{answer}[.)]?|选择?(?:的?是|了|返|答案|选项)?|(?:我|会|于是)[答填投揀]|倾向于?"
    r"|改了?[为成返做]|«(?:choos|chose|pick|select)[a-z]*|go(?:ing)? (?:with|for)|opt(?:ing)? for"
    r"|vote for|(?:chang|switch)(?:e|ing)(?: [a-z]+){0,2} to|settl(?:e|ing) (?:on|for)"
    r"|lean(?:ing)? (?:towards?|to)»|(?:想|觉得|估|猜|信|支持|«think|believe|guess|say|argue|reckon"
    r"|confident»)(?: that)?是?)(?: the)?[\s(:]*$"
)
# ... a conclusion is drawn, all others are gone.
CONCLUDES = words(
    r"(?:(?<![^\n。,;:!?. ]){then}(?-i:[^\n。,;!?不无没A-J]){0,9}|(?<![a-z]){then},?(?: it)?(?:{surely}"
    r"|\s)*(?:是| is)?|剩[下返低]?|[净得][返低]|{right}(?-i:[^\n。,;!?A-J]){0,60}?(?:(?<!关)是|为|:|«is|are|be»)"
    r"|«leaves|left with»(?: us)?(?: with)?)(?: the)?[\s(:]*$"
)
# After these, an option need not end its clause.
FIRM = words(r"(?:答案|answer)(?:是|为|:| is)[\s(:]*$")
ONLY = words(r"(?:只有|唯有|(?<![a-z])only)[\s(:]*$")
# After a copula it must.
COPULA = words(
    r"(?:(?<!关)是|为|属于?|即|:|→|⇒|«is|are|be|namely|(?:look|seem)s? like»|'s)(?:[\s:]*{maybe})*(?: the"
    r"| an?)?[\s(]*$|(?<![^\n。,;:!?. ]){surely}[\s(]*$"
)
MATCHES = words(
    r"(?:指|夹|对应|吻合|=|«(?:correspond|point)s? to|match(?:es)?|fits?|called"
    r"|stands for»)(?: the)?[\s(]*$"
)
# A line that leads on to an option on the next one.
LEADS_ON = words(r"\A(?!.[.):、])(?:.*(?:[:是为]|«is|are»)|.{0,6}(?:答案|answer))\s*\Z")
HEDGED = words(r"{maybe}")

# Right after an option.
ASKED = words(r"[) ]*[吗咩]|[^,]*\?$")
CLAIMED = words(
    r"[) ]*{opt}?(?:{surely}|至|\s|无疑|must|would|will|✓)*(?:(?:←|是|is|be)\s?(?:the |my |final "
    r"|most [a-z]+ |right |correct |likely |最佳|最[好终]|[本呢这]题|标准|我|的)*(?:答案|正解|选项|answer|choice|pick"
    r"|option|one)|(?<=[才先至])算?最?{right}|(?<=[才先至])是(?=[.。,!])|it is(?=[.!])|is what(?![a-z])"
    r"|is more likely|最有可能|makes more sense)"
)
AFFIRMED = words(r"[).、 :]*(?-i:[^\n。.,;:!?A-J]){0,12}?[,:]?\s?{right}")
REFUTED = words(r"\(?(?-i:(?!因(?!此)|由于|because|since|而)[^\n。,;!?(A-J]){0,40}?{wrong}")
# ... though it was just chosen.
ASSAILED = words(
    r"[) :(-]{0,4}(?:this|that|which|it)?\s?{opt}?(?:是|都|也|明显|is|was|\s)*(?:[错✗×]|不[对行成]|不正确"
    r"|不?是?错误?|不是(?=[,。.])|有误|«(?:not |in)(?:right|correct|true)|incorrect|wrong|false»)"
)
# What ends the clause of an option, or leads over to a reason.
CLOSED = words(
    r"[) ]*{opt}?\)?(?:$|答:|[\n.。,、;!:(→←✓-]|那[个条句]?|[呀啊啦喇囉咯喎嘞啫吖㗎架的吧哦喔哩啩囖嚹噃了嘛卦掛先咁]{1,3}(?=$"
    r"|[\s.。,、;!~解])|因|由于|而|其|就?[无没][误错疑]|好|作为|为|最|解|理由|原因|说明|并?[不非]是?选?(?-i:[A-J])|一票|(?:because"
    r"|since|as|for|due|given|based|and|not|over|instead|here|in|with|which|where|though|but|by"
    r"|from|then|again|too|rather|i (?:think|believe|guess)|probably|definitely)(?![a-z]))"
)

THEN = words(r"(?<![^\n。,;:!?. ()]){then}(?-i:[^\n。,;!?不无没A-J]){0,9}$")
EXCEPTED = words(r"[^\n。.;!?]{0,40}?(?:«least|except»|最不|例外)")
# In a sentence with one option, these say that it is the one.
POINTS = words(
    r"{answer}|«(?:clear|obvious|best|right) [a-z]+»|{right}|{then}|只有|净是|剩|«only|leaves|left»"
)

OPTION_WORD = words(r"(?<!正确)(?<!最佳)(?:选项|(?<![a-z])(?:the )?option)[ (]*$")
# Letters that are no options; what comes after "A" and "I" if they are none of these words.
NO_OPTION_BEFORE = words(
    r"(?:维他命|附[录表]|成绩|等级|评级|血型|型号|«vitamin|plan|grades?|type|class|hepatitis|exit|block|gate|group"
    r"|student|company|country|figure|appendix|section|page|table|team|level|score|point|price of"
    r"|good»)(?:是|:| is)?\s?$"
)
AFTER_LETTER = (
    "is|and|or|seems?|must|would|has|fits|because|as|since|for|with|by|but|over|not|works|wins"
    "|stands|makes|matches|looks|remains|only|best|comes"
)

# Before an option, with its cue: a negation.
NEGATED = words(
    r"(?:[不勿别未无非]|没有?)(?:会|能|可以|可能|应该?|好|要|该|必|想|敢|等于|一定|建议|使|是)*(?:选择?|答)?[\s(]*$"
    r"|不[是指](?!.*的[是有])[^,;、:A-J]{0,6}$|(?:«not|never|cannot|avoid|instead of|rather than|neither"
    r"|nor|except|exclude|(?:eliminat|rul)(?:e|ing)(?: out)?»|n't)(?: [a-z]+){0,4}[\s(]*$|(?:除了|排除"
    r"|剔除)[\s(]*$|≠\s*$|不(?:认为|觉得|同意|信)[^。,]*$|^✗ ?\(?$"
)
EXCEPTING = words(r"(?:除了|«except(?: for)?|apart from»)[\s(]*$")
# Anywhere before it in its sentence: a condition, a doubt, a consideration, another's view.
NOT_OWN = words(
    r"which of|哪[个一]|(?:如果|假如|假设|要是|(?<![相假])若(?!干))(?!要我|.{0,6}(?:必须|只能|要)[选答])|是否|是咪|难道|以为|本来|原本"
    r"|起初|初头|一开始|字面[^,]*$|取决|视乎|短期|长期|{they}|(?<![^,。\n:;])首先|逐一?|不是[^,、]{1,10}就是?$|误区|误解|陷阱"
    r"|«misconception|myth|trap|instinct|tempt[a-z]*»[^;]*$|(?<![为因])否则|«if(?! (?:forced|i (?:had"
    r"|have) to|i must))|whether|unless|suppos(?:e|ing)|assum(?:e|ing)|doubt|depends?|otherwise"
    r"|short[- ]term|long[- ]term|first,|consider|look at|let's see|let me|(?<!second )thought"
    r"|was going to|not sure|when»"
)
# From here on in its sentence, none of these.
CONTRAST = words(
    r"但是?|不过|然而|后来|结果|所以|因此|故(?!事)|于是|其实|最[^,。]{1,6}的?是|当中|(?<=[,。;])我|转返|改(?=[选为成])|«but|however"
    r"|so|therefore|thus|hence|finally|on reflection»"
)

REVISED = words(
    r"不对|错|等等|等阵|更正|改|重新|其实|再想|想清楚|(?<=[,。…\n])不,|«wait|hold on|actually|correction|sorry|mistake"
    r"|instead|second thought|rather|change»"
)
RETRACTED = words(
    r"[\n。!?, …](?:(?<! )|(?<=[^\s:;][.,] ))(?P<words>不对|不是|我?搞?错了?|no|nope|that(?:'s"
    r"| is) (?:not right|wrong|incorrect)|scratch that)(?=[,.。!;\n])"
)
# From here on, the response speaks of something else; base models go on to another question.
NEXT_PART = words(
    r"(?:[\n。]|(?<=[A-J][.。]) (?=question:))(?:常见|易错|注意[:事]|延伸|变式|[如假]?[果如若]题目|common (?:mistake"
    r"|error|pitfall)|if the question|note|follow-up|similar question"
    r"|(?P<question>(?<=[\n ])(?:(?:(?:next )?question|q|问题|题目?|problem|human|user|input"
    r"|instruction|样例|例题?|assistant)\s?\d{0,3}\s?[:.)]|第[一二三四五六七八九十\d]{1,3}题|以下是(?:中国)?(?:关于"
    r"|.{0,8}考试)|the following (?:are|is) |(?P<list>[^\n]{0,200}(?:(?:哪|何者|下列|边个)[^\n]*|[?:]"
    r"|的是)\n+A[).:、][^\n]*\nB[).:、]))))"
)
REFUSED = words(
    r"[无不没][法知能会]|抱歉|对不起|[无没]有?(?:正确|适用)?(?:答案|选项)|«cannot|can't|unable|sorry|don't know"
    r"|none of the|content filtered»"
)
# A question asks for what is not so; what of it follows, or comes before the exception.
ASKS_NOT = words(
    r"(?:[哪边何谁]|[下以][列下])[^。?]{0,30}?(?:不(?!同)|错|有误|并?非(?!常)|无关|没有|例外|除外)|(?:不(?!同)[^。?,]{1,12}|错误"
    r"|例外|有误)的(?:是|一项|为|选项)|(?-i:NOT|EXCEPT|LEAST)|(?:which|what|all)[^.?]*(?: not |n't |except"
    r"|incorrect|false|wrong|least|untrue)"
)
