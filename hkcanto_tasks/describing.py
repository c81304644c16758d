"""A task told to a person: commands, prompt, figures, options, signature.

`hkcanto list` and `hkcanto show` print it, and the pages in `docs/tasks` are made of it. No right
answer is told, and no question of a downloaded release: prompts are of the sample data, or of data
in the benchmark's own folder.
"""

import inspect
import json
import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from .catalogue import (
    Benchmark,
    TaskDefinition,
    TaskVariant,
    benchmarks,
    find_benchmark,
    find_task,
    named_tasks,
)
from .errors import CatalogueError, DataNotFound, OptionError
from .figures import Figure
from .loading import LoadedTask, load_task
from .setup import Setup, option_values, refuse_unknown
from .setup import setup as make_setup

UNITS = {"share": "0 to 1", "rate": "from 0", "score": "0 to 100", "count": "count"}
"""What values a figure can have, by its unit."""

WAYS = {True: "↑", False: "↓", None: "–"}
"""Which way of a figure is good, as an arrow."""

NOT_IN_INSPECT = "none, as it does not ask models for log-likelihoods"
"""Said in the place of a command."""

_SCORING = {
    "generative": "generative: the model writes, and its answer is read from the text",
    "loglikelihood": "log-likelihood: the letter that the model finds likeliest is its answer",
}


@dataclass(frozen=True, slots=True)
class OptionHelp:
    """What can be chosen for a task.

    Attributes:
        name: As in `--metadata` of lm-eval and in `-T` of Inspect.
        values: Which values there are.
        default: Without a choice.
        help: What it does.
    """

    name: str
    values: str
    default: str
    help: str


@dataclass(frozen=True)
class Description:
    """A condition of a task, as a person needs to know it.

    Attributes:
        setup: The task and how it is run.
        shots: Worked examples.
        given: What differs from the task's defaults, but for shots: option → value.
        loaded: The condition with the sample data; None where there is none of it.
    """

    setup: Setup
    shots: int
    given: Mapping[str, Any]
    loaded: LoadedTask | None

    @property
    def task(self) -> TaskVariant:
        """What the task's name stands for."""
        return self.setup.task

    @property
    def title(self) -> str:
        """The task's title, of a subject or part with its name."""
        entry = self.task.definition
        title = " ".join(filter(None, (entry.title, entry.chinese)))
        if len(self.task.subjects) == 1 and len(entry.subjects) > 1:
            (subject,) = self.task.subjects
            return f"{title}: {' '.join(filter(None, (subject.title, subject.chinese)))}"
        if len(self.task.subjects) < len(entry.subjects):
            return f"{title}: {len(self.task.subjects)} of {len(entry.subjects)} subjects"
        return title

    @property
    def origin(self) -> str:
        """The paper, and where in it the task is specified."""
        benchmark, source = self.task.benchmark, self.task.definition.specified
        return ". ".join(filter(None, (benchmark.paper or benchmark.title, source))) + "."

    @property
    def questions(self) -> int:
        """Published number of questions; 0 where it is not known."""
        return questions_of(self.task)

    @property
    def lm_eval(self) -> str:
        """The command in lm-eval."""
        given = dict(self.given)
        shots = ""
        if self.shots != self.task.shots:
            if self.task.variant.shots == 0:  # lm-eval does not change an explicit 0
                given["shots"] = self.shots
            else:
                shots = f" --num_fewshot {self.shots}"
        metadata = f" --metadata '{json.dumps(given, ensure_ascii=False)}'" if given else ""
        return f"lm_eval --model … --tasks {self.task.name}{shots}{metadata}"

    @property
    def inspect(self) -> str:
        """The command in Inspect; empty for a log-likelihood, which it does not ask models for."""
        if not (name := inspect_name(self.task)):
            return ""
        given = dict(self.given)
        if self.shots != self.task.shots:
            given["shots"] = self.shots
        chosen = "".join(f" -T {key}={plain(value)}" for key, value in given.items())
        return f"inspect eval {name}{chosen} --model …"

    @property
    def scoring(self) -> str:
        """How a response becomes an answer."""
        return _SCORING[self.task.variant.scoring]

    @property
    def kind(self) -> str:
        """The kind's name and what it is."""
        described = (inspect.getdoc(type(self.setup)) or "").split("\n\n")[0]
        return f"{self.task.definition.kind}: {' '.join(described.split())}"

    @cached_property
    def signature(self) -> str:
        """The signature, with dots for the data that is not known before a run."""
        return self.setup.signature("…").text

    @property
    def limits(self) -> str:
        """Where a response ends; empty where none is written."""
        if self.task.variant.scoring == "loglikelihood":
            return ""
        texts = " or ".join(json.dumps(text, ensure_ascii=False) for text in self.setup.stop)
        before = f"before {texts}, or " if texts else ""
        return f"{before}after {self.setup.max_tokens} tokens"

    @property
    def item(self) -> str:
        """The id of the item whose prompt is shown; empty where there is none."""
        return self.loaded.samples[0].id if self.loaded else ""

    @property
    def prompt(self) -> str:
        """The prompt of an item of the sample data; empty where there is none.

        Raises:
            OptionError: There are fewer worked examples.
        """
        if self.loaded is None:
            return ""
        return self.loaded.prompt(self.loaded.samples[0]).text()

    @property
    def from_data(self) -> str:
        """Say what data the prompt is of, or why there is none."""
        if self.loaded is None:
            sample = Path(self.task.benchmark.home, "sample")
            what = f"no item of {self.task.name}" if sample.is_dir() else "no sample data"
            return f"{self.task.benchmark.title} has {what}, so that no prompt is shown."
        data = "sample data" if self.loaded.revision == "sample" else "benchmark's own data"
        shots = f"{self.shots} worked example{'s' * (self.shots != 1)}"
        return f"item {self.item} of the {data}, {shots}"

    @property
    def figures(self) -> Sequence[Figure]:
        """All figures, the headline first."""
        return self.setup.figures

    def meaning(self, figure: Figure) -> str:
        """Return what a figure is, and whether it is in reports alone."""
        there = any(figure.name == shown.name for shown in self.setup.table)
        return figure.help if there else f"{figure.help} In reports, not in the harnesses' tables."

    @property
    def options(self) -> list[OptionHelp]:
        """What can be chosen."""
        helps = attributes(type(self.setup).Options)
        values = option_values(self.task.name)
        defaults = msgspec.structs.asdict(make_setup(self.task.name).options)
        return [
            self._shots_option,
            *([self._subjects_option] if len(self.task.subjects) > 1 else []),
            *(
                OptionHelp(name, values[name], plain(default), helps.get(name, ""))
                for name, default in defaults.items()
            ),
        ]

    @property
    def variants(self) -> list[TaskVariant]:
        """The other conditions of the task that have a name."""
        entry = self.task.definition
        every = [find_task(entry.name), *variants_of(entry)]
        return [each for each in every if each.variant != self.task.variant]

    def record(self) -> dict[str, Any]:
        """Return all of it for a script, as `hkcanto show --json` prints it."""
        told = ("name", "title", "unit", "higher_is_better")
        figures = [
            {**{key: getattr(each, key) for key in told}, "help": self.meaning(each)}
            for each in self.figures
        ]
        return {
            **record(self.task),
            "title": self.title,
            "source": self.origin,
            "lm_eval_command": self.lm_eval,
            "inspect_command": self.inspect,
            "signature": self.signature,
            "shots": self.shots,
            "stop": list(self.setup.stop),
            "max_tokens": self.setup.max_tokens,
            "prompt": self.prompt,
            "figures": figures,
            "options": [asdict(each) for each in self.options],
            "subjects": [subject.name for subject in self.task.subjects if subject.name],
        }

    @property
    def _shots_option(self) -> OptionHelp:
        entry = self.task.definition
        there = entry.has_examples
        return OptionHelp(
            "shots",
            "a number from 0" if there else "0",
            str(self.task.shots),
            "Worked examples in the prompt; `--num_fewshot` in lm-eval."
            if there
            else "The benchmark has no worked examples.",
        )

    @property
    def _subjects_option(self) -> OptionHelp:
        sets = dict.fromkeys(
            part
            for subject in self.task.subjects
            for part in (subject.category, *subject.groups)
            if part
        )
        of_sets = f", or those of {', '.join(sets)}" if sets else ""
        values = f"their names, with commas{of_sets}"
        return OptionHelp("subjects", values, "all", "Only these subjects.")


# ---------------------------------------------------------------------- names


def inspect_name(task: TaskVariant) -> str:
    """Return what `inspect eval` calls a task; empty for a log-likelihood.

    Examples:
        >>> inspect_name(find_task("hkcanto_mmlu_en")), inspect_name(find_task("hkmmlu_mc"))
        ('hkcanto/mmlu -T language=en', '')
    """
    entry = task.definition
    if task.variant.scoring == "loglikelihood":
        return ""
    if task.name != entry.name or entry.inspect is None:
        return f"hkcanto/run -T task={task.name}"
    return f"hkcanto/{entry.inspect}" + (f" -T {entry.parameter}" if entry.parameter else "")


def describe(
    name: str, options: Mapping[str, str] | None = None, shots: int | None = None
) -> Description:
    """Describe a task.

    Args:
        name: Its name in lm-eval or in Inspect; also that of a part, a subject or a variant.
        options: Options as a command line gives them, `shots` and `subjects` among them, and
            parameters of Inspect's tasks such as `language`.
        shots: Worked examples; the task's own number without it.

    Raises:
        CatalogueError: There is no such task.
        OptionError: There is no such option, or it cannot have that value.

    Examples:
        >>> describe("hkcanto/mmlu", {"language": "en"}).lm_eval
        'lm_eval --model … --tasks hkcanto_mmlu_en'
    """
    given: dict[str, Any] = dict(options or {})
    task = _task_called(name, given)
    if _is_true(given.get("cot")) and f"{task.name}_cot" in named_tasks():
        task = find_task(f"{task.name}_cot")  # as Inspect does
        del given["cot"]
    subjects = [each for each in str(given.pop("subjects", "")).split(",") if each]
    if task.scope != "task" and task.variant.suffix:
        # lm-eval has names for the subjects of a task, but not of its variants.
        subjects = subjects or [subject.name for subject in task.subjects]
        task = find_task(task.whole)
    asked = given.pop("shots", None)
    if shots is None and asked is not None:
        if not str(asked).isdecimal():
            raise OptionError(f"{task.name}: shots={asked!r} is no number. Ask for 0, 1, 2 …")
        shots = int(asked)
    refuse_unknown(task.name, given)
    how = make_setup(task.name, subjects, shots=shots, **given)
    chosen = {option: getattr(how.options, option) for option in given}
    if subjects:
        chosen = {"subjects": ",".join(subjects), **chosen}
    count = task.shots if shots is None else shots
    description = Description(
        how, count, chosen, _sample(task.name, subjects, {"shots": count, **given})
    )
    description.prompt  # noqa: B018  (refuses more shots than there are examples)
    return description


def questions_of(task: TaskVariant) -> int:
    """Return the published number of a task's questions; 0 where it is not known."""
    return sum(subject.rows for subject in task.subjects)


def variants_of(entry: TaskDefinition) -> list[TaskVariant]:
    """Return the conditions of a task that have a name of their own."""
    return [find_task(f"{entry.name}_{variant.suffix}") for variant in entry.variants]


def _task_called(name: str, given: dict[str, Any]) -> TaskVariant:
    """Return what a name in either harness stands for; the parameter that chooses it is spent."""
    if name == "hkcanto/run":
        if "task" not in given:
            raise OptionError("hkcanto/run runs any task: say which one with -T task=NAME.")
        name = given.pop("task")
    if not name.startswith("hkcanto/"):
        if name not in named_tasks() and name in [benchmark.name for benchmark in benchmarks()]:
            tasks = ", ".join(entry.name for entry in find_benchmark(name).tasks)
            raise CatalogueError(f"{name} is a benchmark. Ask for one of its tasks: {tasks}.")
        task = find_task(name)
        _spend(task, given)
        return task
    called = [
        task
        for task in named_tasks().values()
        if task.name == task.definition.name
        and task.definition.inspect == name.removeprefix("hkcanto/")
    ]
    fitting = [task for task in called if _spend(task, given)] if len(called) > 1 else called
    if len(called) > 1 and not fitting:
        parameter = called[0].definition.parameter.partition("=")[0]
        if parameter not in given and (default := _default(name, parameter)):
            fitting = [
                task for task in called if task.definition.parameter == f"{parameter}={default}"
            ]
    if len(fitting) != 1:
        if called:
            choices = " or ".join(f"-T {task.definition.parameter}" for task in called)
            raise OptionError(f"{name} is {len(called)} tasks. Choose one with {choices}.")
        names = dict.fromkeys(
            f"hkcanto/{task.definition.inspect}"
            for task in named_tasks().values()
            if task.definition.inspect
        )
        raise CatalogueError(f"no task {name!r} in Inspect; there are {', '.join(names)}.")
    return fitting[0]


def _spend(task: TaskVariant, given: dict[str, Any]) -> bool:
    """Take the parameter out of the options that chooses a task, if it is there."""
    name, _, value = task.definition.parameter.partition("=")
    if not name or given.get(name) != value:
        return False
    del given[name]
    return True


def _default(name: str, parameter: str) -> str:
    """Return what a parameter of an Inspect task is without a choice; empty if it is not known."""
    try:
        from hkcanto import tasks
    except ImportError:  # Inspect is not installed
        return ""
    function = getattr(tasks, name.removeprefix("hkcanto/"))
    return str(inspect.signature(function).parameters[parameter].default)


def _is_true(value: object) -> bool:
    return str(value).lower() in ("true", "1")


def _sample(name: str, subjects: Sequence[str], options: Mapping[str, Any]) -> LoadedTask | None:
    log = logging.getLogger("hkcanto")
    level = log.level
    log.setLevel(logging.ERROR)  # what the sample lacks says nothing of the release
    try:
        with patch.dict(os.environ, HKCANTO_DATA="sample"):
            return load_task(name, subjects, **options)
    except DataNotFound:
        return None
    finally:
        log.setLevel(level)


# ---------------------------------------------------------------------- the list


def matching(text: str) -> list[tuple[Benchmark, list[TaskVariant]]]:
    """Return the tasks with a text in their names, title or benchmark, by benchmark.

    Args:
        text: In any case; empty for all. Where no task has it, parts and subjects are looked at.

    Raises:
        CatalogueError: Nothing has it.

    Examples:
        >>> [[task.name for task in tasks] for _, tasks in matching("jyutping")]
        [['hkcanto_g2p']]
    """
    every = [task for task in named_tasks().values() if not task.variant.suffix]
    for scopes in (("task",), ("part", "subject")):
        found = [
            task
            for task in every
            if task.scope in scopes and text.casefold() in _searched(task).casefold()
        ]
        if found:
            return [
                (benchmark, of)
                for benchmark in benchmarks()
                if (of := [task for task in found if task.benchmark is benchmark])
            ]
    raise CatalogueError(
        f"no task has {text!r} in its name, its title or its benchmark. `hkcanto list` shows all."
    )


def _searched(task: TaskVariant) -> str:
    entry, benchmark = task.definition, task.benchmark
    names = [task.name, inspect_name(task)]
    if task.scope == "task":
        names += [variant.name for variant in variants_of(entry)]
        names += [entry.title, entry.chinese, benchmark.name, benchmark.title]
    elif task.scope == "subject":
        names += [task.subjects[0].title, task.subjects[0].chinese]
    return "\n".join(names)


def record(task: TaskVariant) -> dict[str, Any]:
    """Return a task for a script, as `hkcanto list --json` prints it.

    Examples:
        >>> record(find_task("hkcanto_g2p"))["questions"]
        145
    """
    return {
        "name": task.name,
        "inspect": inspect_name(task),
        "benchmark": task.benchmark.name,
        "title": _title(task),
        "kind": task.definition.kind,
        "scoring": task.variant.scoring,
        "version": task.definition.version,
        "shots": task.shots,
        "questions": questions_of(task),
        "variants": [each.name for each in variants_of(task.definition)]
        if task.scope == "task"
        else [],
    }


def lines(tasks: Sequence[TaskVariant], width: int | None) -> list[str]:
    """Lay out tasks, one a line, under a line of headings; names are never broken.

    Args:
        tasks: The tasks.
        width: Of the terminal, in columns: titles are shortened to fit, or left out; None for no
            terminal, where lines are as long as they need to be.

    Examples:
        >>> for line in lines([find_task("hkcanto_g2p")], 60):
        ...     print(line)
        lm-eval     Inspect     items shots
        hkcanto_g2p hkcanto/g2p   145     5  Jyutping grapheme-to-p…
    """
    first = max(len("lm-eval"), *(len(task.name) for task in tasks))
    second = max(len("Inspect"), *(len(inspect_name(task)) for task in tasks))
    used = first + 1 + second + len(" items shots")
    shots = "n" if width is not None and used > width else "shots"
    made = [f"{'lm-eval':{first}} {'Inspect':{second}} items {shots}"]
    for task in tasks:
        names = f"{task.name:{first}} {inspect_name(task):{second}}"
        line = f"{names} {questions_of(task) or '':>5} {task.shots:>{len(shots)}}"
        title = _title(task)
        title = title if width is None else _shortened(title, width - used - 2)
        made.append(f"{line}  {title}" if title else line)
    return made


def more_names(tasks: Sequence[TaskVariant], width: int | None) -> list[str]:
    """Lay out the names of the tasks' variants, and of their benchmark's groups in lm-eval.

    Args:
        tasks: Tasks of one benchmark.
        width: As in `lines`.

    Examples:
        >>> more_names([find_task("hkcanto_g2p"), find_task("hkcanto_law")], 80)
        ['variants  hkcanto_law_mc']
    """
    whole = [task for task in tasks if task.scope == "task"]
    variants = [variant for task in whole for variant in variants_of(task.definition)]
    benchmark, groups = tasks[0].benchmark, []
    if benchmark.averages and len(whole) == len(benchmark.tasks):
        groups = [of.name for of in benchmark.averages if len(of.columns) == 1]
        groups.insert(0, benchmark.name)
    by_suffix = sorted(variants, key=lambda task: task.definition.variants.index(task.variant))
    labelled = {"variants": [task.name for task in by_suffix], "groups": groups}
    return [line for label, names in labelled.items() for line in _flowing(label, names, width)]


def _flowing(label: str, names: Iterable[str], width: int | None) -> list[str]:
    made = []
    line = label.ljust(_LABEL)
    for name in names:
        if width is not None and len(line) > _LABEL and len(line) + len(name) > width:
            made.append(line.rstrip())
            line = " " * _LABEL
        line += f"{name} "
    return [*made, line.rstrip()] if line.strip() != label else []


_LABEL = len("variants") + 2


def _title(task: TaskVariant) -> str:
    if task.scope == "subject":
        (subject,) = task.subjects
        return " ".join(filter(None, (subject.title, subject.chinese)))
    if task.scope == "part":
        return f"{len(task.subjects)} subjects of {task.definition.title}"
    return " ".join(filter(None, (task.definition.title, task.definition.chinese)))


_SHORTEST_TITLE = 12


def _shortened(title: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    if cell_len(title) <= width:
        return title
    return f"{set_cell_size(title, width - 1).rstrip()}…" if width >= _SHORTEST_TITLE else ""


def attributes(record: type[Any]) -> dict[str, str]:
    """Return what the docstrings of a class and its bases say of its attributes.

    Examples:
        >>> attributes(OptionHelp)["default"]
        'Without a choice.'
    """
    told: dict[str, str] = {}
    for each in reversed(record.__mro__):
        _, _, section = inspect.cleandoc(each.__doc__ or "").partition("Attributes:\n")
        section = section.partition("\n\n")[0]
        for name, text in re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section, re.MULTILINE):
            told[name] = " ".join(text.split())
    return told


def plain(value: object) -> str:
    """Return a value as a command line or a TOML file has it.

    Examples:
        >>> plain(True), plain(5)
        ('true', '5')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)
