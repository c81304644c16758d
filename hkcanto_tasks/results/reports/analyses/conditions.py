"""The same model under different conditions: script, shots, chain of thought, prompt, protocol.

Differences are computed as in `hkcanto compare`, on the items that both runs have.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...runs import Run
from ...statistics.intervals import Estimate
from ...statistics.paired import headline_difference
from ..blocks import (
    Block,
    Column,
    Note,
    Section,
    Table,
    Unit,
    Value,
    section,
    table,
)
from ..presentation import headline, headline_column, short_name

TWO_MEASURES = (
    "Generation scores the letter that a model writes; log-likelihood scores the letter that it "
    "finds likeliest. These are two measures, which rank models differently: never compare a "
    "figure of one with a figure of the other. Log-likelihood is wrong for a model that opens "
    "with a reasoning block, since its first token is not a letter."
)
_ASPECTS = {  # option → its name for people, and an option that may differ along with it
    "script": ("Traditional against Simplified script", ""),
    "shots": ("number of worked examples", ""),
    "cot": ("direct answers against chain of thought", "shots"),
    "prompt": ("language and format of the prompt", ""),
    "scoring": ("generation against log-likelihood", "reasoning"),
}
_PLAIN = ("Traditional", "direct", "generation", ":no", ":paper")  # defaults, which are not named
_Rows = Sequence[tuple[Run, Run]]
"""Runs, each with the run of the same model to compare it with."""


def sections(runs: Sequence[Run]) -> Sequence[Section]:
    """Return a section that compares conditions, if a model ran a task under several."""
    blocks = list[Block]()
    others = {name for run in runs for name in _conditions(run)} - _ASPECTS.keys()
    for aspect in [*_ASPECTS, *sorted(others)]:
        found = [_table(*contrast, aspect) for contrast in _contrasts(runs, aspect)]
        blocks += found
        if found and aspect == "scoring":
            blocks.append(Note(TWO_MEASURES, "warning"))
    return section("Conditions", blocks, "conditions")


def _conditions(run: Run) -> dict[str, str]:
    """Return all settings in which two runs of a task may differ, default or not, as text."""
    variant = run.setup.task.variant
    # A signature leaves out options that are switched off.
    options = dict.fromkeys(run.setup.Options.__struct_fields__, "no") | dict(run.options)
    options.pop("rescored", None)
    script = run.options.get("script", variant.script)
    return {
        **{name: f"{name}:{value}" for name, value in options.items()},
        "cot": "chain of thought" if variant.cot else "direct",
        "script": "Simplified" if script.startswith("sc") else "Traditional",
        "scoring": "log-likelihood" if variant.scoring == "loglikelihood" else "generation",
        "shots": run.shots_title,
    }


def _contrasts(runs: Sequence[Run], aspect: str) -> Iterator[tuple[str, str, _Rows]]:
    """Yield each task that a model ran under several values of an option: name, title, rows."""
    said, along = _ASPECTS.get(aspect, (f"option {aspect}", ""))
    groups: dict[tuple[Any, ...], dict[str, list[Run]]]
    groups = defaultdict(lambda: defaultdict(list))
    for run in (each for each in runs if each.signature.prompt_known):
        options = _conditions(run)
        if options.pop(aspect, None) is not None:
            options.pop(along, None)
            fixed = tuple(sorted(options.items()))
            groups[run.definition.name, run.data, run.version, fixed][run.label].append(run)
    for (task, data, _, fixed), models in groups.items():
        ordered = [_ordered(of, aspect) for of in models.values()]
        if rows := [(run, own[0]) for own in ordered for run in own]:
            words = [each for _, each in fixed if not each.endswith(_PLAIN)]
            title = f"{rows[0][0].definition.title}: {said}"
            name = short_name(task, aspect, *words, data if data == "sample" else "")
            yield name, ", ".join([title, *words]), rows


def _ordered(runs: Sequence[Run], aspect: str) -> Sequence[Run]:
    """Return one model's runs, the baseline first; empty if all are under one condition."""
    if len({_conditions(run)[aspect] for run in runs}) < 2:
        return []
    # Chain of thought is compared with direct answers at the same number of shots, if possible.
    shots = {run.shots for run in runs if run.setup.task.variant.cot}

    def place(run: Run) -> tuple[bool, bool, int, str]:
        words, odd = _conditions(run)[aspect], aspect == "cot" and run.shots not in shots
        return not words.endswith(_PLAIN), odd, run.shots or 0, words

    base, *others = sorted(runs, key=place)
    return [base, *(run for run in others if aspect != "cot" or run.setup.task.variant.cot)]


def _table(name: str, title: str, runs: _Rows, aspect: str) -> Table:
    first, names = runs[0][0], [aspect, "shots"] if aspect == "cot" else [aspect]
    compared = aspect != "scoring"  # figures of two protocols have no meaningful difference
    rows = [
        (run, headline_difference(base, run) if compared and run is not base else None)
        for run, base in runs
    ]
    unit: Unit = "score_points" if first.headline.unit == "score" else "points"
    columns: list[tuple[Column, Callable[[tuple[Run, Estimate | None]], Value]]] = [
        (Column("Model"), lambda row: row[0].label),
        (Column("Condition"), lambda row: ", ".join(_conditions(row[0])[n] for n in names)),
        (headline_column(first, drawn=True), lambda row: headline(row[0])),
        (Column("Difference", unit, "From the model's first row, paired."), lambda row: row[1]),
        (Column("Pairs", "count"), lambda row: row[1].items if row[1] else None),
    ]
    return table(name, title, rows, columns)
