"""Load a task with its data, ready for a harness: `load_task`."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from heapq import heappop, heappush
from typing import Any

import msgspec

from .catalogue import Subject, TaskVariant, find_task, look_again
from .data.fetch import DataFolder
from .data.locating import locate
from .data.release_files import ReleaseRows, report
from .data.tables import container, is_table
from .errors import DataNotFound, HKCantoError, OptionError
from .figures import parts_of
from .prompts import Example, Prompt
from .samples import Sample
from .setup import Setup, setup

_log = logging.getLogger("hkcanto")

_ORDER_SEED = 0


@dataclass(frozen=True)
class LoadedTask:
    """A setup with its data.

    Attributes:
        setup: The setup, with the subjects in the data.
        samples: The scored items, in an order in which every prefix is a stratified sample.
        examples: Subject → the worked examples to draw shots from, in order.
        revision: The name of the data: the pinned revision, `sample`, or `local-…` for changed
            files; with `-3rows` if three rows could not be read.
        asked: The subjects that were requested.
        script: The script's name in the signature, if the release has questions in that script:
            `sc-release` for Simplified questions that were not converted.
        unshown: Columns of the data that look like context but are not in the prompt.
    """

    setup: Setup
    samples: Sequence[Sample]
    examples: "WorkedExamples"
    revision: str
    asked: tuple[Subject, ...] = ()
    script: str = ""
    unshown: Sequence[str] = ()

    @property
    def task(self) -> TaskVariant:
        """The named task, with its subjects and variant."""
        return self.setup.task

    @property
    def remark(self) -> str:
        """Why its scores are not comparable, in parentheses for a results table; else empty."""
        there, is_whole = len(self.task.subjects), self.task.scope == "task"
        every = len(self.task.definition.subjects) if is_whole else len(self.asked)
        remarks = [
            f"{there} of {every} subjects" * (there < every),
            "sample data" * (self.revision == "sample"),
            self.setup.remark(self.samples),
        ]
        told = ", ".join(filter(None, remarks))
        return f" ({told})" if told else ""

    def at(self, *, shots: int, multiturn: bool = False) -> "LoadedTask":
        """Return a copy with another number of worked examples or another form of turns."""
        return replace(self, setup=self.setup.at(shots=shots, multiturn=multiturn))

    def prompt(self, sample: Sample) -> Prompt:
        """Return the prompt of an item.

        Raises:
            OptionError: There are fewer worked examples than shots.
        """
        return self.setup.prompt(sample, self.shots(sample.subject))

    def shots(self, subject: str) -> Sequence[Example]:
        """Return the worked examples in a subject's prompts.

        Raises:
            OptionError: There are fewer worked examples than shots.
        """
        if not (count := self.setup.shots):
            return ()
        examples = self.examples(subject)
        if not 0 < count <= len(examples):
            where = " ".join(filter(None, (self.task.name, subject)))
            there = f"there are {len(examples)} worked examples. Ask for 0 to {len(examples)}."
            if not examples:
                why = ": the data has no dev file for it" * self.task.definition.has_examples
                there = f"there are no worked examples{why}. Ask for 0."
            raise OptionError(f"{where}: shots={count}, but {there}")
        return examples[:count]

    @property
    def signature(self) -> str:
        """The signature of a score, in the manner of sacreBLEU.

        Compare scores only if their signatures match, ignoring `pkg`.

        Examples:
            >>> load_task("hkcanto_g2p").signature.split("|")[:4]
            ['hkcanto-g2p', 'shots:5', 'turns:single', 'examples:paper']
        """
        first = self.task.subjects[:1] if self.samples else ()
        origins = {each.origin for subject in first for each in self.shots(subject.name)}
        asked = self.setup.at(subjects=self.asked) if self.asked else self.setup
        signed = asked.signature(self.revision, origins)
        if self.script:
            options = {**dict(signed.options), "script": self.script}
            signed = replace(signed, options=tuple(options.items()))
        return signed.text


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
        DataNotFound: The data is not in the location set in the environment.
        DataCorrupt: A file is not valid data; the message names file and row.
        NetworkUnavailable: The data must be downloaded, but cannot be.
    """
    how = setup(name, subjects, shots=shots, multiturn=multiturn, **options)
    folder = locate(how.task.benchmark)
    if how.task.definition.is_open:
        _learn_subjects(how.task, folder)
        how = setup(name, subjects, shots=shots, multiturn=multiturn, **options)
    task = how.task
    release = ReleaseRows(folder, how)
    present = [subject for subject in task.subjects if subject.name in release.rows]
    if not present and not allow_absent:
        raise _without_test(task, folder)
    found = release.differences
    said = found.summary() if present else ""
    report(said, found.breaks_comparability, folder.root, task.definition.name, task.benchmark.name)
    revision = folder.revision(*release.tests) if present else ""
    examples = WorkedExamples(how, release)
    own = {subject.name: release.is_own_script(subject) for subject in present}
    kinds = sorted({"sc-release" if each else "sc" for each in own.values()})
    ways = {each: how.at(own_script=each) for each in {*own.values()}}
    samples = [
        [_placed(each, task, subject) for each in ways[own[subject.name]].scored(rows, subject)]
        for subject in present
        if (rows := release.rows.pop(subject.name))  # `examples` keeps `release` alive
    ]
    ordered = stratified(samples)
    if (gives_away := how.remark(ordered)) and revision != "sample":
        _warn(name, gives_away)
    return LoadedTask(
        setup=how.at(subjects=present),
        samples=ordered,
        examples=examples,
        revision=f"{revision}-{len(found.bad)}rows" if found.bad else revision,
        asked=task.subjects,
        script="+".join(kinds) if any(own.values()) else "",
        unshown=found.unshown,
    )


def _learn_subjects(task: TaskVariant, folder: DataFolder) -> None:
    """Download the files whose names are the subjects of a task."""
    paths = map(container, task.definition.paths("test", ""))
    if folder.kind == "cache":
        folder.fetch([*paths] if task.benchmark.github else None)
    look_again()
    if find_task(task.name).definition.is_open:
        raise _without_test(task, folder)


def _without_test(task: TaskVariant, folder: DataFolder) -> DataNotFound:
    definition, expected = task.definition, ""
    places = definition.places.get("test", ())
    if places:
        stem = task.subjects[0].stem
        there = {*folder.files()}
        asked = ([path.replace("{stem}", stem) for path in paths] for paths in places)
        named = (
            " with ".join(
                each + " (lacking)" * (len(paths) > 1 and not any(each in file for file in there))
                for each in paths
            )
            for paths in asked
        )
        expected = f"; expected {' or '.join(named)}"
    elif not definition.is_located:
        expected = '. If one of its splits is the test split, name it: splits = { test = "…" }'
    return DataNotFound(
        f"{folder.root} has no test file of {task.name}{expected}. It has "
        f"{_listed(folder.files())}."
        + f" Correct `files` in {task.benchmark.home}/benchmark.toml."
        * bool(places)
    )


@cache  # logged once, however many conditions of the task run
def _warn(task: str, gives_away: str) -> None:
    _log.warning("%s: %s. Declare shuffle_options = 1 in its entry.", task, gives_away)


def _listed(files: Sequence[str]) -> str:
    """List the contents of a folder, at most six."""
    named = [each for each in files if is_table(each) or each.endswith(".zip")] or files
    more = f" and {len(named) - 6} more" if len(named) > 6 else ""
    return f"{', '.join(named[:6])}{more}" if named else "no files"


def _placed(sample: Sample, task: TaskVariant, subject: Subject) -> Sample:
    """Complete an item with the facts that follow from its task and subject."""
    return msgspec.structs.replace(
        sample,
        id="/".join(filter(None, (task.definition.name, subject.name, sample.id))),
        subject=subject.name,
        category=sample.category or subject.category,
        parts=parts_of(task, subject) + sample.parts,
        reasoning="",
    )


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
    shuffled = [sorted(each, key=lambda sample: _digest(sample.id)) for each in by_subject]
    total = sum(map(len, shuffled))
    # Each item has a first and a last turn between which its subject is less than one item off.
    # Among the items whose first turn has come, the one with the earliest last turn is next
    # (Tijdeman, 1980).
    turns: list[tuple[int, int, float, int, int]] = []
    for subject, each in enumerate(shuffled):
        size = len(each)
        for place in range(size):
            first, last = place * total // size + 1, -(-(place + 1) * total // size)
            turns.append((first, last, (place + 0.5) / size, subject, place))
    turns.sort()
    waiting: list[tuple[int, float, int, int]] = []
    ordered: list[Sample] = []
    upcoming = 0
    for turn in range(1, total + 1):
        while upcoming < total and turns[upcoming][0] <= turn:
            heappush(waiting, turns[upcoming][1:])
            upcoming += 1
        _, _, subject, place = heappop(waiting)
        ordered.append(shuffled[subject][place])
    return ordered


def _digest(item: str) -> bytes:
    return sha256(f"{_ORDER_SEED}/{item}".encode()).digest()


class WorkedExamples:
    """The worked examples of each subject, in order; empty if the data has none.

    If the prompt has no worked examples, no dev file is needed or read.

    Args:
        setup: The setup that renders them.
        release: The rows of the release.

    Raises:
        OptionError: A worked example with a chain of thought has no reasoning to show.
        DataCorrupt: A file of examples is not valid data.
    """

    def __init__(self, setup: Setup, release: ReleaseRows) -> None:
        self._setup, self._release = setup, release
        self._found: dict[str, Sequence[Example]] = {}
        self._with_reasoning: tuple[ReleaseRows, str] | None = None

    def __call__(self, name: str) -> Sequence[Example]:
        """Return the worked examples of a subject."""
        if name not in self._found:
            self._found[name] = self._examples(self._setup.subject(name))
        return self._found[name]

    def _examples(self, subject: Subject) -> Sequence[Example]:
        rows, origin = self._release.examples(subject), self._setup.example_source
        own = self._release.is_own_script(subject, "dev")
        if not all(map(self._setup.has_rationale, rows)):
            if printed := self._setup.printed():
                rows, origin = printed, "paper"
            else:
                rows, origin = self._reasoned(subject)
            own = False
        made = self._setup.at(own_script=own).examples(subject, rows)
        return [replace(example, origin=origin) for example in made] if origin else made

    def _reasoned(self, subject: Subject) -> tuple[list[Any], str]:
        """Return rows of the data set with the reasoning that the release lacks, and its name."""
        task = self._setup.task
        source, why = task.benchmark.reasoning, "no other data set is known to have it"
        if source:
            name = source.repo_id.rpartition("/")[2]
            try:
                if not self._with_reasoning:
                    other = msgspec.structs.replace(
                        task.benchmark, hub=source, github=None, data=None, folder=name
                    )
                    folder = locate(other)
                    release = ReleaseRows(folder, self._setup)
                    self._with_reasoning = release, f"{name}@{folder.revision()}"
                release, origin = self._with_reasoning
                rows = release.examples(subject) or release.rows.get(subject.name, [])
                rows = rows[: task.definition.dev_rows]
                if rows and all(map(self._setup.has_rationale, rows)):
                    return rows, origin
                why = f"{source.repo_id} has none for it"
            except HKCantoError as error:
                why = f"{source.repo_id} cannot be used: {error}"
        raise OptionError(
            f"{' '.join(filter(None, (task.name, subject.name)))}: worked examples with a chain of "
            "thought need reasoning, and the release has none (no column 'explanation' or "
            f"'reasoning'). Without it, they would teach a model to skip its reasoning. {why}\n"
            "Ask for no examples: --num_fewshot 0 in lm-eval, -T shots=0 in Inspect."
        )
