"""The Inspect tasks: thin functions over the catalogue."""

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)

from hkcanto_tasks.loading import ExamplesFrom, LoadedTask, load_task
from hkcanto_tasks.records import Message

from .scorers import judged, metrics_of

_ROLES: dict[str, type[ChatMessageSystem | ChatMessageUser | ChatMessageAssistant]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


@task
def g2p(
    shots: int | None = None, examples: ExamplesFrom = "paper", multiturn: bool = False
) -> Task:
    """HKCanto-Eval: sentences in characters to Jyutping (Appendix E.3).

        inspect eval hkcanto/g2p --model openai/gpt-4o
        inspect eval hkcanto/g2p --model hkcanto/tojyutping
        inspect eval hkcanto/g2p -T examples=release -T shots=3

    Args:
        shots: Worked examples in the prompt, 0 to 5; the paper's 5 without it.
        examples: `paper` for those that the paper prints, `release` for the dev file's.
        multiturn: Each worked example as a turn of its own instead of one user message.
    """
    return _task(load_task("hkcanto_g2p", examples=examples), shots, multiturn)


def _task(loaded: LoadedTask, shots: int | None, multiturn: bool) -> Task:
    entry = loaded.entry
    count = entry.shots if shots is None else shots
    sample_data = loaded.revision == "sample"
    return Task(
        dataset=MemoryDataset(
            [
                Sample(
                    id=sample.id,
                    input=_chat(loaded.prompt(sample, count).messages(multiturn=multiturn)),
                    target=sample.target,
                )
                for sample in loaded.samples
            ],
            name=entry.name,
        ),
        scorer=judged(entry.name),
        metrics=dict(metrics_of(entry.name)),
        config=GenerateConfig(max_tokens=entry.max_tokens),
        headline_metric=f"judged.{entry.headline}",
        display_name=f"{entry.inspect} (sample data)" if sample_data else None,
        tags=["sample data"] if sample_data else None,
        metadata=_metadata(loaded, count),
    )


def _chat(messages: list[Message]) -> list[ChatMessage]:
    return [_ROLES[message.role](content=message.content) for message in messages]


def _metadata(loaded: LoadedTask, shots: int) -> dict[str, Any]:
    return {
        "signature": loaded.signature(shots),
        "benchmark": loaded.benchmark.title,
        "paper": loaded.benchmark.paper,
    }
