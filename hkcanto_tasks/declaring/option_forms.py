"""Recognise questions with options: one right option, marks for it, or several right ones."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from ..catalogue import TaskDefinition
from ..data.choices import UndecidedAnswers, read_choices
from ..data.options import option_columns, read_options
from ..data.tables import UnreadableRow
from ..errors import DataCorrupt
from .columns import Column, called
from .proposals import PROMPTS, Doubt, Proposal, Unrecognised, question_column
from .tables import Group

_LETTERS = "ABCDEFGHIJ"
_FORMS_OF_ANSWER = ("letter", "number", "index", "text", "letter_or_number")
_MEANING = {
    "letter": "the option's letter",
    "number": "its number from 1",
    "index": "its index from 0",
    "text": "its text",
    "letter_or_number": "its letter or its number from 1",
}
_SHUFFLED = {"shuffle_options": 1}  # models prefer some letters
_SAID = "The options of each question are shuffled."
_BAD_SHARE = 0.01


@dataclass(frozen=True)
class _Options:
    """The columns of the options: their names, declaration and number."""

    names: Sequence[str]
    declared: str | Sequence[str] | None
    count: int
    blank: bool = False
    right: str = ""


def multiple_choice(group: Group) -> Sequence[Proposal]:
    """Recognise questions with one right option, in columns or in a list."""
    options = _options(group)
    if options is None:
        return ()
    if not 2 <= options.count <= len(_LETTERS):
        raise Unrecognised(
            f"{options.count} options in {options.names[0]!r}; 2 to 10 can be asked."
        )
    letters = _LETTERS[: options.count]
    fields: dict[str, Any] = {} if letters == "ABCD" else {"letters": letters}
    if options.blank:
        fields["blank_options"] = "absent"
    columns: dict[str, str | Sequence[str]] = {}
    if options.declared:
        columns["options"] = options.declared
    definition = TaskDefinition(
        name="x",
        title="x",
        kind="multiple_choice",
        letters=letters,
        blank_options="absent" if options.blank else "shown",
        columns={k: v if isinstance(v, str) else tuple(v) for k, v in columns.items()},
    )
    bare = msgspec.structs.replace(definition, option_labels="remove")
    shown, without = (_options_of(group, each) for each in (definition, bare))
    if group.header and len(shown) == len(without) and shown != without:
        definition, fields["option_labels"] = bare, "remove"
    others = [each for each in group.columns if each.name not in options.names]
    answer, found, doubts = _answer(group, definition, others, options)
    if not answer:
        return ()
    question, more = question_column([each for each in others if each.name != answer], group)
    fields |= found
    columns = {"question": question.name, **columns, "answer": answer}
    return [
        Proposal(
            "multiple_choice",
            columns,
            PROMPTS["multiple_choice"],
            fields,
            doubts=[*more, *doubts],
            own=options.names,
        )
    ]


def _options_of(group: Group, definition: TaskDefinition) -> Sequence[Sequence[str | None]]:
    """Return the options of those rows that a declaration can read."""
    rows = read_options(group.records, definition)
    return [each[0] for each in rows if not isinstance(each, UnreadableRow)]


def _options(group: Group) -> _Options | None:
    if not group.header:
        count = len(group.columns) - 2
        texts = group.columns[-1].counts
        plain = {*map(str.upper, texts)} <= {*_LETTERS[:count]} if 2 <= count <= 10 else False
        return _Options([each.name for each in group.columns[1:-1]], None, count) if plain else None
    listed = [e for e in group.columns if not _NO_OPTIONS.fullmatch(e.name) and _lengths(e)]
    if listed:
        first = next(called(listed, "answer"), listed[0])
        first = next((each for each in listed if each.name in ("options", "choices")), first)
        return _Options([first.name], first.name, max(_lengths(first)))
    names = [each.name for each in group.columns]
    family = option_columns(names) & {each.name for each in group.columns if each.texts}
    columns = [each for each in group.columns if each.name in family]
    if len(columns) > 1:
        blank = not all(each.is_whole for each in columns)
        return _Options([each.name for each in columns], None, len(columns), blank)
    wrong = [each for each in group.columns if _WRONG.fullmatch(each.name)]
    right = [each for each in called(group.columns, "answer") if each.is_whole]
    if len(wrong) > 1 and len(right) == 1:
        names = [right[0].name, *(each.name for each in wrong)]
        return _Options(names, names, len(names), not all(e.is_whole for e in wrong), names[0])
    return None


_NO_OPTIONS = re.compile(
    r"(?:.*[\W_])?(?:answers?|aliases|targets?|references?|tags|keywords|constraints|messages|答案)"
)
_WRONG = re.compile(
    r"(?:distractors?|wrong|incorrect|false|錯誤|错误|干擾)[\W_]*(?:answer|option|choice|ending|答案|選項|项|項)?s?[\W_]*\d?"
)


def _lengths(column: Column) -> set[int]:
    """Return the numbers of options in a column's cells; empty if they have no options."""
    found = set()
    for value in column.values:
        if isinstance(value, Mapping):
            lists = [each for each in value.values() if isinstance(each, list)]
            marks = [each for each in value.values() if each in (0, 1)]
            if marks and len(marks) == len(value):
                return set()  # one-hot
            value = lists[0] if lists else [*value.values()]
        if (
            not isinstance(value, list)
            or not len(value) > 1
            or any(isinstance(e, list) for e in value)
        ):
            return set()
        found.add(len(value))
    return found


def _answer(
    group: Group, definition: TaskDefinition, columns: Sequence[Column], options: _Options
) -> tuple[str, Mapping[str, Any], Sequence[Doubt]]:
    """Return the column of the answers, its declaration, and the doubts about both."""
    if not group.header:
        return group.columns[-1].name, {"answer": "letter"}, ()
    if options.right:
        said = f'The right option is always the first, A: "{options.right}". {_SAID} Is that right?'
        return options.right, {"answer": "text", **_SHUFFLED}, [Doubt(said)]
    found = {}
    for column in columns:
        if column.texts and not column.is_called("model") and not column.is_id:
            with suppress(DataCorrupt):
                found[column.name] = _ways(group, definition, column)
    found = {name: ways for name, ways in found.items() if ways}
    usual = [each for each in called(columns, "answer") if each.name in found]
    if not found:
        if any(_names_several(each) for each in called(columns, "answer")):
            return "", {}, ()  # left to the next form
        raise Unrecognised(
            f"it has options ({', '.join(options.names)}), but no column names one of them in "
            f"every row. It also has {', '.join(each.name for each in columns)}."
        )
    chosen = (usual or [each for each in columns if each.name in found])[0]
    ways, doubts = found[chosen.name], []
    others = [name for name in found if name != chosen.name]
    rivals = [each.name for each in usual if each is not chosen and _differ(ways, found[each.name])]
    if rivals or not usual or chosen.name == "label":
        listed = ", or ".join(f'"{name}"' for name in rivals or others)
        besides = f" It could also be {listed}." if listed else ""
        doubts.append(
            Doubt(f'Is "{chosen.name}" the answer? It has the values {chosen.tally()}.{besides}')
        )
    distinct = {tuple(places) for places in ways.values()}
    if len(distinct) > 1:
        meant = " or ".join(f"{_MEANING[way]}" for way in ways)
        lines = [f'answer = "{way}"' for way in ways]
        said = f'Is "{chosen.name}" {meant}? It has the values {chosen.tally()}, and both fit.'
        return chosen.name, {}, [*doubts, Doubt(said, lines)]
    (places,) = distinct
    if [*ways] == ["letter_or_number"]:
        said = f'Is "{chosen.name}" {_MEANING["letter_or_number"]}? It has {chosen.tally()}.'
        doubts.append(Doubt(said))
    found_way: dict[str, Any] = {"answer": next(iter(ways))}
    if len({*places}) == 1 and len(places) > 3:
        said = f"Is it right that every answer is {_LETTERS[places[0]]}? {_SAID}"
        return chosen.name, {**found_way, **_SHUFFLED}, [*doubts, Doubt(said)]
    return chosen.name, found_way, doubts


def _ways(group: Group, definition: TaskDefinition, column: Column) -> dict[str, tuple[int, ...]]:
    """Return each way to read which options a column names → the options that it gives.

    The kind's own reader chooses if it can; otherwise both ways are returned.
    """
    readings = {}
    for way in _FORMS_OF_ANSWER:
        with suppress(DataCorrupt):
            readings[way] = _places(group, definition, column, way)
    whole = {way: places for way, places in readings.items() if places}
    try:
        decided = _places(group, definition, column, "")
    except UndecidedAnswers:
        return {way: places for way, places in whole.items() if way != "letter_or_number"}
    except DataCorrupt:  # answers of two sorts, such as letters and texts
        return whole
    return {way: places for way, places in whole.items() if places == decided}


def _places(group: Group, definition: TaskDefinition, column: Column, way: str) -> tuple[int, ...]:
    declared = msgspec.structs.replace(definition, answer=way)
    rows = read_choices(group.records, declared, [column.name])
    read = [each.answers[0] for each in rows if not isinstance(each, UnreadableRow)]
    return tuple(read) if len(read) >= len(rows) * (1 - _BAD_SHARE) else ()


def _differ(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return not any(places in other.values() for places in one.values())


def one_hot(group: Group) -> Sequence[Proposal]:
    """Recognise options with marks for the right one, like `mc1_targets` of TruthfulQA."""
    for column in group.columns:
        marked = [_marks(value) for value in column.values]
        if all(marked) and all(sum(each) == 1 for each in marked):
            others = [each for each in group.columns if each is not column]
            question, doubts = question_column(others, group)
            letters = _LETTERS[: max(map(len, marked))]
            first = len({each.index(1) for each in marked}) == 1
            said = f"The right option is always the first, A. {_SAID} Is that right?"
            fields: dict[str, Any] = {"answer": "one_hot", **(_SHUFFLED if first else {})}
            if letters != "ABCD":
                fields["letters"] = letters
            return [
                Proposal(
                    "multiple_choice",
                    {"question": question.name, "options": column.name, "answer": column.name},
                    PROMPTS["multiple_choice"],
                    fields,
                    doubts=[*doubts, *[Doubt(said)] * first],
                )
            ]
    return ()


def _marks(value: object) -> list[int]:
    """Return the marks of options, 1 for a right one; empty if a cell has no such marks."""
    marks: Any = [*value.values()] if isinstance(value, Mapping) and len(value) > 1 else []
    if isinstance(value, Mapping) and isinstance(value.get("labels"), list):
        marks = value["labels"]
    return marks if all(each in (0, 1) for each in marks) else []


def multi_answer(group: Group) -> Sequence[Proposal]:
    """Recognise questions that may have several right options, such as `ABD`."""
    options = _options(group)
    if options is None or options.right:
        return ()
    others = [each for each in group.columns if each.name not in options.names]
    for column in called(others, "answer"):
        if _names_several(column):
            question, doubts = question_column(
                [each for each in others if each is not column], group
            )
            columns: dict[str, str | Sequence[str]] = {"question": question.name}
            if options.declared:
                columns["options"] = options.declared
            letters = _LETTERS[: options.count]
            return [
                Proposal(
                    "multi_answer",
                    {**columns, "answer": column.name},
                    PROMPTS["multi_answer"],
                    {} if letters == "ABCD" else {"letters": letters},
                    doubts=doubts,
                    own=options.names,
                )
            ]
    return ()


def _names_several(column: Column) -> bool:
    cells = ["".join(map(str, v)) if isinstance(v, list) else str(v or "") for v in column.values]
    plain = [re.sub(r"[\s,，、;；]+", "", each).upper() for each in cells]
    letters = all(each and len({*each}) == len(each) and {*each} <= {*_LETTERS} for each in plain)
    return letters and any(len(each) > 1 for each in plain)
