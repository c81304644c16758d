"""Runs of a model on a task, with items in columns, and the runs read from logs."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..catalogue import Subject
from ..figures import Pair
from ..signatures import Signature
from .results import Harness, Result
from .usage import Usage

if TYPE_CHECKING:
    import pandas as pd

    from .statistics.intervals import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ENDINGS = {
    "success": "",
    "error": "ended on an error",
    "started": "not finished",
    "incomplete": "items failed",
}


class ItemText(NamedTuple):
    """The full texts of an item, for people to read."""

    prompt: str
    response: str
    answer: str  # the answer read from the response
    target: str  # the gold answer


@dataclass(frozen=True, eq=False)
class Items:
    """The judged items of a run in columns: index `i` of every column belongs to item `i`."""

    ids: Sequence[str]  # stable, such as `hkmmlu/hk_law/3`; each occurs once per epoch
    subjects: Sequence[str]  # empty texts for a task without subjects
    parts: Sequence[tuple[str, ...]]  # parts of the task, such as the category or `hk_specific`
    values: Mapping[str, Floats]  # figure of items → the logged values; NaN if missing
    weights: Mapping[str, Floats]  # rate → the length of each item's reference
    clusters: Ints  # equal for dependent items: epochs of an item, questions on one passage
    question_lengths: Ints  # including the options
    golds: Ints  # checksums of the gold answers
    response_lengths: Ints  # after the reasoning block
    reasoning_lengths: Ints  # of the reasoning block, or of the response in a chain of thought
    output_tokens: Floats  # as counted by the provider; NaN if not logged
    truncated: Floats  # 1 if the response ended at the token limit, else 0; NaN if unknown
    reasons: Sequence[str] = ()  # how answers were read, or why not, such as `none: refusal`
    pairs: Sequence[Pair] = ()  # only for kinds with figures or analyses of texts
    texts: Sequence[ItemText] = ()  # only if requested

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The index of each item by its id; from the second epoch on, by id and epoch."""
        seen: Counter[str] = Counter()
        places = {}
        for place, name in enumerate(self.ids):
            seen[name] += 1
            places[f"{name} in epoch {seen[name]}" if seen[name] > 1 else name] = place
        return places

    @cached_property
    def subject_codes(self) -> tuple[NDArray[np.str_], Ints]:
        """The distinct subjects, and each item's index among them."""
        known, places = codes(self.subjects)
        return np.array(known, np.str_), places

    def of_subjects(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return a mask of the items of some subjects."""
        known, places = self.subject_codes
        return np.isin(known, list(names))[places]

    @cached_property
    def _part_codes(self) -> tuple[list[tuple[str, ...]], Ints]:
        return codes(self.parts)

    def of_part(self, name: str) -> NDArray[np.bool_]:
        """Return a mask of the items of a part, such as `hk_specific` or a subject."""
        known, places = self._part_codes
        own = np.array([name in parts for parts in known], np.bool_)
        return own[places] | self.of_subjects([name])

    def take(self, places: Sequence[int] | Ints) -> "Items":
        """Return the items at some indices, in that order."""

        def taken(column: Any) -> Any:
            if isinstance(column, Mapping):
                return {name: values[places] for name, values in column.items()}
            if isinstance(column, np.ndarray):
                return column[places]
            return [column[place] for place in places] if column else column

        places = np.asarray(places, np.intp)
        return Items(**{each.name: taken(getattr(self, each.name)) for each in fields(self)})

    @staticmethod
    def joined(parts: Sequence["Items"]) -> "Items":
        """Return the items of several runs in sequence; the runs have no clusters in common."""

        def joined(name: str) -> Any:
            columns = [getattr(part, name) for part in parts]
            if isinstance(columns[0], Mapping):
                keys = dict.fromkeys(key for column in columns for key in column)
                fill = np.nan if name == "values" else 0.0
                return {
                    key: np.concatenate(
                        [
                            column.get(key, np.full(len(part), fill))
                            for column, part in zip(columns, parts, strict=True)
                        ]
                    )
                    for key in keys
                }
            if name == "clusters":
                firsts = np.cumsum([0, *(own.max(initial=-1) + 1 for own in columns[:-1])])
                columns = [own + first for own, first in zip(columns, firsts, strict=True)]
            if isinstance(columns[0], np.ndarray):
                return np.concatenate(columns)
            return [value for column in columns for value in column]

        if len(parts) == 1:
            return parts[0]
        return Items(**{each.name: joined(each.name) for each in fields(Items)})


def codes(values: Sequence[Hashable]) -> tuple[list[Any], Ints]:
    """Return the distinct values, and the index of each value among them."""
    places: dict[Hashable, int] = {}
    found = [places.setdefault(value, len(places)) for value in values]
    return list(places), np.array(found, np.int64)


@dataclass(frozen=True, eq=False)
class Run(Result):
    """One model on one task under one setup, from one log or from several logs of its subjects."""

    label: str  # the model's name in a report; unique for a task and setup
    model: str  # the model's name in the harness
    harness: Harness
    signature: Signature  # of the task with all of its subjects
    created: datetime
    sources: tuple[Path, ...]  # the files that it was read from
    items: Items
    #: (subjects, figure) → the harness's own value; no subjects mean all
    reported: Mapping[tuple[tuple[str, ...], str], float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # remarks for the reader, such as `judged by openai/gpt-4o`
    length_unit: str = "characters"  # of the lengths; or `tokens` of a tokenizer
    limited: bool = False  # whether only some of the items were requested
    picked: bool = False  # whether these were chosen one by one, not taken from the beginning
    available: int = 0  # items in its data, whether run or not; 0 if no log has it
    #: How it ended, in Inspect's words: `success`, `cancelled`, `error`, or `started` if it runs or
    #: was killed; `incomplete` if it ended well, but items failed or cannot be read
    status: str = "success"
    backend: str = "unknown"  # program that ran the model: lm-eval's `--model`, Inspect's provider
    version_of_harness: str = "unknown"
    #: Settings that can change the answers, such as `dtype`, as the log has them
    settings: tuple[tuple[str, str], ...] = ()
    #: temperature, top_p, top_k and max_tokens, if they are set
    generation: Mapping[str, float] = field(default_factory=dict)
    #: Tokens and time; the seconds may include other tasks (`Usage.shared`)
    usage: Usage = field(default_factory=Usage)

    # ------------------------------------------------------------------ how it was run

    @property
    def decoding(self) -> str:
        """How the next token was chosen: `greedy`, `temperature 0.7` or `decoding unknown`."""
        temperature = self.generation.get("temperature")
        if temperature == 0 or self.generation.get("top_k") == 1:
            return "greedy"
        return "decoding unknown" if temperature is None else f"temperature {temperature:g}"

    # ------------------------------------------------------------------ its items

    @cached_property
    def subjects(self) -> Sequence[Subject]:
        """The catalogue's subjects for which it has items, in the paper's order."""
        present = set(self.items.subjects)
        return [subject for subject in self.setup.task.subjects if subject.name in present]

    @property
    def unfinished(self) -> str:
        """Why requested items are missing, such as `cancelled`; empty if none are."""
        return _ENDINGS.get(self.status, self.status)

    @property
    def interruption(self) -> str:
        """The reason why its items are not a random part of its task; empty if not interrupted."""
        if self.status in ("success", "incomplete"):
            return ""
        return (
            f"{self.label} on {self.task} ({self.sources[0].name}): {self.unfinished}, with "
            f"{len(set(self.items.ids)):,} of {self.expected:,} items: those that finished first "
            "are not a random part. Finish it (inspect eval-retry LOG)."
        )

    @cached_property
    def complete(self) -> bool:
        """Whether it has every item of its task: no `--limit`, missing subject or failure."""
        known = not self.limited or self.available or self._is_declared
        whole = bool(known) and not self.unfinished
        return whole and len(set(self.items.ids)) == self.expected

    @property
    def expected(self) -> int:
        """The number of items of the task, from the catalogue or else from the log."""
        if self.available and not self._is_declared:
            return self.available
        return sum(map(self.expected_of, self.setup.task.subjects))

    @property
    def _is_declared(self) -> bool:
        return all(subject.rows for subject in self.setup.task.subjects)

    @cached_property
    def is_beginning(self) -> bool:
        """Whether its numbers of items per subject are in proportion, as in a limited run."""
        return self.trusted_data and self.in_proportion(self.setup.task.subjects)

    def in_proportion(self, subjects: Sequence[Subject]) -> bool:
        """Return whether its items of these subjects are in proportion to the subjects' sizes."""
        counts = Counter(dict(zip(self.items.ids, self.items.subjects, strict=True)).values())
        sizes = {each.name: self.expected_of(each) for each in subjects}
        part = sum(counts[name] for name in sizes) / sum(sizes.values())
        return all(abs(counts[name] - part * size) < 1 for name, size in sizes.items())

    def expected_of(self, subject: Subject) -> int:
        """Return the number of scored items of a subject."""
        if not subject.rows:
            items = dict(zip(self.items.ids, self.items.subjects, strict=True))
            own = sum(name == subject.name for name in items.values())
            return max(1, own, round(own * self.available / max(1, len(items))))
        scored = self.setup.task.scored_rows(subject)
        return min(scored, int(self.options.get("size", 0)) or scored)

    def is_complete(self, part: str = "") -> bool:  # noqa: D102
        if not part or self.complete or self.unfinished:
            return self.complete
        names = self._named(part)
        ids = {
            name
            for name, own in zip(self.items.ids, self.items.subjects, strict=True)
            if own in names
        }
        subjects = [each for each in self.setup.task.subjects if each.name in names]
        return len(ids) == sum(map(self.expected_of, subjects))

    @property
    def is_of_harness(self) -> bool:  # noqa: D102
        from .statistics.estimates import agreement

        return not agreement(self).different

    def value(self, name: str, part: str = "") -> "Estimate | None":  # noqa: D102
        from .statistics.estimates import estimate

        return estimate(self, name, self.items.of_subjects(self._named(part)) if part else None)

    def _named(self, part: str) -> list[str]:
        return [own.name for own in self.setup.task.subjects if part in (own.category, own.name)]


class SkippedLog(NamedTuple):
    """A file that was not read in full, and why, in one line."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Runs(Sequence[Run]):
    """Runs that were read from logs, in the order of the arguments.

    Attributes:
        runs: The runs.
        places: For each run, the index of its argument.
        skipped: Files that were not read, or not in full.
        names: For each run, the name that its argument gives it, or an empty text.
    """

    runs: Sequence[Run]
    places: Sequence[int]
    skipped: Sequence[SkippedLog]
    names: Sequence[str]

    def __getitem__(self, place: Any) -> Any:
        return self.runs[place]

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def to_frame(self, *, items: bool = False) -> "pd.DataFrame":
        """Return the runs' figures as a pandas data frame; pandas must be installed.

        Args:
            items: Return a row for each item and value instead, with the item's id and subject and
                without intervals.

        Returns:
            A row for each figure of a run, over all items and, in tasks with several subjects, for
            each `subject` (empty for all): `value`, `low` and `high` (the 95 % interval), `n`
            (items), `direction` (whether `higher` or `lower` is better, or `neither`), `headline`
            (whether it is the figure to read first), `status` (`cancelled`, …), `step` (of a
            checkpoint) and further columns, as in the CSV of `hkcanto report`. Shares and rates
            are from 0 to 1; missing values are NaN.
        """
        import pandas as pd

        from .reports.frames import figure_rows

        if not items:
            return pd.DataFrame(figure_rows(self.runs))
        about = [
            {"model": run.label, "task": run.task, "setup": run.condition}
            | {"id": run.items.ids, "subject": run.items.subjects, "figure": name, "value": values}
            for run in self.runs
            for name, values in run.items.values.items()
        ]
        return pd.concat(map(pd.DataFrame, about), ignore_index=True) if about else pd.DataFrame()
