"""Tasks as they are run: `task_as_run` sets one up by its options, `load_task` adds its data."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from heapq import heappop, heappush
from math import ceil
from textwrap import shorten
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
from .kinds.reading import read_samples, unread_columns
from .printable import warn_once
from .prompts import Example, Prompt
from .samples import Sample
from .signing import signature_of

_LONG = 120  # characters of a difference in a warning
_SEED = "0/"
_BAD_SHARE, _BAD_SHARE_OF_SUBJECT = 0.01, 0.05
"""The share of the rows that may be unreadable; a file with more is not the release."""
_FEW_ROWS = 10
"""The number of rows by which a subject may differ from the paper's table if the total is right."""

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
        >>> task_as_run("hkmmlu", "stem", cot=True).task.name
        'hkmmlu_cot'
    """
    task = find_task(name)
    refuse_unknown(name, options)
    named = subjects.split(",") if isinstance(subjects, str) else subjects
    if wanted := {text.strip() for text in named} - {""}:
        chosen = tuple(
            subject for subject in task.subjects if wanted.intersection(subject.sets)
        )
        if unknown := sorted(
            wanted - {part for subject in chosen for part in subject.sets}
        ):
            there = [subject.name for subject in task.subjects]
            hint = did_you_mean(unknown[0], there)
            raise OptionError(
                f"{task.name} has no subjects {unknown}. {hint}There are {there}."
            )
        task = replace(task, subjects=chosen)
    kind = find_kind(task.definition.kind)
    fields = kind.Options.__struct_fields__
    of_variant = {"cot": task.variant.cot, "script": task.variant.script}
    given = {
        option: value for option, value in of_variant.items() if option in fields
    } | options
    try:
        converted = msgspec.convert(given, kind.Options, strict=False)
    except msgspec.ValidationError as error:
        known = "; ".join(map(": ".join, option_values(name).items()))
        raise OptionError(f"{name}: {error}. Its options are {known}.") from error
    if shots is not None and not str(shots).isdecimal():
        raise OptionError(f"{name}: shots={shots!r} is not a number from 0.")
    if (turns := str(multiturn).lower()) not in ("true", "false"):
        raise OptionError(f"{name}: multiturn={multiturn!r} is neither true nor false.")
    return kind(
        task,
        converted,
        None if shots is None else int(shots),
        multiturn=turns == "true",
    )


def option_values(name: str) -> dict[str, str]:
    """Return the options of a task and the possible values of each, for people.

    Examples:
        >>> [*option_values("hkcanto_g2p")]
        ['shots', 'subjects', 'multiturn', 'reasoning', 'prompt', 'examples']
        >>> option_values("hkcanto_g2p")["examples"]
        'paper or release'
    """
    task = find_task(name)
    kind = find_kind(task.definition.kind)
    words = {bool: "true or false", int: "a number from 0", str: "a text"}
    values = {
        "shots": words[int],
        "subjects": "names of subjects or categories, separated by commas",
        "multiturn": words[bool],
    }
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
    for option in given:
        if option not in (known := option_values(name)):
            listed = "; ".join(map(": ".join, known.items()))
            hint = did_you_mean(option, known)
            raise OptionError(
                f"{name} has no option {option!r}. {hint}It has {listed}."
            )


# ---------------------------------------------------------------------- with data


@dataclass(frozen=True)
class LoadedTask:
    """A task as it is run, with its data.

    Attributes:
        kind: The task as it is run, with the subjects in the data.
        samples: The scored items, in an order in which every prefix is a stratified sample.
        release: The rows of the release.
        differences: How the data differs from the published release, in sentences.
        asked: The subjects that were requested.
        bad: The rows set aside, since they cannot be read.
    """

    kind: Kind
    samples: Sequence[Sample]
    release: ReleaseRows
    differences: Sequence[str] = ()
    asked: tuple[Subject, ...] = ()
    bad: Sequence[UnreadableRow] = ()
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
        return f"{revision}-{len(self.bad)}rows" if self.bad else revision

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
        """Return the task with another number of worked examples or another form of turns."""
        if (shots, multiturn) == (self.kind.shots, self.kind.multiturn):
            return self
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
        if not 0 < count <= len(examples):
            lacks = self.kind.uses_dev_rows and not examples
            why = ": the data has no dev file for it" if lacks else ""
            there = f"there are {len(examples) or 'no'} worked examples{why}"
            where = f"{self.task.name} {subject}".rstrip()
            raise OptionError(
                f"{where}: shots={count}, but {there}. Ask for 0 to {len(examples)}."
            )
        return examples[:count]

    def examples(self, name: str) -> Sequence[Example]:
        """Return the worked examples of a subject, in order; empty if the data has none.

        Raises:
            OptionError: A worked example with a chain of thought has no reasoning to show.
            DataCorrupt: A file of examples is not valid data.
        """
        if name not in self._examples:
            kind, subject = self.kind, self.kind.subject(name)
            rows = (
                _example_rows(kind, self.release, subject) if kind.uses_dev_rows else []
            )
            origin = kind.example_source
            if origin and not all(row.reasoning for row in rows):
                rows, origin = self._reasoned(subject)
            examples = kind.examples(subject, rows)
            self._examples[name] = [
                replace(example, origin=origin) for example in examples
            ]
        return self._examples[name]

    def _reasoned(self, subject: Subject) -> tuple[list[Sample], str]:
        """Return worked examples with reasoning that the release lacks, and their source."""
        if printed := self.kind.printed():
            return printed, "paper"
        why = "no other data set is known to have it"
        if source := self.task.benchmark.reasoning:
            why = f"{source.repo_id} has none for it"
            try:
                release, origin = self._with_reasoning
                rows = _example_rows(self.kind, release, subject)
                if rows and all(row.reasoning for row in rows):
                    return rows, origin
            except HKCantoError as error:
                why = f"{source.repo_id} cannot be used: {error}"
        columns = " or ".join(map(repr, self.kind.columns("explanation")))
        lacks = f"the release has no reasoning for worked examples (no column {columns}); {why}"
        ask = "Ask for no examples: --num_fewshot 0 in lm-eval, -T shots=0 in Inspect."
        raise OptionError(f"{self.task.name} {subject.name}: {lacks}\n{ask}")

    @cached_property
    def _with_reasoning(self) -> tuple[ReleaseRows, str]:
        """The data set with the reasoning that the release lacks, and its name."""
        task, source = self.task, self.task.benchmark.reasoning
        assert source is not None  # asked for only if it is declared
        name = source.repo_id.rpartition("/")[2]
        place = {"hub": source, "github": None, "data": None, "folder": name}
        benchmark = msgspec.structs.replace(task.benchmark, **place)
        folder = locate(benchmark)
        release = ReleaseRows(
            folder, replace(task, benchmark=benchmark), self.kind.headerless
        )
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
        origins = {
            example.origin for subject in first for example in self.shots(subject.name)
        }
        return signature_of(
            self.kind.at(subjects=self.asked), self.revision, origins
        ).text


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
    kind = task_as_run(name, subjects, shots=shots, multiturn=multiturn, **options)
    _warn_of_unknown()
    task, folder = kind.task, locate(kind.task.benchmark)
    release, is_ours = (
        ReleaseRows(folder, task, kind.headerless),
        folder.kind in ("sample", "own"),
    )
    by_subject: dict[Subject, list[Sample]] = {}
    counts: dict[Subject, int] = {}
    bad: dict[str, UnreadableRow] = {}
    columns: dict[str, None] = {}
    for subject in task.subjects:
        table, samples, unreadable = _read(kind, release, subject, "test")
        bad |= {row.where: row for row in (*table.bad, *unreadable)}
        if bad and is_ours:
            raise next(iter(bad.values()))
        if (
            not release.subject_columns
        ):  # a bad row of a shared file cannot be counted for one
            unreadable = [*table.bad, *unreadable]
        if not table.rows and not unreadable:
            continue
        allowed = max(1, int(_BAD_SHARE_OF_SUBJECT * len(samples)))
        _refuse_many(f"{task.name} {subject.name}", unreadable, len(samples), allowed)
        columns |= dict.fromkeys(
            column for row in table.rows[:1] for column in row.cells
        )
        counts[subject] = len(samples) + len(unreadable)
        if samples:
            by_subject[subject] = samples[task.definition.examples_from_test :]
    if not by_subject and not allow_absent:
        raise next(iter(bad.values()), None) or release.missing()
    good = sum(map(len, by_subject.values()))
    _refuse_many(task.name, [*bad.values()], good, ceil(_BAD_SHARE * (len(bad) + good)))
    scored = map(kind.scored, by_subject.values())
    ordered = stratified(
        [
            msgspec.structs.replace(item, reasoning="") if item.reasoning else item
            for item in items
        ]
        for items in scored  # the release's reasoning gives the answer away
    )
    compared = None if is_ours else _compared(task.subjects, counts, [*bad.values()])
    differences, effect = compared or ([], "")
    if unread := ", ".join(unread_columns(kind, columns)):
        advice = (
            "name those of the question in the template, and the others in `ignored`"
        )
        differences.append(f"no prompt shows the columns {unread}: {advice}")
    if (remark := kind.remark(ordered)) and folder.kind != "sample":
        differences.append(f"{remark}: declare shuffle_options = 1 in its entry")
    if by_subject and differences:
        told = "; ".join(shorten(line, _LONG, placeholder=" …") for line in differences)
        all_of_it = f"`hkcanto doctor {task.benchmark.name}` lists them"
        warn_once(
            f"{task.definition.name}: {told}, in {folder.root}{effect}. {all_of_it}."
        )
    loaded = kind.at(subjects=[*by_subject])
    return LoadedTask(
        loaded, ordered, release, differences, task.subjects, [*bad.values()]
    )


def _compared(
    asked: Sequence[Subject],
    counts: Mapping[Subject, int],
    bad: Sequence[UnreadableRow],
) -> tuple[list[str], str]:
    """Return how data differs from the published release, and what follows from it.

    Args:
        asked: The requested subjects.
        counts: The number of rows of each subject in the data.
        bad: The rows set aside.
    """
    differences = []
    if missing := [one.name for one in asked if one not in counts]:
        names = ", ".join(missing)
        differences.append(
            f"{len(missing)} of {len(asked)} subjects are missing: {names}"
        )
    others = {one: count for one, count in counts.items() if one.rows not in (0, count)}
    same = sum(counts.values()) == sum(one.rows for one in asked)
    small = same and all(
        abs(count - one.rows) <= _FEW_ROWS for one, count in others.items()
    )
    if others:
        numbers = (
            f"{one.name or one.title} {of} (paper: {one.rows})"
            for one, of in others.items()
        )
        total = " (the total is as published)" if same else ""
        what = f"{len(others)} have an unpublished number of items{total}"
        differences.append(f"{what}: {', '.join(numbers)}")
    if bad:
        rows = "; ".join(f"{row.where}: {row.what}" for row in bad)
        differences.append(f"{len(bad)} unreadable rows were set aside: {rows}")
    breaks = missing or (others and not small)
    return differences, ": not comparable with published scores" if breaks else ""


_Read = tuple[Table, list[Sample], list[UnreadableRow]]


def _read(kind: Kind, release: ReleaseRows, subject: Subject, split: str) -> _Read:
    """Return a subject's rows of a split, their items, and those that the kind cannot read.

    Raises:
        DataCorrupt: The rows cannot all be from the release.
        UnreadableRow: A worked example cannot be read.
    """
    table = release.table(subject, split)
    samples, unreadable = read_samples(kind, table.rows, subject)
    files = ", ".join(release.files(subject, split)) or kind.task.definition.reader
    where = f"{release.folder.root}: {files}"
    for row in (
        (*table.bad, *unreadable) if split == "dev" else ()
    ):  # every worked example counts
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


def _refuse_many(
    name: str, bad: Sequence[UnreadableRow], good: int, allowed: int
) -> None:
    """Refuse data of which too many rows cannot be read."""
    if len(bad) > allowed:
        rows = "\n".join(f"  {row.where} has {row.what}" for row in bad[:5])
        many = (
            f"{len(bad)} of {len(bad) + good} rows cannot be read, more than {allowed}"
        )
        raise DataCorrupt(
            f"{name}: {many}:\n{rows}\nCorrect them, or fetch the data again."
        )


_VARIABLES = {
    *("HKCANTO_ALIASES", "HKCANTO_AUTOLOAD", "HKCANTO_BENCHMARKS", "HKCANTO_CACHE"),
    *("HKCANTO_DATA", "HKCANTO_DATA_DIR", "HKCANTO_GITHUB_ENDPOINT", "HKCANTO_OFFLINE"),
}


def _warn_of_unknown() -> None:
    """Warn of unknown variables, since a misspelt one may leave data unpinned."""
    sets = [benchmark.folder for benchmark in benchmarks() if benchmark.hub]
    sets += [
        of.reasoning.repo_id.rpartition("/")[2] for of in benchmarks() if of.reasoning
    ]
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
    subjects = [*by_subject]
    total = sum(map(len, subjects))
    # Each item has a first and a last turn between which its subject is less than one item off.
    # Among the items whose first turn has come, the one with the earliest last turn is next
    # (Tijdeman, 1980).
    arriving: list[list[tuple[int, float, int, Sample]]] = [[] for _ in range(total)]
    for subject, samples in enumerate(subjects):
        size = len(samples)
        shuffled = sorted(
            samples, key=lambda item: sha256((_SEED + item.id).encode()).digest()
        )
        for place, sample in enumerate(shuffled):
            last = -(-(place + 1) * total // size)
            arriving[place * total // size].append(
                (last, (place + 0.5) / size, subject, sample)
            )
    waiting: list[tuple[int, float, int, Sample]] = []
    ordered: list[Sample] = []
    for items in arriving:
        for item in items:
            heappush(waiting, item)
        ordered.append(heappop(waiting)[-1])
    return ordered
