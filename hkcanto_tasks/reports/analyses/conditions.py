"""The same model under different conditions: script, shots, chain of thought, prompt, protocol.

Differences are those of `hkcanto compare`, on the items that both runs have.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from ..blocks import Block, Column, Note, Section, Table, Unit, Value, table
from ..comparison import headline_difference
from ..evaluations import Evaluation
from ..figures import Figure
from ..presentation import headline, headline_column, short_name

_TITLES = {
    "script": "Traditional against Simplified script",
    "shots": "number of worked examples",
    "cot": "direct answers against chain of thought",
    "prompt": "language and format of the prompt",
    "scoring": "generation against log-likelihood",
}
_ALONG = {"cot": "shots", "scoring": "reasoning"}  # what may differ along with it
_PLAIN = ("no", "tc", "paper", "generative")  # values that go without saying
_SAID = {
    ("script", "tc"): "Traditional",
    ("script", "sc"): "Simplified",
    ("cot", "yes"): "chain of thought",
    ("cot", "no"): "direct",
    ("scoring", "loglikelihood"): "log-likelihood",
}
_WARNING = Note(
    "Generation scores the letter that a model writes, log-likelihood the letter that it finds "
    "likeliest. They are two measures that rank models differently: never compare a figure of one "
    "with a figure of the other. A model that opens with a reasoning block is measured wrongly by "
    "log-likelihood, for its first token is not a letter.",
    "warning",
)

_Fixed = tuple[tuple[str, str], ...]
_Runs = Mapping[str, Sequence[Evaluation]]
"""Model → its evaluations; the first is the one that others are compared with."""


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section on the conditions that some model ran a task under, if there are several."""
    blocks: list[Block] = []
    others = {name for evaluation in evaluations for name in _options(evaluation)} - set(_TITLES)
    for aspect in [*_TITLES, *sorted(others)]:
        for name, title, runs in _contrasts(evaluations, aspect):
            if aspect == "scoring":
                blocks += [_protocols(name, title, runs), _WARNING]
            else:
                blocks.append(_table(name, title, runs, aspect))
    return [Section("Conditions", blocks, name="conditions")] if blocks else []


def _options(evaluation: Evaluation) -> dict[str, str]:
    """Return all that an evaluation may differ in from another, chosen or not."""
    variant = evaluation.named.variant
    # A signature leaves out what is switched off.
    options = dict.fromkeys(evaluation.how.kind.Options.__struct_fields__, "no")
    options |= {"cot": "yes" if variant.cot else "no", "script": variant.script}
    options |= {"scoring": variant.scoring, "shots": str(evaluation.shots)}
    return options | dict(evaluation.options)


def _contrasts(evaluations: Sequence[Evaluation], aspect: str) -> Iterator[tuple[str, str, _Runs]]:
    """Find the tasks that a model ran under several values of an option: name, title and runs."""
    groups: dict[tuple[str, str, str, _Fixed], dict[str, list[Evaluation]]]
    groups = defaultdict(lambda: defaultdict(list))
    for run in evaluations:
        options = _options(run)
        if options.pop(aspect, None) is not None:
            options.pop(_ALONG.get(aspect, ""), None)
            key = run.named.entry.name, run.data, run.version, tuple(sorted(options.items()))
            groups[key][run.label].append(run)
    for (task, data, _, fixed), models in groups.items():
        runs = {label: own for label, of in models.items() if (own := _ordered(of, aspect))}
        if runs:
            entry = next(iter(runs.values()))[0].named.entry
            words = [_said(name, value) for name, value in fixed if value not in _PLAIN]
            title = f"{entry.title}: {_TITLES.get(aspect, f'option {aspect}')}"
            name = short_name(task, aspect, *words, data if data == "sample" else "")
            yield name, ", ".join([title, *words]), runs


def _ordered(runs: Sequence[Evaluation], aspect: str) -> Sequence[Evaluation]:
    """Return one model's evaluations, the one to compare with first; none if all are alike."""
    if len({_options(run)[aspect] for run in runs}) < 2:
        return []
    if aspect == "cot":
        chained = [run for run in runs if run.named.variant.cot]
        shots = {run.shots for run in chained}
        direct = [run for run in runs if run not in chained]
        # Compare with direct answers after as many worked examples, where there are such.
        base = min(direct, key=lambda run: (run.shots not in shots, run.shots))
        return [base, *sorted(chained, key=lambda run: run.shots)]

    def place(run: Evaluation) -> tuple[bool, int, str]:
        value = _options(run)[aspect]
        return value not in _PLAIN, run.shots, value

    return sorted(runs, key=place)


def _said(name: str, value: str) -> str:
    return _SAID.get((name, value)) or (f"{value}-shot" if name == "shots" else f"{name}:{value}")


def _table(name: str, title: str, runs: _Runs, aspect: str) -> Table:
    first = next(iter(runs.values()))[0]
    rows = [
        (run, headline_difference(own[0], run) if run is not own[0] else None)
        for own in runs.values()
        for run in own
    ]

    def condition(run: Evaluation) -> str:
        return ", ".join(_said(n, _options(run)[n]) for n in (aspect, _ALONG.get(aspect)) if n)

    unit: Unit = "score_points" if first.headline.unit == "score" else "points"
    columns: list[tuple[Column, Callable[[tuple[Evaluation, Figure | None]], Value]]] = [
        (Column("Model"), lambda row: row[0].label),
        (Column("Condition"), lambda row: condition(row[0])),
        (headline_column(first, drawn=True), lambda row: headline(row[0])),
        (Column("Difference", unit, "To the model's first row."), lambda row: row[1]),
        (
            Column("Pairs", "count", "Items that both have."),
            lambda row: row[1].items if row[1] else None,
        ),
    ]
    caption = "Differences are paired by item, with 95 % intervals: what spans 0 may be chance."
    return table(name, title, rows, columns, caption)


def _protocols(name: str, title: str, runs: _Runs) -> Table:
    """Show generation and log-likelihood, which are two measures and not two conditions."""
    first = next(iter(runs.values()))[0]

    def of(scoring: str) -> Callable[[Sequence[Evaluation]], Value]:
        return lambda own: next(headline(r) for r in own if r.named.variant.scoring == scoring)

    columns: list[tuple[Column, Callable[[Sequence[Evaluation]], Value]]] = [
        (Column("Model"), lambda own: own[0].label),
        (headline_column(first, "Generation", drawn=True), of("generative")),
        (headline_column(first, "Log-likelihood", drawn=True), of("loglikelihood")),
    ]
    return table(name, title, runs.values(), columns, "Two protocols side by side.")
