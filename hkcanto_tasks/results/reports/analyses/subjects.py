"""Results by category, by subset, and by subject.

One or two runs are drawn as dots beside their numbers, and two on the same items are compared on
each subject. More runs get a small plot per category, and a heat map of models and subjects.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from ....errors import ComparisonError
from ...runs import Run
from ...statistics.estimates import estimate
from ...statistics.intervals import Estimate
from ...statistics.paired import subject_differences
from ..blocks import Block, Column, Note, Section, Table, Value, section, table
from ..effects import by_size, effects_table
from ..presentation import SideBySide, side_by_side

_Row = tuple[Sequence[str | None], Sequence[Estimate | None]]
_FEW = 2  # up to this many runs are drawn beside their numbers


def sections(runs: Sequence[Run]) -> Sequence[Section]:
    """Return a section for each task and condition that has subjects or types of question."""
    return [
        each
        for group in side_by_side(runs, "acc")
        for each in section(f"By subject: {group.title}", _blocks(group), f"subjects-{group.name}")
    ]


def _blocks(group: SideBySide[Run]) -> list[Block]:
    runs, some = group.runs, group.runs[0]
    present = {subject.name for run in runs for subject in run.subjects}
    subjects = [each for each in some.setup.task.subjects if each.name in present]
    own = {subject.name for subject in subjects if subject.name}  # an only subject has no name
    averages = [
        (figure, found)
        for figure in some.setup.figures
        if figure.averages == "acc" and figure.part not in own
        if any(found := [estimate(run, figure.name) for run in runs])
    ]
    if len(subjects) < 2 and sum(bool(figure.part) for figure, _ in averages) < 2:
        return []
    titles = {figure.name: figure.title for figure in some.setup.figures} | {"acc": "All questions"}
    # TMMLU+ averages the subjects of a category, others its questions.
    mean = "its subjects" if some.headline.over == "categories" else "its questions"
    caption = f"The headline is “{titles[some.headline.name]}”; a category averages {mean}."
    rows: list[_Row] = [([titles[figure.name]], found) for figure, found in averages]
    many = len(runs) > _FEW
    title, drawn = "Averages, categories and subsets", Column("", "percent", drawn=True)
    parts = _table(group, "categories", title, ["Part"], rows, caption, drawn)
    parts = replace(parts, panels=many)
    rows = []
    for each in subjects:
        category = titles.get(f"acc_{each.category}", each.category)
        found = [estimate(run, "acc", run.items.of_subjects([each.name])) for run in runs]
        rows.append(([each.title, each.chinese or None, category or None], found))
    texts = ["Subject", "In Chinese", "Category"]
    caption = "Some differ by chance." if len(runs) != _FEW else ""
    if many:
        chance = _chance(some)
        colours = f"Colours go from chance, {100 * chance:.0f} %, to 100 %."
        caption = f"Some differ by chance: compare two models with hkcanto compare. {colours}"
        drawn = Column("", "percent", scale=(chance, 1.0))
    by_subject = _table(group, "subjects", "Subjects", texts, rows, caption, drawn)
    if len(subjects) < 2:
        return [parts]
    return [parts, by_subject, *_differences(group)]


def _differences(group: SideBySide[Run]) -> list[Block]:
    """Compare two runs on each subject, from the largest gain to the largest loss."""
    if len(group.runs) != _FEW:
        return []
    a, b = group.runs
    try:
        effects = subject_differences(a, b, "acc")
    except ComparisonError as error:
        return [Note(f"The differences by subject are not shown: {error}")]
    titles = {each.name: each.title for each in a.setup.task.subjects}
    figure = a.figures["acc"]
    rows = by_size(figure, [(titles[each.name], each) for each in effects])
    title = f"{b.label} against {a.label} by subject, accuracy"
    name = f"subject_differences_{group.name}"
    return [effects_table(figure, name, title, rows, [a.label, b.label])]


def _chance(run: Run) -> float:
    """Return the accuracy of random guesses."""
    is_choice = run.definition.kind == "multiple_choice"
    return 1 / len(run.definition.letters) if is_choice else 0.0


def _table(
    group: SideBySide[Run],
    name: str,
    title: str,
    texts: list[str],
    found: list[_Row],
    caption: str,
    column: Column,
) -> Table:
    """Return the figures of all models side by side, with the largest number of items."""
    figures = [replace(column, title=run.label) for run in group.runs]
    columns = enumerate([*map(Column, texts), Column("Items", "count"), *figures])
    rows: list[list[Value]] = [
        [*words, max((each.items for each in own if each), default=0), *own] for words, own in found
    ]
    places = [(column, itemgetter(place)) for place, column in columns]
    name, title = f"{name}_{group.name}", f"{title}: {group.title}"
    return table(name, title, rows, places, f"Accuracy. {caption}", kind=lambda _: "other")
