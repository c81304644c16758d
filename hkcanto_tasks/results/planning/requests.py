"""Estimates of requests, tokens, hours and cost, before a run or from the log of a quick look."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from os.path import commonprefix
from typing import NamedTuple

import numpy as np

from hkcanto_metrics.script import is_han

from ...catalogue import chosen_tasks, known_signature
from ...errors import LogError
from ...tasks import LoadedTask, load_task
from ..logs import read_runs
from ..logs.checking import options_of
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
from ..runs import Run
from ..statistics.estimates import mean_estimate
from ..statistics.intervals import Estimate
from ..tokens import TokenCounter, load_tokenizer

_CHARACTERS_A_TOKEN = 4  # in scripts other than Chinese
_TOLERATED_GAP = 2  # items of a subject that may be missing, failed or unfinished
_MEASURED = (
    "as measured, for answering only (blank if a run had a cache or several tasks)"
)
_BY_CHARACTERS = (
    f"characters (one token per Chinese character, or per {_CHARACTERS_A_TOKEN} others)"
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


class _Prompts(NamedTuple):
    """The prompts of a whole task, by item.

    Attributes:
        texts: The prompt's text.
        repeats: The number of requests with this prompt.
        tokens: The tokens of all these requests.
    """

    texts: Mapping[str, str]
    repeats: Mapping[str, int]
    tokens: Mapping[str, int]


def _by_characters(texts: Sequence[str]) -> list[int]:
    counts = []
    for text in texts:
        chinese = sum(map(is_han, text))
        others = math.ceil((len(text) - chinese) / _CHARACTERS_A_TOKEN)
        counts.append(chinese + others)
    return counts


def _prompts(loaded: LoadedTask, count: TokenCounter) -> _Prompts:
    texts = {}
    repeats = {}
    for sample in loaded.samples:
        texts[sample.id] = loaded.prompt(sample).text()
        repeats[sample.id] = 1
        if not loaded.kind.is_generative:
            # By log-likelihood, a request for each letter.
            repeats[sample.id] = len(loaded.kind.lettered(sample)) or 1
    counts = zip(texts, count([*texts.values()]), strict=True)
    tokens = {item: number * repeats[item] for item, number in counts}
    return _Prompts(texts, repeats, tokens)


def _requests(loaded: LoadedTask, count: TokenCounter) -> Requests:
    """Count what a task sends, and the most that can be answered.

    Args:
        loaded: The whole task.
        count: Counts the tokens of texts.
    """
    prompts = _prompts(loaded, count)
    requests = sum(prompts.repeats.values())
    tokens = sum(prompts.tokens.values())
    sent = []
    for item, text in prompts.texts.items():
        sent += [text] * prompts.repeats[item]
    sent.sort()
    # Once sorted, each prompt shares its longest beginning with a neighbour.
    beginnings = [commonprefix(pair) for pair in pairwise(sent)]  # noqa: RUF071
    limit = loaded.kind.max_tokens if loaded.kind.is_generative else 0
    return Requests(
        task=loaded.task.name,
        items=len(loaded.samples),
        requests=requests,
        prompt=tokens,
        answers=Estimate(
            requests * limit,
            None,
            None,
            requests,
        ),
        cacheable=sum(count(beginnings)) / max(1, tokens),
        limit=limit,
    )


def _requests_from_run(
    loaded: LoadedTask,
    count: TokenCounter,
    run: Run,
) -> Requests:
    """Estimate what a task sends and answers from a run of the task on some items.

    All prompts are known. Their tokens by `count` are scaled by the ratio of the log's own count to
    `count`; answers, time and a judge's tokens are extrapolated from the log.

    Args:
        loaded: The whole task.
        count: Counts the tokens of texts if the log has no counts.
        run: The run, read with its texts.
    """
    prompts = _prompts(loaded, count)
    items = len(loaded.samples)
    usage = run.usage
    counted = sum(prompts.tokens[item] for item in run.items.ids)
    logged = _logged_prompt_tokens(run, prompts, count)
    scale = (counted if logged is None else logged) / max(1, counted)
    judge: float | None = usage.judge_tokens
    if judge:
        judge = judge / len(run.items) * items
    seconds = usage.seconds
    if seconds:
        seconds = seconds / usage.answers * items
    return Requests(
        task=loaded.task.name,
        items=items,
        requests=sum(prompts.repeats.values()),
        prompt=scale * sum(prompts.tokens.values()),
        answers=_answer_tokens(loaded, count, run),
        judge=judge,
        seconds=seconds,
        run=run,
    )


def _logged_prompt_tokens(
    run: Run,
    prompts: _Prompts,
    count: TokenCounter,
) -> float | None:
    """Return the tokens of a run's prompts by its log; None if unknown."""
    if run.usage.prompt_tokens is not None or run.harness == "inspect":
        return run.usage.prompt_tokens
    counts = count([text.prompt for text in run.items.texts])
    ids = run.items.ids
    return sum(
        number * prompts.repeats[item] for item, number in zip(ids, counts, strict=True)
    )


def _answer_tokens(
    loaded: LoadedTask,
    count: TokenCounter,
    run: Run,
) -> Estimate:
    """Estimate the tokens of all answers of a task from those of a run."""
    items = run.items
    kind = loaded.kind
    lengths = items.output_tokens
    if not kind.is_generative:
        lengths = np.zeros(len(items))
    elif run.usage.answer_tokens is None or np.isnan(lengths).any():
        lengths = np.array(count([text.response for text in items.texts]), np.float64)
    total = len(loaded.samples)
    longest = max(kind.max_tokens, run.sent.max_tokens or 0, *lengths)
    shares = mean_estimate(lengths / longest, items.clusters)
    answers = shares.times(longest * total)
    if not lengths.any() or len(set(items.ids)) == total:
        # Nothing is left to estimate.
        return replace(answers, low=None, high=None)
    return answers


def _whole_task(name: str, run: Run) -> LoadedTask:
    """Return the whole task at the setup of a run, if the run is representative of it."""
    source = run.sources[0].name
    signature = run.signature
    if not signature.prompt_known:
        raise LogError(
            f"{source} does not have the prompts. Estimate from the log of a run."
        )
    loaded = load_task(name, shots=signature.shots, **options_of(signature))
    present = known_signature(loaded.signature)
    if present.sort_of_data != signature.sort_of_data:
        raise LogError(
            f"{source} is on data {signature.data!r}, but the data here is "
            f"{present.data!r}. Set HKCANTO_DATA or HKCANTO_DATA_DIR to the log's data."
        )
    if gap := _gap(loaded, run, name):
        raise LogError(
            f"{source} has {gap}. Run a quick look: "
            f"`lm_eval --tasks {name} --limit 100 …`, or Inspect's --limit."
        )
    return loaded


def _gap(
    loaded: LoadedTask,
    run: Run,
    name: str,
) -> str:
    """Return why a run is not representative of its whole task; empty if it is."""
    subjects = {sample.id: sample.subject for sample in loaded.samples}
    for item in run.items.ids:
        if item not in subjects:
            return (
                f"items that {name} does not have here, such as {item}: "
                "it is on more subjects, or on other data"
            )
    share = run.counts.total() / len(subjects)
    for subject, size in Counter(subjects.values()).items():
        count = run.counts[subject]
        if abs(count - share * size) > _TOLERATED_GAP + 0.1 * share * size:
            return (
                f"{count:,} of {size:,} items of {subject}, but {100 * share:.1f} % of all items: "
                f"it is not representative of {name}"
            )
    return ""


def _remarks(run: Run) -> Iterator[str]:
    """Yield caveats about a run that an estimate is based on."""
    source = run.sources[0].name
    usage = run.usage
    if run.interruption:
        yield run.interruption
    elif run.unfinished:
        yield (
            f"{source}: {run.unfinished}; "
            "the missing items are not in the log's tokens and time."
        )
    if run.picked:
        yield f"{source}: its items were chosen one by one (--samples, --sample-id)."
    if usage.prompt_tokens is None or usage.answer_tokens is None:
        yield (
            f"{source} has no token counts, so its texts are counted; "
            "reasoning that was removed before logging is not included."
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
        LogError: A task is missing from the logs, or a log does not represent its whole task.
    """
    count = load_tokenizer(tokenizer) if tokenizer else _by_characters
    counter = tokenizer or _BY_CHARACTERS
    if logs:
        title = "Estimates for whole tasks"
        rows = _from_logs(names, logs, count)
        caption = _caption_of_logs(counter, speed)
        columns = _columns(speed, prices, "")
    else:
        title = "Requests and tokens of a run"
        rows = _before_runs(names, count)
        caption = (
            f"Tokens by {counter}, without a chat template. "
            "Hours and cost assume the longest answers and no prefix cache."
        )
        columns = _columns(speed, prices, ", at most")
    blocks: list[Block] = [
        table(
            "estimate",
            title,
            rows,
            columns,
            caption,
        )
    ]
    blocks += _warnings(rows)
    section = Section(
        "Estimate",
        blocks,
        "estimate",
        is_summary=True,
    )
    return report_of([section], "Estimate")


def _before_runs(names: Sequence[str] | None, count: TokenCounter) -> list[Requests]:
    """Return the requests of each task whose data is there."""
    rows = list[Requests]()
    for task in chosen_tasks(names):
        loaded = load_task(task.name, allow_absent=True)
        if loaded.samples:
            rows.append(_requests(loaded, count))
    return rows


def _caption_of_logs(counter: str, speed: float | None) -> str:
    pace = f"at {speed:g} tokens a second" if speed else _MEASURED
    return (
        f"Tokens by the log's count, otherwise by {counter}. Hours are {pace}. "
        "Cost excludes a judge's tokens and any discount for cached prompts."
    )


def _warnings(rows: Sequence[Requests]) -> Iterator[Note]:
    """Yield the remarks on the logged runs, each once."""
    remarks: dict[str, None] = {}
    for row in rows:
        if row.run:
            remarks |= dict.fromkeys(_remarks(row.run))
    for remark in remarks:
        yield Note(remark, "warning")


_CURRENCY = "In the currency of the prices."


def _columns(
    speed: float | None,
    prices: tuple[float, float] | None,
    bound: str,
) -> list[tuple[TableColumn, Callable[[Requests], Value]]]:
    def hours(row: Requests) -> float | None:
        seconds = row.seconds
        if speed:
            seconds = (row.prompt + row.answers.value) / speed
        return None if seconds is None else seconds / 3600

    def cost(row: Requests) -> float | None:
        if prices is None:
            return None
        price_in, price_out = prices
        return (row.prompt * price_in + row.answers.value * price_out) / 1e6

    def source(row: Requests) -> str | None:
        if row.run is None:
            return None
        return f"{row.run.counts.total():,} of {row.items:,}"

    cacheable = "Prompt tokens that a prefix cache can serve."
    return [
        (TableColumn("Task"), lambda row: row.task),
        (TableColumn("Model"), lambda row: row.run.label if row.run else None),
        (TableColumn("Condition"), lambda row: row.run.condition if row.run else None),
        (TableColumn("From"), source),
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
        (TableColumn(f"Hours{bound}", "hundredths"), hours),
        (TableColumn(f"Cost{bound}", "hundredths", _CURRENCY), cost),
    ]


def _from_logs(
    names: Sequence[str] | None,
    logs: Sequence[str],
    count: TokenCounter,
) -> list[Requests]:
    runs = read_runs(logs, texts=True)
    logged = {run.task: run.task for run in runs}
    tasks = {} if names else logged  # name → its whole task
    for name in names or ():
        # A benchmark is estimated on those of its tasks that are in the logs.
        chosen = {task.name: task.whole for task in chosen_tasks([name])}
        if logged.keys().isdisjoint(chosen.values()):
            raise LogError(
                f"no log of {', '.join(chosen.values())} in {', '.join(logs)}, "
                f"only of {', '.join(logged)}."
            )
        tasks |= chosen
    rows = []
    for name, whole_task in tasks.items():
        for run in runs:
            if run.task == whole_task:
                rows.append(_requests_from_run(_whole_task(name, run), count, run))
    return rows
