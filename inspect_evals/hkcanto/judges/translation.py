"""A judge of translations that labels error spans (HKCanto-Eval, Appendix F.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from math import nan
from statistics import fmean
from typing import Annotated, Any, Literal

from inspect_ai.scorer import Metric, Scorer, mean, scorer, stderr
from pydantic import Field

from hkcanto_metrics.error_spans import (
    OMISSION,
    ErrorCategory,
    ErrorSpan,
    locate,
    translation_accuracy,
)

from .panel import (
    Form,
    Reply,
    Unusable,
    Values,
    Verdict,
    judge,
    judge_texts,
    neutralize,
    render,
)

Direction = Literal["yue_en", "en_yue", "yue_zh", "zh_yue"]

TRANSLATION_METRICS: dict[str, list[Metric]] = {
    "judged_accuracy": [mean(), stderr()],
    "judge_failure_rate": [mean()],
}


class LabelledError(Form):
    """An error as the judge writes it down.

    Attributes:
        text: The stretch that holds it.
        occurrence: Which of the places of that stretch is meant, from 1.
        to_end: Whether it goes on to the end, so that ``text`` is only its beginning. No judge
            could copy what a model in a loop has written.
        reason: Why it is one.
        category: The paper's name for its kind.
    """

    text: str
    occurrence: int
    to_end: bool = False
    reason: str
    category: ErrorCategory

    def span(
        self,
        source: str,
        translation: str,
    ) -> ErrorSpan:
        """Find the error in the translation, or an omission in the source.

        Raises:
            Unusable: The quoted text is not there.
        """
        side = "source" if self.category == OMISSION else "translation"
        text = source if self.category == OMISSION else translation
        try:
            start, end = locate(
                neutralize(text), neutralize(self.text), self.occurrence
            )
        except ValueError as problem:
            raise Unusable(
                f"{self.category} is labelled in the {side}, which does not contain it: {problem}"
            ) from problem
        return ErrorSpan(self.category, start, len(text) if self.to_end else end)


class LabelledErrors(Reply):
    """The judge's answer: at most five errors, as the paper's annotators gave."""

    errors: Annotated[list[LabelledError], Field(max_length=5)]

    def verdict(
        self,
        source: str,
        text: str,
    ) -> Verdict:
        """Return the paper's figure for a translation with these errors."""
        spans = [error.span(source, text) for error in self.errors]
        omissions = [span for span in spans if span.category == OMISSION]
        others = [span for span in spans if span.category != OMISSION]
        terms = translation_accuracy(text, others, omissions)
        records = []
        for error, span in zip(self.errors, spans, strict=True):
            records.append({**error.model_dump(), **asdict(span)})
        values = {"judged_accuracy": terms.value}
        return Verdict(values, {**values, "terms": asdict(terms), "errors": records})


@scorer(metrics=TRANSLATION_METRICS)
def judged_translation(
    direction: Direction,
    judgements: int = 4,
    stop: Sequence[str] = (),
) -> Scorer:
    """Score translations by formula (1), with the model in the role `grader` as the annotator.

    As in the paper, text around the translation is an error ("Additional words"), unless it is more
    than half of the output: then it is removed before the formula.

    `judged_accuracy` is the mean over the successful judgements. A judgement fails if two replies
    in a row are malformed or label text that is not there. An item with no successful judgement is
    unscored, not zero. An empty translation scores 0 and is not shown to the judge.

    Args:
        direction: The languages to translate from and into, e.g. `zh_yue`.
        judgements: Number of judgements of each item, with different seeds; the paper had four
            annotators. A role with several models gets one judgement from each instead.
        stop: Stop texts: the model's answer ends before the first of them.
    """
    return judge(
        LabelledErrors,
        partial(translation_prompt, direction),
        _combined,
        empty={"judged_accuracy": 0.0},
        judgements=judgements,
        stop=stop,
    )


def translation_prompt(
    direction: Direction,
    source: str,
    reference: str,
    translation: str,
    code: str,
) -> str:
    """Render the prompt for one translation.

    Args:
        direction: The languages to translate from and into.
        source: The text that was translated.
        reference: A correct translation; may be empty.
        translation: The translation to judge.
        code: The call's code, see `fresh_code`.
    """
    source_code, target_code = direction.split("_")
    languages = judge_texts()["languages"]
    texts = {
        "source": source,
        "reference_translation": reference,
        "translation": translation,
    }
    return render(
        "translation",
        code,
        texts,
        source_language=languages[source_code],
        target_language=languages[target_code],
    )


def _combined(_: str, verdicts: Sequence[Values]) -> tuple[Values, Mapping[str, Any]]:
    values = [verdict["judged_accuracy"] for verdict in verdicts]
    return {"judged_accuracy": fmean(values) if values else nan}, {}
