"""The records that pass between the steps: data → prompt → response → judgement."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example of a few-shot prompt, as the model sees it.

    Attributes:
        question: The question turn, rendered.
        answer: The answer turn, rendered.
    """

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One scored item.

    Attributes:
        id: Stable across harnesses, runs and machines, e.g. `hkcanto_g2p/121`.
        question: The question turn, rendered, without examples and system text.
        target: The gold answer in the form that the task's scorer reads.
        choices: The options of a multiple-choice question, in the order of their letters; None
            where a letter has no option. For a text to translate or to sum up, that text alone.
        subject: The subject's name.
        category: The category that the paper counts the subject under.
        groups: Further sets of questions, reported apart, that it belongs to.
    """

    id: str
    question: str
    target: str
    choices: tuple[str | None, ...] = ()
    subject: str = ""
    category: str = ""
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """A chat message; `role` is `system`, `user` or `assistant`."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a scorer says of one response.

    Attributes:
        values: Metric name → value for this item. Names and order are the task kind's.
        answer: What was read out of the response, for people to look at.
        explanation: Why the values are what they are, in Markdown.
        weights: Metric name → length of the reference, for the rates that a corpus pools.
        details: Anything else worth keeping in a log.
        hypothesis: What a corpus metric compares with `reference`, after cleaning.
        reference: The gold text that it is compared with.
        source: The text that was to be translated or summarised.
    """

    values: Mapping[str, float]
    answer: str
    explanation: str
    weights: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    hypothesis: str = ""
    reference: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure that a kind of task reports.

    Attributes:
        name: The key in `Judgement.values`.
        pooled: Corpus value = summed errors / summed reference length, not a mean over items.
        corpus: Computed from all pairs of hypothesis and reference at once; no item has it.
        higher_is_better: Which way is good.
    """

    name: str
    pooled: bool = False
    corpus: bool = False
    higher_is_better: bool = False
