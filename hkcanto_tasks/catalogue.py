"""The catalogue: which benchmarks and tasks exist, each declared in a `benchmark.toml`.

Our benchmarks are in `benchmarks/<name>/`. `HKCANTO_BENCHMARKS=dir[:dir]` and the entry point group
`hkcanto.benchmarks` add folders of the same form. A file is checked when it is read: an unknown
key, a missing prompt or a repeated name is an error that names the file and the entry. If the
benchmark is from outside this package, the error is logged and only that benchmark is left out.
"""

import difflib
import logging
import os
import re
import tomllib
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from .data.releases import FolderData, GitHubRelease, HubDataset, Release
from .errors import CatalogueError, from_package

_log = logging.getLogger("hkcanto")
_FEW = 6

BENCHMARKS = Path(__file__).parent / "benchmarks"

Scope = Literal["task", "part", "subject"]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*\Z")]


class Declared(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the records in a TOML file: immutable, without unknown keys."""


class PromptTemplate(Declared, frozen=True):
    """The texts of a prompt. The kind or a release's column fills the placeholder `{name}`.

    Attributes:
        question: Text of a question, both scored and in worked examples.
        system: Instruction at the very start. Include the white space that follows it.
        answer_separator: Text between a question and its answer.
        example_separator: Text after each worked example.
        example: Text of a worked example's question, if it differs from `question`.
        zero_shot: Only for prompts without worked examples: in multiple choice the text of
            `{zero}`, which is empty otherwise; in other kinds the text in place of `system`.
        zero_shot_question: Replacement for `question` in prompts without worked examples.
        cue: Text for `{cue}`, the start of an answer. It is left out if the option `prompt` ends in
            `+scaffold`.
        scaffold: Text for `{scaffold}`, which asks for the answer on a last line of fixed form. It
            is used if the option `prompt` ends in `+scaffold`.
        stop: Stop texts, before which a response is cut. A base model writes them when it goes on
            after its answer, for example with the next item.
        system_cot: Replacement for `system` that asks for a chain of thought.
        question_cot: Replacement for `question` in the scored item, to ask for a chain of thought.
        example_cot: Replacement for `example` in worked examples with a chain of thought.
        answer_cot: Answer of a worked example with a chain of thought.
        stop_cot: Replacement for `stop` when a chain of thought is asked for.
    """

    question: str
    system: str = ""
    answer_separator: str = ""
    example_separator: str = "\n\n"
    example: str | None = None
    zero_shot: str = ""
    zero_shot_question: str | None = None
    cue: str = ""
    scaffold: str = ""
    stop: tuple[str, ...] = ()
    system_cot: str | None = None
    question_cot: str | None = None
    example_cot: str | None = None
    answer_cot: str = "{reasoning}{answer}"
    stop_cot: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        """The texts that may have placeholders."""
        whole = ("answer_separator", "example_separator")
        fields = msgspec.structs.asdict(self).items()
        return [text for name, text in fields if isinstance(text, str) and name not in whole]


class Subject(Declared, frozen=True):
    """One subject of a task: a file of questions in each split.

    Attributes:
        name: Last part of the name of the subject's own task: `law` in `my_quiz_law`. Empty if the
            task has only one subject.
        stem: Text for `{stem}` in the task's file names; if one file has all subjects, the value in
            the column that `columns.subject` names. By default the name.
        title: Title in the paper; by default made from the name.
        chinese: Title in Chinese.
        rows: Published number of test rows, or 0 if it is not known.
        shown: Name in the prompt; by default the stem, with spaces in place of underscores.
        category: The subject's category in the paper.
        groups: Other sets in the paper that contain the subject, such as `hk_specific`.
        aliases: Other stems that a release may use for the subject.
    """

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9_]*\Z")]
    stem: str = ""
    title: str = ""
    chinese: str = ""
    rows: Annotated[int, msgspec.Meta(ge=0)] = 0
    shown: str | None = None
    category: str = ""
    groups: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        title = self.title or self.name.replace("_", " ").capitalize()
        msgspec.structs.force_setattr(self, "stem", self.stem or self.name)
        msgspec.structs.force_setattr(self, "title", title)

    @property
    def sets(self) -> tuple[str, ...]:
        """The names that select it: its own, its category's and its groups'."""
        return tuple(filter(None, (self.name, self.category, *self.groups)))


class Variant(Declared, frozen=True):
    """A task under another condition, with its own name: the task's name and `_<suffix>`.

    Attributes:
        suffix: End of the variant's name; empty for the task itself.
        scoring: `generative` if the model writes an answer; `loglikelihood` if its answer is the
            letter that it finds likeliest.
        shots: Number of worked examples, if it differs from the task's.
        cot: Whether a chain of thought is asked for.
        script: `tc`, or `sc` for questions and prompt in Simplified script.
    """

    suffix: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9_]*\Z")] = ""
    scoring: Literal["generative", "loglikelihood"] = "generative"
    shots: Annotated[int, msgspec.Meta(ge=0)] | None = None
    cot: bool = False
    script: Literal["tc", "sc"] = "tc"


class DeclaredLabel(Declared, frozen=True):
    """A label with its value in the data and other words for it.

    Attributes:
        data: The label's value in the data, if that is not the label itself: `0`,
            `"not_entailment"`.
        words: Other words for the label that a model may write.
    """

    data: str | int | tuple[str | int, ...] = ()
    words: tuple[str, ...] = ()


class Level(Declared, frozen=True):
    """A level of a rubric.

    Attributes:
        number: Number that the judge writes for this level.
        name: Human-readable name.
        meaning: Description of the answers at this level.
    """

    number: Annotated[int, msgspec.Meta(ge=0)]
    name: Annotated[str, msgspec.Meta(min_length=1)]
    meaning: str = ""


class Rubric(Declared, frozen=True):
    """The rubric by which a model judges answers.

    Attributes:
        prompt: Prompt for the judge. `{answer}` is the answer, without its reasoning; `{levels}`
            is the scale, one level per line; `{code}` is a text that no answer can guess, for the
            tags around the answer. Any other placeholder is filled as in the task's own prompt,
            or from a column. The model under test does not see what fills only the judge's
            placeholders.
        levels: Levels of the scale.
        passes: Numbers of the levels that pass.
        higher_is_better: Whether a higher level is better.
        marker: Word that begins the line on which the judge gives the level: `Level: 2`.
        empty: Level of an empty answer, which is not sent to the judge. Without this key, an empty
            answer counts as unjudged.
    """

    prompt: str
    levels: Annotated[tuple[Level, ...], msgspec.Meta(min_length=2)]
    passes: Annotated[tuple[int, ...], msgspec.Meta(min_length=1)]
    higher_is_better: bool
    marker: Annotated[str, msgspec.Meta(pattern=r"^\w[\w ]*\Z")] = "Level"
    empty: int | None = None


class TaskDefinition(Declared, frozen=True):
    """A task of a benchmark: one subject, or several with the same setup.

    Attributes:
        name: Name in lm-eval.
        title: Human-readable title.
        kind: Kind of task, which reads, renders and scores the items.
        version: Version of the task. Raise it when you change a prompt, how answers are read, or
            how scores are averaged.
        headline: Figure to read first; by default the kind's first one.
        files: Split (`test`, `dev`, `val`) → path in the release; a single text is the path of
            `test`. `{stem}` stands for the subject's stem. `*` stands for any name, and each name
            found is a subject: `test/*.csv`. `data.zip/test/law.csv` is a file in an archive. In a
            list of paths, the first file that exists is read. A table of column → path names
            parallel text files: `{ source = "a.yue", target = "a.zho" }`. Without a `dev` file, the
            data has no worked examples. A hub data set does not need `files`: `config` and
            `splits`, its card, or the names of its files say which file is which.
        config: Configuration of a hub data set: one that its card names, or a folder.
        splits: Split (`test`, `dev`, `val`) → its name in the hub data set: `{ test = "train" }`.
        rows: Path to the rows in a JSON file, as keys joined by dots: `data.items`. If the path
            leads through lists, as `data.paragraphs.qas` does, each row also has the cells of the
            objects around it.
        delimiter: Delimiter of CSV files; by default a comma, in `.tsv` files a tab.
        quotes: Whether quotation marks enclose cells of a CSV file. If not, they are part of the
            text.
        subjects: Subjects, in the paper's order. If `files` has `*`, list only those that need a
            title, a category or the like.
        prompts: Name that users select (`-T prompt=yue`) → key in the benchmark's `prompts`;
            `paper` is the default.
        inspect: Name in Inspect, after `hkcanto/`. Without one, the task runs as `hkcanto/run`.
        parameter: If several tasks have the same name in Inspect, the parameter that selects this
            one: `language=yue`.
        by_default: If several tasks have the same name in Inspect, whether this one runs when no
            parameter selects one.
        chinese: Title in Chinese.
        specified: Part of the paper that specifies the task.
        shots: Default number of worked examples.
        metric: Word in the signature for how the headline is computed.
        table: Figures in the harnesses' tables, besides the headline; by default all except those
            that the kind marks as diagnostic. Reports have all figures.
        printed: The paper's name of the headline and of the table that has it:
            `Average (Table 2)`. lm-eval sorts its results by name. If the headline would not come
            first, lm-eval's table repeats it under this name.
        examples: The paper's worked examples, each as placeholder → text.
        language: Language (`en`, `zh` or `yue`), if tasks differ by it; for a translation, the
            target language.
        sentence: Text of `{sentence}`, by which the paper's prompt introduces this task.
        sentences: Name of one of our own prompts → text of `{sentence}` in that prompt.
        letters: Letters of the options. If `options`, or the options in `columns`, have fewer
            entries, the other letters are not used.
        blank_options: Whether a blank cell is an option with an empty text (`shown`) or no option
            (`absent`). With `absent`, a missing cell is no option either.
        header: Whether CSV files have a header row.
        columns: Role of a cell → the name of its column, in upper or lower case. In a list of
            names, the first that exists is used. A role that is not declared keeps the names of its
            kind. Any other key is a placeholder of the prompt: `passage` for `{passage}`.
        question: Question for every row, if the rows have no questions.
        options: Options for every row, in the order of their letters, if the rows have no options:
            `["啱", "唔啱"]`.
        answer: How an answer cell names the right option: by `letter`, `index` (from 0), `number`
            (from 1), `letter_or_number`, the option's `text`, or `one_hot`, a list with 1 for each
            right option and 0 for the others (the list may be in the same cell as the options).
            By default, the first five are tried, and the one that fits all rows of a file is used.
            If `options` is declared and the answers are numbers, this key is required.
        answers: Value of an answer cell → letter of the right option, or letters of several:
            `{ similar = "A", different = "B" }`. Replaces `answer`.
        option_labels: Whether an `A. ` or `(1)` at the start of the release's options is shown
            (`shown`) or removed (`remove`). With `remove`, a label that does not fit the option's
            position is an error.
        shuffle_options: Seed for shuffling each question's options, also in worked examples; 0 for
            no shuffling. Use it if the release's right option is always in the same position.
        labels: Labels of a classification: a list, or label → other words that a model may write
            for it: `{ Positive = ["正面"] }`. If the data has another value for a label:
            `{ "蘊含" = { data = 1, words = ["entailment"] } }`.
        fold_scripts: Whether a short answer in the other Chinese script is also right.
        alternatives: Separator between several right short answers in one cell: `/` for `ni1/nei1`.
        extra_stems: Stems of files in the release that are not subjects of the paper.
        dev_rows: Number of rows of a dev file that are used as worked examples.
        examples_from_test: Number of test rows, from the first, that are worked examples and not
            scored.
        variants: Variants of the task, each a task with its own name.
        types: Type of question → regular expression for the questions of this type. The first that
            matches a question counts. If one takes longer than a second, that is an error.
        coarse: Broader type of question → the types in it.
        titles: Category, set or type → its human-readable title.
        rubric: Rubric by which a model judges the answers, for the kind `judged`.
        subject_files: Whether lm-eval's task folder has a file for each subject. If not, these
            tasks are made in memory, like those of benchmarks from outside this package.
    """

    name: _Name
    title: str
    kind: str
    files: str | dict[str, str | tuple[str, ...] | dict[str, str]] = {}
    config: str = ""
    splits: dict[str, str] = {}
    rows: str = ""
    delimiter: str = ""
    quotes: bool = True
    version: Annotated[int, msgspec.Meta(gt=0)] = 1
    headline: str = ""
    subjects: tuple[Subject, ...] = ()
    prompts: dict[str, str] = {}
    inspect: _Name | None = None
    parameter: str = ""
    by_default: bool = False
    chinese: str = ""
    specified: str = ""
    shots: Annotated[int, msgspec.Meta(ge=0)] = 0
    metric: str = "generative"
    table: tuple[str, ...] = ()
    printed: str = ""
    examples: tuple[dict[str, str], ...] = ()
    language: str = ""
    sentence: str = ""
    sentences: dict[str, str] = {}
    letters: Annotated[str, msgspec.Meta(pattern=r"^[A-J]{2,10}\Z")] = "ABCD"
    blank_options: Literal["shown", "absent"] = "shown"
    header: bool = True
    columns: dict[str, str | Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]] = {}
    question: str = ""
    options: tuple[str, ...] = ()
    answer: Literal["", "letter", "index", "number", "letter_or_number", "text", "one_hot"] = ""
    answers: dict[str, Annotated[str, msgspec.Meta(pattern=r"^[A-J]+\Z")]] = {}
    option_labels: Literal["shown", "remove"] = "shown"
    shuffle_options: Annotated[int, msgspec.Meta(ge=0)] = 0
    labels: dict[str, tuple[str, ...] | DeclaredLabel] | tuple[str, ...] = ()
    fold_scripts: bool = False
    alternatives: str = ""
    extra_stems: tuple[str, ...] = ()
    dev_rows: Annotated[int, msgspec.Meta(ge=0)] = 5
    examples_from_test: Annotated[int, msgspec.Meta(ge=0)] = 0
    variants: tuple[Variant, ...] = ()
    types: dict[str, str] = {}
    coarse: dict[str, tuple[str, ...]] = {}
    titles: dict[str, str] = {}
    rubric: Rubric | None = None
    subject_files: bool = True

    def __post_init__(self) -> None:
        subjects = self.subjects or (Subject(name="", title=self.title),)
        msgspec.structs.force_setattr(self, "subjects", subjects)
        columns = self.columns.get("options", ())
        count = len(self.options or (() if isinstance(columns, str) else columns))
        if 1 < count < len(self.letters):  # the number of letters gives the chance level
            msgspec.structs.force_setattr(self, "letters", self.letters[:count])

    @property
    def has_examples(self) -> bool:
        """Whether there may be worked examples."""
        splits = self.splits or self.files
        in_data = self.dev_rows and (not splits or "dev" in splits)
        return bool(in_data or self.examples or self.examples_from_test)

    @property
    def places(self) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        """Split → its alternative paths, each for one file or for files of parallel lines."""
        return {split: _alternatives(each) for split, each in self.by_split.items()}

    @property
    def by_split(self) -> dict[str, str | tuple[str, ...] | dict[str, str]]:
        """`files` as a table."""
        return {"test": self.files} if isinstance(self.files, str) else self.files

    def lines(self, split: str) -> tuple[str, ...]:
        """Return the columns of a split with files of parallel lines; empty for other files."""
        given = self.by_split.get(split)
        return tuple(name.lower() for name in given) if isinstance(given, dict) else ()

    def paths(self, split: str, stem: str) -> tuple[str, ...]:
        """Return the possible paths in the release of a subject's file for a split."""
        every = chain.from_iterable(self.places.get(split, ()))
        return tuple(path.replace("{stem}", stem) for path in every)

    @property
    def is_located(self) -> bool:
        """Whether the task declares the location of its rows."""
        return bool(self.files or self.config or self.splits)

    @property
    def is_open(self) -> bool:
        """Whether its subjects are unknown, since no file matched `*` yet."""
        return any("*" in path for path in self.paths("test", ""))


def _alternatives(given: str | tuple[str, ...] | dict[str, str]) -> tuple[tuple[str, ...], ...]:
    if isinstance(given, dict):
        return (tuple(given.values()),)
    return ((given,),) if isinstance(given, str) else tuple((path,) for path in given)


class Average(Declared, frozen=True):
    """An average over several tasks in the paper's tables.

    Attributes:
        name: Name of the figure.
        title: Title in the paper.
        columns: Columns to average, each a list of tasks. The value of a column is the task's
            headline, or for several tasks the accuracy over all of their items.
    """

    name: _Name
    title: str
    columns: tuple[tuple[str, ...], ...]


class Benchmark(Declared, frozen=True):
    """One benchmark: a release and its tasks.

    Attributes:
        name: Short name. With `averages`, it is also the name of the benchmark's group in lm-eval.
        title: Human-readable title.
        folder: Name of the release's folder in the data directory and in the cache.
        paper: Title, authors and year of the paper.
        terms: Terms under which the data may be used.
        tasks: Tasks, in the order in which `hkcanto list` shows them.
        prompts: Prompt texts, by name.
        github: Location of the release, if it is in a GitHub repository.
        hub: Location of the release, if it is a Hugging Face data set.
        data: Location of the data, if it is in the benchmark's own folder.
        reasoning: Data set with reasoning for the worked examples, if the release has none.
        averages: The paper's averages over several tasks.
        home: The benchmark's own folder, which contains the file; not declared in the file.
    """

    name: _Name
    title: str
    tasks: Annotated[tuple[TaskDefinition, ...], msgspec.Meta(min_length=1)]
    prompts: dict[str, PromptTemplate]
    github: GitHubRelease | None = None
    hub: HubDataset | None = None
    data: FolderData | None = None
    reasoning: HubDataset | None = None
    folder: str = ""
    paper: str = ""
    terms: str = ""
    averages: tuple[Average, ...] = ()
    home: str = ""

    @property
    def release(self) -> Release:
        """The location of the published data."""
        release = self.github or self.hub or self.data
        assert release is not None  # checked when the file is read
        return release


@dataclass(frozen=True, slots=True)
class TaskVariant:
    """A named task: a task or one of its variants, on all or some of its subjects.

    Attributes:
        name: Name in lm-eval.
        benchmark: Benchmark that it belongs to.
        definition: Declaration of the task.
        variant: Variant; that of the task itself has no suffix.
        subjects: Subjects that it runs.
        scope: Whether these are all of the `task`, a `part` such as a category, or one `subject`.
    """

    name: str
    benchmark: Benchmark
    definition: TaskDefinition
    variant: Variant
    subjects: tuple[Subject, ...]
    scope: Scope = "task"

    @property
    def shots(self) -> int:
        """The default number of worked examples."""
        return self.definition.shots if self.variant.shots is None else self.variant.shots

    @property
    def whole(self) -> str:
        """The name of the task and variant with all subjects."""
        return "_".join(filter(None, (self.definition.name, self.variant.suffix)))

    def scored_rows(self, subject: Subject) -> int:
        """Return the published number of a subject's test rows that are scored; 0 if unknown.

        Examples:
            >>> from hkcanto_tasks.catalogue import find_task
            >>> sentiment = find_task("hkcanto_sentiment")  # each file begins with the example
            >>> [sentiment.scored_rows(subject) for subject in sentiment.subjects]
            [1199, 398]
        """
        return max(0, subject.rows - self.definition.examples_from_test)


def read_benchmark(path: Path) -> Benchmark:
    """Read and check one benchmark.

    Args:
        path: A TOML file in the form of `benchmarks/hkcanto/benchmark.toml`.

    Raises:
        CatalogueError: The file is not TOML or not a benchmark; the message says where.

    Examples:
        >>> read_benchmark(BENCHMARKS / "hkcanto" / "benchmark.toml").title
        'HKCanto-Eval'
    """
    try:
        declared = tomllib.loads(path.read_text("utf-8"))
        if "home" in declared:
            raise ValueError("Object contains unknown field `home`")
        benchmark = msgspec.convert({**declared, "home": str(path.parent.resolve())}, Benchmark)
    except (OSError, ValueError, msgspec.ValidationError) as error:
        why, at = f"{error}{meant(str(error), Benchmark)}", re.search(r"\.tasks\[(\d+)", str(error))
        task = declared["tasks"][int(at[1])] if at else None
        entry = f"task {task.get('name')!r}" if isinstance(task, dict) else "this entry"
        why += "." * (not why.endswith("?"))
        raise CatalogueError(f"{path}: {why} Fix {entry} of the catalogue.") from error
    only = {"paper": next(iter(benchmark.prompts))} if len(benchmark.prompts) == 1 else {}
    tasks = [
        msgspec.structs.replace(task, prompts=task.prompts or only) for task in benchmark.tasks
    ]
    folder = benchmark.folder or benchmark.name
    benchmark = msgspec.structs.replace(benchmark, folder=folder, tasks=tuple(tasks))
    for problem in _problems(benchmark):
        raise CatalogueError(f"{path}: {problem}. Fix this entry of the catalogue.")
    if not any(task.is_open for task in tasks):
        return benchmark
    found = tuple(_with_subjects(task, benchmark, path) for task in benchmark.tasks)
    benchmark = msgspec.structs.replace(benchmark, tasks=found)
    for problem in _problems(benchmark):
        raise CatalogueError(f"{path}: by the names of its files, {problem}. List its subjects.")
    return benchmark


def _with_subjects(task: TaskDefinition, benchmark: Benchmark, path: Path) -> TaskDefinition:
    """Return a task with the subjects that its files name; unchanged before a download.

    Raises:
        CatalogueError: A file's name cannot become a task's name, two files give the same name, or
            a declared subject has no file.
    """
    from .data.declared import subjects_named
    from .data.locating import known_files  # which import this module

    if not task.is_open or not (named := subjects_named(known_files(benchmark), task)):
        return task
    where = f"{path}: task {task.name!r}"
    said = {each.stem: each for each in task.subjects if each.name}
    if absent := sorted({*said} - {*named}):
        raise CatalogueError(
            f"{where} has a subject with stem {absent[0]!r}, and no file of the release has that "
            f"name: {_few(named)}. Correct the stem."
        )
    files: dict[str, str] = {}
    for stem, file in named.items():
        subject = said.get(stem) or Subject(name=_task_name(stem), stem=stem)
        said[stem] = subject
        if not subject.name or subject.name in files:
            also = f", as does {files[subject.name]}" if subject.name else ""
            raise CatalogueError(
                f"{where}: {file} gives its subject the name {subject.name!r}{also}. Name it: "
                f'subjects = [{{ name = "…", stem = "{stem}" }}].'
            )
        files[subject.name] = file
    return msgspec.structs.replace(
        task,
        subjects=tuple(said.values()),
        files={split: _with_stem(each) for split, each in task.by_split.items()},
    )


def _with_stem(given: Any) -> Any:
    if isinstance(given, dict):
        return {name: _with_stem(path) for name, path in given.items()}
    if isinstance(given, str):
        return given.replace("*", "{stem}")
    return tuple(map(_with_stem, given))


def _task_name(stem: str) -> str:
    """Turn a file's stem into the last part of a task's name; empty without letters and digits.

    Examples:
        >>> _task_name("Hong Kong-Law")
        'hong_kong_law'
    """
    return re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_")


def _few(names: Iterable[str]) -> str:
    listed = [*names]
    return ", ".join(listed[:_FEW]) + f" and {len(listed) - _FEW} more" * (len(listed) > _FEW)


def meant(error: str, record: type[Any]) -> str:
    """Suggest a correction for an error of msgspec: the nearest key, or the key's values.

    Args:
        error: The message of msgspec.
        record: The record that the whole file is converted to.

    Returns:
        The end of a sentence; empty if the error itself says what is expected.

    Examples:
        >>> meant("Object contains unknown field `revison` - at `$.hub`", Benchmark)
        '; did you mean `revision`?'
        >>> meant("Invalid enum value 'no' - at `$.tasks[0].option_labels`", Benchmark)
        '; `option_labels` takes: `shown`, `remove`'
    """
    match = re.search(
        r"^(?:.*(unknown|required) field `(.+?)`|Expected `[^`]*`, got .*?|Invalid enum .*?)"
        r"(?: - at `\$(.*)`)?$",
        error,
    )
    if not match:
        return ""
    how, key, path = match.groups()
    names, hint = re.findall(r"\.(\w+)", path or "") + [key] * (how == "required"), Any
    for name in names:
        kinds = [hint := get_type_hints(record)[name]]
        while kinds and not (found := [e for e in kinds if hasattr(e, "__struct_fields__")]):
            kinds = [inner for each in kinds for inner in get_args(each)]
        record = found[0] if kinds else record
    if how == "unknown":
        keys = [each for each in record.__struct_fields__ if each != "home"]
        near = difflib.get_close_matches(key, keys, n=1)
        return f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(keys)}"
    return f"; `{names[-1]}` takes: {in_words(hint)}" if names else ""


def in_words(kind: Any) -> str:
    """Name the values that a field can have.

    Examples:
        >>> in_words(tuple[str, ...]), in_words(Literal["tc", "sc"]), in_words(bool)
        ('list of texts', '`tc`, `sc`', '`true`, `false`')
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return in_words(arguments[0])
    if origin in (Union, types.UnionType):
        return " or ".join(in_words(each) for each in arguments if each is not type(None))
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in arguments if each != "")
    if origin is tuple:
        return f"list of {plural(in_words(arguments[0]))}"
    if origin is dict:
        values = in_words(arguments[1])
        return f"table: name → {f'({values})' if ' or ' in values else values}"
    if kind is bool:
        return "`true`, `false`"
    return {str: "text", int: "number", float: "number"}.get(kind, "table")


def plural(words: str) -> str:
    """Name several values in place of one.

    Examples:
        >>> plural("text or number"), plural("list of texts"), plural("table: name → text")
        ('texts or numbers', 'lists of texts', 'tables: name → text')
    """
    kinds, colon, values = words.partition(":")
    return re.sub(r"\b(?:text|number|table|list)\b", r"\g<0>s", kinds) + colon + values


def _problems(benchmark: Benchmark) -> Iterator[str]:
    if [benchmark.github, benchmark.hub, benchmark.data].count(None) != 2:
        yield "a benchmark has exactly one of [github], [hub] and [data]"
    named = [task.name for task in _named_tasks(benchmark)]
    for name in repeated(named):
        yield f"two tasks are called {name!r}"
    for task in benchmark.tasks:
        where = f"task {task.name!r}"
        yield from (f"{where} {problem}" for problem in _misplaced(task, benchmark))
        for prompt in task.sentences:
            if prompt not in task.prompts:
                yield f"{where} has a sentence for prompt {prompt!r}; it has {[*task.prompts]}"
        for what in _contradictions(task):
            yield f"{where} {what}"
        for whole, kinds in task.coarse.items():
            for name in {*kinds} - {*task.types}:
                yield f"{where} sums up the type {name!r} in {whole!r}; it has {[*task.types]}"
        if "paper" not in task.prompts:
            yield f"{where} has no prompt 'paper', the one that is used by default"
        for prompt in task.prompts.values():
            if prompt not in benchmark.prompts:
                yield f"{where} has prompt {prompt!r}; there are {list(benchmark.prompts)}"
        for stem in repeated(subject.stem for subject in task.subjects):
            yield f"{where} has two subjects with stem {stem!r}"
        for subject in task.subjects if task.headline == "acc_category_macro" else ():
            if not subject.category:
                yield f"{where} averages categories, but subject {subject.name!r} has none"
    for average in benchmark.averages:
        for column in average.columns:
            for name in set(column).difference(named):
                yield f"average {average.name!r} has a task {name!r} that does not exist"


def _misplaced(task: TaskDefinition, benchmark: Benchmark) -> Iterator[str]:
    """Yield problems in a task's declared location of its rows."""
    places, on_hub = task.places, {"config": task.config, "splits": task.splits}
    for key in (key for key, value in on_hub.items() if value):
        if not benchmark.hub or task.files:
            other = "`files`, too" if task.files else "no [hub] data set"
            yield f"has `{key}`, which is for a hub data set, and {other}: declare one of them"
    named = [*(task.splits or places)]
    if "test" not in named and (named or not benchmark.hub):
        instead = f", only for {', '.join(map(repr, named))}" if named else ""
        yield f"names no file for the split 'test'{instead}: files = {{ test = \"…\" }}"
    for split in (*places, *task.splits):
        if split not in ("test", "dev", "val"):
            yield f"has files of a split {split!r}; there are test, dev and val"
        if task.rows and task.lines(split):
            yield f"has `rows`, the keys of a JSON object, and text files in `files.{split}`"
    every = [(split, path) for split in places for path in task.paths(split, "{stem}")]
    for split, path in every:
        marks = re.findall(r"\*|\{[^{}]*\}?|\}", path)
        if odd := [each for each in marks if each not in ("*", "{stem}")]:
            yield f"has {odd[0]!r} in a path; the only placeholder in paths is {{stem}}"
        elif len(marks) > 1:
            yield f"has two placeholders in the path {path!r}; write one, either * or {{stem}}"
        elif marks == ["{stem}" if task.is_open else "*"]:
            yield f"has {marks[0]} in files.{split}, and not in all of files.test: write * in both"
    bare = Subject(name="", title=task.title)
    if task.is_open and any(not each.name and each != bare for each in task.subjects):
        yield "has a subject without a name, and * in `files`, which names the subjects"
    if len(task.delimiter) > 1:
        yield f"has the delimiter {task.delimiter!r}; it is one character"
    for split in (split for split in places if not all(task.paths(split, "") or [""])):
        yield f"has no path in files.{split}, or an empty one"


def _contradictions(task: TaskDefinition) -> Iterator[str]:
    """Yield contradictions between a task's declared question, options and answers."""
    for each in ("question", "options"):
        if getattr(task, each) and each in task.columns:
            yield f"has the same {each} for every row, and a column for it: remove one of them"
    if place := re.search(r"\{\w+\}", task.question):
        yield f"has {place[0]} in its question, which is the same for every row: put it in a prompt"
    count, letters = len(task.options), task.letters
    if task.options and not 1 < count <= len(letters):
        yield f"has {count} options for every row; its letters {letters} take 2 to {len(letters)}"
    if blank := [each for each in task.options if not each.strip()] or repeated(task.options):
        yield f"has {blank[0]!r} among the options of every row, which is blank or repeated"
    if task.answers and task.answer:
        yield "has both answer and answers: remove answer, which answers replaces"
    there = letters[: count or None]
    for cell, named in task.answers.items():
        if not {*named} <= {*there} or len({*named}) < len(named):
            yield f"has the answers {cell!r} → {named!r}; its options have the letters {there}"


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once.

    Examples:
        >>> repeated(["law", "food", "law"])
        ['law']
    """
    return [name for name, count in Counter(names).items() if count > 1]


def _named_tasks(benchmark: Benchmark) -> Iterator[TaskVariant]:
    for task in benchmark.tasks:
        parts: dict[str, list[Subject]] = {}
        for subject in task.subjects:
            for part in filter(None, (subject.category, *subject.groups)):
                parts.setdefault(part, []).append(subject)
        named: list[tuple[str, Iterable[Subject], Scope]] = [("", task.subjects, "task")]
        named += [(name, subjects, "part") for name, subjects in parts.items()]
        named += [(each.name, [each], "subject") for each in task.subjects if each.name]
        for variant in (Variant(), *task.variants):
            for part, subjects, scope in named:
                name = "_".join(filter(None, (task.name, part, variant.suffix)))
                yield TaskVariant(name, benchmark, task, variant, tuple(subjects), scope)


def benchmarks() -> tuple[Benchmark, ...]:
    """Return every benchmark of the catalogue: ours, and those from outside that can be read.

    Raises:
        CatalogueError: One of our own files is wrong.
    """
    return _catalogue(*_environment()).benchmarks


def named_tasks() -> Mapping[str, TaskVariant]:
    """Return every task, part, subject and variant by its name in lm-eval.

    Raises:
        CatalogueError: One of our own files is wrong.
    """
    return _catalogue(*_environment()).tasks


def left_out() -> tuple[str, ...]:
    """Return a sentence for each benchmark from outside that cannot be read, with the reason.

    Examples:
        >>> left_out()
        ()
    """
    return _catalogue(*_environment()).left_out


@dataclass(frozen=True, slots=True)
class _Catalogue:
    benchmarks: tuple[Benchmark, ...]
    tasks: Mapping[str, TaskVariant]
    left_out: tuple[str, ...]


def _environment() -> tuple[str, ...]:
    """Return the settings that decide which tasks exist: the locations of benchmarks and data."""
    of_data = ("HKCANTO_DATA", "HKCANTO_CACHE", "HKCANTO_REVISION_")
    names = sorted(name for name in os.environ if name.startswith(of_data))
    own = (f"{name}={os.environ[name]}" for name in names)
    return os.environ.get("HKCANTO_BENCHMARKS", ""), *own


def look_again() -> None:
    """Read the benchmarks again, since a download makes the subjects of tasks with `*` known."""
    _catalogue.cache_clear()


@cache
def _catalogue(given: str, *_own: str) -> _Catalogue:
    """Read our benchmarks and those from outside; broken ones from outside are left out."""
    found = [_read_ours(file) for file in _files(BENCHMARKS, "")]
    broken: list[str] = []
    files: list[Path] = []
    for declared in sorted(entry_points(group="hkcanto.benchmarks")):
        with noted(broken):
            with from_package(declared):
                folder = declared.load()
                folder = Path(folder() if callable(folder) else folder)
            files += _files(folder, f"the entry point {declared.value}")
    for each in filter(None, given.split(os.pathsep)):
        with noted(broken, each):
            files += _files(Path(each).expanduser(), "HKCANTO_BENCHMARKS")
    taken = {name: benchmark.home for benchmark in found for name in _names(benchmark)}
    for file in dict.fromkeys(files):
        with noted(broken, file):
            benchmark = read_benchmark(file)
            if benchmark.home in taken.values():  # named twice
                continue
            names = _names(benchmark)
            for name in sorted(names & taken.keys()):
                raise CatalogueError(f"{file}: {name!r} is taken by {taken[name]}. Rename it.")
            _set_up(benchmark)
            found.append(benchmark)
            taken |= dict.fromkeys(names, benchmark.home)
    for each in broken:
        _log.warning("A benchmark is left out: %s", each)
    tasks = {task.name: task for benchmark in found for task in _named_tasks(benchmark)}
    return _Catalogue(tuple(found), tasks, tuple(broken))


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
        broken.append(str(error))
    except Exception as error:
        broken.append(f"{where} cannot be read: {type(error).__name__}: {error}.")


def _files(folder: Path, source: str) -> list[Path]:
    """Return the benchmark.toml in a folder, or those in the folders directly below it."""
    own = folder / "benchmark.toml"
    files = [own] if own.is_file() else sorted(folder.glob("*/benchmark.toml"))
    if not files:
        raise CatalogueError(
            f"{folder} has no benchmark.toml, nor does any folder in it. Correct {source}."
        )
    return files


_read_ours = cache(read_benchmark)


def _set_up(benchmark: Benchmark) -> None:
    """Refuse a benchmark if a task's kind cannot be loaded or cannot run the task."""
    from .setup import find_kind  # which imports this module

    for task in _named_tasks(benchmark):
        try:
            kind = find_kind(task.definition.kind)
        except CatalogueError as error:
            where = f"{benchmark.home}/benchmark.toml: task {task.definition.name!r}"
            raise CatalogueError(f"{where}: {error}") from error
        kind(task, kind.Options())


def _names(benchmark: Benchmark) -> set[str]:
    """Return the names of a benchmark, its tasks and its averages on command lines."""
    averages = {each.name for each in benchmark.averages}
    return {benchmark.name, *averages, *(task.name for task in _named_tasks(benchmark))}


def find_task(name: str) -> TaskVariant:
    """Return a task, a group or one of their variants by its name in lm-eval.

    Raises:
        CatalogueError: The task does not exist; the message lists similar names.

    Examples:
        >>> find_task("hkcanto_g2p").definition.title
        'Jyutping grapheme-to-phoneme'
    """
    tasks = named_tasks()
    if name not in tasks:
        near = difflib.get_close_matches(name, tasks, n=3, cutoff=0.6 if left_out() else 0.4)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise CatalogueError(
            f"no task {name!r} in the catalogue.{hint} `hkcanto list` shows all.{_maybe_there()}"
        )
    return tasks[name]


def find_benchmark(name: str) -> Benchmark:
    """Return a benchmark by its name.

    Raises:
        CatalogueError: The benchmark does not exist; the message lists those that do.
    """
    known = {benchmark.name: benchmark for benchmark in benchmarks()}
    if name not in known:
        there = f"there are {', '.join(known)}."
        raise CatalogueError(f"no benchmark {name!r}; {there}{_maybe_there()}")
    return known[name]


def _maybe_there() -> str:
    """Say if an unknown name may be in a benchmark that was left out, or of an unknown subject."""
    said = "".join(f"\n  {each}" for each in left_out())
    lacking = "".join(f"\n  {line}" for each in benchmarks() for line in unknown_subjects(each))
    said = said and f" Or it is in a benchmark that is left out:{said}"
    return said + (lacking and f" Or it is a subject that is not known yet:{lacking}")


def unknown_subjects(benchmark: Benchmark) -> list[str]:
    """Return a sentence for each task of a benchmark whose subjects are not known yet."""
    return [
        f"{task.name}: its subjects are the names of its files ({task.paths('test', '')[0]}), "
        f"which are known after `hkcanto data fetch {benchmark.name}`."
        for task in benchmark.tasks
        if task.is_open
    ]
