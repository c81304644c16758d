"""Build an Inspect task from a task of the catalogue: data set, scorer, figures, metadata."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from itertools import chain
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
from hkcanto_tasks.signatures import parse_signature, request_hash
from hkcanto_tasks.tasks import LoadedTask, load_task, stratified

from .judges.panel import ROLE, judge_texts
from .judges.summarization import SUMMARY_METRICS
from .judges.translation import TRANSLATION_METRICS
from .metrics import corpus_figures, figures, table
from .scorers import judged
from .second_look import SECOND_LOOK_METRICS, second_look
from .solvers import ask

# Metrics of a judge or the second look, by the names of its values.
_FURTHER_METRICS: dict[str, list[Metric]] = {
    **TRANSLATION_METRICS,
    **SUMMARY_METRICS,
    **SECOND_LOOK_METRICS,
}
_NEVER_LEFT_OUT = ("subject", "category", "parts")


def make(
    name: str,
    judge: Callable[..., Scorer] | None = None,
    /,  # `judge` by its name would be an option of every task
    *,
    reread: bool = False,
    **options: Any,
) -> Task:
    """Create the Inspect task for a task of the catalogue.

    Args:
        name: The task's name in lm-eval.
        judge: Creates a judge's scorer, in addition to ours, from the `stop` texts.
        reread: Whether a model reads the letter if the rules read none (`second_look`).
        options: The options of `hkcanto_tasks.tasks.load_task`.

    Raises:
        CatalogueError: The task does not exist.
        OptionError: An option does not exist or cannot have that value, or the task compares
            log-likelihoods.
    """
    loaded = _load(name, **options)
    kind = loaded.kind
    definition = loaded.task.definition
    name = loaded.task.name  # that of the variant that the options select
    signature = _signature(loaded, reread)
    metadata = {"signature": signature}
    judges: list[Scorer] = []
    if judge:
        metadata["judge"] = f"prompts:{judge_texts()['version']}"
        judges.append(judge(stop=kind.stop))
    if kind.rubric_hash:
        metadata["judge"] = f"rubric:{kind.rubric_hash}"
    # Some epochs of a judged answer may lack a level.
    has_means = all(figure.form == "mean" for figure in kind.table)
    metric = figures if has_means and not kind.rubric_hash else corpus_figures
    subjects = [subject.name for subject in kind.task.subjects if subject.name]
    return _assembled(
        {name: loaded},
        dataset=MemoryDataset(
            _samples(
                loaded,
                name,
                definition.name,
                signature,
            ),
            name=name,
        ),
        metric=metric(name, kind.chosen, subjects),
        metadata=metadata,
        judges=judges,
        reread=reread,
        display_name=f"{definition.inspect or name}{loaded.remark}",
        headline_metric=HeadlineMetric(
            scorer="judged",
            score="judged",
            metric=kind.headline.name,
        ),
    )


def make_table(
    name: str,
    /,
    *,
    reread: bool = False,
    **options: Any,
) -> Task:
    """Create the Inspect task that runs all the tasks in a benchmark's averages over tasks.

    Args:
        name: The benchmark's name.
        reread: Whether a model reads the letter if the rules read none (`second_look`).
        options: The options of `hkcanto_tasks.tasks.load_task`.

    Raises:
        OptionError: An option does not exist or cannot have that value.
    """
    tasks: dict[str, None] = {}
    for average in find_benchmark(name).averages:
        tasks |= dict.fromkeys(chain(*average.columns))
    parts: dict[str, LoadedTask] = {}
    signatures: dict[str, str] = {}
    samples: list[Any] = []
    for task in tasks:
        loaded = _load(task, **options)
        parts[task] = loaded
        signatures[task] = _signature(loaded, reread)
        # With its own prefix, because two conditions of one task have the same items.
        samples.append(
            _samples(
                loaded,
                task,
                task,
                signatures[task],
            )
        )
    ordered: list[Any] = stratified(samples)
    remark = " (sample data)" if loaded.revision == "sample" else ""
    return _assembled(
        parts,
        dataset=MemoryDataset(ordered, name=name),
        metric=table(name, [*parts], loaded.kind.chosen),
        metadata={"signatures": signatures},
        reread=reread,
        display_name=f"{name}{remark}",
    )


def _assembled(
    parts: Mapping[str, LoadedTask],
    *,
    metric: Metric,
    metadata: Mapping[str, Any],
    reread: bool,
    judges: Sequence[Scorer] = (),
    **arguments: Any,
) -> Task:
    """Return an Inspect task.

    Args:
        parts: Name → task of the catalogue; those of a table have the same kind and options.
        metric: The metric of our scorer.
        metadata: The metadata that depends on the number of parts.
        reread: Whether a model reads letters that the rules cannot read.
        judges: The scorer of a judge, if any.
        arguments: Further arguments of `Task`.
    """
    names = [*parts]
    # With several, each sample names its own task.
    name_or_names = names[0] if len(names) == 1 else names
    loaded = parts[names[0]]
    kind = loaded.kind
    benchmark = loaded.task.benchmark
    shared: dict[str, Any] = {"benchmark": benchmark.title, "paper": benchmark.paper}
    if any(figure.of_texts for figure in kind.table):
        shared["metric_signatures"] = metric_signatures(loaded.task)
    scorers = [judged(name_or_names, kind.chosen), *judges]
    if reread:
        scorers.append(second_look(name_or_names, kind.chosen))
    return Task(
        solver=ask(names, kind.chosen, [ROLE] if "judge" in metadata else []),
        scorer=scorers,
        metrics=[metric, _FURTHER_METRICS] if scorers[1:] else [metric],
        config=GenerateConfig(max_tokens=kind.max_tokens),
        version=max(part.task.definition.version for part in parts.values()),
        tags=["sample data"] if loaded.revision == "sample" else None,
        metadata={**metadata, **shared},
        **arguments,
    )


def _load(
    name: str,
    subjects: Any = None,
    **options: Any,
) -> LoadedTask:
    task = find_task(name)
    if task.variant.scoring == "loglikelihood":
        raise OptionError(
            f"{name} compares log-likelihoods, which Inspect does not ask models for: run it in "
            f"lm-eval, or {task.definition.name} here."
        )
    return load_task(name, subjects or (), **options)


def _signature(loaded: LoadedTask, reread: bool) -> str:
    if reread:
        return parse_signature(loaded.signature).with_option("reread", "yes").text
    return loaded.signature


def _samples(
    loaded: LoadedTask,
    task: str,
    prefix: str,
    signature: str,
) -> list[Sample]:
    """Return the items of a task for Inspect.

    Args:
        loaded: The task.
        task: Its name.
        prefix: The beginning of the items' ids.
        signature: Its signature.
    """
    kind = loaded.kind
    # For `inspect eval-retry`, which reuses samples of another run.
    made_by = signature.rpartition("|pkg:")[0].encode()
    fingerprint = sha256(made_by).hexdigest()[:8]
    samples = []
    for item in loaded.samples:
        turns = loaded.prompt(item).messages(
            multiturn=kind.multiturn, no_system=kind.options.no_system
        )
        messages: list[Any] = [{"role": role, "content": text} for role, text in turns]
        item_name = item.id.removeprefix(loaded.task.definition.name)
        metadata = {
            "task": task,
            "options": kind.chosen,
            **_item_fields(item),
            "fingerprint": fingerprint,
            "request": request_hash(item, turns),
        }
        samples.append(
            Sample(
                id=f"{prefix}{item_name}",
                input=messages,
                target=item.target,
                metadata=metadata,
            )
        )
    return samples


def _item_fields(item: Item) -> dict[str, Any]:
    """Return the fields of an item that have a value: Inspect copies each field several times."""
    fields: dict[str, Any] = msgspec.to_builtins(item)
    return {
        name: value
        for name, value in fields.items()
        if value or name in _NEVER_LEFT_OUT
    }
