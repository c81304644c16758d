"""Estimates of requests, tokens, hours and cost, before a run or from the log of a quick look."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from os.path import commonprefix
from typing import Any

import numpy as np

from hkcanto_metrics.script import is_han

from ...catalogue import chosen_tasks, find_task, known_signature
from ...errors import LogError
from ...samples import Sample
from ...tasks import LoadedTask, load_task, task_as_run
from ..logs import read_runs
from ..reports.blocks import Block, Column, Note, Report, Section, Value, report_of, table
from ..rescoring.rescore import options_of
from ..runs import Run
from ..statistics.estimates import mean_estimate
from ..statistics.intervals import Estimate
from ..tokens import Count, load_tokenizer
from .power import applied

_OTHERS = 4  # characters of other scripts to a token
_UNEVEN = 2  # items that may be missing, failed or unfinished
BY_CHARACTERS = f"characters (one token per Chinese character, or per {_OTHERS} others)"
"""How tokens are counted without a tokenizer."""


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of a whole task, without a chat template or as in a log.

    Attributes:
        task: The task's name in lm-eval.
        items: The number of items.
        requests: The number of requests: one per item, or one per letter by log-likelihood.
        prompt: Tokens of all prompts.
        answers: Tokens of all answers: the most there can be, or an estimate with the 95 % interval
            of a sample of items.
        cacheable: The share of prompt tokens that repeat the beginning of another prompt; an
            unlimited prefix cache can serve them. None if unknown, like the next.
        limit: The longest answer, in tokens.
        judge: Tokens of a judge, if the log has any.
        seconds: The time for all items; None if no log has a time for this task alone.
        run: The run that it is estimated from.
        remarks: Caveats for the reader.
    """

    task: str
    items: int
    requests: int
    prompt: float
    answers: Estimate
    cacheable: float | None = None
    limit: int | None = None
    judge: float | None = None
    seconds: float | None = None
    run: Run | None = None
    remarks: Sequence[str] = ()

    @property
    def share(self) -> str | None:
        """The part of the items that the run has, such as `8 of 43`; None without a run."""
        return f"{self.run.counts.total():,} of {self.items:,}" if self.run else None

    def hours(self, speed: float | None) -> float | None:
        """Hours at a speed in tokens a second, of prompts and answers, or else as measured."""
        seconds = (self.prompt + self.answers.value) / speed if speed else self.seconds
        return None if seconds is None else seconds / 3600

    def cost(self, of_prompts: float, of_answers: float) -> float:
        """The cost at prices per million tokens."""
        return (self.prompt * of_prompts + self.answers.value * of_answers) / 1e6


def by_characters(texts: Sequence[str]) -> list[int]:
    """Count one token per Chinese character, and one per four others.

    Examples:
        >>> by_characters(["你好", "four more", ""])
        [2, 3, 0]
    """
    return [
        (chinese := sum(map(is_han, text))) + -(-(len(text) - chinese) // _OTHERS) for text in texts
    ]


def times(loaded: LoadedTask, sample: Sample) -> int:
    """Return how often a prompt is sent: once, or by log-likelihood once per letter."""
    letters = sum(text is not None for text in sample.choices)
    return 1 if loaded.kind.is_generative else letters


def requests_of(loaded: LoadedTask, count: Count = by_characters) -> Requests:
    """Count what a task sends.

    Examples:
        >>> found = requests_of(load_task("hkcanto_orthography"))
        >>> found.requests == len(load_task("hkcanto_orthography").samples), found.limit
        (True, 12)
    """
    prompts = [
        loaded.prompt(each).text() for each in loaded.samples for _ in range(times(loaded, each))
    ]
    # Once sorted, each prompt shares its longest beginning with a neighbour.
    ordered = sorted(prompts)
    beginnings = [commonprefix(pair) for pair in pairwise(ordered)]  # noqa: RUF071
    limit = loaded.kind.max_tokens if loaded.kind.is_generative else 0
    prompt = sum(count(prompts))
    return Requests(
        task=loaded.task.name,
        items=len(loaded.samples),
        requests=len(prompts),
        prompt=prompt,
        answers=Estimate(len(prompts) * limit, None, None, len(prompts)),
        cacheable=sum(count(beginnings)) / max(1, prompt),
        limit=limit,
    )


def measured(name: str, run: Run, count: Count = by_characters) -> Requests:
    """Estimate a whole task at the setup of a run.

    All prompts are known: their tokens by `count` are scaled by the ratio of the log's own count to
    `count`. Answers, time and a judge's tokens are extrapolated from the log.

    Args:
        name: The task.
        run: A run of the task on some items, read with its texts.
        count: Counts the tokens of texts if the log has no counts.

    Raises:
        LogError: The run has items that the task does not, or is not representative of the task.
    """
    loaded = _loaded(name, run)
    samples, items, usage = loaded.samples, run.items, run.usage
    sent = {each.id: times(loaded, each) for each in samples}
    prompts = count([loaded.prompt(each).text() for each in samples])
    tokens = {
        each.id: number * sent[each.id] for each, number in zip(samples, prompts, strict=True)
    }
    of_log: float | None = usage.prompt_tokens
    if of_log is None:
        counted = count([each.prompt for each in items.texts])
        of_log = sum(n * sent[item] for item, n in zip(items.ids, counted, strict=True))
    ratio = of_log / max(1, sum(tokens[item] for item in items.ids))
    lengths, was_counted = items.output_tokens, usage.prompt_tokens is None
    if not loaded.kind.is_generative:
        lengths = np.zeros(len(items))
    elif usage.answer_tokens is None or np.isnan(lengths).any():
        was_counted = True
        lengths = np.array(count([each.response for each in items.texts]), np.float64)
    limit = max(loaded.kind.max_tokens, run.sent.max_tokens or 0, *lengths)
    answers = applied(
        lambda share: share * limit * len(samples), mean_estimate(lengths / limit, items.clusters)
    )
    if not lengths.any() or len(set(items.ids)) == len(samples):
        answers = replace(answers, low=None, high=None)  # nothing is left to estimate
    seconds = None if usage.shared or usage.reused else usage.seconds
    return Requests(
        task=name,
        items=len(samples),
        requests=sum(sent.values()),
        prompt=ratio * sum(tokens.values()),
        answers=answers,
        judge=usage.judge_tokens and usage.judge_tokens / len(items) * len(samples),
        seconds=seconds and seconds / usage.answers * len(samples),
        run=run,
        remarks=list(_remarks(name, run, counted=was_counted)),
    )


def _loaded(name: str, run: Run) -> LoadedTask:
    """Return the whole task at the setup of a run, if the run is representative of it."""
    where, signature = run.sources[0].name, run.signature
    if not signature.prompt_known:
        raise LogError(f"{where} does not have the prompts. Estimate from the log of a run.")
    options: dict[str, Any] = {**options_of(signature)}
    loaded = load_task(name, shots=signature.shots, **options)
    here = known_signature(loaded.signature)
    if here.sort_of_data != signature.sort_of_data:
        raise LogError(
            f"{where} is on data {signature.data!r}, but the data here is {here.data!r}. Estimate "
            "on the data of the log: HKCANTO_DATA, HKCANTO_DATA_DIR (hkcanto doctor)."
        )
    subjects = {each.id: each.subject for each in loaded.samples}
    again = f"Run a quick look: `lm_eval --tasks {name} --limit 100 …`, or Inspect's --limit."
    if odd := [item for item in dict.fromkeys(run.items.ids) if item not in subjects]:
        raise LogError(
            f"{where} has items that {name} does not have here, such as {odd[0]}: it is on more "
            f"subjects, or on other data. {again}"
        )
    seen = Counter(subjects[item] for item in set(run.items.ids))
    share = seen.total() / len(subjects)
    for subject, size in Counter(subjects.values()).items():
        if abs(seen[subject] - share * size) > _UNEVEN + 0.1 * share * size:
            raise LogError(
                f"{where} has {seen[subject]:,} of {size:,} items of {subject}, but {share:.1%} of "
                f"all items: it is not representative of {name}. {again}"
            )
    return loaded


def _remarks(name: str, run: Run, *, counted: bool) -> Iterator[str]:
    """Yield caveats about a run that an estimate is based on."""
    where, usage = run.sources[0].name, run.usage
    plain = task_as_run(name).signature(run.data)
    differences = run.signature.differs(plain).items()
    unlike = [
        f"{part} {of_run or 'default'} ({default or 'default'})"
        for part, (of_run, default) in differences
        if part != "rationale"
    ]
    if unlike:
        yield (
            f"{where} does not have the default setup of {name}: {', '.join(unlike)}. The estimate "
            "is for the log's setup."
        )
    if run.interruption:
        yield run.interruption
    elif run.unfinished:
        yield f"{where}: {run.unfinished}; the missing items are not in the log's tokens and time."
    if run.picked:
        yield f"{where}: its items were chosen one by one (--samples, --sample-id)."
    if (epochs := len(run.items) / run.counts.total()) > 1:
        yield f"{where} has {epochs:.3g} answers to each item. The estimate is for one to each."
    if counted:
        yield (
            f"{where} has no token counts, so its texts are counted. Reasoning that a server or "
            "lm-eval removed before logging is not included."
        )
    if usage.seconds is None:
        yield f"{where} does not say how long it took."
    elif usage.reused:
        yield (
            f"{where}: answers are from a cache, or may be (--use_cache, --cache), so its time is "
            "not used. Run the quick look without a cache."
        )
    elif usage.shared:
        yield (
            f"{where} took {usage.seconds:,.0f} s {usage.remarks}: the time for {name} alone is "
            "unknown. Run the quick look on it alone."
        )
    elif usage.with_loading:
        yield (
            f"{where}: its {usage.seconds:,.0f} s include loading the model, which is scaled up "
            "like the rest although it happens once: the hours are an upper limit."
        )


def report(
    names: Sequence[str] | None,
    logs: Sequence[str] = (),
    tokenizer: str | None = None,
    speed: float | None = None,
    prices: tuple[float, float] | None = None,
) -> Report:
    """Estimate tasks or benchmarks, at their default settings or from logs, as a report.

    Args:
        names: Tasks or benchmarks; without names, the tasks of the logs.
        logs: Logs or folders of logs of quick looks at the tasks; none for an estimate before a
            run.
        tokenizer: As in `load_tokenizer`, for logs without token counts; by default characters.
        speed: Tokens a second, of prompts and answers; by default as measured.
        prices: The prices of a million prompt tokens and of a million answer tokens.

    Raises:
        LogError: A task is in no log, or a log is not representative of a whole task.
    """
    count = load_tokenizer(tokenizer) if tokenizer else by_characters
    how = tokenizer or BY_CHARACTERS
    if logs:
        rows, notes = _from_logs(names, logs, count)
        pace = f"at {speed:g} tokens a second. " if speed else "as measured, for answering only. "
        caption = (
            f"Tokens by the log's count, else by {how}. Hours are {pace}"
            "The cost excludes a judge's tokens and any discount for cached prompts."
        )
    else:
        tasks = (load_task(task.name, allow_absent=True) for task in chosen_tasks(names))
        rows, notes = [requests_of(each, count) for each in tasks if each.samples], []
        caption = (
            f"Tokens by {how}, without a chat template. Hours and cost assume answers of the "
            "maximum length and no prefix cache."
        )
    title = "Estimates for whole tasks" if logs else "Requests and tokens of a run"
    at_most = "" if logs else ", at most"
    cacheable = "Prompt tokens that a prefix cache can serve."
    columns: list[tuple[Column, Callable[[Requests], Value]]] = [
        (Column("Task"), lambda row: row.task),
        (Column("Model"), lambda row: row.run.label if row.run else None),
        (Column("Condition"), lambda row: row.run.condition if row.run else None),
        (Column("From"), lambda row: row.share),
        (Column("Requests", "count"), lambda row: row.requests),
        (Column("Prompt tokens", "count"), lambda row: row.prompt),
        (Column("Cacheable", "percent", cacheable), lambda row: row.cacheable),
        (Column("Answer limit", "count", "Tokens of one answer."), lambda row: row.limit),
        (Column("Answer tokens", "count"), lambda row: row.answers if row.run else None),
        (Column("Judge tokens", "count"), lambda row: row.judge),
        (Column(f"Hours{at_most}", "number"), lambda row: row.hours(speed)),
        (Column(f"Cost{at_most}", "number"), lambda row: prices and row.cost(*prices)),
    ]
    made = table("estimate", title, rows, columns, caption)
    blocks: list[Block] = [made, *(Note(each, "warning") for each in dict.fromkeys(notes))]
    return report_of([Section("Estimate", blocks, "estimate", is_summary=True)], "Estimate")


def _from_logs(
    names: Sequence[str] | None, logs: Sequence[str], count: Count
) -> tuple[list[Requests], list[str]]:
    """Return the estimates from logs, and notes for the reader."""
    runs = read_runs(logs, texts=True)
    logged = {run.task: [each for each in runs if each.task == run.task] for run in runs}
    tasks, notes = {} if names else {task: find_task(task) for task in logged}, list[str]()
    for name in names or ():
        chosen = chosen_tasks([name])  # a benchmark is estimated on those of its tasks in the logs
        tasks |= {task.name: task for task in chosen if task.whole in logged}
        absent = [task.whole for task in chosen if task.whole not in logged]
        if len(absent) == len(chosen):
            there = ", ".join(logged)
            raise LogError(f"no log of {', '.join(absent)} in {', '.join(logs)}, only of {there}.")
        if absent:
            notes.append(f"Not in the estimate, because not in the logs: {', '.join(absent)}.")
    every = ((name, run) for name, task in tasks.items() for run in logged[task.whole])
    rows = [measured(name, run, count) for name, run in every]
    return rows, notes + [remark for row in rows for remark in row.remarks]
