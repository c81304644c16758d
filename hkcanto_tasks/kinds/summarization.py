"""Summarisation: a long Cantonese text in, the same in about 200 characters out.

HKCanto-Eval (Appendix G) has people score relevance, accuracy, fluency and coherence; there is no
reference. Scored here is what needs no reader: fluency by the words used, and the length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.fluency import cantonese_fluency

from ..catalogue import NamedTask, PromptTemplate, Subject, TaskEntry
from ..errors import DataCorrupt
from ..readers import read_json_list
from ..records import Judgement, Metric, Sample
from . import writing

METRICS = (
    *writing.FLUENCY_METRICS,
    Metric("length_penalty", higher_is_better=True),
    Metric("n_characters"),
    Metric("empty"),
)

Options = writing.Options
prompt, system, stop = writing.prompt, writing.system, writing.stop
examples = writing.no_examples

# The paper asks for 200 characters, and subtracts from the score above 500.
_MAX_CHARACTERS = 500
_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class Article:
    """A text of the release.

    Attributes:
        number: Its place in the file, from 1.
        text: The text.
    """

    number: int
    text: str


def read(path: Path, entry: TaskEntry) -> list[Article]:  # noqa: ARG001
    """Read a release file of texts.

    Args:
        path: One JSON list of texts.
        entry: The task.

    Raises:
        DataCorrupt: A text is blank.
    """
    articles = [Article(number, text) for number, text in enumerate(read_json_list(path), start=1)]
    for article in articles:
        if not article.text.strip():
            raise DataCorrupt(f"{path}: text {article.number} is blank. Correct the file.")
    return articles


def samples(
    rows: list[Article],
    template: PromptTemplate,
    task: NamedTask,
    subject: Subject,  # noqa: ARG001
    options: Options,  # noqa: ARG001
) -> list[Sample]:
    """Render the texts to summarise, each with the text as its only choice, for the scorer."""
    return [
        Sample(
            id=f"{task.entry.name}/{article.number}",
            question=writing.fill(template.question, source=article.text),
            target="",
            choices=(article.text,),
        )
        for article in rows
    ]


def max_tokens(options: Options) -> int:
    """Return the longest response to ask for, in tokens: the release's figure."""
    return writing.room(_TOKENS, options)


def score(response: str, target: str, choices: Sequence[str | None] = ()) -> Judgement:
    """Judge the language and the length of a summary, not whether it is a good one.

    Args:
        response: What the model wrote.
        target: Nothing: the release has no summaries.
        choices: The text that was to be summarised, and nothing else.

    Example:
        >>> score("佢話街市最緊要有人情味。", "").values["length_penalty"]
        1.0
    """
    source = (choices[0] if choices else None) or ""
    cleaned = clean_output(response, source=source)
    fluency = cantonese_fluency(cleaned.text, max_characters=_MAX_CHARACTERS)
    return Judgement(
        values={
            **writing.fluency_values(fluency),
            "length_penalty": fluency.length_penalty,
            "n_characters": float(fluency.n_characters),
            "empty": float(not cleaned.text),
        },
        answer=cleaned.text,
        explanation=(
            f"{writing.explain_cleaning(cleaned)}{writing.explain_fluency(fluency)}\n\n"
            f"{fluency.n_characters} characters; length penalty {fluency.length_penalty:.3f}."
        ),
        weights=writing.fluency_weights(fluency),
        details={"removed": ", ".join(cleaned.removed)},
        hypothesis=cleaned.text,
        reference=target,
        source=source,
    )
