"""The catalogue: which benchmarks and tasks exist, declared in `benchmarks/*.toml`.

A data file is checked when it is read. An unknown key, a missing prompt, a name used twice or a
task kind that nobody implements is an error that names the file and the entry.
"""

import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec

from .errors import CatalogueError
from .releases import GitHubRelease, HubDataset

BENCHMARKS = Path(__file__).parent / "benchmarks"

_Name = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]*$")]


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the catalogue's records: immutable, no key that is not declared."""


class PromptTemplate(_Entry, frozen=True):
    """The texts of a prompt; `{name}` marks what the task kind fills in.

    Attributes:
        system: Instruction in front, with the white space that follows it.
        example: A worked example's question.
        question: The scored question.
        answer_separator: Between a question and its answer.
        example_separator: After each worked example.
    """

    system: str
    example: str
    question: str
    answer_separator: str
    example_separator: str


class TaskEntry(_Entry, frozen=True):
    """One task of a benchmark.

    Attributes:
        name: The name in lm-eval.
        inspect: The name in Inspect, after `hkcanto/`.
        title: What a person calls it.
        chinese: The same in Chinese.
        kind: The module of `hkcanto_tasks.kinds` that reads, renders and scores it.
        source: Where in the paper it is specified.
        shots: Worked examples by default.
        max_tokens: Longest response asked for by default.
        stop: Texts that only a run-away base model writes; a response ends before the first one.
        headline: The metric to read first.
        metric: How the headline is computed, for the signature.
        files: Split → paths in the release, of which the first that exists is read.
        rows: Split → published number of rows.
        prompt: The paper's prompt.
        examples: The paper's worked examples, keyed as in the template.
    """

    name: _Name
    inspect: _Name
    title: str
    chinese: str
    kind: str
    source: str
    shots: Annotated[int, msgspec.Meta(ge=0)]
    max_tokens: Annotated[int, msgspec.Meta(gt=0)]
    stop: tuple[str, ...]
    headline: str
    metric: str
    files: dict[str, tuple[str, ...]]
    rows: dict[str, Annotated[int, msgspec.Meta(gt=0)]]
    prompt: PromptTemplate
    examples: tuple[dict[str, str], ...] = ()


class Benchmark(_Entry, frozen=True):
    """One benchmark: a release and its tasks.

    Attributes:
        name: Short name, also of its group in lm-eval.
        title: What a person calls it.
        folder: The release's folder in the data directory and in the cache.
        paper: Title, authors, year.
        terms: Under which terms the data may be used.
        github: Where the release is, if it is a GitHub repository.
        hub: Where the release is, if it is a Hugging Face data set.
        tasks: The tasks, in the order in which they are listed.
    """

    name: _Name
    title: str
    folder: str
    paper: str
    terms: str
    tasks: tuple[TaskEntry, ...]
    github: GitHubRelease | None = None
    hub: HubDataset | None = None

    @property
    def release(self) -> GitHubRelease | HubDataset:
        """Where the data is published."""
        release = self.github or self.hub
        assert release is not None
        return release


def read_benchmark(path: Path) -> Benchmark:
    """Read and check one data file.

    Args:
        path: A TOML file in the form of `benchmarks/hkcanto_eval.toml`.

    Raises:
        CatalogueError: The file is not TOML or not a benchmark; the message says where.

    Example:
        >>> read_benchmark(BENCHMARKS / "hkcanto_eval.toml").title
        'HKCanto-Eval'
    """
    try:
        benchmark = msgspec.convert(tomllib.loads(path.read_text("utf-8")), Benchmark)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise CatalogueError(f"{path.name}: {error}. Mend this entry of the catalogue.") from error
    for problem in _problems(benchmark):
        raise CatalogueError(f"{path.name}: {problem}. Mend this entry of the catalogue.")
    return benchmark


def _problems(benchmark: Benchmark) -> Iterator[str]:
    from .kinds import kinds

    if (benchmark.github is None) == (benchmark.hub is None):
        yield "a benchmark has exactly one of [github] and [hub]"
    for field in ("name", "inspect"):
        for name in _repeated(getattr(task, field) for task in benchmark.tasks):
            yield f"two tasks have {field} = {name!r}"
    for task in benchmark.tasks:
        if task.kind not in kinds():
            yield f"task {task.name!r} has kind {task.kind!r}; there are {', '.join(kinds())}"
            continue
        metrics = [metric.name for metric in kinds()[task.kind].METRICS]
        if task.headline not in metrics:
            yield f"task {task.name!r} has headline {task.headline!r}; there are {metrics}"
        if "test" not in task.files or task.files.keys() != task.rows.keys():
            yield f"task {task.name!r} needs 'test' and the same splits in files and rows"


def _repeated(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]


@cache
def benchmarks() -> tuple[Benchmark, ...]:
    """Return every benchmark of the catalogue.

    Raises:
        CatalogueError: A data file is wrong, or two benchmarks share a task name.
    """
    found = tuple(read_benchmark(path) for path in sorted(BENCHMARKS.glob("*.toml")))
    for name in _repeated(task.name for benchmark in found for task in benchmark.tasks):
        raise CatalogueError(f"two benchmarks of the catalogue have a task {name!r}")
    return found


def find_task(name: str) -> tuple[Benchmark, TaskEntry]:
    """Return a task and its benchmark by the task's name in lm-eval.

    Raises:
        CatalogueError: There is none of that name; the message lists those that exist.

    Example:
        >>> find_task("hkcanto_g2p")[1].title
        'Jyutping grapheme-to-phoneme'
    """
    tasks = {task.name: (found, task) for found in benchmarks() for task in found.tasks}
    if name not in tasks:
        raise CatalogueError(f"no task {name!r} in the catalogue; there are {', '.join(tasks)}")
    return tasks[name]


def find_benchmark(name: str) -> Benchmark:
    """Return a benchmark by its name.

    Raises:
        CatalogueError: There is none of that name; the message lists those that exist.
    """
    known = {benchmark.name: benchmark for benchmark in benchmarks()}
    if name not in known:
        raise CatalogueError(f"no benchmark {name!r}; there are {', '.join(known)}")
    return known[name]
