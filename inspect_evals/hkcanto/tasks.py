"""The Inspect tasks: thin functions over the catalogue. `hkcanto/run` runs any task by name."""

from functools import partial
from typing import Any, Literal, TypedDict, Unpack

from inspect_ai import Task, task

from .building import make, make_table
from .judges import judged_summary, judged_translation


class CommonOptions(TypedDict, total=False):
    """Options of every task.

    Attributes:
        shots: Number of worked examples in the prompt; by default the paper's.
        multiturn: Make each worked example a turn of its own, instead of one user message for all.
        reasoning: Leave room for a reasoning block.
        subjects: Run only these subjects or categories: `food,life_in_hk`.
    """

    shots: int
    multiturn: bool
    reasoning: bool
    subjects: str | list[str]


class PromptOptions(CommonOptions, total=False):
    """Options of HKCanto-Eval's other tasks.

    Attributes:
        prompt: `paper`, or `release` for that of the authors' code.
    """

    prompt: str


class ChoiceOptions(PromptOptions, total=False):
    """Options of multiple-choice tasks.

    Attributes:
        prompt: `paper`, in HKCanto-Eval `release`, or `zh`, `yue`, `en`; `…+scaffold` also asks
            for a last line 答案：X.
        shuffle_choices: Seed to shuffle the options with; 0 keeps their order.
        reread: If the rules read no letter, have the model in the role `reader` read it, or the
            model under test if there is no reader. This adds the figures `read`, `forced`, `none`,
            `acc_reread`.
    """

    shuffle_choices: int
    reread: bool


class LawOptions(ChoiceOptions, total=False):
    """Options of HKCanto-Eval's questions on law.

    Attributes:
        data: `law_fix` for the files with which the release's branch hk_law_fix replaced them.
    """

    data: Literal["release", "law_fix"]


class ChoiceInScriptsOptions(ChoiceOptions, total=False):
    """Options of HKMMLU and TMMLU+.

    Attributes:
        cot: Ask for a chain of thought.
        script: `tc`, or `sc` for Simplified script. With `sc`, the prompt is converted, and the
            questions are the release's own if it has them, otherwise converted (OpenCC hk2s).
    """

    cot: bool
    script: Literal["tc", "sc"]


@task
def run(task: str, **options: Any) -> Task:
    """Any task of the catalogue by its name in lm-eval, including benchmarks from outside.

        inspect eval hkcanto/run -T task=hkmmlu_cot_1shot --model openai/gpt-4o
        HKCANTO_BENCHMARKS=my_benchmarks inspect eval hkcanto/run -T task=my_task --model …

    Args:
        task: The name; `hkcanto list` shows all.
        options: The task's options; `hkcanto show TASK` lists them.
    """
    return make(task, **options)


@task
def hkcanto(**options: Unpack[ChoiceOptions]) -> Task:
    """HKCanto-Eval, Table 1: its nine multiple-choice conditions at once, and their averages.

        inspect eval hkcanto/hkcanto --model openai/gpt-4o

    To run the other tasks:

        inspect eval-set hkcanto/g2p hkcanto/phonology hkcanto/orthography hkcanto/translation \
            hkcanto/summarization hkcanto/sentiment --log-dir logs --model openai/gpt-4o
    """
    return make_table("hkcanto", **options)


@task
def g2p(
    examples: Literal["paper", "release"] = "paper", **options: Unpack[PromptOptions]
) -> Task:
    """HKCanto-Eval: sentences in characters to Jyutping (Appendix E.3).

        inspect eval hkcanto/g2p --model openai/gpt-4o
        inspect eval hkcanto/g2p --model hkcanto/tojyutping
        inspect eval hkcanto/g2p -T examples=release -T shots=3

    Args:
        examples: `paper` for the examples printed in the paper, `release` for those of the dev
            file.
        options: See `PromptOptions`.
    """
    return make("hkcanto_g2p", examples=examples, **options)


@task
def mmlu(
    language: Literal["yue", "en"] = "yue", **options: Unpack[ChoiceOptions]
) -> Task:
    """HKCanto-Eval: MMLU in Cantonese or English (Section 3.1).

        inspect eval hkcanto/mmlu --model openai/gpt-4o -T language=en

    Args:
        language: `yue` or `en`.
        options: See `ChoiceOptions`.
    """
    return make(f"hkcanto_mmlu_{language}", **options)


@task
def dse(language: Literal["zh", "en"] = "zh", **options: Unpack[ChoiceOptions]) -> Task:
    """HKCanto-Eval: questions of the Hong Kong DSE (Section 3.2, Appendix C).

        inspect eval hkcanto/dse --model openai/gpt-4o

    Args:
        language: `zh` or `en`.
        options: See `ChoiceOptions`.
    """
    return make(f"hkcanto_dse_{language}", **options)


@task
def professional(
    language: Literal["zh", "en"] = "zh", **options: Unpack[ChoiceOptions]
) -> Task:
    """HKCanto-Eval: professional and licence exams (Section 3.2, Appendix C).

        inspect eval hkcanto/professional --model openai/gpt-4o

    Args:
        language: `zh` or `en`.
        options: See `ChoiceOptions`.
    """
    return make(f"hkcanto_professional_{language}", **options)


@task
def law(**options: Unpack[LawOptions]) -> Task:
    """HKCanto-Eval: Hong Kong law and the Basic Law (Section 3.2, Appendix C).

    inspect eval hkcanto/law --model openai/gpt-4o
    """
    return make("hkcanto_law", **options)


@task
def cultural(**options: Unpack[ChoiceOptions]) -> Task:
    """HKCanto-Eval: Hong Kong culture; the average is over its five subjects (Appendix D).

    inspect eval hkcanto/cultural --model openai/gpt-4o -T shots=0
    """
    return make("hkcanto_cultural", **options)


@task
def phonology(**options: Unpack[ChoiceOptions]) -> Task:
    """HKCanto-Eval: the sounds of Cantonese (Appendix E.1).

    inspect eval hkcanto/phonology --model openai/gpt-4o
    """
    return make("hkcanto_phonology", **options)


@task
def orthography(**options: Unpack[ChoiceOptions]) -> Task:
    """HKCanto-Eval: the characters of Cantonese (Appendix E.2).

    inspect eval hkcanto/orthography --model openai/gpt-4o
    """
    return make("hkcanto_orthography", **options)


@task
def hkmmlu(**options: Unpack[ChoiceInScriptsOptions]) -> Task:
    """HKMMLU: 66 subjects, 23 of them about Hong Kong.

    inspect eval hkcanto/hkmmlu --model openai/gpt-4o -T cot=true
    """
    return make("hkmmlu", **options)


@task
def tmmluplus(**options: Unpack[ChoiceInScriptsOptions]) -> Task:
    """TMMLU+: 66 subjects; the average is over its four categories.

    inspect eval hkcanto/tmmluplus --model openai/gpt-4o -T shots=5
    """
    return make("tmmluplus_gen", **options)


@task
def translation(
    direction: Literal["yue_en", "en_yue", "yue_zh", "zh_yue"] = "zh_yue",
    judge: bool = False,
    **options: Unpack[PromptOptions],
) -> Task:
    """HKCanto-Eval: translation of sentences full of nuance (Section 3.5, Appendix F).

        inspect eval hkcanto/translation --model openai/gpt-4o -T direction=yue_en
        inspect eval hkcanto/translation --model … -T judge=true --model-role grader=openai/gpt-4o

    Args:
        direction: From and into: `yue` Cantonese, `zh` Written Chinese, `en` English.
        judge: Have the model in the role `grader` mark errors, for the paper's score.
        options: See `PromptOptions`.
    """
    scorer = partial(judged_translation, direction) if judge else None
    return make(f"hkcanto_translation_{direction}", scorer, **options)


@task
def summarization(judge: bool = False, **options: Unpack[PromptOptions]) -> Task:
    """HKCanto-Eval: summaries of Cantonese articles and talks (Section 3.5, Appendix G).

        inspect eval hkcanto/summarization --model openai/gpt-4o
        inspect eval hkcanto/summarization --model … -T judge=true --model-role grader=openai/gpt-4o

    Args:
        judge: Have the model in the role `grader` apply the paper's rubric.
        options: See `PromptOptions`.
    """
    scorer = judged_summary if judge else None
    return make("hkcanto_summarization", scorer, **options)


@task
def sentiment(**options: Unpack[PromptOptions]) -> Task:
    """HKCanto-Eval: sentiment of reviews and comments; the average is over both (Appendix H).

    inspect eval hkcanto/sentiment --model openai/gpt-4o -T subjects=facebook
    """
    return make("hkcanto_sentiment", **options)


@task
def hkmmlu_translation(
    direction: Literal["yue_zh", "zh_yue"] = "yue_zh",
    size: int = 2000,
    sample_seed: int = 0,
    **options: Unpack[CommonOptions],
) -> Task:
    """HKMMLU: translation between Cantonese and Mandarin (Table 2, Figure 12).

        inspect eval hkcanto/hkmmlu_translation --model openai/gpt-4o -T direction=zh_yue

    Args:
        direction: From and into: `yue` Cantonese, `zh` Mandarin in Simplified script.
        size: Score at most this many pairs; 0 for all.
        sample_seed: Seed for drawing a sample of that size.
        options: See `CommonOptions`.
    """
    name = f"hkmmlu_translation_{direction}"
    return make(
        name,
        size=size,
        sample_seed=sample_seed,
        **options,
    )


@task
def fluency(**options: Unpack[CommonOptions]) -> Task:
    """Answers to everyday questions in Cantonese: are they Cantonese?

    inspect eval hkcanto/fluency --model vllm/my/cantonese-model
    """
    return make("hkcanto_fluency", **options)
