"""Comparisons for people to read: a verdict in words, tables, a chart."""

from collections.abc import Callable, Iterator, Sequence

from .analyses.presentation import chart, condition_title, short_name
from .blocks import Block, Cell, Chart, Column, Note, Row, Section, Table
from .comparison import Comparison, Effect, PairwiseComparison
from .evaluations import Evaluation

SIGNIFICANT = 0.05

_ROW = 18  # pixels


def blocks(comparison: Comparison | PairwiseComparison) -> Sequence[Section]:
    """Return what a comparison shows: one section.

    Args:
        comparison: Of two evaluations, or of several pairwise.
    """
    if isinstance(comparison, PairwiseComparison):
        return [_pairwise(comparison)]
    a, b = comparison.a, comparison.b
    name = short_name(a.task, a.condition, b.task, b.condition, comparison.metric.name)
    title = f"{a.named.entry.title}: {' against '.join(reversed(_names([a, b])))}"
    return [
        Section(
            title, list(_of_two(comparison, name)), name=name.replace("_", "-"), is_summary=True
        )
    ]


def verdict(comparison: Comparison) -> str:
    """Say in a sentence how B compares with A.

    A difference is positive where B is better, whichever way is good.
    """
    name_a, name_b = _names([comparison.a, comparison.b])
    effect = comparison.overall
    metric = comparison.metric.title
    scale = comparison.points * comparison.sign
    gain = effect.difference * scale
    low, high = sorted((effect.low * scale, effect.high * scale))
    significant = "significant" if effect.p < SIGNIFICANT else "not significant"
    size = f"{abs(gain):.1f}" if abs(gain) >= 0.1 else f"{abs(gain):.1g}"
    said = f"{size} points {'better' if gain > 0 else 'worse'} than" if gain else "as good as"
    adjusted = "" if effect.adjusted is None else f", by Holm {p_text(effect.adjusted)}"
    return (
        f"{name_b} is {said} {name_a} in {metric} (95 % {_signed(low)} to {_signed(high)}), "
        f"{significant}: {effect.test} {p_text(effect.p_value)}{adjusted}; it wins "
        f"{effect.wins:,} items, loses {effect.losses:,}, ties {effect.ties:,}."
    )


def gate_verdict(comparison: Comparison) -> str:
    """Say in a sentence whether B passes the gate; empty if none was asked for."""
    gate = comparison.gate
    if gate is None:
        return ""
    name_a, name_b = _names([comparison.a, comparison.b])
    outcome = "is not inferior to" if gate.passed else "may be inferior to"
    where = "below" if gate.passed else "not below"
    return (
        f"Gate {'passed' if gate.passed else 'not passed'}: {name_b} {outcome} {name_a} at "
        f"δ = {gate.tolerance:g} points. The upper bound of its loss is {gate.bound:.2f} points "
        f"(one-sided, 95 %, {gate.method}), {where} δ; the verdict flips at δ = {gate.bound:.2f}."
    )


def p_text(p_value: float) -> str:
    """Return a p-value as papers write it.

    Example:
        >>> p_text(0.0832), p_text(0.00002)
        ('p = 0.083', 'p < 0.001')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def _signed(points: float) -> str:
    return f"{round(points, 1) + 0.0:+.1f}"  # + 0.0: no "-0.0"


def _names(evaluations: Sequence[Evaluation]) -> list[str]:
    """Return names that tell the evaluations apart."""
    ways: list[Callable[[Evaluation], str]] = [
        lambda side: side.label,
        lambda side: f"{side.label} ({condition_title(side)})",
    ]
    for way in ways:
        names = [way(side) for side in evaluations]
        if len(set(names)) == len(names):
            return names
    return [f"{side.label} ({chr(ord('A') + i)})" for i, side in enumerate(evaluations)]


def _of_two(comparison: Comparison, name: str) -> Iterator[Block]:
    yield Note(verdict(comparison))
    if comparison.gate is not None:
        yield Note(gate_verdict(comparison), "info" if comparison.gate.passed else "warning")
    yield from _remarks([comparison.a, comparison.b], comparison.unscored)
    yield _overview(comparison, name)
    parts = (
        ("categories", "Categories", comparison.categories),
        ("sets", "Subsets", comparison.sets),
        ("subjects", "Subjects", comparison.subjects),
    )
    for part, title, effects in parts:
        if effects:
            yield _table(comparison, title, effects, f"compare_{part}_{name}", _adjusted(effects))
    if comparison.subjects:
        yield _chart(comparison)


def _remarks(evaluations: Sequence[Evaluation], unscored: int = 0) -> Iterator[Note]:
    """Say what else the evaluations differ in, and what makes their figures less than they seem."""
    names = _names(evaluations)

    def each(what: Callable[[Evaluation], str]) -> str:
        named = zip(names, evaluations, strict=True)
        return "; ".join(f"{name}: {what(side)}" for name, side in named)

    if len({side.named.variant.scoring for side in evaluations}) > 1:
        yield Note(
            "Log-likelihood of the letters is compared with generated answers. These are two "
            "measures, which may rank the same models differently: the difference is not one of "
            "the models alone.",
            "warning",
        )
    if len({(condition_title(side), side.task) for side in evaluations}) > 1:
        how = each(lambda side: f"{side.task}, {condition_title(side)}")
        yield Note(
            f"They were run under different conditions. The difference is of these as well. {how}."
        )
    if len({side.harness for side in evaluations}) > 1:
        yield Note(f"They were run by different harnesses. {each(lambda side: side.harness)}.")
    if all(side.is_local for side in evaluations):
        yield Note(
            f"They ran on files of your own, not on the release. {each(lambda side: side.data)}. "
            "That these are the same was checked by the questions' lengths only.",
            "warning",
        )
    if any(side.is_sample for side in evaluations):
        yield Note("This is the sample data: its figures mean nothing elsewhere.", "warning")
    elif not evaluations[0].complete:
        count = len(set(evaluations[0].items.ids))
        yield Note(f"Only {count:,} of the task's items were run.", "warning")
    if unscored:
        yield Note(
            f"{unscored:,} items are left out, because a run logged no value for them.", "warning"
        )
    for note in dict.fromkeys(note for side in evaluations for note in side.notes):
        yield Note(note)


def _overview(comparison: Comparison, name: str) -> Table:
    effects = [comparison.overall, *comparison.averages]
    intervals = (
        "Intervals are percentile intervals of a paired bootstrap with "
        f"{comparison.resamples:,} resamples (seed {comparison.seed}); means over subjects are "
        "resampled within each subject."
        if comparison.averages
        else "The interval is the percentile interval of a paired bootstrap with "
        f"{comparison.resamples:,} resamples (seed {comparison.seed})."
    )
    by_bootstrap = comparison.overall.bootstrap_p
    if by_bootstrap is not None:
        intervals += (
            f" Its p-value by bootstrap, as sacreBLEU computes it, is {by_bootstrap:.2g}. Wins and "
            "losses are of sentence scores."
        )
    return _table(comparison, comparison.metric.title, effects, f"compare_{name}", intervals)


def _adjusted(effects: Sequence[Effect]) -> str:
    if len(effects) < 2:
        return ""
    return f"The p-values by Holm are adjusted for {len(effects)} tests."


def _columns(comparison: Comparison, *, adjusted: bool) -> list[Column]:
    names = _names([comparison.a, comparison.b])
    lower = comparison.sign < 0
    way = "lower" if lower else "higher"
    return [
        *(Column(name, "percent", lower_is_better=lower) for name in names),
        Column(
            "Difference",
            "points",
            f"{names[1]} minus {names[0]}, in points, with 95 % interval; {way} is better.",
            lower_is_better=lower,
        ),
        Column("p", "p", "How likely a difference of this size is between equal models."),
        *([Column("p by Holm", "p", "The same for the whole family of tests.")] * adjusted),
        Column("Test", help="Which test the p-value is of."),
        Column("Wins", "count", f"Items on which {names[1]} is better."),
        Column("Losses", "count", f"Items on which {names[0]} is better."),
        Column("Ties", "count", "Items on which they are as good as each other."),
    ]


def _cells(comparison: Comparison, effect: Effect, *, adjusted: bool) -> list[Cell]:
    scale = comparison.points / 100
    low, high = effect.low * scale, effect.high * scale
    return [
        Cell(effect.a * scale),
        Cell(effect.b * scale),
        Cell(effect.difference * scale, low, high),
        Cell(effect.p_value),
        *([Cell(effect.adjusted)] * adjusted),
        Cell(effect.test),
        *map(Cell, (effect.wins, effect.losses, effect.ties)),
    ]


def _table(
    comparison: Comparison, title: str, effects: Sequence[Effect], name: str, caption: str
) -> Table:
    adjusted = any(effect.adjusted is not None for effect in effects)
    rows = [
        Row([Cell(_title(comparison, effect)), *_cells(comparison, effect, adjusted=adjusted)])
        for effect in effects
    ]
    columns = [Column("Part"), *_columns(comparison, adjusted=adjusted)]
    return Table(title, columns, rows, caption, name)


def _title(comparison: Comparison, effect: Effect) -> str:
    if not effect.name:
        return "All items"
    if effect.name in comparison.a.figures:
        return comparison.a.figures[effect.name].title
    titles = {subject.name: subject.title for subject in comparison.a.named.subjects}
    return titles.get(effect.name) or comparison.a.title_of(effect.name)


def _chart(comparison: Comparison) -> Chart:
    import altair as alt

    names = _names([comparison.a, comparison.b])
    effects = sorted(comparison.subjects, key=lambda effect: -effect.difference * comparison.sign)
    data = [
        {
            "subject": _title(comparison, effect),
            "difference": effect.difference * comparison.points,
            "low": effect.low * comparison.points,
            "high": effect.high * comparison.points,
            "p": effect.p,
            "n": effect.items,
        }
        for effect in effects
    ]
    base = alt.Chart(alt.InlineData(values=data)).encode(
        y=alt.Y("subject:N", sort=None, title=None, axis=alt.Axis(labelLimit=160))
    )
    spans = base.mark_rule().encode(x="low:Q", x2="high:Q")
    dots = base.mark_point(filled=True, opacity=1, size=50).encode(
        x=alt.X("difference:Q", title=f"points, {names[1]} minus {names[0]}"),
        shape=alt.condition(alt.datum.p < SIGNIFICANT, alt.value("diamond"), alt.value("circle")),
        tooltip=[
            alt.Tooltip("subject:N", title="Subject"),
            alt.Tooltip("difference:Q", title="Points", format="+.1f"),
            alt.Tooltip("low:Q", title="95 % from", format="+.1f"),
            alt.Tooltip("high:Q", title="to", format="+.1f"),
            alt.Tooltip("p:Q", title="p by Holm", format=".2g"),
            alt.Tooltip("n:Q", title="Items"),
        ],
    )
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(strokeDash=[4, 4])
    drawn = alt.layer(zero.encode(x="zero:Q"), spans, dots)
    significant = sum(effect.p < SIGNIFICANT for effect in effects)
    return Chart(
        f"Difference by subject: {' against '.join(reversed(names))}",
        chart(drawn, len(effects) * _ROW + _ROW),
        f"A point for each of {len(effects)} subjects with its 95 % interval, the best for "
        f"{names[1]} on top. Diamonds mark those that differ significantly (Holm): {significant}. "
        "The figures are those of the table above.",
    )


def _pairwise(compared: PairwiseComparison) -> Section:
    first = compared.evaluations[0]
    names = _names(compared.evaluations)
    comparisons = list(compared.comparisons.values())
    metric = comparisons[0].metric
    name = short_name("pairwise", first.task, first.condition, metric.name)
    found: list[Block] = [
        *_remarks(compared.evaluations, max(one.unscored for one in comparisons)),
        _matrix(compared, names, name),
    ]
    adjusted = len(comparisons) > 1
    columns = [Column("Pair"), *_columns(comparisons[0], adjusted=adjusted)]
    columns[1:3] = [Column("First", "percent"), Column("Second", "percent")]
    columns[3] = Column("Difference", "points", "The second minus the first, with 95 % interval.")
    rows = [
        Row([Cell(f"{names[j]} against {names[i]}"), *_cells(one, one.overall, adjusted=adjusted)])
        for (i, j), one in compared.comparisons.items()
    ]
    caption = f"{_adjusted([one.overall for one in comparisons])} Wins are the second's."
    found.append(Table(f"{metric.title}, pair by pair", columns, rows, caption, f"{name}_list"))
    found += [
        Note(gate_verdict(one), "info" if one.gate.passed else "warning")
        for one in comparisons
        if one.gate is not None
    ]
    title = f"{first.named.entry.title}: {len(names)} evaluations pairwise"
    return Section(title, found, name=name.replace("_", "-"), is_summary=True)


def _matrix(compared: PairwiseComparison, names: Sequence[str], name: str) -> Table:
    """Return a table with the difference of each row's model minus each column's."""
    count = len(names)

    def cell(row: int, column: int) -> Cell:
        if row == column:
            return Cell(None)
        comparison = compared.comparisons[min(row, column), max(row, column)]
        effect, scale = comparison.overall, comparison.points / 100
        sign = 1 if row > column else -1
        low, high = sorted((sign * effect.low * scale, sign * effect.high * scale))
        note = "significant" if effect.p < SIGNIFICANT else ""
        return Cell(sign * effect.difference * scale, low, high, note)

    rows = [
        Row([Cell(names[row]), *(cell(row, column) for column in range(count))], kind="run")
        for row in range(count)
    ]
    lower = next(iter(compared.comparisons.values())).sign < 0
    return Table(
        "Differences in points",
        [Column("Model"), *(Column(column, "points") for column in names)],
        rows,
        "The model of the row minus that of the column, with 95 % interval; "
        f"{'lower' if lower else 'higher'} is better. Significant: p < 0.05 by Holm over pairs.",
        f"{name}_matrix",
    )
