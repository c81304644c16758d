"""Runs of a model on a task: what was sent, and the judged items in columns."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property, wraps
from itertools import chain
from pathlib import Path
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..data.releases import is_published
from ..declarations import Subject, TaskDefinition
from ..figures import Figure, Pair
from ..kinds.base import Kind
from ..messages import say
from ..signatures import OUTSIDE_THE_PROTOCOL, UNKNOWN, Signature
from ..tasks import task_as_run

Result = TypeVar("Result")
Given = ParamSpec("Given")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Settings = tuple[tuple[str, str], ...]
"""Names and values of settings, sorted by name."""
Reported = dict[tuple[tuple[str, ...], str], float]
"""(subjects, figure) → the harness's own value; no subjects mean all."""
Differences = dict[str, tuple[str, str]]
"""Name → both values, as texts."""
Harness = Literal["lm-eval", "inspect", "other"]
"""The program that called the model; `other` if a file of answers does not name it."""

UNREAD = ("unparsed_rate", "invalid_rate", "unjudged_rate", "empty")
"""The kinds' figures for the share of responses from which no answer could be read."""

_ENDINGS = {
    "success": "",
    "started": "not finished",
    "error": "ended on an error",
    "cancelled": "cancelled",
    "incomplete": "items failed",
    "excluded": "items excluded from scoring",
}
# These solvers send the catalogue's request and keep the response.
_FAITHFUL_SOLVERS = ("", "generate")
REQUEST_SETTINGS = (
    "solver",
    "enable_thinking",
    "chat_template_args",
    "think_end_token",
    "eos_string",
    "add_bos_token",
    "prefix_token_id",
    "max_length",
    "max_model_len",
    "truncation",
)
"""Settings of a model that change what it is sent."""
# More questions that begin alike have an instruction in common, not a passage. The largest
# group on a passage in our benchmarks has nine.
_MOST_ON_A_PASSAGE = 20
_SAME_RESPONSES = 0.95
_FEW_RESPONSES = 5
# A provider leaves out a count of zero.
_OMITTED_IF_ZERO = ("cached_tokens", "reasoning_tokens", "judge_tokens")


class ItemText(NamedTuple):
    """The full texts of an item, for people to read."""

    prompt: str
    response: str
    answer: str  # read from the response
    target: str  # the right answer


@dataclass(frozen=True, eq=False)
class Items:
    """The judged items of a run in columns: index `i` of every column belongs to item `i`.

    Attributes:
        ids: Stable ids, such as `hkmmlu/hk_law/3`; each occurs once per epoch.
        subjects: Names of subjects; empty texts for a task without subjects.
        parts: Parts of the task, such as the category or `hk_specific`.
        values: Figure of items → the logged values; NaN if missing.
        weights: Rate → the length of each item's reference.
        clusters: Equal for dependent items: epochs of an item, questions on one passage.
        question_lengths: Characters, including the options.
        response_lengths: Characters, without reasoning.
        golds: Checksums of the right answers.
        output_tokens: As counted by the provider; NaN if not logged.
        truncated: 1 if the response ended at the token limit, 0 if not; NaN if unknown.
        passages: From which clusters are made anew if runs are joined; empty if unknown.
        reasons: How answers were read, or why an answer is missing, such as `none: refusal`.
        pairs: Answers and targets, only for kinds with figures or analyses of texts.
        texts: Full texts, only if requested.
        long_responses: Checksums of responses; 0 for a short one.
    """

    ids: Sequence[str]
    subjects: Sequence[str]
    parts: Sequence[tuple[str, ...]]
    values: Mapping[str, Floats]
    weights: Mapping[str, Floats]
    clusters: Ints
    question_lengths: Ints
    response_lengths: Ints
    golds: Ints
    output_tokens: Floats
    truncated: Floats
    passages: Sequence["Passage"] = ()
    reasons: Sequence[str] = ()
    pairs: Sequence[Pair] = ()
    texts: Sequence[ItemText] = ()
    long_responses: Sequence[int] = ()

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
        known, codes = self.subject_codes
        return np.isin(known, list(names))[codes]

    def part_mask(self, name: str) -> NDArray[np.bool_]:
        """Return a mask of the items of a part, such as `hk_specific` or a subject."""
        in_part = np.array([name in parts for parts in self.parts], np.bool_)
        return in_part | self.subject_mask([name])

    def taken(self, positions: Sequence[int]) -> "Items":
        """Return the items at some positions, in this order."""
        columns: dict[str, Any] = {}
        for field_of_items in fields(Items):
            name = field_of_items.name
            column = getattr(self, name)
            if isinstance(column, Mapping):
                columns[name] = {key: column[key][positions] for key in column}
            elif isinstance(column, np.ndarray):
                columns[name] = column[positions]
            elif column:
                columns[name] = [column[position] for position in positions]
        return Items(**columns)

    @staticmethod
    def joined(runs: Sequence["Items"]) -> "Items":
        """Return the items of several runs, which have no clusters in common but passages."""
        if len(runs) == 1:
            return runs[0]
        sizes = [*map(len, runs)]
        columns: dict[str, Any] = {}
        for field_of_items in fields(Items):
            name = field_of_items.name
            parts = [getattr(items, name) for items in runs]
            if name == "values":
                columns[name] = _joined_by_name(parts, sizes, fill=np.nan)
            elif name == "weights":
                columns[name] = _joined_by_name(parts, sizes, fill=0.0)
            elif isinstance(parts[0], np.ndarray):
                columns[name] = np.concatenate(parts)
            else:
                columns[name] = [*chain(*parts)]
        counts = [items.clusters.max(initial=-1) + 1 for items in runs]
        offsets = np.cumsum([0, *counts[:-1]])
        columns["clusters"] += np.repeat(offsets, sizes)
        if all(items.passages for items in runs):
            columns["clusters"] = clusters_of(
                columns["ids"], columns["subjects"], columns["passages"]
            )
        return Items(**columns)


class Passage(NamedTuple):
    """Hashes of an item's passage and of its whole text, equal in all runs of a process."""

    beginning: int
    whole: int


def clusters_of(
    ids: Sequence[str],
    subjects: Sequence[str],
    passages: Sequence[Passage],
) -> Ints:
    """Return the cluster of each item: questions on one passage, and equal items."""
    questions = defaultdict[Hashable, set[str]](set)
    for item, subject, passage in zip(
        ids,
        subjects,
        passages,
        strict=True,
    ):
        questions[subject, passage.beginning].add(item)
    numbers: dict[Hashable, int] = {}
    clusters: list[int] = []
    for subject, passage in zip(subjects, passages, strict=True):
        key = subject, passage.beginning
        if len(questions[key]) > _MOST_ON_A_PASSAGE:
            key = subject, passage.whole
        clusters.append(numbers.setdefault(key, len(numbers)))
    return np.array(clusters, np.int64)


def _joined_by_name(
    parts: Sequence[Mapping[str, Floats]],
    sizes: Sequence[int],
    fill: float,
) -> dict[str, Floats]:
    """Return the joined columns of several runs; `fill` is the value of a missing column."""
    columns: dict[str, Floats] = {}
    for name in dict.fromkeys(chain(*parts)):
        columns[name] = np.concatenate(
            [
                part.get(name, np.full(size, fill))
                for part, size in zip(parts, sizes, strict=True)
            ]
        )
    return columns


def positions_by_name(names: Sequence[str]) -> dict[str, int]:
    """Return the index of each name; from its second occurrence on, with the epoch.

    Examples:
        >>> positions_by_name(["a", "b", "a"])
        {'a': 0, 'b': 1, 'a in epoch 2': 2}
    """
    epochs = Counter[str]()
    positions: dict[str, int] = {}
    for position, name in enumerate(names):
        epochs[name] += 1
        epoch = epochs[name]
        positions[f"{name} in epoch {epoch}" if epoch > 1 else name] = position
    return positions


class Sent(msgspec.Struct, frozen=True, omit_defaults=True):
    """The settings that were sent with the prompts, by the log; None or empty if not sent.

    Attributes:
        temperature: 0 is greedy.
        template: Hash of the chat template; `chat` if it is not known, empty for texts.
        system: Hash of the user's system message.
        repeats: Answers to each item.
        reducer: Makes one value of the repeats, such as `mean`.
        more: Further settings, such as a penalty or a bias.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    reasoning_effort: str = ""
    template: str = ""
    system: str = ""
    repeats: int = 1
    reducer: str = ""
    more: Settings = ()

    def differs(self, other: "Sent") -> Differences:
        """Return the settings that differ: setting → both values, as texts.

        Examples:
            >>> Sent(temperature=0.0).differs(Sent(temperature=0.7, stop=("完",)))
            {'temperature': ('0', '0.7'), 'stop': ('none', "'完'")}
        """
        first = self._by_name()
        second = other._by_name()
        return _differences(first, second, [*(first | second)])

    def _by_name(self) -> dict[str, Any]:
        settings = msgspec.structs.asdict(self)
        del settings["more"]
        return settings | dict(self.more)


def _differences(
    first: Mapping[str, object],
    second: Mapping[str, object],
    names: Sequence[str],
) -> Differences:
    differences: Differences = {}
    for name in names:
        a = first.get(name)
        b = second.get(name)
        if a != b:
            differences[name] = (_text(a), _text(b))
    return differences


def _text(setting: object) -> str:
    if isinstance(setting, tuple):
        return " ".join(map(repr, setting)) or "none"
    if isinstance(setting, float):
        return f"{setting:g}"
    return str(setting or "none")


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens and time of answers, as the provider counts them; None if a log does not have them.

    Attributes:
        answers: Number of answers, one for each item and epoch.
        prompt_tokens: Tokens of prompts, including those from the provider's prefix cache.
        answer_tokens: Tokens of answers, including reasoning.
        cached_tokens: Tokens of prompts from the provider's prefix cache.
        reasoning_tokens: Tokens of reasoning.
        judge_tokens: Tokens of a judge's prompts and answers, which no other count includes.
        dollars: Cost, including judges.
        seconds: Unknown if a log has several tasks, or answers from a cache.
    """

    answers: int = 0
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    judge_tokens: int | None = None
    dollars: float | None = None
    seconds: float | None = None

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
            counts = [getattr(part, name) for part in parts]
            known = [count for count in counts if count is not None]
            if len(known) == len(parts) or (known and name in _OMITTED_IF_ZERO):
                sums[name] = sum(known)
        return Usage(**sums)

    @property
    def known(self) -> dict[str, int | float]:
        """The known values by name."""
        values = msgspec.structs.asdict(self).items()
        return {name: round(value, 6) for name, value in values if value is not None}


@dataclass(frozen=True, eq=False)
class Run:
    """One model on one task under one setup, from one log or from several logs of its subjects.

    Attributes:
        model: Name of the model in the harness.
        harness: The program that called the model.
        signature: Signature of the task with all of its subjects.
        created: When it was run.
        sources: The files that it was read from.
        items: The judged items.
        reported: The harness's own figures.
        notes: Remarks for the reader, such as `judged by openai/gpt-4o`.
        limited: Whether only some of the items were requested.
        picked: Whether these were chosen one by one, not taken from the beginning.
        available: Number of items in its data, whether run or not; 0 if no log has it.
        status: How it ended, in Inspect's words: `success`, `cancelled`, `error`, or `started` if
            it runs or was killed; `incomplete` if it ended well, but items failed or cannot be
            read, `excluded` if somebody excluded items from Inspect's figures.
        backend: Program that ran the model: lm-eval's `--model`, Inspect's provider.
        version_of_harness: Version of the harness.
        settings: Settings that can change the answers, such as `dtype`, as the log has them.
        sent: Settings that were sent with the prompts.
        log_id: Equal for copies of a log; empty if it is not known.
        usage: Tokens and time.
        label: The model's name in a report; unique for a task and setup.
        argument: Position of its path among the arguments of `read_runs`.
        name: The user's name for that argument.
        parts: The runs of its logs, if several logs share its subjects; `reported` is then empty.
        contradictions: How its log contradicts itself, one sentence each.
        other_model: Which other model answered than the one that was asked.
        cache: The file of lm-eval's cache of responses; empty without one.
        compared: Whether an audit compared its items and prompts with the release.
        computed: Results of the functions marked `once_a_run`.
    """

    model: str
    harness: Harness
    signature: Signature
    created: datetime
    sources: tuple[Path, ...]
    items: Items
    reported: Reported = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    limited: bool = False
    picked: bool = False
    available: int = 0
    status: str = "success"
    backend: str = "unknown"
    version_of_harness: str = "unknown"
    settings: Settings = ()
    sent: Sent = field(default_factory=Sent)
    log_id: str = ""
    usage: Usage = field(default_factory=Usage)
    label: str = ""
    argument: int = 0
    name: str = ""
    parts: Sequence["Run"] = ()
    contradictions: tuple[str, ...] = ()
    other_model: str = ""
    cache: str = ""
    compared: bool = False
    computed: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def __repr__(self) -> str:
        return (
            f"Run(label={self.label!r}, task={self.task!r}, condition={self.condition!r}, "
            f"items={len(self.items):,}, status={self.status!r}, harness={self.harness!r})"
        )

    # ------------------------------------------------------------------ its task and data

    @property
    def task(self) -> str:
        """The task in lm-eval, with the variant, without a subject: `hkmmlu_cot`."""
        return self.signature.task

    @property
    def shots(self) -> int | None:
        """The number of worked examples in the prompt; None if unknown."""
        return self.signature.shots

    @cached_property
    def options(self) -> Mapping[str, str]:
        """The options of its task, such as `prompt` → `paper`."""
        return dict(self.signature.options)

    @property
    def data(self) -> str:
        """The data: a pinned revision, `sample`, or `local-…`."""
        return self.signature.data

    @property
    def is_sample(self) -> bool:
        """Whether it ran on our sample data, which is comparable with no other data."""
        return self.signature.sort_of_data == "sample"

    @property
    def is_local(self) -> bool:
        """Whether it ran on the user's files, which each harness names differently."""
        return self.signature.sort_of_data == "local"

    @property
    def trusted_data(self) -> bool:
        """Whether it ran on a pinned revision, so that its items are known."""
        benchmark = self.kind.task.benchmark
        # An older version of the task may have had another pin.
        return self.signature.sort_of_data == "release" and (
            is_published(self.data, benchmark.release, str(benchmark.home))
            or (bool(self.data) and bool(self.outdated))
        )

    # ------------------------------------------------------------------ how it was made

    @cached_property
    def kind(self) -> Kind:
        """The kind of its task and variant, with all subjects."""
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
        words = [f"{self.shots}-shot"]
        if self.shots is None:
            words = ["prompt, shots and decoding unknown"]
        variant = self.kind.task.variant
        of_variant = {"cot": "yes" if variant.cot else "", "script": variant.script}
        defaults = self.kind.Options()
        for name, value in self.options.items():
            default = of_variant.get(name) or getattr(defaults, name, None)
            if value not in (UNKNOWN, str(default)):
                words.append(f"{name}:{value}")
        return ", ".join(words)

    @property
    def departure(self) -> str:
        """How it departs from the catalogue's task, such as `other prompt`; empty if it does not."""
        if "requests" in self.options:
            return "other prompt"
        if "yaml" in self.options:
            return "edited task"
        if dict(self.settings).get("solver", "") not in _FAITHFUL_SOLVERS:
            return "other solver"
        return ""

    @cached_property
    def outdated(self) -> str:
        """Why the log is outdated; empty if it has this package's version of the task."""
        version = self.signature.version
        current = str(self.definition.version)
        if version == current:
            return ""
        return f"has version {version} of the task, not {current}: score it again (hkcanto rescore)"

    def differs(self, other: "Run") -> Differences:
        """Return how another run differs in setup or in the settings sent: name → both values."""
        differences = self.signature.differs(other.signature)
        if not (self.signature.prompt_known and other.signature.prompt_known):
            return differences
        sent = self.sent.differs(other.sent)
        if differences:
            # Another setup has other stop texts and another limit.
            sent.pop("stop", None)
            sent.pop("max_tokens", None)
        # Each harness has its own names of these settings.
        if self.harness == other.harness:
            settings = dict(self.settings)
            sent |= _differences(settings, dict(other.settings), REQUEST_SETTINGS)
        return differences | sent

    @property
    def comparable_as(self) -> Hashable:
        """A key of task, setup and data, equal for runs that differ only in the model."""
        signature = self.signature
        options = set(signature.options)
        for option in signature.options:
            if option[0] in OUTSIDE_THE_PROTOCOL:
                options.remove(option)
        return (
            signature.task,
            signature.version,
            signature.shots,
            frozenset(options),
            signature.sent,
            signature.read,
            "local" if self.is_local else self.data,
        )

    def is_copy_of(self, other: "Run") -> bool:
        """Whether both were read from copies of one log, or from one log in two formats."""
        return (
            bool(self.log_id)
            and self.log_id == other.log_id
            and self.model == other.model
            and self.signature == other.signature
            and self.items.ids == other.items.ids
            and all(
                np.array_equal(
                    values,
                    other.items.values.get(name, ()),
                    equal_nan=True,
                )
                for name, values in self.items.values.items()
            )
        )

    def shares_responses(self, other: "Run") -> str:
        """Return how another model's run may have this one's responses; empty if it has not."""
        ours = (self.model, self.settings, self.sent)
        if ours == (other.model, other.settings, other.sent):
            return ""
        if self.cache and self.cache == other.cache and self.model != other.model:
            return (
                f"both used lm-eval's cache {self.cache}, which mixes models up: "
                "one may have the other's responses. Run each with a cache of its own"
            )
        both = self._long_responses_of_both(other)
        same = sum(a == b for a, b in both)
        if len(both) < _FEW_RESPONSES or same <= _SAME_RESPONSES * len(both):
            return ""
        return (
            f"{same:,} of {len(both):,} longer responses are equal to the last character: "
            "did the second model answer at all? Look for a cache, or a server with one model"
        )

    def _long_responses_of_both(self, other: "Run") -> list[tuple[int, int]]:
        """Return the checksums of both responses to each item with a long one."""
        if not (self.items.long_responses and other.items.long_responses):
            return []
        positions = other.items.positions
        both: list[tuple[int, int]] = []
        for name, position in self.items.positions.items():
            if name in positions:
                ours = self.items.long_responses[position]
                theirs = other.items.long_responses[positions[name]]
                if ours or theirs:
                    both.append((ours, theirs))
        return both

    # ------------------------------------------------------------------ how it was run

    @property
    def decoding(self) -> str:
        """How the next token was chosen: `greedy`, `temperature 0.7` or `decoding unknown`."""
        temperature = self.sent.temperature
        if temperature == 0 or self.sent.top_k == 1:
            return "greedy"
        if temperature is None:
            return say("decoding unknown")
        return say("temperature {temperature:g}", temperature=temperature)

    @property
    def generation(self) -> Mapping[str, float]:
        """Those of temperature, top_p, top_k and max_tokens that were sent."""
        names = ("temperature", "top_p", "top_k", "max_tokens")
        sent = {name: getattr(self.sent, name) for name in names}
        return {name: value for name, value in sent.items() if value is not None}

    @property
    def unfinished(self) -> str:
        """Why requested items are missing, such as `cancelled`; empty if none is."""
        return _ENDINGS.get(self.status, self.status)

    @property
    def interruption(self) -> str:
        """The reason why its items are not a random part of its task; empty if not interrupted."""
        if self.status in ("success", "incomplete", "excluded"):
            return ""
        log = f"{self.label} on {self.task} ({self.sources[0].name}): {self.unfinished}"
        items = f"{self.counts.total():,} of {self.expected:,} items"
        advice = (
            "those that finished first are not a random part. "
            "Finish it (inspect eval-retry LOG)."
        )
        return f"{log}, with {items}: {advice}"

    # ------------------------------------------------------------------ its items

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of its items by subject, each item once for all its epochs."""
        subject_of = dict(zip(self.items.ids, self.items.subjects, strict=True))
        return Counter(subject_of.values())

    @cached_property
    def subjects(self) -> Sequence[Subject]:
        """The catalogue's subjects for which it has items, in the paper's order."""
        subjects = self.kind.task.subjects
        return [subject for subject in subjects if self.counts[subject.name]]

    def subjects_of(self, part: str) -> Sequence[Subject]:
        """Return the catalogue's subjects in a category or group, or the one of this name."""
        return [subject for subject in self.kind.task.subjects if part in subject.sets]

    @cached_property
    def complete(self) -> bool:
        """Whether it has every item of its task: no `--limit`, missing subject or failure."""
        if self.limited and not self.available and not self._is_declared:
            return False  # nothing says how many items there are
        return not self.unfinished and self.counts.total() == self.expected

    def is_complete(self, part: str = "") -> bool:
        """Return whether it covers all items of its task, or of one category or subject."""
        if not part or self.complete or self.unfinished:
            return self.complete
        return all(
            self.counts[subject.name] == self.expected_of(subject)
            for subject in self.subjects_of(part)
        )

    @property
    def expected(self) -> int:
        """The number of items of the task, from the catalogue if it knows it, otherwise from the log."""
        if self.available and not self._is_declared:
            return self.available
        return sum(map(self.expected_of, self.kind.task.subjects))

    @property
    def _is_declared(self) -> bool:
        return all(subject.rows for subject in self.kind.task.subjects)

    def expected_of(self, subject: Subject) -> int:
        """Return the number of scored items of a subject."""
        if subject.rows:
            scored = self.kind.task.scored_rows(subject)
            return min(scored, int(self.options.get("size", 0)) or scored)
        # The catalogue does not know it: assume the share of all items.
        count = self.counts[subject.name]
        total = max(1, self.counts.total())
        return max(1, count, round(count * self.available / total))

    def in_proportion(self, subjects: Sequence[Subject]) -> bool:
        """Return whether its items of these subjects are in proportion to the subjects' sizes."""
        sizes = {subject.name: self.expected_of(subject) for subject in subjects}
        share = sum(self.counts[name] for name in sizes) / sum(sizes.values())
        return all(
            abs(self.counts[name] - share * size) < 1 for name, size in sizes.items()
        )


def once_a_run(
    function: Callable[Concatenate[Run, Given], Result],
) -> Callable[Concatenate[Run, Given], Result]:
    """Return a function that is computed once for each run and its further arguments.

    A run keeps its results, so they are gone with it, and a report of any number of runs has them.
    """

    @wraps(function)
    def remembered(
        run: Run,
        /,
        *further: Given.args,
        **named: Given.kwargs,
    ) -> Result:
        key = (function, further, *named.items())
        if key not in run.computed:
            run.computed[key] = function(run, *further, **named)
        result: Result = run.computed[key]
        return result

    return remembered


class SkippedLog(NamedTuple):
    """A file that was not read in full, and why, in one line.

    Attributes:
        path: The file.
        reason: Why.
        is_superseded: Whether another log has answers to all of its items, and it may be left out.
    """

    path: Path
    reason: str
    is_superseded: bool = False
