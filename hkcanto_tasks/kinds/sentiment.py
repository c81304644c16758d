"""Sentiment: a text in, `Positive`, `Negative` or `Neutral` out.

HKCanto-Eval, Appendix H. The release counts a response as right if the label occurs anywhere in it,
so that one which names all three always passes. Scored here is the label that it settles on; a
response with none or several is wrong, and counted in `unparsed_rate`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hkcanto_metrics.choice import extract_choice
from hkcanto_metrics.cleaning import clean_output

from ..catalogue import NamedTask, PromptTemplate, Subject, TaskEntry
from ..errors import DataCorrupt
from ..readers import read_json_lines
from ..records import Example, Judgement, Metric, Sample
from . import writing

METRICS = (
    Metric("acc", higher_is_better=True),
    Metric("unparsed_rate"),
)

Options = writing.Options
prompt, system, stop = writing.prompt, writing.system, writing.stop

_TOKENS = 16
_LABELS = {"A": "Positive", "B": "Negative", "C": "Neutral"}
_CHINESE = {"正面": "Positive", "負面": "Negative", "负面": "Negative", "中性": "Neutral"}

_LABEL = r"(?<![a-z])(?:positive|negative|neutral)(?![a-z])"
_NOT = re.compile(
    r"(?:\b(?:not|never|no|isn['’]t|without)\b|唔係|唔算|不是|不算|並非|并非|非(?!常))"
    r"\s*(?:\w+ )?$",
    re.IGNORECASE,
)
_NEARBY = 40
_OR = r"\s*(?:[/|,，、]|\b(?:or|and)\b|或者?|還是|还是|定係|定|同埋|同|和)\s*"
# The question said again: "Positive, Negative or Neutral".
_ALL_THREE = re.compile(rf"{_LABEL}(?:{_OR})+{_LABEL}(?:{_OR})+{_LABEL}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Text:
    """A row of the release.

    Attributes:
        number: Its place in the file, from 1.
        text: The text.
        sentiment: `Positive`, `Negative` or `Neutral`.
    """

    number: int
    text: str
    sentiment: str


def read(path: Path, entry: TaskEntry) -> list[Text]:  # noqa: ARG001
    """Read a release file of texts and their sentiment.

    Args:
        path: JSON lines with the keys `text` and `sentiment`.
        entry: The task.

    Raises:
        DataCorrupt: A text is blank, or its sentiment is none of the three.
    """
    return [
        _text(row, number, f"{path}, row {number}")
        for number, row in enumerate(read_json_lines(path), start=1)
    ]


def samples(
    rows: list[Text],
    template: PromptTemplate,
    task: NamedTask,
    subject: Subject,
    options: Options,  # noqa: ARG001
) -> list[Sample]:
    """Render the scored texts: all but the first, which is the worked example."""
    return [
        Sample(
            id="/".join(filter(None, (task.entry.name, subject.name, str(row.number)))),
            question=writing.fill(template.question, source=row.text),
            target=row.sentiment,
            subject=subject.name,
        )
        for row in rows[1:]
    ]


def examples(
    rows: list[Text],
    template: PromptTemplate,
    task: NamedTask,  # noqa: ARG001
    subject: Subject,  # noqa: ARG001
    options: Options,  # noqa: ARG001
) -> list[Example]:
    """Render the first text as the worked example, as the release does."""
    return [
        Example(writing.fill(template.question, source=row.text), row.sentiment) for row in rows[:1]
    ]


def max_tokens(options: Options) -> int:
    """Return the longest response to ask for, in tokens."""
    return writing.room(_TOKENS, options)


def score(response: str, target: str, choices: Sequence[str | None] = ()) -> Judgement:  # noqa: ARG001
    """Judge a response against the label that people gave the text.

    Example:
        >>> score("唔係正面，係負面。", "Negative").values
        {'acc': 1.0, 'unparsed_rate': 0.0}
    """
    label = _settled_label(response)
    return Judgement(
        values={"acc": float(label == target), "unparsed_rate": float(label is None)},
        answer=label or "",
        explanation=(
            "No single label could be read from the response."
            if label is None
            else f"The response was read as {label}; the label is {target}."
        ),
    )


def _settled_label(response: str) -> str | None:
    text = clean_output(response).text
    for chinese, english in _CHINESE.items():
        text = text.replace(chinese, f" {english} ")
    text = _ALL_THREE.sub(" ", text)
    named = {
        label[0].capitalize()
        for label in re.finditer(_LABEL, text, re.IGNORECASE)
        if not _NOT.search(text[max(0, label.start() - _NEARBY) : label.start()])
    }
    if len(named) == 1:
        return named.pop()
    letter = extract_choice(text, _LABELS) if named else None
    return _LABELS[letter] if letter else None


def _text(row: dict[str, object], number: int, where: str) -> Text:
    text, sentiment = row.get("text"), row.get("sentiment")
    if not isinstance(text, str) or not text.strip():
        raise DataCorrupt(f"{where} has no text in 'text': {row}. Correct the row.")
    if not isinstance(sentiment, str) or sentiment not in _LABELS.values():
        raise DataCorrupt(
            f"{where} has {sentiment!r} in 'sentiment'; expected one of "
            f"{', '.join(_LABELS.values())}. Correct the row."
        )
    return Text(number, text, sentiment)
