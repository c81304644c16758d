"""Grapheme-to-phoneme: a sentence in characters in, its Jyutping out.

HKCanto-Eval, Appendix E.3. The scoring is `hkcanto_metrics.score_jyutping`.
"""

from collections.abc import Sequence
from pathlib import Path

from hkcanto_metrics.g2p import JyutpingScore, score_jyutping
from hkcanto_metrics.jyutping import MalformedAnswer, parse_answer

from ..catalogue import TaskEntry
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


def read(path: Path, entry: TaskEntry) -> list[Sample]:
    """Read a release file of sentences and their Jyutping.

    Args:
        path: JSON lines with the keys `#`, `Honzi` and `Jyutping`.
        entry: The task, for its name and prompt.

    Raises:
        DataCorrupt: A row lacks a key, its answer is blank or malformed, or a number is repeated.
    """
    return [
        Sample(
            id=f"{entry.name}/{number}",
            question=entry.prompt.question.format(sentence=sentence),
            target=answer,
        )
        for number, sentence, answer in _rows(path)
    ]


def examples(path: Path | None, entry: TaskEntry) -> list[Example]:
    """Return the worked examples in order, numbered from 1."""
    pairs = (
        [(example["sentence"], example["answer"]) for example in entry.examples]
        if path is None
        else [(sentence, answer) for _, sentence, answer in _rows(path)]
    )
    return [
        Example(entry.prompt.example.format(number=number, sentence=sentence), answer)
        for number, (sentence, answer) in enumerate(pairs, start=1)
    ]


def score(response: str, target: str) -> Judgement:
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


def _rows(path: Path) -> list[tuple[int, str, str]]:
    rows: list[tuple[int, str, str]] = []
    for line, row in enumerate(read_json_lines(path), start=1):
        where = f"{path}, row {line}"
        try:
            number, sentence, answer = row["#"], row["Honzi"], row.get("Jyutping")
        except KeyError as error:
            raise DataCorrupt(
                f"{where} has no key {error}: expected '#', 'Honzi' and 'Jyutping'."
            ) from error
        if not isinstance(number, int) or not isinstance(sentence, str):
            raise DataCorrupt(f"{where}: '#' must be a number and 'Honzi' a text, not {row}.")
        if not isinstance(answer, str) or not answer.strip():
            raise DataCorrupt(
                f"{where} has no answer in 'Jyutping': the release blanked its answers in later "
                "commits. Run `hkcanto data fetch hkcanto`, which takes them from commit b047f9f."
            )
        try:
            parse_answer(answer)
        except MalformedAnswer as error:
            raise DataCorrupt(f"{where}, 'Jyutping': {error}") from error
        rows.append((number, sentence, answer))
    numbers = [number for number, _, _ in rows]
    if len(set(numbers)) != len(numbers):
        repeated = sorted({number for number in numbers if numbers.count(number) > 1})
        raise DataCorrupt(f"{path}: the numbers {repeated} in '#' occur twice.")
    return rows


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
