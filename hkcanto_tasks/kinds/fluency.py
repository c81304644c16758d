"""Open-ended writing: an everyday question in Cantonese in, an answer in Cantonese out.

Our own benchmark: whether a model, asked in Cantonese to answer in Cantonese, writes Cantonese at
all. What it says is not judged. The score is `hkcanto_metrics.cantonese_fluency`.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.fluency import cantonese_fluency

from ..catalogue import NamedTask, PromptTemplate, Subject, TaskEntry
from ..errors import DataCorrupt
from ..readers import read_json_lines
from ..records import Judgement, Metric, Sample
from . import writing

METRICS = (
    *writing.FLUENCY_METRICS,
    Metric("simplified_ratio"),
    Metric("n_characters"),
    Metric("empty"),
)

Options = writing.Options
prompt, system, stop = writing.prompt, writing.system, writing.stop
examples = writing.no_examples

_TOKENS = 512


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of the prompts file.

    Attributes:
        id: Its name, which never changes, so that answers of two versions can be compared.
        category: What it is about, or what it asks the model to do.
        prompt: The question.
    """

    id: str
    category: str
    prompt: str


def read(path: Path, entry: TaskEntry) -> list[Question]:  # noqa: ARG001
    """Read a file of questions.

    Args:
        path: JSON lines with the keys `id`, `category` and `prompt`.
        entry: The task.

    Raises:
        DataCorrupt: A row lacks a key or has another one, or an id is repeated.
    """
    rows = []
    for number, row in enumerate(read_json_lines(path), start=1):
        try:
            rows.append(msgspec.convert(row, Question))
        except msgspec.ValidationError as error:
            raise DataCorrupt(f"{path}, row {number}: {error}. Correct the row.") from error
    ids = Counter(row.id for row in rows)
    if repeated := sorted(id_ for id_, count in ids.items() if count > 1):
        raise DataCorrupt(f"{path}: the ids {repeated} occur more than once. Rename one.")
    return rows


def samples(
    rows: list[Question],
    template: PromptTemplate,
    task: NamedTask,
    subject: Subject,  # noqa: ARG001
    options: Options,  # noqa: ARG001
) -> list[Sample]:
    """Render the questions."""
    return [
        Sample(
            id=f"{task.entry.name}/{row.id}",
            question=writing.fill(template.question, prompt=row.prompt),
            target="",
            category=row.category,
        )
        for row in rows
    ]


def max_tokens(options: Options) -> int:
    """Return the longest response to ask for, in tokens."""
    return writing.room(_TOKENS, options)


def score(response: str, target: str, choices: Sequence[str | None] = ()) -> Judgement:  # noqa: ARG001
    """Judge how Cantonese an answer is, not whether it is a good one.

    Example:
        >>> score("你可以試下早啲瞓。", "").values["fluent"]
        1.0
    """
    cleaned = clean_output(response)
    fluency = cantonese_fluency(cleaned.text)
    return Judgement(
        values={
            **writing.fluency_values(fluency),
            "simplified_ratio": fluency.simplified_ratio,
            "n_characters": float(fluency.n_characters),
            "empty": float(not cleaned.text),
        },
        answer=cleaned.text,
        explanation=f"{writing.explain_cleaning(cleaned)}{writing.explain_fluency(fluency)}",
        weights=writing.fluency_weights(fluency),
        details={"removed": ", ".join(cleaned.removed)},
        hypothesis=cleaned.text,
    )
