"""Paired tests on two logs of any task of lm-eval or of Inspect, for `hkcanto compare --any`.

The catalogue knows nothing of such a task. So only what its logs say is used: items are matched by
their texts (or by ids, if all are the same), and a figure is tested if it is the mean of the items'
values. There are no ranks, published scores and gates.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from ...errors import ComparisonError, LogError
from ...figures import sum_clusters
from ..logs import argument, logs_in
from ..logs.inspect import opened
from ..logs.items import UNREADABLE, decode, reason
from ..statistics import intervals, significance
from ..statistics.intervals import Estimate
from ..statistics.paired import RESAMPLES, SEED
from .blocks import Block, Column, Note, Report, Section, report_of, table

_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}  # Inspect's own values of these
_NAMED, _SAME = 5, 1e-9
_UNKNOWN = (
    "These are not tasks of hkcanto, so the logs alone say what was run. Unknown are: whether "
    "the models got the same prompt, template and decoding where the logs do not tell; whether "
    "questions share a passage, which would make intervals too narrow; and whether the data is "
    "the release."
)


class _Results(msgspec.Struct):
    results: dict[str, dict[str, Any]]
    configs: dict[str, dict[str, Any]] = {}
    config: dict[str, Any] = {}
    higher_is_better: dict[str, dict[str, bool | None]] = {}
    n_shot: dict[str, Any] = msgspec.field(name="n-shot", default_factory=dict)
    versions: dict[str, Any] = {}
    model_name: str | None = None
    chat_template_sha: str | None = None
    system_instruction_sha: str | None = None


class _Sample(msgspec.Struct):  # of Inspect
    id: str | int
    input: Any
    target: Any = ""
    choices: Any = None
    scores: dict[str, Any] | None = None
    error: Any = None


@dataclass
class _Log:
    """One task in one log.

    Attributes:
        task: The task's name in its harness.
        model: The model's name.
        harness: The harness.
        ids: The id of each response's item.
        texts: The texts of the questions, equal for the same item.
        prompts: Hashes of the prompts as sent; empty if they are not logged.
        values: Figure → the value of each response; NaN if it has none.
        reported: Figure → the harness's own value.
        higher: Figure → whether higher values are better, if the log says so.
        settings: The settings of the run, by the log.
    """

    task: str
    model: str
    harness: Literal["lm-eval", "inspect"]
    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    values: dict[str, list[float]] = field(default_factory=dict)
    reported: dict[str, float] = field(default_factory=dict)
    higher: dict[str, bool | None] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def add(self, item: Hashable, text: str, values: Mapping[str, float | None]) -> None:
        """Add a response."""
        for name in values.keys() - self.values.keys():
            self.values[name] = [math.nan] * len(self.ids)
        self.ids.append(str(item))
        self.texts.append(text)
        for name, of_items in self.values.items():
            value = values.get(name)
            of_items.append(math.nan if value is None else value)


@dataclass
class _Test:
    """The paired test of a figure of a task; its gain is positive if the second log is better."""

    task: str
    figure: str
    items: int
    a: float
    b: float
    gain: Estimate
    wins: int
    losses: int
    p_value: float
    p_by_holm: float | None
    test: str


def compare_any(
    runs: Sequence[str],
    *,
    metric: str | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Report:
    """Compare two logs, or folders of logs, of any tasks of one harness.

    Args:
        runs: Two paths, optionally as NAME=PATH.
        metric: The figure to test, as the harness names it; by default each task's first.
        seed: Seed of the exchanges.
        resamples: Their largest number.

    Raises:
        LogError: A path has no log, or two of one task.
        ComparisonError: Nothing can be compared; the message says why.
    """
    if len(runs) != 2:
        raise ComparisonError("--any compares two logs: hkcanto compare a=LOG b=LOG --any")
    given = [argument(each) for each in runs]
    sides = [_logs(path) for _, path in given]
    names = [
        name or next(iter(side.values())).model
        for (name, _), side in zip(given, sides, strict=True)
    ]
    if names[0] == names[1]:
        names = [f"{name} ({place})" for place, name in enumerate(names, 1)]
    tests, notes, refused = list[_Test](), list[str](), list[str]()
    for task in sides[0].keys() & sides[1].keys():
        a, b = sides[0][task], sides[1][task]
        try:
            found, told = _compared(a, b, metric, {"seed": seed, "resamples": resamples})
        except ComparisonError as error:
            refused.append(f"{task}: {error}")
            continue
        tests.append(found)
        notes += [f"{task}: {note}" for note in told]
    for place, side in enumerate(sides):
        refused += [f"{task}: no partner." for task in side.keys() - sides[1 - place].keys()]
    if not tests:
        raise ComparisonError("\n".join(["nothing to compare.", *sorted(refused)]))
    if len(tests) > 1:
        by_holm = significance.holm([each.p_value for each in tests])
        for one, p_value in zip(tests, by_holm, strict=True):
            one.p_by_holm = p_value
    tests.sort(key=lambda one: (one.p_value, one.task))
    columns = [
        (Column("Task"), attrgetter("task")),
        (Column("Figure"), attrgetter("figure")),
        (Column(names[0], "number"), attrgetter("a")),
        (Column(names[1], "number"), attrgetter("b")),
        (Column("Gain", "number", "Positive if the second is better."), attrgetter("gain")),
        (Column("Items", "count"), attrgetter("items")),
        (Column("Won", "count"), attrgetter("wins")),
        (Column("Lost", "count"), attrgetter("losses")),
        (Column("p", "p", "Two-sided, unadjusted."), attrgetter("p_value")),
        (Column("p by Holm", "p", "Adjusted for several tests."), attrgetter("p_by_holm")),
        (Column("Test"), attrgetter("test")),
    ]
    said = [Note(_sentence(one, names), "verdict") for one in tests[:_NAMED]]
    warned = [Note(text, "warning") for text in [*sorted(notes), *sorted(refused)]]
    blocks: list[Block] = [*said, *warned, Note(_UNKNOWN, "warning")]
    blocks.append(table("any", "Task by task", tests, columns))
    records = {"comparisons": [msgspec.to_builtins(one) for one in tests]}
    section = Section("Results", blocks, "results", is_summary=True)
    how = f"Random numbers: seed {seed}, {resamples:,} exchanges."
    return report_of([section], f"{names[1]} against {names[0]}", [how], records)


def _sentence(one: _Test, names: Sequence[str]) -> str:
    first, second = names
    gain = f"{abs(one.gain.value):.3g}"
    span = f"gain {one.gain.value:+.3g}, 95 % {one.gain.low:+.3g} to {one.gain.high:+.3g}"
    p_value = one.p_value if one.p_by_holm is None else one.p_by_holm
    if p_value >= 0.05:
        return f"{one.task}: no difference shown in {one.figure} ({span}; p = {p_value:.2g})."
    better = "better" if one.gain.value > 0 else "worse"
    return (
        f"{one.task}: {second} is {gain} {better} than {first} in {one.figure}, significant "
        f"({span}; p = {p_value:.2g})."
    )


# ---------------------------------------------------------------------- the test


def _compared(
    a: _Log, b: _Log, metric: str | None, drawing: Mapping[str, int]
) -> tuple[_Test, list[str]]:
    """Return the test of a task, and what the reader must know of it."""
    if a.harness != b.harness:
        raise ComparisonError("one log is lm-eval's and one Inspect's, which may ask differently")
    names = [name for name in a.values if name in b.values]
    name = metric or next(iter(names), "")
    if name not in names:
        listed = ", ".join(names) or "none"
        raise ComparisonError(f"no figure {name!r} of items in both logs; there are: {listed}")
    for side in (a, b):
        reported, mean = side.reported.get(name), float(np.nanmean(side.values[name]))
        if reported is not None and not math.isclose(reported, mean, rel_tol=1e-6, abs_tol=_SAME):
            raise ComparisonError(
                f"{name} is {reported:.6g} in the log of {side.model}, but the mean of its items "
                f"is {mean:.6g}: it is no mean, so its items cannot be tested. Choose another "
                f"(--metric): {', '.join(names)}"
            )
    pairs, notes = _matched(a, b)
    one, other = (
        np.array([side.values[name][pair[place]] for pair in pairs])
        for place, side in enumerate((a, b))
    )
    known = ~(np.isnan(one) | np.isnan(other))
    if not known.any():
        raise ComparisonError(f"no item has a value of {name} in both logs")
    if missing := len(known) - int(known.sum()):
        notes.append(f"{missing:,} responses are left out, because a log has no value for them")
    one, other = one[known], other[known]
    items = [a.ids[first] for first, _ in pairs]
    clusters = np.unique(np.array(items)[known], return_inverse=True)[1]
    way = a.higher.get(name)
    if way is None:
        notes.append(f"the log does not say whether a higher {name} is better; taken as better")
    sign = -1 if way is False else 1
    changes = sign * (other - one)
    wins, losses = int((changes > _SAME).sum()), int((changes < -_SAME).sum())
    units = int(clusters.max()) + 1
    if units == len(changes) and np.isin([one, other], (0, 1)).all():
        test, p_value = "exact McNemar", significance.mcnemar_p_value(wins, losses)
        ends = intervals.paired_accuracy_interval(wins, losses, units)
    else:
        rows = (np.column_stack([sign * side, np.ones(len(side))]) for side in (one, other))
        first, second = (sum_clusters(each, clusters) for each in rows)
        test = "paired permutation"
        p_value = significance.randomization_p_value(first, second, significance.ratio, **drawing)
        largest = max(1.0, float(np.abs(changes).max()))
        ends = intervals.paired_mean_interval(changes, clusters, largest=largest)
    gain = float(changes.mean())
    found = Estimate(gain, *intervals.agreeing(ends, p_value, gain), len(changes))
    means = float(one.mean()), float(other.mean())
    made = _Test(a.task, name, units, *means, found, wins, losses, p_value, None, test)
    return made, [*notes, *_differences(a, b, pairs)]


def _matched(a: _Log, b: _Log) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the places of each response in both logs, and what is to be said of the match."""
    by_text, by_id = (
        [_places(own) for own in lists] for lists in ((a.texts, b.texts), (a.ids, b.ids))
    )
    notes = list[str]()
    one, other = by_text
    if one.keys() != other.keys() and by_id[0].keys() == by_id[1].keys():
        unlike = len(one.keys() - other.keys())
        notes.append(f"matched by id; {unlike:,} of {len(a.ids):,} texts differ between the logs")
        one, other = by_id
    both = [key for key in one if key in other]
    if not both:
        raise ComparisonError("the logs have no item in common")
    if left := len(one) + len(other) - 2 * len(both):
        notes.append(f"{left:,} responses are to items of only one log, and are left out")
    return [(one[key], other[key]) for key in both], notes


def _places(keys: Sequence[str]) -> dict[tuple[str, int], int]:
    seen, places = Counter[str](), dict[tuple[str, int], int]()
    for place, key in enumerate(keys):
        seen[key] += 1
        places[key, seen[key]] = place
    return places


def _differences(a: _Log, b: _Log, pairs: Sequence[tuple[int, int]]) -> Iterator[str]:
    if a.prompts and b.prompts:
        unlike = sum(a.prompts[first] != b.prompts[second] for first, second in pairs)
        if unlike:
            yield f"{unlike:,} of {len(pairs):,} prompts differ between the logs"
    names = sorted(a.settings.keys() | b.settings.keys())
    if unlike_in := [name for name in names if a.settings.get(name) != b.settings.get(name)]:
        yield f"the logs also differ in {', '.join(unlike_in)}"


# ---------------------------------------------------------------------- reading


def _logs(path: Path) -> dict[str, _Log]:
    """Return the tasks of the logs at a path by name."""
    files = [path] if path.is_file() else logs_in(path)
    found, problems = dict[str, _Log](), list[str]()
    for file in files:
        read = _lm_eval if file.name.startswith("results_") else _inspect
        try:
            for log in read(file):
                if log.task in found:
                    raise LogError(f"{path} has several logs of {log.task}. Give the file of one.")
                found[log.task] = log
        except UNREADABLE as error:
            if isinstance(error, LogError):
                raise
            problems.append(f"{file}: {reason(error)}")
    if not found:
        raise LogError("\n".join([f"{path} has no log of lm-eval or Inspect.", *problems]))
    return found


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        return _GRADES.get(value)
    return float(value) if isinstance(value, bool | int | float) else None


def _lm_eval(path: Path) -> Iterator[_Log]:
    head = decode(path.read_bytes(), msgspec.json.Decoder(_Results, strict=False))
    stamp = path.stem.removeprefix("results_")
    for task, config in head.configs.items():
        _refuse_ours(config.get("dataset_path") == "hkcanto", path)
        samples = path.with_name(f"samples_{task}_{stamp}.jsonl")
        if not samples.is_file():
            raise LogError(f"{path}: no {samples.name} beside it. Run with --log_samples.")
        log = _Log(task, str(head.model_name), "lm-eval")
        whole = {"n-shot": head.n_shot, "versions": head.versions}
        log.settings = {name: of.get(task) for name, of in whole.items()}
        for name in ("generation_kwargs", "repeats", "description"):
            log.settings[name] = config.get(name)
        for name in ("gen_kwargs", "limit", "fewshot_seed", "use_cache"):
            log.settings[name] = head.config.get(name)
        log.settings["chat template"] = head.chat_template_sha
        log.settings["system instruction"] = head.system_instruction_sha
        rows: dict[tuple[str, str], dict[str, float | None]] = {}
        prompts: dict[tuple[str, str], str] = {}
        for line in samples.read_bytes().splitlines():
            row = decode(line, msgspec.json.Decoder(dict[str, Any]))
            of_filter = str(row.get("filter", "none"))
            values = {
                f"{name},{of_filter}": number
                for name in row.get("metrics", ())
                if (number := _number(row.get(name))) is not None
            }
            text = msgspec.json.encode([row["doc"], row.get("target")], order="sorted").decode()
            key = str(row["doc_id"]), text  # with a line for each filter
            rows.setdefault(key, {}).update(values)
            prompts[key] = str(row.get("prompt_hash", ""))
        for (item, text), of_item in rows.items():
            log.add(item, text, of_item)
        log.prompts = [*prompts.values()]
        ways = head.higher_is_better.get(task, {})
        log.higher = {name: ways.get(name.partition(",")[0]) for name in log.values}
        own = head.results.get(task, {})
        log.reported = {
            name: own[name] for name in log.values if isinstance(own.get(name), int | float)
        }
        yield log


def _inspect(path: Path) -> Iterator[_Log]:
    with path.open("rb") as file:
        head, samples = opened(path, file, msgspec.json.Decoder(_Sample))
        _refuse_ours(head.eval.task.startswith("hkcanto/"), path)
        if head.status != "success":
            raise LogError(
                f"{path} ended as {head.status!r}: the items that finished first are not a random "
                "part. Finish it (inspect eval-retry LOG)."
            )
        log = _Log(head.eval.task, head.eval.model, "inspect")
        about = head.eval
        log.settings = {"plan": head.plan.get("steps"), "generation": about.model_generate_config}
        log.settings |= {"epochs": about.config.get("epochs"), "limit": about.config.get("limit")}
        for sample in (load() for load in samples.values()):
            of_sample = dict[str, float | None]()
            for scorer, score in (sample.scores or {}).items():
                value = score.get("value")
                parts = value if isinstance(value, dict) else {"": value}
                for part, each in parts.items():
                    of_sample["/".join(filter(None, (scorer, part)))] = _number(each)
            said = sample.input
            if isinstance(said, list):  # messages have random ids
                said = [[message.get("role"), message.get("content")] for message in said]
            asked = [said, sample.target, sample.choices]
            log.add(sample.id, msgspec.json.encode(asked, order="sorted").decode(), of_sample)
    known = {name for name, own in log.values.items() if not all(map(math.isnan, own))}
    log.values = {name: log.values[name] for name in log.values if name in known}
    for score in (head.results or {}).get("scores") or []:
        metrics = score.get("metrics") or {}
        found = next((metrics[name] for name in ("accuracy", "mean") if name in metrics), None)
        if found and isinstance(found.get("value"), int | float):
            log.reported[str(score.get("name"))] = float(found["value"])
    yield log


def _refuse_ours(is_ours: bool, path: Path) -> None:
    if is_ours:
        raise LogError(f"{path} is a log of a task of hkcanto: compare it without --any.")
