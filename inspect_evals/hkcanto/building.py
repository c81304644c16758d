"""Build an Inspect task from a task of the catalogue: data set, scorer, figures, metadata."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Scorer

from hkcanto_tasks.catalogue import find_benchmark, find_task
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.figures import metric_signatures
from hkcanto_tasks.samples import Sample as Item
from hkcanto_tasks.signatures import request_hash
from hkcanto_tasks.tasks import LoadedTask, load_task, stratified

from .judges.panel import ROLE, judge_texts
from .judges.summarization import SUMMARY_METRICS
from .judges.translation import TRANSLATION_METRICS
from .metrics import corpus_figures, figures, table
from .scorers import judged
from .second_look import SECOND_LOOK_METRICS, second_look
from .solvers import ask

_MORE_METRICS = {**TRANSLATION_METRICS, **SUMMARY_METRICS, **SECOND_LOOK_METRICS}

_OF_EVERY_ITEM = ("subject", "category", "parts")


def make(
    name: str,
    is_table: bool = False,  # not by their names, which would be options of every task
    judge: Callable[..., Scorer] | None = None,
    /,
    *,
    subjects: str | Sequence[str] | None = None,
    reread: bool = False,
    **options: Any,
) -> Task:
    """Create the Inspect task for a task of the catalogue.

    Args:
        name: The task's name in lm-eval; with `is_table` the benchmark's.
        is_table: Whether to run all the conditions in the benchmark's averages over tasks.
        judge: Creates a judge's scorer, in addition to ours, from the `stop` texts.
        subjects: The subjects to run; all by default.
        reread: Whether a model reads the letter if the rules read none (`second_look`).
        options: The other options of `hkcanto_tasks.tasks.task_as_run`.

    Raises:
        CatalogueError: The task does not exist.
        OptionError: An option does not exist or cannot have that value, or the task compares
            log-likelihoods.
    """
    averages = find_benchmark(name).averages if is_table else ()
    columns = dict.fromkeys(
        task for of in averages for column in of.columns for task in column
    )
    parts: dict[str, LoadedTask] = {}
    for task in columns or [name]:
        if find_task(task).variant.scoring == "loglikelihood":
            why = "compares log-likelihoods, which Inspect does not ask models for: run it in"
            raise OptionError(
                f"{task} {why} lm-eval, or {find_task(task).definition.name} here."
            )
        loaded = load_task(task, subjects or (), **options)
        # Outside of a table, the name is that of the variant that the options select.
        parts[task if is_table else loaded.task.name] = loaded
    tasks, first = [*parts], next(iter(parts.values()))
    kind, benchmark, is_sample = (
        first.kind,
        first.task.benchmark,
        first.revision == "sample",
    )
    signatures = {task: part.signature for task, part in parts.items()}
    if reread:
        signatures = {
            t: s.replace("|data:", "|reread:yes|data:") for t, s in signatures.items()
        }
    judged_by = f"prompts:{judge_texts()['version']}" if judge else ""
    if kind.rubric_hash:
        judged_by = f"rubric:{kind.rubric_hash}"
    scored: str | list[str] = tasks if is_table else tasks[0]
    if is_table:
        metric = table(name, tasks, kind.chosen)
        metadata: dict[str, Any] = {"signatures": signatures}
        shown = f"{name} (sample data)" if is_sample else name
    else:
        name, run = (
            tasks[0],
            [subject.name for subject in kind.task.subjects if subject.name],
        )
        # Some epochs of a judged answer may lack a level.
        are_means = all(of.form == "mean" for of in kind.table) and not kind.rubric_hash
        metric = (figures if are_means else corpus_figures)(name, kind.chosen, run)
        metadata = {"signature": signatures[name]}
        shown = f"{first.task.definition.inspect or name}{first.remark}"
    if any(figure.of_texts for figure in kind.table):
        metadata["metric_signatures"] = metric_signatures(first.task)
    metadata |= {"benchmark": benchmark.title, "paper": benchmark.paper}
    if judged_by:
        metadata["judge"] = judged_by
    items: list[list[Any]] = []
    for task, part in parts.items():
        # Otherwise, two conditions of one task would have the same ids in a table.
        prefix = task if is_table else part.task.definition.name
        items.append(
            [_sample(part, task, prefix, one, signatures[task]) for one in part.samples]
        )
    ordered: list[Any] = stratified(items) if is_table else items[0]
    further = [judge(stop=kind.stop)] if judge else []
    further += [second_look(scored, kind.chosen)] if reread else []
    headline = HeadlineMetric(
        scorer="judged", score="judged", metric=kind.headline.name
    )
    return Task(
        dataset=MemoryDataset(ordered, name=name),
        solver=ask(tasks, kind.chosen, [ROLE] if judged_by else []),
        scorer=[judged(scored, kind.chosen), *further],
        # The second are those of a judge or the second look, by the names of its values.
        metrics=[metric, *([_MORE_METRICS] if further else [])],
        config=GenerateConfig(max_tokens=kind.max_tokens),
        version=max(part.task.definition.version for part in parts.values()),
        display_name=shown,
        tags=["sample data"] if is_sample else None,
        metadata=metadata,
        headline_metric=None if is_table else headline,
    )


def _sample(
    loaded: LoadedTask, task: str, prefix: str, item: Item, signature: str
) -> Sample:
    turns = loaded.prompt(item).messages(multiturn=loaded.kind.multiturn)
    messages: list[Any] = [{"role": role, "content": text} for role, text in turns]
    fields: dict[str, Any] = msgspec.to_builtins(item)
    # For `inspect eval-retry`, which reuses samples of another run.
    made_by = signature.rpartition("|pkg:")[0].encode()
    return Sample(
        id=f"{prefix}{item.id.removeprefix(loaded.task.definition.name)}",
        input=messages,
        target=item.target,
        metadata={
            "task": task,
            "options": loaded.kind.chosen,
            # Texts that an item lacks are left out: Inspect copies each field several times.
            **{name: of for name, of in fields.items() if of or name in _OF_EVERY_ITEM},
            "fingerprint": sha256(made_by).hexdigest()[:8],
            "request": request_hash(item, turns),
        },
    )
