"""Multiple choice: a question and lettered options in, the letter of one of them out.

The letter is read by `hkcanto_metrics.extract_choice`. An answer without one is wrong and counted
in `unparsed_rate`.
"""

import logging
import random
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from hkcanto_metrics.choice import extract_choice

from ..catalogue import NamedTask, PromptTemplate, Subject, TaskEntry
from ..errors import DataCorrupt, OptionError
from ..readers import read_csv
from ..records import Example, Judgement, Metric, Sample

_log = logging.getLogger("hkcanto")

METRICS = (
    Metric("acc", higher_is_better=True),
    Metric("unparsed_rate"),
)

# A letter, or a phrase around it; a chain of thought; a reasoning model's block before its answer.
_DIRECT_TOKENS, _COT_TOKENS, _REASONING_TOKENS = 16, 1024, 8192
_LETTERS = "ABCDE"


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a user can choose.

    Attributes:
        prompt: `paper`, or the language of a prompt of ours: `zh`, `yue`, `en`; with `+scaffold`,
            the prompt also asks for a last line such as 答案：X.
        cot: Ask for a chain of thought.
        script: `tc`, or `sc` to convert questions and prompt to Simplified script (OpenCC hk2s).
        shuffle_choices: Seed with which each question's options are shuffled, to expose a bias for
            positions; 0 keeps their order.
        reasoning: Leave room for a reasoning block, and do not stop at the end of a line.
    """

    prompt: str = "paper"
    cot: bool = False
    script: Literal["tc", "sc"] = "tc"
    shuffle_choices: Annotated[int, msgspec.Meta(ge=0)] = 0
    reasoning: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A row of a release.

    Attributes:
        number: Its place in the file, from 1, without the header.
        text: The question.
        choices: The options in the order of their letters; None where a letter has none.
        answer: Index of the right one.
        explanation: The release's reasoning, where it has one.
    """

    number: int
    text: str
    choices: tuple[str | None, ...]
    answer: int
    explanation: str = ""


def read(path: Path, entry: TaskEntry) -> list[Question]:
    """Read a release file of questions: question, options, answer and perhaps an explanation.

    Args:
        path: A CSV file, with the header `question,A,B,…,answer` or without one.
        entry: The task, for its letters and whether there is a header.

    Raises:
        DataCorrupt: A row has too few cells, or an answer that is none of its options.
    """
    table = read_csv(path, header=entry.header)
    width = len(entry.letters)
    columns = [column.strip().lower() for column in table.columns]
    explanation = columns.index("explanation") if "explanation" in columns else None
    expected = ["question", *entry.letters.lower(), "answer"]
    if entry.header and columns[: width + 2] != expected:
        raise DataCorrupt(f"{path}: its header is {table.columns}; expected {expected}.")
    questions: list[Question] = []
    for index, cells in enumerate(table.rows):
        where = f"{path}, row {table.row_number(index)}"
        if len(cells) < width + 2:
            raise DataCorrupt(f"{where} has {len(cells)} cells; expected {width + 2}.")
        choices = tuple(
            None if entry.blank_options == "absent" and not cell.strip() else cell
            for cell in cells[1 : width + 1]
        )
        letters = _letters(entry.letters, choices)
        label = _plain_letter(cells[width + 1])
        if label not in letters:
            raise DataCorrupt(
                f"{where}: the answer {cells[width + 1]!r} is none of its options "
                f"{', '.join(letters)}."
            )
        questions.append(
            Question(
                index + 1,
                cells[0],
                choices,
                entry.letters.index(label),
                cells[explanation].strip() if explanation is not None else "",
            )
        )
    return questions


def prompt(task: NamedTask, options: Options) -> str:
    """Return the name of the benchmark's prompt that the options ask for."""
    language = options.prompt.removesuffix("+scaffold")
    if language not in task.entry.prompts:
        known = [name + end for name in task.entry.prompts for end in ("", "+scaffold")]
        raise OptionError(f"{task.name}: prompt={options.prompt!r}; choose {', '.join(known)}.")
    return task.entry.prompts[language]


def system(
    template: PromptTemplate, task: NamedTask, subject: Subject, shots: int, options: Options
) -> str:
    """Render the text in front of everything."""
    text = template.system
    if options.cot and template.system_cot is not None:
        text = template.system_cot
    return _script(options)(
        _fill(text, template, task, subject, options, zero="" if shots else template.zero_shot)
    )


def samples(
    rows: list[Question],
    template: PromptTemplate,
    task: NamedTask,
    subject: Subject,
    options: Options,
) -> list[Sample]:
    """Render the scored questions."""
    text = template.question
    if options.cot and template.question_cot is not None:
        text = template.question_cot
    scaffold = options.prompt.endswith("+scaffold")
    render = _renderer(text, template, task, subject, options, cue="" if scaffold else template.cue)
    convert = _script(options)
    letters = task.entry.letters
    types = _types(task.entry)
    found = []
    for row in rows:
        shown = _shuffled(row, subject, options.shuffle_choices)
        choices = tuple(None if text is None else convert(text) for text in shown.choices)
        found.append(
            Sample(
                id="/".join(filter(None, (task.entry.name, subject.name, str(row.number)))),
                question=render(convert(shown.text), choices, letters),
                target=letters[shown.answer],
                choices=choices,
                subject=subject.name,
                category=subject.category,
                groups=subject.groups + types(row.text),
            )
        )
    return found


def examples(
    rows: list[Question],
    template: PromptTemplate,
    task: NamedTask,
    subject: Subject,
    options: Options,
) -> list[Example]:
    """Render the first dev rows as worked examples."""
    text = template.example or template.question
    if options.cot:
        text = template.example_cot or text
    render = _renderer(text, template, task, subject, options, cue=template.cue)
    convert = _script(options)
    letters = task.entry.letters
    if options.cot and not all(row.explanation for row in rows[: task.entry.dev_rows]):
        _warn_of_missing_reasoning(task.entry.name)
    found = []
    for row in rows[: task.entry.dev_rows]:
        answer = letters[row.answer]
        if options.cot:
            parts = {"reasoning": row.explanation, "answer": answer}
            answer = convert(_substitute(template.answer_cot, parts))
        choices = tuple(None if text is None else convert(text) for text in row.choices)
        found.append(Example(render(convert(row.text), choices, letters), answer))
    return found


def stop(template: PromptTemplate, options: Options) -> tuple[str, ...]:
    """Return the texts before which a response ends."""
    if options.reasoning:
        return ()
    if options.cot:
        return template.stop_cot
    return template.stop if options.prompt.endswith("+scaffold") else ("\n",)


def max_tokens(options: Options) -> int:
    """Return the longest response to ask for, in tokens."""
    if options.reasoning:
        return _REASONING_TOKENS
    return _COT_TOKENS if options.cot or options.prompt.endswith("+scaffold") else _DIRECT_TOKENS


def score(response: str, target: str, choices: Sequence[str | None]) -> Judgement:
    """Judge a response against the right letter.

    Example:
        >>> score("答案係B。", "B", ["旺角", "灣仔"]).values
        {'acc': 1.0, 'unparsed_rate': 0.0}
    """
    options = zip(_LETTERS, choices, strict=False)
    letter = extract_choice(response, {key: text for key, text in options if text is not None})
    return Judgement(
        values={"acc": float(letter == target), "unparsed_rate": float(letter is None)},
        answer=letter or "",
        explanation=(
            "No letter could be read from the response."
            if letter is None
            else f"The response was read as {letter}; the answer is {target}."
        ),
    )


@cache
def _warn_of_missing_reasoning(task: str) -> None:
    _log.warning(
        "%s: the release has no reasoning (no column 'explanation') for some worked examples of "
        "the chain of thought. They show the answer alone, which teaches a model to skip the "
        "reasoning: prefer 0 shots.",
        task,
    )


def _letters(letters: str, choices: Sequence[str | None]) -> list[str]:
    """Return the letters that have an option."""
    return [letter for letter, choice in zip(letters, choices, strict=False) if choice is not None]


def _plain_letter(label: str) -> str:
    """Return a label without what the releases got on it: Ď, full width, blanks, a full stop."""
    plain = unicodedata.normalize("NFKD", label).strip(" .．。、:：()（）\t\r\n\u00a0\u3000")
    return "".join(c for c in plain if not unicodedata.combining(c)).upper()


def _fill(
    text: str,
    template: PromptTemplate,
    task: NamedTask,
    subject: Subject,
    options: Options,
    **more: str,
) -> str:
    language, _, scaffold = options.prompt.partition("+")
    values = {
        "sentence": task.entry.sentences.get(language, task.entry.sentence),
        "subject": subject.shown or subject.stem.replace("_", " "),
        "title": subject.title,
        "chinese": subject.chinese,
        "scaffold": template.scaffold if scaffold else "",
        **more,
    }
    return _substitute(text, values)


def _substitute(text: str, values: Mapping[str, str]) -> str:
    # Not str.format: what is put in, and the rest of the text, may have braces of its own.
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), text)


def _renderer(
    text: str,
    template: PromptTemplate,
    task: NamedTask,
    subject: Subject,
    options: Options,
    cue: str,
) -> Callable[[str, Sequence[str | None], str], str]:
    filled = _script(options)(_fill(text, template, task, subject, options, cue=cue))
    parts = re.split(r"\{(question|options)\}", filled)

    def render(question: str, choices: Sequence[str | None], letters: str) -> str:
        lines = "\n".join(
            f"{letter}. {choice}"
            for letter, choice in zip(letters, choices, strict=False)
            if choice is not None
        )
        values = {"question": question, "options": lines}
        return "".join(values[part] if place % 2 else part for place, part in enumerate(parts))

    return render


def _shuffled(row: Question, subject: Subject, seed: int) -> Question:
    if not seed:
        return row
    there = [place for place, choice in enumerate(row.choices) if choice is not None]
    moved = there.copy()
    random.Random(f"{seed}/{subject.name}/{row.number}").shuffle(moved)
    order = list(range(len(row.choices)))
    for place, origin in zip(there, moved, strict=True):
        order[place] = origin
    return replace(
        row, choices=tuple(row.choices[i] for i in order), answer=order.index(row.answer)
    )


def _script(options: Options) -> Callable[[str], str]:
    return _to_simplified() if options.script == "sc" else str


@cache
def _to_simplified() -> Callable[[str], str]:
    try:
        import opencc
    except ImportError as error:
        raise OptionError("script=sc needs OpenCC: pip install opencc.") from error
    convert: Callable[[str], str] = opencc.OpenCC("hk2s").convert
    return convert


def _types(entry: TaskEntry) -> Callable[[str], tuple[str, ...]]:
    patterns = {name: re.compile(pattern) for name, pattern in entry.types.items()}
    coarse: Mapping[str, tuple[str, ...]] = {
        fine: (name,) for name, fines in entry.coarse.items() for fine in fines
    }

    def types(text: str) -> tuple[str, ...]:
        name = next((name for name, pattern in patterns.items() if pattern.search(text)), None)
        return () if name is None else (name, *coarse.get(name, ()))

    return types
