"""Verifiers of form: JSON, lists, tables, Markdown, quotations and punctuation."""

import csv
import re
import unicodedata
from itertools import accumulate, pairwise, takewhile
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

Level = Annotated[int, Meta(ge=1, le=6, description="number from 1 to 6")]

_FENCED = re.compile(r"\A```[^\n`]*\n(.*)\n\s*```\Z", re.DOTALL)
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_PIPE = re.compile(r"(?<!\\)\|")
# As a reader sees it: signs such as ☎ are emoji, unless a selector asks for text style (\ufe0e).
_EMOJI = regex.compile(
    r"(?V1)[\p{Emoji_Presentation}[\p{Emoji}&&\p{Extended_Pictographic}&&[\u2600-\U0001faff]]]"
    r"(?!\ufe0e)|\p{Emoji}\ufe0f|\u20e3"
)
_BOLD = re.compile(
    r"\*\*(?=[^\s*])[^*\n]+(?<!\s)\*\*|(?<!_)__(?=[^\s_])[^_\n]+(?<!\s)__(?!_)"
)
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+\S")
_PLACEHOLDERS: dict[str | None, str] = {
    "[]": r"\[(?![ xX]\])[^\[\]\n]+\](?!\()",
    "【】": r"【[^【】\n]+】",
}
_QUOTATIONS: dict[str | None, str] = {
    "「」": "「[^「」\n]+」",
    "『』": "(?<!「)『[^『』\n]+』",
    "“”": "“[^“”\n]+”",
}
_HASHTAG = re.compile(r"(?<![A-Za-z0-9_&/])[#＃](?=\w*[^\W\d_])\w+")
# Unicode's category P includes these, which represent words or are Markdown; it lacks ～ and ~.
_NO_PUNCTUATION = frozenset("@#%&*/\\_§¶†‡‰※＠＃％＆＊／＼＿")
_IN_WORD = re.compile(rf"(?<=[{LATIN}0-9])[.,:'’-](?=[{LATIN}0-9])")
_HALF_BY_CHINESE = re.compile(rf"(?<=[{HAN}])[,.!?:;()]|[(](?=[{HAN}])")


def _json(answer: str) -> Any:
    """Parse an answer as JSON, with or without a code fence; None if it is not JSON."""
    try:
        return msgspec.json.decode(_FENCED.sub(r"\1", answer.strip()))
    except (ValueError, RecursionError):
        return None


def json_object(answer: str, *, keys: AnyTexts = (), only: bool = False) -> bool:
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
    is_it = isinstance(data, dict) and {*keys} <= data.keys()
    return is_it and not (only and data.keys() - keys)


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
    found = _json(answer)
    return len(found) if isinstance(found, list) else 0


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
    level, depth = [_json(answer)], 0
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [
            x
            for each in level
            for x in (each.values() if isinstance(each, dict) else each)
        ]
    return depth


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

    text = _FENCED.sub(r"\1", answer.strip())
    try:
        if form == "xml":
            return "<!DOCTYPE" not in text and ElementTree.fromstring(text) is not None
        if form == "yaml":
            return isinstance(yaml.safe_load(text), dict | list)
        widths = {len(row) for row in csv.reader(text.split("\n"), strict=True)}
        return len(widths) == 1 and widths.pop() > 1 and "\n" in text
    except (
        ValueError,
        RecursionError,
        ElementTree.ParseError,
        yaml.YAMLError,
        csv.Error,
    ):
        return False


def _outer(found: list[re.Match[str] | None]) -> list[re.Match[str]]:
    """The items that are not indented deeper than the first one."""
    items = [each for each in found if each]
    return [each for each in items if len(each["indent"]) <= len(items[0]["indent"])]


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
    found = _outer([BULLET.match(line) for line in answer.split("\n")])
    return sum(mark in (None, each[0].strip()) for each in found)


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
    for item in _outer([NUMBERED.match(line) for line in answer.split("\n")]):
        circled = item["circled"]
        number = (
            unicodedata.numeric(circled) if circled else parse_number(item["number"])
        )
        count += number == count + 1
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
    found = [BULLET.match(line) or NUMBERED.match(line) for line in answer.split("\n")]
    return sum(each is not None for each in found) - len(_outer(found))


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
    return 0 < len(reading.items_of(answer)) == len(reading.lines_of(answer))


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
    rows = [line.strip() for line in answer.split("\n")]
    for place, (header, rule) in enumerate(pairwise(rows)):
        if "|" in header and "|" in rule and _RULE.fullmatch(rule):
            table = [*takewhile(lambda row: "|" in row, rows[place:])]
            widths = {
                len(_PIPE.split(row.removeprefix("|").removesuffix("|")))
                for row in table
            }
            return (
                len(table) - 2 if len(widths) == 1 and columns in (None, *widths) else 0
            )
    return 0


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
    text, (opening, closing) = answer.strip(), marks
    steps = (-1 if each == closing else int(each == opening) for each in text[1:-1])
    depths = [*accumulate(steps, initial=1)]
    return (
        len(text) > 2
        and text[0] + text[-1] == marks
        and all(depths)
        and depths[-1] == 1
    )


def title(
    answer: str, *, marks: Literal["《》", "〈〉", "【】", "「」", "<<>>"] = "《》"
) -> bool:
    """The first line is a title between marks, with text below it.

    Args:
        answer: The answer.
        marks: The marks. Markdown around them is ignored.

    Returns:
        Whether the answer has such a title.

    Examples:
        >>> title("# 《夜船》\\n風好大。"), title("《夜船》講一個水手。")
        (True, False)
    """
    first, *rest = reading.lines_of(answer) or [""]
    half = len(marks) // 2
    return bool(
        rest and re.fullmatch(f"{marks[:half]}[^{marks}]+{marks[half:]}", first)
    )


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
    found = [_HEADING.match(line) for line in CODE.sub("", answer).split("\n")]
    return sum(level in (None, len(each[1])) for each in found if each)


def bold(answer: str) -> Count:
    """The number of passages in bold type, in Markdown.

    Args:
        answer: The answer.

    Returns:
        The number of passages on one line between ** or __, with no blank inside the marks; those
        in code do not count.

    Examples:
        >>> bold("**小心**地滑，*慢慢*行"), bold("姓名：____ 電話：____")
        (1, 0)
    """
    return len(_BOLD.findall(CODE.sub("", answer)))


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
    return len(
        re.findall(_PLACEHOLDERS.get(marks, "|".join(_PLACEHOLDERS.values())), answer)
    )


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
    return len(
        re.findall(_QUOTATIONS.get(marks, "|".join(_QUOTATIONS.values())), answer)
    )


def hashtags(answer: str) -> Count:
    """The number of hashtags.

    Args:
        answer: The answer.

    Returns:
        The number of words directly after # or ＃, with a letter; headings and code do not count.

    Examples:
        >>> hashtags("# 今日\\n排名 #1，好好食！#香港#foodie")
        2
    """
    return len(_HASHTAG.findall(CODE.sub("", answer)))


def parts(answer: str, *, mark: Text, own_line: bool = False) -> CountFrom1:
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
    alone = re.compile(rf"^[^\S\n]*{re.escape(mark.strip())}[^\S\n]*$", re.MULTILINE)
    is_alone = own_line or alone.search(answer)
    split = alone.split(answer) if is_alone else answer.split(mark.strip())
    found = ["".join(part.split()) for part in split]
    found = found[not found[0] :]
    found = found[:-1] if found and not found[-1] else found
    return len(found) if all(found) and len({*found}) == len(found) else 0


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
    text, wanted = narrow(_IN_WORD.sub("", answer)), narrow(marks or "")
    return sum(each in wanted if marks else _is_punctuation(each) for each in text)


def _is_punctuation(character: str) -> bool:
    is_mark = (
        unicodedata.category(character)[0] == "P" and character not in _NO_PUNCTUATION
    )
    return is_mark or character == "~"


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
        return not _HALF_BY_CHINESE.search(answer)
    return not any(each > "\u2fff" and _is_punctuation(narrow(each)) for each in answer)


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
    return sum(bool(_EMOJI.search(each)) for each in regex.findall(r"\X", answer))


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
    return sum("?" in narrow(end) for _, end in reading.sentences_with_ends(answer))


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
    return bool(reading.sentences_of(answer)) and "?" in narrow(
        LETTER.split(answer)[-1]
    )
