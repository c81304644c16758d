"""What every kind of task does: options, figures, reading rows, prompts, judging, signature.

A kind of task is a class derived from `Kind`; an instance of it is one task under one condition.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import log
from typing import Any, ClassVar

import msgspec

from hkcanto_metrics.language import identify_language, identify_reasoning
from hkcanto_metrics.reasoning import split_reasoning

from ..data.tables import Row, UnreadableRow, as_text
from ..declarations import PromptTemplate, Subject, TaskDefinition, TaskVariant, Variant
from ..errors import CatalogueError, DataCorrupt, OptionError, did_you_mean
from ..figures import Figure, declared_figures, figures, figures_of, parts_of
from ..judgements import Judgement
from ..printable import valid
from ..prompts import (
    OF_EXAMPLES,
    Example,
    NoSuchPlace,
    Prompt,
    fill,
    places,
    until_stop,
)
from ..samples import Sample

_Some = Sequence[Subject] | None

REASONING_TOKENS = 8192
"""The token limit for the block that a reasoning model writes before its answer."""

OF_CHOICES = (
    *("question", "answers", "option_labels", "shuffle_options"),
    *("letters", "blank_options", "answer", "types"),
    *("sentence", "sentences", "examples"),
)
"""Keys of a task's entry that are only for questions with options."""

OF_SOME_KINDS = (*OF_CHOICES, "labels", "fold_scripts", "alternatives", "rubric")
"""Keys of a task's entry that only some kinds use (`Kind.USES`)."""


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of every kind.

    Attributes:
        reasoning: Allow a reasoning block before the answer: a higher token limit, and no stop
            texts.
    """

    reasoning: bool = False


class PromptOptions(Options, frozen=True, forbid_unknown_fields=True):
    """The options of kinds whose tasks have several prompts.

    Attributes:
        prompt: `paper` for the paper's prompt; for some tasks `release` for that of the release.
    """

    prompt: str = "paper"


class Kind(ABC):
    """A task as it is run, without its data.

    To add a kind of task, derive a class from this one, and declare it in the entry point group
    `hkcanto.kinds` under its name in a `benchmark.toml`.

    Attributes:
        task: The task, with the subjects that are run.
        options: The user's choice, an instance of the kind's `Options`.
        shots: Worked examples in the prompt.
        multiturn: Whether each worked example is its own turn in a chat.
        template: The texts of its prompt.
        prompt_name: The name of this prompt in the benchmark.
        placeholders: The names of the placeholders in its texts.

    Raises:
        CatalogueError: The task's headline is not a figure of the kind, or the task declares a
            column that neither the kind reads nor its prompts show.
        OptionError: The prompt does not have the requested form.
    """

    FIGURES: ClassVar[tuple[Figure, ...]]
    """The figures of an item, in the order of a results table."""

    COLUMNS: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Role of a cell → the names of its column, if the task does not declare any."""

    Options: ClassVar[type[Any]] = Options
    """A frozen `msgspec.Struct` whose fields all have defaults."""

    SCAFFOLD: ClassVar[str] = ""
    """The suffix of a prompt's name that asks for an answer in a fixed form."""

    USES: ClassVar[tuple[str, ...]] = ()
    """The keys in `OF_SOME_KINDS` that this kind uses."""

    READS: ClassVar[tuple[str, ...]] = ("settled",)
    """The ways to read an answer that a prompt may declare."""

    TOKENS: ClassVar[int]
    """The token limit of an answer, without a reasoning block."""

    TEXTS: ClassVar[Mapping[str, str]]
    """Role of a cell with a required text → the attribute of an item that has it, unless the kind
    overrides `row`."""

    VALUES: ClassVar[Mapping[str, str]] = {}
    """Placeholder → the attribute of an item that fills it."""

    TARGET: ClassVar[str] = "A"
    """The target of the made-up item."""

    GOLD: ClassVar[bool] = False
    """Whether a variant by log-likelihood measures how likely the text of an answer is."""

    LETTERED: ClassVar[bool] = False
    """Whether a variant by log-likelihood compares the letters of options."""

    uses_dev_rows: bool = True
    """Whether worked examples are rows of the release."""

    example_source: str = ""
    """`release` if worked examples show the release's reasoning, which some releases lack."""

    refinements: Mapping[str, Mapping[str, Any]] = {}
    """Figure → the fields of its definition that the task decides."""

    rubric_hash: str = ""
    """A hash of the judge's rubric: seven hexadecimal digits; empty without a judge."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name in {"system", "question"} & vars(cls).keys():
            raise TypeError(
                f"{cls.__name__}.{name} is not called: override `texts`, with both."
            )

    def __init__(
        self,
        task: TaskVariant,
        options: Any,
        shots: int | None = None,
        *,
        multiturn: bool = False,
    ) -> None:
        self.options, self.multiturn = options, multiturn
        self.task = _named_as_run(task, options, shots)
        self.shots = self.task.shots if shots is None else shots
        prompts, asked = task.definition.prompts, getattr(options, "prompt", "paper")
        if (name := asked.removesuffix(self.SCAFFOLD)) not in prompts:
            ends = dict.fromkeys(("", self.SCAFFOLD))
            known = ", ".join(prompt + end for prompt in prompts for end in ends)
            raise OptionError(f"{self.task.name}: prompt={asked!r}; choose {known}.")
        self.prompt_name = prompts[name]
        self.template: PromptTemplate = task.benchmark.prompts[self.prompt_name]
        self.placeholders = places(*self.template.texts)
        self._columns: dict[str, tuple[str, ...]] = {}
        self._texts: dict[str, tuple[str, str]] = {}
        for problem in self.problems():
            raise self.wrong(problem)

    @cached_property
    def is_generative(self) -> bool:
        """Whether the model writes its answer; otherwise its answer is the likeliest letter."""
        return self.task.variant.scoring == "generative"

    @cached_property
    def chosen(self) -> dict[str, Any]:
        """The options that are not switched off, by name."""
        values = msgspec.structs.asdict(self.options)
        return {name: value for name, value in values.items() if value}

    @cached_property
    def categories(self) -> Mapping[str, str]:
        """Subject → category."""
        return {
            subject.name: subject.category for subject in self.task.definition.subjects
        }

    @cached_property
    def reads(self) -> set[str]:
        """The columns that the kind reads itself, in lower case."""
        has_ids = bool(self.task.definition.reader)
        roles = [*self.COLUMNS, "subject", *(["id"] if has_ids else [])]
        return {name for role in roles for name in self.columns(role)}

    @cached_property
    def headerless(self) -> tuple[str, ...]:
        """The columns of a CSV file without a header row, in order."""
        return tuple(self.columns(role)[0] for role in self.COLUMNS)

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with the task's entry in its `benchmark.toml`, after its name."""
        definition, prompts = self.task.definition, self.task.benchmark.prompts.values()
        has = f"its kind {definition.kind!r} has"
        if not (self.is_generative or self.GOLD or self.LETTERED):
            yield (
                f"has a variant {self.task.variant.suffix!r} with scoring = 'loglikelihood', which "
                f"finds one letter; {has} no such answers. Remove this variant"
            )
        if self.template.reads not in self.READS:
            reads = f"reads = {self.template.reads!r}"
            yield f"has the prompt {self.prompt_name!r} with {reads}; {has} {', '.join(self.READS)}"
        roles = [*self.COLUMNS, "subject"]
        texts = [text for template in prompts for text in template.texts]
        texts += [definition.rubric.prompt] if definition.rubric else []
        shown = {*places(*texts)} - {*OF_EXAMPLES}
        for role in (
            role for role in definition.columns if role not in {*roles, *shown}
        ):
            named = (
                f"{has} {', '.join(roles)}, and no prompt has a placeholder {{{role}}}"
            )
            yield f"has a column for {role!r}; {named}"
        figures = [figure.name for figure in self.FIGURES]
        figures += ["acc_macro", "acc_category_macro"] if "acc" in figures else []
        if definition.headline and definition.headline not in figures:
            yield f"has the headline {definition.headline!r}; {has} {', '.join(figures)}"
        known = {*figures, *(figure.name for figure in declared_figures().values())}
        for name in (
            definition.table
        ):  # that of a whole benchmark may name figures of some tasks
            if name not in known and not name.startswith(
                tuple(f"{figure}_" for figure in known)
            ):
                parts = (
                    f"{', '.join(figures)}, and parts of these such as {figures[0]}_…"
                )
                yield f"has {name!r} in its table; {has} {parts}"
        bare = TaskDefinition(name="", title="", kind="")
        for key in OF_SOME_KINDS:
            if getattr(definition, key) != getattr(bare, key) and key not in self.USES:
                yield f"has a field {key!r}; {has} {', '.join(self.USES) or 'no use for it'}"

    def wrong(self, what: str) -> CatalogueError:
        """Return the error for a wrong entry of the task in its `benchmark.toml`.

        Args:
            what: The problem, after the task's name.
        """
        where = f"{self.task.benchmark.home}/benchmark.toml: task {self.task.definition.name!r}"
        return CatalogueError(f"{where} {what}. Fix this entry of the catalogue.")

    def at(
        self,
        *,
        shots: int | None = None,
        multiturn: bool | None = None,
        subjects: _Some = None,
    ) -> "Kind":
        """Return a copy with other shots, turns or subjects."""
        task = (
            self.task
            if subjects is None
            else replace(self.task, subjects=tuple(subjects))
        )
        shots = self.shots if shots is None else shots
        multiturn = self.multiturn if multiturn is None else multiturn
        return type(self)(task, self.options, shots, multiturn=multiturn)

    # ------------------------------------------------------------------ figures

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """All of its figures, the headline first."""
        declared = self.FIGURES
        if self.GOLD and not self.is_generative:
            declared = figures("bits_per_character")
        refined = (
            replace(one, **self.refinements.get(one.name, {})) for one in declared
        )
        return figures_of(self.task, refined)

    @cached_property
    def table(self) -> tuple[Figure, ...]:
        """The figures that a harness's table shows, the headline first."""
        wanted, (headline, *others) = {*self.task.definition.table}, self.figures
        if wanted:
            return (
                headline,
                *(one for one in others if {one.averages, one.name} & wanted),
            )
        return (headline, *(figure for figure in others if not figure.diagnostic))

    @property
    def headline(self) -> Figure:
        """The figure to read first, averaged as the paper averages it."""
        return self.figures[0]

    # ------------------------------------------------------------------ signature

    def made_up(self) -> Sample:
        """Return a made-up item, from which the hashes of a signature are computed.

        A kind with fields of another form overrides it: `values`, `example` and `judge` must accept
        the item. (Its words are ones that OpenCC's configurations convert differently.)
        """
        text = "衞生署裏面有 12 張枱，着咗衫嘅係邊個？臺灣嘅滑鼠呢？"
        return Sample(
            id="1",
            question=text,
            choices=("三個", "着咗衫嗰個", "枱", "滑鼠"),
            source=text,
            target=self.TARGET,
            reasoning="因為得 7 個。",
            cells=dict.fromkeys(self.placeholders, text),
        )

    def further_readings(self) -> list[Any]:
        """Return what the signature covers besides answers to the made-up item; here nothing."""
        return []

    # ------------------------------------------------------------------ reading the release

    def columns(self, role: str) -> tuple[str, ...]:
        """Return the columns that may have the cell of a role, in lower case."""
        if role not in self._columns:
            declared = self.task.definition.columns.get(
                role, self.COLUMNS.get(role, (role,))
            )
            names = (declared,) if isinstance(declared, str) else declared
            self._columns[role] = tuple(name.lower() for name in names)
        return self._columns[role]

    def row(self, row: Row) -> Sample:
        """Read a row of the release; by default the texts of `TEXTS`.

        Its id is the release's number or name for it. `read` then adds the full id, subject,
        category, parts, and the cells that the prompt shows.

        Raises:
            UnreadableRow: The row lacks something or is wrong (`Row.problem`).
        """
        texts: dict[str, Any] = {"id": str(row.number)}
        for role, name in self.TEXTS.items():
            texts[name] = row.text(self.columns(role), role)
        return Sample(**texts)

    def read(
        self, rows: Sequence[Row], subject: Subject
    ) -> tuple[list[Sample], list[UnreadableRow]]:
        """Return the items of a subject's rows, and the rows that cannot be read.

        Raises:
            CatalogueError: The prompt has a placeholder that neither the kind nor a column fills.
        """
        items: list[Sample] = []
        bad: list[UnreadableRow] = []
        prefix = "/".join(filter(None, (self.task.definition.name, subject.name))) + "/"
        parts = parts_of(self.task, subject)
        has_ids = bool(self.task.definition.reader)
        shown: dict[str, tuple[str, ...]] | None = None
        for row in rows:
            try:
                item = self.row(row)
                if shown is None:
                    shown = self._shown(item, row, subject)
                cells = (
                    {at: _cell(row, at, names) for at, names in shown.items()}
                    if shown
                    else {}
                )
            except UnreadableRow as error:
                bad.append(error)
                continue
            named = as_text(row.find(self.columns("id"))) if has_ids else None
            items.append(
                msgspec.structs.replace(
                    item,
                    id=prefix + (named or item.id),
                    subject=subject.name,
                    category=item.category or subject.category,
                    parts=parts + item.parts,
                    cells=cells,
                )
            )
        return items, bad

    def raw_id(self, sample: Sample) -> str:
        """Return the release's number or name for an item."""
        return sample.id.split("/", 2 if sample.subject else 1)[-1]

    def _shown(
        self, item: Sample, row: Row, subject: Subject
    ) -> dict[str, tuple[str, ...]]:
        """Return placeholder → columns for the cells that the prompt shows; refuse others.

        Raises:
            CatalogueError: Nothing fills a placeholder, or both the kind and a column do.
        """
        filled, shown = {*self.values(item), *self.names(subject)}, {}
        prompt = (
            f"{self.task.benchmark.home}/benchmark.toml: [prompts.{self.prompt_name}]"
        )
        where, kind = (
            f"{prompt} has the placeholder",
            f"kind {self.task.definition.kind!r}",
        )
        for place in self.placeholders:
            there = {*self.columns(place)} & {*row.cells}
            if place in filled and (unread := there - self.reads):
                raise CatalogueError(
                    f"{where} {{{place}}}, which the {kind} fills itself, but {row.file} has a "
                    f"column {place!r}. Rename the column, or to show it, write {{of_row}} and "
                    f'declare columns = {{ of_row = "{unread.pop()}" }}.'
                )
            if there and place not in (*filled, *OF_EXAMPLES):
                shown[place] = self.columns(place)
        bare = msgspec.structs.replace(
            item, subject=subject.name, cells=dict.fromkeys(shown, "")
        )
        try:
            self.prompt(
                bare,
                self.examples(subject, [bare][: self.task.definition.has_examples]),
            )
        except NoSuchPlace as error:
            place = error.name
            hint = did_you_mean(
                place.lower(), {*filled, *row.cells} - {*OF_EXAMPLES}, "{{{}}}"
            )
            fills = ", ".join(f"{{{name}}}" for name in sorted(filled))
            raise CatalogueError(
                f"{where} {{{place}}}, but nothing fills it. The {kind} fills {fills}; {row.file} "
                f"has {row.named()}, and none is called {' or '.join(self.columns(place))}. {hint}"
                f"Correct it, or write {{{{{place}}}}} if these characters are meant."
            ) from error
        return shown

    def unread(self, columns: Iterable[str]) -> list[str]:
        """Return the columns of a file that neither the kind reads nor the prompt shows."""
        shown = {name for place in self.placeholders for name in self.columns(place)}
        known = (
            self.reads | shown | {name.lower() for name in self.task.definition.ignored}
        )
        return [name for name in columns if name and name not in known]

    def check(self, rows: Sequence[Sample], file: str) -> None:
        """Refuse a file for faults that single rows do not show, such as two rows with one id.

        Raises:
            DataCorrupt: The rows cannot all be right.
        """
        counts = Counter(row.id for row in rows)
        if repeated := [
            name.rpartition("/")[2] for name, count in counts.items() if count > 1
        ]:
            twice = f"the ids or numbers {', '.join(repeated)} occur more than once"
            raise DataCorrupt(f"{file}: {twice}. Correct the file.")

    def scored(self, rows: Sequence[Sample]) -> Sequence[Sample]:
        """Return the scored items of a subject in the form for prompts; by default all."""
        return rows

    def remark(self, _: Sequence[Sample]) -> str:
        """Return why a score on these items would be meaningless; by default an empty text."""
        return ""

    # ------------------------------------------------------------------ rendering

    def lettered(self, sample: Sample) -> dict[str, str]:
        """Return the options that an item has: letter → text."""
        pairs = zip(self.task.definition.letters, sample.choices, strict=False)
        return {letter: text for letter, text in pairs if text is not None}

    def subject(self, name: str) -> Subject:
        """Return a subject of the task by its name."""
        return next(one for one in self.task.definition.subjects if one.name == name)

    def names(self, subject: Subject) -> dict[str, str]:
        """Return the placeholders that name a subject: placeholder → text."""
        return {
            "subject": subject.shown or subject.stem.replace("_", " "),
            "title": subject.title,
            "chinese": subject.chinese or subject.title,
        }

    def texts(self, subject: Subject) -> tuple[str, str]:
        """Return the instruction before everything else, and the text of a scored question.

        Both have placeholders for an item's texts.
        """
        template, names = self.template, self.names(subject)
        system, question = template.system, template.question
        if not self.shots:
            system = template.zero_shot or system
            if template.zero_shot_question is not None:
                question = template.zero_shot_question
        return fill(system, names, keep=True), fill(question, names, keep=True)

    def values(self, sample: Sample) -> Mapping[str, str]:
        """Return the texts of an item that a template may show: placeholder → text."""
        return {place: getattr(sample, name) for place, name in self.VALUES.items()}

    def printed(self) -> list[Sample]:
        """Return the worked examples printed in the paper, as rows."""
        return []

    def examples(self, subject: Subject, rows: Sequence[Sample]) -> list[Example]:
        """Render rows as worked examples, numbered from 1; empty if the prompt has none."""
        made = (
            (row, self.example(subject, row, at))
            for at, row in enumerate(rows, start=1)
        )
        return [
            replace(example, sample=row) for row, example in made if example is not None
        ]

    def example(self, subject: Subject, row: Sample, number: int) -> Example | None:
        """Render a row as a worked example; None if the prompt has no text for it."""
        text = self.template.example or self.template.question
        values = {**self.names(subject), "number": str(number), **self.values(row)}
        return Example(fill(text, {**row.cells, **values}), self.answer(row))

    def answer(self, row: Sample) -> str:
        """Return the answer of a worked example."""
        return row.target

    def prompt(self, sample: Sample, examples: Sequence[Example] = ()) -> Prompt:
        """Return the prompt of an item.

        Args:
            sample: The item.
            examples: The worked examples in the prompt.
        """
        if sample.subject not in self._texts:
            self._texts[sample.subject] = self.texts(self.subject(sample.subject))
        system, question = self._texts[sample.subject]
        values = {**sample.cells, **self.values(sample)}
        message = self.template.chat_system
        if message is not None:
            message = fill(
                message, {**values, **self.names(self.subject(sample.subject))}
            )
        return Prompt(
            system=fill(system, values),
            examples=examples,
            question=fill(question, values),
            answer_separator=self.template.answer_separator,
            example_separator=self.template.example_separator,
            chat_system=message,
        )

    # ------------------------------------------------------------------ generation settings

    @property
    def stop(self) -> tuple[str, ...]:
        """The stop texts at which a response is cut when it is scored."""
        return () if self.options.reasoning else self.template.stop

    def sent_stop(self, *, chat: bool) -> tuple[str, ...]:  # noqa: ARG002
        """Return the stop texts that are sent to the harness.

        Args:
            chat: Whether the prompt is a chat, where a response may begin with line breaks.
        """
        return self.stop

    @property
    def max_tokens(self) -> int:
        """The token limit of a response."""
        if self.options.reasoning:
            return REASONING_TOKENS
        return self.template.tokens or self.TOKENS

    # ------------------------------------------------------------------ judging

    def judge(
        self, response: str | None, sample: Sample, reasoning: str = ""
    ) -> Judgement:
        """Judge a response to an item, in the same way in every harness.

        Args:
            response: The model's response, with or without its reasoning; None if it is empty.
            sample: The item.
            reasoning: The reasoning, if the server returned it separately.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> g2p, nei = task_as_run("hkcanto_g2p"), Sample(id="", target="hou2")
            >>> g2p.judge("<think>nei5?</think>hou2", nei).values["ser"]
            0.0
        """
        parts = split_reasoning(valid(response or ""), valid(reasoning))
        answer = self.cut(parts.answer.lstrip())
        judgement = self.score(answer, sample)
        more: dict[str, Any] = {}
        if parts.reasoning.strip():
            more["reasoning"] = identify_reasoning(parts)
            more["answer_language"] = identify_language(answer).language
        if not parts.finished and not answer.strip():
            more["reason"] = "none: cut off"
        values = judgement.values.items()
        more["values"] = {
            name: float(value) for name, value in values if value is not None
        }
        return msgspec.structs.replace(judgement, length=len(parts.answer), **more)

    def gold(self, sample: Sample) -> str:
        """Return the text whose log-likelihood is measured if the kind has `GOLD`."""
        return self.answer(sample)

    def judge_likelihood(self, log_likelihood: float, sample: Sample) -> Judgement:
        """Judge a model by the log-likelihood of an item's right answer, in nats.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> g2p = task_as_run("hkcanto_g2p_bpc")
            >>> g2p.judge_likelihood(-8 * log(2), Sample(id="", target="hou2")).values
            {'bits_per_character': 2.0}
        """
        text = self.gold(sample)
        bits = -log_likelihood / log(2)
        return Judgement(
            values={"bits_per_character": bits / len(text)},
            weights={"bits_per_character": len(text)},
            explanation=f"{bits:.2f} bits for the {len(text)} characters of {text!r}.",
        )

    def cut(self, response: str) -> str:
        """Cut a response, without its reasoning, to the part that is scored."""
        return until_stop(response, self.stop)

    @abstractmethod
    def score(self, answer: str, sample: Sample) -> Judgement:
        """Judge an answer that has no reasoning and is cut before the stop texts.

        It never raises an error, whatever the answer contains.
        """


def _cell(row: Row, place: str, names: Sequence[str]) -> str:
    """Return the text of a cell that the prompt shows; a blank cell stays blank."""
    cell = next((row.cells[name] for name in names if name in row.cells), ...)
    text = "" if cell is None else as_text(cell)
    if text is None:
        where = f"no text in a column {' or '.join(names)}"
        raise row.problem(f"{where}, which the prompt shows as {{{place}}}")
    return text


def _named_as_run(task: TaskVariant, options: Any, shots: int | None) -> TaskVariant:
    """Return a task under the name of the variant that fits the options best.

    Scoring counts first, then chain of thought, script, and number of worked examples. Without a
    number, the first fitting variant is taken.
    """
    of_variant = task.variant

    def fits(variant: Variant) -> tuple[bool, ...]:
        default = task.definition.shots if variant.shots is None else variant.shots
        return (
            variant.scoring == of_variant.scoring,
            variant.cot == getattr(options, "cot", of_variant.cot),
            variant.script == getattr(options, "script", of_variant.script),
            default == shots,
        )

    every = (Variant(), *task.definition.variants)
    variant = max((of_variant, *every) if shots is None else every, key=fits)
    name = (
        task.name.removesuffix(f"_{of_variant.suffix}")
        if of_variant.suffix
        else task.name
    )
    return replace(
        task, variant=variant, name="_".join(filter(None, (name, variant.suffix)))
    )
