"""The items of an evaluation, as columns."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..corpus_figures import Pair

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ItemText(NamedTuple):
    """The texts of an item, whole: to look at."""

    prompt: str
    response: str
    answer: str  # what was read out of the response
    target: str  # the gold answer


@dataclass(frozen=True, eq=False)
class Items:
    """The items of an evaluation, column by column: place `i` of every column is item `i`."""

    ids: Sequence[str]  # stable, such as `hkmmlu/hk_law/3`; one occurs once per epoch
    subjects: Sequence[str]  # empty texts for a task without subjects
    parts: Sequence[tuple[str, ...]]  # of the task, such as the category or `hk_specific`
    values: Mapping[str, Floats]  # metric of items → what the harness logged; NaN for nothing
    weights: Mapping[str, Floats]  # pooled metric → the length of each item's reference
    clusters: Ints  # equal where not independent: epochs of an item, questions on one passage
    question_lengths: Ints  # with its options
    golds: Ints  # checksums of the gold answers
    response_lengths: Ints  # after the reasoning block
    reasoning_lengths: Ints  # of the reasoning block, or the response in a chain of thought
    output_tokens: Floats  # that the model wrote, by the provider's count; NaN where not logged
    truncated: Floats  # 1 where it ended at a limit of length, else 0; NaN where nothing says so
    reasons: Sequence[str] = ()  # how it was read, or why not, such as `none: refusal`
    pairs: Sequence[Pair] = ()  # for corpus metrics
    jyutping: Sequence[tuple[str, str]] = ()  # of such tasks: what was read, and the gold answer
    texts: Sequence[ItemText] = ()  # if they were asked for

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def subject_codes(self) -> tuple[NDArray[np.str_], Ints]:
        """The subjects that there are, and the place of each item's among them."""
        known, places = codes(self.subjects)
        return np.array(known, np.str_), places

    def of_subjects(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return which items are of some subjects."""
        known, places = self.subject_codes
        return np.isin(known, list(names))[places]

    @cached_property
    def _part_codes(self) -> tuple[list[tuple[str, ...]], Ints]:
        return codes(self.parts)

    def of_part(self, name: str) -> NDArray[np.bool_]:
        """Return which items belong to a part, such as `hk_specific` or a subject."""
        known, places = self._part_codes
        own = np.array([name in parts for parts in known], np.bool_)
        return own[places] | self.of_subjects([name])


def codes(values: Sequence[Hashable]) -> tuple[list[Any], Ints]:
    """Return the values that there are, and the place of each among them."""
    places: dict[Hashable, int] = {}
    found = [places.setdefault(value, len(places)) for value in values]
    return list(places), np.array(found, np.int64)
