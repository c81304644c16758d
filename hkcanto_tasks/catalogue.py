"""The catalogue: which benchmarks and tasks exist, each declared in a `benchmark.toml`.

Our benchmarks are in `benchmarks/<name>/`. `HKCANTO_BENCHMARKS=dir[:dir]` and the entry point group
`hkcanto.benchmarks` add folders of the same form. A file is checked when it is read: an unknown
key, a missing prompt or a repeated name is an error that names the file and the entry. If the
benchmark is from outside this package, the error is logged and only that benchmark is left out.
"""

import json
import logging
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from itertools import chain, filterfalse
from math import fsum
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from .declarations import (
    Average,
    Benchmark,
    Scope,
    TaskDefinition,
    TaskVariant,
    Variant,
    repeated,
)
from .errors import CatalogueError, LogError, OptionError, did_you_mean, from_package
from .signatures import Signature, parse_signature

_log = logging.getLogger("hkcanto")

BENCHMARKS = Path(__file__).parent / "benchmarks"


# ---------------------------------------------------------------------- reading one file


def read_benchmark(path: Path) -> Benchmark:
    """Read and check one benchmark.

    Args:
        path: A TOML file in the form of `benchmarks/hkcanto/benchmark.toml`.

    Raises:
        CatalogueError: The file is not TOML, or wrong as a benchmark; the message says where.

    Examples:
        >>> read_benchmark(BENCHMARKS / "hkcanto" / "benchmark.toml").title
        'HKCanto-Eval'
    """
    try:
        declared = tomllib.loads(path.read_text("utf-8"))
        if "home" in declared:
            raise ValueError("Object contains unknown field `home`")
        text = json.dumps(declared, ensure_ascii=False, default=str)
        # Which `hkcanto new` left open, as a value or in a list.
        if questions := re.findall(
            r'"([^"]*)": (?:[][\s\w,]|"(?:[^"\\]|\\.)*")*?"\?"(?!:)', text
        ):
            raise ValueError(f'it has open questions, "?": {", ".join(questions)}')
        benchmark = msgspec.convert(
            {**declared, "home": str(path.parent.resolve())}, Benchmark
        )
    except (OSError, ValueError) as error:
        at = re.search(r"\.tasks\[(\d+)", str(error))
        task = declared["tasks"][int(at[1])] if at else None
        entry = f"task {task.get('name')!r}" if isinstance(task, dict) else "this entry"
        fix = f"Fix {entry} of the catalogue; docs/benchmark_toml.md has all keys and their values."
        raise CatalogueError(f"{path}: {error}. {fix}") from error
    only = (
        {"paper": next(iter(benchmark.prompts))} if len(benchmark.prompts) == 1 else {}
    )
    tasks = (replace(task, prompts=task.prompts or only) for task in benchmark.tasks)
    folder = benchmark.folder or benchmark.name
    benchmark = replace(benchmark, folder=folder, tasks=tuple(tasks))
    for problem in _problems(benchmark):
        raise CatalogueError(f"{path}: {problem}. Fix this entry of the catalogue.")
    return benchmark


def _problems(benchmark: Benchmark) -> Iterator[str]:
    """Yield what is wrong with a benchmark beyond the types of its keys."""
    if [benchmark.github, benchmark.hub, benchmark.data].count(None) != 2:
        yield "a benchmark has exactly one of [github], [hub] and [data]"
    named = [task.name for task in _named_tasks(benchmark)]
    for name in repeated(named):
        yield f"two tasks are called {name!r}"
    for task in benchmark.tasks:
        for problem in _problems_of(task, benchmark):
            yield f"task {task.name!r} {problem}"
    for average in benchmark.averages:
        for name in sorted({*chain.from_iterable(average.columns)}.difference(named)):
            yield f"average {average.name!r} has a task {name!r} that does not exist"


def _problems_of(task: TaskDefinition, benchmark: Benchmark) -> Iterator[str]:
    """Yield what is wrong with where a task's rows are, and contradictions between its keys."""
    of_hub = bool(task.config or task.splits)
    places = {"files": task.files, "config or splits": of_hub, "reader": task.reader}
    declared = [name for name, value in places.items() if value]
    if len(declared) != 1:
        yield f"has {' and '.join(declared) or 'no files'}: declare files, splits or a reader"
    if of_hub and not benchmark.hub:
        yield "has `config` or `splits`, which are for a [hub] data set"
    splits = [*(task.splits or task.paths)]
    if not task.reader and "test" not in splits:
        yield "names no file for the split 'test': files = { test = \"…\" }"
    for split in sorted({*splits} - {"test", "dev"}):
        yield f"has files of a split {split!r}; there are test and dev"
    paths = [path for of_split in task.paths.values() for path in of_split or [""]]
    for path in filterfalse(
        re.compile(r"(\*\*/)?(?!\Z)[^*{}]*({stem}[^*{}]*)?").fullmatch, paths
    ):
        yield f"has the path {path!r}; a path has one {{stem}} at most, and **/ only at its start"
    one_file = any("{stem}" not in path for path in paths)
    if len(task.subjects) > 1 and one_file and "subject" not in task.columns:
        declare = 'declare the column that names them, columns = { subject = "…" }'
        yield f"has several subjects in one file: {declare}"
    for prompt in sorted({*task.sentences} - {*task.prompts}):
        yield f"has a sentence for prompt {prompt!r}; it has {[*task.prompts]}"
    if "paper" not in task.prompts:
        yield "has no prompt 'paper', the one that is used by default"
    for stem in repeated(stem for subject in task.subjects for stem in subject.stems):
        yield f"has two subjects with stem {stem!r}"
    for subject in task.subjects if task.headline == "acc_category_macro" else ():
        if not subject.category:
            yield f"averages categories, but subject {subject.name!r} has none"
    if task.question and "question" in task.columns:
        yield "has the same question for every row, and a column for it: remove one of them"
    if place := re.search(r"\{\w+\}", task.question):
        yield f"has {place[0]} in its question, which is the same for every row: put it in a prompt"
    for cell, letters in task.answers.items():
        if not {*letters} <= {*task.letters} or len({*letters}) < len(letters):
            yield f"has the answers {cell!r} → {letters!r}; its letters are {task.letters}"
    for prompt in sorted({*task.prompts.values()} - {*benchmark.prompts}):
        yield f"has prompt {prompt!r}; there are {[*benchmark.prompts]}"


def _named_tasks(benchmark: Benchmark) -> Iterator[TaskVariant]:
    """Yield every task, part, subject and variant that has a name of its own."""
    for task in benchmark.tasks:
        sets = {one: (one.category, *one.groups) for one in task.subjects}
        named: list[tuple[str, Scope, Any]] = [("", "task", task.subjects)]
        for part in dict.fromkeys(filter(None, chain.from_iterable(sets.values()))):
            named.append(
                (part, "part", [one for one in task.subjects if part in sets[one]])
            )
        named += [(one.name, "subject", [one]) for one in task.subjects if one.name]
        for variant in (Variant(), *task.variants):
            for part, scope, subjects in named:
                name = "_".join(filter(None, (task.name, part, variant.suffix)))
                yield TaskVariant(
                    name, benchmark, task, variant, tuple(subjects), scope
                )


# ---------------------------------------------------------------------- all benchmarks


def benchmarks() -> tuple[Benchmark, ...]:
    """Return every benchmark of the catalogue: ours, and those from outside that can be read.

    Raises:
        CatalogueError: One of our own files is wrong.
    """
    return _catalogue(os.environ.get("HKCANTO_BENCHMARKS", ""))[0]


def named_tasks() -> Mapping[str, TaskVariant]:
    """Return every task, part, subject and variant by its name in lm-eval.

    Raises:
        CatalogueError: One of our own files is wrong.
    """
    return _catalogue(os.environ.get("HKCANTO_BENCHMARKS", ""))[1]


def left_out() -> tuple[str, ...]:
    """Return a sentence for each benchmark from outside that cannot be read, with the reason.

    Examples:
        >>> left_out()
        ()
    """
    return _catalogue(os.environ.get("HKCANTO_BENCHMARKS", ""))[2]


_Catalogue = tuple[tuple[Benchmark, ...], Mapping[str, TaskVariant], tuple[str, ...]]


@cache
def _catalogue(given: str) -> _Catalogue:
    """Return all benchmarks, their tasks by name, and why others from outside are left out."""
    known = [_read_ours(file) for file in _files(BENCHMARKS, "")]
    broken: list[str] = []
    files: list[Path] = []
    for declared in sorted(entry_points(group="hkcanto.benchmarks")):
        with noted(broken):
            with from_package(declared):
                folder = declared.load()
                folder = Path(folder() if callable(folder) else folder)
            files += _files(folder, f"the entry point {declared.value}")
    for name in filter(None, given.split(os.pathsep)):
        with noted(broken, name):
            files += _files(Path(name).expanduser(), "HKCANTO_BENCHMARKS")
    taken = {name: benchmark.home for benchmark in known for name in _names(benchmark)}
    for file in dict.fromkeys(files):
        with noted(broken, file):
            benchmark = read_benchmark(file)
            if benchmark.home in taken.values():  # named twice
                continue
            names = _names(benchmark)
            for name in sorted(names & taken.keys()):
                raise CatalogueError(
                    f"{file}: {name!r} is taken by {taken[name]}. Rename it."
                )
            from .kinds import (
                find_kind,
            )  # which imports the kinds, slow and needed only here

            for task in _named_tasks(benchmark):
                kind = find_kind(task.definition.kind)
                kind(task, kind.Options())
            known.append(benchmark)
            taken |= dict.fromkeys(names, benchmark.home)
    for sentence in broken:
        _log.warning("A benchmark is left out: %s", sentence)
    tasks = {task.name: task for benchmark in known for task in _named_tasks(benchmark)}
    return tuple(known), tasks, tuple(broken)


@contextmanager
def noted(broken: list[str], where: object = "") -> Iterator[None]:
    """Collect errors caused by a file from outside in a list, instead of raising them.

    Args:
        broken: The list of messages.
        where: The file, for errors that do not name one.

    Examples:
        >>> messages = []
        >>> with noted(messages, "quiz/benchmark.toml"):
        ...     raise PermissionError("not yours")
        >>> messages
        ['quiz/benchmark.toml cannot be read: PermissionError: not yours.']
    """
    try:
        yield
    except CatalogueError as error:
        broken.append(str(error) if str(where) in str(error) else f"{where}: {error}")
    except Exception as error:
        broken.append(f"{where} cannot be read: {type(error).__name__}: {error}.")


def _files(folder: Path, source: str) -> list[Path]:
    """Return the benchmark.toml in a folder, or those in the folders directly below it."""
    single = folder / "benchmark.toml"
    files = [single] if single.is_file() else sorted(folder.glob("*/benchmark.toml"))
    if not files:
        raise CatalogueError(
            f"{folder} has no benchmark.toml, nor its folders. Correct {source}."
        )
    return files


_read_ours = cache(read_benchmark)


def _names(benchmark: Benchmark) -> set[str]:
    """Return the names of a benchmark, its tasks and its averages on command lines."""
    averages = {average.name for average in benchmark.averages}
    return {benchmark.name, *averages, *(task.name for task in _named_tasks(benchmark))}


def find_task(name: str, parameters: Mapping[str, Any] | None = None) -> TaskVariant:
    """Return a task, a group or one of their variants by its name in lm-eval, or in Inspect.

    Args:
        name: The name; in Inspect, it may lack `hkcanto/`.
        parameters: The parameters of a task in Inspect, which select one of several tasks with its
            name, such as `language`; without one, it is the task that runs by default.

    Raises:
        CatalogueError: The task does not exist; the message lists similar names.
        OptionError: The parameter selects none of the tasks with this name.

    Examples:
        >>> find_task("hkcanto_g2p").definition.title
        'Jyutping grapheme-to-phoneme'
        >>> find_task("hkcanto/dse").name, find_task("dse", {"language": "en"}).name
        ('hkcanto_dse_zh', 'hkcanto_dse_en')
    """
    tasks = named_tasks()
    if name in tasks:
        return tasks[name]
    called = name.removeprefix("hkcanto/")
    every = (task for benchmark in benchmarks() for task in benchmark.tasks)
    alike = [task for task in every if task.inspect == called]
    for task in alike:
        parameter, _, value = task.parameter.partition("=")
        given = (parameters or {}).get(parameter)
        if given == value or (given is None and (task.by_default or len(alike) == 1)):
            return tasks[task.name]
    if alike:
        choices = " or ".join(f"-T {task.parameter}" for task in alike)
        raise OptionError(f"{name} is {len(alike)} tasks. Choose one with {choices}.")
    advice = (
        f"{did_you_mean(name, tasks, most=3)}`hkcanto list` shows all.{_maybe_there()}"
    )
    raise CatalogueError(f"no task {name!r} in the catalogue. {advice}")


def find_benchmark(name: str) -> Benchmark:
    """Return a benchmark by its name.

    Raises:
        CatalogueError: The benchmark does not exist; the message lists those that do.
    """
    known = {benchmark.name: benchmark for benchmark in benchmarks()}
    if name not in known:
        there = ", ".join(known)
        raise CatalogueError(
            f"no benchmark {name!r}; there are {there}.{_maybe_there()}"
        )
    return known[name]


def chosen_tasks(names: Iterable[str] | None) -> list[TaskVariant]:
    """Return the tasks that names of benchmarks and tasks select, each once.

    Args:
        names: Names of benchmarks or tasks; None for all benchmarks.

    Raises:
        CatalogueError: No benchmark or task has that name.

    Examples:
        >>> [task.name for task in chosen_tasks(["tmmluplus", "hkcanto_g2p", "tmmluplus_gen"])]
        ['tmmluplus_gen', 'hkcanto_g2p']
    """
    tasks_of = {one.name: [task.name for task in one.tasks] for one in benchmarks()}
    named = [task for name in names or tasks_of for task in tasks_of.get(name, [name])]
    return [find_task(name) for name in dict.fromkeys(named)]


def _maybe_there() -> str:
    """Say if an unknown name may be in a benchmark that was left out."""
    lines = "".join(f"\n  {sentence}" for sentence in left_out())
    return f" Or it is in a benchmark that is left out:{lines}" if lines else ""


def known_signature(text: object) -> Signature:
    """Read a logged signature of a task that the catalogue has.

    Raises:
        LogError: It is of another version of hkcanto, or its task is unknown.
    """
    signature = parse_signature(text)
    try:
        whole = find_task(signature.task).scope == "task"
    except CatalogueError as error:
        raise LogError(
            f"the catalogue of this version has no task {signature.task!r}"
        ) from error
    if not whole:
        raise LogError(f"its signature {text!r} is of another version of hkcanto")
    return signature


# ---------------------------------------------------------------------- averages of tasks


def share(of: Average, task: str) -> float:
    """Return the weight of one task's headline in an average over several tasks.

    Args:
        of: The average, such as the ZH/YUE average of HKCanto-Eval's Table 1.
        task: The name of a task in one of its columns.

    Returns:
        The task's share of its column's items, divided by the number of columns.

    Examples:
        >>> share(find_benchmark("hkcanto").averages[1], "hkcanto_mmlu_yue")
        0.25
    """
    column = next(column for column in of.columns if task in column)
    tasks = map(find_task, column)
    items = {one.name: sum(map(one.scored_rows, one.subjects)) for one in tasks}
    return items[task] / sum(items.values()) / len(of.columns)


def of_columns(of: Average, headlines: Mapping[str, float]) -> float:
    """Return an average over several tasks.

    Args:
        of: The average.
        headlines: Task → its headline, for every task in the average's columns.

    Examples:
        >>> english = find_benchmark("hkcanto").averages[0]
        >>> tasks = ["hkcanto_mmlu_en", "hkcanto_dse_en", "hkcanto_professional_en"]
        >>> of_columns(english, dict(zip(tasks, [0.5, 1.0, 1.0])))
        0.75
    """
    tasks = [task for column in of.columns for task in column]
    return fsum(share(of, task) * headlines[task] for task in tasks)
