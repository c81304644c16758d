"""Results by category, by subset, and by subject."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..blocks import Column, Section, Table, Value, table
from ..evaluations import Evaluation
from ..figures import Figure, figure
from ..presentation import SideBySide, category_figure, side_by_side


@dataclass(frozen=True, slots=True)
class _Line:
    """A part of a task or a subject, and its figure of each model."""

    title: str
    found: Sequence[Figure | None]
    chinese: str = ""
    category: str = ""

    @property
    def items(self) -> int:
        """Of the model that has most of them."""
        return max((part.items for part in self.found if part is not None), default=0)


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section for each task and condition that has subjects or types of question."""
    scored = [run for run in evaluations if "acc" in run.items.values]
    return [
        Section(f"By subject: {group.title}", tables, f"subjects-{group.name}".replace("_", "-"))
        for group in side_by_side(scored)
        if (tables := _tables(group))
    ]


def _tables(group: SideBySide) -> list[Table]:
    runs, some = group.evaluations, group.evaluations[0]
    subjects = [each for each in some.named.subjects if any(each in run.subjects for run in runs)]
    own = {subject.name for subject in subjects if subject.name}  # one that is alone has no name
    averages = [
        (metric, found)
        for metric in some.how.figures
        if metric.averages == "acc" and metric.part not in own
        if any(found := [figure(run, metric.name) for run in runs])
    ]
    if len(subjects) < 2 and sum(bool(metric.part) for metric, _ in averages) < 2:
        return []
    titles = {metric.name: metric.title for metric in some.how.figures} | {"acc": "All questions"}
    mean = "its subjects" if category_figure(some) == "acc_macro" else "its questions"
    parts = table(
        f"categories_{group.name}",
        f"Averages, categories and subsets: {group.title}",
        [_Line(titles[metric.name], found) for metric, found in averages],
        [(Column("Part"), lambda line: line.title), *_accuracies(runs)],
        f"Accuracy. The headline is “{titles[some.headline.name]}”; a category is over {mean}.",
        kind=lambda _: "other",
    )
    if len(subjects) < 2:
        return [parts]
    by_subject = table(
        f"subjects_{group.name}",
        f"Subjects: {group.title}",
        [
            _Line(
                subject.title,
                [figure(run, "acc", run.items.of_subjects([subject.name])) for run in runs],
                subject.chinese,
                some.title_of(subject.category),
            )
            for subject in subjects
        ],
        [
            (Column("Subject"), lambda line: line.title),
            (Column("In Chinese"), lambda line: line.chinese or None),
            (Column("Category"), lambda line: line.category or None),
            *_accuracies(runs),
        ],
        "Accuracy. Among many subjects some differ by chance: look at the intervals, and compare "
        "two models with hkcanto compare.",
        kind=lambda _: "other",
    )
    return [parts, by_subject]


def _accuracies(runs: Sequence[Evaluation]) -> list[tuple[Column, Callable[[_Line], Value]]]:
    def of(place: int) -> Callable[[_Line], Value]:
        return lambda line: line.found[place]

    drawn = [(Column(run.label, "percent", drawn=True), of(i)) for i, run in enumerate(runs)]
    return [(Column("Items", "count"), lambda line: line.items), *drawn]
