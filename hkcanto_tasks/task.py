"""A condition: a task and how it is run; and the same with its data, ready for a harness."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from heapq import heappop, heappush
from typing import Any

import msgspec

from hkcanto_metrics.reasoning import split_reasoning

from . import __version__
from .averages import categories_of, figures, in_table, parts_of
from .catalogue import PromptTemplate, Subject, TaskVariant, find_task
from .data.locating import locate
from .data.release_files import ReleaseRows, report
from .errors import DataNotFound, OptionError
from .kinds import Kind, find_kind
from .prompts import Prompt
from .reasoning import judge_reasoning, with_reasoning
from .records import Example, Figure, Judgement, Sample
from .signatures import Signature
from .worked_examples import WorkedExamples

_ORDER_SEED = 0


@dataclass(frozen=True)
class Condition:
    """A task of the catalogue and how it is run, without its data.

    Attributes:
        task: What the task's name stands for.
        options: The choices, an instance of its kind's `Options`.
    """

    task: TaskVariant
    options: Any

    @cached_property
    def kind(self) -> Kind[Any]:
        """What reads, renders and scores it."""
        return find_kind(self.task.definition.kind)(self.task, self.options)

    @property
    def template(self) -> PromptTemplate:
        """The texts of its prompt."""
        return self.kind.template

    @property
    def stop(self) -> tuple[str, ...]:
        """Texts before which a response ends."""
        return self.kind.stop

    @property
    def max_tokens(self) -> int:
        """Longest response to ask for, in tokens."""
        return self.kind.max_tokens

    @property
    def chosen(self) -> dict[str, Any]:
        """The options that are not switched off, by name."""
        values = msgspec.structs.asdict(self.options)
        return {name: value for name, value in values.items() if value}

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """All of its figures, the headline first."""
        of_kind = self.kind.METRICS
        writes = self.task.variant.scoring == "generative"
        return tuple(figures(self.task, with_reasoning(of_kind) if writes else of_kind))

    @cached_property
    def table(self) -> tuple[Figure, ...]:
        """The figures that a harness's table shows, the headline first."""
        return tuple(in_table(self.task, self.figures))

    @cached_property
    def categories(self) -> Mapping[str, str]:
        """Subject → category."""
        return categories_of(self.task)

    def judge(
        self,
        response: str | None,
        target: str,
        choices: Sequence[str | None] = (),
        source: str = "",
        reasoning: str = "",
    ) -> Judgement:
        """Judge a response to one of the samples: the same in every harness.

        Args:
            response: What the model wrote, with or without its reasoning; None if it wrote nothing.
            target: The item's `Sample.target`, as are choices and source.
            choices: See there.
            source: See there.
            reasoning: The reasoning, where the server handed it over apart.

        Examples:
            >>> condition("hkcanto_g2p").judge("<think>nei5?</think>hou2", "hou2").values["ser"]
            0.0
        """
        response = response or ""
        reasoned = split_reasoning(response)
        answer = self.kind.cut(reasoned.answer.lstrip())
        judgement = self.kind.score(answer, Sample("", "", target, tuple(choices), source))
        if reasoned.reasoning or reasoning:
            found = judge_reasoning(response, reasoning, answer)
            judgement = replace(judgement, reasoning=found)
        if reasoned.finished or answer.strip():
            return judgement
        return replace(judgement, details={**judgement.details, "reason": "none: cut off"})


def option_values(name: str) -> dict[str, str]:
    """Return the options of a task's kind and the values that each can have, for people.

    Examples:
        >>> option_values("hkcanto_g2p")
        {'reasoning': 'true or false', 'examples': 'paper or release'}
    """
    task = find_task(name)
    options = find_kind(task.definition.kind).Options
    found = {}
    for field in msgspec.structs.fields(options):
        declared = msgspec.inspect.type_info(field.type)
        if isinstance(declared, msgspec.inspect.BoolType):
            found[field.name] = "true or false"
        elif isinstance(declared, msgspec.inspect.IntType):
            found[field.name] = "a number from 0"
        elif isinstance(declared, msgspec.inspect.LiteralType):
            found[field.name] = " or ".join(sorted(map(str, declared.values)))
        elif field.name == "prompt":
            end = find_kind(task.definition.kind).SCAFFOLD
            named = ", ".join(task.definition.prompts)
            found[field.name] = f"{named}, each with or without {end}" if end else named
        else:
            text = isinstance(declared, msgspec.inspect.StrType)
            found[field.name] = "a text" if text else "a number"
    return found


def refuse_unknown(name: str, given: Iterable[str], also: Mapping[str, str]) -> None:
    """Refuse options that a task does not have.

    Args:
        name: The task's name.
        given: The options that were given.
        also: The options that a harness adds, and their values.

    Raises:
        OptionError: There is no such option; the message names those that there are.
    """
    known = {**also, **option_values(name)}
    for option in given:
        if option not in known:
            near = difflib.get_close_matches(option, known, n=1)
            hint = f"Did you mean {near[0]}? " if near else ""
            listed = "; ".join(f"{each}: {values}" for each, values in known.items())
            raise OptionError(f"{name} has no option {option!r}. {hint}It has {listed}.")


def condition(name: str, subjects: Sequence[str] = (), **options: Any) -> Condition:
    """Return a condition of a task.

    Args:
        name: The name of a task, a part, a subject or a variant in lm-eval, e.g. `hkmmlu_cot`.
        subjects: Run only these subjects; the name of a category or set stands for its subjects.
        options: See the kind's `Options`; texts such as `"true"` are read as what they stand for.

    Raises:
        CatalogueError: There is no such task.
        OptionError: There is no such subject or option, or it cannot have that value.
    """
    task = find_task(name)
    if subjects:
        task = replace(task, subjects=_chosen(task, subjects))
    refuse_unknown(name, options, {})
    known = find_kind(task.definition.kind).Options
    of_variant = {"cot": task.variant.cot, "script": task.variant.script}
    fields = known.__struct_fields__
    given = {option: value for option, value in of_variant.items() if option in fields} | options
    try:
        chosen = msgspec.convert(given, known, strict=False)
    except msgspec.ValidationError as error:
        listed = "; ".join(f"{each}: {values}" for each, values in option_values(name).items())
        raise OptionError(f"{name}: {error}. Its options are {listed}.") from error
    how = Condition(task, chosen)
    how.kind  # noqa: B018  (refuses what its prompts do not have)
    return how


def _chosen(task: TaskVariant, wanted: Sequence[str]) -> tuple[Subject, ...]:
    names = [name.strip() for name in wanted]
    chosen = [
        subject
        for subject in task.subjects
        if {subject.name, subject.category, *subject.groups} & {*names}
    ]
    known = {
        each for subject in chosen for each in (subject.name, subject.category, *subject.groups)
    }
    if unknown := sorted({*names} - known):
        there = [subject.name for subject in task.subjects]
        near = [each for name in unknown for each in difflib.get_close_matches(name, there, n=1)]
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        raise OptionError(f"{task.name} has no subjects {unknown}; there are {there}.{hint}")
    return tuple(chosen)


@dataclass(frozen=True)
class LoadedTask:
    """A condition with its data.

    Attributes:
        condition: The task, with those of its subjects that the data has, and the options.
        samples: The scored items, in an order in which every prefix is a stratified sample.
        examples: Subject → the worked examples to draw shots from, in order.
        revision: Which data: the pinned revision, `sample`, or `local-…` for changed files; with
            `-3rows` where three rows could not be read.
    """

    condition: Condition
    samples: Sequence[Sample]
    examples: Mapping[str, Sequence[Example]]
    revision: str

    @property
    def task(self) -> TaskVariant:
        """What the task's name stands for."""
        return self.condition.task

    @property
    def title(self) -> str:
        """What a results table calls it: its name, and what makes it incomparable."""
        there, all_of_it = len(self.task.subjects), len(find_task(self.task.name).subjects)
        remarks = [
            f"{there} of {all_of_it} subjects" * (there < all_of_it),
            "sample data" * (self.revision == "sample"),
        ]
        told = ", ".join(filter(None, remarks))
        return f"{self.task.name} ({told})" if told else self.task.name

    def system(self, subject: str, shots: int) -> str:
        """Render the text in front of everything."""
        found = next(each for each in self.task.subjects if each.name == subject)
        return self.condition.kind.system(found, shots)

    def prompt(self, sample: Sample, shots: int) -> Prompt:
        """Return the prompt of one sample with the first `shots` worked examples.

        Raises:
            OptionError: There are fewer examples than that.
        """
        examples = self.shots(sample.subject, shots)
        template = self.condition.template
        return Prompt(
            system=self.system(sample.subject, shots),
            examples=examples,
            question=sample.question if shots else sample.zero_shot or sample.question,
            answer_separator=template.answer_separator,
            example_separator=template.example_separator,
        )

    def shots(self, subject: str, count: int) -> Sequence[Example]:
        """Return the first worked examples of a subject.

        Raises:
            OptionError: There are fewer than that.
        """
        if not count:
            return ()
        examples = self.examples[subject]
        if not 0 < count <= len(examples):
            where = " ".join(filter(None, (self.task.name, subject)))
            there = f"there are {len(examples)} worked examples. Ask for 0 to {len(examples)}."
            if not examples:
                why = ": the data has no dev file of it" * self.task.definition.has_examples
                there = f"there are no worked examples{why}. Ask for 0."
            raise OptionError(f"{where}: shots={count}, but {there}")
        return examples[:count]

    def signature(self, shots: int, *, multiturn: bool = False) -> str:
        """Return how a number was made, in the manner of sacreBLEU.

        Two numbers with different signatures are not comparable as they stand, but for `pkg`.

        Args:
            shots: Worked examples in the prompt.
            multiturn: Whether each of them was a turn of its own in a chat.

        Examples:
            >>> load_task("hkcanto_g2p").signature(shots=5).split("|")[:4]
            ['hkcanto-g2p', 'shots:5', 'turns:single', 'examples:paper']
        """
        entry, variant = self.task.definition, self.task.variant
        chosen = self.condition.chosen.items()
        first = self.task.subjects[0].name if self.task.subjects else ""
        origins = {each.origin for each in self.shots(first, shots)} if self.samples else ()
        options = [(name, "yes" if value is True else str(value)) for name, value in chosen]
        options += [("rationale", origin) for origin in origins if origin]
        if multiturn and shots:
            options.insert(0, ("turns", "multi"))
        return Signature(
            task=self.task.name,
            shots=shots,
            options=tuple(options),
            data=self.revision,
            metric="loglikelihood" if variant.scoring == "loglikelihood" else entry.metric,
            version=str(entry.version),
            package=__version__,
        ).text


def load_task(
    name: str, subjects: Sequence[str] = (), *, allow_absent: bool = False, **options: Any
) -> LoadedTask:
    """Load a task's data from where the environment says it is.

    Args:
        name: The name of a task, a part, a subject or a variant in lm-eval, e.g. `hkcanto_g2p`.
        subjects: Load only these subjects.
        allow_absent: Return a task without samples if the data lacks all of its subjects.
        options: See the kind's `Options`, e.g. `examples="release"`.

    Returns:
        The task. Subjects that the data lacks are left out, and reported once as a warning.

    Raises:
        CatalogueError: No task of that name.
        OptionError: An option has a value that it cannot have.
        DataNotFound: The data is not where the environment says it is.
        DataCorrupt: A file is not what it should be; the message names file and row.
        NetworkUnavailable: The data has to be downloaded and cannot be.
    """
    how = condition(name, subjects, **options)
    task, kind = how.task, how.kind
    folder = locate(task.benchmark)
    release = ReleaseRows(folder, kind)
    present = [subject for subject in task.subjects if subject.name in release.rows]
    if not present and not allow_absent:
        paths = task.definition.paths("test", task.subjects[0].stem)
        expected = f"; expected {' or '.join(paths)}" if paths else ""
        raise DataNotFound(f"{folder.root} has no test file of {name}{expected}.")
    found = release.differences
    said = found.summary() if present else ""
    report(said, found.matter, folder.root, task.definition.name, task.benchmark.name)
    revision = folder.revision(*release.tests) if present else ""
    task = replace(task, subjects=tuple(present))
    examples = WorkedExamples(kind, release)
    samples = [
        [_placed(each, task, subject) for each in kind.samples(subject, rows)]
        for subject in present
        if (rows := release.rows.pop(subject.name))  # or they would be kept with the examples
    ]
    return LoadedTask(
        condition=Condition(task, how.options),
        samples=stratified(samples),
        examples=examples,
        revision=f"{revision}-{len(found.bad)}rows" if found.bad else revision,
    )


def _placed(sample: Sample, task: TaskVariant, subject: Subject) -> Sample:
    """Add to an item what follows from its task and subject."""
    return replace(
        sample,
        id="/".join(filter(None, (task.definition.name, subject.name, sample.id))),
        subject=subject.name,
        category=sample.category or subject.category,
        parts=parts_of(task, subject) + sample.parts,
    )


def stratified(by_subject: Iterable[Sequence[Sample]]) -> list[Sample]:
    """Return the samples of all subjects in an order in which every prefix is a fair sample.

    Each subject is shuffled by a fixed seed, and they take turns in proportion to their size: of
    the first m items of N, a subject with n has m · n / N, give or take less than one.

    Args:
        by_subject: The samples of each subject.

    Examples:
        >>> law, food = (Sample("", "", "", subject=name) for name in ("law", "food"))
        >>> [sample.subject for sample in stratified([[law] * 4, [food] * 2])]
        ['law', 'food', 'law', 'law', 'food', 'law']
    """
    shuffled = [sorted(each, key=lambda sample: _digest(sample.id)) for each in by_subject]
    total = sum(map(len, shuffled))
    # Each item has a first and a last turn within which its subject is less than one item off, and
    # of those whose turn may be, the one that can wait least is next (Tijdeman, 1980).
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
