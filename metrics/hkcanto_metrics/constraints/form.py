"""Verifiers of form: lists, tables, JSON, titles, punctuation marks and layout."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Annotated, Any, Literal

import regex
from msgspec import Meta

from hkcanto_metrics.constraints.declaring import Number, Text, condition, measure
from hkcanto_metrics.constraints.reading import (
    BULLET,
    HAN,
    LATIN,
    NUMBERED,
    after_letters,
    lines_of,
    narrow,
    sentences_of,
)
from hkcanto_metrics.number import parse_number

Level = Annotated[int, Meta(ge=1, le=6, description="number from 1 to 6")]

_FENCED = re.compile(r"\A```[^\n`]*\n(.*)\n\s*```\Z", re.DOTALL)
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_PIPE = re.compile(r"(?<!\\)\|")
_EMOJI = regex.compile(
    r"(?V1)[\p{Emoji_Presentation}[\p{Emoji}&&\p{Extended_Pictographic}&&[\u2600-\U0001faff]]\u20e3]"
)
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*|__([^_\n]+)__")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+\S")
_PLACEHOLDER = re.compile(r"\[(?![ xX]\])[^\[\]\n]+\](?!\()|【[^【】\n]+】")
_QUOTATION = re.compile(r"「[^「」\n]+」|(?<!「)『[^『』\n]+』|“[^“”\n]+”")
_HASHTAG = re.compile(r"(?<![\w&])[#＃](?=[^\W_])\w+")
# Unicode's category P includes these, which represent words or are Markdown; it lacks ～ and ~.
_NO_PUNCTUATION = frozenset("@#%&*/\\_§¶†‡‰※＠＃％＆＊／＼＿")
_IN_WORD = re.compile(rf"(?<=[{LATIN}0-9])[.,:'’-](?=[{LATIN}0-9])")
_HALF_BY_CHINESE = re.compile(rf"(?<=[{HAN}])[,.!?:;()]|[(](?=[{HAN}])")


def _json(answer: str) -> Any:
    """Parse an answer as JSON, with or without a code fence; None if it is not JSON."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    text = answer.strip()
    fenced = _FENCED.match(text)
    try:
        return json.loads(fenced[1] if fenced else text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None


@condition()
def json_object(answer: str, *, keys: tuple[Text, ...] = (), only: bool = False) -> bool:
    """The answer is a JSON object.

    Args:
        answer: The answer. A code fence around all of it is ignored; any other text is not.
        keys: Keys that the object must have, spelled exactly like this.
        only: Whether it must have no other keys.

    Returns:
        Whether the answer is such an object.

    Examples:
        >>> json_object('```json\\n{"菜": "魚", "價": 58}\\n```', keys=("菜", "價"), only=True)
        True
    """
    found = _json(answer)
    return isinstance(found, dict) and (
        {*keys} == found.keys() if only else {*keys} <= found.keys()
    )


@measure(least=1)
def json_items(answer: str) -> int:
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


def _outer(found: list[re.Match[str] | None]) -> list[re.Match[str]]:
    """The items that are not indented deeper than the first one."""
    items = [each for each in found if each]
    return [each for each in items if len(each["indent"]) <= len(items[0]["indent"])]


@measure(least=1)
def bullet_items(answer: str) -> int:
    """The number of items of a bullet list.

    Args:
        answer: The answer.

    Returns:
        The number of lines that begin with - * + – or •, except nested items and rules such as ---;
        0 without a list.

    Examples:
        >>> bullet_items("要買：\\n- 魚\\n  - 要新鮮\\n- 菜")
        2
    """
    return len(_outer([BULLET.match(line) for line in answer.split("\n")]))


@measure(least=1)
def numbered_items(answer: str) -> int:
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
    next_number = 1
    for item in _outer([NUMBERED.match(line) for line in answer.split("\n")]):
        circled = item["circled"]
        number = unicodedata.numeric(circled) if circled else parse_number(item["number"])
        next_number += number == next_number
    return next_number - 1


@measure(least=1)
def table_rows(answer: str, *, columns: Number | None = None) -> int:
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
    for place in range(1, len(rows)):
        if "|" in rows[place - 1] and "|" in rows[place] and _RULE.fullmatch(rows[place]):
            body = rows[place + 1 :]
            end = next((i for i, row in enumerate(body) if "|" not in row), len(body))
            table = [rows[place - 1], rows[place], *body[:end]]
            widths = {len(_PIPE.split(row.removeprefix("|").removesuffix("|"))) for row in table}
            return end if len(widths) == 1 and columns in (None, *widths) else 0
    return 0


@condition()
def quoted(answer: str, *, marks: Literal["「」", "『』", "“”", '""', "《》"] = "「」") -> bool:
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
    text, depth = answer.strip(), 0
    opening, closing = marks
    if len(text) < 3 or (text[0], text[-1]) != (opening, closing):
        return False
    for character in text[1:-1]:
        depth += (character == opening) - (character == closing)
        if depth < 0 or (opening == closing and depth == 0 and character == opening):
            return False
    return depth == 0


@condition()
def title(answer: str, *, marks: Literal["《》", "〈〉", "【】", "「」"] = "《》") -> bool:
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
    first, *rest = lines_of(answer) or [""]
    opening, closing = map(re.escape, marks)
    return bool(rest and re.fullmatch(f"{opening}[^{marks}]+{closing}", first))


@measure(least=0)
def headings(answer: str, *, level: Level | None = None) -> int:
    """The number of headings in Markdown.

    Args:
        answer: The answer.
        level: Count only headings of this level (number of #), from 1 to 6.

    Returns:
        The number of lines that begin with # and a blank.

    Examples:
        >>> headings("# 材料\\n## 魚\\n#香港"), headings("# 材料\\n## 魚", level=2)
        (2, 1)
    """
    found = [_HEADING.match(line) for line in answer.split("\n")]
    return sum(level in (None, len(each[1])) for each in found if each)


@measure(least=0)
def bold(answer: str) -> int:
    """The number of passages in bold type, in Markdown.

    Args:
        answer: The answer.

    Returns:
        The number of passages on one line between ** or __.

    Examples:
        >>> bold("**小心**地滑，*慢慢*行")
        1
    """
    return sum(bool((a or b).strip()) for a, b in _BOLD.findall(answer))


@measure(least=0)
def placeholders(answer: str) -> int:
    """The number of places to fill in, such as [姓名] or 【日期】.

    Args:
        answer: The answer.

    Returns:
        The number of texts in [] or 【】, except links and check boxes.

    Examples:
        >>> placeholders("[姓名]你好，【日期】見；睇[呢度](https://example.org)")
        2
    """
    return len(_PLACEHOLDER.findall(answer))


@measure(least=0)
def quotations(answer: str) -> int:
    """The number of quotations.

    Args:
        answer: The answer.

    Returns:
        The number of passages between 「」, 『』 or “” on one line; nested ones do not count.

    Examples:
        >>> quotations("佢話：「我聽過『早晨』。」")
        1
    """
    return len(_QUOTATION.findall(answer))


@measure(least=0)
def hashtags(answer: str) -> int:
    """The number of hashtags.

    Args:
        answer: The answer.

    Returns:
        The number of words directly after # or ＃; Markdown headings do not count.

    Examples:
        >>> hashtags("# 今日\\n好好食！#香港 #foodie")
        2
    """
    return len(_HASHTAG.findall(answer))


@measure(least=1)
def parts(answer: str, *, mark: Text) -> int:
    """The number of different parts that a mark separates, such as two versions.

    Args:
        answer: The answer.
        mark: The separator between two parts.

    Returns:
        The number of parts; 0 if two are the same or a part between marks is empty. A mark at the
        beginning or the end is ignored.

    Examples:
        >>> parts("早晨！\\n***\\n你好！", mark="***"), parts("早晨***早晨", mark="***")
        (2, 0)
    """
    found = ["".join(part.split()) for part in answer.split(mark.strip())]
    found = found[not found[0] :]
    found = found[: len(found) - (not found[-1])] if found else found
    return len(found) if all(found) and len({*found}) == len(found) else 0


@measure(least=0)
def punctuation(answer: str, *, marks: Text | None = None) -> int:
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
    wanted = narrow(marks) if marks else ""
    text = _IN_WORD.sub("", narrow(answer))
    return sum(each in wanted if marks else _is_punctuation(each) for each in text)


def _is_punctuation(character: str) -> bool:
    is_other = character in _NO_PUNCTUATION
    return (unicodedata.category(character)[0] == "P" and not is_other) or character == "~"


@condition()
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


@measure(least=0)
def emoji(answer: str) -> int:
    """The number of emoji; exactly 0 asks for none.

    Args:
        answer: The answer.

    Returns:
        The number of emoji as a reader sees them: a family or a flag is one. :) and ★ do not count.

    Examples:
        >>> emoji("好嘢👍🏽 👨‍👩‍👧 ❤️ 1️⃣ :)")
        4
    """
    return sum(bool(_EMOJI.search(each)) for each in regex.findall(r"\X", answer))


@measure(least=0)
def questions(answer: str) -> int:
    """The number of sentences that end in a question mark.

    Args:
        answer: The answer.

    Returns:
        The number of questions. See `sentences` for what a sentence is.

    Examples:
        >>> questions("食咗飯未？未呀。一齊食?")
        2
    """
    return sum("?" in narrow(end) for _, end in sentences_of(answer))


@condition()
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
    return bool(sentences_of(answer)) and "?" in narrow(after_letters(answer))
