"""A task with its data, ready for a harness: samples, worked examples, prompts, signature."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec

from . import __version__
from .catalogue import NamedTask, PromptTemplate, Subject, find_task
from .errors import DataNotFound, OptionError
from .kinds import Kind, kinds
from .prompts import Prompt
from .records import Example, Judgement, Metric, Sample
from .release_files import read_release
from .scoring import judge
from .sources import locate


@dataclass(frozen=True)
class Condition:
    """A task of the catalogue and how it is run, without its data.

    Attributes:
        task: What the task's name stands for.
        options: The choices, an instance of its kind's `Options`.
    """

    task: NamedTask
    options: Any

    @property
    def kind(self) -> Kind:
        """The module that reads, renders and scores it."""
        return kinds()[self.task.entry.kind]

    @cached_property
    def template(self) -> PromptTemplate:
        """The texts of its prompt."""
        return self.task.benchmark.prompts[self.kind.prompt(self.task, self.options)]

    @cached_property
    def stop(self) -> tuple[str, ...]:
        """Texts before which a response ends."""
        return self.kind.stop(self.template, self.options)

    @property
    def max_tokens(self) -> int:
        """Longest response to ask for, in tokens."""
        return self.kind.max_tokens(self.options)

    @property
    def chosen(self) -> dict[str, Any]:
        """The options that are not switched off, by name."""
        values = msgspec.structs.asdict(self.options)
        return {name: value for name, value in values.items() if value}

    def judge(self, response: str, target: str, choices: Sequence[str | None] = ()) -> Judgement:
        """Judge a response to one of the samples: the same in every harness."""
        return judge(self.kind, response, target, choices, self.stop)


def condition(name: str, subjects: Sequence[str] = (), **options: Any) -> Condition:
    """Return a condition of a task.

    Args:
        name: The name of a task, a group or a variant in lm-eval, e.g. `hkmmlu_cot`.
        subjects: Run only these subjects of a group.
        options: See the kind's `Options`; texts such as `"true"` are read as what they stand for.

    Raises:
        CatalogueError: There is no such task.
        OptionError: There is no such subject or option, or it cannot have that value.

    Example:
        >>> condition("hkcanto_g2p", examples="release").options.examples
        'release'
    """
    task = find_task(name)
    if unknown := set(subjects) - {subject.name for subject in task.subjects}:
        known = ", ".join(subject.name for subject in task.subjects)
        raise OptionError(f"{name} has no subjects {sorted(unknown)}; there are {known}.")
    if subjects:
        chosen = tuple(subject for subject in task.subjects if subject.name in subjects)
        task = replace(task, subjects=chosen)
    kind = kinds()[task.entry.kind]
    fields = kind.Options.__struct_fields__
    of_variant = {"cot": task.variant.cot, "script": task.variant.script}
    given = {name: value for name, value in of_variant.items() if name in fields} | options
    try:
        return Condition(task, msgspec.convert(given, kind.Options, strict=False))
    except msgspec.ValidationError as error:
        raise OptionError(f"{name}: {error}. Its options are {', '.join(fields)}.") from error


@dataclass(frozen=True)
class LoadedTask:
    """A task of the catalogue, how it is run, and its data.

    Attributes:
        condition: The task and the options.
        samples: The scored items, subject by subject, in the release's order.
        examples: Subject → the worked examples to draw shots from, in order.
        revision: Which data: the pinned revision, `sample`, or `local-…` for changed files.
        present: The subjects that the data has, of all those of the catalogue's task.
    """

    condition: Condition
    samples: Sequence[Sample]
    examples: Mapping[str, Sequence[Example]]
    revision: str
    present: Sequence[Subject]

    @property
    def task(self) -> NamedTask:
        """What the task's name stands for."""
        return self.condition.task

    def system(self, subject: str, shots: int) -> str:
        """Render the text in front of everything."""
        found = next(entry for entry in self.task.subjects if entry.name == subject)
        condition = self.condition
        return condition.kind.system(condition.template, self.task, found, shots, condition.options)

    def prompt(self, sample: Sample, shots: int) -> Prompt:
        """Return the prompt of one sample with the first `shots` worked examples.

        Raises:
            OptionError: There are fewer examples than that.
        """
        examples = self.examples[sample.subject]
        if not 0 <= shots <= len(examples):
            raise OptionError(
                f"{sample.id}: shots={shots}, but there are {len(examples)} worked examples. "
                f"Ask for 0 to {len(examples)}."
            )
        template = self.condition.template
        return Prompt(
            system=self.system(sample.subject, shots),
            examples=examples[:shots],
            question=sample.question,
            answer_separator=template.answer_separator,
            example_separator=template.example_separator,
        )

    def signature(self, shots: int) -> str:
        """Return how a number was made, in the manner of sacreBLEU.

        Two numbers with different signatures are not comparable as they stand.

        Example:
            >>> from hkcanto_tasks.loading import load_task
            >>> load_task("hkcanto_g2p").signature(shots=5).split("|")[:3]
            ['hkcanto-g2p', 'shots:5', 'examples:paper']
        """
        metric = self.task.entry.metric
        if self.task.variant.scoring == "loglikelihood":
            metric = "loglikelihood"
        chosen = self.condition.chosen.items()
        return "|".join(
            [
                self.task.name.replace("_", "-"),
                f"shots:{shots}",
                *(f"{name}:{'yes' if value is True else value}" for name, value in chosen),
                f"data:{self.revision}",
                f"metric:{metric}",
                f"v:{__version__}",
            ]
        )

    def metrics(self) -> list[Metric]:
        """Return the figures of its samples: the kind's, and the averages that it counts in."""
        groups = dict.fromkeys(group for sample in self.samples for group in sample.groups)
        return [
            *self.condition.kind.METRICS,
            *(Metric(name, higher_is_better=True) for name in self._factors),
            *(Metric(f"acc_{group}", higher_is_better=True) for group in groups),
        ]

    def values(self, sample_groups: Sequence[str], judgement: Judgement) -> dict[str, float]:
        """Return all figures of one item: the judgement's, and its parts in wider averages."""
        values = dict(judgement.values)
        if "acc" in values:
            values |= {name: values["acc"] * factor for name, factor in self._factors.items()}
            values |= {f"acc_{group}": values["acc"] for group in sample_groups}
        return values

    @cached_property
    def _factors(self) -> dict[str, float]:
        """What a subject's mean is multiplied with, so that the plain mean over all subjects is
        the average named: lm-eval's groups know no other mean than that over their leaves."""
        entry = self.task.entry
        if not entry.subjects[0].name:
            return {}
        factors = {"acc_macro": 1.0}
        if entry.average == "categories" and self.present:
            sizes = Counter(subject.category for subject in self.present)
            own = sizes[self.task.subjects[0].category]
            factors["acc_category_macro"] = len(self.present) / (len(sizes) * max(own, 1))
        if self.revision != "sample" and len(self.present) == len(entry.subjects):
            factors |= self._factors_in_tables()
        return factors

    def _factors_in_tables(self) -> dict[str, float]:
        whole = "_".join(filter(None, (self.task.entry.name, self.task.variant.suffix)))
        factors: dict[str, float] = {}
        for average in self.task.benchmark.averages:
            leaves = sum(
                len(find_task(name).subjects) for column in average.columns for name in column
            )
            for column in average.columns:
                if whole in column:
                    share = _share(self.task, [find_task(name) for name in column])
                    factors[average.name] = leaves * share / len(average.columns)
        return factors


def _share(leaf: NamedTask, column: Sequence[NamedTask]) -> float:
    """What part of a table's column a subject is: by its questions, or as one of the subjects."""
    subjects = [subject for task in column for subject in task.subjects]
    if leaf.entry.average == "subjects":
        return 1 / len(subjects)
    return leaf.subjects[0].rows / sum(subject.rows for subject in subjects)


def load_task(
    name: str, subjects: Sequence[str] = (), *, allow_absent: bool = False, **options: Any
) -> LoadedTask:
    """Load a task's data from where the environment says it is.

    Args:
        name: The name of a task, a group or a variant in lm-eval, e.g. `hkcanto_g2p`.
        subjects: Load only these subjects of a group.
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
    folder = locate(task.benchmark.folder, task.benchmark.release)
    release = read_release(folder, task.benchmark, task.entry)
    samples: list[Sample] = []
    examples: dict[str, Sequence[Example]] = {}
    for subject in task.subjects:
        rows = release.rows.get(subject.name)
        if rows is None:
            continue
        arguments = (how.template, task, subject, how.options)
        samples += kind.samples(rows["test"], *arguments)
        examples[subject.name] = kind.examples(rows["dev"], *arguments)
    if not samples and not allow_absent:
        raise DataNotFound(
            f"{folder.root} has no test file of {name}; expected "
            f"{' or '.join(task.entry.paths('test', task.subjects[0].stem))}."
        )
    return LoadedTask(
        condition=how,
        samples=samples,
        examples=examples,
        revision=folder.revision(*(release.tests[name] for name in examples)) if examples else "",
        present=[subject for subject in task.entry.subjects if subject.name in release.rows],
    )
