"""Estimates of requests, tokens, hours and cost, before a run or from the log of a quick look."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from os.path import commonprefix

import numpy as np

from hkcanto_metrics.script import is_han

from ...catalogue import chosen_tasks, known_signature
from ...errors import LogError
from ...tasks import LoadedTask, load_task
from ..logs import read_runs
from ..reports.blocks import (
    Block,
    Note,
    Report,
    Section,
    TableColumn,
    Value,
    report_of,
    table,
)
from ..rescoring.runs import options_of
from ..runs import Run
from ..statistics.estimates import mean_estimate
from ..statistics.intervals import Estimate
from ..tokens import TokenCounter, load_tokenizer

_OTHERS = 4  # characters of other scripts to a token
_UNEVEN = 2  # items that may be missing, failed or unfinished
_MEASURED = (
    "as measured, for answering only (blank if a run had a cache or several tasks)"
)
_BY_CHARACTERS = (
    f"characters (one token per Chinese character, or per {_OTHERS} others)"
)


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


def _by_characters(texts: Sequence[str]) -> list[int]:
    sizes = ((sum(map(is_han, text)), len(text)) for text in texts)
    return [chinese + math.ceil((size - chinese) / _OTHERS) for chinese, size in sizes]


def _requests(
    loaded: LoadedTask, count: TokenCounter, run: Run | None = None
) -> Requests:
    """Count what a task sends, or estimate it from a run of the task on some items.

    All prompts are known. If there is a run, their tokens by `count` are scaled by the ratio of the
    log's own count to `count`; answers, time and a judge's tokens are extrapolated from the log.

    Args:
        loaded: The whole task.
        count: Counts the tokens of texts if the log has no counts.
        run: The run, read with its texts.
    """
    kind, samples = loaded.kind, loaded.samples
    letters = (
        {}
        if kind.is_generative
        else {each.id: len(kind.lettered(each)) for each in samples}
    )
    sent = {each.id: letters.get(each.id) or 1 for each in samples}
    prompts = [loaded.prompt(each).text() for each in samples]
    tokens = {
        item: n * sent[item] for item, n in zip(sent, count(prompts), strict=True)
    }
    whole, requests, prompt = len(samples), sum(sent.values()), sum(tokens.values())
    if not run:
        times = zip(prompts, sent.values(), strict=True)
        # Once sorted, each prompt shares its longest beginning with a neighbour.
        in_order = sorted(text for text, number in times for _ in range(number))
        beginnings = [commonprefix(pair) for pair in pairwise(in_order)]  # noqa: RUF071
        limit = kind.max_tokens if kind.is_generative else 0
        answers = Estimate(requests * limit, None, None, requests)
        cacheable = sum(count(beginnings)) / max(1, prompt)
        return Requests(
            loaded.task.name, whole, requests, prompt, answers, cacheable, limit
        )
    items, usage = run.items, run.usage
    of_log: float | None = usage.prompt_tokens
    of_run = sum(tokens[item] for item in items.ids)  # without the server's template
    if of_log is None and run.harness != "inspect":
        logged = zip(
            items.ids, count([each.prompt for each in items.texts]), strict=True
        )
        of_log = sum(n * sent[item] for item, n in logged)
    scale = (of_run if of_log is None else of_log) / max(1, of_run)
    lengths = items.output_tokens
    if not kind.is_generative:
        lengths = np.zeros(len(items))
    elif usage.answer_tokens is None or np.isnan(lengths).any():
        lengths = np.array(count([each.response for each in items.texts]), np.float64)
    most = max(kind.max_tokens, run.sent.max_tokens or 0, *lengths)
    answers = mean_estimate(lengths / most, items.clusters).times(most * whole)
    if not lengths.any() or len(set(items.ids)) == whole:
        answers = replace(answers, low=None, high=None)  # nothing is left to estimate
    return Requests(
        task=loaded.task.name,
        items=whole,
        requests=requests,
        prompt=scale * prompt,
        answers=answers,
        judge=usage.judge_tokens and usage.judge_tokens / len(items) * whole,
        seconds=usage.seconds and usage.seconds / usage.answers * whole,
        run=run,
    )


def _loaded(name: str, run: Run) -> LoadedTask:
    """Return the whole task at the setup of a run, if the run is representative of it."""
    where, signature = run.sources[0].name, run.signature
    if not signature.prompt_known:
        raise LogError(
            f"{where} does not have the prompts. Estimate from the log of a run."
        )
    loaded = load_task(name, shots=signature.shots, **options_of(signature))
    here = known_signature(loaded.signature)
    if here.sort_of_data != signature.sort_of_data:
        what = (
            f"{where} is on data {signature.data!r}, but the data here is {here.data!r}"
        )
        raise LogError(
            f"{what}. Set HKCANTO_DATA or HKCANTO_DATA_DIR to the log's data."
        )
    subjects = {each.id: each.subject for each in loaded.samples}
    again = f"Run a quick look: `lm_eval --tasks {name} --limit 100 …`, or Inspect's --limit."
    if odd := [item for item in run.items.ids if item not in subjects]:
        what = f"items that {name} does not have here, such as {odd[0]}"
        raise LogError(
            f"{where} has {what}: it is on more subjects, or on other data. {again}"
        )
    share = run.counts.total() / len(subjects)
    for subject, size in Counter(subjects.values()).items():
        seen = run.counts[subject]
        if abs(seen - share * size) > _UNEVEN + 0.1 * share * size:
            what = (
                f"{seen:,} of {size:,} items of {subject}, but {share:.1%} of all items"
            )
            raise LogError(
                f"{where} has {what}: it is not representative of {name}. {again}"
            )
    return loaded


def _remarks(run: Run) -> Iterator[str]:
    """Yield caveats about a run that an estimate is based on."""
    where, usage = run.sources[0].name, run.usage
    if run.unfinished:
        missing = "the missing items are not in the log's tokens and time"
        yield run.interruption or f"{where}: {run.unfinished}; {missing}."
    if run.picked:
        yield f"{where}: its items were chosen one by one (--samples, --sample-id)."
    if usage.prompt_tokens is None or usage.answer_tokens is None:
        what = "reasoning that was removed before logging is not included"
        yield f"{where} has no token counts, so its texts are counted; {what}."


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
        LogError: A task is missing from the logs, or a log does not represent its whole task.
    """
    count = load_tokenizer(tokenizer) if tokenizer else _by_characters
    how = tokenizer or _BY_CHARACTERS
    if logs:
        rows = _from_logs(names, logs, count)
        pace = f"at {speed:g} tokens a second" if speed else _MEASURED
        counted = f"Tokens by the log's count, otherwise by {how}. Hours are {pace}."
        caption = f"{counted} Cost excludes a judge's tokens and any discount for cached prompts."
    else:
        tasks = (
            load_task(task.name, allow_absent=True) for task in chosen_tasks(names)
        )
        rows = [_requests(each, count) for each in tasks if each.samples]
        counted = f"Tokens by {how}, without a chat template."
        caption = (
            f"{counted} Hours and cost assume the longest answers and no prefix cache."
        )

    def hours(row: Requests) -> float | None:
        seconds = (row.prompt + row.answers.value) / speed if speed else row.seconds
        return None if seconds is None else seconds / 3600

    def cost(row: Requests) -> float | None:
        return prices and (row.prompt * prices[0] + row.answers.value * prices[1]) / 1e6

    at_most = "" if logs else ", at most"
    cacheable = "Prompt tokens that a prefix cache can serve."
    columns: list[tuple[TableColumn, Callable[[Requests], Value]]] = [
        (TableColumn("Task"), lambda row: row.task),
        (TableColumn("Model"), lambda row: row.run.label if row.run else None),
        (TableColumn("Condition"), lambda row: row.run.condition if row.run else None),
        (
            TableColumn("From"),
            lambda r: f"{r.run.counts.total():,} of {r.items:,}" if r.run else None,
        ),
        (TableColumn("Requests", "count"), lambda row: row.requests),
        (TableColumn("Prompt tokens", "count"), lambda row: row.prompt),
        (TableColumn("Cacheable", "percent", cacheable), lambda row: row.cacheable),
        (
            TableColumn("Answer limit", "count", "Tokens of one answer."),
            lambda row: row.limit,
        ),
        (
            TableColumn("Answer tokens", "count"),
            lambda row: row.answers if row.run else None,
        ),
        (TableColumn("Judge tokens", "count"), lambda row: row.judge),
        (TableColumn(f"Hours{at_most}", "number"), hours),
        (TableColumn(f"Cost{at_most}", "number"), cost),
    ]
    title = "Estimates for whole tasks" if logs else "Requests and tokens of a run"
    notes = dict.fromkeys(
        remark for row in rows if row.run for remark in _remarks(row.run)
    )
    blocks: list[Block] = [table("estimate", title, rows, columns, caption)]
    blocks += [Note(each, "warning") for each in notes]
    return report_of(
        [Section("Estimate", blocks, "estimate", is_summary=True)], "Estimate"
    )


def _from_logs(
    names: Sequence[str] | None, logs: Sequence[str], count: TokenCounter
) -> list[Requests]:
    runs = read_runs(logs, texts=True)
    logged = {run.task: run.task for run in runs}
    tasks = {} if names else logged  # name → its whole task
    for name in names or ():
        # A benchmark is estimated on those of its tasks that are in the logs.
        chosen = {task.name: task.whole for task in chosen_tasks([name])}
        if not logged.keys() & {*chosen.values()}:
            where = f"in {', '.join(logs)}, only of {', '.join(logged)}"
            raise LogError(f"no log of {', '.join(chosen.values())} {where}.")
        tasks |= chosen
    pairs = (
        (name, run)
        for name, whole in tasks.items()
        for run in runs
        if run.task == whole
    )
    return [_requests(_loaded(name, run), count, run) for name, run in pairs]
