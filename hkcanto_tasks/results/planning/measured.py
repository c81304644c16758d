"""Estimates for a whole task from the log of a quick look: tokens, hours and cost."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...catalogue import find_task
from ...choosing import chosen_tasks
from ...errors import LogError
from ...loading import LoadedTask, load_task
from ...setup import setup
from ...signatures import parse_signature
from ..logs import read_runs
from ..reports.blocks import Block, Column, Note, Report, Section, table
from ..reports.report import report_of
from ..rescoring.rescore import options_of
from ..runs import Run
from ..statistics.estimates import mean_estimate
from ..statistics.intervals import Estimate
from ..tokens import Count, load_tokenizer
from .requests import BY_CHARACTERS, by_characters, times


@dataclass(frozen=True, slots=True)
class Measured:
    """The estimate for a whole task at the setup of a run on some of its items.

    Attributes:
        run: The run.
        requests: The number of requests of the whole task.
        items: The number of items of the whole task.
        prompt: Tokens of all prompts.
        answers: Tokens of all answers, with the 95 % interval of a sample of items.
        judge: Tokens of a judge, if the log has any.
        seconds: The time for all items; None if the log has no time for this task alone.
        remarks: Caveats for the reader.
    """

    run: Run
    requests: int
    items: int
    prompt: float
    answers: Estimate
    judge: float | None
    seconds: float | None
    remarks: Sequence[str]

    def hours(self, speed: float | None) -> float | None:
        """Hours as measured, or at a speed in tokens a second."""
        seconds = (self.prompt + self.answers.value) / speed if speed else self.seconds
        return None if seconds is None else seconds / 3600

    def cost(self, of_prompts: float, of_answers: float) -> float:
        """The cost at prices per million tokens."""
        return (self.prompt * of_prompts + self.answers.value * of_answers) / 1e6


def measured(name: str, run: Run, count: Count = by_characters) -> Measured:
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
    where = run.sources[0].name
    if not run.signature.prompt_known:
        raise LogError(f"{where} does not have the prompts. Estimate from the log of a run.")
    signature = run.signature
    options: dict[str, Any] = {**options_of(signature)}
    loaded = load_task(name, shots=signature.shots, **options)
    own = parse_signature(loaded.signature)
    if own.sort_of_data != signature.sort_of_data:
        raise LogError(
            f"{where} is on data {signature.data!r}, but the data here is {own.data!r}. Estimate "
            "on the data of the log: HKCANTO_DATA, HKCANTO_DATA_DIR (hkcanto doctor)."
        )
    _refuse_unfair(name, run, loaded)
    prompts = count([loaded.prompt(each).text() for each in loaded.samples])
    sent = [times(loaded, each) for each in loaded.samples]
    by_id = {
        each.id: (tokens * n, n)
        for each, tokens, n in zip(loaded.samples, prompts, sent, strict=True)
    }
    items, usage, total = run.items, run.usage, len(loaded.samples)
    prompt_tokens: float | None = usage.prompt_tokens
    if prompt_tokens is None:
        counted = count([each.prompt for each in items.texts])
        found = zip(items.ids, counted, strict=True)
        prompt_tokens = sum(tokens * by_id[own_id][1] for own_id, tokens in found)
    ratio = prompt_tokens / max(1, sum(by_id[each][0] for each in items.ids))
    lengths, was_counted = items.output_tokens, usage.prompt_tokens is None
    if not loaded.setup.is_generative:
        lengths = np.zeros(len(items))
    elif usage.answer_tokens is None or np.isnan(lengths).any():
        was_counted = True
        lengths = np.array(count([each.response for each in items.texts]), np.float64)
    limit = max(loaded.setup.max_tokens, run.generation.get("max_tokens", 0), *lengths)
    mean = mean_estimate(lengths / limit, items.clusters)
    known = not lengths.any() or len(set(items.ids)) == total
    low, high = (None if known or e is None else e * limit * total for e in (mean.low, mean.high))
    seconds = None if usage.shared or usage.reused else usage.seconds
    return Measured(
        run=run,
        requests=sum(sent),
        items=total,
        prompt=ratio * sum(tokens for tokens, _ in by_id.values()),
        answers=replace(mean, value=mean.value * limit * total, low=low, high=high),
        judge=usage.judge_tokens and usage.judge_tokens / len(items) * total,
        seconds=seconds and seconds / usage.answers * total,
        remarks=list(_remarks(name, run, counted=was_counted)),
    )


def _refuse_unfair(name: str, run: Run, loaded: LoadedTask) -> None:
    """Refuse a run with items that the task lacks, or with subjects out of proportion."""
    where, there = run.sources[0].name, {each.id: each.subject for each in loaded.samples}
    again = f"Run a quick look: `lm_eval --tasks {name} --limit 100 …`, or Inspect's --limit."
    if odd := [each for each in dict.fromkeys(run.items.ids) if each not in there]:
        raise LogError(
            f"{where} has items that {name} does not have here, such as {odd[0]}: it is on more "
            f"subjects, or on other data. {again}"
        )
    seen = Counter(there[each] for each in set(run.items.ids))
    share = seen.total() / len(there)
    for subject, size in Counter(there.values()).items():
        if abs(seen[subject] - share * size) > _UNEVEN + 0.1 * share * size:
            raise LogError(
                f"{where} has {seen[subject]:,} of {size:,} items of {subject}, but {share:.1%} of "
                f"all items: it is not representative of {name}. {again}"
            )


_UNEVEN = 2  # items that may be missing, failed or unfinished


def _remarks(name: str, run: Run, *, counted: bool) -> Iterator[str]:
    """Yield caveats about a run that an estimate is based on."""
    where, usage = run.sources[0].name, run.usage
    plain = setup(name).signature(run.data)
    own = run.signature.differs(plain).items()
    unlike = [f"{n} {ours or 'default'} ({theirs or 'default'})" for n, (ours, theirs) in own]
    if unlike := [each for each in unlike if not each.startswith("rationale ")]:
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
    if (epochs := len(run.items) / len(set(run.items.ids))) > 1:
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
    logs: Sequence[str],
    tokenizer: str | None = None,
    speed: float | None = None,
    prices: tuple[float, float] | None = None,
) -> Report:
    """Estimate tasks from the logs of quick looks at them, as a report.

    Args:
        names: Tasks or benchmarks; without names, the tasks of the logs.
        logs: Logs or folders of logs.
        tokenizer: As in `load_tokenizer`, for logs without token counts; by default characters.
        speed: Tokens a second; by default as measured.
        prices: The prices of a million prompt tokens and of a million answer tokens.

    Raises:
        LogError: A task is in no log, or a log is not representative of a whole task.
    """
    count = load_tokenizer(tokenizer) if tokenizer else by_characters
    runs = read_runs(logs, texts=True)
    logged = {run.task: [each for each in runs if each.task == run.task] for run in runs}
    tasks, notes = {task: find_task(task) for task in logged} if not names else {}, list[str]()
    for name in names or ():
        chosen = chosen_tasks([name])  # a benchmark is estimated on those of its tasks in the logs
        tasks |= {task.name: task for task in chosen if task.whole in logged}
        absent = ", ".join(task.whole for task in chosen if task.whole not in logged)
        if absent and len(chosen) > 1:
            notes.append(f"Not in the estimate, because not in the logs: {absent}.")
        if all(task.whole not in logged for task in chosen):
            there = ", ".join(logged)
            raise LogError(f"no log of {absent} in {', '.join(logs)}, only of {there}.")
    every = ((name, run) for name, task in tasks.items() for run in logged[task.whole])
    found = [(name, measured(name, run, count)) for name, run in every]
    by = f"the log's count, else by {tokenizer or BY_CHARACTERS}"
    made = table(
        "estimate",
        "Estimates for whole tasks",
        found,
        [
            (Column("Task"), lambda row: row[0]),
            (Column("Model"), lambda row: row[1].run.label),
            (Column("Condition"), lambda row: row[1].run.condition),
            (
                Column("From"),
                lambda row: f"{len(set(row[1].run.items.ids)):,} of {row[1].items:,}",
            ),
            (Column("Requests", "count"), lambda row: row[1].requests),
            (Column("Prompt tokens", "count"), lambda row: row[1].prompt),
            (Column("Answer tokens", "count"), lambda row: row[1].answers),
            (Column("Judge tokens", "count"), lambda row: row[1].judge),
            (Column("Hours", "number"), lambda row: row[1].hours(speed)),
            (Column("Cost", "number"), lambda row: prices and row[1].cost(*prices)),
        ],
        f"Tokens by {by}. Hours are "
        + (f"at {speed:g} tokens a second. " if speed else "as measured, for answering only. ")
        + "The cost excludes a judge's tokens and any discount for cached prompts.",
    )
    notes += [remark for _, each in found for remark in each.remarks]
    blocks: list[Block] = [made, *(Note(each, "warning") for each in dict.fromkeys(notes))]
    return report_of([Section("Estimate", blocks, "estimate", is_summary=True)], "Estimate")
