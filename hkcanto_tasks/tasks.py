"""Tasks as they are run: `task_as_run` sets one up by its options, `load_task` adds its data."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from heapq import heappop, heappush
from textwrap import shorten
from typing import Any, get_args, get_type_hints

import msgspec

from hkcanto_metrics.faults import in_words

from .catalogue import benchmarks, find_task, is_set
from .data.fetch import revision_variable
from .data.locating import locate
from .data.releases import HubDataset
from .data.rows import ReleaseRows
from .data.tables import UnreadableRow
from .declarations import Subject, TaskVariant
from .errors import HKCantoError, OptionError, did_you_mean
from .kinds import find_kind
from .kinds.base import Kind
from .kinds.reading import unread_columns
from .loading import (
    ScoredRows,
    differences,
    example_rows,
    is_comparable,
    is_ours,
    left_out,
    refuse_unreadable,
    scored_rows,
)
from .printable import warn_once
from .prompts import Example, Prompt
from .samples import Sample
from .signing import signature_of

_LONGEST_SENTENCE = 120  # characters of a difference in a warning
_SEED = 0  # of the order of a subject's items

# ---------------------------------------------------------------------- without data


def task_as_run(
    name: str,
    subjects: str | Sequence[str] = (),
    *,
    shots: int | str | None = None,
    multiturn: bool | str = False,
    **options: Any,
) -> Kind:
    """Return a task under its options, without its data: an instance of its kind.

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
    kind = find_kind(task.definition.kind)
    _refuse_unknown(name, options, _option_values(task, kind))
    names = subjects.split(",") if isinstance(subjects, str) else subjects
    chosen = {text.strip() for text in names} - {""}
    if chosen:
        task = replace(task, subjects=_chosen_subjects(task, chosen))
    return kind(
        task,
        _converted(
            name,
            task,
            kind,
            options,
        ),
        _number_of_shots(name, shots),
        multiturn=_is_true(name, "multiturn", multiturn),
    )


def _chosen_subjects(task: TaskVariant, names: set[str]) -> tuple[Subject, ...]:
    """Return the subjects that names of subjects, categories and sets select."""
    chosen = [subject for subject in task.subjects if names.intersection(subject.sets)]
    known = {name for subject in chosen for name in subject.sets}
    unknown = sorted(names - known)
    if unknown:
        subjects = [subject.name for subject in task.subjects]
        hint = did_you_mean(unknown[0], subjects)
        raise OptionError(
            f"{task.name} has no subjects {unknown}. {hint}There are {subjects}."
        )
    return tuple(chosen)


def _converted(
    name: str,
    task: TaskVariant,
    kind: type[Kind],
    options: Mapping[str, Any],
) -> Any:
    """Return the options of a kind: those of the variant, and the user's."""
    values: dict[str, Any] = {"cot": task.variant.cot, "script": task.variant.script}
    fields = kind.Options.__struct_fields__
    values = {option: value for option, value in values.items() if option in fields}
    try:
        return msgspec.convert({**values, **options}, kind.Options, strict=False)
    except msgspec.ValidationError as error:
        known = _listed(_option_values(task, kind))
        raise OptionError(
            f"{name}: {in_words(error, dict(options))}. Its options are {known}."
        ) from error


def _number_of_shots(name: str, shots: int | str | None) -> int | None:
    if shots is None:
        return None
    if not str(shots).isdecimal():
        raise OptionError(f"{name}: shots={shots!r} is not a number from 0.")
    return int(shots)


def _is_true(
    name: str,
    option: str,
    value: bool | str,
) -> bool:
    text = str(value).lower()
    if text not in ("true", "false"):
        raise OptionError(f"{name}: {option}={value!r} is neither true nor false.")
    return text == "true"


def option_values(name: str) -> dict[str, str]:
    """Return the options of a task and the possible values of each, for people.

    Examples:
        >>> [*option_values("hkcanto_g2p")]
        ['shots', 'subjects', 'multiturn', 'reasoning', 'no_system', 'prompt', 'examples']
        >>> option_values("hkcanto_g2p")["examples"]
        'paper or release'
    """
    task = find_task(name)
    return _option_values(task, find_kind(task.definition.kind))


def _option_values(task: TaskVariant, kind: type[Kind]) -> dict[str, str]:
    words = {bool: "true or false", int: "a number from 0", str: "a text"}
    values = {
        "shots": words[int],
        "subjects": "names of subjects or categories, separated by commas",
        "multiturn": words[bool],
    }
    for option, hint in get_type_hints(kind.Options).items():
        literals = " or ".join(sorted(map(str, get_args(hint))))
        values[option] = literals or words.get(hint, "a number")
    if task.definition.editions:
        values["data"] = " or ".join(["release", *task.definition.editions])
    if "prompt" in values:
        values["prompt"] = ", ".join(task.definition.prompts)
        if kind.SCAFFOLD:
            values["prompt"] += f", each with or without {kind.SCAFFOLD}"
    return values


def refuse_unknown(name: str, options: Iterable[str]) -> None:
    """Refuse options that a task does not have.

    Args:
        name: The task's name.
        options: The names of the options.

    Raises:
        OptionError: An option does not exist; the message lists those that do.
    """
    _refuse_unknown(name, options, option_values(name))


def _refuse_unknown(
    name: str,
    options: Iterable[str],
    known: Mapping[str, str],
) -> None:
    for option in options:
        if option not in known:
            hint = did_you_mean(option, known)
            raise OptionError(
                f"{name} has no option {option!r}. {hint}It has {_listed(known)}."
            )


def _listed(values: Mapping[str, str]) -> str:
    return "; ".join(f"{option}: {text}" for option, text in values.items())


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

        It is the pinned revision, `sample`, or `local-…` for changed files; with `floating-` if a
        public set has no pin, and `-3rows` if three rows were unreadable. It covers the files of
        the worked examples, if the prompt has any.
        """
        splits = {"test": self.task.subjects}
        if self.kind.shots and self.kind.uses_dev_rows:
            splits["dev"] = self.task.subjects
        revision = self.release.revision(splits)
        if self._is_floating:
            revision = f"floating-{revision}"
        return f"{revision}-{len(self.bad)}rows" if self.bad else revision

    @property
    def _is_floating(self) -> bool:
        folder = self.release.folder
        return is_set(self.task.benchmark) and folder.is_floating

    @property
    def remark(self) -> str:
        """Why its scores are not comparable, in parentheses for a results table; else empty."""
        is_whole = self.task.scope == "task"
        subjects = self.task.definition.subjects if is_whole else self.asked
        remarks: list[str] = []
        if len(self.task.subjects) < len(subjects):
            remarks.append(f"{len(self.task.subjects)} of {len(subjects)} subjects")
        if self.release.folder.kind == "sample":
            remarks.append("sample data")
        if self._is_floating:
            remarks.append("floating data")
        remark = self.kind.remark(self.samples)
        if remark:
            remarks.append(remark)
        return f" ({', '.join(remarks)})" if remarks else ""

    def at(
        self,
        *,
        shots: int,
        multiturn: bool = False,
        no_system: bool = False,
    ) -> "LoadedTask":
        """Return the task with other worked examples or turns, or without a system message."""
        kind = self.kind
        no_system = no_system or kind.options.no_system
        now = (kind.shots, kind.multiturn, kind.options.no_system)
        if (shots, multiturn, no_system) == now:
            return self
        kind = kind.at(shots=shots, multiturn=multiturn, no_system=no_system)
        return replace(self, kind=kind)

    def prompt(self, sample: Sample) -> Prompt:
        """Return the prompt of an item.

        Raises:
            OptionError: There are fewer worked examples than shots.
        """
        return self.kind.prompt(sample, self.prompt_examples(sample.subject))

    def prompt_examples(self, subject: str) -> Sequence[Example]:
        """Return the worked examples in a subject's prompts, as many as `kind.shots`.

        Raises:
            OptionError: There are fewer worked examples than shots.
        """
        shots = self.kind.shots
        if not shots:
            return ()
        examples = self.examples(subject)
        if 0 < shots <= len(examples):
            return examples[:shots]
        count = f"there are {len(examples) or 'no'} worked examples"
        if self.kind.uses_dev_rows and not examples:
            count += ": the data has no dev file for it"
        where = f"{self.task.name} {subject}".rstrip()
        raise OptionError(
            f"{where}: shots={shots}, but {count}. Ask for 0 to {len(examples)}."
        )

    def examples(self, name: str) -> Sequence[Example]:
        """Return the worked examples of a subject, in order; empty if the data has none.

        Raises:
            OptionError: A worked example with a chain of thought has no reasoning to show.
            DataCorrupt: A file of examples is not valid data.
        """
        if name not in self._examples:
            subject = self.kind.subject(name)
            rows: list[Sample] = []
            if self.kind.uses_dev_rows:
                rows = example_rows(self.kind, self.release, subject)
            origin = self.kind.example_source
            if origin and not _are_reasoned(rows):
                rows, origin = self._reasoned(subject)
            examples = self.kind.examples(subject, rows)
            self._examples[name] = [
                replace(example, origin=origin) for example in examples
            ]
        return self._examples[name]

    def _reasoned(self, subject: Subject) -> tuple[list[Sample], str]:
        """Return worked examples with reasoning that the release lacks, and their source."""
        printed = self.kind.printed()
        if printed:
            return printed, "paper"
        source = self.task.benchmark.reasoning
        if source is None:
            raise self._lacks_reasoning(
                subject, "no other data set is known to have it"
            )
        try:
            release, origin = self._with_reasoning
            rows = example_rows(self.kind, release, subject)
        except HKCantoError as error:
            why = f"{source.repo_id} cannot be used: {error}"
            raise self._lacks_reasoning(subject, why) from error
        if not rows or not _are_reasoned(rows):
            why = f"{source.repo_id} has none for it"
            raise self._lacks_reasoning(subject, why)
        return rows, origin

    def _lacks_reasoning(
        self,
        subject: Subject,
        why: str,
    ) -> OptionError:
        columns = " or ".join(map(repr, self.kind.columns("explanation")))
        return OptionError(
            f"{self.task.name} {subject.name}: the release has no reasoning for worked examples "
            f"(the column {columns} is missing); {why}\n"
            "Ask for no examples: --num_fewshot 0 in lm-eval, -T shots=0 in Inspect."
        )

    @cached_property
    def _with_reasoning(self) -> tuple[ReleaseRows, str]:
        """The data set with the reasoning that the release lacks, and its name."""
        source = self.task.benchmark.reasoning
        assert source is not None  # asked for only if it is declared
        name = _folder_name(source)
        benchmark = msgspec.structs.replace(
            self.task.benchmark,
            hub=source,
            github=None,
            data=None,
            folder=name,
        )
        folder = locate(benchmark)
        release = ReleaseRows(folder, self.task, self.kind.headerless)
        return release, f"{name}@{folder.revision()}"

    @property
    def signature(self) -> str:
        """The signature of a score, in the manner of sacreBLEU.

        Compare scores only if their signatures match, ignoring `pkg`.

        Examples:
            >>> load_task("hkcanto_g2p").signature.split("|")[:4]
            ['hkcanto-g2p', 'shots:5', 'turns:single', 'prompt:paper']
        """
        origins: set[str] = set()
        if self.samples:
            first = self.task.subjects[0]
            origins = {example.origin for example in self.prompt_examples(first.name)}
        kind = self.kind.at(subjects=self.asked)
        return signature_of(kind, self.revision, origins).text


def _are_reasoned(rows: Sequence[Sample]) -> bool:
    return all(row.reasoning for row in rows)


def load_task(
    name: str,
    subjects: str | Sequence[str] = (),
    *,
    shots: int | str | None = None,
    multiturn: bool | str = False,
    allow_absent: bool = False,
    data: str | None = None,
    **options: Any,
) -> LoadedTask:
    """Load a task with its data, by default from the location set in the environment.

    Args:
        name: The name of a task, a part, a subject or a variant in lm-eval, e.g. `hkcanto_g2p`.
        subjects: Load only these subjects.
        shots: Number of worked examples in the prompt; by default the task's own.
        multiturn: Whether each worked example is its own turn in a chat.
        allow_absent: Return a task without samples if the data lacks all of its subjects.
        data: `sample` for the sample data, `release` for the release, or one of the task's
            `editions`; by default what the environment variable `HKCANTO_DATA` says.
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
    kind = task_as_run(
        name,
        subjects,
        shots=shots,
        multiturn=multiturn,
        **options,
    )
    _warn_of_unknown_variables()
    asked = kind.task.subjects
    folder = locate(kind.task.benchmark, data, kind.definition.editions)
    release = ReleaseRows(folder, kind.task, kind.headerless)
    rows = scored_rows(kind, release)
    if not rows.samples and not allow_absent:
        raise next(iter(rows.unreadable), None) or release.missing()
    refuse_unreadable(kind, rows)
    samples = stratified(
        [_without_reasoning(sample) for sample in kind.scored(read)]
        for read in rows.samples.values()
    )
    sentences = [] if is_ours(release) else differences(asked, rows)
    sentences.extend(
        _oversights(
            kind,
            release,
            rows,
            samples,
        )
    )
    if samples and sentences:
        _warn_of_differences(
            kind,
            release,
            rows,
            sentences,
        )
    return LoadedTask(
        kind.at(subjects=[*rows.samples]),
        samples,
        release,
        sentences,
        asked,
        rows.unreadable,
    )


def _without_reasoning(sample: Sample) -> Sample:
    """Return a scored item without the release's reasoning, which gives the answer away."""
    if not sample.reasoning:
        return sample
    return msgspec.structs.replace(sample, reasoning="")


def _oversights(
    kind: Kind,
    release: ReleaseRows,
    rows: ScoredRows,
    samples: Sequence[Sample],
) -> Iterator[str]:
    """Yield what the author of a task's entry may have overlooked in the data."""
    if without := left_out(rows):
        yield without
    unread = ", ".join(unread_columns(kind, rows.columns))
    if unread:
        yield (
            f"no prompt shows the columns {unread}: name those of the question in the template, and "
            "the others in `ignored`"
        )
    remark = kind.remark(samples)
    if remark and release.folder.kind != "sample":
        yield f"{remark}: declare shuffle_options = 1 in its entry"


def _warn_of_differences(
    kind: Kind,
    release: ReleaseRows,
    rows: ScoredRows,
    sentences: Sequence[str],
) -> None:
    where = str(release.folder.root)
    if not is_ours(release) and not is_comparable(kind.task.subjects, rows):
        where += ": not comparable with published scores"
    shortened = "; ".join(
        shorten(sentence, _LONGEST_SENTENCE, placeholder=" …") for sentence in sentences
    )
    listing = f"`hkcanto doctor {kind.task.benchmark.name}` lists them"
    warn_once(f"{kind.definition.name}: {shortened}, in {where}. {listing}.")


_VARIABLES = (
    "HKCANTO_ALIASES",
    "HKCANTO_AUTOLOAD",
    "HKCANTO_BENCHMARKS",
    "HKCANTO_CACHE",
    "HKCANTO_DATA",
    "HKCANTO_DATA_DIR",
    "HKCANTO_GITHUB_ENDPOINT",
    "HKCANTO_LANGUAGE",
    "HKCANTO_OFFLINE",
)
_TEST_VARIABLES = "HKCANTO_TEST_"


def _warn_of_unknown_variables() -> None:
    """Warn of unknown variables, since a misspelt one may leave data unpinned."""
    named = {name for name in os.environ if name.startswith("HKCANTO_")}
    ours = {name for name in named if not name.startswith(_TEST_VARIABLES)}
    if ours <= {*_VARIABLES}:
        return  # reading the public sets takes a while
    known = {*_VARIABLES}
    for benchmark in benchmarks(with_sets=True):
        if benchmark.hub:
            known.add(revision_variable(benchmark.folder))
        if benchmark.reasoning:
            known.add(revision_variable(_folder_name(benchmark.reasoning)))
    for name in sorted(ours - known):
        hint = did_you_mean(name, known) or f"There are {', '.join(sorted(known))}."
        warn_once(f"{name} is set, but nothing reads it. {hint.rstrip()}")


def _folder_name(dataset: HubDataset) -> str:
    """Return the folder of a data set with reasoning: its name without the owner."""
    return dataset.repo_id.rpartition("/")[2]


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
    queues = [sorted(samples, key=_random_order) for samples in by_subject]
    remaining = [*map(iter, queues)]
    return [next(remaining[subject]) for subject in _turns([*map(len, queues)])]


def _turns(sizes: Sequence[int]) -> Iterator[int]:
    """Yield the number of the subject whose turn it is, for each item.

    Between its first and its last turn for an item, a subject is less than one item off. Of the
    subjects whose first turn has come, that with the earliest last one is next (Tijdeman, 1980).
    """
    total = sum(sizes)
    taken = [0] * len(sizes)
    arriving: list[list[int]] = [[] for _ in range(total + 1)]
    arriving[0].extend(subject for subject, size in enumerate(sizes) if size)
    waiting: list[tuple[int, float, int]] = []
    for position in range(total):
        for subject in arriving[position]:
            size = sizes[subject]
            last = -(-(taken[subject] + 1) * total // size)
            heappush(waiting, (last, (taken[subject] + 0.5) / size, subject))
        _, _, subject = heappop(waiting)
        yield subject
        taken[subject] += 1
        first = taken[subject] * total // sizes[subject]
        arriving[max(first, position + 1)].append(subject)


def _random_order(sample: Sample) -> bytes:
    return sha256(f"{_SEED}/{sample.id}".encode()).digest()
