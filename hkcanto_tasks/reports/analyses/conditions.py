"""The same model under different conditions: script, shots, chain of thought, prompt, protocol.

Differences are paired: the same items are answered twice, so what is hard about them cancels out
(Miller 2024, "Adding Error Bars to Evals", section 4.2). A figure of a whole corpus has no value
for an item; its difference is shown without an interval.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...averages import weights
from ..blocks import Block, Cell, Chart, Column, Note, Row, Section, Table
from ..evaluations import Evaluation, Items
from ..figures import Figure, figure
from .presentation import (
    Point,
    bar_chart,
    category_figure,
    cell,
    headline,
    headline_title,
    line_chart,
    short_name,
)

_Floats = NDArray[np.float64]
_Z = 1.959963984540054  # two-sided 95 %
_FEWEST_FOR_A_LINE = 3


@dataclass(frozen=True, slots=True)
class _Aspect:
    """Something that evaluations of one model may differ in.

    Attributes:
        name: The option that it is about.
        title: What is compared.
        said: How a value of it reads.
        with_it: Options that may differ along with it.
    """

    name: str
    title: str
    said: Callable[[Evaluation], str]
    with_it: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Contrast:
    """Evaluations of a task that differ in model and in one aspect.

    Attributes:
        aspect: Which one.
        title: Task and aspect.
        name: The same as a short name.
        runs: Model → its evaluations; the first is the one that others are compared with.
    """

    aspect: _Aspect
    title: str
    name: str
    runs: Mapping[str, Sequence[Evaluation]]


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section on the conditions that some model ran a task under, if there are several."""
    blocks: list[Block] = []
    for aspect in _aspects(evaluations):
        for contrast in _contrasts(evaluations, aspect):
            if aspect.name == "scoring":
                blocks += _protocols(contrast)
                continue
            blocks.append(_table(contrast))
            if (by_category := _category_table(contrast)) is not None:
                blocks.append(by_category)
            if aspect.name == "prompt" and (grid := _language_by_format(contrast)) is not None:
                blocks.append(grid)
            blocks.append(_chart(contrast))
    return [Section("Conditions", blocks, name="conditions")] if blocks else []


def _aspects(evaluations: Sequence[Evaluation]) -> list[_Aspect]:
    known = [
        _Aspect("script", "Traditional against Simplified script", _script),
        _Aspect("shots", "number of worked examples", lambda run: f"{run.shots}-shot"),
        _Aspect("cot", "direct answers against chain of thought", _cot, ("shots",)),
        _Aspect("prompt", "language and format of the prompt", lambda run: _options(run)["prompt"]),
        _Aspect("scoring", "generation against log-likelihood", _scoring, ("reasoning",)),
    ]
    named = {aspect.name for aspect in known}
    others = {name for evaluation in evaluations for name in _options(evaluation)} - named
    return known + [
        _Aspect(name, f"option {name}", partial(_option, name)) for name in sorted(others)
    ]


def _options(evaluation: Evaluation) -> dict[str, str]:
    """Return all that an evaluation may differ in from another, chosen or not."""
    variant = evaluation.named.variant
    # A signature leaves out what is switched off.
    options = dict.fromkeys(evaluation.how.kind.Options.__struct_fields__, "no")
    options |= {"cot": "yes" if variant.cot else "no", "script": variant.script}
    options |= {"scoring": variant.scoring, "shots": str(evaluation.shots)}
    return options | dict(evaluation.options)


def _option(name: str, evaluation: Evaluation) -> str:
    return f"{name}:{_options(evaluation)[name]}"


def _script(evaluation: Evaluation) -> str:
    return "Simplified" if _options(evaluation)["script"] == "sc" else "Traditional"


def _cot(evaluation: Evaluation) -> str:
    answers = "chain of thought" if _options(evaluation)["cot"] == "yes" else "direct"
    return f"{answers}, {evaluation.shots}-shot"


def _scoring(evaluation: Evaluation) -> str:
    return evaluation.named.variant.scoring


def _contrasts(evaluations: Sequence[Evaluation], aspect: _Aspect) -> list[_Contrast]:
    groups: dict[tuple[str, str, str, frozenset[tuple[str, str]]], dict[str, list[Evaluation]]]
    groups = defaultdict(lambda: defaultdict(list))
    for evaluation in evaluations:
        options = _options(evaluation)
        if aspect.name in options:
            free = (aspect.name, *aspect.with_it)
            rest = frozenset((key, text) for key, text in options.items() if key not in free)
            key = (evaluation.named.entry.name, evaluation.data, evaluation.version, rest)
            groups[key][evaluation.label].append(evaluation)
    found = []
    for (task, data, _, rest), models in groups.items():
        runs = {label: _ordered(models[label], aspect) for label in models}
        runs = {label: own for label, own in runs.items() if len(own) > 1}
        if runs:
            first = next(iter(runs.values()))[0]
            words = _fixed(first, rest)
            title = ", ".join([f"{first.named.entry.title}: {aspect.title}", *words])
            name = short_name(task, aspect.name, *words, data if data == "sample" else "")
            found.append(_Contrast(aspect, title, name, runs))
    return found


def _ordered(runs: Sequence[Evaluation], aspect: _Aspect) -> Sequence[Evaluation]:
    """Return one model's evaluations, the one to compare with first; none if all are alike."""
    if len({_options(run)[aspect.name] for run in runs}) < 2:
        return []
    if aspect.name == "cot":
        chained = [run for run in runs if _options(run)["cot"] == "yes"]
        shots = {run.shots for run in chained}
        direct = [run for run in runs if run not in chained]
        # Compare with direct answers after as many worked examples, where there are such.
        base = min(direct, key=lambda run: (run.shots not in shots, run.shots))
        return [base, *sorted(chained, key=lambda run: run.shots)]
    usual = {"script": "tc", "prompt": "paper", "scoring": "generative", "examples": "paper"}

    def place(run: Evaluation) -> tuple[bool, int, str]:
        value = _options(run)[aspect.name]
        plain = value == usual.get(aspect.name, "no")
        return not plain, run.shots if aspect.name == "shots" else 0, value

    return sorted(runs, key=place)


def _fixed(evaluation: Evaluation, rest: frozenset[tuple[str, str]]) -> list[str]:
    """Say what else the evaluations of a contrast have in common."""
    usual = {
        "no",
        "paper",
        "tc",
        "generative",
        str(getattr(evaluation.how.kind.Options(), "size", "")),
    }
    said = {"cot": "chain of thought", "script": "Simplified script", "scoring": "log-likelihood"}
    fixed = dict(rest)
    words = [f"{fixed.pop('shots')}-shot"] if "shots" in fixed else []
    more = [(name, value) for name, value in sorted(fixed.items()) if value not in usual]
    return words + [said.get(name, f"{name}:{value}") for name, value in more]


def _table(contrast: _Contrast) -> Table:
    some = next(iter(contrast.runs.values()))[0]
    categories = _categories(some)
    columns = [
        Column("Model"),
        Column("Condition"),
        Column(headline_title(some), "percent", lower_is_better=not some.headline.higher_is_better),
        Column("Difference", "points", help="To the first row of the model, on the same items."),
        Column("Pairs", "count", help="Items that both have."),
        *(Column(some.title_of(category), "percent") for category in categories),
    ]
    metric = category_figure(some)
    rows = []
    for label, runs in contrast.runs.items():
        for run in runs:
            change = difference(runs[0], run) if run is not runs[0] else None
            rows.append(
                Row(
                    [
                        Cell(label),
                        Cell(contrast.aspect.said(run)),
                        cell(headline(run)),
                        Cell(None) if change is None else change.cell,
                        Cell(None if change is None else change.pairs),
                        *(
                            cell(figure(run, metric, run.items.of_subjects(names)))
                            for names in categories.values()
                        ),
                    ],
                    kind="run",
                )
            )
    caption = (
        "Differences are to the model's first row, paired by item, with 95 % intervals: one that "
        "spans zero may be chance."
    )
    return Table(contrast.title, columns, rows, caption, name=contrast.name)


def _category_table(contrast: _Contrast) -> Table | None:
    some = next(iter(contrast.runs.values()))[0]
    categories = _categories(some)
    if len(categories) < 2:
        return None
    rows = [
        Row(
            [
                Cell(label),
                Cell(contrast.aspect.said(run)),
                *(difference(runs[0], run, names).cell for names in categories.values()),
            ],
            kind="run",
        )
        for label, runs in contrast.runs.items()
        for run in runs[1:]
    ]
    columns = [Column("Model"), Column("Condition")]
    columns += [Column(some.title_of(category), "points") for category in categories]
    return Table(
        f"Differences by category: {contrast.title}",
        columns,
        rows,
        "Paired differences to the model's first row of the table above, with 95 % intervals.",
        name=f"{contrast.name}_categories",
    )


def _language_by_format(contrast: _Contrast) -> Table | None:
    """Return the prompt's language × its format: strict, or with a form to answer in."""
    rows = []
    for label, runs in contrast.runs.items():
        by_prompt = {_options(run)["prompt"]: run for run in runs}
        for prompt, strict in by_prompt.items():
            scaffold = by_prompt.get(f"{prompt}+scaffold")
            if scaffold is not None:
                cells = [Cell(label), Cell(prompt), cell(headline(strict))]
                change = difference(strict, scaffold).cell
                rows.append(Row([*cells, cell(headline(scaffold)), change], kind="run"))
    if not rows:
        return None
    columns = [
        Column("Model"),
        Column("Language", help="`paper` is the paper's prompt; the others are ours."),
        Column("Strict", "percent"),
        Column("Scaffold", "percent", help="The prompt asks for a last line in a fixed form."),
        Column("Scaffold − strict", "points"),
    ]
    return Table(
        f"{contrast.title}: language × format",
        columns,
        rows,
        "A sentence that only asks for a form of answer moves scores, and differently for each "
        "model: do not compare models across formats.",
        name=f"{contrast.name}_formats",
    )


def _protocols(contrast: _Contrast) -> list[Block]:
    """Show generation and log-likelihood, which are two measures and not two conditions."""
    protocols = ("generative", "loglikelihood")
    results = {
        label: {_scoring(run): headline(run) for run in reversed(runs)}
        for label, runs in contrast.runs.items()
    }
    ranks = {
        protocol: _ranks({label: own[protocol] for label, own in results.items()})
        for protocol in protocols
    }
    ranked = len(results) > 1
    columns = [Column("Model")]
    for title in ("Generation", "Log-likelihood"):
        columns.append(Column(title, "percent"))
        columns += [Column(f"Rank by {title.lower()}", "rank")] if ranked else []
    rows = []
    for label, own in results.items():
        cells = [Cell(label)]
        for protocol in protocols:
            cells.append(cell(own[protocol]))
            cells += [Cell(ranks[protocol].get(label))] if ranked else []
        rows.append(Row(cells, kind="run"))
    warning = (
        "Generation scores the letter that a model writes, log-likelihood the letter that it finds "
        "likeliest. They are two measures that rank models differently: never compare a figure of "
        "one with a figure of the other. A model that opens with a reasoning block is measured "
        "wrongly by log-likelihood, for its first token is not a letter."
    )
    orders = [sorted(own, key=own.__getitem__) for own in ranks.values()]
    if ranked and any(first != second for first, second in pairwise(orders)):
        by_generation, by_likelihood = (" > ".join(order) for order in orders)
        warning += f" Here: {by_generation} by generation, {by_likelihood} by log-likelihood."
    caption = "Two protocols side by side."
    table = Table(contrast.title, columns, rows, caption, name=contrast.name)
    return [table, Note(warning, "warning")]


def _ranks(results: Mapping[str, Figure | None]) -> dict[str, int]:
    values = {label: found.value for label, found in results.items() if found is not None}
    return {
        label: 1 + sum(other > value for other in values.values())
        for label, value in values.items()
    }


def _chart(contrast: _Contrast) -> Chart:
    said = contrast.aspect.said
    points = [
        (label, said(run), found)
        for label, runs in contrast.runs.items()
        for run in runs
        if (found := headline(run)) is not None
    ]
    value = headline_title(next(iter(contrast.runs.values()))[0])
    longest = max(len(runs) for runs in contrast.runs.values())
    if contrast.aspect.name == "shots" and longest >= _FEWEST_FOR_A_LINE:
        points.sort(key=lambda point: int(point[1].removesuffix("-shot")))
        lines = [Point(shots, label, found) for label, shots, found in points]
        spec = line_chart(lines, value, across="Worked examples", series="Model")
        description = "A line over the number of worked examples for each model"
    else:
        bars = [Point(label, condition, found) for label, condition, found in points]
        spec = bar_chart(bars, value, series="Condition")
        description = "A bar for each model and condition"
    return Chart(
        contrast.title,
        spec,
        f"{description}, with its 95 % interval; the figures are those of the table above.",
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """A paired difference, after minus before.

    Attributes:
        value: In the unit of a percentage: 0.05 is five points. None if there are no pairs.
        low: Lower end of its 95 % interval; None where none can be computed.
        high: Upper end.
        pairs: Number of items that both have.
    """

    value: float | None
    low: float | None
    high: float | None
    pairs: int

    @property
    def cell(self) -> Cell:
        """The difference as a cell."""
        return Cell(self.value, self.low, self.high)


def difference(
    before: Evaluation, after: Evaluation, subjects: Sequence[str] | None = None
) -> Difference:
    """Return how the headline of one evaluation differs from that of another on the same items.

    Args:
        before: What to compare with.
        after: What is compared.
        subjects: Only the items of these subjects.

    Returns:
        The mean difference, averaged as the headline is, with an interval from its standard error,
        clustered where items are not independent.
    """
    if before.headline.corpus:
        old, new = headline(before), headline(after)
        change = None if old is None or new is None else new.value - old.value
        common = set(before.items.ids) & set(after.items.ids)
        return Difference(change, None, None, len(common))
    changes, places = _changes(before.items, after.items, before.headline.averages)
    if subjects is not None:
        counted = before.items.of_subjects(subjects)[places]
        changes, places = changes[counted], places[counted]
    if not len(changes):
        return Difference(None, None, None, 0)
    shares, centres = _weights(before, changes, places)
    value = float(shares @ changes)
    _, clusters = np.unique(before.items.clusters[places], return_inverse=True)
    sums = np.bincount(clusters, weights=shares * (changes - centres))
    if len(sums) < 2:
        return Difference(value, None, None, len(changes))
    error = float(np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)))
    return Difference(value, value - _Z * error, value + _Z * error, len(changes))


@lru_cache(maxsize=1)  # asked for each category in turn
def _changes(before: Items, after: Items, metric: str) -> tuple[_Floats, NDArray[np.int64]]:
    """Return the change of each item that both have, and its place among those before."""
    old_ids, old_values, places = _by_id(before, metric)
    new_ids, new_values, _ = _by_id(after, metric)
    _, mine, theirs = np.intersect1d(old_ids, new_ids, assume_unique=True, return_indices=True)
    return new_values[theirs] - old_values[mine], places[mine]


def _by_id(items: Items, metric: str) -> tuple[NDArray[np.str_], _Floats, NDArray[np.int64]]:
    """Return the ids, the mean value of each over its epochs, and the place of its first epoch."""
    logged = np.flatnonzero(~np.isnan(items.values[metric]))
    ids, first, epochs = np.unique(
        np.asarray(items.ids, dtype=np.str_)[logged], return_index=True, return_inverse=True
    )
    means = np.bincount(epochs, weights=items.values[metric][logged]) / np.bincount(epochs)
    return ids, means, logged[first]


def _weights(
    evaluation: Evaluation, changes: _Floats, places: NDArray[np.int64]
) -> tuple[_Floats, _Floats | float]:
    """Return the weight of each change in the headline's average, and the mean it varies about."""
    items, figure = evaluation.items, evaluation.headline
    lengths = items.weights[figure.name][places] if figure.name in items.weights else np.zeros(1)
    if lengths.sum() > 0:
        return lengths / lengths.sum(), float(lengths @ changes / lengths.sum())
    subjects = np.asarray(items.subjects)[places]
    shares = np.array(weights(figure.over, subjects.tolist(), evaluation.how.categories))
    if figure.over == "questions":
        return shares, float(changes.mean())
    _, own = np.unique(subjects, return_inverse=True)
    return shares, (np.bincount(own, weights=changes) / np.bincount(own))[own]


def _categories(evaluation: Evaluation) -> dict[str, list[str]]:
    categories = defaultdict(list)
    if evaluation.headline.averages == "acc":
        for subject in evaluation.subjects:
            if subject.category:
                categories[subject.category].append(subject.name)
    return dict(categories)
