"""The records that pass between the steps: data → prompt → response → judgement → figure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example of a few-shot prompt, as the model sees it.

    Attributes:
        question: The question turn, rendered.
        answer: The answer turn, rendered.
        origin: Where its reasoning is from, if it shows any: `release`, `paper`, a data set.
    """

    question: str
    answer: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """One scored item.

    Attributes:
        id: Stable across harnesses, runs and machines, e.g. `hkcanto_g2p/121`.
        question: The question turn, rendered, without examples and system text.
        target: The gold answer in the form that the task's scorer reads.
        choices: The options of a multiple-choice question, in the order of their letters; None
            where a letter has no option.
        source: The text to translate or to sum up.
        subject: The subject's name.
        category: The category that the paper counts the subject under.
        parts: The sets of questions, reported apart, that it belongs to: its category, sets of the
            subject such as `hk_specific`, types of question.
        zero_shot: The question turn when there are no worked examples, where it is another.
    """

    id: str
    question: str
    target: str
    choices: tuple[str | None, ...] = ()
    source: str = ""
    subject: str = ""
    category: str = ""
    parts: tuple[str, ...] = ()
    zero_shot: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A chat message; `role` is `system`, `user` or `assistant`."""

    role: str
    content: str


class Reasoning(msgspec.Struct, frozen=True, gc=False):
    """What is logged of a response with a reasoning block.

    Attributes:
        language: The block's, of `hkcanto_tasks.reasoning.LANGUAGES`.
        answer_language: That of what is scored; `none` where it is no prose, such as a letter.
        finished: Whether the block has an end: 1 or 0.
        cantonese_share: Share of Cantonese features, from 0 to 1.
        script: Of the block's Chinese: `hant`, `hans`, `mixed` or `none`.
        n_characters: Length of the block, without white space.
    """

    language: str
    answer_language: str = "none"
    finished: float = 1.0
    cantonese_share: float = 0.0
    script: str = "none"
    n_characters: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a scorer says of one response.

    Attributes:
        values: Figure name → value for this item. Names and order are the task kind's.
        answer: What was read out of the response, for people to look at.
        explanation: Why the values are what they are, in Markdown.
        weights: Figure name → length of the reference, for the rates that a corpus pools.
        details: Anything else worth keeping in a log.
        hypothesis: What a corpus metric compares with `reference`, after cleaning.
        reference: The gold text that it is compared with.
        source: The text that was to be translated or summarised.
        reasoning: Of the reasoning block; None of a response without one.
    """

    values: Mapping[str, float]
    answer: str
    explanation: str
    weights: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    hypothesis: str = ""
    reference: str = ""
    source: str = ""
    reasoning: Reasoning | None = None


Unit = Literal["share", "score", "rate", "count"]
Over = Literal["questions", "subjects", "categories"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: what it is called, what it means, and how items become it.

    The one description of it, for both harnesses, reports and docs.

    Attributes:
        name: The key in results.
        title: What a person calls it.
        unit: `share` of items, from 0 to 1; `rate`: errors over reference length, from 0, above 1
            where more is added than is right; `score` from 0 to 100; `count`.
        higher_is_better: Which way is good; None where neither is.
        help: What it measures, in a sentence.
        pooled: Corpus value = summed errors / summed reference length, not a mean over items.
        corpus: Computed from all pairs of hypothesis and reference at once; no item has it.
        diagnostic: It stays out of the harnesses' tables, in samples and reports.
        of: The metric of an item that it averages; empty for its own name.
        over: What counts alike in the average.
        part: The set of items that it is restricted to; empty for all.

    Examples:
        >>> Figure("acc", "Accuracy", "share", True, "Share of right answers.").averages
        'acc'
    """

    name: str
    title: str
    unit: Unit
    higher_is_better: bool | None
    help: str
    pooled: bool = False
    corpus: bool = False
    diagnostic: bool = False
    of: str = ""
    over: Over = "questions"
    part: str = ""

    @property
    def averages(self) -> str:
        """The metric of an item that it averages."""
        return self.of or self.name
