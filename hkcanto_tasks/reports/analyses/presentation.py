"""How evaluations are shown: which stand side by side, what people call them, cells and charts."""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...records import Metric
from ...records import Unit as MetricUnit
from ..blocks import Cell, Column, Unit
from ..evaluations import Evaluation
from ..figures import Figure, Mask, figure

_UNITS: Mapping[MetricUnit, Unit] = {
    "share": "percent",
    "rate": "percent",
    "score": "number",
    "count": "number",
}
_BAR = 14  # pixels


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Evaluations of one task under one condition, which differ in model.

    Attributes:
        title: The task and the condition.
        name: The same as a short name: letters, digits and `_`.
        evaluations: One per model.
    """

    title: str
    name: str
    evaluations: Sequence[Evaluation]

    @property
    def labels(self) -> list[str]:
        """The models' names."""
        return [evaluation.label for evaluation in self.evaluations]


def side_by_side(evaluations: Sequence[Evaluation]) -> list[SideBySide]:
    """Sort evaluations by what they share: the task, the shots, the options and the data."""
    groups: dict[Hashable, list[Evaluation]] = defaultdict(list)
    for evaluation in evaluations:
        groups[evaluation.comparable_as].append(evaluation)
    found: list[SideBySide] = []
    for group in groups.values():
        first = group[0]
        name = short_name(first.task, first.condition, "sample" if first.is_sample else "")
        if any(other.name == name for other in found):
            name = f"{name}_{len(found) + 1}"
        found.append(SideBySide(task_title(first), name, tuple(group)))
    return found


def short_name(*parts: str) -> str:
    """Join texts to a name of letters, digits and `_`.

    Example:
        >>> short_name("hkmmlu", "0-shot, prompt:yue+scaffold")
        'hkmmlu_0_shot_prompt_yue_scaffold'
    """
    return re.sub(r"[^A-Za-z0-9]+", "_", " ".join(parts)).strip("_")


def task_title(evaluation: Evaluation) -> str:
    """Return a task's title with its condition."""
    sample = ["sample data"] if evaluation.is_sample else []
    return ", ".join([evaluation.named.entry.title, condition_title(evaluation), *sample])


def condition_title(evaluation: Evaluation) -> str:
    """Return the condition, with what the name of a variant stands for besides its shots."""
    variant = evaluation.named.variant
    words = {
        "chain of thought": variant.cot,
        "Simplified script": variant.script == "sc",
        "log-likelihood": variant.scoring == "loglikelihood",
    }
    return ", ".join([*(word for word, holds in words.items() if holds), evaluation.condition])


def figure_title(evaluation: Evaluation, metric: Metric) -> str:
    """Return what people call a figure of an evaluation, with what it averages."""
    if metric.averages == metric.name:
        return metric.title
    title = metric.title if metric.part else metric.title.lower()
    return f"{evaluation.figures[metric.averages].title}, {title}"


def headline_title(evaluation: Evaluation) -> str:
    """Return what people call the figure to read first, and which way is good if it is down."""
    title = figure_title(evaluation, evaluation.headline)
    return title if evaluation.headline.higher_is_better else f"{title} (lower is better)"


def headline(evaluation: Evaluation, where: Mask | None = None) -> Figure | None:
    """Return the figure to read first, for a percentage."""
    return as_share(figure(evaluation, evaluation.headline.name, where), evaluation.headline)


def category_figure(evaluation: Evaluation) -> str:
    """Return the figure of a category: TMMLU+ averages its subjects, others its questions."""
    return "acc_macro" if evaluation.headline.over == "categories" else "acc"


def as_share(found: Figure | None, metric: Metric) -> Figure | None:
    """Return a figure for a percentage: a BLEU of 50 is 0.5, as an accuracy is."""
    if found is None or metric.unit != "score":
        return found
    low, high = (None if end is None else end / 100 for end in (found.low, found.high))
    return Figure(found.value / 100, low, high, found.items)


def figure_columns(evaluations: Sequence[Evaluation], names: Iterable[str]) -> dict[str, Column]:
    """Return figure → its column, of those that a task of some evaluation has."""
    known = {name: metric for each in evaluations for name, metric in each.figures.items()}
    return {
        name: Column(
            known[name].title,
            _UNITS[known[name].unit],
            known[name].help,
            None if known[name].higher_is_better is None else not known[name].higher_is_better,
        )
        for name in names
        if name in known
    }


def cell(found: Figure | None, note: str = "") -> Cell:
    """Return a figure as a cell."""
    if found is None:
        return Cell(None, note=note)
    return Cell(found.value, found.low, found.high, note)


def model_columns(evaluations: Sequence[Evaluation]) -> list[Column]:
    """Return a column of percentages for each evaluation."""
    return [Column(evaluation.label, "percent") for evaluation in evaluations]


@dataclass(frozen=True, slots=True)
class Point:
    """A figure in a chart.

    Attributes:
        row: What it is a figure of.
        series: What sets it apart from others in the row, such as the model.
        figure: Its value and interval, from 0 to 1.
    """

    row: str
    series: str
    figure: Figure

    @property
    def datum(self) -> dict[str, Any]:
        """What the chart's data holds of it."""
        return {"row": self.row, "series": self.series, **figure_datum(self.figure)}


def figure_datum(found: Figure) -> dict[str, Any]:
    """Return a figure for a chart's data, to a hundredth of a percent: charts should be small."""
    datum: dict[str, Any] = {"value": round(found.value, 4), "n": found.items}
    if found.low is not None and found.high is not None:
        datum |= {"low": round(found.low, 4), "high": round(found.high, 4)}
    return datum


def bar_chart(points: Sequence[Point], value: str, series: str) -> dict[str, Any]:
    """Return a chart of bars with their intervals: a row for each thing, a colour for each series.

    Args:
        points: In the order to show them in.
        value: Title of the axis of values.
        series: What a series is, such as `Model`.
    """
    import altair as alt

    rows = list(dict.fromkeys(point.row for point in points))
    names = list(dict.fromkeys(point.series for point in points))
    base = alt.Chart(alt.InlineData(values=[point.datum for point in points])).encode(
        y=alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(labelLimit=170)),
        yOffset=alt.YOffset("series:N", sort=names),
        tooltip=tooltips({"row": "", "series": series}, value),
    )
    bars = base.mark_bar(opacity=0.75).encode(
        x=alt.X("value:Q", title=value, axis=alt.Axis(format="~%")),
        color=alt.Color("series:N", sort=names, title=None, legend=legend(names)),
    )
    spans = base.transform_filter("isValid(datum.low)")
    intervals = spans.mark_rule(color="gray", strokeWidth=2).encode(x="low:Q", x2="high:Q")
    return chart(alt.layer(bars, intervals), height=alt.Step(_BAR, **{"for": "offset"}))


def line_chart(points: Sequence[Point], value: str, across: str, series: str) -> dict[str, Any]:
    """Return a chart of lines with bands for their intervals.

    Args:
        points: In the order to show them in; their rows are the places on the horizontal axis.
        value: Title of the axis of values.
        across: Title of the horizontal axis.
        series: What a series is, such as `Model`.
    """
    import altair as alt

    places = list(dict.fromkeys(point.row for point in points))
    names = list(dict.fromkeys(point.series for point in points))
    base = alt.Chart(alt.InlineData(values=[point.datum for point in points])).encode(
        x=alt.X("row:O", sort=places, title=across, axis=alt.Axis(labelAngle=-40)),
        color=alt.Color("series:N", sort=names, title=None, legend=legend(names)),
    )
    vertical = alt.Y(
        "value:Q", title=value, axis=alt.Axis(format="~%"), scale=alt.Scale(zero=False)
    )
    bands = base.transform_filter("isValid(datum.low)").mark_area(opacity=0.12)
    lines = base.mark_line(point=True).encode(
        y=vertical, tooltip=tooltips({"row": across, "series": series}, value)
    )
    return chart(alt.layer(bands.encode(y="low:Q", y2="high:Q"), lines), height=280)


def tooltips(names: dict[str, str], value: str) -> list[Any]:
    """Return what a chart says of the figure under the pointer.

    Args:
        names: Field → its title; a blank one without a title.
        value: Title of the value.
    """
    import altair as alt

    return [
        *(alt.Tooltip(f"{field}:N", title=title or " ") for field, title in names.items()),
        alt.Tooltip("value:Q", title=value, format=".1%"),
        alt.Tooltip("low:Q", title="95 % from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
        alt.Tooltip("n:Q", title="Items"),
    ]


def legend(names: Sequence[str]) -> Any:
    """Return a legend below the chart, where a phone has room for it; none for a single name."""
    import altair as alt

    return (
        alt.Legend(orient="bottom", columns=2, labelLimit=240, symbolOpacity=1)
        if len(names) > 1
        else None
    )


def chart(drawn: Any, height: Any) -> dict[str, Any]:
    """Return the specification of a chart as wide as the page."""
    spec: dict[str, Any] = drawn.properties(width="container", height=height).to_dict()
    return spec
