"""Recognise the kind of task in some rows, and propose its entry in a `benchmark.toml`.

`FORMS` maps each kind to a function that proposes declarations from the columns of some rows, or
none. The first form that proposes something counts. Forms of kinds that are not installed are
skipped.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from hkcanto_metrics.jyutping import MalformedAnswer, parse_answer
from hkcanto_metrics.language import identify_language
from hkcanto_metrics.number import parse_number

from ..catalogue import TaskDefinition
from ..cells import CONTEXT
from ..data.choices import UndecidedAnswers, option_columns, read_choices, read_options
from ..data.tables import UnreadableRow, as_text
from ..errors import CatalogueError, DataCorrupt
from ..setup import find_kind
from .columns import Column, called
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
_LARGEST_SET_OF_LABELS = 12
_SHORT = 30  # characters of an answer that is a word or a phrase
_BAD_SHARE = 0.01


@dataclass(frozen=True)
class Doubt:
    """A question to the user, about something that only a person can know.

    Attributes:
        question: The question, with what was found.
        choices: Lines that the task's entry lacks. It does not load until it has one of them.
    """

    question: str
    choices: Sequence[str] = ()


@dataclass(frozen=True)
class Proposal:
    """A task as recognised in some rows.

    Attributes:
        kind: Its kind.
        columns: Role of a cell → its column.
        fields: Further keys of its entry.
        prompt: The texts of its prompt.
        suffix: The end of its name, if the same rows make several tasks.
        title: The end of its title, likewise.
        doubts: The remaining questions.
        own: The columns that the kind reads, besides those in `columns`.
    """

    kind: str
    columns: Mapping[str, str | Sequence[str]]
    prompt: Mapping[str, Any]
    fields: Mapping[str, Any] = field(default_factory=dict)
    suffix: str = ""
    title: str = ""
    doubts: Sequence[Doubt] = ()
    own: Iterable[str] = ()

    @property
    def used(self) -> set[str]:
        """The columns that it reads."""
        given = (each if not isinstance(each, str) else [each] for each in self.columns.values())
        return {*self.own, *(name for names in given for name in names)}


Form = Callable[[Group], Sequence[Proposal]]


def recognise(group: Group) -> Sequence[Proposal]:
    """Propose declarations of some rows: several if they can be asked in several ways.

    Raises:
        CatalogueError: Nothing fits; the message says what was found.
    """
    lacking = []
    for kind, form in FORMS:
        try:
            proposals = form(group)
        except Unrecognised as error:
            raise CatalogueError(f"{group.files[0]}: {error}") from error
        if proposals:
            if _is_installed(kind):
                shown = [_with_context(group, each) for each in proposals]
                return [replace(each, doubts=[*each.doubts, *_left(group, each)]) for each in shown]
            lacking.append(kind)
    seen = ", ".join(f"{each.name} ({_seen(each)})" for each in group.columns)
    looks = f" They look like the kind {lacking[0]!r}, which is not installed." if lacking else ""
    raise CatalogueError(
        f"{group.files[0]}: no kind of task was recognised in its columns: {seen}.{looks} Rename "
        "its columns (question, A, B, C, D, answer), or declare it by hand: see "
        "docs/adding_a_benchmark.md."
    )


class Unrecognised(ValueError):  # noqa: N818
    """The rows have a known form that cannot be declared; the message says why."""


def _is_installed(kind: str) -> bool:
    try:
        find_kind(kind)
    except CatalogueError:
        return False
    return True


def _seen(column: Column) -> str:
    if not column.texts:
        return f"{type(column.values[0]).__name__}s"
    few = len(column.counts) <= _LARGEST_SET_OF_LABELS < len(column.texts)
    return column.tally() if few else f"{len(column.counts)} texts"


def _with_context(group: Group, proposal: Proposal) -> Proposal:
    """Show columns that look like context before the question."""
    found = [
        each.name
        for each in group.columns
        if each.name not in proposal.used and CONTEXT.fullmatch(each.name) and each.texts
    ]
    places = {_place(name): name for name in found}
    shown = "".join(f"{{{place}}}\n\n" for place in places)
    declared = {place: name for place, name in places.items() if place != name}
    return replace(
        proposal,
        prompt={**proposal.prompt, "question": shown + proposal.prompt["question"]},
        columns={**proposal.columns, **declared},
        own=[*proposal.own, *found],
    )


_FILLED = (
    *("question", "options", "sentence", "source", "prompt", "text", "cue", "scaffold", "zero"),
    *("subject", "title", "chinese", "number", "reasoning", "answer"),
)


def _place(column: str) -> str:
    """Return a column's placeholder: its name, unless that has spaces or another meaning."""
    plain = re.sub(r"\W+", "_", column).strip("_") or "column"
    return f"of_row_{plain}" if plain in _FILLED else plain


def _left(group: Group, proposal: Proposal) -> Iterator[Doubt]:
    """Ask about texts that are in no prompt, and about columns that may name subjects."""
    left = [
        each
        for each in group.columns
        if each.name not in proposal.used
        and not any(map(each.is_called, ("id", "aside", "model", "subject")))
    ]
    asked = [each for each in left if each.is_whole and 1 < len(each.counts) <= len(each.texts) / 2]
    for column in called(asked, "subject, perhaps"):
        yield Doubt(
            f'Is "{column.name}" the subject? It has the values {column.tally()}. If so, add it to '
            f'columns as subject = "{column.name}", and list these values as subjects.'
        )
    said = "".join(doubt.question for doubt in proposal.doubts)
    texts = [
        each.name
        for each in left
        if each.length > 4
        and each not in asked
        and len(each.counts) > 1
        and f'"{each.name}"' not in said
    ]
    if texts:
        named = ", ".join(f'"{each}"' for each in texts)
        yield Doubt(
            f"Does a model need {named} to answer? It is not in the prompt. A place such as "
            f"{{{_place(texts[0])}}} puts it there."
        )


# ---------------------------------------------------------------------- multiple choice


@dataclass(frozen=True)
class _Options:
    """The columns of the options: their names, declaration and number."""

    names: Sequence[str]
    declared: str | Sequence[str] | None
    count: int
    blank: bool = False
    right: str = ""


def _multiple_choice(group: Group) -> Sequence[Proposal]:
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
    question, more = _question([each for each in others if each.name != answer], group)
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
    """Return the options of the rows that can be read with a declaration."""
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
    """Return the numbers of options in the cells of a column; none if it has no options."""
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
        said = f'Each right option is the first one, A: "{options.right}". {_SAID} Is that right?'
        return options.right, {"answer": "text", **_SHUFFLED}, [Doubt(said)]
    found = {}
    for column in columns:
        if column.texts and not column.is_called("model") and not _is_id(column):
            with suppress(DataCorrupt):
                found[column.name] = _ways(group, definition, column)
    found = {name: ways for name, ways in found.items() if ways}
    usual = [each for each in called(columns, "answer") if each.name in found]
    if not found:
        if any(_names_several(each) for each in called(columns, "answer")):
            return "", {}, ()  # the next form's
        raise Unrecognised(
            f"it has options ({', '.join(options.names)}), and no column that names one of them in "
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


def _is_id(column: Column) -> bool:
    return column.is_called("id") and not column.is_called("answer")


def _ways(group: Group, definition: TaskDefinition, column: Column) -> dict[str, tuple[int, ...]]:
    """Return the ways in which a column's cells can name options → the options that they name.

    The kind's own reader decides if it can; otherwise both ways are returned.
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
    except DataCorrupt:  # of two sorts
        return whole
    return {way: places for way, places in whole.items() if places == decided}


def _places(group: Group, definition: TaskDefinition, column: Column, way: str) -> tuple[int, ...]:
    declared = msgspec.structs.replace(definition, answer=way)
    rows = read_choices(group.records, declared, [column.name])
    read = [each.answers[0] for each in rows if not isinstance(each, UnreadableRow)]
    return tuple(read) if len(read) >= len(rows) * (1 - _BAD_SHARE) else ()


def _differ(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return not any(places in other.values() for places in one.values())


def _question(columns: Sequence[Column], group: Group) -> tuple[Column, Sequence[Doubt]]:
    """Return the column of the question, and the doubts about it."""
    if not group.header:
        return group.columns[0], ()
    odd = ("id", "model")
    texts = [each for each in columns if each.texts and not any(map(each.is_called, odd))]
    usual = [*called(texts, "question"), *called(texts, "text")]
    whole = [each for each in usual if each.is_whole] or usual
    if whole:
        first = whole[0]
        rivals = [f'"{e.name}"' for e in called(texts, "question") if e is not first and e.is_whole]
        listed = " or ".join(rivals)
        ask = f'Is "{first.name}" the question, and not {listed}?'
        return first, [Doubt(ask)] if rivals and first.is_called("question") else ()
    texts = [each for each in texts if not each.is_called("aside")]
    if not texts:
        raise Unrecognised("it has no column with a question.")
    longest = max(texts, key=lambda each: each.length)
    shown = next(iter(longest.counts))[:30]
    return longest, [Doubt(f'Is "{longest.name}" the question? Its first text is "{shown}".')]


# ---------------------------------------------------------------------- other forms


def _one_hot(group: Group) -> Sequence[Proposal]:
    """Recognise options with marks for the right one, like `mc1_targets` of TruthfulQA."""
    for column in group.columns:
        marked = [_marks(value) for value in column.values]
        if all(marked) and all(sum(each) == 1 for each in marked):
            others = [each for each in group.columns if each is not column]
            question, doubts = _question(others, group)
            letters = _LETTERS[: max(map(len, marked))]
            first = len({each.index(1) for each in marked}) == 1
            said = f"Each right option is the first one, A. {_SAID} Is that right?"
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
    """Return the marks of options, 1 for a right one; none if a cell has no such marks."""
    marks: Any = [*value.values()] if isinstance(value, Mapping) and len(value) > 1 else []
    if isinstance(value, Mapping) and isinstance(value.get("labels"), list):
        marks = value["labels"]
    return marks if all(each in (0, 1) for each in marks) else []


def _multi_answer(group: Group) -> Sequence[Proposal]:
    options = _options(group)
    if options is None or options.right:
        return ()
    others = [each for each in group.columns if each.name not in options.names]
    for column in called(others, "answer"):
        if _names_several(column):
            question, doubts = _question([each for each in others if each is not column], group)
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


def _number(group: Group) -> Sequence[Proposal]:
    """Recognise a question and a number, or a solution that ends in `#### 18`."""
    for column in called(group.columns, "answer"):
        ends = [each.rpartition("####")[2] for each in column.texts]
        if not column.is_whole or any(parse_number(each) is None for each in ends):
            continue
        solved = all("####" in each for each in column.texts)
        if not solved and (column.is_called("label") or _repeats(column)):
            continue  # they may be classes
        question, doubts = _question([e for e in group.columns if e is not column], group)
        columns = {"question": question.name, "answer": column.name}
        return [Proposal("number", columns, PROMPTS["number"], doubts=doubts)]
    return ()


def _repeats(column: Column) -> bool:
    return len(column.counts) <= min(_LARGEST_SET_OF_LABELS, len(column.texts) / 2)


def _g2p(group: Group) -> Sequence[Proposal]:
    for column in group.columns:
        if column.is_whole and column.length > 3 and all(map(_is_jyutping, column.texts)):
            others = [each for each in group.columns if each is not column]
            sentence, doubts = _question(others, group)
            columns = {"sentence": sentence.name, "jyutping": column.name}
            return [Proposal("g2p", columns, PROMPTS["g2p"], doubts=doubts)]
    return ()


def _is_jyutping(text: str) -> bool:
    try:
        return bool(re.search(r"[a-z][1-6]\b", text)) and bool(parse_answer(text))
    except MalformedAnswer:
        return False


def _constraints(group: Group) -> Sequence[Proposal]:
    named = {each.name: each for each in group.columns}
    if "constraints" not in named or "prompt" not in named:
        return ()
    own = ("id", "topic", "category")
    columns = {"prompt": "prompt", "constraints": "constraints"}
    return [Proposal("constraints", columns, PROMPTS["prompt"], own=own)]


def _translation(group: Group) -> Sequence[Proposal]:
    """Recognise two columns with the same text in two languages."""
    texts = [
        each for each in group.columns if each.is_whole and each.length > 1 and not _is_id(each)
    ]
    sides = [each for each in texts if each.language]
    if len(sides) == 2:
        found = [_language(each) or each.language for each in sides]
        if found[0] == found[1]:
            return ()
        doubts = [
            Doubt(f'Is "{side.name}" {_NAMES[seen]}, as most of its texts are?')
            for side, seen in zip(sides, found, strict=True)
            if seen != side.language
        ]
        back = _direction(sides[1], sides[0], found[::-1], suffix=True)
        both = [_direction(sides[0], sides[1], found, suffix=True), back]
        return [replace(each, doubts=doubts) for each in both]
    source, target = next(called(texts, "source"), None), next(called(texts, "target"), None)
    if not source or not target or source is target:
        return ()
    languages = [_language(source), _language(target)]
    if len({*languages}) < 2 or "" in languages:
        return ()
    ask = (
        f'Is "{target.name}" a translation of "{source.name}", from {_NAMES[languages[0]]} into '
        f"{_NAMES[languages[1]]}?"
    )
    made = _direction(source, target, languages)
    return [replace(made, doubts=[Doubt(ask)])]


_NAMES = {"yue": "Cantonese", "zh": "Written Chinese", "en": "English"}
_CALLED = {"yue": "粵語", "zh": "書面語", "en": "英文"}


def _direction(
    source: Column, target: Column, languages: Sequence[str], suffix: bool = False
) -> Proposal:
    given, wanted = languages
    into = wanted == "yue"
    return Proposal(
        "translation_to_cantonese" if into else "translation",
        {"source": source.name, "target": target.name},
        {"question": PROMPTS["translation"]["question"].format(_CALLED[given], _CALLED[wanted])},
        {"language": wanted},
        suffix=f"{given}_{wanted}" if suffix else "",
        title=f"{_NAMES[given]} to {_NAMES[wanted]}",
    )


def languages_of(group: Group) -> tuple[str, ...]:
    """Return the languages of the two columns that are named after one; none unless there are two.

    Examples:
        >>> languages_of(Group("", {}, []))
        ()
    """
    sides = [each for each in group.columns if each.language and each.is_whole]
    return tuple(map(_language, sides)) if len(sides) == 2 else ()


def _language(column: Column) -> str:
    """Return the language of most of its texts; an empty text for other languages."""
    short = {
        "cantonese": "yue",
        "written_chinese": "zh",
        "simplified_mandarin": "zh",
        "english": "en",
    }
    found = Counter(short.get(identify_language(each).language, "") for each in column.texts[:200])
    language, count = found.most_common(1)[0]
    return language if count > len(column.texts[:200]) / 2 else ""


def _label(group: Group) -> Sequence[Proposal]:
    """Recognise one or several texts and one of a few labels."""
    few = [
        each for each in group.columns if each.is_whole and _repeats(each) and len(each.counts) > 1
    ]
    usual = [*called(few, "label"), *called(few, "answer")]
    if not usual:
        return ()
    label = usual[0]
    texts = [
        each
        for each in group.columns
        if each is not label and each not in few and each.is_whole and each.length > 1
    ]
    texts = [
        e
        for e in texts
        if not any(map(e.is_called, ("id", "aside", "model"))) or e.is_called("text")
    ]
    if not texts:
        return ()
    names = [*label.counts]
    coded = all(re.fullmatch(r"-?\d+|[A-Za-z]", each) for each in names)
    doubts = []
    if coded:
        told = ", ".join(f'"…" = {{ data = "{each}" }}' for each in names)
        ask = f'What do the values of "{label.name}" mean, {label.tally()}? Name each of them.'
        doubts.append(Doubt(ask, [f"labels = {{ {told} }}"]))
    elif not label.is_called("label") or len(usual) > 1:
        doubts.append(Doubt(f'Is "{label.name}" the answer? It has the values {label.tally()}.'))
    columns, shown = {"text": texts[0].name}, "{source}"
    if len(texts) > 1:
        places = {_place(each.name): each.name for each in texts}
        columns = {place: name for place, name in places.items() if place != name}
        shown = "\n".join(f"{name}：{{{place}}}" for place, name in places.items())
        named = ", ".join(f'"{each.name}"' for each in texts)
        doubts.append(Doubt(f"The prompt shows {named}. Is that what is asked about?"))
    listed = "……" if coded else "、".join(names)
    return [
        Proposal(
            "label",
            {**columns, "label": label.name},
            {"question": f"{shown}\n以上屬於邊一類：{listed}？淨係寫出類別。\n答案："},
            {} if coded else {"labels": names},
            doubts=doubts,
            own=[each.name for each in texts],
        )
    ]


def _short_answer(group: Group) -> Sequence[Proposal]:
    for column in called(group.columns, "answer"):
        cells = [e.get("text") if isinstance(e, Mapping) else e for e in column.values]
        listed = [each for each in cells if isinstance(each, list)]
        texts = listed and all(as_text(text) for each in listed for text in each)
        if (texts and len(listed) == len(column.values)) or (
            column.is_whole and column.length <= _SHORT and not _repeats(column)
        ):
            question, doubts = _question([e for e in group.columns if e is not column], group)
            columns = {"question": question.name, "answer": column.name}
            return [Proposal("short_answer", columns, PROMPTS["short_answer"], doubts=doubts)]
    return ()


def _judged(group: Group) -> Sequence[Proposal]:
    """Recognise requests without answers, for which the user must write a rubric."""
    prompts = [each for each in called(group.columns, "question") if each.is_whole]
    others = (each for each in group.columns if each not in prompts)
    aside = ("id", "aside", "model", "subject", "subject, perhaps")
    if len(prompts) != 1 or not all(any(map(each.is_called, aside)) for each in others):
        return ()
    ask = (
        "What is a good answer? The file has none. Write what a judge is asked, what each level "
        "means, and which levels pass."
    )
    rubric = (
        "[tasks.rubric]",
        'prompt = "…{prompt}…{answer}…{levels}"',
        'levels = [{ number = 0, name = "…", meaning = "…" }, { number = 1, name = "…" }]',
        "passes = [1]",
        "higher_is_better = true",
    )
    columns = {"prompt": prompts[0].name}
    return [Proposal("judged", columns, PROMPTS["prompt"], doubts=[Doubt(ask, rubric)])]


PROMPTS: Mapping[str, Mapping[str, Any]] = {
    "multiple_choice": {
        "system": "請揀出正確答案，淨係寫答案嘅字母。\n\n",
        "question": "{question}\n{options}\n答案：",
    },
    "multi_answer": {
        "system": "以下題目可能有多過一個正確答案，請寫出所有正確答案嘅字母。\n\n",
        "question": "{question}\n{options}\n答案：",
    },
    "number": {"question": "問題：{question}\n請逐步計算，喺最後一行寫「答案：」同埋個數字。\n"},
    "translation": {"question": "將下面嘅{}翻譯做{}，淨係寫譯文。\n\n{{source}}\n"},
    "g2p": {"question": "將下面嘅句子寫成粵拼，淨係寫粵拼。\n\n{sentence}\n"},
    "short_answer": {"question": "{question}\n淨係寫答案，唔使解釋。\n答案："},
    "prompt": {"question": "{prompt}"},
}
"""The prompts of new declarations, by kind. They are ours; a paper may have others."""

FORMS: Sequence[tuple[str, Form]] = (
    ("constraints", _constraints),
    ("multiple_choice", _one_hot),
    ("multiple_choice", _multiple_choice),
    ("multi_answer", _multi_answer),
    ("g2p", _g2p),
    ("number", _number),
    ("translation", _translation),
    ("label", _label),
    ("short_answer", _short_answer),
    ("judged", _judged),
)
"""The forms, the most specific first: kind → the function that recognises it."""
