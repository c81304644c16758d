"""The catalogue: which benchmarks and tasks exist, declared in `benchmarks/*.toml`.

A data file is checked when it is read. An unknown key, a missing prompt, a name used twice or a
task kind that nobody implements is an error that names the file and the entry.
"""

import difflib
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from .errors import CatalogueError
from .releases import GitHubRelease, HubDataset, PackageData, Release

BENCHMARKS = Path(__file__).parent / "benchmarks"

_Name = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]*$")]


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the catalogue's records: immutable, no key that is not declared."""


class PromptTemplate(_Entry, frozen=True):
    """The texts of a prompt; `{name}` marks what the task kind fills in.

    Attributes:
        system: Instruction in front, with the white space that follows it.
        question: A question, scored or worked.
        answer_separator: Between a question and its answer.
        example_separator: After each worked example.
        example: A worked example's question, where it differs from the scored one.
        zero_shot: What `{zero}` stands for when there are no worked examples; where a text of the
            model's own is asked for, the whole `system` then.
        cue: What `{cue}` stands for: the start of an answer, left out of a scored question that
            asks for the answer on a last line.
        scaffold: What `{scaffold}` stands for when an answer in a fixed form is asked for.
        stop: Texts that only a run-away base model writes; a response ends before the first one.
        system_cot: Instead of `system`, to ask for a chain of thought.
        question_cot: Instead of `question` for the scored one, to ask for a chain of thought.
        example_cot: Instead of `example`, for one with a chain of thought.
        answer_cot: The answer of such an example.
        stop_cot: Instead of `stop`, when a chain of thought is asked for.
    """

    system: str
    question: str
    answer_separator: str
    example_separator: str
    example: str | None = None
    zero_shot: str = ""
    cue: str = ""
    scaffold: str = ""
    stop: tuple[str, ...] = ()
    system_cot: str | None = None
    question_cot: str | None = None
    example_cot: str | None = None
    answer_cot: str = "{reasoning}{answer}"
    stop_cot: tuple[str, ...] = ()


class Subject(_Entry, frozen=True):
    """One subject of a task: a file of questions in each split.

    Attributes:
        name: The last part of its task's name; empty if it is the task's only one.
        stem: What stands for `{stem}` in the task's file names.
        title: Its name in the paper.
        chinese: The same in Chinese.
        rows: Published number of test rows.
        shown: What the prompt calls it; the stem with blanks, without one.
        category: The category that the paper counts it under.
        groups: Further sets that the paper reports, such as `hk_specific`.
        aliases: Other stems that a release may use.
    """

    name: Annotated[str, msgspec.Meta(pattern="^[a-z0-9_]*$")]
    stem: str
    title: str
    chinese: str
    rows: Annotated[int, msgspec.Meta(gt=0)]
    shown: str | None = None
    category: str = ""
    groups: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


class Variant(_Entry, frozen=True):
    """A condition with a name of its own: the task's name and `_<suffix>`.

    Attributes:
        suffix: Empty for the task itself.
        scoring: `generative`: the model writes an answer; `loglikelihood`: the likeliest letter.
        shots: Worked examples, where they differ from the task's.
        cot: Whether a chain of thought is asked for.
        script: `tc`, or `sc` for questions and prompt in Simplified script.
    """

    suffix: Annotated[str, msgspec.Meta(pattern="^[a-z0-9_]*$")] = ""
    scoring: Literal["generative", "loglikelihood"] = "generative"
    shots: Annotated[int, msgspec.Meta(ge=0)] | None = None
    cot: bool = False
    script: Literal["tc", "sc"] = "tc"


class TaskEntry(_Entry, frozen=True):
    """A task of a benchmark: one subject, or a group of subjects that are run alike.

    Attributes:
        name: The name in lm-eval.
        inspect: The name in Inspect, after `hkcanto/`.
        title: What a person calls it.
        chinese: The same in Chinese.
        kind: The module of `hkcanto_tasks.kinds` that reads, renders and scores it.
        source: Where in the paper it is specified.
        shots: Worked examples by default.
        headline: The metric to read first.
        metric: How the headline is computed, for the signature.
        files: Split → path in the release, with `{stem}`. A list names files of which the first
            that exists is read.
        subjects: Its subjects, in the paper's order.
        prompts: Name of a prompt that one can choose → its key in the benchmark's prompts; `paper`
            is the default.
        examples: The paper's worked examples, keyed as in the template.
        parameter: What chooses it among the tasks that share its name in Inspect.
        language: `en`, `zh` or `yue` where tasks differ by it; a translation's is the target's.
        average: Over what the paper's average goes.
        sentence: The paper's sentence in front of the prompt.
        sentences: Ours for the other prompts, by the prompt's name.
        letters: The labels of the options.
        blank_options: Whether a blank cell is an option with an empty text, or no option.
        header: Whether the files have a header row.
        extra_stems: Files of the release that are no subject of the paper.
        dev_rows: Rows of a dev file that are used as worked examples.
        variants: The named conditions.
        types: Type of question → regular expression that its text matches; the first one counts.
        coarse: Type of question → the types that it sums up.
    """

    name: _Name
    inspect: _Name
    title: str
    chinese: str
    kind: str
    source: str
    shots: Annotated[int, msgspec.Meta(ge=0)]
    headline: str
    metric: str
    files: dict[str, str | tuple[str, ...]]
    subjects: Annotated[tuple[Subject, ...], msgspec.Meta(min_length=1)]
    prompts: dict[str, str]
    examples: tuple[dict[str, str], ...] = ()
    parameter: str = ""
    language: str = ""
    average: Literal["questions", "subjects", "categories"] = "questions"
    sentence: str = ""
    sentences: dict[str, str] = {}
    letters: str = "ABCD"
    blank_options: Literal["shown", "absent"] = "shown"
    header: bool = False
    extra_stems: tuple[str, ...] = ()
    dev_rows: int = 5
    variants: tuple[Variant, ...] = ()
    types: dict[str, str] = {}
    coarse: dict[str, tuple[str, ...]] = {}

    def paths(self, split: str, stem: str) -> tuple[str, ...]:
        """Return the paths in the release where a subject's file of a split may be."""
        paths = self.files[split]
        paths = (paths,) if isinstance(paths, str) else paths
        return tuple(path.format(stem=stem) for path in paths)


class Average(_Entry, frozen=True):
    """An average of the paper's tables over several tasks.

    Attributes:
        name: The metric's name.
        title: What the paper calls it.
        columns: The columns that it is the mean of; each lists the tasks that it pools.
    """

    name: _Name
    title: str
    columns: tuple[tuple[str, ...], ...]


class Benchmark(_Entry, frozen=True):
    """One benchmark: a release and its tasks.

    Attributes:
        name: Short name, also of its group in lm-eval.
        title: What a person calls it.
        folder: The release's folder in the data directory and in the cache.
        paper: Title, authors, year.
        terms: Under which terms the data may be used.
        tasks: The tasks, in the order in which they are listed.
        prompts: The prompt texts, by name.
        github: Where the release is, if it is a GitHub repository.
        hub: Where the release is, if it is a Hugging Face data set.
        package: Where the data is, if it ships in this package.
        averages: The paper's averages over several tasks.
    """

    name: _Name
    title: str
    folder: str
    paper: str
    terms: str
    tasks: tuple[TaskEntry, ...]
    prompts: dict[str, PromptTemplate]
    github: GitHubRelease | None = None
    hub: HubDataset | None = None
    package: PackageData | None = None
    averages: tuple[Average, ...] = ()

    @property
    def release(self) -> Release:
        """Where the data is published."""
        release = self.github or self.hub or self.package
        assert release is not None  # checked when the file is read
        return release


@dataclass(frozen=True, slots=True)
class NamedTask:
    """What a task name stands for: a task, one of its variants, all or one of its subjects.

    Attributes:
        name: The name in lm-eval.
        benchmark: The benchmark that it belongs to.
        entry: The task.
        variant: The condition; the plain one has no suffix.
        subjects: The subjects that it runs.
        is_group: Whether its subjects are tasks of their own.
    """

    name: str
    benchmark: Benchmark
    entry: TaskEntry
    variant: Variant
    subjects: tuple[Subject, ...]
    is_group: bool

    @property
    def shots(self) -> int:
        """Worked examples by default."""
        return self.entry.shots if self.variant.shots is None else self.variant.shots


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

    if [benchmark.github, benchmark.hub, benchmark.package].count(None) != 2:
        yield "a benchmark has exactly one of [github], [hub] and [package]"
    for name in _repeated(task.name for task in _named_tasks(benchmark)):
        yield f"two tasks are called {name!r}"
    for task in benchmark.tasks:
        where = f"task {task.name!r}"
        if task.kind not in kinds():
            yield f"{where} has kind {task.kind!r}; there are {', '.join(kinds())}"
            continue
        metrics = [metric.name for metric in kinds()[task.kind].METRICS]
        if task.headline not in metrics:
            yield f"{where} has headline {task.headline!r}; there are {metrics}"
        for split in {"dev", "test"} - task.files.keys():
            yield f"{where} names no file for the split {split!r}"
        if "paper" not in task.prompts:
            yield f"{where} has no prompt 'paper'"
        for prompt in task.prompts.values():
            if prompt not in benchmark.prompts:
                yield f"{where} has prompt {prompt!r}; there are {list(benchmark.prompts)}"
        for stem in _repeated(subject.stem for subject in task.subjects):
            yield f"{where} has two subjects with stem {stem!r}"
        if task.average == "categories":
            for subject in task.subjects:
                if not subject.category:
                    yield f"{where} averages categories, but subject {subject.name!r} has none"
    known = {task.name for task in _named_tasks(benchmark)}
    for average in benchmark.averages:
        for column in average.columns:
            for name in set(column) - known:
                yield f"average {average.name!r} has a task {name!r} that does not exist"


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _named_tasks(benchmark: Benchmark) -> Iterator[NamedTask]:
    for entry in benchmark.tasks:
        for variant in (Variant(), *entry.variants):
            whole = "_".join(filter(None, (entry.name, variant.suffix)))
            is_group = bool(entry.subjects[0].name)
            yield NamedTask(whole, benchmark, entry, variant, entry.subjects, is_group)
            for subject in entry.subjects:
                if subject.name:
                    name = "_".join(filter(None, (entry.name, subject.name, variant.suffix)))
                    yield NamedTask(name, benchmark, entry, variant, (subject,), is_group=False)


@cache
def benchmarks() -> tuple[Benchmark, ...]:
    """Return every benchmark of the catalogue.

    Raises:
        CatalogueError: A data file is wrong.
    """
    return tuple(read_benchmark(path) for path in sorted(BENCHMARKS.glob("*.toml")))


@cache
def named_tasks() -> dict[str, NamedTask]:
    """Return every task, group and variant by its name in lm-eval, in the catalogue's order.

    Raises:
        CatalogueError: A data file is wrong, or two benchmarks share a name.
    """
    tasks = [task for benchmark in benchmarks() for task in _named_tasks(benchmark)]
    for name in _repeated(task.name for task in tasks):
        raise CatalogueError(f"two benchmarks of the catalogue have a task {name!r}")
    return {task.name: task for task in tasks}


def find_task(name: str) -> NamedTask:
    """Return a task, a group or one of their variants by its name in lm-eval.

    Raises:
        CatalogueError: There is none of that name; the message lists those that are like it.

    Example:
        >>> find_task("hkcanto_g2p").entry.title
        'Jyutping grapheme-to-phoneme'
    """
    tasks = named_tasks()
    if name not in tasks:
        near = difflib.get_close_matches(name, tasks, n=3, cutoff=0.4) or [*tasks][:3]
        raise CatalogueError(
            f"no task {name!r} in the catalogue. Did you mean {' or '.join(near)}? "
            "`hkcanto list` shows all."
        )
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
