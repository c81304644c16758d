"""Paired tests on two logs of any task of lm-eval or of Inspect, for `hkcanto compare --any`.

The catalogue knows nothing of such a task, so only the facts in its logs are used: items are
matched by their texts (or by ids, if all are the same), and a figure is tested if it is the mean of
the items' values. There are no ranks, published scores and gates.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import isclose, nan
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ...errors import ComparisonError, LogError
from ...figures import Figure
from ..logs import argument, logs_in
from ..logs.inspect import opened
from ..logs.items import UNREADABLE, decode, reason
from ..runs import places_of
from ..statistics.paired import RESAMPLES, SEED, Paired
from ..statistics.significance import holm
from .blocks import Block, Column, Note, Report, Section, report_of, table

_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}  # Inspect's own values of these
_NAMED = 5
_JSON = msgspec.json.Decoder(dict[str, Any])
_UNKNOWN = (
    "These are not tasks of hkcanto, so the logs alone say what was run. Unknown are: whether "
    "the models got the same prompt, template and decoding where the logs do not tell; whether "
    "questions share a passage, which would make intervals too narrow; and whether the data is "
    "the release."
)


@dataclass
class _Log:
    """One task in one log.

    Attributes:
        task: The task's name in its harness.
        model: The model's name.
        harness: The harness.
        items: The id of each response's item, the text of the question (equal for the same item), a
            hash of the prompt as sent (empty if not logged), and the value of each figure.
        reported: Figure → the harness's own value.
        higher: Figure → whether higher values are better, if the log says so.
        settings: The settings of the run, by the log.
    """

    task: str
    model: str
    harness: str
    items: list[tuple[str, str, str, dict[str, float]]]
    reported: dict[str, float]
    settings: dict[str, Any]
    higher: Mapping[str, bool | None] = field(default_factory=dict)

    @cached_property
    def figures(self) -> list[str]:
        return list(dict.fromkeys(chain.from_iterable(item[3] for item in self.items)))

    def values(self, figure: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([item[3].get(figure, nan) for item in self.items])


def compare_any(
    runs: Sequence[str], *, metric: str | None = None, seed: int = SEED, resamples: int = RESAMPLES
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
    given = [argument(run) for run in runs]
    a, b = sides = [_logs(path) for _, path in given]
    models = (next(iter(side.values())).model for side in sides)
    names = [name or model for (name, _), model in zip(given, models, strict=True)]
    if names[0] == names[1]:
        names = [f"{name} ({place})" for place, name in enumerate(names, 1)]
    tests, notes = list[dict[str, Any]](), list[str]()
    refused = [f"{task}: no partner." for task in a.keys() ^ b.keys()]
    for task in a.keys() & b.keys():
        try:
            test, remarks = _compared(a[task], b[task], metric, seed=seed, resamples=resamples)
        except ComparisonError as error:
            refused.append(f"{task}: {error}")
            continue
        tests.append(test)
        notes += [f"{task}: {remark}" for remark in remarks]
    if not tests:
        raise ComparisonError("\n".join(["nothing to compare.", *sorted(refused)]))
    if len(tests) > 1:
        for test, p_value in zip(tests, holm([test["p_value"] for test in tests]), strict=True):
            test["p_by_holm"] = p_value
    tests.sort(key=itemgetter("p_value", "task"))
    columns = {
        "task": Column("Task"),
        "figure": Column("Figure"),
        "a": Column(names[0], "number"),
        "b": Column(names[1], "number"),
        "gain": Column("Gain", "number", "Positive if the second is better."),
        "items": Column("Items", "count"),
        "wins": Column("Won", "count"),
        "losses": Column("Lost", "count"),
        "p_value": Column("p", "p", "Two-sided, unadjusted."),
        "p_by_holm": Column("p by Holm", "p", "Adjusted for several tests."),
        "test": Column("Test"),
    }
    verdicts = [Note(_sentence(test, names), "verdict") for test in tests[:_NAMED]]
    warnings = [Note(text, "warning") for text in [*sorted(notes), *sorted(refused), _UNKNOWN]]
    getters = [(column, itemgetter(key)) for key, column in columns.items()]
    blocks: list[Block] = [*verdicts, *warnings, table("any", "Task by task", tests, getters)]
    section = Section("Results", blocks, "results", is_summary=True)
    how = f"Random numbers: seed {seed}, {resamples:,} exchanges."
    return report_of([section], f"{names[1]} against {names[0]}", [how], {"comparisons": tests})


def _sentence(test: Mapping[str, Any], names: Sequence[str]) -> str:
    task, figure, gain, p_value = (test[key] for key in ("task", "figure", "gain", "p_by_holm"))
    p_value = test["p_value"] if p_value is None else p_value
    span = f"gain {gain.value:+.3g}, 95 % {gain.low:+.3g} to {gain.high:+.3g}; p = {p_value:.2g}"
    if p_value >= 0.05:
        return f"{task}: no difference shown in {figure} ({span})."
    by = f"{abs(gain.value):.3g} {'better' if gain.value > 0 else 'worse'} than {names[0]}"
    return f"{task}: {names[1]} is {by} in {figure}, significant ({span})."


# ---------------------------------------------------------------------- the test


def _compared(
    a: _Log, b: _Log, metric: str | None, **drawing: int
) -> tuple[dict[str, Any], list[str]]:
    """Return the test of a task as a record, and remarks for the reader."""
    if a.harness != b.harness:
        raise ComparisonError("one log is lm-eval's and one Inspect's, which may ask differently")
    names = [name for name in a.figures if name in b.figures]
    name, listed = metric or next(iter(names), ""), ", ".join(names)
    if name not in names:
        there = f"there are: {listed or 'none'}"
        raise ComparisonError(f"no figure {name!r} of items in both logs; {there}")
    for side in (a, b):
        reported, mean = side.reported.get(name), float(np.nanmean(side.values(name)))
        if reported is not None and not isclose(reported, mean, rel_tol=1e-6, abs_tol=1e-9):
            raise ComparisonError(
                f"{name} is {reported:.6g} in the log of {side.model}, but the mean of its items "
                f"is {mean:.6g}: it is no mean, so its items cannot be tested. Choose another "
                f"(--metric): {listed}"
            )
    (ids_a, texts_a, prompts_a, _), (ids_b, texts_b, prompts_b, _) = (
        zip(*side.items, strict=True) for side in (a, b)
    )
    in_a, in_b, notes = places_of(texts_a), places_of(texts_b), list[str]()
    if in_a.keys() != in_b.keys() and {*places_of(ids_a)} == {*places_of(ids_b)}:
        unlike = len(in_a.keys() - in_b.keys())
        notes.append(f"matched by id; {unlike:,} of {len(a.items):,} texts differ between the logs")
        in_a, in_b = places_of(ids_a), places_of(ids_b)
    pairs = np.array([(in_a[key], in_b[key]) for key in in_a if key in in_b], np.intp)
    if not len(pairs):
        raise ComparisonError("the logs have no item in common")
    if left := len(in_a) + len(in_b) - 2 * len(pairs):
        notes.append(f"{left:,} responses are to items of only one log, and are left out")
    values = np.column_stack([a.values(name)[pairs[:, 0]], b.values(name)[pairs[:, 1]]])
    known = np.asarray(~np.isnan(values).any(axis=1))
    if not known.any():
        raise ComparisonError(f"no item has a value of {name} in both logs")
    if missing := int((~known).sum()):
        notes.append(f"{missing:,} responses are left out, because a log has no value for them")
    if a.higher.get(name) is None:
        notes.append(f"the log does not say whether a higher {name} is better; taken as better")
    if unlike := sum(prompts_a[first] != prompts_b[second] for first, second in pairs):
        notes.append(f"{unlike:,} of {len(pairs):,} prompts differ between the logs")
    settings = sorted(a.settings.keys() | b.settings.keys())
    if other := [key for key in settings if a.settings.get(key) != b.settings.get(key)]:
        notes.append(f"the logs also differ in {', '.join(other)}")
    figure = Figure(name, name, "number", a.higher.get(name) is not False, "")
    places, one = pairs[:, 0], np.ones(len(pairs))
    rows_a, rows_b = (np.column_stack([side, one]) for side in values.T)
    losses = 1 - values if figure.higher_is_better else values
    subjects = np.full(len(places), "")
    items = np.unique(np.array(ids_a)[places], return_inverse=True)[1]
    paired = Paired(figure, places, rows_a, rows_b, losses, subjects, items, drawing).where(known)
    effect = paired.effect()
    gain = effect.difference.times(1 if figure.higher_is_better else -1)
    test = {"task": a.task, "figure": name, "items": paired.units, "a": effect.a, "b": effect.b}
    test |= {"gain": gain, "wins": effect.wins, "losses": effect.losses}
    return test | {"p_value": effect.p_value, "p_by_holm": None, "test": effect.test}, notes


# ---------------------------------------------------------------------- reading


def _logs(path: Path) -> dict[str, _Log]:
    """Return the tasks of the logs at a path by name."""
    logs, problems = dict[str, _Log](), list[str]()
    for file in [path] if path.is_file() else logs_in(path):
        try:
            for log in (_lm_eval if file.name.startswith("results_") else _inspect)(file):
                if log.task in logs:
                    raise LogError(f"{path} has several logs of {log.task}. Give the file of one.")
                logs[log.task] = log
        except LogError:
            raise
        except UNREADABLE as error:
            problems.append(f"{file}: {reason(error)}")
    if not logs:
        raise LogError("\n".join([f"{path} has no log of lm-eval or Inspect.", *problems]))
    return logs


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers among some values, with Inspect's grades as numbers."""
    numbers = {
        name: _GRADES.get(value) if isinstance(value, str) else value
        for name, value in values.items()
    }
    return {name: float(n) for name, n in numbers.items() if isinstance(n, bool | int | float)}


def _lm_eval(path: Path) -> Iterator[_Log]:
    head = decode(path.read_bytes(), _JSON)
    for task, config in head["configs"].items():
        _refuse_ours(config.get("dataset_path") == "hkcanto", path)
        samples = path.with_name(f"samples_{task}_{path.stem.removeprefix('results_')}.jsonl")
        if not samples.is_file():
            raise LogError(f"{path}: no {samples.name} beside it. Run with --log_samples.")
        items: dict[tuple[str, str], tuple[str, dict[str, float]]] = {}
        for line in samples.read_bytes().splitlines():
            row = decode(line, _JSON)
            text = msgspec.json.encode([row["doc"], row.get("target")], order="sorted").decode()
            key = str(row["doc_id"]), text  # with a line for each filter
            _, values = items.setdefault(key, (str(row.get("prompt_hash", "")), {}))
            metrics, of_filter = row.get("metrics", ()), row.get("filter", "none")
            values |= _numbers({f"{name},{of_filter}": row.get(name) for name in metrics})
        of_task = {name: head.get(name, {}).get(task) for name in ("n-shot", "versions")}
        names, whole = ("gen_kwargs", "limit", "fewshot_seed", "use_cache"), head.get("config", {})
        settings = of_task | {name: whole.get(name) for name in names}
        settings |= {n: config.get(n) for n in ("generation_kwargs", "repeats", "description")}
        settings["chat template"] = head.get("chat_template_sha")
        settings["system instruction"] = head.get("system_instruction_sha")
        listed = [(*key, *item) for key, item in items.items()]
        reported = _numbers(head["results"].get(task, {}))
        log = _Log(task, str(head.get("model_name")), "lm-eval", listed, reported, settings)
        ways = head.get("higher_is_better", {}).get(task, {})
        log.higher = {name: ways.get(name.partition(",")[0]) for name in log.figures}
        yield log


def _inspect(path: Path) -> Iterator[_Log]:
    with path.open("rb") as file:
        head, samples = opened(path, file, _JSON)
        about = head.eval
        _refuse_ours(about.task.startswith("hkcanto/"), path)
        if head.status != "success":
            raise LogError(
                f"{path} ended as {head.status!r}: the items that finished first are not a random "
                "part. Finish it (inspect eval-retry LOG)."
            )
        items = []
        for sample in (load() for load in samples.values()):
            values = dict[str, Any]()
            for scorer, score in (sample.get("scores") or {}).items():
                value = score.get("value")
                parts = value.items() if isinstance(value, dict) else [("", value)]
                values |= {"/".join(filter(None, (scorer, part))): of for part, of in parts}
            asked = sample["input"]
            if isinstance(asked, list):  # messages have random ids
                asked = [[message.get("role"), message.get("content")] for message in asked]
            question = [asked, sample.get("target", ""), sample.get("choices")]
            text = msgspec.json.encode(question, order="sorted").decode()
            items.append((str(sample["id"]), text, "", _numbers(values)))
    settings = {"plan": head.plan.get("steps"), "generation": about.model_generate_config}
    settings |= {name: about.config.get(name) for name in ("epochs", "limit")}
    reported = dict[str, Any]()
    for score in (head.results or {}).get("scores") or []:
        metrics = score.get("metrics") or {}
        means = [metrics[name].get("value") for name in ("accuracy", "mean") if name in metrics]
        reported[str(score.get("name"))] = next(iter(means), None)
    yield _Log(about.task, about.model, "inspect", items, _numbers(reported), settings)


def _refuse_ours(is_ours: bool, path: Path) -> None:
    if is_ours:
        raise LogError(f"{path} is a log of a task of hkcanto: compare it without --any.")
