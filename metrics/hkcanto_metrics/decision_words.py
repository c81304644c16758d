"""The general forms in which a response decides for an option, refutes it, or merely speaks of it.

A form joins classes of words, which are data: `decision_words.toml`. It meets text that
`normalize_response` has reduced. Case is ignored but for options' letters. Chinese characters are
word characters, so `\\b` appears nowhere: in «is|are», no Latin letter stands around the words.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from hkcanto_metrics.script import fold_script

_CLASSES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def words(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which `{name}` stands for a class of words."""
    for name, members in reversed(_CLASSES.items()):
        english = [f"«{'|'.join(members['english'])}»"] if "english" in members else []
        either = "|".join([*members.get("chinese", []), *english])
        pattern = pattern.replace(f"{{{name}}}", f"(?:{either})")
    pattern = pattern.replace("«", r"(?<![a-z])(?:").replace("»", r")(?![a-z])")
    return re.compile(fold_script(pattern), re.IGNORECASE)


_START = r"(?<![^\n。,;:!?. ()])"  # of a clause
_NO_OPTION = r"(?-i:[^\n。;!?A-J])"

# Before an option, up to it: an answer is named, or the response says that it chooses.
ANSWER = words(
    rf"(?:{{answer}}{_NO_OPTION}{{0,60}}?(?:在|{{is}}|[:→⇒=]>?|-+>?|…+)|{_START}(?:正确|最[终后佳])?"
    r"{answer}[.)]?|{chooses}|{thinks}(?: that)?是?)(?: the)?[\s(:]*$"
)
# ... a conclusion is drawn, all others are gone.
CONCLUDES = words(
    rf"(?:{_START}{{then}}(?-i:[^\n。,;!?不无没A-J]){{0,5}}|{{then}},?(?: it)?(?:{{surely}}|\s)*(?:是| is)?"
    r"|{left}|{right}(?-i:[^\n。,;!?A-J]){0,60}?(?:{is}|:))(?: the)?[\s(:]*$"
)
# After these, an option need not end its clause.
FIRM = words(r"(?:答案|answer)(?:是|为|:| is)[\s(:]*$")
ONLY = words(r"(?:只有|唯有|«only»)[\s(:]*$")
# After a copula it must.
COPULA = words(rf"(?:{{looks}}(?:[\s:]*{{maybe}})*(?: the| an?)?|{_START}{{surely}})[\s(]*$")
MATCHES = words(r"{matches}(?: the)?[\s(]*$")
# A line that leads on to an option on the next one.
LEADS_ON = words(r"\A(?!.[.):、])(?:.*(?::|{is})|.{0,6}(?:答案|answer))\s*\Z")
HEDGED = words(r"{maybe}")

# Right after an option.
ASKED = words(r"[) ]*[吗咩]|[^,]*\?$")
CLAIMED = words(
    r"[) ]*{option}?(?:{surely}|至|\s|无疑|must|would|will|✓)*(?:(?:←|是|is|be)\s?{definite}*(?:{answer}|«one»)"
    r"|(?<=[才先至])算?最?{right}|{claims})"
)
AFFIRMED = words(r"[).、 :]*(?-i:[^\n。.,;:!?A-J]){0,12}?[,:]?\s?{right}")
REFUTED = words(
    r"\(?(?-i:(?!因(?!此)|由于|because|since|而)[^\n。,、;!?(A-J]){0,40}?"
    r"(?:{wrong}(?!是?选? ?\(?{option}?\(?(?-i:[A-J])(?![a-z]))|✗)"
)
# ... though it was just chosen.
ASSAILED = words(
    r"[) :(-]{0,4}(?:this|that|which|it)?\s?{option}?(?:是|都|也|明显|is|was|\s)*{false}"
)
# The end of its clause.
CLOSED = words(r"[) ]*{option}?\)?(?:$|答:|[\n.。,、;!:(→←✓-]|{closing})")

THEN = words(rf"{_START}{{then}}(?-i:[^\n。,;!?不无没A-J]){{0,5}}$")
EXCEPTED = words(r"[^\n。.;!?]{0,40}?(?:«least|except»|最不|例外)")
# In a sentence with one option, these say that it is the one.
POINTS = words(
    r"{answer}|«(?:clear|obvious|best|right) [a-z]+»|{right}|{then}|只有|净是|剩|«only|left»"
)

OPTION_WORD = words(r"(?<!正确)(?<!最佳)(?:选项|(?<![a-z])(?:the )?option)[ (]*$")
NO_OPTION_BEFORE = words(r"{labelled}(?:是|:| is)?\s?$")
AFTER_LETTER = words(r"{predicate}").pattern

# Before an option, with its cue: a negation.
NEGATED = words(
    r"(?:(?:[不勿别未无非]|没有?){can}*(?:选择?|答)?|{excludes}|(?:«not|never»|n't|{excludes})(?: [a-z]+){0,4}"
    r"|≠|^✗ ?\(?)[\s(]*$|不[是指](?!.*的[是有])[^,;、:A-J]{0,6}$|不(?:认为|觉得|同意|信)[^。,]*$"
)
EXCEPTING = words(r"(?:除了|«except(?: for)?|apart from»)[\s(]*$")
NOT_OWN = words(r"{considered}")
CONTRAST = words(r"{contrast}")  # from here on in its sentence, none of these

REVISED = words(r"{revised}")
RETRACTED = words(r"[\n。!?, …](?:(?<! )|(?<=[^\s:;][.,] ))(?P<words>{retracted})(?=[,.。!;\n])")
# From here on, the response speaks of something else; base models go on to another question.
NEXT_PART = words(
    r"(?:[\n。]|(?<=[A-J][.。]) (?=question:))(?:{aside}|(?P<question>(?<=[\n ])(?:{label}\s?\d{0,3}\s?[:.)]"
    r"|第[一二三四五六七八九十\d]{1,3}题|以下是(?:中国)?(?:关于|.{0,8}考试)|the following (?:are|is) "
    r"|(?P<list>[^\n]{0,200}(?:(?:哪|何者|下列|边个)[^\n]*|[?:]|的是)\n+A[).:、][^\n]*\nB[).:、]))))"
)
REFUSED = words(r"{refuses}")
ASKS_NOT = words(r"{denies}")
