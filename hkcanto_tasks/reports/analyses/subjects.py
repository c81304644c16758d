"""Results by category, by subset, and by subject."""

from collections.abc import Sequence
from operator import itemgetter

from ...runs import Run
from ..blocks import Column, Section, Table, Value, section, table
from ..estimates import estimate
from ..intervals import Estimate
from ..presentation import SideBySide, side_by_side

_Row = tuple[Sequence[str | None], Sequence[Estimate | None]]


def sections(runs: Sequence[Run]) -> Sequence[Section]:
    """Return a section for each task and condition that has subjects or types of question."""
    return [
        each
        for group in side_by_side(runs, "acc")
        for each in section(f"By subject: {group.title}", _tables(group), f"subjects-{group.name}")
    ]


def _tables(group: SideBySide[Run]) -> list[Table]:
    runs, some = group.runs, group.runs[0]
    present = {subject.name for run in runs for subject in run.subjects}
    subjects = [each for each in some.setup.task.subjects if each.name in present]
    own = {subject.name for subject in subjects if subject.name}  # one that is alone has no name
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
    caption = f"The headline is “{titles[some.headline.name]}”; a category is over {mean}."
    rows: list[_Row] = [([titles[figure.name]], found) for figure, found in averages]
    parts = _table(group, "categories", "Averages, categories and subsets", ["Part"], rows, caption)
    rows = []
    for each in subjects:
        category = titles.get(f"acc_{each.category}", each.category)
        found = [estimate(run, "acc", run.items.of_subjects([each.name])) for run in runs]
        rows.append(([each.title, each.chinese or None, category or None], found))
    caption = "Some differ by chance: compare two models with hkcanto compare."
    texts = ["Subject", "In Chinese", "Category"]
    by_subject = _table(group, "subjects", "Subjects", texts, rows, caption)
    return [parts, by_subject] if len(subjects) > 1 else [parts]


def _table(
    group: SideBySide[Run], name: str, title: str, texts: list[str], found: list[_Row], caption: str
) -> Table:
    """Show the figures of all models beside each other, with the items of the one with most."""
    drawn = [Column(run.label, "percent", drawn=True) for run in group.runs]
    columns = enumerate([*map(Column, texts), Column("Items", "count"), *drawn])
    rows: list[list[Value]] = [
        [*words, max((each.items for each in figures if each), default=0), *figures]
        for words, figures in found
    ]
    places = [(column, itemgetter(place)) for place, column in columns]
    name, title = f"{name}_{group.name}", f"{title}: {group.title}"
    return table(name, title, rows, places, f"Accuracy. {caption}", kind=lambda _: "other")
