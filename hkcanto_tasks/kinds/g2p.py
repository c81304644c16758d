"""Grapheme-to-phoneme: a sentence in characters in, its Jyutping out.

HKCanto-Eval, Appendix E.3. The scoring is `hkcanto_metrics.score_jyutping`.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import hkcanto_metrics
from hkcanto_metrics.jyutping import (
    MalformedAnswer,
    normalize_answer,
    parse_answer,
)

from ..data.tables import Row, as_text
from ..declarations import JyutpingDefinition, Subject
from ..figures import figures
from ..judgements import Judgement
from ..prompts import Example
from ..samples import Sample
from . import base

_PUBLISHED = ("cer_published", "levenshtein_published")
_PARTS = ("tone", "onset", "nucleus", "coda")
_RATES = ("cer", "ser", *(f"{part}_error_rate" for part in _PARTS))


class JyutpingOptions(base.PromptOptions, frozen=True, forbid_unknown_fields=True):
    """The options of the kind.

    Attributes:
        examples: `paper` for the worked examples that the paper prints, `release` for the rows of
            the release's dev file, in file order. With `prompt=release`, they are always those.
    """

    examples: Literal["paper", "release"] = "paper"


class GraphemeToPhoneme(base.Kind):
    """Sentences and their Jyutping. Columns: `sentence`, `jyutping`; optional: `number`."""

    FIGURES = figures(*_PUBLISHED, *_RATES, "invalid_rate")
    COLUMNS: ClassVar = {
        "number": ("number",),
        "sentence": ("sentence",),
        "jyutping": ("jyutping",),
    }
    Options = JyutpingOptions
    Definition = JyutpingDefinition
    VALUES: ClassVar = {"sentence": "source"}
    TARGET = "nei5 hou2"
    GOLD = True
    TOKENS = 1024  # the release's limit

    definition: JyutpingDefinition
    options: JyutpingOptions

    def set_up(self) -> None:
        """Take worked examples from the release if an option says so."""
        self.uses_dev_rows = "release" in (self.options.examples, self.options.prompt)

    def row(self, row: Row) -> Sample:
        """Read a sentence, its number and its Jyutping."""
        number = as_text(row.find(self.columns("number"))) or ""
        if "number" not in self.definition.columns and not row.has("number"):
            number = str(row.number)
        text = row.text(self.columns("sentence"), "sentence")
        if not number.strip().isdecimal():
            raise row.problem(f"no number in {self.columns('number')[0]!r}")
        jyutping = row.text(self.columns("jyutping"), "jyutping")
        try:
            parse_answer(jyutping)
            if not self.definition.answers_as_written:
                jyutping = normalize_answer(jyutping)
        except MalformedAnswer as error:
            form = "expected nei5 hou2, and alternatives as (ze2|ze5)"
            raise row.problem(f"Jyutping that is malformed: {form}") from error
        return Sample(
            id=str(int(number)),
            source=text,
            target=jyutping,
        )

    def examples(
        self,
        subject: Subject,
        rows: Sequence[Sample],
    ) -> list[Example]:
        """Render the paper's worked examples, or the dev file's."""
        if not self.uses_dev_rows:
            rows = [
                Sample(
                    id="",
                    source=example["sentence"],
                    target=example["answer"],
                    cells=example,
                )
                for example in self.definition.examples
            ]
        return super().examples(subject, rows)

    def gold(self, sample: Sample) -> str:
        """Return the first of the accepted variants."""
        return " ".join(parse_answer(sample.target)[0])

    def score(
        self,
        answer: str,
        sample: Sample,
    ) -> Judgement:
        """Judge an answer against a target with its variants in `(a|b)`.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> hello = Sample(id="", source="你好", target="nei5 hou2")
            >>> task_as_run("hkcanto_g2p").judge("nei5 hou2", hello).values["cer_published"]
            0.0
        """
        score = hkcanto_metrics.score_jyutping(answer, sample.target)
        values = {name: getattr(score, name) for name in (*_PUBLISHED, *_RATES)}
        return Judgement(
            values={**values, "invalid_rate": float(not score.valid)},
            answer=score.extracted,
            explanation=_explanation(score),
            weights={name: values[name].total for name in _RATES},
            details={"best_variant": score.variant, "problem": score.problem},
        )


def _explanation(score: "hkcanto_metrics.JyutpingScore") -> str:
    """Return the closest accepted variant in Markdown, and what was read where they differ."""
    note = f"**Note:** {score.problem}.\n\n" if score.problem else ""
    syllables = []
    for target, read in score.alignment:
        if target == read:
            syllables.append(target or "–")
        else:
            syllables.append(f"**{target or '–'} → {read or '–'}**")
    rates = {
        "character": score.cer,
        "syllable": score.ser,
        "tone": score.tone_error_rate,
    }
    errors = ", ".join(
        f"{name} errors {rate.errors}/{rate.total}" for name, rate in rates.items()
    )
    return (
        f"{note}{' '.join(syllables)}\n\npublished CER {score.cer_published:.3f}, "
        f"Levenshtein {score.levenshtein_published:.3f}; {errors}"
    )
