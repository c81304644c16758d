"""Multiple choice: a question and lettered options in, the letter of one of them out.

`hkcanto_metrics.extract_choice` reads the letter. An answer without a letter is wrong and counts in
`unparsed_rate`.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import regex
from msgspec.structs import replace

from hkcanto_metrics.choice import read_choice

from ..data.choices import choice_columns, read_choices, right_letters
from ..data.tables import Row, as_text
from ..declarations import Subject, TaskVariant
from ..errors import OptionError
from ..figures import Figure, figures
from ..judgements import Judgement
from ..prompts import Example, convert, fill
from ..samples import Sample
from . import base

_COT_TOKENS = 1024  # the token limit of a chain of thought

_LINE = ("\n",)

_ENOUGH = 10  # rows that rule out chance if all right options are in one position

_SLOWEST = 1  # seconds to match a question against one type's regular expression

_GOES_ON = (":", "：", ":**", "：**")


class Options(base.PromptOptions, frozen=True, forbid_unknown_fields=True):
    """The options of the kind.

    Attributes:
        prompt: `paper` for the paper's prompt; `zh`, `yue` or `en` for our own prompt in that
            language; for some tasks others, such as `release`. With `+scaffold`, the prompt also
            asks for a last line such as 答案：X.
        cot: Ask for a chain of thought.
        script: `tc` for Traditional script, `sc` for Simplified. With `sc`, OpenCC (hk2s) converts
            the prompt, and the questions unless the release has them in Simplified script.
        shuffle_choices: Seed for shuffling each question's options, to expose a position bias; 0
            keeps their order.
    """

    cot: bool = False
    script: Literal["tc", "sc"] = "tc"
    shuffle_choices: Annotated[int, msgspec.Meta(ge=0)] = 0


class MultipleChoice(base.Kind):
    """A question with two to ten options. Columns: `question`, each letter, `answer`.

    The options may also be in one declared column: as a list, or as a mapping from letter to text.
    A reader yields them as `choices`.
    """

    FIGURES: ClassVar[tuple[Figure, ...]] = figures("acc", "unparsed_rate")
    SEVERAL: ClassVar = False
    """Whether several options may be right; a target then has the letters of all right ones."""

    USES = base.OF_CHOICES
    SCAFFOLD = "+scaffold"
    LETTERED = True
    READS: ClassVar[tuple[str, ...]] = ("settled", "first_character")
    TOKENS = 12  # a letter with a phrase around it
    Options = Options
    COLUMNS: ClassVar = {
        "question": ("question",),
        "options": tuple("abcdefghij"),
        "answer": ("answer",),
        "explanation": ("explanation", "reasoning", "rationale", "解析"),
    }

    def __init__(
        self, task: TaskVariant, options: Any, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(task, options, *args, **kwargs)
        self.example_source = "release" if options.cot else ""
        default = ["choices"] if task.definition.reader else []
        self._columns["options"] = choice_columns(task.definition, default)
        question = () if task.definition.question else ("question",)
        self.headerless = (*question, *self.columns("options"), "answer")
        self._letters = task.definition.letters
        roles = ("question", "options", "answer", "explanation")
        self._roles = [self.columns(role) for role in roles]
        self._scaffold = str(options.prompt).endswith(self.SCAFFOLD)
        self._convert: Callable[[str], str] = (
            _to_simplified() if options.script == "sc" else str
        )
        thinks = self.template.question_cot or self.template.system_cot
        for asked, there, option in (
            (options.cot, thinks, "cot=true"),
            (self._scaffold, self.template.scaffold, f"prompt={options.prompt}"),
        ):
            if asked and not there:
                raise OptionError(f"{task.name}: its prompt has no text for {option}.")

    def row(self, row: Row) -> Sample:
        """Read a question, its options and its answer."""
        definition, (asked, options, answer, reasons) = (
            self.task.definition,
            self._roles,
        )
        question = definition.question or row.text(asked, "question")
        choices = read_choices(row, definition, options)
        explanation = as_text(row.find(reasons)) or ""
        return Sample(
            id=str(row.number),
            question=question,
            choices=choices,
            target=right_letters(
                row, choices, definition, answer, several=self.SEVERAL
            ),
            reasoning=explanation.strip(),
            parts=self._types(question, row) if definition.types else (),
        )

    def scored(self, rows: Sequence[Sample]) -> list[Sample]:
        """Return the scored questions in the chosen script, with options shuffled if asked for."""
        seed = self.options.shuffle_choices or self.task.definition.shuffle_options
        if not seed and self.options.script == "tc":
            return [*rows]
        return [self._in_script(self._shuffled(row, seed)) for row in rows]

    def names(self, subject: Subject) -> dict[str, str]:
        """Return the placeholders that depend on the subject and on the options: name → text."""
        definition, template = self.task.definition, self.template
        names = {
            **super().names(subject),
            "scaffold": template.scaffold if self._scaffold else "",
            "zero": "" if self.shots else template.zero_shot,
            "cue": "" if self._scaffold else template.cue,
        }
        language = str(self.options.prompt).removesuffix(self.SCAFFOLD)
        if sentence := definition.sentences.get(language, definition.sentence):
            names["sentence"] = sentence
        return names

    def made_up(self) -> Sample:
        """Return a made-up item with the task's letters."""
        item, letters = super().made_up(), self._letters
        return replace(
            item,
            target=letters[: 1 + self.SEVERAL],
            choices=item.choices[: len(letters)],
        )

    def texts(self, subject: Subject) -> tuple[str, str]:
        """Return the instruction and the text of a scored question, in the chosen script."""
        template = self.template
        system, question = template.system, template.question
        if self.options.cot:
            system = system if template.system_cot is None else template.system_cot
            question = (
                question if template.question_cot is None else template.question_cot
            )
        return self._fill(system, subject), self._fill(question, subject)

    def values(self, sample: Sample) -> Mapping[str, str]:
        """Return the question, its options one per line, and each option alone."""
        options = self.lettered(sample)
        return {
            "question": sample.question,
            "options": "\n".join(
                f"{letter}. {text}" for letter, text in options.items()
            ),
            **{f"option_{letter}": options.get(letter, "") for letter in self._letters},
        }

    def examples(self, subject: Subject, rows: Sequence[Sample]) -> list[Example]:
        """Render rows as worked examples, with options shuffled if the task declares it."""
        seed = self.task.definition.shuffle_options
        return super().examples(subject, [self._shuffled(row, seed) for row in rows])

    def remark(self, samples: Sequence[Sample]) -> str:
        """Say if position alone gives away the right options; an empty text if not, or few rows."""
        targets = {sample.target for sample in samples}
        if len(samples) < _ENOUGH:
            return ""
        if len(targets) == 1:
            return f"the right option is {targets.pop()} in every row"
        first = all(
            "".join(self.lettered(one)).startswith(one.target) for one in samples
        )
        return "the right options come before the others in every row" if first else ""

    def printed(self) -> list[Sample]:
        """Return the paper's worked examples with a chain of thought."""
        return [
            Sample(
                id="",
                question=example["question"],
                choices=tuple(map(example.get, self._letters)),
                target=example["answer"],
                reasoning=example["reasoning"],
                cells=example,
            )
            for example in self.task.definition.examples
        ]

    def example(self, subject: Subject, row: Sample, number: int) -> Example:
        """Render a question with its answer, and its reasoning for a chain of thought."""
        text = self.template.example or self.template.question
        if self.options.cot:
            text = self.template.example_cot or text
        filled = self._fill(text, subject, cue=self.template.cue, number=str(number))
        shown = self._in_script(row)
        return Example(
            fill(filled, {**shown.cells, **self.values(shown)}), self.answer(row)
        )

    def answer(self, row: Sample) -> str:
        """Return the letter, after the reasoning for a chain of thought."""
        parts = {**row.cells, "reasoning": row.reasoning, "answer": row.target}
        form = self.template.answer_cot if self.options.cot else "{answer}"
        return self._convert(fill(form, parts))

    @property
    def stop(self) -> tuple[str, ...]:
        """The stop texts at which a response is cut when it is scored.

        A direct answer is its first line, unless it has several letters or a declared form.
        """
        if self.options.reasoning:
            return ()
        if self.options.cot:
            return self.template.stop_cot
        as_is = (
            self._scaffold or self.SEVERAL or self.template.reads == "first_character"
        )
        return self.template.stop if as_is else _LINE

    def sent_stop(self, *, chat: bool) -> tuple[str, ...]:
        """Return the stop texts that are sent to the harness.

        A direct answer may begin with line breaks, unless worked examples in plain text show its
        form.
        """
        shows_how = self.shots and not chat
        return self.template.stop if self.stop == _LINE and not shows_how else self.stop

    @property
    def max_tokens(self) -> int:
        """The token limit of a response."""
        thinks = self.options.cot or self._scaffold
        return (
            _COT_TOKENS if thinks and not self.options.reasoning else super().max_tokens
        )

    def cut(self, response: str) -> str:
        """Cut a direct answer after the first line that does not end in a colon."""
        if self.stop != _LINE:
            return super().cut(response)
        lines = response.split("\n")
        for place, line in enumerate(map(str.rstrip, lines), start=1):
            if line and not line.endswith(_GOES_ON):
                return "\n".join(lines[:place])
        return response

    def score(self, answer: str, sample: Sample) -> Judgement:
        """Judge an answer against the right letter.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> law = task_as_run("hkcanto_law")
            >>> asked = Sample(id="", choices=("旺角", "灣仔"), target="B")
            >>> law.judge("答案係B。", asked).values
            {'acc': 1.0, 'unparsed_rate': 0.0}
        """
        options = self.lettered(sample)
        if self.template.reads == "first_character":
            first = answer.strip()[:1].upper()
            if first in options:
                return judge_reading("letter", first, "first character", sample.target)
            return judge_reading("letter", None, "none: first character", sample.target)
        reading = read_choice(answer, options, sample.question)
        return judge_reading("letter", reading.letter, reading.reason, sample.target)

    # ------------------------------------------------------------------ details

    def _fill(self, text: str, subject: Subject, **more: str) -> str:
        filled = fill(text, {**self.names(subject), **more}, keep=True)
        return convert(filled, self._convert)

    def _shuffled(self, row: Sample, seed: int) -> Sample:
        """Shuffle a question's options; the paper's printed examples, without an id, stay."""
        if not seed or not row.id:
            return row
        there = [
            place for place, choice in enumerate(row.choices) if choice is not None
        ]
        moved = there.copy()
        random.Random(f"{seed}/{row.subject}/{self.raw_id(row)}").shuffle(moved)
        choices, right = list(row.choices), {*map(self._letters.index, row.target)}
        for place, origin in zip(there, moved, strict=True):
            choices[place] = row.choices[origin]
        target = (
            self._letters[to]
            for to, at in zip(there, moved, strict=True)
            if at in right
        )
        return replace(row, choices=tuple(choices), target="".join(target))

    def _in_script(self, row: Sample) -> Sample:
        """Convert a question to the chosen script."""
        if self.options.script != "sc":
            return row
        convert = self._convert
        return replace(
            row,
            question=convert(row.question),
            choices=tuple(
                None if text is None else convert(text) for text in row.choices
            ),
            cells={name: convert(text) for name, text in row.cells.items()},
        )

    def _types(self, question: str, row: Row) -> tuple[str, ...]:
        """Return the types of a question."""
        types = []
        for name, pattern in self.task.definition.types.items():
            what = f"has the type {name!r}: the regular expression {pattern!r}"
            try:
                if _compiled(pattern).search(question, timeout=_SLOWEST):
                    types.append(name)
            except regex.error as error:
                raise self.wrong(f"{what} is not one: {error}") from error
            except (TimeoutError, MemoryError) as error:
                slow = f"takes more than {_SLOWEST} s on {row.where}"
                raise self.wrong(f"{what} {slow}") from error
        return tuple(types)


_compiled = cache(regex.compile)  # regex itself looks a pattern up in 3 µs


def judge_reading(
    what: str,
    answer: str | None,
    reason: str,
    target: str,
    *,
    right: bool | None = None,
) -> Judgement:
    """Return the judgement of an answer from what was read.

    Args:
        what: The form of answer that was looked for, such as `letter`.
        answer: The answer that was read; None if there was none.
        reason: How it was read, or why it was not.
        target: The right answer.
        right: Whether it is right; by default whether it equals the target.
    """
    right = answer == target if right is None else right
    why = f" ({reason})" if reason else ""
    explanation = f"The response was read as {answer}{why}; the answer is {target}."
    if answer is None:
        explanation = f"No {what} could be read from the response{why}."
    return Judgement(
        values={"acc": float(right), "unparsed_rate": float(answer is None)},
        answer=answer or "",
        reason=reason,
        explanation=explanation,
    )


@cache
def _to_simplified() -> Callable[[str], str]:
    import opencc

    convert: Callable[[str], str] = opencc.OpenCC("hk2s").convert
    return convert
