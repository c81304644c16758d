"""The catalogue: which benchmarks and tasks exist, each declared in a `benchmark.toml`.

Our benchmarks are in `benchmarks/<name>/`; public sets that run by their names are in
`sets/<name>/`, but are only listed if asked for. `HKCANTO_BENCHMARKS=dir[:dir]` and the entry point group
`hkcanto.benchmarks` add folders of the same form. If a file from outside this package is wrong, only
that benchmark is left out, with a warning.
"""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from itertools import chain
from math import fsum
from pathlib import Path
from typing import Any

from .benchmark_files import read_benchmark
from .declarations import Average, Benchmark, TaskDefinition, TaskVariant, joined_name
from .errors import CatalogueError, LogError, OptionError, did_you_mean, from_package
from .signatures import Signature, parse_signature

_log = logging.getLogger("hkcanto")

BENCHMARKS = Path(__file__).parent / "benchmarks"
SETS = Path(__file__).parent / "sets"


# ---------------------------------------------------------------------- all benchmarks


def benchmarks(*, with_sets: bool = False) -> tuple[Benchmark, ...]:
    """Return every benchmark of the catalogue: ours, and those from outside that can be read.

    Args:
        with_sets: Whether the public sets are among them.

    Raises:
        CatalogueError: One of our own files is wrong.
    """
    catalogue = _present()
    _warn(catalogue)
    if with_sets:
        return (*catalogue.benchmarks, *_sets(catalogue))
    return catalogue.benchmarks


def named_tasks(*, with_sets: bool = False) -> Mapping[str, TaskVariant]:
    """Return every task, part, subject and variant by its name in lm-eval.

    Args:
        with_sets: Whether the tasks of the public sets are among them.

    Raises:
        CatalogueError: One of our own files is wrong.
    """
    catalogue = _present()
    _warn(catalogue)
    if with_sets:
        return {**catalogue.tasks, **_tasks_of_sets(catalogue)}
    return catalogue.tasks


def is_set(benchmark: Benchmark) -> bool:
    """Return whether a benchmark is a public set that the package declares by name."""
    return Path(benchmark.home).parent == SETS


def left_out() -> tuple[str, ...]:
    """Return a sentence for each benchmark from outside that cannot be read, with the reason.

    Examples:
        >>> left_out()
        ()
    """
    return _present().left_out


@dataclass(frozen=True, eq=False)
class _Catalogue:
    """All benchmarks, their tasks by name, and why others from outside are left out."""

    benchmarks: tuple[Benchmark, ...]
    tasks: Mapping[str, TaskVariant]
    left_out: tuple[str, ...]


def _present() -> _Catalogue:
    return _catalogue(os.environ.get("HKCANTO_BENCHMARKS", ""))


@cache
def _warn(catalogue: _Catalogue) -> None:
    """Log once why benchmarks are left out."""
    for reason in catalogue.left_out:
        _log.warning("A benchmark is left out: %s", reason)


@cache
def _catalogue(folders: str) -> _Catalogue:
    """Read all benchmarks.

    Args:
        folders: The value of `HKCANTO_BENCHMARKS`.
    """
    known = [_read_ours(file) for file in _files(BENCHMARKS, "")]
    home_of: dict[str, str] = {}  # of each name on a command line
    for benchmark in known:
        home_of |= dict.fromkeys(_names(benchmark), benchmark.home)
    broken: list[str] = []
    for file in _files_from_outside(folders, broken):
        with noted(broken, file):
            benchmark = read_benchmark(file)
            if benchmark.home in home_of.values():  # its folder is named twice
                continue
            names = _names(benchmark)
            for name in sorted(names & home_of.keys()):
                raise CatalogueError(
                    f"{file}: {name!r} is taken by {home_of[name]}. Rename it."
                )
            _try_out(benchmark)
            known.append(benchmark)
            home_of |= dict.fromkeys(names, benchmark.home)
    tasks: dict[str, TaskVariant] = {}
    for benchmark in known:
        tasks |= {task.name: task for task in _tasks_of(benchmark)}
    return _Catalogue(tuple(known), tasks, tuple(broken))


@cache
def _sets(catalogue: _Catalogue) -> tuple[Benchmark, ...]:
    """Return the public sets, except those whose names the user's own benchmarks have."""
    taken = {name for benchmark in catalogue.benchmarks for name in _names(benchmark)}
    sets = map(_read_ours, _files(SETS, ""))
    return tuple(shipped for shipped in sets if taken.isdisjoint(_names(shipped)))


@cache
def _tasks_of_sets(catalogue: _Catalogue) -> Mapping[str, TaskVariant]:
    tasks = [task for benchmark in _sets(catalogue) for task in _tasks_of(benchmark)]
    return {task.name: task for task in tasks}


@cache
def _read_ours(file: Path) -> Benchmark:
    # Tests check our files against their kinds, whose modules are slow to import.
    return read_benchmark(file, with_kinds=False)


def _try_out(benchmark: Benchmark) -> None:
    """Make each task of a benchmark from outside, which its kind may refuse.

    Raises:
        CatalogueError: A kind refuses an entry.
    """
    from .kinds import find_kind  # slow, and only needed here

    for task in _tasks_of(benchmark):
        if task.scope == "task":
            kind = find_kind(task.definition.kind)
            kind(task, kind.Options())


def _files_from_outside(folders: str, broken: list[str]) -> list[Path]:
    """Return the files of installed packages and of some folders, each once.

    Args:
        folders: The value of `HKCANTO_BENCHMARKS`.
        broken: The list for the reasons why others are left out.
    """
    files: list[Path] = []
    for declared in sorted(entry_points(group="hkcanto.benchmarks")):
        with noted(broken):
            with from_package(declared):
                folder = declared.load()
                folder = Path(folder() if callable(folder) else folder)
            files += _files(folder, f"the entry point {declared.value}")
    for name in filter(None, folders.split(os.pathsep)):
        with noted(broken, name):
            files += _files(Path(name).expanduser(), "HKCANTO_BENCHMARKS")
    return list(dict.fromkeys(files))


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


def _names(benchmark: Benchmark) -> set[str]:
    """Return the names of a benchmark, its tasks and its averages on command lines."""
    names = {benchmark.name}
    names |= {average.name for average in benchmark.averages}
    for task in benchmark.tasks:
        names |= {*task.names}
    return names


def _tasks_of(benchmark: Benchmark) -> Iterator[TaskVariant]:
    """Yield every task, part, subject and variant that has a name of its own."""
    for task in benchmark.tasks:
        selections = [*task.selections]
        for variant in task.all_variants:
            for part, scope, subjects in selections:
                name = joined_name(task.name, part, variant.suffix)
                yield TaskVariant(
                    name,
                    benchmark,
                    task,
                    variant,
                    subjects,
                    scope,
                )


# ---------------------------------------------------------------------- finding one


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
    catalogue = _present()
    task = catalogue.tasks.get(name) or _by_inspect_name(name, parameters or {})
    task = task or _tasks_of_sets(catalogue).get(name)
    if task:
        _warn(catalogue)
        return task
    # The error names what is left out; a warning would repeat it.
    known = [*catalogue.tasks, *_tasks_of_sets(catalogue)]
    hint = did_you_mean(name, known, most=3)
    advice = f"{hint}`hkcanto list` shows all.{_maybe_left_out()}"
    raise CatalogueError(f"no task {name!r} in the catalogue. {advice}")


def _by_inspect_name(name: str, parameters: Mapping[str, Any]) -> TaskVariant | None:
    """Return the task with a name in Inspect that some parameters select.

    Raises:
        OptionError: The parameters select none of the tasks with this name.
    """
    catalogue = _present()
    alike = _with_inspect_name(catalogue, name.removeprefix("hkcanto/"))
    if not alike:
        return None
    for task in alike:
        key, _, value = task.parameter.partition("=")
        chosen = parameters.get(key)
        if chosen is None and (task.by_default or len(alike) == 1):
            chosen = value
        if chosen == value:
            return catalogue.tasks[task.name]
    choices = " or ".join(f"-T {task.parameter}" for task in alike)
    raise OptionError(f"{name} is {len(alike)} tasks. Choose one with {choices}.")


def _with_inspect_name(catalogue: _Catalogue, name: str) -> list[TaskDefinition]:
    tasks = chain.from_iterable(benchmark.tasks for benchmark in catalogue.benchmarks)
    return [task for task in tasks if task.inspect == name]


def find_benchmark(name: str) -> Benchmark:
    """Return a benchmark by its name.

    Raises:
        CatalogueError: The benchmark does not exist; the message lists those that do.
    """
    catalogue = _present()
    present = (*catalogue.benchmarks, *_sets(catalogue))
    known = {benchmark.name: benchmark for benchmark in present}
    if name in known:
        _warn(catalogue)
        return known[name]
    names = ", ".join(known)
    hint = did_you_mean(name, known)
    raise CatalogueError(
        f"no benchmark {name!r}. {hint}There are {names}.{_maybe_left_out()}"
    )


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
    known = {benchmark.name: benchmark for benchmark in benchmarks(with_sets=True)}
    chosen: list[str] = []
    for name in names or [benchmark.name for benchmark in benchmarks()]:
        if name in known:
            chosen += (task.name for task in known[name].tasks)
        else:
            chosen.append(name)
    return [find_task(name) for name in dict.fromkeys(chosen)]


def _maybe_left_out() -> str:
    """Say if an unknown name may be in a benchmark that was left out."""
    if not left_out():
        return ""
    reasons = "".join(f"\n  {reason}" for reason in left_out())
    return f" Or it is in a benchmark that is left out:{reasons}"


def known_signature(text: object) -> Signature:
    """Read a logged signature of a task that the catalogue has.

    Raises:
        LogError: It is of another version of hkcanto, or its task is unknown.
    """
    signature = parse_signature(text)
    try:
        task = find_task(signature.task)
    except CatalogueError as error:
        raise LogError(
            f"the catalogue of this version has no task {signature.task!r}"
        ) from error
    if task.scope != "task":
        raise LogError(f"its signature {text!r} is of another version of hkcanto")
    return signature


# ---------------------------------------------------------------------- averages of tasks


def share(average: Average, task: str) -> float:
    """Return the weight of one task's headline in an average over several tasks.

    Args:
        average: The average, such as the ZH/YUE average of HKCanto-Eval's Table 1.
        task: The name of a task in one of its columns.

    Returns:
        The task's share of its column's items, divided by the number of columns.

    Examples:
        >>> share(find_benchmark("hkcanto").averages[1], "hkcanto_mmlu_yue")
        0.25
    """
    column = next(column for column in average.columns if task in column)
    if len(column) == 1:  # its items need not be known
        return 1 / len(average.columns)
    items: dict[str, int] = {}
    for name in column:
        member = find_task(name)
        items[name] = sum(map(member.scored_rows, member.subjects))
    return items[task] / sum(items.values()) / len(average.columns)


def average_of_tasks(average: Average, headlines: Mapping[str, float]) -> float:
    """Return an average over several tasks.

    Args:
        average: The average.
        headlines: Task → its headline, for every task in the average's columns.

    Examples:
        >>> english = find_benchmark("hkcanto").averages[0]
        >>> tasks = ["hkcanto_mmlu_en", "hkcanto_dse_en", "hkcanto_professional_en"]
        >>> average_of_tasks(english, dict(zip(tasks, [0.5, 1.0, 1.0])))
        0.75
    """
    tasks = [task for column in average.columns for task in column]
    return fsum(share(average, task) * headlines[task] for task in tasks)
