"""Grapheme-to-phoneme: a sentence in characters in, its Jyutping out.

HKCanto-Eval, Appendix E.3. The scoring is `hkcanto_metrics.score_jyutping`.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from hkcanto_metrics.g2p import JyutpingScore, score_jyutping
from hkcanto_metrics.jyutping import MalformedAnswer, parse_answer

from ..data.tables import Row, as_text
from ..declarations import Subject
from ..errors import DataCorrupt
from ..figures import figures
from ..judgements import Judgement
from ..prompts import Example
from ..samples import Sample
from . import base

_COLUMNS_PER_LINE = 8

_PUBLISHED = ("cer_published", "levenshtein_published")
_RATES = (
    *("cer", "ser"),
    *("tone_error_rate", "onset_error_rate", "nucleus_error_rate", "coda_error_rate"),
)


class Options(base.PromptOptions, frozen=True, forbid_unknown_fields=True):
    """The options of the kind.

    Attributes:
        examples: `paper` for the worked examples that the paper prints, `release` for the rows of
            the release's dev file, in file order. With `prompt=release`, they are always those.
    """

    examples: Literal["paper", "release"] = "paper"


class GraphemeToPhoneme(base.Kind):
    """Sentences and their Jyutping. Columns: `number`, `sentence`, `jyutping`."""

    FIGURES = figures(*_PUBLISHED, *_RATES, "invalid_rate")
    USES = ("examples",)
    COLUMNS: ClassVar = {name: (name,) for name in ("number", "sentence", "jyutping")}
    Options = Options
    VALUES: ClassVar = {"sentence": "source"}
    TARGET = "nei5 hou2"
    GOLD = True
    # The release's limit.
    TOKENS = 1024

    def row(self, row: Row) -> Sample:
        """Read a sentence, its number and its Jyutping."""
        number = as_text(row.find(self.columns("number"))) or ""
        text = row.text(self.columns("sentence"), "sentence")
        if not number.strip().isdecimal():
            raise row.problem(f"no number in {self.columns('number')[0]!r}")
        jyutping = row.find(self.columns("jyutping"))
        if not isinstance(jyutping, str) or not jyutping.strip():
            raise DataCorrupt(
                f"{row.where} has no answer in {self.columns('jyutping')[0]!r}: the release "
                "blanked its answers in later commits. Run `hkcanto data fetch hkcanto`, which "
                "takes them from commit b047f9f."
            )
        try:
            parse_answer(jyutping)
        except MalformedAnswer as error:
            raise row.problem("Jyutping that is malformed") from error
        return Sample(id=str(int(number)), source=text, target=jyutping)

    @property
    def uses_dev_rows(self) -> bool:
        """Whether the prompt shows rows of the dev file."""
        return "release" in (self.options.examples, self.options.prompt)

    def examples(self, subject: Subject, rows: Sequence[Sample]) -> list[Example]:
        """Render the paper's worked examples, or the dev file's."""
        if not self.uses_dev_rows:
            printed = self.task.definition.examples
            rows = [
                Sample(id="", source=e["sentence"], target=e["answer"], cells=e) for e in printed
            ]
        return super().examples(subject, rows)

    def gold(self, sample: Sample) -> str:
        """Return the first of the accepted variants."""
        return " ".join(parse_answer(sample.target)[0])

    def score(self, answer: str, sample: Sample) -> Judgement:
        """Judge an answer against a gold string with its variants in `(a|b)`.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> hello = Sample(id="", source="你好", target="nei5 hou2")
            >>> task_as_run("hkcanto_g2p").judge("nei5 hou2", hello).values["cer_published"]
            0.0
        """
        scored = score_jyutping(answer, sample.target)
        values = {name: getattr(scored, name) for name in (*_PUBLISHED, *_RATES)}
        return Judgement(
            values={**values, "invalid_rate": float(not scored.valid)},
            answer=scored.extracted,
            explanation=_explanation(scored),
            weights={name: values[name].total for name in _RATES},
            details={"best_variant": scored.variant, "problem": scored.problem},
        )


def _explanation(scored: JyutpingScore) -> str:
    """Align the closest accepted variant with the response, in Markdown."""
    columns = []
    for gold, heard in scored.alignment:
        pair = gold or "-", heard or "-"
        width = max(map(len, pair))
        marks = "" if gold == heard else "^" * width
        columns.append([text.ljust(width) for text in (*pair, marks)])
    diff = ""
    for start in range(0, len(columns), _COLUMNS_PER_LINE):
        lines = zip(*columns[start : start + _COLUMNS_PER_LINE], strict=True)
        for label, texts in zip(("gold", "response", ""), lines, strict=True):
            text = f"{label:8}  {' '.join(texts)}".rstrip()
            diff += f"{text}\n" if text else ""
        diff += "\n"
    note = f"**Note:** {scored.problem}.\n" if scored.problem else ""
    return (
        f"{note}```text\n{diff.rstrip()}\n```\n"
        f"published CER {scored.cer_published:.3f}, "
        f"Levenshtein {scored.levenshtein_published:.3f}; "
        f"character errors {scored.cer.errors}/{scored.cer.total}, "
        f"syllable errors {scored.ser.errors}/{scored.ser.total}, "
        f"tone errors {scored.tone_error_rate.errors}/{scored.tone_error_rate.total}"
    )
