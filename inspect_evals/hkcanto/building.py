"""From a condition of the catalogue to an Inspect task: data set, scorer, figures, metadata."""

from dataclasses import replace
from hashlib import sha256
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.scorer import Scorer

from hkcanto_tasks import records
from hkcanto_tasks.catalogue import find_benchmark, find_task, named_tasks
from hkcanto_tasks.corpus_figures import metric_signatures
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.task import LoadedTask, load_task, refuse_unknown, stratified

from .judges.prompts import judge_texts
from .judges.summarization import SUMMARY_METRICS
from .judges.translation import TRANSLATION_METRICS
from .metrics import corpus_figures, figures, table
from .scorers import headline_of, judged

JUDGE_METRICS = {**TRANSLATION_METRICS, **SUMMARY_METRICS}

_ROLES: dict[str, type[ChatMessageSystem | ChatMessageUser | ChatMessageAssistant]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}

# What every task has besides the options of its kind.
_OPTIONS = {
    "shots": "a number from 0",
    "subjects": "names of subjects or categories, with commas",
    "multiturn": "true or false",
}


def make(
    name: str,
    *,
    shots: int | None = None,
    multiturn: bool = False,
    subjects: str | list[str] | None = None,
    judge: Scorer | None = None,
    **options: Any,
) -> Task:
    """Make the Inspect task of a task of the catalogue.

    Args:
        name: The name in lm-eval.
        shots: Worked examples in the prompt; the task's own number without it.
        multiturn: Each worked example as a turn of its own.
        subjects: Only these.
        judge: A scorer besides ours.
        options: The options of its kind.

    Raises:
        CatalogueError: There is no such task, or it is one by log-likelihood.
        OptionError: There is no such option, or it cannot have that value.
    """
    if options.get("cot") is True and f"{name}_cot" in named_tasks():
        name = f"{name}_cot"
    loaded = _load(name, subjects, options)
    subjects = [subject.name for subject in loaded.task.subjects if subject.name]
    of_corpus = any(figure.corpus for figure in loaded.condition.table)
    metric = (corpus_figures if of_corpus else figures)(name, loaded.condition.chosen, subjects)
    made = _assemble(
        {name: loaded},
        shots,
        multiturn,
        scorer=[judged(name, loaded.condition.chosen), *([judge] if judge else [])],
        metrics=[metric, *([JUDGE_METRICS] if judge else [])],
        headline_metric=headline_of(loaded),
    )
    if judge:
        made.metadata = {**(made.metadata or {}), "judge": f"prompts:{judge_texts().version}"}
    return made


def make_table(
    benchmark: str,
    *,
    shots: int | None = None,
    multiturn: bool = False,
    subjects: str | list[str] | None = None,
    **options: Any,
) -> Task:
    """Make one Inspect task of all the conditions in a benchmark's averages over tasks.

    Args:
        benchmark: The benchmark's name.
        shots: As in `make`, as are multiturn, subjects and options.
        multiturn: See there.
        subjects: See there.
        options: See there.
    """
    every = find_benchmark(benchmark).averages
    names = dict.fromkeys(name for of in every for column in of.columns for name in column)
    parts = {name: _load(name, subjects, options) for name in names}
    chosen = next(iter(parts.values())).condition.chosen
    return _assemble(
        parts,
        shots,
        multiturn,
        name=benchmark,
        scorer=judged([*names], chosen),
        metrics=[table(benchmark, [*names], chosen)],
    )


def _load(name: str, subjects: str | list[str] | None, options: dict[str, Any]) -> LoadedTask:
    chosen = subjects.split(",") if isinstance(subjects, str) else subjects or []
    refuse_unknown(name, options, _OPTIONS)
    if find_task(name).variant.scoring == "loglikelihood":
        raise OptionError(
            f"{name} compares log-likelihoods, which Inspect does not ask models for: run it in "
            f"lm-eval, or {find_task(name).definition.name} here."
        )
    return load_task(name, chosen, **options)


def _assemble(
    parts: dict[str, LoadedTask], shots: int | None, multiturn: bool, name: str = "", **more: Any
) -> Task:
    """Make a task of one condition, or of several under another name."""
    if not isinstance(shots, int | None):
        raise OptionError(f"shots={shots!r} is no number. Ask for 0, 1, 2 …")
    first = next(iter(parts.values()))
    is_sample, entry, remark = first.revision == "sample", first.task.definition, ""
    count = {task: part.task.shots if shots is None else shots for task, part in parts.items()}
    signatures = {
        task: part.signature(count[task], multiturn=multiturn) for task, part in parts.items()
    }
    metadata: dict[str, Any] = {"signatures": signatures}
    if not name:
        remark = first.title.removeprefix(first.task.name)
        metadata = {"signature": signatures[first.task.name]}
    if any(figure.corpus for figure in first.condition.table):
        metadata["metric_signatures"] = metric_signatures(first.task)
    of_part = {
        task: [
            # Two conditions of one task have the same ids.
            replace(each, id=f"{task}{each.id.removeprefix(part.task.definition.name)}")
            if name
            else each
            for each in part.samples
        ]
        for task, part in parts.items()
    }
    owner = {each.id: task for task, samples in of_part.items() for each in samples}
    samples = stratified(of_part.values()) if name else next(iter(of_part.values()))
    shown = name or entry.inspect or first.task.name
    return Task(
        dataset=MemoryDataset(
            [
                _sample(
                    parts[owner[each.id]],
                    each,
                    count[owner[each.id]],
                    multiturn,
                    signatures[owner[each.id]],
                )
                for each in samples
            ],
            name=name or first.task.name,
        ),
        config=GenerateConfig(max_tokens=first.condition.max_tokens),
        version=max(part.task.definition.version for part in parts.values()),
        display_name=f"{shown}{remark or ' (sample data)' * is_sample}",
        tags=["sample data"] if is_sample else None,
        metadata={
            **metadata,
            "benchmark": first.task.benchmark.title,
            "paper": first.task.benchmark.paper,
        },
        **more,
    )


def _sample(
    loaded: LoadedTask, sample: records.Sample, shots: int, multiturn: bool, signature: str
) -> Sample:
    return Sample(
        id=sample.id,
        input=[
            _ROLES[message.role](content=message.content)
            for message in loaded.prompt(sample, shots).messages(multiturn=multiturn)
        ],
        target=sample.target,
        metadata={
            "task": loaded.task.name,
            "question": sample.question,
            "choices": list(sample.choices),
            "source": sample.source,
            "subject": sample.subject,
            "category": sample.category,
            "parts": list(sample.parts),
            # For `inspect eval-retry`, which takes samples over from another run.
            "fingerprint": sha256(signature.rpartition("|pkg:")[0].encode()).hexdigest()[:8],
        },
    )
