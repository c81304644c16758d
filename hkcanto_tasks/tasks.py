"""Tasks as they are run: `task_as_run` sets one up by its options, `load_task` adds its data."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from heapq import heappop, heappush
from math import ceil
from typing import Any, get_args, get_type_hints

import msgspec

from .catalogue import benchmarks, find_task
from .data.checks import refuse_odd
from .data.fetch import revision_variable
from .data.locating import locate
from .data.rows import ReleaseRows
from .data.tables import Table, UnreadableRow
from .declarations import Subject, TaskVariant
from .errors import DataCorrupt, HKCantoError, OptionError, did_you_mean
from .kinds import find_kind
from .kinds.base import Kind
from .printable import warn_once
from .prompts import Example, Prompt
from .samples import Sample

_ORDER_SEED = 0
_BAD_SHARE, _BAD_SHARE_OF_SUBJECT = 0.01, 0.05
"""The share of the rows that may be unreadable; a file with more is not the release."""
_FEW_ROWS = 10
"""The number of rows by which a subject may differ from the paper's table if the total is right."""

RUN_OPTIONS = {
    "shots": "a number from 0",
    "subjects": "names of subjects or categories, separated by commas",
    "multiturn": "true or false",
}
"""The options of every task, besides those of its kind, and their values."""


# ---------------------------------------------------------------------- without data


def task_as_run(
    name: str,
    subjects: str | Sequence[str] = (),
    *,
    shots: int | str | None = None,
    multiturn: bool | str = False,
    **options: Any,
) -> Kind:
    """Return a task under its options, without its data.

    Args:
        name: The name of a task, a part, a subject or a variant in lm-eval, e.g. `hkmmlu_cot`.
        subjects: Run only these subjects; the name of a category or set selects its subjects.
        shots: Number of worked examples in the prompt, from 0; by default that of the task, or of
            the variant that the options select.
        multiturn: Whether each worked example is its own turn in a chat.
        options: See the kind's `Options`; texts such as `"true"` are converted.

    Raises:
        CatalogueError: The task does not exist.
        OptionError: A subject or option does not exist, or an option cannot have that value.

    Examples:
        >>> task_as_run("hkmmlu", "stem", cot=True).signature("…").text.split("|")[:4]
        ['hkmmlu-cot', 'shots:0', 'turns:single', 'subjects:stem']
    """
    task = find_task(name)
    refuse_unknown(name, options)
    named = subjects.split(",") if isinstance(subjects, str) else subjects
    if wanted := {text.strip() for text in named} - {""}:
        chosen = tuple(subject for subject in task.subjects if wanted.intersection(subject.sets))
        if unknown := sorted(wanted - {part for subject in chosen for part in subject.sets}):
            there = [subject.name for subject in task.subjects]
            hint = did_you_mean(unknown[0], there)
            raise OptionError(f"{task.name} has no subjects {unknown}. {hint}There are {there}.")
        task = replace(task, subjects=chosen)
    kind = find_kind(task.definition.kind)
    fields = kind.Options.__struct_fields__
    of_variant = {"cot": task.variant.cot, "script": task.variant.script}
    given = {option: value for option, value in of_variant.items() if option in fields} | options
    try:
        converted = msgspec.convert(given, kind.Options, strict=False)
    except msgspec.ValidationError as error:
        known = _listed(option_values(name))
        raise OptionError(f"{name}: {error}. Its options are {known}.") from error
    if shots is not None and not str(shots).isdecimal():
        raise OptionError(f"{name}: shots={shots!r} is not {RUN_OPTIONS['shots']}.")
    if (turns := str(multiturn).lower()) not in ("true", "false"):
        raise OptionError(f"{name}: multiturn={multiturn!r} is neither true nor false.")
    return kind(task, converted, None if shots is None else int(shots), multiturn=turns == "true")


def option_values(name: str) -> dict[str, str]:
    """Return the options of a task's kind and the possible values of each, for people.

    Examples:
        >>> option_values("hkcanto_g2p")
        {'reasoning': 'true or false', 'prompt': 'paper, release', 'examples': 'paper or release'}
    """
    task = find_task(name)
    kind = find_kind(task.definition.kind)
    words = {bool: "true or false", int: RUN_OPTIONS["shots"], str: "a text"}
    values = {}
    for option, declared in get_type_hints(kind.Options).items():
        listed = " or ".join(sorted(map(str, get_args(declared))))
        values[option] = listed or words.get(declared, "a number")
    if "prompt" in values:
        values["prompt"] = ", ".join(task.definition.prompts)
        if kind.SCAFFOLD:
            values["prompt"] += f", each with or without {kind.SCAFFOLD}"
    return values


def refuse_unknown(name: str, given: Iterable[str]) -> None:
    """Refuse options that a task does not have.

    Args:
        name: The task's name.
        given: The names of the given options.

    Raises:
        OptionError: An option does not exist; the message lists those that do.
    """
    known = {**RUN_OPTIONS, **option_values(name)} if given else {}
    for option in given:
        if option not in known:
            hint = did_you_mean(option, known)
            raise OptionError(f"{name} has no option {option!r}. {hint}It has {_listed(known)}.")


def _listed(options: Mapping[str, str]) -> str:
    return "; ".join(f"{option}: {values}" for option, values in options.items())


# ---------------------------------------------------------------------- with data


@dataclass(frozen=True, slots=True)
class Differences:
    """How the data differs from the published release, for one task.

    Attributes:
        asked: The number of requested subjects.
        missing: Requested subjects without a file.
        counts: Subject → its number of rows and the published number, if these differ.
        total: Whether the total number of rows is as published.
        bad: The rows set aside.
        unread: Columns that neither the kind reads nor the prompt shows.
    """

    asked: int
    missing: Sequence[str] = ()
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    total: bool = True
    bad: Sequence[UnreadableRow] = ()
    unread: Sequence[str] = ()

    @property
    def breaks_comparability(self) -> bool:
        """Whether scores are not comparable with published ones."""
        small = all(abs(rows - published) <= _FEW_ROWS for rows, published in self.counts.values())
        return bool(self.missing or (self.counts and not (self.total and small)))

    @property
    def lines(self) -> list[str]:
        """The differences in full, one a line."""
        return [line for _, line in self.told()]

    def told(self) -> Iterator[tuple[str, str]]:
        """Yield each difference, in short and in full."""
        if self.missing:
            short = f"{len(self.missing)} of {self.asked} subjects are missing"
            yield short, f"missing subjects: {', '.join(self.missing)}"
        if self.counts:
            counts = ", ".join(f"{name} {n} (paper: {of})" for name, (n, of) in self.counts.items())
            total = " (the total is as published)" if self.total else ""
            short = f"{len(self.counts)} have an unpublished number of items"
            yield short, f"other numbers of items{total}: {counts}"
        if self.bad:
            rows = "; ".join(f"{row.where}: {row.what}" for row in self.bad)
            yield f"{len(self.bad)} unreadable rows were set aside", f"rows set aside: {rows}"
        if columns := ", ".join(self.unread):
            advice = "those of the question in the template, and the others in `ignored`"
            short = f"no prompt shows the columns {columns}: name {advice}"
            yield short, f"columns that no prompt shows: {columns}"


@dataclass(frozen=True)
class LoadedTask:
    """A task as it is run, with its data.

    Attributes:
        kind: The task as it is run, with the subjects in the data.
        samples: The scored items, in an order in which every prefix is a stratified sample.
        release: The rows of the release.
        differences: How the data differs from the published release.
        asked: The subjects that were requested.
    """

    kind: Kind
    samples: Sequence[Sample]
    release: ReleaseRows
    differences: Differences
    asked: tuple[Subject, ...] = ()
    _examples: dict[str, Sequence[Example]] = field(default_factory=dict, init=False)

    @property
    def task(self) -> TaskVariant:
        """The named task, with its subjects and variant."""
        return self.kind.task

    @cached_property
    def revision(self) -> str:
        """The name of the data.

        It is the pinned revision, `sample`, or `local-…` for changed files; with `-3rows` if three
        rows could not be read. It covers the files of the worked examples, if the prompt has any.
        """
        splits = {"test": self.task.subjects}
        if self.kind.shots and self.kind.uses_dev_rows:
            splits["dev"] = self.task.subjects
        revision = self.release.revision(splits)
        bad = len(self.differences.bad)
        return f"{revision}-{bad}rows" if bad else revision

    @property
    def remark(self) -> str:
        """Why its scores are not comparable, in parentheses for a results table; else empty."""
        there, is_whole = len(self.task.subjects), self.task.scope == "task"
        every = len(self.task.definition.subjects) if is_whole else len(self.asked)
        remarks = [f"{there} of {every} subjects"] if there < every else []
        remarks += ["sample data"] if self.release.folder.kind == "sample" else []
        remarks += filter(None, [self.kind.remark(self.samples)])
        return f" ({', '.join(remarks)})" if remarks else ""

    def at(self, *, shots: int, multiturn: bool = False) -> "LoadedTask":
        """Return a copy with another number of worked examples or another form of turns."""
        return replace(self, kind=self.kind.at(shots=shots, multiturn=multiturn))

    def prompt(self, sample: Sample) -> Prompt:
        """Return the prompt of an item.

        Raises:
            OptionError: There are fewer worked examples than shots.
        """
        return self.kind.prompt(sample, self.shots(sample.subject))

    def shots(self, subject: str) -> Sequence[Example]:
        """Return the worked examples in a subject's prompts.

        Raises:
            OptionError: There are fewer worked examples than shots.
        """
        if not (count := self.kind.shots):
            return ()
        examples = self.examples(subject)
        there = len(examples)
        if not 0 < count <= there:
            where = " ".join(filter(None, (self.task.name, subject)))
            lacks = self.kind.uses_dev_rows and not examples
            why = ": the data has no dev file for it" if lacks else ""
            what = f"{where}: shots={count}, but there are {there or 'no'} worked examples{why}"
            raise OptionError(f"{what}. Ask for 0{f' to {there}' if there else ''}.")
        return examples[:count]

    def examples(self, name: str) -> Sequence[Example]:
        """Return the worked examples of a subject, in order; empty if the data has none.

        Raises:
            OptionError: A worked example with a chain of thought has no reasoning to show.
            DataCorrupt: A file of examples is not valid data.
        """
        if name not in self._examples:
            kind, subject = self.kind, self.kind.subject(name)
            rows = _example_rows(kind, self.release, subject) if kind.uses_dev_rows else []
            origin = kind.example_source
            if origin and not all(row.reasoning for row in rows):
                printed = kind.printed()
                rows, origin = (printed, "paper") if printed else self._reasoned(subject)
            examples = kind.examples(subject, rows)
            self._examples[name] = [
                replace(example, origin=origin or example.origin) for example in examples
            ]
        return self._examples[name]

    def _reasoned(self, subject: Subject) -> tuple[list[Sample], str]:
        """Return worked examples with reasoning from another data set, and its name."""
        why = "no other data set is known to have it"
        if source := self.task.benchmark.reasoning:
            try:
                release, origin = self._with_reasoning
                rows = _example_rows(self.kind, release, subject)
                if rows and all(row.reasoning for row in rows):
                    return rows, origin
                why = f"{source.repo_id} has none for it"
            except HKCantoError as error:
                why = f"{source.repo_id} cannot be used: {error}"
        columns = " or ".join(map(repr, self.kind.columns("explanation")))
        raise OptionError(
            f"{' '.join(filter(None, (self.task.name, subject.name)))}: worked examples with a "
            f"chain of thought need reasoning, and the release has none (no column {columns}). "
            f"Without it, they would teach a model to skip its reasoning. {why}\nAsk for no "
            "examples: --num_fewshot 0 in lm-eval, -T shots=0 in Inspect."
        )

    @cached_property
    def _with_reasoning(self) -> tuple[ReleaseRows, str]:
        """The data set with the reasoning that the release lacks, and its name."""
        task, source = self.task, self.task.benchmark.reasoning
        assert source is not None  # asked for only if it is declared
        name = source.repo_id.rpartition("/")[2]
        place = {"hub": source, "github": None, "data": None, "folder": name}
        benchmark = msgspec.structs.replace(task.benchmark, **place)
        folder = locate(benchmark)
        release = ReleaseRows(folder, replace(task, benchmark=benchmark), self.kind.headerless)
        return release, f"{name}@{folder.revision()}"

    @property
    def signature(self) -> str:
        """The signature of a score, in the manner of sacreBLEU.

        Compare scores only if their signatures match, ignoring `pkg`.

        Examples:
            >>> load_task("hkcanto_g2p").signature.split("|")[:4]
            ['hkcanto-g2p', 'shots:5', 'turns:single', 'prompt:paper']
        """
        first = self.task.subjects[:1] if self.samples else ()
        origins = {example.origin for subject in first for example in self.shots(subject.name)}
        asked = self.kind.at(subjects=self.asked) if self.asked else self.kind
        return asked.signature(self.revision, origins).text


def load_task(
    name: str,
    subjects: str | Sequence[str] = (),
    *,
    shots: int | str | None = None,
    multiturn: bool | str = False,
    allow_absent: bool = False,
    **options: Any,
) -> LoadedTask:
    """Load a task with its data from the location set in the environment.

    Args:
        name: The name of a task, a part, a subject or a variant in lm-eval, e.g. `hkcanto_g2p`.
        subjects: Load only these subjects.
        shots: Number of worked examples in the prompt; by default the task's own.
        multiturn: Whether each worked example is its own turn in a chat.
        allow_absent: Return a task without samples if the data lacks all of its subjects.
        options: See the kind's `Options`, e.g. `examples="release"`.

    Returns:
        The task. Subjects that the data lacks are left out, and reported once as a warning.

    Raises:
        CatalogueError: The task does not exist.
        OptionError: An option does not exist, or cannot have that value.
        DataNotFound: The data is not in the location set in the environment, or not as declared.
        DataCorrupt: A file is not valid data; the message names file and row.
        NetworkUnavailable: The data must be downloaded, but cannot be.
    """
    _warn_of_unknown()
    kind = task_as_run(name, subjects, shots=shots, multiturn=multiturn, **options)
    task, folder = kind.task, locate(kind.task.benchmark)
    release, is_ours = ReleaseRows(folder, task, kind.headerless), folder.kind in ("sample", "own")
    by_subject: dict[Subject, list[Sample]] = {}
    counts: dict[Subject, int] = {}
    bad: dict[str, UnreadableRow] = {}
    columns: dict[str, None] = {}
    for subject in task.subjects:
        table, samples, unreadable = _read(kind, release, subject, "test")
        bad |= {row.where: row for row in (*table.bad, *unreadable)}
        if bad and is_ours:
            raise next(iter(bad.values()))
        if not release.subject_columns:  # a bad row of a shared file cannot be counted for one
            unreadable = [*table.bad, *unreadable]
        if not table.rows and not unreadable:
            continue
        allowed = max(1, int(_BAD_SHARE_OF_SUBJECT * len(samples)))
        _refuse_many(f"{task.name} {subject.name}", unreadable, len(samples), allowed)
        columns |= dict.fromkeys(column for row in table.rows[:1] for column in row.cells)
        counts[subject] = len(samples) + len(unreadable)
        if samples:
            by_subject[subject] = samples[task.definition.examples_from_test :]
    if not by_subject and not allow_absent:
        raise next(iter(bad.values()), None) or release.missing()
    good = sum(map(len, by_subject.values()))
    _refuse_many(task.name, [*bad.values()], good, ceil(_BAD_SHARE * (len(bad) + good)))
    asked, unread = len(task.subjects), kind.unread(columns)
    differences = Differences(asked, unread=unread)
    if not is_ours:
        missing = [subject.name for subject in task.subjects if subject not in counts]
        pairs = {one.name or one.title: (count, one.rows) for one, count in counts.items()}
        numbers = {name: pair for name, pair in pairs.items() if pair[1] not in (0, pair[0])}
        total = sum(counts.values()) == sum(subject.rows for subject in task.subjects)
        differences = Differences(asked, missing, numbers, total, [*bad.values()], unread)
    if by_subject and (told := ", ".join(short for short, _ in differences.told())):
        breaks = differences.breaks_comparability
        effect = ": not comparable with published scores" if breaks else ""
        warn_once(
            f"{task.definition.name}: {told}, in {folder.root}{effect}. `hkcanto doctor "
            f"{task.benchmark.name}` lists them."
        )
    scored = map(kind.scored, by_subject.values())
    ordered = stratified(
        [msgspec.structs.replace(item, reasoning="") if item.reasoning else item for item in items]
        for items in scored  # the release's reasoning gives the answer away
    )
    if (remark := kind.remark(ordered)) and folder.kind != "sample":
        warn_once(f"{name}: {remark}. Declare shuffle_options = 1 in its entry.")
    loaded = kind.at(subjects=[*by_subject])
    return LoadedTask(loaded, ordered, release, differences, task.subjects)


_Read = tuple[Table, list[Sample], list[UnreadableRow]]


def _read(kind: Kind, release: ReleaseRows, subject: Subject, split: str) -> _Read:
    """Return a subject's rows of a split, their items, and those that the kind cannot read.

    Raises:
        DataCorrupt: The rows cannot all be from the release.
        UnreadableRow: A worked example cannot be read.
    """
    table = release.read(subject, split)
    samples, unreadable = kind.read(table.rows, subject)
    files = ", ".join(release.files(subject, split)) or kind.task.definition.reader
    where = f"{release.folder.root}: {files}"
    for row in (*table.bad, *unreadable) if split == "dev" else ():  # every worked example counts
        raise row
    kind.check(samples, where)
    refuse_odd(samples, kind.task.definition, where)
    return table, samples, unreadable


def _example_rows(kind: Kind, release: ReleaseRows, subject: Subject) -> list[Sample]:
    """Return the items that are a subject's worked examples; none without a dev file."""
    definition = kind.task.definition
    from_test = definition.examples_from_test
    _, samples, _ = _read(kind, release, subject, "test" if from_test else "dev")
    return samples[: from_test or definition.dev_rows]


def _refuse_many(name: str, bad: Sequence[UnreadableRow], good: int, allowed: int) -> None:
    """Refuse data of which too many rows cannot be read."""
    if len(bad) > allowed:
        rows = "\n".join(f"  {row.where} has {row.what}" for row in bad[:5])
        raise DataCorrupt(
            f"{name}: {len(bad)} of {len(bad) + good} rows cannot be read, more than {allowed}:\n"
            f"{rows}\nCorrect them, or fetch the data again."
        )


_VARIABLES = {
    *("HKCANTO_ALIASES", "HKCANTO_AUTOLOAD", "HKCANTO_BENCHMARKS", "HKCANTO_CACHE"),
    *("HKCANTO_DATA", "HKCANTO_DATA_DIR", "HKCANTO_GITHUB_ENDPOINT", "HKCANTO_OFFLINE"),
}


def _warn_of_unknown() -> None:
    """Warn of unknown variables, since a misspelt one may leave data unpinned."""
    sets = [benchmark.folder for benchmark in benchmarks() if benchmark.hub]
    sets += [of.reasoning.repo_id.rpartition("/")[2] for of in benchmarks() if of.reasoning]
    known = {*_VARIABLES, *map(revision_variable, sets)}
    for name in sorted({*os.environ} - known):
        if name.startswith("HKCANTO_") and not name.startswith("HKCANTO_TEST_"):
            hint = did_you_mean(name, known) or f"There are {', '.join(sorted(known))}."
            warn_once(f"{name} is set, but nothing reads it. {hint.rstrip()}")


def stratified(by_subject: Iterable[Sequence[Sample]]) -> list[Sample]:
    """Return the items of all subjects in an order in which every prefix is a stratified sample.

    Each subject is shuffled with a fixed seed, and subjects take turns in proportion to their size:
    among the first m of N items, a subject with n items has m · n / N items, to within less than
    one.

    Args:
        by_subject: The items of each subject.

    Examples:
        >>> law, food = (Sample(id="", subject=name) for name in ("law", "food"))
        >>> [sample.subject for sample in stratified([[law] * 4, [food] * 2])]
        ['law', 'food', 'law', 'law', 'food', 'law']
    """
    seed = f"{_ORDER_SEED}/"
    shuffled = [
        sorted(samples, key=lambda sample: sha256((seed + sample.id).encode()).digest())
        for samples in by_subject
    ]
    total = sum(map(len, shuffled))
    # Each item has a first and a last turn between which its subject is less than one item off.
    # Among the items whose first turn has come, the one with the earliest last turn is next
    # (Tijdeman, 1980).
    arriving: list[list[tuple[int, float, int, Sample]]] = [[] for _ in range(total)]
    for subject, samples in enumerate(shuffled):
        size = len(samples)
        for place, sample in enumerate(samples):
            last = -(-(place + 1) * total // size)
            arriving[place * total // size].append((last, (place + 0.5) / size, subject, sample))
    waiting: list[tuple[int, float, int, Sample]] = []
    ordered: list[Sample] = []
    for items in arriving:
        for item in items:
            heappush(waiting, item)
        ordered.append(heappop(waiting)[-1])
    return ordered
