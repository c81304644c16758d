"""Disagreement between pairs of models, observed in logs or in a table of answers."""

import csv
import gzip
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...declarations import Subject
from ...errors import ComparisonError, DataCorrupt, on_disk
from ...figures import parts_of
from ..logs import read_runs
from ..runs import Run
from ..statistics.estimates import Mask, mean_estimate
from ..statistics.intervals import Estimate
from ..statistics.paired import match
from ..statistics.significance import Floats
from .power import Spread, of_discordance, of_losses

COLUMNS = ("model", "subject", "shots", "item", "gold", "letter")
"""The columns of a table of answers. An empty `letter` is a wrong answer."""

_CLOSE = 0.05  # a difference of accuracies


class Part(NamedTuple):
    """A set of items, and the spread of the differences of two runs on it."""

    name: str
    items: int  # their number; 0 if it does not matter
    spread: Spread
    of: str = ""  # the two runs compared, if that is to be shown
    is_subject: bool = False
    is_whole: bool = False  # a whole task that shares no item with another whole one


def of_runs(runs: Sequence[str], metric: str | None = None) -> Sequence[Part]:
    """Return the tasks that runs have in common, with their parts and subjects.

    The number of items is that of the whole task, even if the runs have only some of them.

    Args:
        runs: Logs or folders of logs, as in `hkcanto compare`.
        metric: A figure of the tasks; by default their headlines.

    Raises:
        ComparisonError: No two runs can be compared.
    """
    by_task: dict[str, list[Run]] = defaultdict(list)
    for run in read_runs(runs):
        by_task[run.setup.task.definition.name].append(run)
    pairs = [pair for same in by_task.values() for pair in combinations(same, 2)]
    if not pairs:
        raise ComparisonError("no task has two runs: give the logs of two runs of one task.")
    return [part for a, b in pairs for part in _parts(a, b, metric)]


def _parts(a: Run, b: Run, metric: str | None) -> Iterator[Part]:
    paired, task = match(a, b, metric, {}), a.setup.task
    ids = np.array(a.items.ids)

    def part(name: str, pairs: Any, subjects: Sequence[Subject], *, alone: bool = False) -> Part:
        before, after = np.clip(pairs.losses, 0, 1).T
        questions, share = len({*ids[pairs.places]}), None
        if pairs.of(replace(pairs.figure, over="questions")).is_right_or_wrong:
            share = mean_estimate(abs(after - before), pairs.clusters)
        if share and pairs.is_right_or_wrong:
            spread = of_discordance(share)
        else:
            spread = of_losses(after - before, pairs.sizes, pairs.clusters, questions)
            spread = replace(spread, discordance=share)
        whole = sum(map(a.expected_of, subjects)) or questions
        return Part(name, whole, spread, f"{b.label} against {a.label}", alone)

    yield part(a.task, paired, task.subjects)._replace(is_whole=True)
    for figure in a.figures.values():
        mask = a.items.of_part(figure.part)[paired.places]
        if figure.part and figure.averages == paired.figure.averages and mask.any():
            inside = [each for each in task.subjects if figure.part in parts_of(task, each)]
            yield part(f"{a.task}_{figure.part}", paired.where(mask).of(figure), inside)
    plain = paired.of(replace(paired.figure, over="questions"))
    for subject in a.subjects if len(a.subjects) > 1 else ():
        if (mask := paired.subjects == subject.name).any():
            yield part(subject.name, plain.where(mask), [subject], alone=True)


def of_responses(path: Path) -> Sequence[Part]:
    """Return the discordance of the models in a table of answers, overall and by subject.

    It is the median over all pairs of models; its interval holds the middle 80 % of the pairs.

    Raises:
        DataNotFound: The file cannot be read.
        DataCorrupt: It is not such a table, or its models answered different items.
    """
    subjects, tables = _answers(path)

    def part(name: str, mask: Mask, closest: float = 1.0) -> Part:
        shares = np.concatenate([_discordances(right[:, mask], closest) for right in tables])
        low, median, high = np.quantile(shares, (0.1, 0.5, 0.9)).tolist()
        share = Estimate(median, low, high, len(shares))
        name = f"{name}: {len(shares):,} pairs" if mask.all() else name
        return Part(name, int(mask.sum()), of_discordance(share), is_subject=not mask.all())

    every = np.ones(len(subjects), np.bool_)
    parts = [part("all models", every)]
    if any(len(_discordances(right, _CLOSE)) for right in tables):
        parts.append(part(f"at most {_CLOSE:.0%} apart", every, _CLOSE))
    alone = np.unique(subjects).tolist()
    return [*parts, *(part(each, subjects == each) for each in alone if len(alone) > 1)]


def _discordances(right: Floats, closest: float) -> Floats:
    """Return the discordance of each pair of models whose accuracies differ at most this much."""
    a, b = np.triu_indices(len(right), 1)
    accuracies = right.mean(axis=1)
    shares = accuracies[a] + accuracies[b] - 2 * (right @ right.T)[a, b] / right.shape[1]
    return np.asarray(shares[abs(accuracies[a] - accuracies[b]) <= closest], np.float64)


def _answers(path: Path) -> tuple[NDArray[np.str_], Sequence[Floats]]:
    """Return each item's subject, and a 0/1 table of right answers for each number of shots."""
    right: dict[tuple[str, str], dict[tuple[str, str], bool]] = defaultdict(dict)
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with on_disk(path), opened(path, "rt", encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if lacking := {*COLUMNS} - {*(reader.fieldnames or ())}:
                raise DataCorrupt(
                    f"{path} has no column {', '.join(sorted(lacking))}: give a table with a row "
                    f"for each answer and the columns {', '.join(COLUMNS)}."
                )
            for row in reader:
                answers = right[row["shots"], row["model"]]
                answers[row["subject"], row["item"]] = row["letter"] == row["gold"]
    except (UnicodeDecodeError, csv.Error, EOFError) as error:
        raise DataCorrupt(f"{path} is not a complete CSV file: {error}. Make it again.") from error
    items = next(iter(right.values()), {}).keys()
    tables: dict[str, list[list[bool]]] = defaultdict(list)
    for (shots, model), answers in right.items():
        if answers.keys() != items:
            odd = ", ".join(min(answers.keys() ^ items))
            raise DataCorrupt(
                f"{path}: {model} ({shots}-shot) and {next(iter(right))[1]} do not have the same "
                f"items ({odd}). Keep only items that all models answered."
            )
        tables[shots].append([answers[item] for item in items])
    if not any(len(table) > 1 for table in tables.values()):
        raise DataCorrupt(f"{path} has no two models with the same shots: nothing to compare.")
    subjects = np.array([subject for subject, _ in items])
    return subjects, [np.array(table, np.float64) for table in tables.values()]
