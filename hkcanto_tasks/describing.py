"""Descriptions of tasks for people: commands, prompt, figures, options, signature.

`hkcanto show`, the pages in `docs/tasks` and, in part, `hkcanto list` print them. Descriptions
never show questions from a release: prompts are made from the sample data, or from data in the
benchmark's own folder.
"""

import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from .catalogue import BENCHMARKS, find_task, is_set, named_tasks
from .data.releases import GitHubRelease, HubDataset
from .declarations import Benchmark, TaskVariant
from .errors import CatalogueError, DataNotFound, OptionError, did_you_mean
from .figures import Figure
from .kinds import find_kind
from .kinds.base import Kind
from .printable import quietly
from .signing import signature_of
from .tasks import load_task, option_values, task_as_run

UNITS = {
    "share": "0 to 1",
    "rate": "from 0",
    "score": "0 to 100",
    "count": "count",
    "number": "number",
}
"""Unit of a figure → the range of its values."""

WAYS = {True: "↑", False: "↓", None: "–"}
"""Whether a higher value is better → an arrow."""

_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n {5,}.*)*)", re.MULTILINE)
_IN_REPORTS = " Only in reports, not in the harnesses' tables."


class OptionHelp(NamedTuple):
    """An option of a task, with its possible values, default and effect."""

    name: str
    values: str
    default: str
    help: str


class ShownPrompt(NamedTuple):
    """The prompt of an item.

    Attributes:
        text: The prompt; empty if there is none to show.
        answer: The right answer to it, for the author of a benchmark; empty for our own.
        origin: The item of the prompt, or the reason why there is no prompt.
        items: The number of items, if the benchmark has its own data.
    """

    text: str
    answer: str
    origin: str
    items: int = 0


@dataclass(frozen=True)
class Description:
    """The description of a task as it is run.

    Attributes:
        task: The task, with the subjects that are run.
        kind: The task as it is run.
        title: Its title, with that of a subject or part.
        commands: Harness → the command that runs it; empty if it does not run there.
        facts: Label → text, in the order in which they are shown.
        prompt: The prompt of an item; empty if there is none to show.
        answer: The right answer to it, for the author of a benchmark; empty for our own.
        origin: The item of the prompt, or the reason why there is no prompt.
        figures: Its figures, the headline first; `help` says which are only in reports.
        options: Name, values, default and effect of each option.
    """

    task: TaskVariant
    kind: Kind
    title: str
    commands: Mapping[str, str]
    facts: Mapping[str, str]
    prompt: str
    answer: str
    origin: str
    figures: Sequence[Figure]
    options: Sequence[OptionHelp]

    def record(self) -> dict[str, Any]:
        """Return the description as a record for scripts (`hkcanto show --json`)."""
        figure_keys = ("name", "title", "unit", "higher_is_better", "help")
        figures = [
            {key: getattr(figure, key) for key in figure_keys}
            for figure in self.figures
        ]
        subjects = [subject.name for subject in self.task.subjects if subject.name]
        return {
            **record(self.task),
            "source": self.facts["from"],
            "lm_eval_command": self.commands["lm-eval"],
            "inspect_command": self.commands["Inspect"],
            "signature": self.facts["signature"],
            "shots": self.kind.shots,
            "stop": list(self.kind.sent_stop(chat=False)),
            "max_tokens": self.kind.max_tokens,
            "prompt": self.prompt,
            "figures": figures,
            "options": [option._asdict() for option in self.options],
            "subjects": subjects,
        }


def describe(
    name: str,
    options: Mapping[str, str] | None = None,
    shots: int | None = None,
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
    settings: dict[str, Any] = dict(options or {})
    task = find_task(name, settings)
    if name != task.name:
        # A parameter of a name in Inspect has selected the task.
        settings.pop(task.definition.parameter.partition("=")[0], None)
    names = str(settings.pop("subjects", "")).split(",")
    subjects = [subject for subject in names if subject]
    declared_shots = settings.pop("shots", None)
    _refuse_unknown_edition(task, settings)
    if shots is None:
        shots = declared_shots
    kind = task_as_run(
        task.name,
        subjects,
        shots=shots,
        **settings,
    )
    if kind.task.scope != "task" and kind.task.variant.suffix:
        # lm-eval has names for the subjects of a task, but not of its variants.
        subjects = subjects or [subject.name for subject in kind.task.subjects]
        kind = task_as_run(
            kind.task.whole,
            subjects,
            shots=kind.shots,
            **settings,
        )
    return _description(kind, _chosen(kind, subjects, settings))


def _refuse_unknown_edition(task: TaskVariant, settings: dict[str, Any]) -> None:
    """Remove the option `data`: the prompt that is shown is one of the sample data.

    Raises:
        OptionError: The task does not name this data.
    """
    known = ["release", *task.definition.editions]
    if len(known) > 1 and settings.pop("data", "release") not in known:
        raise OptionError(f"{task.name}: data is {' or '.join(known)}.")


def _chosen(
    kind: Kind,
    subjects: Sequence[str],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the options that the task's name does not select: option → value."""
    values = {**msgspec.structs.asdict(kind.options), "multiturn": kind.multiturn}
    by_name = msgspec.structs.asdict(task_as_run(kind.task.name).options)
    chosen: dict[str, Any] = {}
    if subjects:
        chosen["subjects"] = ",".join(subjects)
    for option in settings:
        of_variant = option in ("cot", "script")
        if not (of_variant and values[option] == by_name[option]):
            chosen[option] = values[option]
    return chosen


def _description(kind: Kind, chosen: Mapping[str, Any]) -> Description:
    """Describe a task as it is run.

    Args:
        kind: The task as it is run.
        chosen: The options that the task's name does not select.
    """
    parameters = dict(chosen)
    if kind.shots != kind.task.shots:
        parameters["shots"] = kind.shots
    commands = {
        "lm-eval": _lm_eval_command(kind.task, parameters),
        "Inspect": _inspect_command(kind, parameters),
    }
    prompt = _prompt(kind, chosen)
    return Description(
        task=kind.task,
        kind=kind,
        title=_title(kind.task),
        commands=commands,
        facts=_facts(kind, commands, prompt.items),
        prompt=prompt.text,
        answer=prompt.answer,
        origin=prompt.origin,
        figures=_figures(kind),
        options=[*_options(kind)],
    )


def _lm_eval_command(task: TaskVariant, parameters: Mapping[str, Any]) -> str:
    command = f"lm_eval --model … --tasks {task.name}"
    return f"{command} --metadata '{_json(parameters)}'" if parameters else command


def _inspect_command(kind: Kind, parameters: Mapping[str, Any]) -> str:
    name = inspect_name(kind.task)
    if not name:
        return ""
    arguments = "".join(
        f" -T {key}={plain(value)}" for key, value in parameters.items()
    )
    grader = " --model-role grader=…" if kind.rubric_hash else ""
    return f"inspect eval {name}{arguments} --model …{grader}"


def _facts(
    kind: Kind,
    commands: Mapping[str, str],
    items: int,
) -> dict[str, str]:
    """Return label → text, in the order in which they are shown.

    Args:
        kind: The task as it is run.
        commands: Harness → the command that runs it.
        items: The number of items in the benchmark's own data; 0 without such data.
    """
    task = kind.task
    benchmark = task.benchmark
    sources = [benchmark.paper or benchmark.title]
    if kind.definition.specified:
        sources.append(kind.definition.specified)
    whole = find_task(kind.definition.name)
    variants = [
        variant.name
        for variant in (whole, *variants_of(whole))
        if variant.variant != task.variant
    ]
    not_in_inspect = "none: Inspect does not support log-likelihoods"
    facts = {
        "benchmark": benchmark.title,
        "from": f"{'. '.join(sources)}.",
        "lm-eval": commands["lm-eval"],
        "Inspect": commands["Inspect"] or not_in_inspect,
        **origin(benchmark),
        "items": f"{items or items_of_run(task, kind) or 'unknown'}",
        "signature": signature_of(kind, "…").text,
        "response": _response(kind),
        "variants": " ".join(variants),
    }
    return {label: text for label, text in facts.items() if text}


def _response(kind: Kind) -> str:
    """Return the limits of a response, or how log-likelihoods are scored."""
    if not kind.is_generative:
        if kind.GOLD:
            return "none: the right answer's bits count"
        return "the likeliest letter"
    text = ", ".join(map(_json, kind.sent_stop(chat=False))) or "none"
    chat = ", ".join(map(_json, kind.sent_stop(chat=True))) or "none"
    return f"at most {kind.max_tokens} tokens; stop texts: {text}; in a chat: {chat}"


def _figures(kind: Kind) -> list[Figure]:
    figures: list[Figure] = []
    for figure in kind.figures:
        if figure not in kind.table:
            figure = replace(figure, help=figure.help + _IN_REPORTS)
        figures.append(figure)
    return figures


def _options(kind: Kind) -> Iterator[OptionHelp]:
    task = kind.task
    values = option_values(task.name)
    shots = "Number of worked examples in the prompt; in lm-eval also `--num_fewshot`."
    yield OptionHelp(
        "shots",
        values["shots"],
        str(task.shots),
        shots,
    )
    if len(task.subjects) > 1:
        subjects = "Only these subjects."
        yield OptionHelp(
            "subjects",
            values["subjects"],
            "all",
            subjects,
        )
    if "data" in values:
        files = "The release's own files, or those that replace them."
        yield OptionHelp(
            "data",
            values["data"],
            "release",
            files,
        )
    helps = attributes(type(kind).Options)
    defaults = msgspec.structs.asdict(task_as_run(task.name).options)
    for name, default in defaults.items():
        if default is False and not _can_be_true(task, name):
            continue
        yield OptionHelp(
            name,
            values[name],
            plain(default),
            helps.get(name, ""),
        )


def _can_be_true(task: TaskVariant, option: str) -> bool:
    """Return whether an option has a prompt, such as a chain of thought."""
    try:
        task_as_run(task.name, **{option: "true"})
    except OptionError:
        return False
    return True


def _prompt(kind: Kind, chosen: Mapping[str, Any]) -> ShownPrompt:
    """Return a prompt without items of a release."""
    task = kind.task
    benchmark = task.benchmark
    options = {**chosen, "shots": kind.shots}
    try:
        with quietly():  # gaps of the sample data do not mean gaps in the release
            loaded = load_task(task.name, data="sample", **options)
    except DataNotFound:
        if (
            benchmark.data is not None
        ):  # a benchmark of a folder always uses its own data
            raise
        why = f"No prompt: the sample data of {benchmark.title} has no {task.name}."
        return ShownPrompt("", "", why)
    item = loaded.samples[0]
    prompt = loaded.prompt(item)
    data = "benchmark's own data" if benchmark.data else "sample data"
    origin = f"item {item.id} of the {data}, {kind.shots}-shot"
    if prompt.chat_system:
        origin += f"; in a chat, its system message is “{prompt.chat_system}”"
    is_ours = Path(benchmark.home).parent == BENCHMARKS
    answer = "" if is_ours else loaded.kind.answer(item)
    items = len(loaded.samples) if benchmark.data else 0
    return ShownPrompt(
        prompt.text(),
        answer,
        origin,
        items,
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


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


def items_of_run(task: TaskVariant, kind: Kind | None = None) -> int:
    """Return the number of items that a run of a task scores; 0 if unknown.

    Args:
        task: The task.
        kind: The task as it is run; by default without options.

    Examples:
        >>> translation = find_task("hkmmlu_translation_yue_zh")
        >>> published_items(translation), items_of_run(translation)
        (44146, 2000)
    """
    published = published_items(task)
    options = kind.options if kind else find_kind(task.definition.kind).Options()
    size = getattr(options, "size", 0)
    return min(published, size) if size else published


def variants_of(task: TaskVariant) -> list[TaskVariant]:
    """Return the named variants of a whole task; a part or subject has none."""
    variants = task.definition.variants if task.scope == "task" else ()
    return [
        find_task(f"{task.definition.name}_{variant.suffix}")
        for variant in variants
        if variant.suffix
    ]


def _title(task: TaskVariant) -> str:
    """Return a task's title, with that of a subject or part."""
    definition = task.definition
    title = f"{definition.title} {definition.chinese}".strip()
    count = len(task.subjects)
    total = len(definition.subjects)
    if count == total:
        return title
    if count > 1:
        return f"{title}: {count} of {total} subjects"
    subject = task.subjects[0]
    return f"{title}: {subject.title} {subject.chinese}".rstrip()


# ---------------------------------------------------------------------- the list


def matching(text: str, *, with_sets: bool = False) -> list[TaskVariant]:
    """Return the tasks with a text in their names, title or benchmark.

    Args:
        text: The text, in any case; empty for all tasks. If no task has it, parts and subjects are
            searched, and then the public sets.
        with_sets: Whether tasks of the public sets are among them.

    Raises:
        CatalogueError: Nothing has the text.

    Examples:
        >>> [task.name for task in matching("jyutping")]
        ['hkcanto_g2p']
    """
    named = named_tasks(with_sets=with_sets)
    tasks = [task for task in named.values() if not task.variant.suffix]
    wanted = text.casefold()
    matches = [task for task in tasks if wanted in _searchable(task).casefold()]
    if not matches and not with_sets:
        return matching(text, with_sets=True)
    if not matches:
        hint = did_you_mean(wanted, [task.name for task in tasks])
        raise CatalogueError(
            f"no task has {text!r} in its names. {hint}`hkcanto list` shows all."
        )
    return [task for task in matches if task.scope == "task"] or matches


def _searchable(task: TaskVariant) -> str:
    """Return the names and titles of a task, its variants and its benchmark."""
    benchmark = task.benchmark
    variants = [variant.name for variant in variants_of(task)]
    titles = (inspect_name(task), _title(task), benchmark.name, benchmark.title)
    return "\n".join((task.name, *titles, *variants))


def origin(benchmark: Benchmark) -> dict[str, str]:
    """Return where a public set is published, under which terms, and whether it was checked.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_benchmark
        >>> origin(find_benchmark("gsm8k_cantonese"))["published"]
        'huggingface.co/datasets/jed351/gsm8k_cantonese, floating: no revision is pinned'
    """
    if not is_set(benchmark):
        return {}
    release = benchmark.release
    published = "in this package"
    if isinstance(release, GitHubRelease):
        published = f"github.com/{release.repository}, {release.commit[:7]}"
    elif isinstance(release, HubDataset):
        pin = "floating: no revision is pinned"
        if release.revision:
            pin = release.revision[:7]
        published = f"huggingface.co/datasets/{release.repo_id}, {pin}"
    checked = "not yet against the release's files"
    if benchmark.checked:
        checked = f"against every row of the release's files on {benchmark.checked}"
    return {"published": published, "terms": benchmark.terms, "checked": checked}


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
        **origin(task.benchmark),
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
    descriptions: dict[str, str] = {}
    for base in reversed(record.__mro__):
        docstring = inspect.cleandoc(base.__doc__ or "")
        section = docstring.partition("Attributes:\n")[2].partition("\n\n")[0]
        for name, text in _ATTRIBUTE.findall(section):
            descriptions[name] = " ".join(text.split())
    return descriptions


def plain(value: object) -> str:
    """Return a value in the form of a command line or a TOML file.

    Examples:
        >>> plain(True), plain(5)
        ('true', '5')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)
