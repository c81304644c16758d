"""Recognise the kind of task in some rows, and propose its entry in a `benchmark.toml`.

`FORMS` maps each kind to a function that proposes declarations from the columns of some rows. The
first form with a proposal counts. Forms of kinds that are not installed are skipped.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from hkcanto_metrics.jyutping import MalformedAnswer, parse_answer
from hkcanto_metrics.language import identify_language
from hkcanto_metrics.number import parse_number

from ..cells import CONTEXT
from ..data.tables import as_text
from ..errors import CatalogueError
from ..setup import find_kind
from . import option_forms
from .columns import Column, called
from .proposals import (
    PROMPTS,
    Doubt,
    Proposal,
    Unrecognised,
    placeholder,
    question_column,
)
from .tables import Group

_LARGEST_SET_OF_LABELS = 12
_SHORT = 30  # characters of an answer that is a word or a phrase

Form = Callable[[Group], Sequence[Proposal]]


def recognise(group: Group) -> Sequence[Proposal]:
    """Propose declarations of some rows: several if they make several tasks.

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
    places = {placeholder(name): name for name in found}
    shown = "".join(f"{{{place}}}\n\n" for place in places)
    declared = {place: name for place, name in places.items() if place != name}
    return replace(
        proposal,
        prompt={**proposal.prompt, "question": shown + proposal.prompt["question"]},
        columns={**proposal.columns, **declared},
        own=[*proposal.own, *found],
    )


def _left(group: Group, proposal: Proposal) -> Iterator[Doubt]:
    """Ask about texts missing from the prompt, and about columns that may name subjects."""
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
            f"Does a model need {named} to answer? It is not in the prompt. A placeholder such as "
            f"{{{placeholder(texts[0])}}} adds it."
        )


def _number(group: Group) -> Sequence[Proposal]:
    """Recognise a question and a number, or a solution that ends in `#### 18`."""
    for column in called(group.columns, "answer"):
        ends = [each.rpartition("####")[2] for each in column.texts]
        if not column.is_whole or any(parse_number(each) is None for each in ends):
            continue
        solved = all("####" in each for each in column.texts)
        if not solved and (column.is_called("label") or _repeats(column)):
            continue  # they may be classes
        question, doubts = question_column([e for e in group.columns if e is not column], group)
        columns = {"question": question.name, "answer": column.name}
        return [Proposal("number", columns, PROMPTS["number"], doubts=doubts)]
    return ()


def _repeats(column: Column) -> bool:
    return len(column.counts) <= min(_LARGEST_SET_OF_LABELS, len(column.texts) / 2)


def _g2p(group: Group) -> Sequence[Proposal]:
    for column in group.columns:
        if column.is_whole and column.length > 3 and all(map(_is_jyutping, column.texts)):
            others = [each for each in group.columns if each is not column]
            sentence, doubts = question_column(others, group)
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
    texts = [each for each in group.columns if each.is_whole and each.length > 1 and not each.is_id]
    sides = [each for each in texts if each.language]
    if len(sides) == 2:
        found = [_language(each) or each.language for each in sides]
        if found[0] == found[1]:
            return ()
        doubts = [
            Doubt(f'Is "{side.name}" {_NAMES[seen]}, like most of its texts?')
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
    """Return the languages of two columns that are named after languages; empty if not two.

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
    """Recognise one or more texts with one of a few labels."""
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
        places = {placeholder(each.name): each.name for each in texts}
        columns = {place: name for place, name in places.items() if place != name}
        shown = "\n".join(f"{name}：{{{place}}}" for place, name in places.items())
        named = ", ".join(f'"{each.name}"' for each in texts)
        doubts.append(Doubt(f"The prompt shows {named}. Is the question about that?"))
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
            question, doubts = question_column([e for e in group.columns if e is not column], group)
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
        "What is a good answer? The file has none. Write the judge's prompt, what each level "
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


FORMS: Sequence[tuple[str, Form]] = (
    ("constraints", _constraints),
    ("multiple_choice", option_forms.one_hot),
    ("multiple_choice", option_forms.multiple_choice),
    ("multi_answer", option_forms.multi_answer),
    ("g2p", _g2p),
    ("number", _number),
    ("translation", _translation),
    ("label", _label),
    ("short_answer", _short_answer),
    ("judged", _judged),
)
"""The forms, the most specific first: kind → the function that recognises it."""
