"""Paired tests on two logs of any task of lm-eval or of Inspect, for `hkcanto compare --any`.

The catalogue knows nothing of such a task, so only the facts in its logs are used: items are
matched by their texts (or by ids, if all are the same), and a figure is tested if it is the mean of
the items' values. There are no ranks, published scores and gates.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isclose, nan
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ...errors import ComparisonError, LogError
from ...figures import Figure
from ..logs import argument, logs_in
from ..logs.inspect import head_and_samples
from ..logs.items import UNREADABLE, decode, reason
from ..runs import positions_by_name
from ..statistics.paired import RESAMPLES, SEED, Paired, adjusted
from .blocks import Note, Report, Section, report_of
from .compare import RunPair, effects_table, verdict

_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}  # Inspect's own values of these
_NAMED = 5
_EFFECT = ("a", "b", "wins", "losses", "p_value", "p_by_holm", "test")
_Row = tuple[str, str, str, Mapping[str, float]]
_JSON = msgspec.json.Decoder(dict[str, Any])
_OURS = "a log of a task of hkcanto: compare it without --any"
_UNKNOWN = (
    "These are not tasks of hkcanto, so only the logs say what was run. Where they do not, prompt, "
    "template and decoding are unknown, and so are whether questions share a passage, which makes "
    "intervals too narrow, and which data it was."
)


@dataclass(frozen=True)
class _Log:
    """One task in one log.

    Attributes:
        task: The task's name in its harness.
        path: The log.
        rows: For each response the item's id, the text of the question (equal for the same item), a
            hash of the prompt as sent (empty if not logged), and the value of each figure.
        reported: Figure → the harness's own value.
        settings: The settings of the run, by the log.
        higher: Figure without its filter → whether higher values are better, if the log says so.
    """

    task: str
    path: Path
    rows: Sequence[_Row]
    reported: Mapping[str, float]
    settings: Mapping[str, Any]
    higher: Mapping[str, bool | None] = field(default_factory=dict)


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
        raise ComparisonError(
            "--any compares two logs: hkcanto compare a=LOG b=LOG --any"
        )
    given = [argument(run) for run in runs]
    (a, of_a), (b, of_b) = (_logs(path) for _, path in given)
    names = [name or str(path) for name, path in given]
    if names[0] == names[1]:
        names = [f"{name} ({place})" for place, name in enumerate(names, 1)]
    tests, notes = list[tuple[RunPair, int]](), [*of_a, *of_b]
    refused = [f"{task}: no partner." for task in a.keys() ^ b.keys()]
    for task in a.keys() & b.keys():
        try:
            pair, items, remarks = _test(
                a[task], b[task], metric, seed=seed, resamples=resamples
            )
            tests.append((pair, items))
            notes += [f"{task}: {remark}" for remark in remarks]
        except ComparisonError as error:
            refused.append(f"{task}: {error}")
    if not tests:
        raise ComparisonError("\n".join(["nothing to compare.", *sorted(refused)]))
    tests.sort(key=lambda test: (test[0].p_value, test[0].title))
    effects = adjusted([pair.effect for pair, _ in tests if pair.effect])
    pairs, records, rows = (
        list[RunPair](),
        list[dict[str, Any]](),
        list[dict[str, Any]](),
    )
    for (pair, items), effect in zip(tests, effects, strict=True):
        pairs.append(pair._replace(effect=effect))
        gain = effect.difference.times(1 if pair.figure.higher_is_better else -1)
        record = {"task": pair.title, "figure": pair.figure.name, "items": items}
        record |= {name: getattr(effect, name) for name in _EFFECT}
        records.append(record | {"gain": gain})
        rows.append(
            record | {"gain": gain.value, "gain_low": gain.low, "gain_high": gain.high}
        )
    verdicts = [Note(verdict(pair, names), "verdict") for pair in pairs[:_NAMED]]
    warnings = [
        Note(text, "warning") for text in [*sorted(notes), *sorted(refused), _UNKNOWN]
    ]
    made = []
    for unit in ("share", "number"):
        of_unit = [pair for pair in pairs if pair.figure.unit == unit]
        made.append(effects_table(f"any_{unit}", "Task by task", of_unit, names))
    section = Section(
        "Results", [*verdicts, *warnings, *made], "results", is_summary=True
    )
    how = f"Random numbers: seed {seed}, {resamples:,} exchanges."
    title = f"{names[1]} against {names[0]}"
    return report_of([section], title, [how], {"comparisons": records}, lambda: rows)


# ---------------------------------------------------------------------- the test


def _test(
    a: _Log, b: _Log, metric: str | None, **drawing: int
) -> tuple[RunPair, int, list[str]]:
    """Test a figure of a task: the effect, the number of independent items, and remarks."""
    of_a, of_b = (
        dict.fromkeys(chain(*(row[3] for row in side.rows))) for side in (a, b)
    )
    names = [name for name in of_a if name in of_b]
    name, listed = metric or next(iter(names), ""), ", ".join(names)
    if name not in names:
        there = f"there are: {listed or 'none'}"
        raise ComparisonError(f"no figure {name!r} of items in both logs; {there}")
    for side in (a, b):
        reported = side.reported.get(name)
        mean = float(np.nanmean([row[3].get(name, nan) for row in side.rows]))
        if reported is not None and not isclose(
            reported, mean, rel_tol=1e-6, abs_tol=1e-9
        ):
            raise ComparisonError(
                f"{name} is {reported:.6g} in {side.path}, but the mean of its items is "
                f"{mean:.6g}: it is not a mean, so its items cannot be tested. Choose another "
                f"(--metric): {listed}"
            )
    by_id, by_text = (
        [positions_by_name([str(row[n]) for row in side.rows]) for side in (a, b)]
        for n in (0, 1)
    )
    is_by_id = (
        by_text[0].keys() != by_text[1].keys() and by_id[0].keys() == by_id[1].keys()
    )
    in_a, in_b = by_id if is_by_id else by_text
    unlike = len(by_text[0].keys() - by_text[1].keys())
    pairs = [
        (a.rows[at], b.rows[in_b[text]]) for text, at in in_a.items() if text in in_b
    ]
    if not pairs:
        raise ComparisonError("the logs have no item (question and answer) in common")
    values = np.array([[row[3].get(name, nan) for row in pair] for pair in pairs])
    known = ~np.isnan(values).any(axis=1)
    if not known.any():
        raise ComparisonError(f"no item has a value of {name} in both logs")
    left, missing = len(in_a) + len(in_b) - 2 * len(pairs), int((~known).sum())
    prompts = sum(first[2] != second[2] for first, second in pairs)
    both, higher = (
        a.settings.keys() | b.settings.keys(),
        a.higher.get(name.partition(",")[0]),
    )
    other = sorted(key for key in both if a.settings.get(key) != b.settings.get(key))
    remarks = {
        f"matched by id; {unlike:,} of {len(in_a):,} texts differ between the logs": is_by_id,
        f"{left:,} responses are to items of only one log, and are left out": left,
        f"{missing:,} responses are left out, because a log has no value for them": missing,
        f"the log does not say whether a higher {name} is better; taken as better": higher
        is None,
        f"{prompts:,} of {len(pairs):,} prompts differ between the logs": prompts,
        f"the logs also differ in {', '.join(other)}": other,
    }
    values, ids = values[known], np.array([row[0] for row, _ in pairs])[known]
    is_share = ((values >= 0) & (values <= 1)).all()
    figure = Figure(
        name, name, "share" if is_share else "number", higher is not False, ""
    )
    rows_a, rows_b = (np.column_stack([side, np.ones(len(ids))]) for side in values.T)
    losses = 1 - values if figure.higher_is_better else values
    columns = np.arange(len(ids)), rows_a, rows_b, losses, np.full(len(ids), "")
    paired = Paired(figure, *columns, np.unique(ids, return_inverse=True)[1], drawing)
    notes = [remark for remark, holds in remarks.items() if holds]
    return RunPair(a.task, figure, paired.effect(), name), paired.units, notes


# ---------------------------------------------------------------------- reading


def _logs(path: Path) -> tuple[dict[str, _Log], list[str]]:
    """Return the tasks of the logs at a path by name, and why files could not be read."""
    logs, problems = dict[str, _Log](), list[str]()
    for file in [path] if path.is_file() else logs_in(path):
        try:
            read = _lm_eval if file.name.startswith("results_") else _inspect
            found = {log.task: log for log in read(file)}
        except UNREADABLE as error:
            problems.append(f"{file} is left out: {reason(error)}.")
            continue
        if twice := ", ".join(sorted(logs.keys() & found.keys())):
            raise LogError(f"{path} has several logs of {twice}. Give the file of one.")
        logs |= found
    if not logs:
        raise LogError(
            "\n".join([f"{path} has no log of lm-eval or Inspect.", *problems])
        )
    return logs, problems


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers among some values, with Inspect's grades as numbers."""
    graded = {n: _GRADES.get(v) if isinstance(v, str) else v for n, v in values.items()}
    return {
        name: float(n)
        for name, n in graded.items()
        if isinstance(n, bool | int | float)
    }


def _lm_eval(path: Path) -> Iterator[_Log]:
    head = decode(path.read_bytes(), _JSON)
    for task, config in head["configs"].items():
        if config.get("dataset_path") == "hkcanto":
            raise LogError(_OURS)
        samples = path.with_name(
            f"samples_{task}_{path.stem.removeprefix('results_')}.jsonl"
        )
        if not samples.is_file():
            raise LogError(f"no {samples.name} beside it; run with --log_samples")
        items: dict[tuple[str, str], tuple[str, dict[str, float]]] = {}
        for line in samples.read_bytes().splitlines():
            row = decode(line, _JSON)
            text = msgspec.json.encode(
                [row["doc"], row.get("target")], order="sorted"
            ).decode()
            key = str(row["doc_id"]), text  # with a line for each filter
            _, values = items.setdefault(key, (str(row.get("prompt_hash", "")), {}))
            metrics, of_filter = row.get("metrics", ()), row.get("filter", "none")
            values |= _numbers(
                {f"{name},{of_filter}": row.get(name) for name in metrics}
            )
        facts = (
            (config, ("generation_kwargs", "repeats", "description")),
            (
                head.get("config", {}),
                ("gen_kwargs", "limit", "fewshot_seed", "use_cache"),
            ),
            (head, ("chat_template_sha", "system_instruction_sha")),
        )
        settings = {name: of.get(name) for of, names in facts for name in names}
        settings |= {
            name: head.get(name, {}).get(task) for name in ("n-shot", "versions")
        }
        reported = _numbers(head["results"].get(task, {}))
        higher = head.get("higher_is_better", {}).get(task, {})
        rows = [(*key, *item) for key, item in items.items()]
        yield _Log(task, path, rows, reported, settings, higher)


def _inspect(path: Path) -> Iterator[_Log]:
    with path.open("rb") as file:
        head, samples = head_and_samples(path, file, _JSON)
        about = head.eval
        if about.task.startswith("hkcanto/"):
            raise LogError(_OURS)
        if head.status != "success":
            raise LogError(
                f"it ended as {head.status!r}, and the items that finished first are not a random "
                "part; finish it (inspect eval-retry LOG)"
            )
        rows = []
        for sample in (load() for load in samples.values()):
            values = dict[str, Any]()
            for scorer, score in (sample.get("scores") or {}).items():
                value = score.get("value")
                parts = value.items() if isinstance(value, dict) else [("", value)]
                values |= {
                    "/".join(filter(None, (scorer, part))): of for part, of in parts
                }
            asked = sample["input"]
            if isinstance(asked, list):  # messages have random ids
                asked = [
                    [message.get("role"), message.get("content")] for message in asked
                ]
            question = [asked, sample.get("target", ""), sample.get("choices")]
            text = msgspec.json.encode(question, order="sorted").decode()
            rows.append((str(sample["id"]), text, "", _numbers(values)))
    settings = {
        "plan": head.plan.get("steps"),
        "generation": about.model_generate_config,
    }
    settings |= {name: about.config.get(name) for name in ("epochs", "limit")}
    reported = dict[str, Any]()
    for score in (head.results or {}).get("scores") or []:
        metrics = score.get("metrics") or {}
        means = [
            metrics[name].get("value")
            for name in ("accuracy", "mean")
            if name in metrics
        ]
        reported[str(score.get("name"))] = next(iter(means), None)
    yield _Log(about.task, path, rows, _numbers(reported), settings)
