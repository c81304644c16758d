"""The Inspect tasks: thin functions over the catalogue."""

from typing import Any, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.scorer import Scorer

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.corpus import metric_signatures
from hkcanto_tasks.loading import condition, load_task
from hkcanto_tasks.records import Message

from .judges import judged_summary, judged_translation
from .judges.summarization import SUMMARY_METRICS
from .judges.translation import TRANSLATION_METRICS
from .scorers import headline_of, judged, metrics_of

JUDGE_METRICS = {**TRANSLATION_METRICS, **SUMMARY_METRICS}

_ROLES: dict[str, type[ChatMessageSystem | ChatMessageUser | ChatMessageAssistant]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


@task
def g2p(
    shots: int | None = None,
    examples: Literal["paper", "release"] = "paper",
    multiturn: bool = False,
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
    return _task("hkcanto_g2p", shots, multiturn, examples=examples)


@task
def mmlu(
    language: Literal["yue", "en"] = "yue",
    subjects: str | list[str] | None = None,
    shots: int | None = None,
    prompt: str = "paper",
    shuffle_choices: int = 0,
    reasoning: bool = False,
    multiturn: bool = False,
) -> Task:
    """HKCanto-Eval: MMLU in Cantonese or English (Section 3.1).

        inspect eval hkcanto/mmlu --model openai/gpt-4o -T language=en

    Args:
        language: `yue` or `en`.
        subjects: Only these, e.g. `anatomy,virology`.
        shots: Worked examples in the prompt, 0 to 5; the paper's 5 without it.
        prompt: `paper`, or `zh`, `yue`, `en`; `…+scaffold` also asks for a last line 答案：X.
        shuffle_choices: Seed to shuffle the options with; 0 keeps their order.
        reasoning: Leave room for a reasoning block.
        multiturn: Each worked example as a turn of its own instead of one user message.
    """
    return _task(
        f"hkcanto_mmlu_{language}",
        shots,
        multiturn,
        subjects,
        prompt=prompt,
        shuffle_choices=shuffle_choices,
        reasoning=reasoning,
    )


@task
def dse(
    language: Literal["zh", "en"] = "zh",
    subjects: str | list[str] | None = None,
    shots: int | None = None,
    prompt: str = "paper",
    shuffle_choices: int = 0,
    reasoning: bool = False,
    multiturn: bool = False,
) -> Task:
    """HKCanto-Eval: questions of the Hong Kong DSE (Section 3.2, Appendix C).

        inspect eval hkcanto/dse --model openai/gpt-4o

    Args:
        language: `zh` or `en`.
        subjects: Only these, e.g. `bio,math`.
        shots: Worked examples in the prompt, 0 to 5; the paper's 5 without it.
        prompt: `paper`, or `zh`, `yue`, `en`; `…+scaffold` also asks for a last line 答案：X.
        shuffle_choices: Seed to shuffle the options with; 0 keeps their order.
        reasoning: Leave room for a reasoning block.
        multiturn: Each worked example as a turn of its own instead of one user message.
    """
    return _task(
        f"hkcanto_dse_{language}",
        shots,
        multiturn,
        subjects,
        prompt=prompt,
        shuffle_choices=shuffle_choices,
        reasoning=reasoning,
    )


@task
def professional(
    language: Literal["zh", "en"] = "zh",
    subjects: str | list[str] | None = None,
    shots: int | None = None,
    prompt: str = "paper",
    shuffle_choices: int = 0,
    reasoning: bool = False,
    multiturn: bool = False,
) -> Task:
    """HKCanto-Eval: professional qualification exams (Section 3.2, Appendix C).

        inspect eval hkcanto/professional --model openai/gpt-4o

    Args:
        language: `zh` or `en`.
        subjects: Only these, e.g. `taxi,mpf`.
        shots: Worked examples in the prompt, 0 to 5; the paper's 5 without it.
        prompt: `paper`, or `zh`, `yue`, `en`; `…+scaffold` also asks for a last line 答案：X.
        shuffle_choices: Seed to shuffle the options with; 0 keeps their order.
        reasoning: Leave room for a reasoning block.
        multiturn: Each worked example as a turn of its own instead of one user message.
    """
    return _task(
        f"hkcanto_professional_{language}",
        shots,
        multiturn,
        subjects,
        prompt=prompt,
        shuffle_choices=shuffle_choices,
        reasoning=reasoning,
    )


@task
def law(
    subjects: str | list[str] | None = None,
    shots: int | None = None,
    prompt: str = "paper",
    shuffle_choices: int = 0,
    reasoning: bool = False,
    multiturn: bool = False,
) -> Task:
    """HKCanto-Eval: Hong Kong law and the Basic Law (Section 3.2, Appendix C).

        inspect eval hkcanto/law --model openai/gpt-4o

    Args:
        subjects: Only these, e.g. `basic_law`.
        shots: Worked examples in the prompt, 0 to 5; the paper's 5 without it.
        prompt: `paper`, or `zh`, `yue`, `en`; `…+scaffold` also asks for a last line 答案：X.
        shuffle_choices: Seed to shuffle the options with; 0 keeps their order.
        reasoning: Leave room for a reasoning block.
        multiturn: Each worked example as a turn of its own instead of one user message.
    """
    return _task(
        "hkcanto_law",
        shots,
        multiturn,
        subjects,
        prompt=prompt,
        shuffle_choices=shuffle_choices,
        reasoning=reasoning,
    )


@task
def cultural(
    subjects: str | list[str] | None = None,
    shots: int | None = None,
    prompt: str = "paper",
    shuffle_choices: int = 0,
    reasoning: bool = False,
    multiturn: bool = False,
) -> Task:
    """HKCanto-Eval: Hong Kong culture; the average is over its five subjects (Appendix D).

        inspect eval hkcanto/cultural --model openai/gpt-4o -T shots=0

    Args:
        subjects: Only these, e.g. `food,life_in_hk`.
        shots: Worked examples in the prompt, 0 to 5; the paper's 5 without it.
        prompt: `paper`, or `zh`, `yue`, `en`; `…+scaffold` also asks for a last line 答案：X.
        shuffle_choices: Seed to shuffle the options with; 0 keeps their order.
        reasoning: Leave room for a reasoning block.
        multiturn: Each worked example as a turn of its own instead of one user message.
    """
    return _task(
        "hkcanto_cultural",
        shots,
        multiturn,
        subjects,
        prompt=prompt,
        shuffle_choices=shuffle_choices,
        reasoning=reasoning,
    )


@task
def phonology(
    shots: int | None = None,
    prompt: str = "paper",
    shuffle_choices: int = 0,
    reasoning: bool = False,
    multiturn: bool = False,
) -> Task:
    """HKCanto-Eval: the sounds of Cantonese (Appendix E.1).

        inspect eval hkcanto/phonology --model openai/gpt-4o

    Args:
        shots: Worked examples in the prompt, 0 to 5; the paper's 5 without it.
        prompt: `paper`, or `zh`, `yue`, `en`; `…+scaffold` also asks for a last line 答案：X.
        shuffle_choices: Seed to shuffle the options with; 0 keeps their order.
        reasoning: Leave room for a reasoning block.
        multiturn: Each worked example as a turn of its own instead of one user message.
    """
    return _task(
        "hkcanto_phonology",
        shots,
        multiturn,
        None,
        prompt=prompt,
        shuffle_choices=shuffle_choices,
        reasoning=reasoning,
    )


@task
def orthography(
    shots: int | None = None,
    prompt: str = "paper",
    shuffle_choices: int = 0,
    reasoning: bool = False,
    multiturn: bool = False,
) -> Task:
    """HKCanto-Eval: the characters of Cantonese (Appendix E.2).

        inspect eval hkcanto/orthography --model openai/gpt-4o

    Args:
        shots: Worked examples in the prompt, 0 to 5; the paper's 5 without it.
        prompt: `paper`, or `zh`, `yue`, `en`; `…+scaffold` also asks for a last line 答案：X.
        shuffle_choices: Seed to shuffle the options with; 0 keeps their order.
        reasoning: Leave room for a reasoning block.
        multiturn: Each worked example as a turn of its own instead of one user message.
    """
    return _task(
        "hkcanto_orthography",
        shots,
        multiturn,
        None,
        prompt=prompt,
        shuffle_choices=shuffle_choices,
        reasoning=reasoning,
    )


@task
def hkmmlu(
    cot: bool = False,
    script: Literal["tc", "sc"] = "tc",
    subjects: str | list[str] | None = None,
    shots: int | None = None,
    prompt: str = "paper",
    shuffle_choices: int = 0,
    reasoning: bool = False,
    multiturn: bool = False,
) -> Task:
    """HKMMLU: 66 subjects, 23 of them about Hong Kong.

        inspect eval hkcanto/hkmmlu --model openai/gpt-4o -T cot=true

    Args:
        cot: Ask for a chain of thought.
        script: `tc`, or `sc` for questions and prompt in Simplified script (OpenCC hk2s).
        subjects: Only these, e.g. `dentistry,hk_law`.
        shots: Worked examples in the prompt, 0 to 5; the paper's 0 without it.
        prompt: `paper`, or `zh`, `yue`, `en`; `…+scaffold` also asks for a last line 答案：X.
        shuffle_choices: Seed to shuffle the options with; 0 keeps their order.
        reasoning: Leave room for a reasoning block.
        multiturn: Each worked example as a turn of its own instead of one user message.
    """
    return _task(
        "hkmmlu",
        shots,
        multiturn,
        subjects,
        cot=cot,
        script=script,
        prompt=prompt,
        shuffle_choices=shuffle_choices,
        reasoning=reasoning,
    )


@task
def tmmluplus(
    cot: bool = False,
    script: Literal["tc", "sc"] = "tc",
    subjects: str | list[str] | None = None,
    shots: int | None = None,
    prompt: str = "paper",
    shuffle_choices: int = 0,
    reasoning: bool = False,
    multiturn: bool = False,
) -> Task:
    """TMMLU+: 66 subjects; the average is over its four categories.

        inspect eval hkcanto/tmmluplus --model openai/gpt-4o -T shots=5

    Args:
        cot: Ask for a chain of thought.
        script: `tc`, or `sc` for questions and prompt in Simplified script (OpenCC hk2s).
        subjects: Only these, e.g. `physics,taxation`.
        shots: Worked examples in the prompt, 0 to 5; the paper's 0 without it.
        prompt: `paper`, or `zh`, `yue`, `en`; `…+scaffold` also asks for a last line 答案：X.
        shuffle_choices: Seed to shuffle the options with; 0 keeps their order.
        reasoning: Leave room for a reasoning block.
        multiturn: Each worked example as a turn of its own instead of one user message.
    """
    return _task(
        "tmmluplus_gen",
        shots,
        multiturn,
        subjects,
        cot=cot,
        script=script,
        prompt=prompt,
        shuffle_choices=shuffle_choices,
        reasoning=reasoning,
    )


@task
def translation(
    direction: Literal["yue_en", "en_yue", "yue_zh", "zh_yue"] = "zh_yue",
    shots: int | None = None,
    judge: bool = False,
    reasoning: bool = False,
    multiturn: bool = False,
) -> Task:
    """HKCanto-Eval: translation of sentences full of nuance (Section 3.5, Appendix F).

        inspect eval hkcanto/translation --model openai/gpt-4o -T direction=yue_en
        inspect eval hkcanto/translation --model … -T judge=true --model-role grader=openai/gpt-4o

    Args:
        direction: From and into: `yue` Cantonese, `zh` Written Chinese, `en` English.
        shots: Worked examples in the prompt, 0 to 3; the paper's 3 without it.
        judge: Have the model in the role `grader` mark errors, for the paper's score.
        reasoning: Leave room for a reasoning block.
        multiturn: Each worked example as a turn of its own instead of one user message.
    """
    name = f"hkcanto_translation_{direction}"
    variant = f"{name}_0shot" if shots == 0 else name
    judges = judged_translation(direction, stop=find_stop(variant)) if judge else None
    return _task(variant, shots, multiturn, judge=judges, reasoning=reasoning)


@task
def summarization(judge: bool = False, reasoning: bool = False) -> Task:
    """HKCanto-Eval: summaries of Cantonese articles and talks (Section 3.5, Appendix G).

        inspect eval hkcanto/summarization --model openai/gpt-4o
        inspect eval hkcanto/summarization --model … -T judge=true --model-role grader=openai/gpt-4o

    Args:
        judge: Have the model in the role `grader` apply the paper's rubric.
        reasoning: Leave room for a reasoning block.
    """
    name = "hkcanto_summarization"
    judges = judged_summary(stop=find_stop(name)) if judge else None
    return _task(name, None, False, judge=judges, reasoning=reasoning)


@task
def sentiment(
    subjects: str | list[str] | None = None, shots: int | None = None, reasoning: bool = False
) -> Task:
    """HKCanto-Eval: sentiment of reviews and comments; the average is of both (Appendix H).

        inspect eval hkcanto/sentiment --model openai/gpt-4o -T subjects=facebook

    Args:
        subjects: `openrice`, `facebook`; both without it.
        shots: Worked examples in the prompt, 0 or 1; the paper's 1 without it.
        reasoning: Leave room for a reasoning block.
    """
    return _task("hkcanto_sentiment", shots, False, subjects, reasoning=reasoning)


@task
def hkmmlu_translation(
    direction: Literal["yue_zh", "zh_yue"] = "yue_zh",
    size: int = 2000,
    sample_seed: int = 0,
    reasoning: bool = False,
) -> Task:
    """HKMMLU: translation between Cantonese and Mandarin (Table 2, Figure 12).

        inspect eval hkcanto/hkmmlu_translation --model openai/gpt-4o -T direction=zh_yue

    Args:
        direction: From and into: `yue` Cantonese, `zh` Mandarin in Simplified script.
        size: Score at most this many pairs; 0 for all.
        sample_seed: Which sample of that size.
        reasoning: Leave room for a reasoning block.
    """
    return _task(
        f"hkmmlu_translation_{direction}",
        None,
        False,
        size=size,
        sample_seed=sample_seed,
        reasoning=reasoning,
    )


@task
def fluency(reasoning: bool = False) -> Task:
    """Answers to everyday questions in Cantonese: are they Cantonese?

        inspect eval hkcanto/fluency --model vllm/my/cantonese-model

    Args:
        reasoning: Leave room for a reasoning block.
    """
    return _task("hkcanto_fluency", None, False, reasoning=reasoning)


def _task(
    name: str,
    shots: int | None,
    multiturn: bool,
    subjects: str | list[str] | None = None,
    cot: bool = False,
    judge: Scorer | None = None,
    **options: Any,
) -> Task:
    variant = f"{name}_cot" if cot else name
    chosen = subjects.split(",") if isinstance(subjects, str) else subjects or []
    loaded = load_task(variant, chosen, **options)
    entry, how = loaded.task.entry, loaded.condition
    count = find_task(variant).shots if shots is None else shots
    sample_data = loaded.revision == "sample"
    return Task(
        dataset=MemoryDataset(
            [
                Sample(
                    id=sample.id,
                    input=_chat(loaded.prompt(sample, count).messages(multiturn=multiturn)),
                    target=sample.target,
                    metadata={
                        "choices": list(sample.choices),
                        # The kinds with a text of the model's own have its source there.
                        "source": sample.choices[0] if len(sample.choices) == 1 else "",
                        "subject": sample.subject,
                        "category": sample.category,
                        "groups": list(sample.groups),
                    },
                )
                for sample in loaded.samples
            ],
            name=variant,
        ),
        scorer=[judged(variant, how.chosen), *([judge] if judge else [])],
        metrics=metrics_of(loaded, JUDGE_METRICS if judge else None),
        config=GenerateConfig(max_tokens=how.max_tokens),
        headline_metric=headline_of(loaded),
        display_name=f"{entry.inspect} (sample data)" if sample_data else None,
        tags=["sample data"] if sample_data else None,
        metadata={
            "signature": loaded.signature(count),
            **(
                {"metric_signatures": metric_signatures(loaded.task)}
                if any(metric.corpus for metric in how.kind.METRICS)
                else {}
            ),
            "benchmark": loaded.task.benchmark.title,
            "paper": loaded.task.benchmark.paper,
        },
    )


def find_stop(name: str) -> tuple[str, ...]:
    """Return the texts before which a task's responses end."""
    return condition(name).stop


def _chat(messages: list[Message]) -> list[ChatMessage]:
    return [_ROLES[message.role](content=message.content) for message in messages]
