"""Build an Inspect task from a task of the catalogue: data set, scorer, figures, metadata."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, Scorer

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
    *,
    subjects: str | Sequence[str] | None = None,
    judge: Callable[..., Scorer] | None = None,
    reread: bool = False,
    **options: Any,
) -> Task:
    """Create the Inspect task for a task of the catalogue.

    Args:
        name: The task's name in lm-eval.
        subjects: The subjects to run; all by default.
        judge: Creates a judge's scorer, in addition to ours, from the `stop` texts.
        reread: Whether a model reads the letter if the rules read none (`second_look`).
        options: The other options of `hkcanto_tasks.tasks.task_as_run`.

    Raises:
        CatalogueError: The task does not exist.
        OptionError: An option does not exist or cannot have that value, or the task compares
            log-likelihoods.
    """
    loaded = _load(name, subjects, options)
    kind, name = loaded.kind, loaded.task.name  # of the variant that the options select
    run = [subject.name for subject in kind.task.subjects if subject.name]
    judged_by = f"rubric:{kind.rubric_hash}" if kind.rubric_hash else ""
    are_means = all(figure.form == "mean" for figure in kind.table)
    return _assemble(
        {name: loaded},
        # Some epochs of a judged answer may lack a level.
        (figures if are_means and not judged_by else corpus_figures)(name, kind.chosen, run),
        reread=reread,
        judges=[judge(stop=kind.stop)] if judge else [],
        judged_by=judged_by or (f"prompts:{judge_texts()['version']}" if judge else ""),
        headline_metric=HeadlineMetric(scorer="judged", score="judged", metric=kind.headline.name),
    )


def make_table(
    benchmark: str,
    *,
    subjects: str | Sequence[str] | None = None,
    reread: bool = False,
    **options: Any,
) -> Task:
    """Create one Inspect task for all the conditions in a benchmark's averages over tasks.

    Args:
        benchmark: The benchmark's name.
        subjects: The subjects to run; all by default.
        reread: As in `make`.
        options: The other options of `hkcanto_tasks.tasks.task_as_run`.
    """
    every = find_benchmark(benchmark).averages
    names = dict.fromkeys(name for of in every for column in of.columns for name in column)
    parts = {name: _load(name, subjects, options) for name in names}
    metric = table(benchmark, [*names], next(iter(parts.values())).kind.chosen)
    return _assemble(parts, metric, name=benchmark, reread=reread)


def _load(name: str, subjects: str | Sequence[str] | None, options: dict[str, Any]) -> LoadedTask:
    if find_task(name).variant.scoring == "loglikelihood":
        why = "compares log-likelihoods, which Inspect does not ask models for: run it in lm-eval"
        raise OptionError(f"{name} {why}, or {find_task(name).definition.name} here.")
    return load_task(name, subjects or (), **options)


def _assemble(
    parts: dict[str, LoadedTask],
    metric: Metric,
    *,
    name: str = "",
    reread: bool = False,
    judges: Sequence[Scorer] = (),
    judged_by: str = "",
    **more: Any,
) -> Task:
    """Assemble the task for one condition, or for several under their own name."""
    tasks, first = [*parts], next(iter(parts.values()))
    kind, benchmark, is_sample = first.kind, first.task.benchmark, first.revision == "sample"
    scored = tasks if name else tasks[0]
    further = [*judges, *([second_look(scored, kind.chosen)] if reread else [])]
    signatures = {task: part.signature for task, part in parts.items()}
    if reread:
        signatures = {t: s.replace("|data:", "|reread:yes|data:") for t, s in signatures.items()}
    metadata: dict[str, Any] = {"signature": signatures[tasks[0]]}
    shown = f"{first.task.definition.inspect or first.task.name}{first.remark}"
    if name:
        metadata = {"signatures": signatures}
        shown = f"{name} (sample data)" if is_sample else name
    if any(figure.of_texts for figure in kind.table):
        metadata["metric_signatures"] = metric_signatures(first.task)
    metadata |= {"benchmark": benchmark.title, "paper": benchmark.paper}
    if judged_by:
        metadata["judge"] = judged_by
    made: list[list[Any]] = []
    for task, part in parts.items():
        # Otherwise, two conditions of one task would have the same ids in a table.
        prefix = task if name else part.task.definition.name
        made.append([_sample(part, task, prefix, one, signatures[task]) for one in part.samples])
    items: list[Any] = stratified(made) if name else made[0]
    return Task(
        dataset=MemoryDataset(items, name=name or first.task.name),
        solver=ask(tasks, kind.chosen, [ROLE] if judged_by else []),
        scorer=[judged(scored, kind.chosen), *further],
        # The second are those of a judge or the second look, by the names of its values.
        metrics=[metric, *([_MORE_METRICS] if further else [])],
        config=GenerateConfig(max_tokens=kind.max_tokens),
        version=max(part.task.definition.version for part in parts.values()),
        display_name=shown,
        tags=["sample data"] if is_sample else None,
        metadata=metadata,
        **more,
    )


def _sample(loaded: LoadedTask, task: str, prefix: str, item: Item, signature: str) -> Sample:
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
