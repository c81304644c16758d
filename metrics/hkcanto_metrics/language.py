"""Identify the language of a text or of a model's reasoning.

A sentence is in the language of its grammatical words, whatever nouns it borrows (the matrix
language; Myers-Scotton 1993, "Duelling Languages"): 呢個 function 嘅 output 係 3 is Cantonese. The
words that only Cantonese or only Written Chinese uses separate the two. Their list is that of
cantonesedetect (Lau, Lau and To, 2024, https://aclanthology.org/2024.eurali-1.4/), with some
grammatical words added.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec
from cantonesedetect import Detector

from hkcanto_metrics.reasoning import Reasoned, split_reasoning
from hkcanto_metrics.script import (
    HAN,
    CharacterTable,
    Script,
    count_scripts,
    to_traditional,
)

Language = Literal[
    "cantonese",
    "written_chinese",
    "simplified_mandarin",
    "english",
    "other",
    "mixed",
    "none",
]
MIN_SHARE = 0.85
"""The share of the prose that must be in one language; with less, the text is mixed."""

# A text with at most this share of slips is pure. A sentence or clause counts wholly as Cantonese
# if at least this share of its features is; otherwise, it counts by that share.
_MOST_SLIPS = 0.07
_LEAST_IN_PURE = 0.5
_LEAST_IN_MIXED = 0.75
# Neutral Chinese counts as Cantonese up to this many times the weight of the clear Cantonese around
# it: of the sentences around a sentence, and of the clauses around a clause. Of 3,000 texts of at
# least 30 characters (translations, reviews, posts), 99 % and 98 % need no more.
_MOST_NEUTRAL_SENTENCES = 1.5
_MOST_NEUTRAL_CLAUSES = 3
_SHORT_SENTENCE = 12  # needs no clear clause
# Quotations and code in another language are free up to this share of the Cantonese around them.
_MOST_HIDDEN = 0.5
# Least share in one script of the characters that belong to one script only.
_LEAST_IN_SCRIPT = 0.9
_WORD_WEIGHT = 1.5  # Chinese characters that say as much as an English word
# Chinese characters, or their worth in words: less is not prose unless it has features.
_LEAST_PROSE = 3
_LEAST_SENTENCE = 6  # less in another language may be a term
# Enough prose to leave out the lines that may explain options.
_LEAST_REST = 12
_LEAST_SHARE_OF_REST = 0.25
# An English text of this many words has this share of grammatical words: 97 % of 2,000 messages of
# free software do, and 3 % of 5,922 in 44 other languages.
_LEAST_WORDS = 3
_LEAST_GRAMMATICAL = 0.12
# More words in the form of a Chinese syllable are Jyutping or Pinyin without tones: of 2,166 English
# sentences, one of five words or more has 83 %.
_MOST_SYLLABLES = 0.85
_LEAST_ROMANISED = 5
_MOST_GRAMMATICAL = 0.8  # more is a list of such words
# A sentence with Chinese characters is in another language if at least this share of its
# characters are kana or other letters.
_LEAST_OTHER = 0.2

# `variety` is another variety of Chinese; `chinese` is any of the first three.
_Kind = Literal["cantonese", "written", "variety", "chinese", "latin", "other"]

# cantonesedetect 1.1.2 lacks two "|" here, so it takes the 些 of 些少 and the 把 of 把握 for SWC.
# It takes the classifier of an umbrella, a voice or a knife for the 把 of Written Chinese (我把遮),
# and the 是 of 利利是是 for its verb; 話說 opens a story. After 咗, 緊 and 住, 把 is a classifier, too.
SWC_EXCEPTIONS = (
    "(?<=[咗緊])把|(?<=[^不]住)把|把遮(?![住蓋擋掩陽])|把聲(?!音)|把口|把刀(?![放拿拔收舉丟扔插])|把舵|利利是是|話說|"
    + Detector.SWC_EXCLUDE_RE.pattern.replace("的起心肝些[", "的起心肝|些[").replace(
        "弄[堂]把[", "弄[堂]|把["
    )
)
_DETECTORS_CHARACTERS = {
    *Detector.CANTO_FEATURE_RE.pattern,
    *Detector.CANTO_EXCLUDE_RE.pattern,
    *Detector.SWC_FEATURE_RE.pattern,
    *SWC_EXCEPTIONS,
}


# Conversion to Traditional characters would turn some characters, such as 吃 and 台, into variants
# that the detector does not know.
DETECTORS_FORMS = CharacterTable(
    lambda char: char if char in _DETECTORS_CHARACTERS else to_traditional(char)
)

# Words that Cantonese uses and Written Chinese hardly does, besides cantonesedetect's; characters
# that occur in many of them. Each is in at most one of 500 sentences in Written Chinese
# (Universal Dependencies' GSD and HK), and in more of those in Cantonese that PyCantonese ships.
_CANTONESE = (
    r"(?<!唔)唔(?!唔)|[0-9一二兩三四五六七八九十百千萬幾]蚊|(?<![關聯干體維])係(?![數指屬為由因依統列])|[唔即就都但定淨真仲只]系(?![統列數])"
    rf"|呢(?![喃絨大料子帽])(?=[{HAN}])|俾|咩|囉|嘞|吖|嗌|攞|咋|噉|嘍|嚹|𡃉|囖|哩[個樣種啲度]|嘩"
    r"|(?<![伯杜昆])仲(?![裁介夏尼春秋冬])|邊[個啲種樣句項題條隻間位處]|點[計算]|喇(?![嘛叭])"
    r"|跟住|同埋|淨係|(?<!挑)揀(?!選)"
    rf"|(?<=[{HAN}])(?<![要太加抓趕收繃吃不很最好有握拉])緊(?![張急密要接隨跟縮湊繃縛箍閉追貼鎖扣守握迫靠緊多弦])"
    r"|(?<![日曝晾])晒(?![太衣日乾黑傷])|成[日晚朝]|今朝(?!有?酒)|老[細豆]"
    r"|[靚叻閂攰嬲餸揸嘥唞慳孭焗枱掂]|(?<!斯|普)拎|住先(?![進生後是])|[着著坐企望睇帶擺掛諗留搭]住"
    r"|[買食飲玩坐攞講睇寫行等]多[兩幾三啲](?!天)"
    rf"|(?<=[{HAN}])(?<![掩填活深土])埋(?![葬伏頭沒怨藏單首])|(?<![貓猫])咪(?![高錶表])"
    r"|[試講睇諗聽傾影搵]下(?![來去面方一周週星次午個層級屆載落車線半降])|(?<!分)個鐘|少少(?!許)|禮拜(?!堂|天)"
    r"|頭先|後尾|[女男]仔|(?<!居)住(?:[個隻張架]|條(?!件))|幾耐|緊要(?!關)|即刻(?!起)|[入落]去(?!年)|好味(?!道)|收工"
    # The conjunction, not a part of a compound.
    rf"|(?<=[{HAN}])(?<![不相如共合協一陪隨雷贊會認胡大異夥伙等殊苟皆並亦反連趨偉])同(?=[{HAN}])"
    r"(?![時樣意學事志胞仁類期等步盟業居窗鄉伴情感化性行年級月日一上伙夥源理歲齡屬名位儕輩義工方個種心房質型素於調價比治流母路冶樹根])"
    r"|(?<![友良美最只正剛恰愛喜大安幸看交問])好(?=[多少大細快慢耐似難易貴平靚凍熱遠近想驚怕高長好鍾開識受清])"
    r"(?!好先生|多於|高騖|大喜功|好[保守])"
    r"|(?<![電說説對笑神童通閒情實佳粗訪廣東國英談會留回夢俗古傳白官土行胡廢壞謊粵普的之])話(?=[，：,:「]|[你我佢會要想有聽自冇今下])"
    r"|[今晏]晝|[上下]晝|朝早|舊年|一齊|[嚇凍激笑]死|得滯|抑或|細路|令到|入面"
    r"|(?<![糧飲飯零美主伙膳衣蠶日月吞絕糊素肉熟速進嗜乞小覓同發所])食(?![物品用材堂譜肉糧量指慾欲道色府宿言客性具油鹽安鏈環肆衛草下店積])"
    r"|(?<!餐)飲(?![料食品水用恨酒])(?=[茶咗奶咖湯])|落(?:雨|雪|樓|街(?!頭))|出街|行街|上堂|落堂"
    r"|先至|先[會可](?!生)|先得(?=[。，！])|至(?=[得先])|亦都|都[仲幾]|鍾意|鐘意|幾多|幾時|有[無冇]|[去食買睇做完]左|[我你佢]地(?![方區])"
)
_WRITTEN = (
    # Addressees: 街坊們，
    r"們(?!$|[，,！：:])|(?<=[我你妳您他她它牠祂咱佢])們|很(?!快)|怎|您|給(?!予)|(?<![割禮轉出忍謙退])讓(?![步位路渡利座賽])|還[是有要需會不沒可能]|不[是會對知用該夠]|看[來看到起出見著了一]"
    r"|[什甚]麼|現在|孩子|一些|許多|總是|才(?=[能會是有可知])|東西(?![方南兩部岸])"
)
# A program can put these in place of words of Written Chinese, one by one, so they do not excuse
# words of Written or Classical Chinese beside them.
_SUBSTITUTES = frozenset("嘅咗係佢喺哋畀唔呢啲好")
# A text of Written Chinese with no other Cantonese word is a conversion. Of texts of 20 or more
# characters, 0.5 % of 1,251 translations of news and none of 1,200 reviews are so.
_WORTH_OF_SUBSTITUTES = 0.5
# Words of Wu, Hakka, Southern Min and Classical Chinese that neither of the two uses.
_OTHER_VARIETY = (
    r"[侬儂搿倷尞吂佮厝𠊎𠍲恁矣汝]|弗(?=[是要會曾好曉得來去歡])|阿拉(?![伯斯木丁法巴善維瓦])|伊拉(?!克)"
    r"|(?<![請切幸])勿(?:要(?!求)|是|曾|好|會|清)|迭[個樁]|辰光|白相(?![機片簿])|屋[裡裏]向|小囡|囡仔"
    r"|(?<![人動植生寵藥食貨財])物事(?![件業務])|事體|鬧猛|(?<![討征殺步砍])伐(?=[？?])|俚[笃篤]|我伲|啥物"
    r"|毋(?![須需庸寧忘容論])|今晡|天光日|(?<![房大])屋下|細人仔|煞猛|這兜|麼个|佇(?![立候足])|按[怎呢]"
    r"|(?<!姓)阮(?=[兜攏的欲嘛講會毋是來去佇買])|(?<![拉靠合收聚併])攏(?![絡統括])|逐家(?![逐店查公])"
    r"|(?<!乃)伊(?=[講無會的是昨欲去來敢毋])|遐的|(?<![聯連分])袂|古錐|做伙|今仔日|昨昏|佗位|底塊|歹勢"
    r"|(?<![調審搜核檢偵])查[某埔]|代誌|吾(?=[輩等國家嘗日與人妻身師聞謂友])|(?<!在)焉(?=[。，？！])|哉"
    r"|不亦[說樂悅]|(?<=[子王公人又或客對問答])曰|(?<![似在幾關合近出至介視])乎(?=[？?！!。，])|者也|也(?=[。，；！]|$)|豈[可能有非不]|諸君"
)
PARTICLES = "嘅啦喇囉咯喎咩呀㗎𠺢啊吖嘞啫咋嗱咧噃啩呢吓嘛嗎吧呵哦嗯誒噉嘩"
"""Particles of Cantonese that end sentences, and interjections."""
_NEVER_FIRST = "嘅啦喇㗎囉"
# At the end of a clause, these are easily added to any text.
_ENDINGS = f"{PARTICLES}係喺 \t"
_ENGLISH = (
    "the of and to is are was were be been that it its this these those for with as on by from at "
    "in an or but not so if then because which what who we you they he she his her my our your "
    "their let have has had do does did would should can could will may might must there here "
    "than into about when where how why only each all any some more such me us them i'm i'll it's "
    "that's let's don't doesn't isn't just also very no yes up out one over after before both get "
    "make use like know think see go say need want new other most many every first two please "
    "answer answers option options correct incorrect wrong right true false question choice check "
    "final"
)
# The most frequent short words of 44 other languages that English lacks, with accents and without:
# from the translations of free software's messages, and their originals.
_FOREIGN = (
    "ada adalah af ag agus ako al ala ali als ang ao ar arba atau att au auf av ay az að aŭ bagi "
    "bat bir biti bo broj bu buti byt byť būti cac ce che ci com con cu cua czy các có của da "
    "daca dacă dago dan dans dari das de del den der des deu di die dins dla du duen dung edo een "
    "egy ei ein eine ekki el em en eo er es esi est esta este et eta eus evit ez ezin eða fajl "
    "fazi fur fájl för für gant geen het hogy icin ikke il ile ili ini inte ir ist ito itu izan "
    "için ja jako je jest jos jsou ka kad kada kai kaip kaj kan kao kas ke ket không ki kind ko "
    "koji kon kot kui kā la lai las le leis les li lo los là ma mae med meg með mga moet mora "
    "moze može má một na naj nao nav ne nebo nem neni není nese ng ni nicht nie niet nije nje një "
    "nome nu nuk này não në nëse ní nó och og ole om op os ou pa pada para pas plik por pre pro "
    "przy på për que qui sa sama satu se sem sen ser si sie się skal som sono ta tai tap tarp te "
    "thể tidak tiek til till tin trong turi tá të um uma un una und une untuk ur uz vagy vai van "
    "ve vert vir við voi von voor và või wat wedi xa yang ye yn yr yra za zu är és în će ĉi či "
    "đuoc được și"
)
_GRAMMATICAL = {
    **dict.fromkeys(_ENGLISH.split(), "english"),
    **dict.fromkeys(_FOREIGN.split(), "foreign"),
}

_FEATURES = (
    f"{Detector.CANTO_EXCLUDE_RE.pattern}|(?P<cantonese>{Detector.CANTO_FEATURE_RE.pattern}|{_CANTONESE})"
    f"|(?:{SWC_EXCEPTIONS})|(?P<variety>{_OTHER_VARIETY})"
    f"|(?P<written>{Detector.SWC_FEATURE_RE.pattern}|{_WRITTEN})"
)


_LOOKAROUND = re.compile(r"\(\?<?[!=][^()]*\)")
_BEGINNING = re.compile(r"(?:^|[|(])(?:\?:|\?P<\w+>)?(?:\[([^\]]*)\]|(\w))")


# (?<!唔)唔, for example.
_LOOKBEHIND = re.compile(r"\(\?<([!=])([^()]*)\)(\[[^\]]*\]|\w)")


def quick(words: str) -> re.Pattern[str]:
    """Compile a list of words: look for the beginning of a word before trying each of them.

    A word that begins in a lookbehind is tried by its first character: 唔(?<!唔唔).
    """
    words = _LOOKBEHIND.sub(r"\3(?<\1(?:\2)\3)", words)
    beginnings = map("".join, _BEGINNING.findall(_LOOKAROUND.sub("", words)))
    return re.compile(f"(?=[{''.join(beginnings)}])(?:{words})")


FEATURE_CHARACTERS = frozenset(_FEATURES)
"""The characters of words that only Cantonese or only Written Chinese uses."""
_FEATURE = quick(_FEATURES)
_LATIN = "A-Za-z\u00c0-\u024f\u1e00-\u1eff"
# Does not match Jyutping, formulas, or the names of functions and commands.
_WORD = re.compile(
    rf"(?<![{_LATIN}0-9_\\])[{_LATIN}]{{2,}}(?:['’][a-z]{{1,2}})?(?![{_LATIN}0-9_(])"
)
_SYLLABLE = re.compile(
    "(?:ng|gw|kw|zh|ch|sh|[bpmfdtnlgkhwzcsjqxry])?(?:[aeiouv]{1,3}(?:ng|[nmptkr])?|m|ng)"
)
_CHINESE = re.compile(f"[{HAN}]+")
# Greek words, Cyrillic and what follows, kana, bopomofo and Hangul; no symbols such as α.
_OTHER_LETTERS = re.compile(
    "[\u0370-\u03ff\u1f00-\u1fff]{3,}|[\u0400-\u1dff\u3041-\u3096\u30a1-\u30fa\u30fc\u3105-\u312f\ua000-\ud7ff\ufb1d-\ufdfb\uff66-\uff9f]+"
)
_ANY_LETTER = re.compile(r"[^\W\d_]")
_SENTENCE_END = re.compile(r"([。！？!?；;]+|(?<=[a-z)])\.(?= ))")
_CLAUSE_END = re.compile(r"[^\w\s'’-]+|\n")
# A verse that ends in a comma.
_LINE_IN_SENTENCE = re.compile(r"(?<=[，、])\s*\n\s*")
_COLON = re.compile(r"[：:](?!//|\d)")

_NO_PROSE = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|\"{3}.*?(?:\"{3}|\Z)|`[^`\n]*`|\$\$[^$]*\$\$|\$[^$\n\u3400-\u9fff]*\$"
    r"|\\\[.{0,200}?\\\]|\\\(.{0,200}?\\\)"
    # HTML that a browser does not show.
    r"|<!--.*?(?:-->|\Z)"
    r"|<(?P<tag>\w+)\b(?=[^<>]*>)[^<>]*(?:display:\s*none|\bhidden\b)[^<>]*>.*?(?:</(?P=tag)>|\Z)"
    # A line of code, with the indented lines below it.
    r"|^(?:[ \t]*(?:(?:def|class) \w+[(:]|[{}]|SELECT [^\n]* FROM )"
    rf"|[^\n{HAN}]*?(?:&&|\|\||[+*/-]=|\)\s*\{{)|//|(?=[^\n=(]*[=(])(?=[^\n]*[;{{][ \t]*$))"
    r"[^\n]*(?:\n[ \t]+[^\n]*)*",
    re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(
    r"「[^「」]*」|『[^『』]*』|“[^“”]*”|《[^《》]*》|【[^【】]*】|\"[^\"\n]*\""
    r"|(?<!\w)['‘][^'‘’\n]*['’](?!\w)|^>.*$",
    re.MULTILINE,
)


def _option_lines(line: str) -> re.Pattern[str]:
    """Compile a pattern for lines of one form, and for the question before two of them."""
    return re.compile(rf"^(?:.*\n(?=(?:{line}){{2}}))?(?:{line})+", re.MULTILINE)


# Lines that begin with an option letter. `_OPTIONS` leaves out explanations of options, which end
# like a sentence.
_LETTER = r"[*\- •]*[(（]?[A-J][.．、:：)）].*"
_OPTIONS = _option_lines(rf"{_LETTER}(?<![。！？.!?])(?:\n|\Z)")
_LETTERED = _option_lines(rf"{_LETTER}(?:\n|\Z)")
# Words that announce a quoted part of the question. If nothing precedes them (`line`), the rest of
# the line is quoted, too.
_LABEL = re.compile(
    r"(?P<line>^[*# ]*)?(?:題[目幹]|题[目干]|[問问][題题]|原[文句]|句子|選項|选项"
    r"|\b(?i:question|options?|sentence|text|source|prompt))[* ]*(?:[係是問问]|is|asks|says)?[* ]*$"
)


class WrittenLanguage(msgspec.Struct, frozen=True, omit_defaults=True):
    """The language of a text, or of a model's reasoning.

    Attributes:
        language: The language of at least 85 % of the prose: ``cantonese`` in either script,
            ``written_chinese`` in Traditional or ``simplified_mandarin`` in Simplified characters,
            ``english``, or any ``other``. ``mixed`` if no language has that share; ``none`` without
            prose.
        cantonese_share: Share of Cantonese features among the Cantonese and Written Chinese
            features found, from 0 to 1; 0 without any.
        script: Script of the Chinese: ``hant``, ``hans``, ``mixed``, or ``none`` if undetermined.
        n_characters: Number of characters of the whole text that are not white space.
        finished: For reasoning, whether it has an end, 1.0 or 0.0. None for any other text, and for
            a response without reasoning.
        shares: Language → its share of the prose, from 0 to 1; languages with none are left out.
    """

    language: Language
    cantonese_share: float = 0.0
    script: Script = "none"
    n_characters: int = 0
    finished: float | None = None
    shares: dict[Language, float] = {}

    @property
    def cantonese(self) -> float | None:
        """Whether the text is in Cantonese, 1.0 or 0.0; 0.0 if it has characters but no prose.

        None for an empty text or a response without reasoning, so averages skip it.
        """
        return float(self.language == "cantonese") if self.n_characters else None


def identify_language(text: str) -> WrittenLanguage:
    """Identify the language of a text.

    Each sentence is in the language of its grammatical words. A Chinese sentence without a word
    that separates Cantonese from Written Chinese counts with the other Chinese sentences; if no
    sentence has such a word, the text is Written Chinese. Code, formulas and Jyutping are not
    prose. Quotations, lines with an option and repetitions of the question count only if there is
    nothing else; so does text after a colon in a different language from the text before it.
    Questions count only if the other sentences show no language. A sentence with words of Wu,
    Hakka, Southern Min or Classical Chinese is in an ``other`` language.

    Args:
        text: Any text. The running time is linear in its length.

    Returns:
        The language, with the shares and counts that it is based on.

    Examples:
        >>> identify_language("呢個 function 嘅 output 係 None，所以 B 啱。").language
        'cantonese'
        >>> identify_language("The word 「唔該」 is said when you ask for something.").language
        'english'
    """
    judged = _judge(text)
    shares = {
        name: weight / judged.total for name, weight in judged.weights.items() if weight
    }
    likeliest: Language = max(shares, key=shares.__getitem__, default="none")
    language: Language = likeliest if shares.get(likeliest, 1) >= MIN_SHARE else "mixed"
    return WrittenLanguage(
        language,
        cantonese_share=judged.cantonese / ((judged.cantonese + judged.written) or 1),
        script=judged.script,
        n_characters=len("".join(text.split())),
        shares=shares,
    )


class CantoneseProse(NamedTuple):
    """The Cantonese in a text.

    Attributes:
        share: The share of the text that is in Cantonese, from 0 to 1.
        text: The sentences that are not in another language.
        features: The words in them that only Cantonese uses.
    """

    share: float = 0.0
    text: str = ""
    features: Sequence[str] = ()


def cantonese_prose(text: str) -> CantoneseProse:
    """Find the sentences of a text that are in Cantonese, and measure their share.

    A clause with words of Cantonese and of Written Chinese counts in part; slips are forgiven, if
    they are at most a quarter of such words, or 7 % in the whole text. In such a clause, words that
    can replace one of Written Chinese mechanically, such as 嘅 and 咗, do not count. Sentences
    without words of either count as Cantonese, up to one and a half times the amount of clearly
    Cantonese sentences and six characters; clauses without one, or with only a particle at the end,
    up to three times the amount of clear clauses and twelve characters. Quotations, code, options,
    questions and text after a colon do not count. In another language, they reduce the share if
    they are over half as long as the Chinese around them and over six characters. Sentences in
    another language reduce it, too, except for a few words.

    Args:
        text: Any text. The running time is linear in its length.

    Returns:
        The share and the sentences; 0 and empty if the text lacks a Cantonese word.

    Examples:
        >>> cantonese_prose("佢哋返咗屋企。今日天氣晴朗，市民外出活動，公園遊人眾多，街道擠擁。").share
        0.75
        >>> cantonese_prose("佢哋返咗屋企。「他們已經回到家裏了。」").share
        0.4
        >>> cantonese_prose("They call it 叮叮.")
        CantoneseProse(share=0.0, text='', features=())
    """
    clauses = _clauses(text)
    written = sum(clause.written for clause in clauses)
    cantonese = sum(clause.cantonese for clause in clauses)
    pure = written <= _MOST_SLIPS * (written + cantonese)
    judged = _judge(text, pure=pure)
    if not judged.shows_language and _QUOTED.search(text):
        judged = _judge(text, quoted=True, pure=pure)
    if not judged.cantonese:
        return CantoneseProse()
    chinese = [piece for piece in judged.pieces if piece.kind != "other"]
    share = _cantonese_part(
        clauses,
        chinese,
        judged.weights,
        pure,
    )
    if judged.written and not any(piece.certain for piece in chinese):
        share *= _WORTH_OF_SUBSTITUTES
    return _prose(chinese, share)


def _cantonese_part(
    clauses: Iterable[_Piece],
    chinese: Sequence[_Piece],
    weights: Mapping[Language, float],
    pure: bool,
) -> float:
    """The share of the Cantonese sentences in a text with these clauses."""
    own_clauses = _clauses("\n".join(piece.text for piece in chinese))
    other = _other_weight(
        clauses,
        own_clauses,
        weights,
        _weight(chinese),
    )
    cantonese = _cantonese_weight(chinese, own_clauses, pure)
    return cantonese / (_weight(chinese) + other)


def _prose(
    chinese: Iterable[_Piece],
    share: float,
) -> CantoneseProse:
    """Join the sentences that are not in Written Chinese."""
    texts: list[str] = []
    features: list[str] = []
    for piece in chinese:
        if piece.kind != "written":
            texts.append(piece.text)
            features += piece.features
    return CantoneseProse(share, "\n".join(texts), features)


def _cantonese_weight(
    chinese: Sequence[_Piece],
    clauses: Iterable[_Piece],
    pure: bool,
) -> float:
    """Weigh the Cantonese in Chinese sentences, with as much neutral Chinese as goes with it."""
    cantonese = sum(piece.weight * piece.cantonese_part(pure) for piece in chinese)
    neutral = _weight(
        piece for piece in chinese if piece.kind == "chinese" and not piece.written
    )
    # Neutral sentences are in the varieties of the others.
    neutral *= cantonese / ((_weight(chinese) - neutral) or 1)
    clear = _weight(clause for clause in clauses if clause.is_clear)
    return min(
        cantonese + neutral,
        cantonese * (1 + _MOST_NEUTRAL_SENTENCES) + _LEAST_SENTENCE,
        clear * (1 + _MOST_NEUTRAL_CLAUSES) + _SHORT_SENTENCE,
    )


def _other_weight(
    clauses: Iterable[_Piece],
    own_clauses: Iterable[_Piece],
    weights: Mapping[Language, float],
    chinese: float,
) -> float:
    """Weigh what is in another language, without a few words of it."""
    foreign = weights.get("english", 0) + weights.get("other", 0)
    # In quotations, code, options, questions and after colons.
    hidden = _foreign_weight(clauses) - foreign - _foreign_weight(own_clauses)
    other = 0.0
    if foreign > (1 - MIN_SHARE) * chinese:
        other += foreign
    if hidden > max(_LEAST_SENTENCE, _MOST_HIDDEN * chinese):
        other += hidden
    return other


def identify_reasoning(reasoned: Reasoned) -> WrittenLanguage:
    """Identify the language that a model reasoned in, and whether the reasoning has an end.

    Args:
        reasoned: The response as `split_reasoning` splits it. If it has no reasoning, the caller
            decides what that is worth.

    Returns:
        The reasoning's language; ``finished`` and ``cantonese`` are None if there is no reasoning.

    Examples:
        >>> identify_reasoning(split_reasoning("B", reasoning="佢問緊邊個城市？")).cantonese
        1.0
    """
    written = identify_language(reasoned.reasoning)
    finished = float(reasoned.finished) if written.n_characters else None
    return msgspec.structs.replace(written, finished=finished)


def score_reasoning(response: str, reasoning: str = "") -> WrittenLanguage:
    """Split a response and identify the language of its reasoning; see `identify_reasoning`.

    Args:
        response: The model's response, with its reasoning in any format that `split_reasoning`
            knows.
        reasoning: Reasoning that the server returned separately. It counts as finished if there is
            an answer.

    Returns:
        The reasoning's language; ``finished`` and ``cantonese`` are None if there is no reasoning.

    Examples:
        >>> score_reasoning("<think>佢問緊邊個城市，應該係香港。</think>B").cantonese
        1.0
        >>> print(score_reasoning("B").cantonese)
        None
    """
    return identify_reasoning(split_reasoning(response, reasoning))


class _Piece:
    """A sentence or a part of one, with the counts that show its language.

    Attributes:
        features: Its words that only Cantonese uses.
        is_clear: Whether one of them is not merely an ending.
        is_plain: Whether it has neither words of another language nor of Written Chinese.
    """

    kind: _Kind = "chinese"
    features: Sequence[str] = ()
    is_clear = False
    # Numbers of features, of words, of those like syllables, and of grammatical words.
    cantonese = 0
    certain = 0  # without `_SUBSTITUTES`
    written = 0
    is_plain = False
    words = 0
    syllables = 0
    english = 0
    foreign = 0

    def __init__(self, text: str) -> None:
        self.text = text
        rest, n_runs = _CHINESE.subn(" ", text)
        n_chinese = len(text) - len(rest) + n_runs
        self.weight: float = n_chinese
        has_letters = _ANY_LETTER.search(rest) is not None
        if has_letters or not n_chinese:
            self._read_letters(rest, n_chinese)
        if self.kind == "chinese":
            self._read_features(text)
            self.is_plain = not has_letters and not self.written

    def _read_letters(
        self,
        rest: str,
        n_chinese: int,
    ) -> None:
        """Find out whether the piece is in another language than Chinese."""
        n_other = len(rest) - len(_OTHER_LETTERS.sub("", rest))
        if n_other > _LEAST_OTHER * (n_chinese + n_other):
            self.kind = "other"
            self.weight = n_other + n_chinese
            return
        words = _WORD.findall(rest.lower())
        grammatical = [*map(_GRAMMATICAL.get, words)]
        english = grammatical.count("english")
        foreign = grammatical.count("foreign")
        # A third of the characters of Chinese prose belong to grammatical words.
        if max(english, foreign) > n_chinese / 3 or not n_chinese:
            self.kind = "latin"
            self.words = len(words)
            self.syllables = sum(map(bool, map(_SYLLABLE.fullmatch, words)))
            self.english = english
            self.foreign = foreign
            self.weight = _WORD_WEIGHT * len(words)
            if n_chinese:  # such as user一log out再log in
                self.weight /= 2

    def _read_features(self, text: str) -> None:
        """Count the features of Cantonese, of Written Chinese and of other varieties."""
        varieties = []
        features = []
        start = len(text) - len(text.lstrip(_NEVER_FIRST))
        end = len(text.rstrip(_ENDINGS))
        for feature in _FEATURE.finditer(text.translate(DETECTORS_FORMS)):
            varieties.append(feature.lastgroup)
            if feature.lastgroup == "cantonese":
                features.append(feature[0])
                self.is_clear = self.is_clear or start <= feature.start() < end
        if not varieties:
            return
        self.features = features
        self.written = varieties.count("written")
        self.cantonese = len(features)
        self.certain = sum(word not in _SUBSTITUTES for word in features)
        if 2 * varieties.count("variety") > self.certain:
            self.kind = "variety"
        elif self.cantonese > self.written:
            self.kind = "cantonese"
        elif self.written > self.cantonese:
            self.kind = "written"

    def cantonese_part(self, pure: bool = False) -> float:
        """The part that is in Cantonese, by its features. Slips are forgiven in a pure text."""
        if not self.written:
            return float(self.cantonese > 0)
        cantonese = self.cantonese if pure else self.certain
        part = cantonese / (cantonese + self.written)
        least = _LEAST_IN_PURE if pure else _LEAST_IN_MIXED
        return 1.0 if part >= least else part

    @property
    def shows_language(self) -> bool:
        """Whether its own words show its language."""
        return self.kind not in ("chinese", "latin") or self.english + self.foreign > 0


# A clause is looked at several times: with its sentence, and by itself.
_piece = lru_cache(maxsize=4096)(_Piece)


def _weight(pieces: Iterable[_Piece]) -> float:
    return sum(piece.weight for piece in pieces)


def _foreign_weight(
    pieces: Iterable[_Piece],
    pure: bool = False,
    least_words: int = 1,
) -> float:
    """The weight of what is neither Cantonese nor neutral; fewer Latin words may be a term."""
    weight = 0.0
    for piece in pieces:
        is_written = piece.written and not pure
        if piece.kind == "other" or piece.words >= least_words or is_written:
            weight += piece.weight * (1 - piece.cantonese_part())
    return weight


def _clauses(text: str) -> list[_Piece]:
    return [*map(_piece, filter(_ANY_LETTER.search, _CLAUSE_END.split(text)))]


def _divided(sentence: _Piece, pure: bool) -> list[_Piece]:
    """Return a Cantonese sentence as one piece, and a mixed one as its clauses."""
    is_uniform = sentence.cantonese_part(pure) in (0, 1)
    if is_uniform and sentence.is_plain:
        return [sentence]
    clauses = _clauses(sentence.text)
    most = (1 - MIN_SHARE) * _weight(clauses)
    foreign = _foreign_weight(clauses, pure, _LEAST_WORDS)
    is_uniform = is_uniform and foreign <= most
    return [sentence] if is_uniform else clauses


class _Judged(NamedTuple):
    """The languages of some sentences.

    Attributes:
        weights: The weight of each language, in Chinese characters; empty if there is too little
            prose.
        cantonese: The number of Cantonese features.
        written: The number of features of Written Chinese.
        script: The script of the Chinese.
        pieces: The sentences with Chinese characters or other non-Latin ones.
    """

    weights: dict[Language, float]
    cantonese: int
    written: int
    script: Script
    pieces: list[_Piece]

    @property
    def total(self) -> float:
        """The weight of all languages."""
        return sum(self.weights.values())

    @property
    def shows_language(self) -> bool:
        """Whether some word shows the language."""
        weight = self.weights.get("english") or self.weights.get("other")
        return bool(self.cantonese or self.written or weight)


def _judge(
    text: str,
    *,
    quoted: bool = False,
    pure: bool | None = None,
) -> _Judged:
    """Weigh the languages of a text's prose (see `_weighed`), with its quotations if necessary.

    Unless ``pure`` is None, the clauses of mixed sentences are weighed by themselves, see
    `_divided`.
    """
    lines = _LINE_IN_SENTENCE.sub("", _NO_PROSE.sub("…", text)).split("\n")
    prose = "\n".join(filter(None, map(str.strip, lines)))
    own_prose = _OPTIONS.sub("", prose)
    if not quoted:
        own_prose = _QUOTED.sub("…", own_prose)
    judged = _judge_own(own_prose, pure)
    rest = _LETTERED.sub("", own_prose)
    if rest != own_prose:
        judged_rest = _judge_own(rest, pure)
        least = max(_LEAST_REST, _LEAST_SHARE_OF_REST * judged.total)
        if judged_rest.total >= least:
            judged = judged_rest
    return judged if judged.weights else _weighed(map(_piece, prose.split("\n")))


def _judge_own(prose: str, pure: bool | None) -> _Judged:
    """Weigh the sentences, without text after a colon in another language.

    Questions count only if the other sentences show no language.
    """
    pieces: list[_Piece] = []
    statements: list[_Piece] = []
    for line in filter(_ANY_LETTER.search, prose.split("\n")):
        for sentence, is_question in _sentences(line):
            parts = _own_parts(sentence)
            if pure is not None:
                parts = [clause for part in parts for clause in _divided(part, pure)]
            pieces += parts
            if not is_question:
                statements += parts
    judged = _weighed(statements)
    return judged if judged.shows_language else _weighed(pieces)


def _sentences(line: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the sentences of a line, divided at a colon, and whether each is a question.

    Text that a label such as 題目： announces is quoted and left out.
    """
    parts = [*_SENTENCE_END.split(line), ""]
    for sentence, end in zip(parts[::2], parts[1::2], strict=True):
        head, *rest = _COLON.split(sentence, maxsplit=1)
        label = _LABEL.search(head) if rest else None
        if not label:
            yield [head, *rest], end.startswith(("？", "?"))
        # "…" is a quotation that has been left out already.
        elif label["line"] is not None and not rest[0].lstrip().startswith("…"):
            return


def _own_parts(sentence: Sequence[str]) -> list[_Piece]:
    """Return the text around a colon; if the two are in different languages, only the former."""
    parts = [*map(_piece, sentence)]
    kinds = {part.kind for part in parts}
    both_show = parts[0].shows_language and (
        "latin" in kinds or parts[-1].shows_language
    )
    if len(kinds) == 1 or not both_show:
        return parts
    return parts[:1] if parts[0].weight >= _LEAST_SENTENCE else []


def _weighed(pieces: Iterable[_Piece]) -> _Judged:
    """Weigh the sentences of each language; mere names and terms do not count next to sentences."""
    latin, others = _without_terms(pieces)
    weight: defaultdict[_Kind, float] = defaultdict(float)
    for piece in others:
        weight[piece.kind] += piece.weight
    cantonese = sum(piece.cantonese for piece in others)
    written = sum(piece.written for piece in others)
    script, simplified = _script(others)
    weights = _chinese_weights(weight, cantonese >= written > 0, simplified)
    if _is_english(latin):
        weights["english"] = _weight(latin)
    else:
        weights["other"] += _weight(latin)
    if sum(weights.values()) < _LEAST_PROSE and not cantonese and not written:
        weights = {}
    return _Judged(
        weights,
        cantonese,
        written,
        script,
        others,
    )


def _chinese_weights(
    weight: Mapping[_Kind, float],
    is_cantonese: bool,
    simplified: float,
) -> dict[Language, float]:
    """Divide neutral sentences between the varieties that the others show."""
    marked = weight["cantonese"] + weight["written"] + weight["variety"]
    chinese = marked + weight["chinese"]
    cantonese_share = float(is_cantonese)
    variety_share = 0.0
    if marked:
        cantonese_share = weight["cantonese"] / marked
        variety_share = weight["variety"] / marked
    swc = chinese * (1 - cantonese_share - variety_share)
    return {
        "cantonese": chinese * cantonese_share,
        "written_chinese": swc * (1 - simplified),
        "simplified_mandarin": swc * simplified,
        "english": 0,
        "other": weight["other"] + chinese * variety_share,
    }


def _is_english(latin: Sequence[_Piece]) -> bool:
    """Whether Latin sentences have English grammatical words; one or two names need none."""
    words = sum(piece.words for piece in latin)
    english = sum(piece.english for piece in latin)
    foreign = sum(piece.foreign for piece in latin)
    if words < _LEAST_WORDS:
        return english >= foreign
    syllables = sum(piece.syllables for piece in latin)
    if words >= _LEAST_ROMANISED and syllables > _MOST_SYLLABLES * words:
        return False
    is_list = words >= _LEAST_REST and english > _MOST_GRAMMATICAL * words
    return english > foreign and english >= _LEAST_GRAMMATICAL * words and not is_list


def _without_terms(pieces: Iterable[_Piece]) -> tuple[list[_Piece], list[_Piece]]:
    """Return Latin and other sentences; names and terms only if there are no sentences."""
    latin: list[_Piece] = []
    others: list[_Piece] = []
    for piece in pieces:
        (latin if piece.kind == "latin" else others).append(piece)
    sentences = [piece for piece in latin if piece.shows_language and piece.words > 2]
    if _weight(others) >= _LEAST_SENTENCE:
        latin = sentences
    if _weight(sentences) >= _LEAST_SENTENCE:
        others = [
            piece
            for piece in others
            if piece.kind != "chinese" or piece.weight >= _LEAST_SENTENCE
        ]
    return latin, others


def _script(pieces: Iterable[_Piece]) -> tuple[Script, float]:
    """Return the script of the Chinese sentences, and the share of Simplified characters."""
    texts = (piece.text for piece in pieces if piece.kind != "other")
    n_traditional, n_simplified = count_scripts("".join(texts))
    if not n_traditional + n_simplified:
        return "none", 0.0
    simplified = n_simplified / (n_traditional + n_simplified)
    if max(simplified, 1 - simplified) < _LEAST_IN_SCRIPT:
        return "mixed", simplified
    return "hans" if simplified > 0.5 else "hant", simplified
