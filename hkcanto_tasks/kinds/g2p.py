"""Grapheme-to-phoneme: a sentence in characters in, its Jyutping out.

HKCanto-Eval, Appendix E.3. The scoring is `hkcanto_metrics.score_jyutping`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from hkcanto_metrics.g2p import JyutpingScore, score_jyutping
from hkcanto_metrics.jyutping import MalformedAnswer, parse_answer

from ..catalogue import NamedTask, PromptTemplate, Subject, TaskEntry
from ..errors import DataCorrupt
from ..readers import read_json_lines
from ..records import Example, Judgement, Metric, Sample

METRICS = (
    Metric("cer_published"),
    Metric("levenshtein_published"),
    Metric("cer", pooled=True),
    Metric("ser", pooled=True),
    Metric("tone_error_rate", pooled=True),
    Metric("onset_error_rate", pooled=True),
    Metric("nucleus_error_rate", pooled=True),
    Metric("coda_error_rate", pooled=True),
    Metric("invalid_rate"),
)

_COLUMNS_PER_LINE = 8


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a user can choose.

    Attributes:
        examples: `paper` for the worked examples that the paper prints, `release` for the rows of
            the release's dev file, in file order.
    """

    examples: Literal["paper", "release"] = "paper"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A row of the release.

    Attributes:
        number: The release's number for it.
        text: The sentence in characters.
        jyutping: Its Jyutping, with variants as `(a|b)`.
    """

    number: int
    text: str
    jyutping: str


def read(path: Path, entry: TaskEntry) -> list[Sentence]:  # noqa: ARG001
    """Read a release file of sentences and their Jyutping.

    Args:
        path: JSON lines with the keys `#`, `Honzi` and `Jyutping`.
        entry: The task.

    Raises:
        DataCorrupt: A row lacks a key, its answer is blank or malformed, or a number is repeated.
    """
    rows = [
        _sentence(row, f"{path}, row {line}") for line, row in enumerate(read_json_lines(path), 1)
    ]
    numbers = Counter(row.number for row in rows)
    if repeated := sorted(number for number, count in numbers.items() if count > 1):
        raise DataCorrupt(f"{path}: the numbers {repeated} in '#' occur more than once.")
    return rows


def prompt(task: NamedTask, options: Options) -> str:  # noqa: ARG001
    """Return the name of the benchmark's prompt."""
    return task.entry.prompts["paper"]


def system(
    template: PromptTemplate,
    task: NamedTask,  # noqa: ARG001
    subject: Subject,  # noqa: ARG001
    shots: int,  # noqa: ARG001
    options: Options,  # noqa: ARG001
) -> str:
    """Return the text in front of everything."""
    return template.system


def samples(
    rows: list[Sentence],
    template: PromptTemplate,
    task: NamedTask,
    subject: Subject,  # noqa: ARG001
    options: Options,  # noqa: ARG001
) -> list[Sample]:
    """Render the scored sentences."""
    return [
        Sample(
            id=f"{task.entry.name}/{row.number}",
            question=template.question.format(sentence=row.text),
            target=row.jyutping,
        )
        for row in rows
    ]


def examples(
    rows: list[Sentence],
    template: PromptTemplate,
    task: NamedTask,
    subject: Subject,  # noqa: ARG001
    options: Options,
) -> list[Example]:
    """Render the worked examples, numbered from 1."""
    pairs = [(row.text, row.jyutping) for row in rows]
    if options.examples == "paper":
        pairs = [(example["sentence"], example["answer"]) for example in task.entry.examples]
    text = template.example or template.question
    return [
        Example(text.format(number=number, sentence=sentence), answer)
        for number, (sentence, answer) in enumerate(pairs, start=1)
    ]


def stop(template: PromptTemplate, options: Options) -> tuple[str, ...]:  # noqa: ARG001
    """Return the texts before which a response ends."""
    return template.stop


def max_tokens(options: Options) -> int:  # noqa: ARG001
    """Return the longest response to ask for, in tokens: the release's figure."""
    return 1024


def score(response: str, target: str, choices: Sequence[str | None] = ()) -> Judgement:  # noqa: ARG001
    """Judge a response against a gold string with its variants in `(a|b)`.

    Example:
        >>> score("nei5 hou2", "nei5 hou2").values["cer_published"]
        0.0
    """
    scored = score_jyutping(response, target)
    rates = {metric.name: getattr(scored, metric.name) for metric in METRICS if metric.pooled}
    return Judgement(
        values={
            "cer_published": scored.cer_published,
            "levenshtein_published": scored.levenshtein_published,
            **rates,
            "invalid_rate": float(not scored.valid),
        },
        answer=scored.extracted,
        explanation=_explanation(scored),
        weights={name: rate.total for name, rate in rates.items()},
        details={"best_variant": scored.variant, "problem": scored.problem},
    )


def _sentence(row: dict[str, object], where: str) -> Sentence:
    number, text, jyutping = row.get("#"), row.get("Honzi"), row.get("Jyutping")
    if not isinstance(number, int) or not isinstance(text, str):
        raise DataCorrupt(f"{where} has no number in '#' or no text in 'Honzi': {row}.")
    if not isinstance(jyutping, str) or not jyutping.strip():
        raise DataCorrupt(
            f"{where} has no answer in 'Jyutping': the release blanked its answers in later "
            "commits. Run `hkcanto data fetch hkcanto`, which takes them from commit b047f9f."
        )
    try:
        parse_answer(jyutping)
    except MalformedAnswer as error:
        raise DataCorrupt(f"{where}, 'Jyutping': {error}") from error
    return Sentence(number, text, jyutping)


def _explanation(scored: JyutpingScore) -> str:
    """Lay the closest accepted variant and the response under each other, in Markdown."""
    pairs = [(gold or "-", heard or "-") for gold, heard in scored.alignment]
    blocks = [
        _block(pairs[start : start + _COLUMNS_PER_LINE])
        for start in range(0, len(pairs), _COLUMNS_PER_LINE)
    ]
    note = f"**Note:** {scored.problem}.\n" if scored.problem else ""
    diff = "\n\n".join(blocks)
    return (
        f"{note}```text\n{diff}\n```\n"
        f"published CER {scored.cer_published:.3f}, "
        f"Levenshtein {scored.levenshtein_published:.3f}; "
        f"character errors {scored.cer.errors}/{scored.cer.total}, "
        f"syllable errors {scored.ser.errors}/{scored.ser.total}, "
        f"tone errors {scored.tone_error_rate.errors}/{scored.tone_error_rate.total}"
    )


def _block(pairs: Sequence[tuple[str, str]]) -> str:
    widths = [max(len(gold), len(heard)) for gold, heard in pairs]
    marks = ["" if gold == heard else "^" * max(len(gold), len(heard)) for gold, heard in pairs]
    rows = {
        "gold": [gold for gold, _ in pairs],
        "response": [heard for _, heard in pairs],
        "": marks,
    }
    lines = (
        f"{label:8}  {' '.join(map(str.ljust, texts, widths))}".rstrip()
        for label, texts in rows.items()
    )
    return "\n".join(line for line in lines if line)
