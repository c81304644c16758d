"""Paired tests on two logs of any task of lm-eval or of Inspect, for `hkcanto compare --any`.

The catalogue knows nothing of such a task, so only the facts in its logs are used: items are
matched by their texts (or by ids, if all are the same), and a figure is tested if it is the mean of
the items' values. There are no ranks, published scores and gates.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isclose, nan
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ...errors import ComparisonError, LogError
from ...figures import Figure
from ...messages import joined, say
from ..logs import argument, logs_in
from ..logs.inspect import head_and_samples
from ..logs.items import UNREADABLE, decode, reason
from ..logs.lm_eval import model_arguments
from ..runs import REQUEST_SETTINGS, Floats, positions_by_name
from ..statistics.matching import (
    RESAMPLES,
    SEED,
    Effect,
    Paired,
    Resampling,
)
from .blocks import (
    Block,
    Note,
    Report,
    Section,
    report_of,
)
from .pairs import RunPair, effects_table, verdict

# Inspect's own values of its grades.
_GRADES = {
    "C": 1.0,
    "I": 0.0,
    "P": 0.5,
    "N": 0.0,
}
_MOST_VERDICTS = 5
_EFFECT_KEYS = ("a", "b", "wins", "losses", "p_value", "p_adjusted", "test")
_JSON = msgspec.json.Decoder(dict[str, Any])
_IS_OUR_TASK = "a log of a task of hkcanto: leave out --any"
_UNKNOWN = (
    "These are not tasks of hkcanto, so only the logs say what was run. Where they do not, prompt, "
    "template and decoding are unknown, and so are whether questions share a passage, which makes "
    "intervals too narrow, and which data it was."
)


class AnyResponse(NamedTuple):
    """A response in a log.

    Attributes:
        item_id: The item's id.
        text: The question with its target, equal for the same item.
        prompt_hash: A hash of the prompt as sent; empty if not logged.
        values: Figure → its value for this response.
    """

    item_id: str
    text: str
    prompt_hash: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class AnyLog:
    """One task in one log.

    Attributes:
        task: The task's name in its harness.
        path: The log; `Path()` if the values are not a log's own.
        responses: The responses in the log's order.
        reported: Figure → the harness's own value.
        settings: The settings of the run, by the log.
        higher: Figure without its filter → whether higher values are better, if the log says so.
    """

    task: str
    path: Path
    responses: Sequence[AnyResponse]
    reported: Mapping[str, float]
    settings: Mapping[str, Any]
    higher: Mapping[str, bool | None] = field(default_factory=dict)

    @property
    def figures(self) -> list[str]:
        """The names of the figures that responses have."""
        values = (response.values for response in self.responses)
        return [*dict.fromkeys(chain(*values))]

    def is_higher_better(self, figure: str) -> bool | None:
        """Return whether higher values of a figure are better; None if the log does not say."""
        return self.higher.get(figure.partition(",")[0])

    def values(self, figure: str) -> list[float]:
        """Return each response's value of a figure, NaN where it has none."""
        return [response.values.get(figure, nan) for response in self.responses]


class _Matched(NamedTuple):
    """The responses of two logs, matched by item.

    Attributes:
        pairs: The two responses to each item that both logs have.
        unmatched: The number of responses to items of only one log.
        changed: The number of the first log's texts that the second does not have, if items are
            matched by id; None if by text.
    """

    pairs: Sequence[tuple[AnyResponse, AnyResponse]]
    unmatched: int
    changed: int | None


class AnyTest(NamedTuple):
    """The test of a figure of a task, its number of independent items, and its limits."""

    task: str
    figure: Figure
    effect: Effect
    items: int
    remarks: Sequence[str]

    @property
    def pair(self) -> RunPair:
        """The two runs, as in a comparison of our own tasks."""
        return RunPair(
            self.task,
            self.figure,
            self.effect,
            self.figure.name,
        )


def compare_any(
    logs: Sequence[str],
    *,
    metric: str | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Report:
    """Compare two logs, or folders of logs, of any tasks of one harness.

    Args:
        logs: Two paths, optionally as NAME=PATH.
        metric: The figure to test, as the harness names it; by default each task's first.
        seed: Seed of the exchanges.
        resamples: Their largest number.

    Raises:
        LogError: A path has no log, or two of one task.
        ComparisonError: Nothing can be compared; the message says why.
    """
    if len(logs) != 2:
        raise ComparisonError(
            "--any compares two logs: hkcanto compare a=LOG b=LOG --any"
        )
    a, b = map(argument, logs)
    names = [a.name or str(a.path), b.name or str(b.path)]
    if names[0] == names[1]:
        names = [f"{names[0]} (1)", f"{names[1]} (2)"]
    logs_a, problems_a = _logs(a.path)
    logs_b, problems_b = _logs(b.path)
    resampling = Resampling(seed, resamples)
    tests, warnings = tests_of(
        logs_a,
        logs_b,
        metric,
        resampling,
    )
    warnings = [*problems_a, *problems_b, *warnings, _UNKNOWN]
    title = joined(" against ", reversed(names))
    return report_of_tests(
        tests,
        names,
        warnings,
        resampling,
        title,
    )


def tests_of(
    logs_a: Mapping[str, AnyLog],
    logs_b: Mapping[str, AnyLog],
    metric: str | None,
    resampling: Resampling,
) -> tuple[list[AnyTest], list[str]]:
    """Return the test of each task, the surest first, and remarks.

    Raises:
        ComparisonError: Nothing can be compared; the message says why.
    """
    common = logs_a.keys() & logs_b.keys()
    tests = list[AnyTest]()
    notes = list[str]()
    alone = logs_a.keys() ^ logs_b.keys()
    refused = [say("{task}: no partner.", task=task) for task in alone]
    for task in common:
        try:
            test = _test(
                logs_a[task],
                logs_b[task],
                metric,
                resampling,
                len(common),
            )
        except ComparisonError as error:
            refused.append(say("{run}: {note}", run=task, note=error.args[0]))
        else:
            tests.append(test)
            for remark in test.remarks:
                notes.append(say("{run}: {note}", run=task, note=remark))
    if not tests:
        raise ComparisonError("\n".join(["nothing to compare.", *sorted(refused)]))
    tests.sort(key=lambda test: (test.effect.p_value, test.task))
    return tests, [*sorted(notes), *sorted(refused)]


def report_of_tests(
    tests: Sequence[AnyTest],
    names: Sequence[str],
    warnings: Sequence[str],
    resampling: Resampling,
    title: str,
    further: Sequence[Section] = (),
) -> Report:
    """Return a report on tests of two sides with names, with further sections behind."""
    pairs = [test.pair for test in tests]
    seed, resamples = resampling
    return report_of(
        [_results(pairs, names, warnings), *further],
        title,
        [
            say(
                "Random numbers: seed {seed}, {resamples:,} exchanges.",
                seed=seed,
                resamples=resamples,
            )
        ],
        {"comparisons": [_record(test) for test in tests]},
        lambda: map(_csv_row, tests),
    )


def _results(
    pairs: Sequence[RunPair],
    names: Sequence[str],
    warnings: Sequence[str],
) -> Section:
    """Return the verdicts, the warnings, and tables of shares and of other numbers."""
    blocks = list[Block]()
    for pair in pairs[:_MOST_VERDICTS]:
        blocks.append(Note(verdict(pair, names), "verdict"))
    for warning in warnings:
        blocks.append(Note(warning, "warning"))
    for unit in ("share", "number"):
        alike = [pair for pair in pairs if pair.figure.unit == unit]
        blocks.append(effects_table(f"any_{unit}", "Task by task", alike, names))
    return Section(
        "Results",
        blocks,
        "results",
        is_summary=True,
    )


def _record(test: AnyTest) -> dict[str, Any]:
    """Return a test as a record of JSON."""
    sign = 1 if test.figure.higher_is_better else -1
    return {
        "task": test.task,
        "figure": test.figure.name,
        "items": test.items,
        **{key: getattr(test.effect, key) for key in _EFFECT_KEYS},
        "gain": test.effect.difference.times(sign),
    }


def _csv_row(test: AnyTest) -> dict[str, Any]:
    """Return a test as a row of CSV, where the gain's interval has its own columns."""
    record = _record(test)
    gain = record["gain"]
    ends = {"gain_low": gain.low, "gain_high": gain.high}
    return record | {"gain": gain.value} | ends


# ---------------------------------------------------------------------- the test


def _test(
    a: AnyLog,
    b: AnyLog,
    metric: str | None,
    resampling: Resampling,
    tests: int,
) -> AnyTest:
    """Test a figure of a task on the items that both logs have."""
    name = _tested_figure(a, b, metric)
    matched = _matched(a, b)
    if not matched.pairs:
        raise ComparisonError(
            say("the logs have no item (question and answer) in common")
        )
    values = np.array(
        [[side.values.get(name, nan) for side in pair] for pair in matched.pairs]
    )
    known = ~np.isnan(values).any(axis=1)
    if not known.any():
        raise ComparisonError(
            say("no item has a value of {figure} in both logs", figure=name)
        )
    ids = np.array([first.item_id for first, _ in matched.pairs])
    figure = _figure(name, a, values[known])
    paired = _paired(
        figure,
        values[known],
        ids[known],
        resampling,
    )
    remarks = [
        *_remarks(
            a,
            b,
            matched,
            name,
            int((~known).sum()),
        )
    ]
    return AnyTest(
        a.task,
        figure,
        paired.effect(tests=tests),
        paired.units,
        remarks,
    )


def _tested_figure(
    a: AnyLog,
    b: AnyLog,
    metric: str | None,
) -> str:
    """Return the name of the figure to test, which must be the mean of its items' values."""
    in_b = b.figures
    names = [name for name in a.figures if name in in_b]
    name = metric or next(iter(names), "")
    listed = ", ".join(names)
    if name not in names:
        raise ComparisonError(
            say(
                "no figure {figure!r} of items in both logs; there are: {figures}",
                figure=name,
                figures=listed or say("none"),
            )
        )
    for log in (a, b):
        reported = log.reported.get(name)
        mean = float(np.nanmean(log.values(name)))
        if reported is None or isclose(
            reported,
            mean,
            rel_tol=1e-6,
            abs_tol=1e-9,
        ):
            continue
        raise ComparisonError(
            say(
                "{figure} is {reported:.6g} in {log}, but the mean of its items is {mean:.6g}: it is not "
                "a mean, so its items cannot be tested. Choose another (--metric): {figures}",
                figure=name,
                reported=reported,
                log=log.path,
                mean=mean,
                figures=listed,
            )
        )
    return name


def _matched(a: AnyLog, b: AnyLog) -> _Matched:
    """Match the responses of two logs by the items' texts, or by ids if only these are the same."""
    in_a = positions_by_name([response.text for response in a.responses])
    in_b = positions_by_name([response.text for response in b.responses])
    changed: int | None = None
    if in_a.keys() != in_b.keys():
        ids_a = positions_by_name([response.item_id for response in a.responses])
        ids_b = positions_by_name([response.item_id for response in b.responses])
        if ids_a.keys() == ids_b.keys():
            changed = len(in_a.keys() - in_b.keys())
            in_a, in_b = ids_a, ids_b
    pairs = [
        (a.responses[position], b.responses[in_b[key]])
        for key, position in in_a.items()
        if key in in_b
    ]
    return _Matched(pairs, len(in_a) + len(in_b) - 2 * len(pairs), changed)


def _remarks(
    a: AnyLog,
    b: AnyLog,
    matched: _Matched,
    name: str,
    missing: int,
) -> Iterator[str]:
    """Say how items were matched, what is left out, and how else the logs differ."""
    pairs = matched.pairs
    if _are_copies(a.path, b.path):
        yield say("both are the same log, or copies of it")
    if matched.changed is not None:
        yield say(
            "matched by id; {number:,} of {total:,} texts differ between the logs",
            number=matched.changed,
            total=len(a.responses),
        )
    if matched.unmatched:
        yield say(
            "{number:,} responses are to items of only one log, and are left out",
            number=matched.unmatched,
        )
    if missing:
        yield say(
            "{number:,} responses are left out, because a log has no value for them",
            number=missing,
        )
    if a.is_higher_better(name) is None:
        yield say(
            "the log does not say whether a higher {figure} is better; taken as better",
            figure=name,
        )
    prompts = sum(first.prompt_hash != second.prompt_hash for first, second in pairs)
    if prompts:
        yield say(
            "{number:,} of {total:,} prompts differ between the logs",
            number=prompts,
            total=len(pairs),
        )
    keys = sorted(a.settings.keys() | b.settings.keys())
    unlike = [key for key in keys if a.settings.get(key) != b.settings.get(key)]
    if unlike:
        yield say("the logs also differ in {settings}", settings=joined(", ", unlike))


def _are_copies(a: Path, b: Path) -> bool:
    """Return whether two logs are files of the same content."""
    return a.is_file() and b.is_file() and a.read_bytes() == b.read_bytes()


def _figure(
    name: str,
    log: AnyLog,
    values: Floats,
) -> Figure:
    """Return a figure of a log: a share if all values are from 0 to 1, or else a number."""
    is_share = ((values >= 0) & (values <= 1)).all()
    return Figure(
        name,
        title=name,
        unit="share" if is_share else "number",
        higher_is_better=log.is_higher_better(name) is not False,
        help="",
    )


def _paired(
    figure: Figure,
    values: Floats,
    ids: Sequence[str],
    resampling: Resampling,
) -> Paired:
    """Return the values of two logs for the same items; the responses to an item are a cluster."""
    ones = np.ones(len(ids))
    return Paired(
        figure,
        positions=np.arange(len(ids)),
        ids=np.array(ids, np.str_),
        a=np.column_stack([values[:, 0], ones]),
        b=np.column_stack([values[:, 1], ones]),
        losses=1 - values if figure.higher_is_better else values,
        subjects=np.full(len(ids), ""),
        clusters=np.unique(ids, return_inverse=True)[1],
        resampling=resampling,
    )


# ---------------------------------------------------------------------- reading


def _logs(path: Path) -> tuple[dict[str, AnyLog], list[str]]:
    """Return the tasks of the logs at a path by name, and why files could not be read."""
    logs = dict[str, AnyLog]()
    problems = list[str]()
    for file in [path] if path.is_file() else logs_in(path):
        is_lm_eval = file.name.startswith("results_")
        try:
            tasks = [*_lm_eval_logs(file)] if is_lm_eval else [_inspect_log(file)]
        except UNREADABLE as error:
            problem = say(
                "{file} is left out: {reason}.", file=file, reason=reason(error)
            )
            problems.append(problem)
            continue
        if twice := ", ".join(sorted({log.task for log in tasks} & logs.keys())):
            raise LogError(f"{path} has several logs of {twice}. Give the file of one.")
        logs |= {log.task: log for log in tasks}
    if not logs:
        lines = [f"{path} has no log of lm-eval or Inspect.", *problems]
        raise LogError("\n".join(lines))
    return logs, problems


def numbers_of(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers among some values, with Inspect's grades as numbers."""
    numbers = dict[str, float]()
    for name, value in values.items():
        number = _GRADES.get(value) if isinstance(value, str) else value
        if isinstance(number, bool | int | float):
            numbers[name] = float(number)
    return numbers


def _text(*parts: Any) -> str:
    """Return the parts of an item as one text, equal for the same item."""
    return msgspec.json.encode(parts, order="sorted").decode()


def lm_eval_tasks(path: Path) -> Iterator[tuple[dict[str, Any], str, Path]]:
    """Yield the content of a results file with each of its tasks and its file of samples."""
    head = decode(path.read_bytes(), _JSON)
    for task, config in head["configs"].items():
        if config.get("dataset_path") == "hkcanto":
            raise LogError(_IS_OUR_TASK)
        stamp = path.stem.removeprefix("results_")
        samples = path.with_name(f"samples_{task}_{stamp}.jsonl")
        if not samples.is_file():
            raise LogError(f"no {samples.name} beside it; run with --log_samples")
        yield head, task, samples


def rows_of(samples: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of samples, one for each filter of a response."""
    for line in samples.read_bytes().splitlines():
        yield decode(line, _JSON)


def _lm_eval_logs(path: Path) -> Iterator[AnyLog]:
    for head, task, samples in lm_eval_tasks(path):
        yield AnyLog(
            task,
            path,
            _lm_eval_responses(samples),
            numbers_of(head["results"].get(task, {})),
            _lm_eval_settings(head, task),
            head.get("higher_is_better", {}).get(task, {}),
        )


def _lm_eval_responses(path: Path) -> list[AnyResponse]:
    """Return the responses in a file of samples, which has a line for each filter of a response."""
    prompts = dict[tuple[str, str], str]()
    values = defaultdict[tuple[str, str], dict[str, float]](dict)
    for row in rows_of(path):
        item = str(row["doc_id"]), _text(row["doc"], row.get("target"))
        prompts.setdefault(item, str(row.get("prompt_hash", "")))
        suffix = row.get("filter", "none")
        metrics = row.get("metrics", ())
        values[item] |= numbers_of(
            {f"{name},{suffix}": row.get(name) for name in metrics}
        )
    return [
        AnyResponse(*item, prompt_hash, values[item])
        for item, prompt_hash in prompts.items()
    ]


def _lm_eval_settings(head: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Return the settings of a task, of the run, and of the model's chat."""
    sources = (
        (head["configs"][task], ("generation_kwargs", "repeats", "description")),
        (head.get("config", {}), ("gen_kwargs", "limit", "fewshot_seed", "use_cache")),
        (head, ("chat_template_sha", "system_instruction_sha")),
    )
    settings = dict[str, Any]()
    for source, names in sources:
        for name in names:
            settings[name] = source.get(name)
    for name in ("n-shot", "versions"):
        settings[name] = head.get(name, {}).get(task)
    arguments = model_arguments(head.get("config", {}).get("model_args"))
    return settings | _request_settings(arguments)


def _request_settings(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a model that change what it is sent, such as `enable_thinking`."""
    return {name: arguments[name] for name in REQUEST_SETTINGS if name in arguments}


def inspect_samples(path: Path) -> tuple[Any, list[dict[str, Any]]]:
    """Return the head and the samples of a log of another task that ended well."""
    with path.open("rb") as file:
        head, samples = head_and_samples(path, file, _JSON)
        if head.eval.task.startswith("hkcanto/"):
            raise LogError(_IS_OUR_TASK)
        if head.status != "success":
            raise LogError(
                f"it ended as {head.status!r}, and the items that finished first are not a random "
                "part; finish it (inspect eval-retry LOG)"
            )
        return head, [load() for load in samples.values()]


def _inspect_log(path: Path) -> AnyLog:
    head, samples = inspect_samples(path)
    about = head.eval
    responses = [_inspect_response(sample) for sample in samples]
    settings = {
        "plan": head.plan.get("steps"),
        "generation": about.model_generate_config,
        "epochs": about.config.get("epochs"),
        "limit": about.config.get("limit"),
    }
    reported = dict[str, Any]()
    for score in (head.results or {}).get("scores") or []:
        metrics = score.get("metrics") or {}
        mean = "accuracy" if "accuracy" in metrics else "mean"
        reported[str(score.get("name"))] = metrics.get(mean, {}).get("value")
    return AnyLog(
        about.task,
        path,
        responses,
        numbers_of(reported),
        settings | _request_settings(about.model_args),
    )


def inspect_values(sample: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers that scorers gave a sample, by scorer and part."""
    values = dict[str, Any]()
    for scorer, score in (sample.get("scores") or {}).items():
        value = score.get("value")
        if not isinstance(value, dict):
            values[scorer] = value
            continue
        for part, number in value.items():
            values[f"{scorer}/{part}" if part else scorer] = number
    return numbers_of(values)


def _inspect_response(sample: Mapping[str, Any]) -> AnyResponse:
    question = sample["input"]
    if isinstance(question, list):
        # Each message has a random id, which is left out.
        question = [[part.get("role"), part.get("content")] for part in question]
    text = _text(question, sample.get("target", ""), sample.get("choices"))
    return AnyResponse(
        str(sample["id"]),
        text,
        "",
        inspect_values(sample),
    )
