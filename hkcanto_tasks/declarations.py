"""The records of a `benchmark.toml`: what a benchmark declares, and nothing that is computed.

Kinds, data and catalogue all use these records, so this module imports only the records of
releases.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import msgspec

from .data.releases import FolderData, GitHubRelease, HubDataset, Release

Scope = Literal["task", "part", "subject"]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*\Z")]
_NameOrEmpty = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9_]*\Z")]
_FromZero = Annotated[int, msgspec.Meta(ge=0)]
_FromOne = Annotated[int, msgspec.Meta(gt=0)]


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
        chat_system: System message of a chat, in which `system` then begins the user's message;
            empty for none. Plain text does not have it. By default, `system` is the message.
        tokens: Token limit of an answer, if it differs from the kind's.
        reads: How an answer is read: as what the response settles on; in multiple choice by its
            `first_character`; a label as right if it `occurs`.
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
    chat_system: str | None = None
    tokens: _FromOne | None = None
    reads: Literal["settled", "first_character", "occurs"] = "settled"

    @property
    def texts(self) -> list[str]:
        """The texts that may have placeholders."""
        separators = ("answer_separator", "example_separator")
        fields = msgspec.structs.asdict(self)
        return [
            text
            for name, text in fields.items()
            if isinstance(text, str) and name not in separators
        ]


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

    name: _NameOrEmpty
    stem: str = ""
    title: str = ""
    chinese: str = ""
    rows: _FromZero = 0
    shown: str | None = None
    category: str = ""
    groups: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        title = self.title or self.name.replace("_", " ").capitalize()
        msgspec.structs.force_setattr(self, "stem", self.stem or self.name)
        msgspec.structs.force_setattr(self, "title", title)

    @property
    def stems(self) -> tuple[str, ...]:
        """The names that a release may use for it."""
        return (self.stem, *self.aliases)

    @property
    def parts(self) -> tuple[str, ...]:
        """The sets that contain it: its category and groups."""
        return tuple(dict.fromkeys(filter(None, (self.category, *self.groups))))

    @property
    def sets(self) -> tuple[str, ...]:
        """The names that select it: its own, its category's and its groups'."""
        return (self.name, *self.parts) if self.name else self.parts


class Variant(Declared, frozen=True):
    """A task under another condition, with its own name: the task's name and `_<suffix>`.

    Attributes:
        suffix: End of the variant's name; empty for the task itself.
        scoring: `generative` if the model writes an answer; `loglikelihood` if its answer is the
            letter that it finds likeliest, or in Jyutping and translation to measure how likely it
            finds the right answer (`bits_per_character`).
        shots: Number of worked examples, if it differs from the task's.
        cot: Whether a chain of thought is asked for.
        script: `tc`, or `sc` for questions and prompt in Simplified script.
        printed: The paper's name of the variant's headline and of the table that has it, as for the
            task; empty if no table has it.
    """

    suffix: _NameOrEmpty = ""
    scoring: Literal["generative", "loglikelihood"] = "generative"
    shots: _FromZero | None = None
    cot: bool = False
    script: Literal["tc", "sc"] = "tc"
    printed: str = ""


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

    number: _FromZero
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

    These keys are for all kinds of tasks. A kind with further keys has a record derived from this
    one, such as `ChoiceDefinition`.

    Attributes:
        name: Name in lm-eval.
        title: Human-readable title.
        kind: Kind of task, which reads, renders and scores the items.
        files: Split (`test`, `dev`) → path in the release; a single text is the path of `test`.
            `{stem}` is the subject's stem or one of its aliases, and a leading `**/` for
            any folders above. Of several paths, exactly one exists. Without a `dev`
            file, the data has no worked examples.
        config: Configuration of a hub data set, or a folder of it: `datasets` says which files
            belong to it. `{stem}` is the subject's stem.
        splits: Split (`test`, `dev`) → its name in the configuration: `{ test = "train" }`.
        reader: Python function in the benchmark's folder that yields the rows, for data that
            cannot be declared: `rows.py:rows`. It is called with the data's folder and the split.
        rows: Path to the rows in a JSON file, as keys joined by dots: `data.items`. `*` is every
            entry of a list or object, whose other cells the rows then have as well, and the entry's
            key in the object as `key`: `*`, `data.*.paragraphs.*.qas`. JSON Lines are a list.
        where: Column → the value, or values, that a row of the task has in it: `{ region = "HK" }`.
        delimiter: Delimiter of CSV files; by default a comma, in `.tsv` files a tab. With one, a
            file of any other ending is read as CSV.
        quotes: Whether quotation marks enclose cells of a CSV file. If not, they are part of the
            text.
        version: Version of the task. Raise it when you change a prompt, how answers are read, or
            how scores are averaged.
        headline: Figure to read first; by default the kind's first one.
        subjects: Subjects, in the paper's order.
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
            first, lm-eval's table repeats it under this name, or under the figure's title if the
            shots or the prompt are not the table's.
        language: Language (`en`, `zh` or `yue`), if tasks differ by it; for a translation, the
            target language, by default `yue` in `translation_to_cantonese`.
        header: Whether CSV files have a header row. Without one, columns are called by their
            numbers, from 1. If none is declared and there are as many columns as the kind needs,
            they are those, in the kind's order.
        columns: Role of a cell → the name of its column, in upper or lower case. A path leads into
            a cell: `about.place.0`, `choices.text`. In a list of
            names, the first that exists is used. A role that is not declared keeps the name of its
            kind. `options` names a column for each letter, or one with a list or a mapping. Any
            other key is a placeholder of the prompt: `passage` for `{passage}`.
        prefixes: Role of a cell → the text before it in every row, which is removed:
            `{ answer = "答案：" }`.
        ignored: Columns that no prompt shows on purpose, such as the source of a question. Other
            columns that nothing reads are named in a warning.
        dev_rows: Number of rows of a dev file that are used as worked examples.
        examples_from_test: Number of test rows, from the first, that are worked examples and not
            scored.
        variants: Variants of the task, each a task with its own name.
        editions: Value of the option `data` → list of checksums, as of `[github]`, of the files
            that replace those of the release, such as corrected ones.
        titles: Category, set or type → its human-readable title.
    """

    name: _Name
    title: str
    kind: str
    files: str | dict[str, str | tuple[str, ...]] = {}
    config: str = ""
    splits: dict[str, str] = {}
    reader: Annotated[str, msgspec.Meta(pattern=r"^([\w/]+\.py:\w+)?\Z")] = ""
    rows: str = ""
    where: dict[str, str | tuple[str, ...]] = {}
    delimiter: Annotated[str, msgspec.Meta(max_length=1)] = ""
    quotes: bool = True
    version: _FromOne = 1
    headline: str = ""
    subjects: tuple[Subject, ...] = ()
    prompts: dict[str, str] = {}
    inspect: _Name | None = None
    parameter: str = ""
    by_default: bool = False
    chinese: str = ""
    specified: str = ""
    shots: _FromZero = 0
    metric: str = "generative"
    table: tuple[str, ...] = ()
    printed: str = ""
    language: Literal["", "en", "zh", "yue"] = ""
    header: bool = True
    columns: dict[
        str, str | Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    ] = {}
    prefixes: dict[str, str] = {}
    ignored: tuple[str, ...] = ()
    dev_rows: _FromZero = 5
    examples_from_test: _FromZero = 0
    variants: tuple[Variant, ...] = ()
    editions: dict[str, str] = {}
    titles: dict[str, str] = {}

    def __post_init__(self) -> None:
        subjects = self.subjects or (Subject(name="", title=self.title),)
        msgspec.structs.force_setattr(self, "subjects", subjects)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that may have placeholders, besides those of its prompts."""
        return ()

    @property
    def paths(self) -> Mapping[str, tuple[str, ...]]:
        """Split → the forms of its path, of which the release has one."""
        if isinstance(self.files, str):
            return {"test": (self.files,)} if self.files else {}
        paths: dict[str, tuple[str, ...]] = {}
        for split, path in self.files.items():
            paths[split] = (path,) if isinstance(path, str) else path
        return paths

    @property
    def has_examples(self) -> bool:
        """Whether there may be worked examples."""
        in_data = self.reader or "dev" in self.paths or "dev" in self.splits
        return bool((self.dev_rows and in_data) or self.examples_from_test)

    @property
    def selections(self) -> Iterator[tuple[str, Scope, tuple[Subject, ...]]]:
        """Its whole, parts and subjects: name after the task's own, scope and subjects."""
        yield "", "task", self.subjects
        members: dict[str, list[Subject]] = {}
        for subject in self.subjects:
            for part in subject.parts:
                members.setdefault(part, []).append(subject)
        for part, subjects in members.items():
            yield part, "part", tuple(subjects)
        for subject in self.subjects:
            if subject.name:
                yield subject.name, "subject", (subject,)

    @property
    def names(self) -> Iterator[str]:
        """The names of the task, its parts, subjects and variants."""
        for name, _, _ in self.selections:
            for variant in self.all_variants:
                yield joined_name(self.name, name, variant.suffix)

    @property
    def all_variants(self) -> tuple[Variant, ...]:
        """The task itself, which may be declared as a variant without a suffix, and its variants."""
        if any(not variant.suffix for variant in self.variants):
            return self.variants
        return (Variant(), *self.variants)

    @property
    def is_traditional(self) -> bool:
        """Whether its text is in Traditional script: it has a variant in Simplified script."""
        return any(variant.script == "sc" for variant in self.variants)


class PrintedDefinition(TaskDefinition, frozen=True):
    """A task of a kind whose papers print worked examples.

    Attributes:
        examples: The paper's worked examples, each as placeholder → text.
    """

    examples: tuple[dict[str, str], ...] = ()

    @property
    def has_examples(self) -> bool:
        """Whether there may be worked examples."""
        return bool(self.examples) or super().has_examples


class JyutpingDefinition(PrintedDefinition, frozen=True):
    """A task of the kind `g2p`.

    Attributes:
        answers_as_written: Whether the published figures compare responses with the Jyutping as
            HKCanto-Eval's release wrote it. By default it is brought into the form of responses:
            no capitals, no punctuation, one blank between syllables.
    """

    answers_as_written: bool = False


class ChoiceDefinition(PrintedDefinition, frozen=True):
    """A task of the kinds `multiple_choice` and `multi_answer`.

    Attributes:
        question: Question for every row, if the rows have no questions.
        answer: How an answer cell names the right option: by `letter`, `index` (from 0), `number`
            (from 1), `letter_or_number`, the option's `text`, or its `label`, which is in the column
            `labels` or the key of a mapping. `flags` is a list with 1 for a right option.
        answers: Answer cells with another meaning than `answer` gives them → letters of the right
            options: `{ similar = "A", different = "B" }`.
        option_labels: Whether an `A. ` or `(1)` at the start of the release's options is shown
            (`shown`) or removed (`remove`). With `remove`, a label that does not fit the option's
            position is an error.
        shuffle_options: Seed for shuffling each question's options, also in worked examples; 0 for
            no shuffling. Use it if the release's right option is always in the same position.
        letters: Letters of the options. If the options in `columns` have fewer entries, the other
            letters are not used.
        blank_options: Whether a blank cell is an option with an empty text (`shown`) or no option
            (`absent`). With `absent`, a missing cell is no option either.
        types: Type of question → regular expression for the questions of this type. A question has
            every type that matches it, or the type with an empty expression if no other matches.
            If one takes longer than a second, that is an error.
        sentence: Text of `{sentence}`, by which the paper's prompt introduces this task.
        sentences: Name of one of our own prompts → text of `{sentence}` in that prompt.
    """

    question: str = ""
    answer: Literal[
        "letter", "index", "number", "letter_or_number", "text", "label", "flags"
    ] = "letter"
    answers: dict[str, Annotated[str, msgspec.Meta(pattern=r"^[A-J]+\Z")]] = {}
    option_labels: Literal["shown", "remove"] = "shown"
    shuffle_options: _FromZero = 0
    letters: Annotated[str, msgspec.Meta(pattern=r"^[A-J]{2,10}\Z")] = "ABCD"
    blank_options: Literal["shown", "absent"] = "shown"
    types: dict[str, str] = {}
    sentence: str = ""
    sentences: dict[str, str] = {}

    def __post_init__(self) -> None:
        super().__post_init__()
        columns = self.columns.get("options", ())
        count = 0 if isinstance(columns, str) else len(columns)
        # The number of letters gives the chance level.
        if 1 < count < len(self.letters):
            msgspec.structs.force_setattr(self, "letters", self.letters[:count])


class LabelDefinition(TaskDefinition, frozen=True):
    """A task of the kind `label`.

    Attributes:
        labels: Labels of a classification: a list, or label → other words that a model may write
            for it: `{ Positive = ["正面"] }`. If the data has another value for a label:
            `{ "蘊含" = { data = 1, words = ["entailment"] } }`.
    """

    labels: dict[str, tuple[str, ...] | DeclaredLabel] | tuple[str, ...] = ()

    @property
    def entries(self) -> Mapping[str, DeclaredLabel]:
        """Label → its entry, in the long form."""
        if not isinstance(self.labels, dict):
            return dict.fromkeys(self.labels, DeclaredLabel())
        entries: dict[str, DeclaredLabel] = {}
        for label, entry in self.labels.items():
            if isinstance(entry, tuple):
                entry = DeclaredLabel(words=entry)
            entries[label] = entry
        return entries

    @property
    def cells(self) -> Iterator[tuple[str, str]]:
        """Each value of a label in the data, with the label."""
        for label, entry in self.entries.items():
            values = entry.data if isinstance(entry.data, tuple) else (entry.data,)
            for value in values or (label,):
                yield str(value), label


class ShortAnswerDefinition(TaskDefinition, frozen=True):
    """A task of the kind `short_answer`.

    Attributes:
        fold_scripts: Whether a short answer in the other Chinese script is also right.
        alternatives: Separator between several right short answers in one cell: `/` for `ni1/nei1`.
    """

    fold_scripts: bool = False
    alternatives: str = ""


class JudgedDefinition(TaskDefinition, frozen=True, kw_only=True):
    """A task of the kind `judged`.

    Attributes:
        rubric: Rubric by which a model judges the answers.
    """

    rubric: Rubric

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that may have placeholders, besides those of its prompts."""
        return (self.rubric.prompt,)


DEFINITIONS: Mapping[str, type[TaskDefinition]] = {
    "constraints": TaskDefinition,
    "fluency": TaskDefinition,
    "g2p": JyutpingDefinition,
    "judged": JudgedDefinition,
    "label": LabelDefinition,
    "math": TaskDefinition,
    "multi_answer": ChoiceDefinition,
    "multiple_choice": ChoiceDefinition,
    "number": TaskDefinition,
    "short_answer": ShortAnswerDefinition,
    "summarization": TaskDefinition,
    "translation": TaskDefinition,
    "translation_to_cantonese": TaskDefinition,
}
"""Our kinds → the record of a task's entry, so that the catalogue is read without their modules."""


def own_keys(record: type[TaskDefinition]) -> tuple[str, ...]:
    """Return the keys that only tasks of some kinds have.

    Examples:
        >>> own_keys(ShortAnswerDefinition)
        ('fold_scripts', 'alternatives')
    """
    common = TaskDefinition.__struct_fields__
    return tuple(key for key in record.__struct_fields__ if key not in common)


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
        checked: Date on which the declaration was checked against every row of the release's files.
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
    tasks: tuple[TaskDefinition, ...]
    prompts: dict[str, PromptTemplate]
    github: GitHubRelease | None = None
    hub: HubDataset | None = None
    data: FolderData | None = None
    reasoning: HubDataset | None = None
    folder: str = ""
    paper: str = ""
    terms: str = ""
    checked: str = ""
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
        return (
            self.definition.shots if self.variant.shots is None else self.variant.shots
        )

    @property
    def whole(self) -> str:
        """The name of the task and variant with all subjects."""
        return joined_name(self.definition.name, self.variant.suffix)

    def fitting(
        self,
        *,
        cot: bool,
        script: str,
        shots: int | None,
    ) -> "TaskVariant":
        """Return the task under the name of the variant that fits some options best.

        Scoring counts first, then chain of thought, script, and number of worked examples. Without
        a number, the first fitting variant is taken.

        Args:
            cot: Whether a chain of thought is asked for.
            script: The script of questions and prompt.
            shots: The number of worked examples; None for that of the variant.
        """
        variants = [*self.definition.all_variants]
        if shots is None:
            variants.insert(0, self.variant)

        def fits(variant: Variant) -> tuple[bool, ...]:
            default = self.definition.shots if variant.shots is None else variant.shots
            return (
                variant.scoring == self.variant.scoring,
                variant.cot == cot,
                variant.script == script,
                default == shots,
            )

        variant = max(variants, key=fits)
        name = self.name
        if self.variant.suffix:
            name = name.removesuffix(f"_{self.variant.suffix}")
        return replace(self, variant=variant, name=joined_name(name, variant.suffix))

    def scored_rows(self, subject: Subject) -> int:
        """Return the published number of a subject's test rows that are scored; 0 if unknown.

        Examples:
            >>> from hkcanto_tasks.catalogue import find_task
            >>> sentiment = find_task("hkcanto_sentiment")  # each file begins with the example
            >>> [sentiment.scored_rows(subject) for subject in sentiment.subjects]
            [1199, 398]
        """
        return max(0, subject.rows - self.definition.examples_from_test)


def joined_name(*parts: str) -> str:
    """Return a task's name from its parts, without those that are empty.

    Examples:
        >>> joined_name("hkmmlu", "", "cot")
        'hkmmlu_cot'
    """
    return "_".join(filter(None, parts))


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once.

    Examples:
        >>> repeated(["law", "food", "law"])
        ['law']
    """
    return [name for name, count in Counter(names).items() if count > 1]
