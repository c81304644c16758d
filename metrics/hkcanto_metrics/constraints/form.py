"""Verifiers of form: JSON, lists, tables, Markdown, quotations and punctuation."""

import csv
import re
import unicodedata
from itertools import pairwise, takewhile
from typing import Annotated, Any, Literal
from xml.etree import ElementTree

import msgspec
import regex
from msgspec import Meta

from hkcanto_metrics.constraints import reading
from hkcanto_metrics.constraints.declaring import (
    AnyTexts,
    Count,
    CountFrom1,
    Number,
    Text,
)
from hkcanto_metrics.constraints.reading import (
    BULLET,
    CODE,
    HAN,
    LATIN,
    LETTER,
    NUMBERED,
    narrow,
)
from hkcanto_metrics.number import parse_number

Level = Annotated[
    int,
    Meta(
        ge=1,
        le=6,
        description="number from 1 to 6",
    ),
]

# Models put data in a fence even if only the data is asked for.
_CODE_FENCE = re.compile(r"\A```[^\n`]*\n(.*)\n\s*```\Z", re.DOTALL)
_TABLE_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
# An escaped bar is part of a cell.
_CELL_BORDER = re.compile(r"(?<!\\)\|")
# As a reader sees it: signs such as ☎ are emoji, unless a selector asks for text style (\ufe0e).
_EMOJI = regex.compile(
    r"(?V1)[\p{Emoji_Presentation}[\p{Emoji}&&\p{Extended_Pictographic}&&[\u2600-\U0001faff]]]"
    r"(?!\ufe0e)|\p{Emoji}\ufe0f|\u20e3"
)
# Markdown shows marks with a blank inside; ____ is a place to fill in.
_BOLD = re.compile(
    r"\*\*(?=[^\s*])[^*\n]+(?<!\s)\*\*|(?<![A-Za-z0-9_])__(?=[^\s_])[^_\n]+(?<!\s)__(?![A-Za-z0-9_])"
)
_BOLD_OR_ITALIC = re.compile(
    _BOLD.pattern + r"|(?<!\*)\*(?=[^\s*])[^*\n]+(?<!\s)\*(?!\*)"
)
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+\S")
# Not a check box, [ ] or [x], and not the text of a link.
_PLACEHOLDERS = {
    "[]": r"\[(?![ xX]\])[^\[\]\n]+\](?!\()",
    "【】": r"【[^【】\n]+】",
}
_QUOTATIONS = {
    "「」": "「[^「」\n]+」",
    "『』": "(?<!「)『[^『』\n]+』",
    "“”": "“[^“”\n]+”",
}
# Not a fragment of an address, an entity such as &#39;, or a rank such as #1.
_HASHTAG = re.compile(r"(?<![A-Za-z0-9_&/])(?:[#＃](?=\w*[^\W\d_])\w+)+")
# Unicode's category P includes these, which represent words or are Markdown; it lacks ～ and ~.
_SYMBOLS_IN_P = frozenset("@#%&*/\\_§¶†‡‰※＠＃％＆＊／＼＿")
# As in 3.5, 9:30 and don't.
_MARK_IN_WORD = re.compile(rf"(?<=[{LATIN}0-9])[.,:'’-](?=[{LATIN}0-9])")
_HALF_WIDTH_BY_CHINESE = re.compile(rf"(?<=[{HAN}])[,.!?:;()]|[(](?=[{HAN}])")


def _json(answer: str) -> Any:
    """Parse an answer as JSON, with or without a code fence; None if it is not JSON."""
    try:
        return msgspec.json.decode(_CODE_FENCE.sub(r"\1", answer.strip()))
    except (ValueError, RecursionError):
        return None


def json_object(
    answer: str,
    *,
    keys: AnyTexts = (),
    only: bool = False,
) -> bool:
    """The answer is a JSON object.

    Args:
        answer: The answer. A code fence around all of it is ignored; any other text is not.
        keys: Keys that the object must have, spelled exactly like this.
        only: Whether other keys are forbidden.

    Returns:
        Whether the answer is such an object.

    Examples:
        >>> json_object('```json\\n{"菜": "魚", "價": 58}\\n```', keys=("菜", "價"), only=True)
        True
    """
    data = _json(answer)
    if not isinstance(data, dict):
        return False
    if only and data.keys() - keys:
        return False
    return {*keys} <= data.keys()


def json_items(answer: str) -> CountFrom1:
    """The number of items, if the answer is a JSON list.

    Args:
        answer: The answer. A code fence around all of it is ignored; any other text is not.

    Returns:
        The number of items; 0 if the answer is not a JSON list.

    Examples:
        >>> json_items('["旺角", "中環"]'), json_items('地方：["旺角", "中環"]')
        (2, 0)
    """
    data = _json(answer)
    return len(data) if isinstance(data, list) else 0


def json_depth(answer: str) -> CountFrom1:
    """The depth of nesting, if the answer is a JSON object or list.

    Args:
        answer: The answer. A code fence around all of it is ignored; any other text is not.

    Returns:
        The number of objects and lists inside one another; 0 if the answer is neither.

    Examples:
        >>> json_depth('{"菜": ["魚"]}'), json_depth("[1, 2]"), json_depth("1")
        (2, 1, 0)
    """
    depth = 0
    level = [_json(answer)]
    while True:
        containers = [value for value in level if isinstance(value, dict | list)]
        if not containers:
            return depth
        depth += 1
        level = []
        for container in containers:
            if isinstance(container, dict):
                level += container.values()
            else:
                level += container


def data_format(answer: str, *, form: Literal["xml", "yaml", "csv"]) -> bool:
    """The answer is XML, YAML or CSV, and nothing else.

    Args:
        answer: The answer. A code fence around all of it is ignored; any other text is not.
        form: The format. XML has no DTD, YAML is a list or has keys, CSV has rows of the same
            number of fields, at least two.

    Returns:
        Whether it can be read in this format.

    Examples:
        >>> data_format("菜,價\\n魚,58", form="csv"), data_format("菜: 魚\\n價: 58", form="yaml")
        (True, True)
        >>> data_format("<菜>魚</菜>", form="xml"), data_format("<菜>魚", form="xml")
        (True, False)
    """
    import yaml

    text = _CODE_FENCE.sub(r"\1", answer.strip())
    try:
        if form == "csv":
            return _is_csv(text)
        if form == "yaml":
            return isinstance(yaml.safe_load(text), dict | list)
        # A DTD could define entities that expand without end.
        if "<!DOCTYPE" in text:
            return False
        ElementTree.fromstring(text)
        return True
    except (
        ValueError,
        RecursionError,
        ElementTree.ParseError,
        yaml.YAMLError,
        csv.Error,
    ):
        return False


def _is_csv(text: str) -> bool:
    rows = [*csv.reader(text.split("\n"), strict=True)]
    widths = {len(row) for row in rows}
    return len(rows) > 1 and len(widths) == 1 and widths.pop() > 1


def _outer_items(answer: str, mark: re.Pattern[str]) -> list[re.Match[str]]:
    """Return the items of a list that are not indented deeper than the first one."""
    outer: list[re.Match[str]] = []
    for line in answer.split("\n"):
        item = mark.match(line)
        if item is None:
            continue
        if not outer or len(item["indent"]) <= len(outer[0]["indent"]):
            outer.append(item)
    return outer


def bullet_items(
    answer: str, *, mark: Literal["-", "*", "+", "•"] | None = None
) -> CountFrom1:
    """The number of items of a bullet list.

    Args:
        answer: The answer.
        mark: Count only items with this mark; all by default.

    Returns:
        The number of lines that begin with - * + – or •, except nested items and rules such as ---;
        0 without a list.

    Examples:
        >>> bullet_items("要買：\\n- 魚\\n  - 要新鮮\\n- 菜")
        2
    """
    items = _outer_items(answer, BULLET)
    return sum(mark in (None, item[0].strip()) for item in items)


def numbered_items(answer: str) -> CountFrom1:
    """The number of items of a numbered list.

    Args:
        answer: The answer.

    Returns:
        The number of lines that begin with 1. 1) 1、 (1) ① or 一、 and go on with the next number.
        A number out of order does not count; 0 without a list.

    Examples:
        >>> numbered_items("1. 魚\\n2. 菜\\n4. 肉"), numbered_items("一、魚\\n二、菜")
        (2, 2)
    """
    count = 0
    for item in _outer_items(answer, NUMBERED):
        circled = item["circled"]
        number = (
            unicodedata.numeric(circled)
            if circled
            else parse_number(item["number"] or item["keycap"])
        )
        if number == count + 1:
            count += 1
    return count


def sub_items(answer: str) -> Count:
    """The number of nested list items.

    Args:
        answer: The answer.

    Returns:
        The number of items that are indented deeper than the first one.

    Examples:
        >>> sub_items("- 魚\\n  - 蝦\\n  1. 蟹\\n- 菜")
        2
    """
    indents = []
    for line in answer.split("\n"):
        item = BULLET.match(line) or NUMBERED.match(line)
        if item:
            indents.append(len(item["indent"]))
    return sum(indent > indents[0] for indent in indents)


def only_list(answer: str) -> bool:
    """The answer is a list, with nothing before, between or after its items.

    Args:
        answer: The answer.

    Returns:
        Whether each line is an item of a bullet or numbered list.

    Examples:
        >>> only_list("- 魚\\n- 菜"), only_list("要買：\\n- 魚\\n- 菜")
        (True, False)
    """
    items = reading.items_of(answer)
    lines = reading.lines_of(answer)
    return bool(items) and len(items) == len(lines)


def table_rows(answer: str, *, columns: Number | None = None) -> CountFrom1:
    """The number of rows of the first Markdown table, not counting its header.

    Args:
        answer: The answer.
        columns: The number of columns it must have, from 1; any number by default.

    Returns:
        The number of rows; 0 without a table, or if a row has a different number of columns.

    Examples:
        >>> table_rows("| 菜 | 價 |\\n|---|---|\\n| 魚 | 58 |\\n| 肉 | 48 |", columns=2)
        2
    """
    table = _first_table(answer)
    widths = {_width(row) for row in table}
    if len(widths) != 1 or columns not in (None, *widths):
        return 0
    return len(table) - 2


def _first_table(answer: str) -> list[str]:
    """Return the lines of the first Markdown table: its header, the rule below it, and rows."""
    lines = [line.strip() for line in answer.split("\n")]
    for position, (header, rule) in enumerate(pairwise(lines)):
        if "|" in header and "|" in rule and _TABLE_RULE.fullmatch(rule):
            return [*takewhile(lambda line: "|" in line, lines[position:])]
    return []


def _width(row: str) -> int:
    cells = row.removeprefix("|").removesuffix("|")
    return len(_CELL_BORDER.split(cells))


def quoted(
    answer: str, *, marks: Literal["「」", "『』", "“”", '""', "《》"] = "「」"
) -> bool:
    """The whole answer is between one pair of quotation marks.

    Args:
        answer: The answer.
        marks: The pair of quotation marks.

    Returns:
        Whether the first character opens and the last one closes the same pair.

    Examples:
        >>> quoted("「你好！」"), quoted("「你好」同「再見」")
        (True, False)
    """
    text = answer.strip()
    opening, closing = marks
    if len(text) < 3 or text[0] != opening or text[-1] != closing:
        return False
    depth = 1
    for character in text[1:-1]:
        # Straight quotation marks open and close with the same character: the next one closes.
        if character == closing:
            depth -= 1
        elif character == opening:
            depth += 1
        if depth == 0:
            return False
    return depth == 1


def title(
    answer: str, *, marks: Literal["《》", "〈〉", "【】", "「」", "<<>>"] = "《》"
) -> bool:
    """A line is a title between marks, with text below it.

    Args:
        answer: The answer.
        marks: The marks. Markdown around them is ignored.

    Returns:
        Whether the answer has such a title.

    Examples:
        >>> title("# 《夜船》\\n風好大。"), title("《夜船》講一個水手。")
        (True, False)
    """
    lines = reading.lines_of(answer)
    half = len(marks) // 2
    opening = marks[:half]
    closing = marks[half:]
    pattern = re.compile(f"{opening}[^{marks}]+{closing}")
    return any(map(pattern.fullmatch, lines[:-1]))


def headings(answer: str, *, level: Level | None = None) -> Count:
    """The number of headings in Markdown.

    Args:
        answer: The answer.
        level: Count only headings of this level (number of #), from 1 to 6.

    Returns:
        The number of lines that begin with # and a blank; those in code do not count.

    Examples:
        >>> headings("# 材料\\n## 魚\\n#香港"), headings("# 材料\\n## 魚", level=2)
        (2, 1)
    """
    count = 0
    for line in CODE.sub("", answer).split("\n"):
        heading = _HEADING.match(line)
        if heading and level in (None, len(heading[1])):
            count += 1
    return count


def bold(answer: str, *, italic: bool = False) -> Count:
    """The number of passages in bold type, in Markdown.

    Args:
        answer: The answer.
        italic: Whether passages between single * count, too, as IFEval counts them.

    Returns:
        The number of passages on one line between ** or __, with no blank inside the marks; those
        in code do not count.

    Examples:
        >>> bold("**小心**地滑，*慢慢*行"), bold("姓名：____ 電話：____")
        (1, 0)
    """
    passage = _BOLD_OR_ITALIC if italic else _BOLD
    return len(passage.findall(CODE.sub("", answer)))


def placeholders(answer: str, *, marks: Literal["[]", "【】"] | None = None) -> Count:
    """The number of places to fill in, such as [姓名] or 【日期】.

    Args:
        answer: The answer.
        marks: Count only those between these marks; both by default.

    Returns:
        The number of texts in [] or 【】, except links and check boxes.

    Examples:
        >>> placeholders("[姓名]你好，【日期】見；睇[呢度](https://example.org)")
        2
    """
    patterns = _PLACEHOLDERS.values() if marks is None else [_PLACEHOLDERS[marks]]
    return len(re.findall("|".join(patterns), answer))


def quotations(
    answer: str, *, marks: Literal["「」", "『』", "“”"] | None = None
) -> Count:
    """The number of quotations.

    Args:
        answer: The answer.
        marks: Count only those between these marks; all by default.

    Returns:
        The number of passages between 「」, 『』 or “” on one line; nested ones do not count.

    Examples:
        >>> quotations("佢話：「我聽過『早晨』。」")
        1
    """
    patterns = _QUOTATIONS.values() if marks is None else [_QUOTATIONS[marks]]
    return len(re.findall("|".join(patterns), answer))


def hashtags(answer: str) -> Count:
    """The number of hashtags.

    Args:
        answer: The answer.

    Returns:
        The number of words directly after # or ＃, with a letter; headings and code do not count.

    Examples:
        >>> hashtags("# 今日\\n排名 #1，好好食！#coffee#tea")
        2
    """
    runs = _HASHTAG.findall(CODE.sub("", answer))
    return narrow("".join(runs)).count("#")


def parts(
    answer: str,
    *,
    mark: Text,
    own_line: bool = False,
) -> CountFrom1:
    """The number of different parts that a mark separates, such as two versions.

    Args:
        answer: The answer.
        mark: The separator between two parts.
        own_line: Whether the mark must be alone on its line.

    Returns:
        The number of parts; 0 if two are the same or a part between marks is empty. A mark at the
        beginning or the end is ignored. If a line has only the mark, marks in other lines are text.

    Examples:
        >>> parts("早晨！\\n***\\n你好！", mark="***"), parts("早晨***早晨", mark="***")
        (2, 0)
        >>> parts("***早晨***\\n***\\n你好", mark="***")
        2
    """
    mark = mark.strip()
    # Text such as ***bold*** is not a separator if some line has only the mark.
    line_of_mark = re.compile(rf"^[^\S\n]*{re.escape(mark)}[^\S\n]*$", re.MULTILINE)
    is_alone = own_line or line_of_mark.search(answer)
    texts = line_of_mark.split(answer) if is_alone else answer.split(mark)
    bare = ["".join(text.split()) for text in texts]
    # A mark at the beginning or the end separates nothing.
    if not bare[0]:
        del bare[0]
    if bare and not bare[-1]:
        del bare[-1]
    has_repeats = len({*bare}) < len(bare)
    return 0 if has_repeats or not all(bare) else len(bare)


def punctuation(answer: str, *, marks: Text | None = None) -> Count:
    """The number of punctuation marks, any or given ones.

    Args:
        answer: The answer.
        marks: The marks that count, in full or half width; by default all.

    Returns:
        The number of marks. Marks in numbers, times and words (3.5, 9:30, don't) do not count, nor
        do signs such as % & @ # and *.

    Examples:
        >>> punctuation("好，買！3.5 個"), punctuation("好,買！", marks="，")
        (2, 1)
    """
    text = narrow(_MARK_IN_WORD.sub("", answer))
    if not marks:
        return sum(map(_is_punctuation, text))
    narrow_marks = narrow(marks)
    return sum(character in narrow_marks for character in text)


def _is_punctuation(character: str) -> bool:
    if character == "~":
        return True
    category = unicodedata.category(character)
    return category.startswith("P") and character not in _SYMBOLS_IN_P


def punctuation_width(answer: str, *, width: Literal["full", "half"]) -> bool:
    """All punctuation in Chinese text has the given width, full or half.

    Args:
        answer: The answer.
        width: `full`: none of , . ! ? : ; ( ) is next to a Chinese character. `half`: there is no
            full-width mark at all.

    Returns:
        Whether all of it has this width.

    Examples:
        >>> punctuation_width("好，OK!", width="full"), punctuation_width("好,買", width="full")
        (True, False)
    """
    if width == "full":
        return not _HALF_WIDTH_BY_CHINESE.search(answer)
    for character in answer:
        is_wide = character > "\u2fff"
        if is_wide and _is_punctuation(narrow(character)):
            return False
    return True


def emoji(answer: str) -> Count:
    """The number of emoji; exactly 0 asks for none.

    Args:
        answer: The answer.

    Returns:
        The number of emoji as a reader sees them: a family or a flag is one, ‼️ and ☎ are, too. :)
        and ★ do not count.

    Examples:
        >>> emoji("好嘢👍🏽 👨‍👩‍👧 ❤️ 1️⃣ ‼️ :)")
        5
    """
    graphemes = regex.findall(r"\X", answer)
    return sum(bool(_EMOJI.search(grapheme)) for grapheme in graphemes)


def questions(answer: str) -> Count:
    """The number of sentences that end in a question mark.

    Args:
        answer: The answer.

    Returns:
        The number of questions. See `sentences` for what a sentence is.

    Examples:
        >>> questions("食咗飯未？未呀。一齊食?")
        2
    """
    sentences = reading.sentences_with_ends(answer)
    return sum("?" in narrow(end) for _, end in sentences)


def ends_with_question(answer: str) -> bool:
    """The answer ends with a question.

    Args:
        answer: The answer.

    Returns:
        Whether a question mark follows its last word; closing quotes and emoji may follow, too.

    Examples:
        >>> ends_with_question("你話係咪呀？😀"), ends_with_question("係咪？係。")
        (True, False)
    """
    # Closing quotes and emoji may follow the question mark.
    after_last_letter = LETTER.split(answer)[-1]
    return bool(reading.sentences_of(answer)) and "?" in narrow(after_last_letter)
