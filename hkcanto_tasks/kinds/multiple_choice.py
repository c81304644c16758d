"""Multiple choice: a question and lettered options in, the letter of one of them out.

`hkcanto_metrics.read_choice` reads the letter. An answer without a letter is wrong and counts in
`unparsed_rate`.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cache, cached_property
from random import Random
from typing import Annotated, ClassVar, Literal

import msgspec
import regex
from msgspec.structs import replace

import hkcanto_metrics

from ..data.choices import ChoiceReader, choice_columns
from ..data.tables import Row, as_text
from ..declarations import ChoiceDefinition, Subject
from ..errors import OptionError
from ..figures import Figure, figures
from ..judgements import Judgement, judge_reading
from ..prompts import Example, convert, fill
from ..samples import Sample
from . import base

_COT_TOKENS = 1024  # the token limit of a chain of thought
_FIRST_LINE = ("\n",)  # the stop text of a direct answer
_GOES_ON = (":", "：", ":**", "：**")  # ends of a line that is not the whole answer
_ROWS_TO_JUDGE_POSITION = 10  # by chance, fewer may have their answer in one position
_SCRIPTS = {
    "tc": "繁體中文",
    "sc": "简体中文",
}  # as a prompt names the questions' script
_SECONDS_FOR_TYPE = 1  # to match a question against one type's regular expression


class MultipleChoiceOptions(
    base.PromptOptions, frozen=True, forbid_unknown_fields=True
):
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
    COLUMNS: ClassVar = {
        "question": ("question",),
        "options": tuple("abcdefghij"),
        "answer": ("answer",),
        "explanation": ("explanation", "reasoning", "rationale", "解析"),
    }
    Options = MultipleChoiceOptions
    Definition = ChoiceDefinition
    SCAFFOLD = "+scaffold"
    LETTERED = True
    READS: ClassVar[tuple[str, ...]] = ("settled", "first_character")
    # A letter with a phrase around it. Of 3,761 outputs of 20 models that are more than a letter, 12
    # tokens lose 3.4 %, 32 tokens 1.1 %, and 48 tokens 0.5 %.
    TOKENS = 32

    SEVERAL: ClassVar = False
    _has_other_prompts = False  # see `for_other_prompts`
    """Whether several options may be right; a target then has the letters of all right ones."""

    definition: ChoiceDefinition
    options: MultipleChoiceOptions

    def set_up(self) -> None:
        """Choose columns and script, and refuse options for which the prompt has no text."""
        options = self.options
        self.example_source = "release" if options.cot else ""
        default = ["choices"] if self.definition.reader else []
        self._columns["options"] = choice_columns(self.definition, default)
        # Looked up once, since large files have many rows.
        self._question_columns = self.columns("question")
        self._explanation_columns = self.columns("explanation")
        self._reader = ChoiceReader(
            self.definition,
            self.columns("options"),
            self.columns("answer"),
            several=self.SEVERAL,
        )
        self._has_scaffold = options.prompt.endswith(self.SCAFFOLD)
        self._convert: Callable[[str], str] = str
        if options.script == "sc":
            self._convert = _to_simplified()
        template = self.template
        if options.cot and not (template.question_cot or template.system_cot):
            raise self._without_text_for("cot=true")
        if self._has_scaffold and not template.scaffold:
            raise self._without_text_for(f"prompt={options.prompt}")

    def _without_text_for(self, option: str) -> OptionError:
        return OptionError(f"{self.task.name}: its prompt has no text for {option}.")

    # ------------------------------------------------------------------ a question

    def row(self, row: Row) -> Sample:
        """Read a question, its options and its answer."""
        definition = self.definition
        question = definition.question
        if not question:
            question = row.text(self._question_columns, "question")
        choices = self._reader.choices(row)
        explanation = as_text(row.find(self._explanation_columns)) or ""
        return Sample(
            id=str(row.number),
            question=question,
            choices=choices,
            target=self._reader.right_letters(row, choices),
            reasoning=explanation.strip(),
            parts=self._types(question, row) if definition.types else (),
        )

    def _types(
        self,
        question: str,
        row: Row,
    ) -> tuple[str, ...]:
        """Return the types of a question."""
        types: list[str] = []
        otherwise: list[str] = []
        for name, pattern in self.definition.types.items():
            if not pattern:
                otherwise.append(name)
                continue
            entry = f"has the type {name!r}: the regular expression {pattern!r}"
            try:
                if _compiled(pattern).search(question, timeout=_SECONDS_FOR_TYPE):
                    types.append(name)
            except regex.error as error:
                raise self.wrong(f"{entry} is not one: {error}") from error
            except (TimeoutError, MemoryError) as error:
                slow = f"takes more than {_SECONDS_FOR_TYPE} s on {row.where}"
                raise self.wrong(f"{entry} {slow}") from error
        return tuple(types or otherwise)

    @cached_property
    def headerless(self) -> tuple[str, ...]:
        """The columns of a CSV file without a header row, in order."""
        options = self.columns("options")
        if self.definition.question:
            return (*options, "answer")
        return ("question", *options, "answer")

    def scored(self, rows: Sequence[Sample]) -> list[Sample]:
        """Return the scored questions in the chosen script, with options shuffled if asked for."""
        seed = self.options.shuffle_choices or self.definition.shuffle_options
        if not seed and self.options.script == "tc":
            return [*rows]
        return [self._in_script(self._shuffled(row, seed)) for row in rows]

    def remark(self, samples: Sequence[Sample]) -> str:
        """Say if position alone gives away the right options; an empty text if not, or few rows."""
        if len(samples) < _ROWS_TO_JUDGE_POSITION:
            return ""
        targets = {sample.target for sample in samples}
        if len(targets) == 1:
            return f"the right option is {targets.pop()} in every row"
        for sample in samples:
            if not "".join(self.lettered(sample)).startswith(sample.target):
                return ""
        return "the right options come before the others in every row"

    # ------------------------------------------------------------------ the prompt

    def texts(self, subject: Subject) -> tuple[str, str]:
        """Return the instruction before everything else, and the text of a scored question."""
        system = self.template.system
        question = self.template.question
        if self.options.cot:
            if self.template.system_cot is not None:
                system = self.template.system_cot
            if self.template.question_cot is not None:
                question = self.template.question_cot
        return self._fill(system, subject), self._fill(question, subject)

    def names(self, subject: Subject) -> dict[str, str]:
        """Return the placeholders that depend on the subject and on the options: name → text."""
        template = self.template
        names = {
            **super().names(subject),
            "scaffold": template.scaffold if self._has_scaffold else "",
            "script_name": _SCRIPTS[self.options.script],
            "zero": "" if self.shots else template.zero_shot,
            "cue": "" if self._has_scaffold else template.cue,
        }
        prompt = self.options.prompt.removesuffix(self.SCAFFOLD)
        sentence = self.definition.sentences.get(prompt, self.definition.sentence)
        if sentence:
            names["sentence"] = sentence
        return names

    def values(self, sample: Sample) -> Mapping[str, str]:
        """Return the question, its options one per line, and each option alone."""
        options = self.lettered(sample)
        lines = [f"{letter}. {text}" for letter, text in options.items()]
        values = {"question": sample.question, "options": "\n".join(lines)}
        for letter in self.definition.letters:
            values[f"option_{letter}"] = options.get(letter, "")
        return values

    def lettered(self, sample: Sample) -> dict[str, str]:
        """Return the options that an item has: letter → text."""
        pairs = zip(self.definition.letters, sample.choices, strict=False)
        return {letter: text for letter, text in pairs if text is not None}

    def examples(
        self,
        subject: Subject,
        rows: Sequence[Sample],
    ) -> list[Example]:
        """Render rows as worked examples, with options shuffled if the task declares it."""
        seed = self.definition.shuffle_options
        return super().examples(subject, [self._shuffled(row, seed) for row in rows])

    def example(
        self,
        subject: Subject,
        row: Sample,
        number: int,
    ) -> Example:
        """Render a question with its answer, and its reasoning for a chain of thought."""
        text = self.template.example or self.template.question
        if self.options.cot:
            text = self.template.example_cot or text
        text = self._fill(
            text,
            subject,
            cue=self.template.cue,
            number=str(number),
        )
        shown = self._in_script(row)
        values = {**shown.cells, **self.values(shown)}
        return Example(fill(text, values), self.answer(row))

    def answer(self, row: Sample) -> str:
        """Return the letter, after the reasoning for a chain of thought."""
        form = self.template.answer_cot if self.options.cot else "{answer}"
        values = {**row.cells, "reasoning": row.reasoning, "answer": row.target}
        return self._convert(fill(form, values))

    def printed(self) -> list[Sample]:
        """Return the paper's worked examples with a chain of thought."""
        return [
            Sample(
                id="",
                question=example["question"],
                choices=tuple(map(example.get, self.definition.letters)),
                target=example["answer"],
                reasoning=example["reasoning"],
                cells=example,
            )
            for example in self.definition.examples
        ]

    @property
    def stop(self) -> tuple[str, ...]:
        """The stop texts at which a response is cut when it is scored.

        A direct answer is its first line (see `cut`), unless it has several letters or a declared
        form.
        """
        if self.options.reasoning:
            return ()
        if self.options.cot:
            return self.template.stop_cot
        has_form = (
            self._has_scaffold
            or self._has_other_prompts
            or self.template.reads == "first_character"
        )
        return self.template.stop if has_form or self.SEVERAL else _FIRST_LINE

    def sent_stop(self, *, chat: bool) -> tuple[str, ...]:
        """Return the stop texts that lm-eval sends with a request; Inspect sends none.

        A direct answer may begin with line breaks, unless worked examples in plain text show its
        form.
        """
        is_shown_form = self.shots and not chat
        if self.stop == _FIRST_LINE and not is_shown_form:
            return self.template.stop
        return self.stop

    @property
    def max_tokens(self) -> int:
        """The token limit of a response."""
        thinks = self.options.cot or self._has_scaffold
        if thinks and not self.options.reasoning:
            return _COT_TOKENS
        return super().max_tokens

    # ------------------------------------------------------------------ the answer

    def for_other_prompts(self) -> "MultipleChoice":
        """Return the task as it reads responses to prompts that may ask for reasons first.

        Such an answer does not end with its first line.
        """
        kind = copy(self)
        kind._has_other_prompts = True
        return kind

    def cut(self, response: str) -> str:
        """Cut a direct answer after its first line: one with text that does not end in a colon."""
        if self.stop != _FIRST_LINE:
            return super().cut(response)
        lines = response.split("\n")
        for count, line in enumerate(lines, start=1):
            text = line.rstrip()
            if text and not text.endswith(_GOES_ON):
                return "\n".join(lines[:count])
        return response

    def score(
        self,
        answer: str,
        sample: Sample,
    ) -> Judgement:
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
            letter = answer.strip()[:1].upper()
            if letter not in options:
                reason = "none: first character"
                return judge_reading(
                    "letter",
                    None,
                    reason,
                    sample.target,
                )
            return judge_reading(
                "letter",
                letter,
                "first character",
                sample.target,
            )
        reading = hkcanto_metrics.read_choice(answer, options, sample.question)
        return judge_reading(
            "letter",
            reading.letter,
            reading.reason,
            sample.target,
        )

    # ------------------------------------------------------------------ details

    def made_up(self) -> Sample:
        """Return a made-up item with the task's letters."""
        sample = super().made_up()
        letters = self.definition.letters
        return replace(
            sample,
            target=letters[:2] if self.SEVERAL else letters[0],
            choices=sample.choices[: len(letters)],
        )

    def _fill(
        self,
        text: str,
        subject: Subject,
        **values: str,
    ) -> str:
        """Fill what the subject and options decide, and convert the text to the chosen script."""
        filled = fill(text, {**self.names(subject), **values}, keep=True)
        return convert(filled, self._convert)

    def _in_script(self, row: Sample) -> Sample:
        """Convert a question to the chosen script."""
        if self.options.script != "sc":
            return row
        choices = [
            None if text is None else self._convert(text) for text in row.choices
        ]
        return replace(
            row,
            question=self._convert(row.question),
            choices=tuple(choices),
            cells={name: self._convert(text) for name, text in row.cells.items()},
        )

    def _shuffled(
        self,
        row: Sample,
        seed: int,
    ) -> Sample:
        """Shuffle a question's options; the paper's printed examples, without an id, stay."""
        if not seed or not row.id:
            return row
        present = [
            index for index, choice in enumerate(row.choices) if choice is not None
        ]
        origins = present.copy()
        Random(f"{seed}/{row.subject}/{row.release_id}").shuffle(origins)
        letters = self.definition.letters
        choices = list(row.choices)
        target = ""
        for index, origin in zip(present, origins, strict=True):
            choices[index] = row.choices[origin]
            if letters[origin] in row.target:
                target += letters[index]
        return replace(row, choices=tuple(choices), target=target)


_compiled = cache(regex.compile)  # regex itself looks a pattern up in 3 µs


@cache
def _to_simplified() -> Callable[[str], str]:
    import opencc

    convert: Callable[[str], str] = opencc.OpenCC("hk2s").convert
    return convert
