"""What a kind of task is: it reads, renders and scores one form of question."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from ..catalogue import PromptTemplate, Subject, TaskVariant
from ..data.tables import Record
from ..errors import CatalogueError, OptionError
from ..prompts import fill, until_stop
from ..records import Example, Figure, Judgement, Sample

RowT = TypeVar("RowT")

REASONING_TOKENS = 8192
"""Room for the block that a reasoning model writes before its answer."""


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a user can choose in every kind.

    Attributes:
        reasoning: Leave room for a reasoning block, and do not stop at what looks like a next item.
    """

    reasoning: bool = False


class Kind(ABC, Generic[RowT]):
    """A form of question, made for one condition: a task, a prompt and the user's options.

    To add one, derive from this, and declare the class in the entry point group `hkcanto.kinds`
    under the name that a `benchmark.toml` calls it by.

    Attributes:
        task: The task.
        options: What the user chose.
        template: The texts of its prompt.

    Raises:
        CatalogueError: The task's headline is no figure of the kind, or a column no role in it.
    """

    METRICS: ClassVar[tuple[Figure, ...]]
    """The figures of an item, in the order of a results table."""

    COLUMNS: ClassVar[dict[str, tuple[str, ...]]] = {}
    """What a cell is → the names of its column, where the task does not declare it."""

    Options: ClassVar[type[Any]] = Options
    """A frozen `msgspec.Struct` whose fields all have defaults."""

    SCAFFOLD: ClassVar[str] = ""
    """What a prompt's name may end in to ask for an answer in a fixed form."""

    TOKENS: ClassVar[int]
    """The longest answer to ask for, without a reasoning block."""

    def __init__(self, task: TaskVariant, options: Any) -> None:
        self.task, self.options = task, options
        self.template: PromptTemplate = task.benchmark.prompts[self.prompt_name()]
        roles = [*self.COLUMNS, "subject"]
        for role in task.definition.columns:
            if role not in roles:
                raise CatalogueError(
                    f"{task.benchmark.home}/benchmark.toml: task {task.definition.name!r} has a column "
                    f"for {role!r}; its kind {task.definition.kind!r} has {', '.join(roles)}. Fix this "
                    "entry of the catalogue."
                )
        known = [metric.name for metric in self.METRICS]
        headline = task.definition.headline
        if headline and headline not in (
            *known,
            *(["acc_macro", "acc_category_macro"] * ("acc" in known)),
        ):
            raise CatalogueError(
                f"task {task.definition.name!r} has the headline {headline!r}; its kind "
                f"{task.definition.kind!r} has {', '.join(known)}. Fix this entry of the catalogue."
            )

    # ------------------------------------------------------------------ reading

    def columns(self, role: str) -> tuple[str, ...]:
        """Return the columns that a cell may be in, in lower case."""
        declared = self.task.definition.columns.get(role, self.COLUMNS.get(role, (role,)))
        names = (declared,) if isinstance(declared, str) else declared
        return tuple(name.lower() for name in names)

    @property
    def headerless(self) -> tuple[str, ...]:
        """The columns of a CSV file without a header row, in order."""
        return tuple(self.columns(role)[0] for role in self.COLUMNS)

    @abstractmethod
    def row(self, record: Record) -> RowT:
        """Read a row of the release.

        Raises:
            UnreadableRow: Something in it is missing, or not what it should be (`Record.problem`).
        """

    def check(self, rows: Sequence[RowT], file: str) -> None:
        """Refuse rows of a file for what only all of them together show; nothing by default.

        Raises:
            DataCorrupt: They cannot all be right.
        """

    # ------------------------------------------------------------------ rendering

    def prompt_name(self) -> str:
        """Return the name of the benchmark's prompt that the options ask for."""
        prompts, asked = self.task.definition.prompts, getattr(self.options, "prompt", "paper")
        name = asked.removesuffix(self.SCAFFOLD)
        if name not in prompts:
            ends = dict.fromkeys(("", self.SCAFFOLD))
            known = ", ".join(each + end for each in prompts for end in ends)
            raise OptionError(f"{self.task.name}: prompt={asked!r}; choose {known}.")
        return prompts[name]

    def system(self, subject: Subject, shots: int) -> str:
        """Render the text in front of everything."""
        text = self.template.system
        if not shots and self.template.zero_shot:
            text = self.template.zero_shot
        return fill(text, self.names(subject))

    def names(self, subject: Subject) -> dict[str, str]:
        """Return what a template may call a subject by."""
        return {
            "subject": subject.shown or subject.stem.replace("_", " "),
            "title": subject.title,
            "chinese": subject.chinese or subject.title,
        }

    def question(self, subject: Subject) -> str:
        """Return the text of a scored question, with places for what differs between the items."""
        return fill(self.template.question, self.names(subject))

    def samples(self, subject: Subject, rows: Sequence[RowT]) -> list[Sample]:
        """Render the scored items of a subject, in file order."""
        question = self.question(subject)
        samples = [self.sample(question, row) for row in rows]
        if (other := self.template.zero_shot_question) is None:
            return samples
        other = fill(other, self.names(subject))
        zero = [self.sample(other, row).question for row in rows]
        return [replace(each, zero_shot=text) for each, text in zip(samples, zero, strict=True)]

    @abstractmethod
    def sample(self, question: str, row: RowT) -> Sample:
        """Render a scored item.

        Its id is the release's number or name for it. What follows from the task and the subject
        (the whole id, subject, category, parts) is added to it by `load_task`.

        Args:
            question: As `question` returns it.
            row: The item.
        """

    @property
    def shows(self) -> str:
        """`release`, where a worked example shows what not every release has; else empty."""
        return ""

    def complete(self, row: RowT) -> bool:
        """Whether a row has all that a worked example shows."""
        return row is not None

    def printed(self) -> list[RowT]:
        """Return the worked examples that the paper prints, as rows."""
        return []

    def examples(self, subject: Subject, rows: Sequence[RowT]) -> list[Example]:
        """Render rows as worked examples, numbered from 1; none where the prompt has no form."""
        return [
            example
            for number, row in enumerate(rows, start=1)
            if (example := self.example(subject, row, number)) is not None
        ]

    @abstractmethod
    def example(self, subject: Subject, row: RowT, number: int) -> Example | None:
        """Render a row as a worked example."""

    @property
    def stop(self) -> tuple[str, ...]:
        """The texts before which a response ends."""
        return () if self.options.reasoning else self.template.stop

    @property
    def stop_after_line_breaks(self) -> tuple[str, ...]:
        """The same where a response may begin with line breaks: in chat, and without examples."""
        return self.stop

    @property
    def max_tokens(self) -> int:
        """The longest response to ask for, in tokens."""
        return REASONING_TOKENS if self.options.reasoning else self.TOKENS

    # ------------------------------------------------------------------ scoring

    def cut(self, response: str) -> str:
        """Cut a response, without its reasoning, to what is scored of it."""
        return until_stop(response, self.stop)

    @abstractmethod
    def score(self, answer: str, sample: Sample) -> Judgement:
        """Judge an answer, without reasoning and cut before the stop texts.

        Never raises on an answer, whatever is in it.
        """
