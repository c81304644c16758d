"""Grapheme-to-phoneme: a sentence in characters in, its Jyutping out.

HKCanto-Eval, Appendix E.3. The scoring is `hkcanto_metrics.score_jyutping`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from hkcanto_metrics.g2p import JyutpingScore, score_jyutping
from hkcanto_metrics.jyutping import MalformedAnswer, parse_answer

from ..catalogue import Subject
from ..data.tables import Record
from ..errors import DataCorrupt
from ..prompts import fill
from ..records import Example, Figure, Judgement, Sample, Unit
from . import base

_COLUMNS_PER_LINE = 8


def _error(
    name: str,
    title: str,
    meaning: str,
    unit: Unit = "rate",
    *,
    pooled: bool = False,
    diagnostic: bool = False,
) -> Figure:
    return Figure(name, title, unit, False, meaning, pooled=pooled, diagnostic=diagnostic)


class Options(base.Options, frozen=True, forbid_unknown_fields=True):
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


class GraphemeToPhoneme(base.Kind[Sentence]):
    """Sentences and their Jyutping. Columns: `number`, `sentence`, `jyutping`."""

    METRICS = (
        _error(
            "cer_published",
            "CER as published",
            "What Table 3 calls CER: the share of gold syllables that are not matched at the same"
            " position, mean over sentences. It is no character error rate.",
        ),
        _error(
            "levenshtein_published",
            "Levenshtein as published",
            "Table 3's other column: 1 − normalised Indel similarity of the two strings.",
        ),
        _error("cer", "Character error rate", "Edits of characters over length.", pooled=True),
        _error("ser", "Syllable error rate", "Edits of syllables over length.", pooled=True),
        *(
            _error(
                f"{part}_error_rate",
                f"{part.capitalize()} error rate",
                f"Among aligned syllables, the share whose {part} differs.",
                pooled=True,
                diagnostic=part != "tone",
            )
            for part in ("tone", "onset", "nucleus", "coda")
        ),
        _error(
            "invalid_rate", "Invalid", "Share of responses without any Jyutping syllable.", "share"
        ),
    )
    COLUMNS: ClassVar = {name: (name,) for name in ("number", "sentence", "jyutping")}
    Options = Options
    # The release's figure.
    TOKENS = 1024

    def row(self, record: Record) -> Sentence:
        """Read a sentence, its number and its Jyutping."""
        number = record.find(self.columns("number"))
        text = record.text(self.columns("sentence"), "sentence")
        if not isinstance(number, int):
            raise record.problem(f"no number in {self.columns('number')[0]!r}")
        jyutping = record.find(self.columns("jyutping"))
        if not isinstance(jyutping, str) or not jyutping.strip():
            raise DataCorrupt(
                f"{record.where} has no answer in {self.columns('jyutping')[0]!r}: the release "
                "blanked its answers in later commits. Run `hkcanto data fetch hkcanto`, which "
                "takes them from commit b047f9f."
            )
        try:
            parse_answer(jyutping)
        except MalformedAnswer as error:
            raise record.problem("Jyutping that is malformed") from error
        return Sentence(number, text, jyutping)

    def check(self, rows: Sequence[Sentence], file: str) -> None:
        """Refuse numbers that are not all different."""
        numbers = Counter(row.number for row in rows)
        if repeated := sorted(number for number, count in numbers.items() if count > 1):
            raise DataCorrupt(
                f"{file}: the numbers {repeated} in {self.columns('number')[0]!r} occur more than "
                "once. Correct the file."
            )

    def sample(self, question: str, row: Sentence) -> Sample:
        """Render a scored sentence."""
        return Sample(str(row.number), fill(question, {"sentence": row.text}), row.jyutping)

    def examples(self, subject: Subject, rows: Sequence[Sentence]) -> list[Example]:
        """Render the paper's worked examples, or the dev file's."""
        if self.options.examples == "paper":
            printed = self.task.definition.examples
            rows = [Sentence(0, example["sentence"], example["answer"]) for example in printed]
        return super().examples(subject, rows)

    def example(self, subject: Subject, row: Sentence, number: int) -> Example:
        """Render a sentence with its Jyutping."""
        text = self.template.example or self.template.question
        values = {**self.names(subject), "number": str(number), "sentence": row.text}
        return Example(fill(text, values), row.jyutping)

    def score(self, answer: str, sample: Sample) -> Judgement:
        """Judge an answer against a gold string with its variants in `(a|b)`.

        Examples:
            >>> from hkcanto_tasks.task import condition
            >>> condition("hkcanto_g2p").judge("nei5 hou2", "nei5 hou2").values["cer_published"]
            0.0
        """
        scored = score_jyutping(answer, sample.target)
        rates = {
            metric.name: getattr(scored, metric.name) for metric in self.METRICS if metric.pooled
        }
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
