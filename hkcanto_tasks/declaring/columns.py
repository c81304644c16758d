"""Describe the columns of some rows: their contents, and the roles that their names suggest."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from ..data.options import decoded
from ..data.tables import Record, as_text

_RIGHT = (
    "(?:the |best |correct |right |gold |golden |true |ground truth |standard |reference "
    "|正確|正确|標準|标准|參考|参考)*"
)
_ROLES = {
    "question": r"(?:the )?(?:question|query|stem|prompt|problem|instruction|request)"
    r"(?: text| stem)?|題目|题目|問題|问题|題幹|题干|提問|提问|題|题|問|问|指令|請求",
    "answer": rf"{_RIGHT}(?:answer|ans|key|label|gold|target|truth|option|choice|correct|答案|答"
    r"|選項|选项)s?(?: ?(?:key|idx|index|id|letter|label|number|text|option))?|gold|correct",
    "label": r"(?:gold |true )?(?:label|class|sentiment|polarity|emotion|rating|stance|tag"
    r"|標籤|标签|情感|情緒|情绪|分類|分类)(?: ?(?:id|name|text))?",
    "text": r"text(?: ?[ab\d])?|sentence|review|comment|content|input|post|utterance|passage"
    r"|document|文本|句子|評論|评论|內容|内容|留言|原文",
    "source": r"source|src|input|原文|source (?:text|sentence)",
    "target": r"target|tgt|output|reference|ref|translation|譯文|译文|target (?:text|sentence)",
    "subject": r"subject(?: (?:name|en|zh))?|科目|學科|学科",
    "subject, perhaps": "(?:sub ?)?(?:topic|category|domain|task|type|theme)"
    "|類別|类别|主題|主题|範疇|类型|類型",
    "id": r"(?:.+ )?(?:id|uid|qid|guid|uuid)|no|number|idx|index|#||unnamed.*|編號|编号|題號|题号"
    "|序號|序号",
    "aside": r"split|version|year|date|time|url|link|source|author|licen[cs]e|difficulty|level"
    r"|language|lang|來源|来源|出處|出处|年份|難度|难度|explanation|reasoning|rationale|解析"
    r"|comment|remarks?|notes?|備註|备注|metadata|tags?",
    "model": r"(?:.* )?(?:pred(?:iction|icted)?s?|model|response|generated|generation|completion"
    r"|(?:gpt|claude|llama|qwen|gemini|deepseek|mistral|chatglm)[\w.]*)(?: .*)?",
}
_LANGUAGES = {
    "yue": r"yue(?: ?han[ts])?|cantonese|canto|hk|zh hk|粵語|粤语|廣東話|广东话|粵|口語|yue hk",
    "zh": r"zh(?: ?(?:cn|tw|han[ts]))?|mandarin|man|cmn|swc|written(?: chinese)?|chinese|putonghua"
    r"|書面語|书面语|普通話|普通话|國語|国语|中文|官話",
    "en": r"en(?: ?(?:us|gb))?|eng|english|英文|英語|英语",
}


def words_of(name: str) -> str:
    """Return a column's name with spaces for punctuation, for comparison with names of roles.

    Examples:
        >>> words_of("Correct_Option "), words_of("答案")
        ('correct option', '答案')
    """
    plain = unicodedata.normalize("NFKC", name).lower().strip()
    return plain if plain == "#" else re.sub(r"[\W_]+", " ", plain).strip()


@dataclass(frozen=True)
class Column:
    """A column and its cells.

    Attributes:
        name: Its name, in lower case.
        cells: Its cells, in the order of the rows; None where a row lacks it.
    """

    name: str
    cells: Sequence[object]

    def is_called(self, role: str) -> bool:
        """Return whether its name is usual for a role, ignoring a language at the end."""
        name = words_of(self.name)
        head, _, last = name.rpartition(" ")
        found = [
            name,
            *[head] * bool(head and any(re.fullmatch(each, last) for each in _LANGUAGES.values())),
        ]
        return any(re.fullmatch(_ROLES[role], each) for each in found)

    @property
    def is_id(self) -> bool:
        """Whether its name is that of an id rather than an answer."""
        return self.is_called("id") and not self.is_called("answer")

    @cached_property
    def language(self) -> str:
        """The language in its name: `yue`, `zh`, `en`, or an empty text."""
        name = re.sub(r" ?(?:text|sentence|translation)$", "", words_of(self.name))
        found = (key for key, pattern in _LANGUAGES.items() if re.fullmatch(pattern, name))
        return next(found, "")

    @cached_property
    def texts(self) -> list[str]:
        """Its texts and numbers, without blank cells."""
        found = (as_text(each) for each in self.cells)
        return [each.strip() for each in found if each is not None and each.strip()]

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of occurrences of each text."""
        return Counter(self.texts)

    @property
    def is_whole(self) -> bool:
        """Whether it has a text in every row."""
        return 0 < len(self.texts) == len(self.cells)

    @property
    def is_blank(self) -> bool:
        """Whether it is empty in every row."""
        return all(each is None or each in ("", [], {}) for each in self.cells)

    @cached_property
    def length(self) -> float:
        """The mean number of characters of its texts."""
        return fmean(map(len, self.texts)) if self.texts else 0.0

    @cached_property
    def values(self) -> list[Any]:
        """Its cells, with JSON texts decoded."""
        return [decoded(each) for each in self.cells]

    def tally(self) -> str:
        """List its five most frequent texts with their counts.

        Examples:
            >>> Column("label", ["1", "0", "0"]).tally()
            '0 (2) and 1 (1)'
        """
        shown = [f"{_short(text)} ({count})" for text, count in self.counts.most_common(5)]
        more = len(self.counts) - len(shown)
        if more:
            return f"{', '.join(shown)} and {more} more"
        return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def columns_of(records: Sequence[Record]) -> list[Column]:
    """Return the columns of some rows, in their order."""
    names = dict.fromkeys(name for record in records for name in record.cells)
    return [Column(name, [record.cells.get(name) for record in records]) for name in names]


def called(columns: Iterable[Column], role: str) -> Iterator[Column]:
    """Return the columns whose names are usual for a role."""
    return (each for each in columns if each.is_called(role))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 20 else f"{line[:19]}…"
