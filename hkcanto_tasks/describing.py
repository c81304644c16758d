"""Descriptions of tasks for people: commands, prompt, figures, options, signature.

`hkcanto show`, the pages in `docs/tasks` and, in part, `hkcanto list` print them. Descriptions
never show questions from a release: prompts are made from the sample data, or from data in the
benchmark's own folder.
"""

import inspect
import json
import logging
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from .catalogue import BENCHMARKS, find_task, named_tasks
from .declarations import TaskVariant
from .errors import CatalogueError, DataNotFound, OptionError, did_you_mean
from .kinds.base import Kind
from .signing import signature_of
from .tasks import load_task, option_values, task_as_run

UNITS = {"share": "0 to 1", "rate": "from 0", "score": "0 to 100"}
UNITS |= {"count": "count", "number": "number"}
"""Unit of a figure → the range of its values."""

WAYS = {True: "↑", False: "↓", None: "–"}
"""Whether a higher value is better → an arrow."""


class Description:
    """The description of a task and its setup.

    Args:
        setup: Its setup.
        chosen: The options that are not those of the task's name: option → value.

    Attributes:
        task: The task, with the subjects that are run.
        setup: Its setup.
        title: Its title, with that of a subject or part.
        commands: Harness → the command that runs it; empty if it does not run there.
        facts: Label → text, in the order in which they are shown.
        prompt: The prompt of an item; empty if there is none to show.
        answer: The right answer to it, for the author of a benchmark; empty for our own.
        origin: The item of the prompt, or the reason why there is no prompt.
        figures: Its figures, the headline first; `help` says which are only in reports.
        options: Name, values, default and effect of each option.
    """

    def __init__(self, setup: Kind, chosen: Mapping[str, Any]) -> None:
        task, definition, benchmark = (
            setup.task,
            setup.task.definition,
            setup.task.benchmark,
        )
        self.task, self.setup, self.title = task, setup, _title(task)
        quoted = partial(json.dumps, ensure_ascii=False)
        parameters = (
            {**chosen, "shots": setup.shots} if setup.shots != task.shots else chosen
        )
        metadata = f" --metadata '{quoted(parameters)}'" if parameters else ""
        if in_inspect := inspect_name(task):
            arguments = "".join(
                f" -T {key}={plain(value)}" for key, value in parameters.items()
            )
            grader = " --model-role grader=…" if setup.rubric_hash else ""
            in_inspect = f"inspect eval {in_inspect}{arguments} --model …{grader}"
        lm_eval = f"lm_eval --model … --tasks {task.name}{metadata}"
        self.commands = {"lm-eval": lm_eval, "Inspect": in_inspect}
        self.prompt, self.answer, self.origin = _prompt(setup, chosen)
        apart = " Only in reports, not in the harnesses' tables."
        self.figures = [
            figure
            if figure in setup.table
            else replace(figure, help=figure.help + apart)
            for figure in setup.figures
        ]
        self.options = [*_options(setup)]
        whole = find_task(definition.name)
        named = (whole, *variants_of(whole))
        sources = filter(
            None, (benchmark.paper or benchmark.title, definition.specified)
        )
        stops = [setup.sent_stop(chat=chat) for chat in (False, True)]
        text, chat = (", ".join(map(quoted, texts)) or "none" for texts in stops)
        response = (
            f"at most {setup.max_tokens} tokens; stop texts: {text}; in a chat: {chat}"
        )
        likelihood = (
            "none: the right answer's bits count"
            if setup.GOLD
            else "the likeliest letter"
        )
        facts = {
            "benchmark": benchmark.title,
            "from": f"{'. '.join(sources)}.",
            "lm-eval": lm_eval,
            "Inspect": in_inspect
            or "none, because Inspect does not support log-likelihoods",
            "items": f"{items_of_run(task, setup) or 'unknown'}",
            "signature": signature_of(setup, "…").text,
            "response": response if setup.is_generative else likelihood,
            "variants": " ".join(
                one.name for one in named if one.variant != task.variant
            ),
        }
        self.facts = {label: text for label, text in facts.items() if text}

    def record(self) -> dict[str, Any]:
        """Return the description as a record for scripts (`hkcanto show --json`)."""
        of_figure = ("name", "title", "unit", "higher_is_better", "help")
        of_option = ("name", "values", "default", "help")
        return {
            **record(self.task),
            "source": self.facts["from"],
            "lm_eval_command": self.commands["lm-eval"],
            "inspect_command": self.commands["Inspect"],
            "signature": self.facts["signature"],
            "shots": self.setup.shots,
            "stop": list(self.setup.sent_stop(chat=False)),
            "max_tokens": self.setup.max_tokens,
            "prompt": self.prompt,
            "figures": [
                {key: getattr(one, key) for key in of_figure} for one in self.figures
            ],
            "options": [dict(zip(of_option, row, strict=True)) for row in self.options],
            "subjects": [
                subject.name for subject in self.task.subjects if subject.name
            ],
        }


def describe(
    name: str, options: Mapping[str, str] | None = None, shots: int | None = None
) -> Description:
    """Describe a task.

    Args:
        name: The name in lm-eval or in Inspect of a task, part, subject or variant.
        options: Options in the form of a command line, including `shots`, `subjects` and
            parameters of Inspect's tasks such as `language`.
        shots: Number of worked examples; by default the task's own.

    Raises:
        CatalogueError: The task does not exist.
        OptionError: An option does not exist, or cannot have that value.

    Examples:
        >>> describe("hkcanto/mmlu", {"language": "en"}).commands["lm-eval"]
        'lm_eval --model … --tasks hkcanto_mmlu_en'
    """
    given: dict[str, Any] = dict(options or {})
    task = find_task(name, given)
    if (
        name not in named_tasks()
    ):  # but a name in Inspect, whose parameter has selected the task
        given.pop(task.definition.parameter.partition("=")[0], None)
    subjects = [
        subject for subject in str(given.pop("subjects", "")).split(",") if subject
    ]
    asked = given.pop("shots", None)
    setup = task_as_run(
        task.name, subjects, shots=asked if shots is None else shots, **given
    )
    if setup.task.scope != "task" and setup.task.variant.suffix:
        # lm-eval has names for the subjects of a task, but not of its variants.
        subjects = subjects or [subject.name for subject in setup.task.subjects]
        setup = task_as_run(setup.task.whole, subjects, shots=setup.shots, **given)
    values = {**msgspec.structs.asdict(setup.options), "multiturn": setup.multiturn}
    by_name = msgspec.structs.asdict(task_as_run(setup.task.name).options)
    of_variant = [
        name for name in ("cot", "script") if values.get(name) == by_name.get(name)
    ]
    chosen = {"subjects": ",".join(subjects)} if subjects else {}
    chosen |= {option: values[option] for option in given if option not in of_variant}
    return Description(setup, chosen)


def _options(setup: Kind) -> Iterator[tuple[str, str, str, str]]:
    task, values = setup.task, option_values(setup.task.name)
    does = "Number of worked examples in the prompt; in lm-eval also `--num_fewshot`."
    yield "shots", values["shots"], str(task.shots), does
    if len(task.subjects) > 1:
        yield "subjects", values["subjects"], "all", "Only these subjects."
    helps = attributes(type(setup).Options)
    for name, default in msgspec.structs.asdict(task_as_run(task.name).options).items():
        try:
            if default is False:
                task_as_run(task.name, **{name: "true"})
        except OptionError:  # such as a chain of thought that no prompt asks for
            continue
        yield name, values[name], plain(default), helps.get(name, "")


def _prompt(setup: Kind, chosen: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return a prompt without items of a release, its right answer, and its item or why not."""
    task, benchmark = setup.task, setup.task.benchmark
    try:
        with quietly(HKCANTO_DATA="sample"):  # its gaps do not mean gaps in the release
            loaded = load_task(task.name, **{**chosen, "shots": setup.shots})
    except DataNotFound:
        if benchmark.data is not None:  # such a benchmark has no other data
            raise
        return (
            "",
            "",
            f"No prompt: the sample data of {benchmark.title} has no {task.name}.",
        )
    item = loaded.samples[0]
    prompt = loaded.prompt(item)
    data = "benchmark's own data" if benchmark.data else "sample data"
    origin = f"item {item.id} of the {data}, {setup.shots}-shot"
    if prompt.chat_system:
        origin += f"; in a chat, its system message is “{prompt.chat_system}”"
    is_ours = Path(benchmark.home).parent == BENCHMARKS
    return prompt.text(), "" if is_ours else loaded.kind.answer(item), origin


@contextmanager
def quietly(**settings: str) -> Iterator[None]:
    """Set environment variables, and log no warnings."""
    log = logging.getLogger("hkcanto")
    with patch.dict(os.environ, settings), patch.object(log, "disabled", True):
        yield


# ---------------------------------------------------------------------- names


def inspect_name(task: TaskVariant) -> str:
    """Return a task's name for `inspect eval`; empty for log-likelihood scoring.

    Examples:
        >>> inspect_name(find_task("hkcanto_mmlu_en")), inspect_name(find_task("hkmmlu_mc"))
        ('hkcanto/mmlu -T language=en', '')
    """
    definition = task.definition
    if task.variant.scoring == "loglikelihood":
        return ""
    if task.name != definition.name or definition.inspect is None:
        return f"hkcanto/run -T task={task.name}"
    chosen = f" -T {definition.parameter}" if definition.parameter else ""
    return f"hkcanto/{definition.inspect}{chosen}"


def published_items(task: TaskVariant) -> int:
    """Return the number of items that a task's release has for scoring; 0 if unknown."""
    return sum(task.scored_rows(subject) for subject in task.subjects)


def items_of_run(task: TaskVariant, setup: Kind | None = None) -> int:
    """Return the number of items that a run of a task scores; 0 if unknown.

    Args:
        task: The task.
        setup: Its setup; None means the default.

    Examples:
        >>> translation = find_task("hkmmlu_translation_yue_zh")
        >>> published_items(translation), items_of_run(translation)
        (44146, 2000)
    """
    published = published_items(task)
    size = getattr((setup or task_as_run(task.name)).options, "size", 0)
    return min(published, size) if size else published


def variants_of(task: TaskVariant) -> list[TaskVariant]:
    """Return the named variants of a whole task; a part or subject has none."""
    variants = task.definition.variants if task.scope == "task" else ()
    return [
        find_task(f"{task.definition.name}_{variant.suffix}") for variant in variants
    ]


def _title(task: TaskVariant) -> str:
    """Return a task's title, with that of a subject or part."""
    definition, subject, count = task.definition, task.subjects[0], len(task.subjects)
    title, total = (
        f"{definition.title} {definition.chinese}".strip(),
        len(definition.subjects),
    )
    if count == total:
        return title
    name = f"{subject.title} {subject.chinese}".strip()
    return f"{title}: {name if count == 1 else f'{count} of {total} subjects'}"


# ---------------------------------------------------------------------- the list


def matching(text: str) -> list[TaskVariant]:
    """Return the tasks with a text in their names, title or benchmark.

    Args:
        text: The text, in any case; empty for all tasks. If no task has it, parts and subjects are
            searched.

    Raises:
        CatalogueError: Nothing has the text.

    Examples:
        >>> [task.name for task in matching("jyutping")]
        ['hkcanto_g2p']
    """
    every = [task for task in named_tasks().values() if not task.variant.suffix]
    fitting = []
    for task in every:
        benchmark, variants = (
            task.benchmark,
            (variant.name for variant in variants_of(task)),
        )
        titles = (inspect_name(task), _title(task), benchmark.name, benchmark.title)
        names = "\n".join((task.name, *titles, *variants))
        if text.casefold() in names.casefold():
            fitting.append(task)
    if not fitting:
        hint = did_you_mean(text.casefold(), [task.name for task in every])
        raise CatalogueError(
            f"no task has {text!r} in its names. {hint}`hkcanto list` shows all."
        )
    return [task for task in fitting if task.scope == "task"] or fitting


def record(task: TaskVariant) -> dict[str, Any]:
    """Return a task as a record for scripts (`hkcanto list --json`).

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
        "questions": published_items(task),
        "items": items_of_run(task),
        "variants": [variant.name for variant in variants_of(task)],
    }


def list_tasks(text: str = "") -> list[dict[str, Any]]:
    """Return the tasks with a text in their names, title or benchmark, a record each.

    Args:
        text: As of `matching`; by default all tasks are listed.

    Raises:
        CatalogueError: Nothing has the text.

    Examples:
        >>> [task["name"] for task in list_tasks("jyutping")]
        ['hkcanto_g2p']
    """
    return [record(task) for task in matching(text)]


def attributes(record: type[Any]) -> dict[str, str]:
    """Return the descriptions of attributes from the docstrings of a class and its bases.

    Examples:
        >>> attributes(Kind)["shots"]
        'Worked examples in the prompt.'
    """
    told: dict[str, str] = {}
    for base in reversed(record.__mro__):
        _, _, section = inspect.cleandoc(base.__doc__ or "").partition("Attributes:\n")
        section = section.partition("\n\n")[0]
        for name, text in re.findall(
            r"^    (\w+): (.*(?:\n {5,}.*)*)", section, re.MULTILINE
        ):
            told[name] = " ".join(text.split())
    return told


def plain(value: object) -> str:
    """Return a value in the form of a command line or a TOML file.

    Examples:
        >>> plain(True), plain(5)
        ('true', '5')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)
