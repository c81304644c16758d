"""Runs of a model on a task: what was sent, and the judged items in columns."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..declarations import Subject, TaskDefinition
from ..figures import Figure, Pair
from ..kinds.base import Kind
from ..signatures import UNKNOWN, Signature
from ..tasks import task_as_run

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Harness = Literal["lm-eval", "inspect", "other"]
"""The program that called the model; `other` if a file of answers does not name it."""

UNREAD = ("unparsed_rate", "invalid_rate", "unjudged_rate", "empty")
"""The kinds' figures for the share of responses from which no answer could be read."""

_ENDINGS = {"success": "", "started": "not finished"}
_ENDINGS |= {"error": "ended on an error", "incomplete": "items failed"}
_DEPARTURES = {"requests": "other prompt", "yaml": "edited task"}
_OURS = (
    "",
    "generate",
)  # solvers that send the catalogue's request and keep the response
#: settings of a model that change what it is sent
_OF_REQUESTS = (
    *(
        "solver",
        "enable_thinking",
        "chat_template_args",
        "think_end_token",
        "eos_string",
    ),
    *("add_bos_token", "prefix_token_id", "max_length", "max_model_len", "truncation"),
)


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
    parts: Sequence[
        tuple[str, ...]
    ]  # parts of the task, such as the category or `hk_specific`
    values: Mapping[str, Floats]  # figure of items → the logged values; NaN if missing
    weights: Mapping[str, Floats]  # rate → the length of each item's reference
    clusters: (
        Ints  # equal for dependent items: epochs of an item, questions on one passage
    )
    question_lengths: Ints  # characters, including the options
    response_lengths: Ints  # characters, without reasoning
    golds: Ints  # checksums of the gold answers
    output_tokens: Floats  # as counted by the provider; NaN if not logged
    truncated: (
        Floats  # 1 if the response ended at the token limit, 0 if not; NaN if unknown
    )
    #: how answers were read, or the reason for none, such as `none: refusal`
    reasons: Sequence[str] = ()
    pairs: Sequence[Pair] = ()  # only for kinds with figures or analyses of texts
    texts: Sequence[ItemText] = ()  # only if requested

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The index of each item by its id; from the second epoch on, by id and epoch."""
        return positions_by_name(self.ids)

    @cached_property
    def subject_codes(self) -> tuple[NDArray[np.str_], NDArray[np.intp]]:
        """The distinct subjects, and each item's index among them."""
        return np.unique(np.array(self.subjects, np.str_), return_inverse=True)

    def subject_mask(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return a mask of the items of some subjects."""
        known, places = self.subject_codes
        return np.isin(known, list(names))[places]

    def part_mask(self, name: str) -> NDArray[np.bool_]:
        """Return a mask of the items of a part, such as `hk_specific` or a subject."""
        in_part = np.array([name in parts for parts in self.parts], np.bool_)
        return in_part | self.subject_mask([name])

    @staticmethod
    def joined(parts: Sequence["Items"]) -> "Items":
        """Return the items of several runs, which have no clusters in common."""

        def whole(column: str) -> Any:
            columns: list[Any] = [getattr(part, column) for part in parts]
            if column in ("values", "weights"):
                names, fill = (
                    dict.fromkeys(chain(*columns)),
                    np.nan if column == "values" else 0.0,
                )
                gaps = [
                    dict.fromkeys(names, np.full(len(part), fill)) for part in parts
                ]
                filled = [gap | {**of} for gap, of in zip(gaps, columns, strict=True)]
                return {
                    name: np.concatenate([of[name] for of in filled]) for name in names
                }
            is_array = isinstance(columns[0], np.ndarray)
            return np.concatenate(columns) if is_array else [*chain(*columns)]

        made = {each.name: whole(each.name) for each in fields(Items)}
        firsts = np.cumsum(
            [0, *(part.clusters.max(initial=-1) + 1 for part in parts[:-1])]
        )
        made["clusters"] += np.repeat(firsts, [len(part) for part in parts])
        return Items(**made)


def positions_by_name(names: Sequence[str]) -> dict[str, int]:
    """Return the index of each name; from its second occurrence on, with the epoch.

    Examples:
        >>> positions_by_name(["a", "b", "a"])
        {'a': 0, 'b': 1, 'a in epoch 2': 2}
    """
    seen, places = Counter[str](), dict[str, int]()
    for place, name in enumerate(names):
        seen[name] += 1
        places[f"{name} in epoch {seen[name]}" if seen[name] > 1 else name] = place
    return places


class Sent(msgspec.Struct, frozen=True, omit_defaults=True):
    """The settings that were sent with the prompts, by the log; None or empty if not sent."""

    temperature: float | None = None  # 0 is greedy
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    reasoning_effort: str = ""
    template: str = (
        ""  # a hash of the chat template; `chat` if it is not known, empty for texts
    )
    system: str = ""  # a hash of the user's system message
    repeats: int = 1  # answers to each item
    reducer: str = ""  # makes one value of the repeats, such as `mean`
    more: tuple[
        tuple[str, str], ...
    ] = ()  # further settings, such as a penalty or a bias

    def differs(self, other: "Sent") -> dict[str, tuple[str, str]]:
        """Return what was sent otherwise: setting → both values, as texts.

        Examples:
            >>> Sent(temperature=0.0).differs(Sent(temperature=0.7, stop=("完",)))
            {'temperature': ('0', '0.7'), 'stop': ('none', "'完'")}
        """
        first, second = (
            msgspec.structs.asdict(sent) | dict(sent.more) for sent in (self, other)
        )
        names = [name for name in dict.fromkeys([*first, *second]) if name != "more"]
        both = {name: (first.get(name), second.get(name)) for name in names}
        return {name: (_text(a), _text(b)) for name, (a, b) in both.items() if a != b}


def _text(setting: object) -> str:
    if isinstance(setting, tuple):
        return " ".join(map(repr, setting)) or "none"
    return f"{setting:g}" if isinstance(setting, float) else str(setting or "none")


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens and time of answers, as the provider counts them; None if a log does not have them."""

    answers: int = 0  # one for each item and epoch
    prompt_tokens: int | None = None  # including those from the provider's prefix cache
    answer_tokens: int | None = None  # including reasoning
    cached_tokens: int | None = None  # prompt tokens from the provider's prefix cache
    reasoning_tokens: int | None = None
    judge_tokens: int | None = (
        None  # a judge's prompts and answers, which no other count includes
    )
    dollars: float | None = None  # including judges
    seconds: float | None = (
        None  # unknown if a log has several tasks, or answers from a cache
    )

    @staticmethod
    def total(parts: Sequence["Usage"]) -> "Usage":
        """Return the sum of the usage of several runs or answers.

        Examples:
            >>> both = [Usage(1, prompt_tokens=5, dollars=0.5), Usage(1, prompt_tokens=7)]
            >>> Usage.total(both).known
            {'answers': 2, 'prompt_tokens': 12}
        """
        sums: dict[str, Any] = {}
        for name in Usage.__struct_fields__:
            known = [
                count for part in parts if (count := getattr(part, name)) is not None
            ]
            # A provider leaves out a count of zero.
            if len(known) == len(parts) or (known and name in _IF_ANY):
                sums[name] = sum(known)
        return Usage(**sums)

    @property
    def known(self) -> dict[str, int | float]:
        """The known values by name."""
        values = msgspec.structs.asdict(self).items()
        return {name: round(value, 6) for name, value in values if value is not None}


_IF_ANY = ("cached_tokens", "reasoning_tokens", "judge_tokens")


@dataclass(frozen=True, eq=False)
class Run:
    """One model on one task under one setup, from one log or from several logs of its subjects."""

    model: str  # the model's name in the harness
    harness: Harness
    signature: Signature  # of the task with all of its subjects
    created: datetime
    sources: tuple[Path, ...]  # the files that it was read from
    items: Items
    #: (subjects, figure) → the harness's own value; no subjects mean all
    reported: Mapping[tuple[tuple[str, ...], str], float] = field(default_factory=dict)
    notes: tuple[
        str, ...
    ] = ()  # remarks for the reader, such as `judged by openai/gpt-4o`
    limited: bool = False  # whether only some of the items were requested
    picked: bool = (
        False  # whether these were chosen one by one, not taken from the beginning
    )
    available: int = 0  # items in its data, whether run or not; 0 if no log has it
    #: How it ended, in Inspect's words: `success`, `cancelled`, `error`, or `started` if it runs or
    #: was killed; `incomplete` if it ended well, but items failed or cannot be read
    status: str = "success"
    backend: str = (
        "unknown"  # program that ran the model: lm-eval's `--model`, Inspect's provider
    )
    version_of_harness: str = "unknown"
    #: Settings that can change the answers, such as `dtype`, as the log has them
    settings: tuple[tuple[str, str], ...] = ()
    sent: Sent = field(default_factory=Sent)
    log_id: str = ""  # equal for copies of a log; empty if it is not known
    usage: Usage = field(default_factory=Usage)
    label: str = ""  # the model's name in a report; unique for a task and setup
    argument: int = 0  # the place of its path among the arguments of `read_runs`
    name: str = ""  # the user's name for that argument

    # ------------------------------------------------------------------ from these fields

    task: str = field(
        init=False
    )  # in lm-eval, with the variant, without a subject: `hkmmlu_cot`
    shots: int | None = field(
        init=False
    )  # worked examples in the prompt; None if unknown
    options: Mapping[str, str] = field(init=False)  # such as `prompt` → `paper`
    data: str = field(init=False)  # a pinned revision, `sample`, or `local-…`
    is_sample: bool = field(
        init=False
    )  # on our sample data, not comparable with any other
    is_local: bool = field(
        init=False
    )  # on the user's files, named differently by each harness
    trusted_data: bool = field(
        init=False
    )  # on a pinned revision, so that its items are known
    departure: str = field(
        init=False
    )  # unlike the catalogue's task, such as `other prompt`
    unfinished: str = field(
        init=False
    )  # why requested items are missing, such as `cancelled`

    def __post_init__(self) -> None:
        of, options = self.signature, dict(self.signature.options)
        sort, ending = of.sort_of_data, _ENDINGS.get(self.status, self.status)
        solver = (
            "" if dict(self.settings).get("solver", "") in _OURS else "other solver"
        )
        departure = next(
            (text for name, text in _DEPARTURES.items() if name in options), solver
        )
        self.__dict__.update(
            task=of.task, shots=of.shots, options=options, data=of.data
        )
        self.__dict__.update(is_sample=sort == "sample", is_local=sort == "local")
        self.__dict__.update(trusted_data=bool(of.data) and sort == "release")
        self.__dict__.update(departure=departure, unfinished=ending)

    # ------------------------------------------------------------------ how it was made

    @cached_property
    def kind(self) -> Kind:
        """The setup of the task and variant with all subjects, and its figures."""
        return task_as_run(self.task, shots=self.shots)

    @property
    def definition(self) -> TaskDefinition:
        """The catalogue's entry of its task."""
        return self.kind.task.definition

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The figures of its task by name, the headline first."""
        return {figure.name: figure for figure in self.kind.figures}

    @property
    def headline(self) -> Figure:
        """The figure to read first, averaged as the paper averages it."""
        return self.kind.headline

    @cached_property
    def condition(self) -> str:
        """The condition in words: the shots, and the options that are not the default."""
        defaults, variant = self.kind.Options(), self.kind.task.variant
        of_variant = {"cot": "yes" if variant.cot else "", "script": variant.script}
        chosen = [
            f"{name}:{value}"
            for name, value in self.options.items()
            if value
            not in (UNKNOWN, str(of_variant.get(name) or getattr(defaults, name, None)))
        ]
        shots = (
            "prompt, shots and decoding unknown"
            if self.shots is None
            else f"{self.shots}-shot"
        )
        return ", ".join([shots, *chosen])

    @cached_property
    def outdated(self) -> str:
        """How its task's version is not this package's; empty if it is."""
        version, ours = self.signature.version, str(self.definition.version)
        what = f"has version {version} of the task, not {ours}: score it again (hkcanto rescore)"
        return what if version != ours else ""

    def differs(self, other: "Run") -> dict[str, tuple[str, str]]:
        """Return how another run differs in setup or in what was sent: name → both values."""
        unlike = self.signature.differs(other.signature)
        if not (self.signature.prompt_known and other.signature.prompt_known):
            return unlike
        sent = self.sent.differs(other.sent)
        if unlike:  # another setup has other stop texts and another limit
            sent = {
                name: both
                for name, both in sent.items()
                if name not in ("stop", "max_tokens")
            }
        if self.harness == other.harness:
            of_self, of_other = dict(self.settings), dict(other.settings)
            pairs = {
                name: (of_self.get(name, ""), of_other.get(name, ""))
                for name in _OF_REQUESTS
            }
            sent |= {
                name: (a or "none", b or "none")
                for name, (a, b) in pairs.items()
                if a != b
            }
        return unlike | sent

    @property
    def comparable_as(self) -> Hashable:
        """A key of task, setup and data, equal for runs that differ only in the model."""
        signature, data = self.signature, "local" if self.is_local else self.data
        options = frozenset(
            option for option in signature.options if option[0] != "rescored"
        )
        setup = options, signature.sent, signature.read
        return self.task, signature.version, self.shots, setup, data

    def is_copy_of(self, other: "Run") -> bool:
        """Whether both were read from copies of one log, or from one log in two formats."""
        of_log = [
            (run.log_id, run.model, run.signature, run.items.ids)
            for run in (self, other)
        ]
        return bool(self.log_id and of_log[0] == of_log[1]) and all(
            np.array_equal(values, other.items.values.get(name, ()), equal_nan=True)
            for name, values in self.items.values.items()
        )

    # ------------------------------------------------------------------ how it was run

    @property
    def decoding(self) -> str:
        """How the next token was chosen: `greedy`, `temperature 0.7` or `decoding unknown`."""
        temperature = self.sent.temperature
        if temperature == 0 or self.sent.top_k == 1:
            return "greedy"
        return (
            "decoding unknown"
            if temperature is None
            else f"temperature {temperature:g}"
        )

    @property
    def generation(self) -> Mapping[str, float]:
        """Those of temperature, top_p, top_k and max_tokens that were sent."""
        names = ("temperature", "top_p", "top_k", "max_tokens")
        sent = {name: getattr(self.sent, name) for name in names}
        return {name: value for name, value in sent.items() if value is not None}

    @property
    def interruption(self) -> str:
        """The reason why its items are not a random part of its task; empty if not interrupted."""
        if self.status in ("success", "incomplete"):
            return ""
        what = (
            f"{self.label} on {self.task} ({self.sources[0].name}): {self.unfinished}"
        )
        items = f"{self.counts.total():,} of {self.expected:,} items"
        how = "those that finished first are not a random part. Finish it (inspect eval-retry LOG)."
        return f"{what}, with {items}: {how}"

    # ------------------------------------------------------------------ its items

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of its items by subject, each item once for all its epochs."""
        return Counter(
            dict(zip(self.items.ids, self.items.subjects, strict=True)).values()
        )

    @cached_property
    def subjects(self) -> Sequence[Subject]:
        """The catalogue's subjects for which it has items, in the paper's order."""
        return [
            subject for subject in self.kind.task.subjects if self.counts[subject.name]
        ]

    def subjects_of(self, part: str) -> Sequence[Subject]:
        """Return the catalogue's subjects in a category or group, or the one of this name."""
        return [subject for subject in self.kind.task.subjects if part in subject.sets]

    @cached_property
    def complete(self) -> bool:
        """Whether it has every item of its task: no `--limit`, missing subject or failure."""
        known = not self.limited or self.available or self._is_declared
        return (
            bool(known) and not self.unfinished and self.counts.total() == self.expected
        )

    def is_complete(self, part: str = "") -> bool:
        """Return whether it covers all items of its task, or of one category or subject."""
        if not part or self.complete or self.unfinished:
            return self.complete
        return all(
            self.counts[s.name] == self.expected_of(s) for s in self.subjects_of(part)
        )

    @property
    def expected(self) -> int:
        """The number of items of the task, from the catalogue or else from the log."""
        if self.available and not self._is_declared:
            return self.available
        return sum(map(self.expected_of, self.kind.task.subjects))

    @property
    def _is_declared(self) -> bool:
        return all(subject.rows for subject in self.kind.task.subjects)

    def expected_of(self, subject: Subject) -> int:
        """Return the number of scored items of a subject."""
        count = self.counts[subject.name]
        if not subject.rows:
            return max(
                1, count, round(count * self.available / max(1, self.counts.total()))
            )
        scored = self.kind.task.scored_rows(subject)
        return min(scored, int(self.options.get("size", 0)) or scored)

    def in_proportion(self, subjects: Sequence[Subject]) -> bool:
        """Return whether its items of these subjects are in proportion to the subjects' sizes."""
        sizes = {subject.name: self.expected_of(subject) for subject in subjects}
        part = sum(self.counts[name] for name in sizes) / sum(sizes.values())
        return all(
            abs(self.counts[name] - part * size) < 1 for name, size in sizes.items()
        )


class SkippedLog(NamedTuple):
    """A file that was not read in full, and why, in one line."""

    path: Path
    reason: str
