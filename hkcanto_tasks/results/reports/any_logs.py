"""Paired tests on two logs of any task of lm-eval or of Inspect, for `hkcanto compare --any`.

The catalogue knows nothing of such a task, so only the facts in its logs are used: items are
matched by their texts (or by ids, if all are the same), and a figure is tested if it is the mean of
the items' values. There are no ranks, published scores and gates.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import isclose, nan
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ...errors import ComparisonError, LogError
from ...figures import Figure
from ...figures import Unit as FigureUnit
from ..logs import argument, logs_in
from ..logs.inspect import opened
from ..logs.items import UNREADABLE, decode, reason
from ..runs import places_of
from ..statistics.paired import RESAMPLES, SEED, Paired, adjusted
from .blocks import Note, Report, Section, report_of
from .compare import Pair, effects_table, verdict

_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}  # Inspect's own values of these
_NAMED = 5
_JSON = msgspec.json.Decoder(dict[str, Any])
_UNKNOWN = (
    "These are not tasks of hkcanto, so only the logs say what was run. Unknown are: prompt, "
    "template and decoding where the logs do not have them; whether questions share a passage, "
    "which would make intervals too narrow; and whether the data is the release."
)


@dataclass(frozen=True)
class _Log:
    """One task in one log.

    Attributes:
        task: The task's name in its harness.
        model: The model's name.
        harness: The harness.
        rows: For each response the item's id, the text of the question (equal for the same item), a
            hash of the prompt as sent (empty if not logged), and the value of each figure.
        reported: Figure → the harness's own value.
        settings: The settings of the run, by the log.
        higher: Figure without its filter → whether higher values are better, if the log says so.
    """

    task: str
    model: str
    harness: str
    rows: Sequence[tuple[str, str, str, Mapping[str, float]]]
    reported: Mapping[str, float]
    settings: Mapping[str, Any]
    higher: Mapping[str, bool | None] = field(default_factory=dict)


class _Test(NamedTuple):
    """The test of a task, the number of its independent items, and remarks for the reader."""

    pair: Pair
    items: int
    remarks: Sequence[str]


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
    tests, refused = list[_Test](), [f"{task}: no partner." for task in a.keys() ^ b.keys()]
    for task in a.keys() & b.keys():
        try:
            tests.append(_test(a[task], b[task], metric, seed=seed, resamples=resamples))
        except ComparisonError as error:
            refused.append(f"{task}: {error}")
    if not tests:
        raise ComparisonError("\n".join(["nothing to compare.", *sorted(refused)]))
    tests.sort(key=lambda test: (test.pair.p_value, test.pair.title))
    # Figures of several units are shown as numbers.
    unit = max((test.pair.figure.unit for test in tests), key="number".__eq__)
    effects = iter(adjusted([test.pair.effect for test in tests if test.pair.effect]))
    pairs, records, notes = list[Pair](), list[dict[str, Any]](), list[str]()
    for (task, figure, *_), items, remarks in tests:
        effect, name = next(effects), figure.name
        gain = effect.difference.times(1 if figure.higher_is_better else -1)
        record = {"task": task, "figure": name, "items": items, "a": effect.a, "b": effect.b}
        record |= {"gain": gain, "wins": effect.wins, "losses": effect.losses}
        record |= {"p_value": effect.p_value, "p_by_holm": effect.p_by_holm, "test": effect.test}
        records.append(record)
        pairs.append(Pair(task, replace(figure, unit=unit), effect, name))
        notes += [f"{task}: {remark}" for remark in remarks]
    verdicts = [Note(verdict(pair, names), "verdict") for pair in pairs[:_NAMED]]
    warnings = [Note(text, "warning") for text in [*sorted(notes), *sorted(refused), _UNKNOWN]]
    made = effects_table("any", "Task by task", pairs, names)
    section = Section("Results", [*verdicts, *warnings, made], "results", is_summary=True)
    how, title = (
        f"Random numbers: seed {seed}, {resamples:,} exchanges.",
        " against ".join(names[::-1]),
    )
    return report_of([section], title, [how], {"comparisons": records})


# ---------------------------------------------------------------------- the test


def _test(a: _Log, b: _Log, metric: str | None, **drawing: int) -> _Test:
    """Test a figure of a task."""
    if a.harness != b.harness:
        raise ComparisonError("one log is lm-eval's and one Inspect's, which may ask differently")
    of_a, of_b = (dict.fromkeys(chain(*(row[3] for row in side.rows))) for side in (a, b))
    names = [name for name in of_a if name in of_b]
    name, listed = metric or next(iter(names), ""), ", ".join(names)
    if name not in names:
        there = f"there are: {listed or 'none'}"
        raise ComparisonError(f"no figure {name!r} of items in both logs; {there}")
    (ids_a, texts_a, prompts_a, values_a), (ids_b, texts_b, prompts_b, values_b) = (
        zip(*side.rows, strict=True) for side in (a, b)
    )
    columns = [np.array([of.get(name, nan) for of in side]) for side in (values_a, values_b)]
    for side, column in zip((a, b), columns, strict=True):
        reported, mean = side.reported.get(name), float(np.nanmean(column))
        if reported is not None and not isclose(reported, mean, rel_tol=1e-6, abs_tol=1e-9):
            raise ComparisonError(
                f"{name} is {reported:.6g} in the log of {side.model}, but the mean of its items "
                f"is {mean:.6g}: it is no mean, so its items cannot be tested. Choose another "
                f"(--metric): {listed}"
            )
    in_a, in_b, unlike = places_of(texts_a), places_of(texts_b), 0
    of_ids = places_of(ids_a), places_of(ids_b)
    if in_a.keys() != in_b.keys() and of_ids[0].keys() == of_ids[1].keys():
        unlike = len(in_a.keys() - in_b.keys())
        in_a, in_b = of_ids
    pairs = np.array([(in_a[key], in_b[key]) for key in in_a if key in in_b], np.intp)
    if not len(pairs):
        raise ComparisonError("the logs have no item in common")
    values = np.column_stack([column[at] for column, at in zip(columns, pairs.T, strict=True)])
    known = np.asarray(~np.isnan(values).any(axis=1))
    if not known.any():
        raise ComparisonError(f"no item has a value of {name} in both logs")
    left, missing = len(in_a) + len(in_b) - 2 * len(pairs), int((~known).sum())
    prompts_differ = sum(prompts_a[first] != prompts_b[second] for first, second in pairs)
    both, higher = a.settings.keys() | b.settings.keys(), a.higher.get(name.partition(",")[0])
    other = sorted(key for key in both if a.settings.get(key) != b.settings.get(key))
    remarks = {
        f"matched by id; {unlike:,} of {len(ids_a):,} texts differ between the logs": unlike,
        f"{left:,} responses are to items of only one log, and are left out": left,
        f"{missing:,} responses are left out, because a log has no value for them": missing,
        f"the log does not say whether a higher {name} is better; taken as better": higher is None,
        f"{prompts_differ:,} of {len(pairs):,} prompts differ between the logs": prompts_differ,
        f"the logs also differ in {', '.join(other)}": other,
    }
    places, values = pairs[known, 0], values[known]
    unit: FigureUnit = "share" if ((values >= 0) & (values <= 1)).all() else "number"
    figure = Figure(name, name, unit, higher is not False, "")
    rows = [np.column_stack([side, np.ones(len(places))]) for side in values.T]
    losses = 1 - values if figure.higher_is_better else values
    items = np.unique(np.array(ids_a)[places], return_inverse=True)[1]
    subjects = np.full(len(places), "")
    paired = Paired(figure, places, rows[0], rows[1], losses, subjects, items, drawing)
    notes = [remark for remark, holds in remarks.items() if holds]
    return _Test(Pair(a.task, figure, paired.effect(), name), paired.units, notes)


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
        settings = {name: head.get(name, {}).get(task) for name in ("n-shot", "versions")}
        names, whole = ("gen_kwargs", "limit", "fewshot_seed", "use_cache"), head.get("config", {})
        settings |= {name: whole.get(name) for name in names}
        settings |= {n: config.get(n) for n in ("generation_kwargs", "repeats", "description")}
        settings["chat template"] = head.get("chat_template_sha")
        settings["system instruction"] = head.get("system_instruction_sha")
        reported = _numbers(head["results"].get(task, {}))
        higher = head.get("higher_is_better", {}).get(task, {})
        rows = [(*key, *item) for key, item in items.items()]
        yield _Log(task, str(head.get("model_name")), "lm-eval", rows, reported, settings, higher)


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
        rows = []
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
            rows.append((str(sample["id"]), text, "", _numbers(values)))
    settings = {"plan": head.plan.get("steps"), "generation": about.model_generate_config}
    settings |= {name: about.config.get(name) for name in ("epochs", "limit")}
    reported = dict[str, Any]()
    for score in (head.results or {}).get("scores") or []:
        metrics = score.get("metrics") or {}
        means = [metrics[name].get("value") for name in ("accuracy", "mean") if name in metrics]
        reported[str(score.get("name"))] = next(iter(means), None)
    yield _Log(about.task, about.model, "inspect", rows, _numbers(reported), settings)


def _refuse_ours(is_ours: bool, path: Path) -> None:
    if is_ours:
        raise LogError(f"{path} is a log of a task of hkcanto: compare it without --any.")
