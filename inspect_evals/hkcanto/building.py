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

from hkcanto_tasks import samples
from hkcanto_tasks.catalogue import find_benchmark, find_task
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.figures import metric_signatures
from hkcanto_tasks.kinds.judged import Judged
from hkcanto_tasks.signatures import request_hash
from hkcanto_tasks.tasks import LoadedTask, load_task, stratified

from .judges.panel import ROLE, judge_texts
from .judges.summarization import SUMMARY_METRICS
from .judges.translation import TRANSLATION_METRICS
from .metrics import corpus_figures, figures, table
from .scorers import judged
from .second_look import SECOND_LOOK_METRICS, second_look
from .solvers import ask

# The metrics of a second scorer (a judge or the second look), by the names of its values.
_MORE_METRICS = {**TRANSLATION_METRICS, **SUMMARY_METRICS, **SECOND_LOOK_METRICS}


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
        CatalogueError: There is no such task, or it compares log-likelihoods.
        OptionError: There is no such option, or it cannot have that value.
    """
    loaded = _load(name, subjects, options)
    how, name = loaded.kind, loaded.task.name  # of the variant that the options select
    run = [subject.name for subject in how.task.subjects if subject.name]
    rubric = how.rubric_hash if isinstance(how, Judged) else ""  # some epochs may lack a level
    are_means = all(figure.form == "mean" for figure in how.table) and not rubric
    metric = (figures if are_means else corpus_figures)(name, how.chosen, run)
    more = [judge(stop=how.stop)] if judge else []
    more += [second_look(name, how.chosen)] if reread else []
    made = _assemble(
        {name: loaded},
        reread=reread,
        roles=[ROLE] if judge or rubric else [],
        scorer=[judged(name, how.chosen), *more],
        metrics=[metric, *([_MORE_METRICS] if more else [])],
        headline_metric=HeadlineMetric(scorer="judged", score="judged", metric=how.headline.name),
    )
    if judge or rubric:
        by = f"rubric:{rubric}" if rubric else f"prompts:{judge_texts()['version']}"
        made.metadata = {**(made.metadata or {}), "judge": by}
    return made


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
    chosen = next(iter(parts.values())).kind.chosen
    return _assemble(
        parts,
        name=benchmark,
        reread=reread,
        scorer=[judged([*names], chosen), *([second_look([*names], chosen)] if reread else [])],
        metrics=[table(benchmark, [*names], chosen), *([_MORE_METRICS] if reread else [])],
    )


def _load(name: str, subjects: str | Sequence[str] | None, options: dict[str, Any]) -> LoadedTask:
    if find_task(name).variant.scoring == "loglikelihood":
        raise OptionError(
            f"{name} compares log-likelihoods, which Inspect does not ask models for: run it in "
            f"lm-eval, or {find_task(name).definition.name} here."
        )
    return load_task(name, subjects or (), **options)


def _assemble(
    parts: dict[str, LoadedTask],
    name: str = "",
    *,
    reread: bool = False,
    roles: Sequence[str] = (),
    **more: Any,
) -> Task:
    """Assemble the task for one condition, or for several under their own name."""
    first = next(iter(parts.values()))
    definition, remark, is_sample = first.task.definition, first.remark, first.revision == "sample"
    signatures = {task: part.signature for task, part in parts.items()}
    if reread:
        signatures = {t: s.replace("|data:", "|reread:yes|data:") for t, s in signatures.items()}
    metadata: dict[str, Any] = {"signature": next(iter(signatures.values()))}
    if name:
        metadata = {"signatures": signatures}
        remark = " (sample data)" if is_sample else ""
    if any(figure.of_texts for figure in first.kind.table):
        metadata["metric_signatures"] = metric_signatures(first.task)
    made: dict[str, Sample] = {}
    ids: list[list[samples.Sample]] = []
    for task, part in parts.items():
        whole = part.task.definition.name
        # In a table, two conditions of one task would otherwise have the same ids.
        own = [f"{task}{each.id.removeprefix(whole)}" if name else each.id for each in part.samples]
        for item, each in zip(own, part.samples, strict=True):
            made[item] = _sample(item, part, task, each, signatures[task])
        ids.append([samples.Sample(id=item) for item in own])
    order = stratified(ids) if name else ids[0]
    shown = name or definition.inspect or first.task.name
    return Task(
        dataset=MemoryDataset([made[each.id] for each in order], name=name or first.task.name),
        solver=ask([*parts], first.kind.chosen, roles),
        config=GenerateConfig(max_tokens=first.kind.max_tokens),
        version=max(part.task.definition.version for part in parts.values()),
        display_name=f"{shown}{remark}",
        tags=["sample data"] if is_sample else None,
        metadata={
            **metadata,
            "benchmark": first.task.benchmark.title,
            "paper": first.task.benchmark.paper,
        },
        **more,
    )


def _sample(
    item: str, loaded: LoadedTask, task: str, sample: samples.Sample, signature: str
) -> Sample:
    turns = loaded.prompt(sample).messages(multiturn=loaded.kind.multiturn)
    messages: list[Any] = [{"role": role, "content": text} for role, text in turns]
    # For `inspect eval-retry`, which reuses samples of another run.
    made_by = signature.rpartition("|pkg:")[0].encode()
    return Sample(
        id=item,
        input=messages,
        target=sample.target,
        metadata={
            "task": task,
            "options": loaded.kind.chosen,
            **msgspec.to_builtins(sample),
            "fingerprint": sha256(made_by).hexdigest()[:8],
            "request": request_hash(sample, turns),
        },
    )
