"""Read a `benchmark.toml`, and find everything that is wrong with it.

An unknown key, a missing prompt or a repeated name is a problem that names the entry. All problems
of a file are in one error, in the order of the file.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import FieldInfo, replace

from hkcanto_metrics.faults import in_words

from .declarations import (
    DEFINITIONS,
    Average,
    Benchmark,
    PromptTemplate,
    TaskDefinition,
    own_keys,
    repeated,
)
from .errors import DOCS, CatalogueError, did_you_mean

_Record = TypeVar("_Record", bound=msgspec.Struct)
_Table = Mapping[str, Any]

_KEYS = f"{DOCS}/reference/benchmark_toml.md has all keys and their values."
_FILLED_IN = ("home",)  # fields of a record that are not declared in the file
_SOURCES = ("github", "hub", "data")
_SPLITS = ("test", "dev")
# `hkcanto new` writes "?" for an open question, as a value or in a list.
_OPEN_QUESTION = re.compile(r'"([^"]*)": (?:[][\s\w,]|"(?:[^"\\]|\\.)*")*?"\?"(?!:)')
_PATH = re.compile(r"(\*\*/)?(?!\Z)[^*{}]*({stem}[^*{}]*)?")


def read_benchmark(path: Path, *, with_kinds: bool = True) -> Benchmark:
    """Read and check one benchmark.

    Args:
        path: A TOML file in the form of `benchmarks/hkcanto/benchmark.toml`.
        with_kinds: Whether the kinds check the entries of their tasks, for which their modules are
            imported.

    Raises:
        CatalogueError: The file is not TOML, or wrong as a benchmark; the message says where.

    Examples:
        >>> from hkcanto_tasks.catalogue import BENCHMARKS
        >>> read_benchmark(BENCHMARKS / "hkcanto" / "benchmark.toml").title
        'HKCanto-Eval'
    """
    try:
        declared = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CatalogueError(f"{path}: {error}. Fix this file.") from error
    problems = [*_open_questions(declared)]
    tasks: list[TaskDefinition] = []
    if not problems:
        tasks, problems = _tasks_and_problems(declared, with_kinds=with_kinds)
    if problems:
        raise CatalogueError(_message(path, problems))
    home = str(path.parent.resolve())
    benchmark = msgspec.convert({**declared, "tasks": (), "home": home}, Benchmark)
    folder = benchmark.folder or benchmark.name
    return replace(benchmark, folder=folder, tasks=tuple(tasks))


def _message(path: Path, problems: Sequence[str]) -> str:
    if len(problems) == 1:
        return f"{path}: {problems[0]}. Fix this entry of the catalogue; {_KEYS}"
    listed = "\n".join(f"  - {problem}" for problem in problems)
    head = f"{path} has {len(problems)} problems"
    return f"{head}:\n{listed}\nFix these entries of the catalogue; {_KEYS}"


def _open_questions(declared: _Table) -> Iterator[str]:
    text = json.dumps(declared, ensure_ascii=False, default=str)
    keys = _OPEN_QUESTION.findall(text)
    if keys:
        yield f'it has open questions, "?": {", ".join(keys)}'


def _tasks_and_problems(
    declared: _Table, *, with_kinds: bool
) -> tuple[list[TaskDefinition], list[str]]:
    """Return the tasks that can be read, and all problems in the order of the file."""
    prompts = declared.get("prompts")
    templates, wrong_prompts = _templates(prompts)
    tasks, wrong_tasks = _tasks(
        declared, templates if with_kinds and not wrong_prompts else None
    )
    fields = _fields(Benchmark)
    problems: list[str] = []
    for key, value in declared.items():
        if key == "prompts" and isinstance(value, dict):
            problems += wrong_prompts
        elif key == "tasks" and isinstance(value, list):
            problems += wrong_tasks
        else:
            problems += _wrong_value(
                key,
                value,
                fields,
                "",
            )
    problems += _missing(declared, fields, "")
    problems += _problems_of_whole(declared, tasks)
    return tasks, problems


# ---------------------------------------------------------------------- keys and values


def _templates(declared: object) -> tuple[dict[str, PromptTemplate], list[str]]:
    """Return the prompts of a file that can be read, and the problems of the others."""
    templates: dict[str, PromptTemplate] = {}
    problems: list[str] = []
    for name, table in declared.items() if isinstance(declared, dict) else ():
        template, wrong = _record(table, PromptTemplate, f"prompts.{name}")
        problems += wrong
        if template:
            templates[name] = template
    return templates, problems


def _tasks(
    declared: _Table, templates: Mapping[str, PromptTemplate] | None
) -> tuple[list[TaskDefinition], list[str]]:
    """Return the tasks of a file that can be read, and the problems of all tasks.

    Args:
        declared: The file.
        templates: Its prompts, for the kinds' checks; None for no such checks.
    """
    prompts = declared.get("prompts")
    names = [*prompts] if isinstance(prompts, dict) else []
    tables = declared.get("tasks")
    tasks: list[TaskDefinition] = []
    problems: list[str] = []
    for index, table in enumerate(tables if isinstance(tables, list) else ()):
        task, wrong = _task(table, f"tasks[{index}]", names)
        problems += wrong
        if task:
            tasks.append(task)
            problems += _contradictions(task, names, is_hub="hub" in declared)
        if task and templates is not None:
            problems += _problems_of_kind(task, templates)
    return tasks, problems


def _task(
    table: object,
    path: str,
    prompts: Sequence[str],
) -> tuple[TaskDefinition | None, list[str]]:
    """Return a task, or None and everything that is wrong with its keys and values."""
    kind = table.get("kind") if isinstance(table, dict) else None
    name = table.get("name") if isinstance(table, dict) else None
    try:
        task, problems = _record(table, _definition_of(kind), "" if name else path)
    except CatalogueError as error:  # the kind is unknown
        task, problems = None, [str(error).rstrip(".")]
    if task and not task.prompts and len(prompts) == 1:
        task = replace(task, prompts={"paper": prompts[0]})
    if name:
        problems = [f"task {name!r}: {problem}" for problem in problems]
    return task, problems


def _definition_of(kind: object) -> type[TaskDefinition]:
    """Return the record for the tasks of a kind.

    Raises:
        CatalogueError: No installed package declares the kind.
    """
    if not isinstance(kind, str):
        return TaskDefinition
    if kind in DEFINITIONS:
        return DEFINITIONS[kind]
    from .kinds import find_kind  # imports what only the kinds need

    return find_kind(kind).Definition


def _record(
    table: object,
    record: type[_Record],
    path: str,
) -> tuple[_Record | None, list[str]]:
    """Return a table as a record, or None and everything that is wrong with it.

    Args:
        table: The table.
        record: The type of the record.
        path: The place of the table in its file; empty for the file, and a task with a name.
    """
    try:
        return msgspec.convert(table, record), []
    except msgspec.ValidationError as error:
        first = in_words(error, table, path)
    if not isinstance(table, dict):
        return None, [first]
    fields = _fields(record)
    problems: list[str] = []
    for key, value in table.items():
        if key in fields or not issubclass(record, TaskDefinition):
            problems += _wrong_value(
                key,
                value,
                fields,
                path,
            )
        else:
            problems.append(_unknown_key_of_task(key, table.get("kind"), record))
    problems += _missing(table, fields, path)
    return None, problems or [first]


def _fields(record: type[msgspec.Struct]) -> dict[str, FieldInfo]:
    fields = msgspec.structs.fields(record)
    return {field.name: field for field in fields if field.name not in _FILLED_IN}


def _wrong_value(
    key: str,
    value: object,
    fields: Mapping[str, FieldInfo],
    path: str,
) -> Iterator[str]:
    """Yield what is wrong with one key of a table and its value."""
    if key not in fields:
        hint = did_you_mean(key, fields).strip()
        unknown = in_words(f"Object contains unknown field `{key}`", place=path)
        yield f"{unknown} ({hint})" if hint else unknown
        return
    try:
        msgspec.convert(value, fields[key].type)
    except msgspec.ValidationError as error:
        yield in_words(error, value, f"{path}.{key}")


def _unknown_key_of_task(
    key: str,
    kind: object,
    record: type[TaskDefinition],
) -> str:
    """Return the message for a key that a task's kind does not use."""
    of_some_kinds = chain.from_iterable(map(own_keys, DEFINITIONS.values()))
    if key in of_some_kinds:
        uses = ", ".join(own_keys(record)) or "no use for it"
        return f"has a field {key!r}; its kind {kind!r} has {uses}"
    hint = did_you_mean(key, record.__struct_fields__).strip()
    return f"has an unknown field {key!r}. {hint}".strip()


def _missing(
    table: _Table,
    fields: Mapping[str, FieldInfo],
    path: str,
) -> Iterator[str]:
    for field in fields.values():
        if field.required and field.name not in table:
            yield in_words(f"Object missing required field `{field.name}`", place=path)


# ---------------------------------------------------------------------- contradictions


def _problems_of_whole(
    declared: _Table, tasks: Sequence[TaskDefinition]
) -> Iterator[str]:
    """Yield what is wrong with a benchmark as a whole."""
    if sum(source in declared for source in _SOURCES) != 1:
        yield "a benchmark has exactly one of [github], [hub] and [data]"
    tables = declared.get("tasks", ())
    if tables == []:
        yield "a benchmark has one [[tasks]] or more"
    if len(tasks) < len(tables):  # the names of the others are unknown
        return
    names = [name for task in tasks for name in task.names]
    for name in repeated(names):
        yield f"two tasks are called {name!r}"
    averages, _ = _record(declared, _Averages, "")
    for average in averages.averages if averages else ():
        yield from _problems_of_average(average, tasks)


def _problems_of_average(
    average: Average, tasks: Sequence[TaskDefinition]
) -> Iterator[str]:
    named = {name: task for task in tasks for name in task.names}
    for name in sorted({*chain.from_iterable(average.columns)}.difference(named)):
        yield f"average {average.name!r} has a task {name!r} that does not exist"
    for column in average.columns:
        for name in column if len(column) > 1 else ():
            if name in named and not all(
                subject.rows for subject in named[name].subjects
            ):
                yield (
                    f"average {average.name!r} weighs {name!r} by its items, but a subject has no "
                    "`rows`. Declare the number, or give the task a column of its own"
                )


class _Averages(msgspec.Struct):
    averages: tuple[Average, ...] = ()


def _contradictions(
    task: TaskDefinition,
    prompts: Sequence[str],
    *,
    is_hub: bool,
) -> Iterator[str]:
    """Yield the contradictions between a task's keys, and with the rest of the file.

    Args:
        task: The task.
        prompts: The names of the prompts in the file.
        is_hub: Whether the benchmark is a data set on the hub.
    """
    problems = chain(
        _where_rows_are(task, is_hub=is_hub),
        _paths(task),
        _prompts(task, prompts),
        _subjects(task),
    )
    for problem in problems:
        yield f"task {task.name!r} {problem}"


def _where_rows_are(task: TaskDefinition, *, is_hub: bool) -> Iterator[str]:
    on_hub = bool(task.config or task.splits)
    sources = {
        "files": task.files,
        "config or splits": on_hub,
        "reader": task.reader,
    }
    declared = [name for name, value in sources.items() if value]
    if len(declared) != 1:
        names = " and ".join(declared) or "no files"
        yield f"has {names}: declare files, splits or a reader"
    if on_hub and not is_hub:
        yield "has `config` or `splits`, which are for a [hub] data set"
    splits = [*(task.splits or task.paths)]
    if not task.reader and "test" not in splits:
        yield "names no file for the split 'test': files = { test = \"…\" }"
    for split in sorted({*splits}.difference(_SPLITS)):
        yield f"has files of a split {split!r}; there are test and dev"


def _paths(task: TaskDefinition) -> Iterator[str]:
    paths = [path for paths in task.paths.values() for path in paths or [""]]
    for path in paths:
        if not _PATH.fullmatch(path):
            form = "a path has one {stem} at most, and **/ only at its start"
            yield f"has the path {path!r}; {form}"
    has_shared_file = any("{stem}" not in path for path in paths)
    if len(task.subjects) > 1 and has_shared_file and "subject" not in task.columns:
        declare = 'declare the column that names them, columns = { subject = "…" }'
        yield f"has several subjects in one file: {declare}"


def _prompts(task: TaskDefinition, names: Sequence[str]) -> Iterator[str]:
    if "paper" not in task.prompts:
        yield "has no prompt 'paper', the one that is used by default"
    for prompt in sorted({*task.prompts.values()}.difference(names)):
        yield f"has prompt {prompt!r}; there are {names}"


def _subjects(task: TaskDefinition) -> Iterator[str]:
    for stem in repeated(stem for subject in task.subjects for stem in subject.stems):
        yield f"has two subjects with stem {stem!r}"
    if task.headline == "acc_category_macro":
        for subject in task.subjects:
            if not subject.category:
                yield f"averages categories, but subject {subject.name!r} has none"


def _problems_of_kind(
    task: TaskDefinition, templates: Mapping[str, PromptTemplate]
) -> list[str]:
    """Return what the kind of a task finds wrong with its entry."""
    from .kinds.checking import entry_problems  # imports what only the kinds need

    problems = entry_problems(task, templates)
    return [f"task {task.name!r} {problem}" for problem in problems]
