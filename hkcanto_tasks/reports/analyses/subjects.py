"""Results by category, by subset, and by subject."""

from collections.abc import Iterator, Sequence
from typing import Any

from ...catalogue import Subject
from ..blocks import Block, Cell, Chart, Column, Row, Section, Table
from ..evaluations import Evaluation
from ..figures import Figure, figure
from .presentation import (
    Point,
    SideBySide,
    bar_chart,
    category_figure,
    cell,
    chart,
    figure_datum,
    model_columns,
    side_by_side,
    tooltips,
)

_HEADING = "— "  # marks a category among the subjects of an axis

_Figures = dict[str, list[Figure | None]]


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section for each task and condition that has subjects or types of question."""
    found = []
    for group in side_by_side(evaluations):
        blocks = list(_blocks(group))
        if blocks:
            name = f"subjects-{group.name}".replace("_", "-")
            found.append(Section(f"By subject: {group.title}", blocks, name=name))
    return found


def _blocks(group: SideBySide) -> Iterator[Block]:
    if any("acc" not in evaluation.items.values for evaluation in group.evaluations):
        return
    subjects = [
        subject
        for subject in group.evaluations[0].named.subjects
        if any(subject in evaluation.subjects for evaluation in group.evaluations)
    ]
    parts = _parts(group, subjects)
    if len(subjects) < 2 and len(parts) < 2:
        return
    yield _parts_table(group, parts)
    if len(parts) > 1:
        yield _parts_chart(group, parts)
    if len(subjects) > 1:
        by_subject = {
            subject.name: [
                figure(evaluation, "acc", evaluation.items.of_subjects([subject.name]))
                for evaluation in group.evaluations
            ]
            for subject in subjects
        }
        if len(subjects) > 5:
            yield _heat_map(group, subjects, by_subject)
        yield _subject_table(group, subjects, by_subject)


def _parts(group: SideBySide, subjects: Sequence[Subject]) -> _Figures:
    """Return the figures of the categories and of the further sets, for each model."""
    parts: _Figures = {}
    some = group.evaluations[0]
    metric = category_figure(some)
    for category in dict.fromkeys(subject.category for subject in subjects if subject.category):
        names = [subject.name for subject in subjects if subject.category == category]
        parts[some.title_of(category)] = [
            figure(evaluation, metric, evaluation.items.of_subjects(names))
            for evaluation in group.evaluations
        ]
    others = {each for subject in subjects for each in (subject.category, subject.name)}
    for of_part in some.how.figures:
        if of_part.part and of_part.part not in others:
            found = [figure(evaluation, of_part.name) for evaluation in group.evaluations]
            if any(found):
                parts[of_part.title] = found
    return parts


def _parts_table(group: SideBySide, parts: _Figures) -> Table:
    some = group.evaluations[0]
    averages = {"All questions": "acc"}
    averages |= {
        each.title: each.name
        for each in some.how.figures
        if each.over != "questions" and not each.part
    }
    rows = {
        title: [figure(evaluation, metric) for evaluation in group.evaluations]
        for title, metric in averages.items()
    }
    titles = {name: title for title, name in averages.items()}
    headline = titles.get(some.headline.name, some.headline.title)
    of_category = "its subjects" if category_figure(some) == "acc_macro" else "its questions"
    return Table(
        f"Averages, categories and subsets: {group.title}",
        [Column("Part"), *_columns(group.evaluations)],
        [
            Row([Cell(title), Cell(_items(found)), *map(cell, found)])
            for title, found in [*rows.items(), *parts.items()]
        ],
        f"Accuracy with 95 % intervals. The paper's headline is “{headline}”; a category is the "
        f"mean over {of_category}.",
        name=f"categories_{group.name}",
    )


def _columns(evaluations: Sequence[Evaluation]) -> list[Column]:
    return [Column("Items", "count"), *model_columns(evaluations)]


def _items(found: Sequence[Figure | None]) -> int:
    return max((part.items for part in found if part is not None), default=0)


def _parts_chart(group: SideBySide, parts: _Figures) -> Chart:
    points = [
        Point(title, label, part)
        for title, found in parts.items()
        for label, part in zip(group.labels, found, strict=True)
        if part is not None
    ]
    return Chart(
        f"Categories and subsets: {group.title}",
        bar_chart(points, value="Accuracy", series="Model"),
        f"A bar for each of {len(group.labels)} models in each of {len(parts)} categories and "
        "subsets, with its 95 % interval; the figures are those of the table above.",
    )


def _subject_table(group: SideBySide, subjects: Sequence[Subject], by_subject: _Figures) -> Table:
    some = group.evaluations[0]
    categorised = any(subject.category for subject in subjects)
    columns = [
        Column("Subject"),
        Column("In Chinese"),
        *([Column("Category")] if categorised else []),
        *_columns(group.evaluations),
    ]
    rows = [
        Row(
            [
                Cell(subject.title),
                Cell(subject.chinese),
                *([Cell(some.title_of(subject.category))] if categorised else []),
                Cell(_items(by_subject[subject.name])),
                *map(cell, by_subject[subject.name]),
            ]
        )
        for subject in subjects
    ]
    return Table(
        f"Subjects: {group.title}",
        columns,
        rows,
        "Accuracy with 95 % intervals. Among many subjects some differ by chance: look at the "
        "intervals, and compare two models with `hkcanto compare`.",
        name=f"subjects_{group.name}",
    )


def _heat_map(group: SideBySide, subjects: Sequence[Subject], by_subject: _Figures) -> Chart:
    import altair as alt

    def mean(subject: Subject) -> float:
        values = [part.value for part in by_subject[subject.name] if part is not None]
        return -sum(values) / len(values)

    some = group.evaluations[0]
    places: list[str] = []
    data: list[dict[str, Any]] = []
    for category in dict.fromkeys(subject.category for subject in subjects):
        places += [f"{_HEADING}{some.title_of(category)}"] if category else []
        for subject in sorted((s for s in subjects if s.category == category), key=mean):
            places.append(subject.title)
            for label, found in zip(group.labels, by_subject[subject.name], strict=True):
                if found is not None:
                    data.append(
                        {
                            "row": subject.title,
                            "chinese": subject.chinese,
                            "series": label,
                            **figure_datum(found),
                        }
                    )
    heading = {"test": f"indexof(datum.value, '{_HEADING}') === 0", "value": "bold"}
    drawn = (
        alt.Chart(alt.InlineData(values=data))
        .mark_rect()
        .encode(
            x=alt.X(
                "series:N",
                sort=group.labels,
                title=None,
                axis=alt.Axis(orient="top", labelAngle=-40, labelLimit=140),
            ),
            y=alt.Y(
                "row:N",
                scale=alt.Scale(domain=places),
                title=None,
                axis=alt.Axis(
                    labelLimit=180,
                    labelFontWeight={"condition": heading, "value": "normal"},
                ),
            ),
            color=alt.Color(
                "value:Q",
                title="Accuracy",
                scale=alt.Scale(scheme="viridis", domain=[0, 1]),
                legend=alt.Legend(orient="bottom", format="~%"),
            ),
            tooltip=tooltips(
                {"row": "Subject", "chinese": "In Chinese", "series": "Model"}, "Accuracy"
            ),
        )
    )
    return Chart(
        f"Subjects and models: {group.title}",
        chart(drawn, height=alt.Step(17)),
        f"A field for each of {len(subjects)} subjects and {len(group.labels)} models, the lighter "
        "the better. Subjects stand by category, the easiest of each first. The figures are those "
        "of the table below.",
    )
