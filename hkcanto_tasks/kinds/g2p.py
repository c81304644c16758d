"""Grapheme-to-phoneme: a sentence in characters in, its Jyutping out.

HKCanto-Eval, Appendix E.3. The scoring is `hkcanto_metrics.score_jyutping`.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from hkcanto_metrics.g2p import score_jyutping
from hkcanto_metrics.jyutping import MalformedAnswer, parse_answer

from ..data.tables import Row, as_text
from ..declarations import Subject, TaskVariant
from ..figures import figures
from ..judgements import Judgement
from ..prompts import Example
from ..samples import Sample
from . import base

_PUBLISHED = ("cer_published", "levenshtein_published")
_PARTS = ("tone", "onset", "nucleus", "coda")
_RATES = ("cer", "ser", *(f"{part}_error_rate" for part in _PARTS))


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

    def __init__(
        self, task: TaskVariant, options: Any, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(task, options, *args, **kwargs)
        self.uses_dev_rows = "release" in (options.examples, options.prompt)

    def row(self, row: Row) -> Sample:
        """Read a sentence, its number and its Jyutping."""
        number = as_text(row.find(self.columns("number"))) or ""
        text = row.text(self.columns("sentence"), "sentence")
        if not number.strip().isdecimal():
            raise row.problem(f"no number in {self.columns('number')[0]!r}")
        jyutping = row.text(self.columns("jyutping"), "jyutping")
        try:
            parse_answer(jyutping)
        except MalformedAnswer as error:
            raise row.problem("Jyutping that is malformed") from error
        return Sample(id=str(int(number)), source=text, target=jyutping)

    def examples(self, subject: Subject, rows: Sequence[Sample]) -> list[Example]:
        """Render the paper's worked examples, or the dev file's."""
        if not self.uses_dev_rows:
            rows = [
                Sample(
                    id="",
                    source=printed["sentence"],
                    target=printed["answer"],
                    cells=printed,
                )
                for printed in self.task.definition.examples
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
        # The closest accepted variant in Markdown, and what was read where they differ.
        pairs = ((gold or "–", heard or "–") for gold, heard in scored.alignment)
        shown = (
            gold if gold == heard else f"**{gold} → {heard}**" for gold, heard in pairs
        )
        note = f"**Note:** {scored.problem}.\n\n" if scored.problem else ""
        rates = {
            "character": scored.cer,
            "syllable": scored.ser,
            "tone": scored.tone_error_rate,
        }
        errors = ", ".join(
            f"{name} errors {of.errors}/{of.total}" for name, of in rates.items()
        )
        return Judgement(
            values={**values, "invalid_rate": float(not scored.valid)},
            answer=scored.extracted,
            explanation=(
                f"{note}{' '.join(shown)}\n\npublished CER {scored.cer_published:.3f}, "
                f"Levenshtein {scored.levenshtein_published:.3f}; {errors}"
            ),
            weights={name: values[name].total for name in _RATES},
            details={"best_variant": scored.variant, "problem": scored.problem},
        )
