"""Check the entry of a task in its `benchmark.toml` against its kind."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain

from hkcanto_metrics.labels import read_label
from hkcanto_metrics.script import same_word

from ..declarations import (
    ChoiceDefinition,
    JudgedDefinition,
    LabelDefinition,
    PromptTemplate,
    Rubric,
    TaskDefinition,
    repeated,
)
from ..figures import declared_figures
from ..prompts import OF_EXAMPLES, places
from . import find_kind
from .base import Kind

_LABELS = 'labels = { Positive = ["正面"], Negative = ["負面"] }'


def entry_problems(
    task: TaskDefinition, templates: Mapping[str, PromptTemplate]
) -> Iterator[str]:
    """Yield what is wrong with a task's entry, after its name.

    Args:
        task: The entry.
        templates: The prompts of its benchmark, by name.
    """
    kind = find_kind(task.kind)
    yield from _variants(task, kind)
    yield from _readings(task, kind, templates)
    yield from _columns(task, kind, templates)
    yield from _figures(task, kind)
    if isinstance(task, ChoiceDefinition):
        yield from _choices(task)
    if isinstance(task, LabelDefinition):
        yield from _labels(task)
    if isinstance(task, JudgedDefinition):
        for problem in _rubric(task.rubric):
            yield f"cannot be judged: {problem}"


# ---------------------------------------------------------------------- every kind


def _variants(task: TaskDefinition, kind: type[Kind]) -> Iterator[str]:
    for variant in task.variants:
        is_likelihood = variant.scoring == "loglikelihood"
        if is_likelihood and not (kind.GOLD or kind.LETTERED):
            yield (
                f"has a variant {variant.suffix!r} with scoring = 'loglikelihood', which finds one "
                f"letter; its kind {task.kind!r} does not have letters. Remove this variant"
            )


def _readings(
    task: TaskDefinition,
    kind: type[Kind],
    templates: Mapping[str, PromptTemplate],
) -> Iterator[str]:
    for name in dict.fromkeys(task.prompts.values()):
        template = templates.get(name)
        if template and template.reads not in kind.READS:
            yield (
                f"has the prompt {name!r} with reads = {template.reads!r}; its kind {task.kind!r} "
                f"has {', '.join(kind.READS)}"
            )


def _columns(
    task: TaskDefinition,
    kind: type[Kind],
    templates: Mapping[str, PromptTemplate],
) -> Iterator[str]:
    roles = [*kind.COLUMNS, "subject", "id"]
    if issubclass(kind.Definition, ChoiceDefinition):
        roles.append("labels")
    texts = chain(task.texts, *(template.texts for template in templates.values()))
    shown = {*places(*texts)}.difference(OF_EXAMPLES)
    for role in task.columns:
        if role not in roles and role not in shown:
            yield (
                f"has a column for {role!r}; its kind {task.kind!r} has {', '.join(roles)}, and no "
                f"prompt has a placeholder {{{role}}}"
            )


def _figures(task: TaskDefinition, kind: type[Kind]) -> Iterator[str]:
    names = [figure.name for figure in kind.FIGURES]
    if "acc" in names:
        names += ["acc_macro", "acc_category_macro"]
    has = f"its kind {task.kind!r} has {', '.join(names)}"
    if task.headline and task.headline not in names:
        yield f"has the headline {task.headline!r}; {has}"
    # The `table` of a whole benchmark may name figures that only some of its tasks have.
    known = {*names, *(figure.name for figure in declared_figures().values())}
    parts = tuple(f"{name}_" for name in known)
    for name in task.table:
        if name not in known and not name.startswith(parts):
            some = f"and parts of these such as {names[0]}_…"
            yield f"has {name!r} in its table; {has}, {some}"


# ---------------------------------------------------------------------- keys of some kinds


def _choices(task: ChoiceDefinition) -> Iterator[str]:
    for prompt in sorted({*task.sentences}.difference(task.prompts)):
        yield f"has a sentence for prompt {prompt!r}; it has {[*task.prompts]}"
    if task.question and "question" in task.columns:
        yield "has the same question for every row, and a column for it: remove one of them"
    place = re.search(r"\{\w+\}", task.question)
    if place:
        yield (
            f"has {place[0]} in its question, which is the same for every row: put it in a prompt"
        )
    for cell, letters in task.answers.items():
        is_known = {*letters} <= {*task.letters}
        if not is_known or repeated(letters):
            has = f"its letters are {task.letters}"
            yield f"has the answers {cell!r} → {letters!r}; {has}"


def _labels(task: LabelDefinition) -> Iterator[str]:
    if not task.labels:
        yield f"has no labels: declare them, as in `{_LABELS}`"
        return
    if repeated([*task.labels]):
        yield "names a label twice"
        return
    label_of: dict[str, str] = {}
    for cell, label in task.cells:
        other = label_of.setdefault(same_word(cell), label)
        if other != label:
            yield f"has the data's {cell!r} for both {other!r} and {label!r}"
    words = {label: entry.words for label, entry in task.entries.items()}
    try:
        read_label("?", words)
    except ValueError as error:
        yield f"has labels that cannot be distinguished: {error}"


def _rubric(rubric: Rubric) -> Iterator[str]:
    scale = [level.number for level in rubric.levels]
    names = [level.name.casefold() for level in rubric.levels]
    has = f"the scale has {', '.join(map(str, scale))}"
    if "answer" not in places(rubric.prompt):
        yield "rubric.prompt has no placeholder {answer}; the judge needs it"
    marker = re.compile(rf"{re.escape(rubric.marker)}\s*[:：]", re.IGNORECASE)
    if not marker.search(rubric.prompt):
        yield (
            f"rubric.prompt does not ask for a line '{rubric.marker}: …' with the level; ask for "
            "it, or declare in rubric.marker how the line begins"
        )
    for name in repeated([*map(str, scale), *names]):
        yield f"two levels of the rubric are called {name!r}"
    numbers = {*rubric.passes}
    if rubric.empty is not None:
        numbers.add(rubric.empty)
    for number in sorted(numbers.difference(scale)):
        yield f"rubric.passes or rubric.empty names the level {number}, but {has}"
    yield from _direction(rubric, has)


def _direction(rubric: Rubric, has: str) -> Iterator[str]:
    """Yield a problem if no level fails, or if a level that fails is better than one that passes."""
    passing = sorted({*rubric.passes})
    failing = sorted({level.number for level in rubric.levels}.difference(passing))
    if not failing:
        yield f"every level passes, so pass_rate would be meaningless: {has}"
    elif rubric.higher_is_better and min(passing) < max(failing):
        yield _wrong_way(passing, failing, "higher")
    elif not rubric.higher_is_better and max(passing) > min(failing):
        yield _wrong_way(passing, failing, "lower")


def _wrong_way(
    passing: list[int],
    failing: list[int],
    better: str,
) -> str:
    return (
        f"levels {passing} pass and {failing} do not, but according to rubric.higher_is_better, "
        f"{better} levels are better"
    )
