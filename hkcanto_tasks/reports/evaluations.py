"""The records that results are read into: what one model did on one task, item by item."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..catalogue import NamedTask, Subject
from ..corpus_figures import Pair
from ..records import Metric
from ..task import Condition, condition


@dataclass(frozen=True, slots=True)
class ItemText:
    """What was asked and answered: for people to look at, and kept only if they ask for it.

    Attributes:
        prompt: What the model was given, whole.
        response: What the model wrote, whole.
        answer: What was read out of the response.
        target: The gold answer.
    """

    prompt: str
    response: str
    answer: str
    target: str


@dataclass(frozen=True, eq=False)
class Items:
    """The items of an evaluation, column by column: place `i` of every column is item `i`.

    Attributes:
        ids: Stable ids, such as `hkmmlu/hk_law/3`. An id occurs once per epoch.
        subjects: The subject's name; empty for a task without subjects.
        parts: The parts of the task that each belongs to, such as its category or `hk_specific`.
        values: Metric → the value that the harness logged for each item; NaN where it logged none.
            Corpus metrics and averages have no values here.
        weights: Pooled metric → the length of each item's reference.
        clusters: Items with the same number are not independent: epochs of one item, or questions
            on one passage.
        question_lengths: Length of the question with its options.
        golds: A checksum of the gold answer.
        response_lengths: Length of the response after its reasoning block.
        reasoning_lengths: Length of the reasoning block, or of the response in a chain of thought.
        output_tokens: Tokens that the model wrote, by the provider's count; NaN where not logged.
        truncated: 1 where the response ended at a limit of length, 0 where it did not, NaN where
            the harness does not say.
        refused: Whether the response declines to answer.
        reasons: How each response was read, or why not: `none: several`; empty where the kind of
            task does not say.
        pairs: Hypothesis, reference and source of each item, for corpus metrics; empty without.
        jyutping: What was read from the response and the gold answer, for Jyutping; empty without.
        texts: Prompts and responses; empty unless they were asked for.
    """

    ids: Sequence[str]
    subjects: Sequence[str]
    parts: Sequence[tuple[str, ...]]
    values: Mapping[str, NDArray[np.float64]]
    weights: Mapping[str, NDArray[np.float64]]
    clusters: NDArray[np.int64]
    question_lengths: NDArray[np.int64]
    golds: NDArray[np.int64]
    response_lengths: NDArray[np.int64]
    reasoning_lengths: NDArray[np.int64]
    output_tokens: NDArray[np.float64]
    truncated: NDArray[np.float64]
    refused: NDArray[np.bool_]
    reasons: Sequence[str] = ()
    pairs: Sequence[Pair] = ()
    jyutping: Sequence[tuple[str, str]] = ()
    texts: Sequence[ItemText] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def of_subjects(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return which items are of some subjects: a mask over the items."""
        known, codes = self.subject_codes
        chosen = np.isin(known, list(names))
        return chosen[codes]

    @cached_property
    def subject_codes(self) -> tuple[NDArray[np.str_], NDArray[np.intp]]:
        """The subjects that there are, and the place of each item's among them."""
        known, codes = np.unique(np.asarray(self.subjects, dtype=np.str_), return_inverse=True)
        return known, codes

    def of_part(self, name: str) -> NDArray[np.bool_]:
        """Return which items belong to a part, such as `hk_specific` or a subject: a mask."""
        own = np.fromiter((name in parts for parts in self.parts), np.bool_, len(self))
        return own | self.of_subjects([name])


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One model on one task under one condition, out of one run or several of its subjects.

    Attributes:
        label: What a report calls the model; unique for a task and condition.
        model: What the harness calls it.
        harness: Which harness wrote the log.
        task: The name in lm-eval of the task and variant, without a subject: `hkmmlu_cot`.
        shots: Worked examples in the prompt.
        options: Options of the kind that the signature names, such as `prompt` → `paper`.
        data: Which data: a pinned revision, `sample`, or `local-…`.
        version: Of the task: figures of two versions are not comparable.
        signature: The signature, with the task's name instead of a part's.
        created: When it was run.
        sources: The files that it was read from.
        items: What the model did.
        reported: (subjects, figure) → what the harness itself reports of them; no subjects stand
            for all.
        notes: What a reader should know, such as `judged by openai/gpt-4o`.
        length_unit: What the lengths count: `characters`, or `tokens` of a tokenizer.
    """

    label: str
    model: str
    harness: Literal["lm-eval", "inspect"]
    task: str
    shots: int
    options: Mapping[str, str]
    data: str
    version: str
    signature: str
    created: datetime
    sources: tuple[Path, ...]
    items: Items
    reported: Mapping[tuple[tuple[str, ...], str], float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    length_unit: str = "characters"

    @cached_property
    def how(self) -> Condition:
        """The task and variant, all of it, with their figures."""
        return condition(self.task)

    @property
    def named(self) -> NamedTask:
        """What the task's name stands for in the catalogue."""
        return self.how.task

    @property
    def metrics(self) -> Sequence[Metric]:
        """The figures of its kind, without averages over parts of it."""
        return self.how.kind.METRICS

    @cached_property
    def figures(self) -> Mapping[str, Metric]:
        """The figures of its task by name, the headline first."""
        return {figure.name: figure for figure in self.how.figures}

    @property
    def headline(self) -> Metric:
        """The figure to read first, averaged as the paper averages it."""
        return self.how.figures[0]

    def title_of(self, part: str) -> str:
        """Return what people call a part of the task, such as a category."""
        of_part = self.figures.get(f"acc_{part}")
        return of_part.title if of_part else part

    @cached_property
    def subjects(self) -> Sequence[Subject]:
        """The catalogue's subjects of which it has items, in the paper's order."""
        present = set(self.items.subjects)
        return [subject for subject in self.named.subjects if subject.name in present]

    @cached_property
    def complete(self) -> bool:
        """Whether it has every item of its condition: no `--limit`, no missing subject."""
        return len(set(self.items.ids)) == self.expected

    @property
    def expected(self) -> int:
        """How many items the condition asks for, as far as the catalogue knows."""
        return sum(map(self._expected, self.named.subjects))

    def _expected(self, subject: Subject) -> int:
        """Return how many items of a subject are scored."""
        if not subject.rows:
            pairs = zip(self.items.ids, self.items.subjects, strict=True)
            return max(1, len({name for name, own in pairs if own == subject.name}))
        scored = subject.rows - self.named.entry.examples_from_test
        return min(scored, int(self.options.get("size", 0)) or scored)

    @cached_property
    def condition(self) -> str:
        """How it was run, for people: the shots, and the options that are not the default."""
        defaults = self.how.kind.Options()
        variant = self.named.variant
        of_variant = {"cot": "yes" if variant.cot else "", "script": variant.script}
        chosen = [
            f"{name}:{value}"
            for name, value in self.options.items()
            if value != str(of_variant.get(name) or getattr(defaults, name, None))
        ]
        return ", ".join([f"{self.shots}-shot", *chosen])

    @property
    def comparable_as(self) -> Hashable:
        """Equal for evaluations that differ in nothing but the model: task, condition and data."""
        data = "local" if self.is_local else self.data
        return self.task, self.version, self.shots, frozenset(self.options.items()), data

    @property
    def is_local(self) -> bool:
        """Whether it ran on files of the user's own, which the two harnesses sign differently."""
        return "local-" in self.data

    @property
    def is_sample(self) -> bool:
        """Whether it ran on our sample data, whose figures are comparable with nothing."""
        return self.data == "sample"


@dataclass(frozen=True, slots=True)
class SkippedLog:
    """A file that was not read, and why.

    Attributes:
        path: The file.
        reason: What is wrong with it, or what it is, in one line.
    """

    path: Path
    reason: str
