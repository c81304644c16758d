"""What every kind of task does: read a row, render its prompt, judge a response.

A kind of task is a class derived from `Kind`; an instance of it is one task under one condition.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import log
from typing import Any, ClassVar

import msgspec

from hkcanto_metrics.language import identify_language, identify_reasoning
from hkcanto_metrics.reasoning import Parts, Reasoned, split_reasoning

from ..data.tables import Row
from ..declarations import (
    PromptTemplate,
    Subject,
    TaskDefinition,
    TaskVariant,
    repeated,
)
from ..errors import CatalogueError, DataCorrupt, OptionError
from ..figures import Figure, figures, figures_of
from ..judgements import Judgement
from ..messages import say
from ..prompts import Example, Prompt, fill, places, until_stop
from ..samples import Sample

PAPERS_PROMPTS = ("paper", "release", "figure21", "figure22")
"""The names of prompts that are a paper's or its release's; other names are for prompts of ours."""

REASONING_TOKENS = 32768
"""The token limit of a response with reasoning. At 8,192, 5 % of answers to CMMLU and 19 % of those
to MMLU were cut off in others' runs; on hard items, models think for 7,000 to 12,000 tokens."""


def unlike_paper(options: Mapping[str, object]) -> str:
    """Return how options ask unlike the paper and its release; empty if they do not.

    Args:
        options: The options that are not switched off, by name.
    """
    prompt = options.get("prompt", "paper")
    if prompt not in PAPERS_PROMPTS:
        return say("another prompt than the paper's ({prompt})", prompt=prompt)
    if "shuffle_choices" in options:
        return say("shuffled choices")
    return ""


class KindOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of every kind.

    Attributes:
        reasoning: Allow a reasoning block before the answer: a higher token limit, and no stop
            texts.
        no_system: Begin the user's message with the instruction, for a server whose chat template
            has no system role. The templates of models in the harness's process are looked at.
    """

    reasoning: bool = False
    no_system: bool = False


class PromptOptions(KindOptions, frozen=True, forbid_unknown_fields=True):
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
        definition: The task's entry in its `benchmark.toml`.
        options: The user's choice, an instance of the kind's `Options`.
        shots: Worked examples in the prompt.
        multiturn: Whether each worked example is its own turn in a chat.
        template: The texts of its prompt.
        prompt_name: The name of this prompt in the benchmark.
        placeholders: The names of the placeholders in its texts.
        filled: The sets of cells that have filled its prompt without an unknown placeholder.

    Raises:
        OptionError: The prompt does not have the requested form.
    """

    FIGURES: ClassVar[tuple[Figure, ...]]
    """The figures of an item, in the order of a results table."""

    COLUMNS: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Role of a cell → the names of its column, if the task does not declare any."""

    OPTIONAL: ClassVar[tuple[str, ...]] = ("id", "category", "number", "explanation")
    """The roles that a row may lack."""

    Options: ClassVar[type[Any]] = KindOptions
    """A frozen `msgspec.Struct` whose fields all have defaults."""

    Definition: ClassVar[type[TaskDefinition]] = TaskDefinition
    """The record of a task's entry: a `TaskDefinition`, or one derived from it with more keys."""

    SCAFFOLD: ClassVar[str] = ""
    """The suffix of a prompt's name that asks for an answer in a fixed form."""

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

    definition: TaskDefinition
    options: Any

    uses_dev_rows: bool = True
    """Whether worked examples are rows of the release."""

    example_source: str = ""
    """`release` if worked examples show the release's reasoning, which some releases lack."""

    rubric_hash: str = ""
    """A hash of the judge's rubric: seven hexadecimal digits; empty without a judge."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
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
        self.options = options
        self.multiturn = multiturn
        self.task = task.fitting(
            cot=getattr(options, "cot", task.variant.cot),
            script=getattr(options, "script", task.variant.script),
            shots=shots,
        )
        self.definition = self.task.definition
        self.shots = self.task.shots if shots is None else shots
        self.prompt_name = self._prompt_name()
        self.template: PromptTemplate = task.benchmark.prompts[self.prompt_name]
        self.placeholders = places(*self.template.texts)
        self._columns: dict[str, tuple[str, ...]] = {}
        self._texts: dict[str, tuple[str, str]] = {}
        self.filled: set[tuple[str, ...]] = set()
        self.set_up()

    def set_up(self) -> None:  # noqa: B027
        """Derive what follows from the task and its options; by default nothing.

        Raises:
            OptionError: An option does not fit the task, or a package that the kind needs is missing.
        """

    def _prompt_name(self) -> str:
        """Return the name of the chosen prompt in the benchmark."""
        prompts = self.definition.prompts
        chosen = getattr(self.options, "prompt", "paper")
        name = chosen.removesuffix(self.SCAFFOLD)
        if name in prompts:
            return prompts[name]
        known = [*prompts]
        if self.SCAFFOLD:
            known = [name + end for name in prompts for end in ("", self.SCAFFOLD)]
        raise OptionError(
            f"{self.task.name}: prompt={chosen!r}; choose {', '.join(known)}."
        )

    def at(
        self,
        *,
        shots: int | None = None,
        multiturn: bool | None = None,
        no_system: bool = False,
        subjects: Sequence[Subject] | None = None,
    ) -> "Kind":
        """Return a copy with other shots, turns or subjects, or without a system message."""
        task = self.task
        options = self.options
        if no_system:
            options = msgspec.structs.replace(options, no_system=True)
        if subjects is not None:
            task = replace(task, subjects=tuple(subjects))
        return type(self)(
            task,
            options,
            self.shots if shots is None else shots,
            multiturn=self.multiturn if multiturn is None else multiturn,
        )

    def for_other_prompts(self) -> "Kind":
        """Return the task as it reads responses to prompts of another tool; by default the same."""
        return self

    @cached_property
    def is_generative(self) -> bool:
        """Whether the model writes its answer; otherwise its answer is the likeliest letter."""
        return self.task.variant.scoring == "generative"

    @cached_property
    def chosen(self) -> dict[str, Any]:
        """The options that are not switched off, by name; defaults are among them."""
        values = msgspec.structs.asdict(self.options)
        return {name: value for name, value in values.items() if value}

    @cached_property
    def categories(self) -> Mapping[str, str]:
        """Subject → category."""
        subjects = self.definition.subjects
        return {subject.name: subject.category for subject in subjects}

    def subject(self, name: str) -> Subject:
        """Return a subject of the task by its name."""
        subjects = self.definition.subjects
        return next(subject for subject in subjects if subject.name == name)

    def wrong(self, problem: str) -> CatalogueError:
        """Return the error for a wrong entry of the task in its `benchmark.toml`.

        Args:
            problem: The problem, after the task's name.
        """
        file = f"{self.task.benchmark.home}/benchmark.toml"
        where = f"{file}: task {self.definition.name!r}"
        return CatalogueError(f"{where} {problem}. Fix this entry of the catalogue.")

    # ------------------------------------------------------------------ reading the release

    def columns(self, role: str) -> tuple[str, ...]:
        """Return the columns that may have the cell of a role, in lower case."""
        if role not in self._columns:
            default = self.COLUMNS.get(role, (role,))
            names = self.definition.columns.get(role, default)
            if isinstance(names, str):
                names = (names,)
            self._columns[role] = tuple(name.lower() for name in names)
        return self._columns[role]

    @cached_property
    def reads(self) -> set[str]:
        """The columns that the kind reads itself, in lower case."""
        roles = [*self.COLUMNS, "subject"]
        if self.definition.reader:
            roles.append("id")
        roles += {"id", "labels"} & self.definition.columns.keys()
        return {name for role in roles for name in self.columns(role)}

    @cached_property
    def headerless(self) -> tuple[str, ...]:
        """The columns that a CSV file without a header row needs, in order."""
        needed = [role for role in self.COLUMNS if role not in self.OPTIONAL]
        return tuple(self.columns(role)[0] for role in needed)

    def row(self, row: Row) -> Sample:
        """Read a row of the release; by default the texts of `TEXTS`.

        Its id is the release's number or name for it. `reading.read_samples` then adds the full
        id, subject, category, parts, and the cells that the prompt shows.

        Raises:
            UnreadableRow: The row lacks something or is wrong (`Row.problem`).
        """
        texts: dict[str, Any] = {"id": str(row.number)}
        for role, name in self.TEXTS.items():
            texts[name] = row.text(self.columns(role), role)
        return Sample(**texts)

    def check(
        self,
        rows: Sequence[Sample],
        file: str,
    ) -> None:
        """Refuse a file for faults that single rows do not show, such as two rows with one id.

        Raises:
            DataCorrupt: The rows cannot all be right.
        """
        if len({row.id for row in rows}) < len(rows):
            ids = repeated(row.id for row in rows)
            names = ", ".join(name.rpartition("/")[2] for name in ids)
            raise DataCorrupt(
                f"{file}: the ids or numbers {names} occur more than once. Correct the file."
            )

    def scored(self, rows: Sequence[Sample]) -> Sequence[Sample]:
        """Return the items to score among a subject's rows, as they are asked; by default all rows."""
        return rows

    def remark(self, _: Sequence[Sample]) -> str:
        """Return why a score on these items would be meaningless; by default an empty text."""
        return ""

    # ------------------------------------------------------------------ the prompt

    def prompt(
        self,
        sample: Sample,
        examples: Sequence[Example] = (),
    ) -> Prompt:
        """Return the prompt of an item.

        Args:
            sample: The item.
            examples: The worked examples in the prompt.
        """
        subject = sample.subject
        if subject not in self._texts:
            self._texts[subject] = self.texts(self.subject(subject))
        system, question = self._texts[subject]
        values = {**sample.cells, **self.values(sample)}
        message = self.template.chat_system
        if message is not None:
            names = self.names(self.subject(subject))
            message = fill(message, {**values, **names})
        return Prompt(
            system=fill(system, values),
            examples=examples,
            question=fill(question, values),
            answer_separator=self.template.answer_separator,
            example_separator=self.template.example_separator,
            chat_system=message,
        )

    def texts(self, subject: Subject) -> tuple[str, str]:
        """Return the instruction before everything else, and the text of a scored question.

        Both have placeholders for an item's texts.
        """
        system = self.template.system
        question = self.template.question
        if not self.shots:
            system = self.template.zero_shot or system
            if self.template.zero_shot_question is not None:
                question = self.template.zero_shot_question
        names = self.names(subject)
        return fill(system, names, keep=True), fill(question, names, keep=True)

    def names(self, subject: Subject) -> dict[str, str]:
        """Return the placeholders that name a subject: placeholder → text."""
        return {
            "subject": subject.shown or subject.stem.replace("_", " "),
            "title": subject.title,
            "chinese": subject.chinese or subject.title,
        }

    def values(self, sample: Sample) -> Mapping[str, str]:
        """Return the texts of an item that a template may show: placeholder → text."""
        return {place: getattr(sample, name) for place, name in self.VALUES.items()}

    def examples(
        self,
        subject: Subject,
        rows: Sequence[Sample],
    ) -> list[Example]:
        """Render rows as worked examples, numbered from 1; empty if the prompt has none."""
        examples: list[Example] = []
        for number, row in enumerate(rows, start=1):
            example = self.example(subject, row, number)
            if example is not None:
                examples.append(replace(example, sample=row))
        return examples

    def example(
        self,
        subject: Subject,
        row: Sample,
        number: int,
    ) -> Example | None:
        """Render a row as a worked example; None if the prompt has no text for it."""
        text = self.template.example or self.template.question
        values = {
            **row.cells,
            **self.names(subject),
            "number": str(number),
            **self.values(row),
        }
        return Example(fill(text, values), self.answer(row))

    def answer(self, row: Sample) -> str:
        """Return the answer of a worked example."""
        return row.target

    def printed(self) -> list[Sample]:
        """Return the worked examples printed in the paper, as rows."""
        return []

    def lettered(self, sample: Sample) -> dict[str, str]:  # noqa: ARG002
        """Return the options that an item has: letter → text; by default none."""
        return {}

    @property
    def stop(self) -> tuple[str, ...]:
        """The stop texts at which a response is cut when it is scored."""
        return () if self.options.reasoning else self.template.stop

    def sent_stop(self, *, chat: bool) -> tuple[str, ...]:  # noqa: ARG002
        """Return the stop texts that lm-eval sends with a request; Inspect sends none.

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
        self,
        response: str | Parts | None,
        sample: Sample,
        reasoning: str = "",
    ) -> Judgement:
        """Judge a response to an item, in the same way in every harness.

        It splits off the reasoning, cuts the answer (`cut`), and judges what is left (`score`).

        Args:
            response: The model's response, with or without its reasoning: a text, a list of
                its parts as some servers send it, or None if it is empty.
            sample: The item.
            reasoning: The reasoning, if the server returned it separately.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> g2p, nei = task_as_run("hkcanto_g2p"), Sample(id="", target="hou2")
            >>> g2p.judge("<think>nei5?</think>hou2", nei).values["ser"]
            0.0
        """
        parts = split_reasoning(response, reasoning)
        answer = self.cut(self.answer_in(parts).lstrip())
        judgement = self.score(answer, sample)
        changes: dict[str, Any] = {
            "length": len(parts.answer),
            "values": {
                name: float(value)
                for name, value in judgement.values.items()
                if value is not None
            },
        }
        if parts.reasoning.strip():
            changes["reasoning"] = identify_reasoning(parts)
            changes["answer_language"] = identify_language(answer).language
        if not parts.finished and not answer.strip():
            changes["reason"] = "none: cut off"
        return msgspec.structs.replace(judgement, **changes)

    def answer_in(self, parts: Reasoned) -> str:
        """Return the text of a response that is scored."""
        return parts.answer

    def cut(self, response: str) -> str:
        """Cut a response, without its reasoning, to the part that is scored."""
        return until_stop(response, self.stop)

    @abstractmethod
    def score(
        self,
        answer: str,
        sample: Sample,
    ) -> Judgement:
        """Judge an answer that has no reasoning and is cut before the stop texts.

        It never raises an error, whatever the answer contains.
        """

    def gold(self, sample: Sample) -> str:
        """Return the text whose log-likelihood is measured if the kind has `GOLD`."""
        return self.answer(sample)

    def judge_likelihood(
        self,
        log_likelihood: float,
        sample: Sample,
    ) -> Judgement:
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

    # ------------------------------------------------------------------ figures

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """All of its figures, the headline first."""
        return figures_of(self.task, self.own_figures)

    @property
    def own_figures(self) -> tuple[Figure, ...]:
        """The figures of an item, with what the task decides of their definitions."""
        if self.GOLD and not self.is_generative:
            return figures("bits_per_character")
        return self.FIGURES

    @cached_property
    def table(self) -> tuple[Figure, ...]:
        """The figures that a harness's table shows, the headline first."""
        headline, *others = self.figures
        chosen = self.definition.table
        if not chosen:
            return (headline, *(figure for figure in others if not figure.diagnostic))
        shown = [headline]
        for figure in others:
            if figure.averages in chosen or figure.name in chosen:
                shown.append(figure)
        return tuple(shown)

    @property
    def headline(self) -> Figure:
        """The figure to read first, averaged as the paper averages it."""
        return self.figures[0]

    @property
    def printed_name(self) -> str:
        """The name of the headline in the paper's table; its title if it is not that of the table."""
        variant = self.task.variant
        printed = variant.printed if variant.suffix else self.definition.printed
        shots = self.definition.shots if variant.shots is None else variant.shots
        if not printed or self.shots != shots or unlike_paper(self.chosen):
            return self.headline.title
        return printed

    # ------------------------------------------------------------------ the signature

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
