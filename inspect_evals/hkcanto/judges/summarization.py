"""A judge of summaries that gives points on four criteria (HKCanto-Eval, Appendix G.1)."""

from collections.abc import Mapping, Sequence
from math import nan
from statistics import fmean
from typing import Annotated, Any

from inspect_ai.scorer import Metric, Scorer, mean, scorer, stderr
from pydantic import AfterValidator, Field

from hkcanto_metrics.fluency import cantonese_fluency
from hkcanto_metrics.rubric import (
    CRITERIA,
    LONGEST_SUMMARY,
    PASS,
    POINTS,
    summary_score,
)

from .panel import Form, Reply, Values, Verdict, judge, judge_texts, render

SUMMARY_METRICS: dict[str, list[Metric]] = {
    "judged_score": [mean(), stderr()],
    **{criterion: [mean(), stderr()] for criterion in CRITERIA},
    "fluency_disagreement_rate": [mean()],
    "judge_failure_rate": [mean()],
}


def _on_the_scale(points: int) -> int:
    if points not in POINTS:
        raise ValueError(f"{points} points are not on the scale, which has 5, 3 and 1")
    return points


class Rating(Form):
    """The judge's opinion on one criterion.

    Attributes:
        reason: Why the summary passes or fails.
        points: 5, 3 or 1.
    """

    reason: str
    points: Annotated[
        int,
        AfterValidator(_on_the_scale),
        Field(json_schema_extra={"enum": list(POINTS)}),
    ]


class Ratings(Reply):
    """The judge's answer.

    Attributes:
        key_points: The marking scheme for relevance: the one given, or the judge's own.
        relevance: Whether the summary has the key points.
        accuracy: Whether the original text supports the summary's statements.
        fluency: Whether the summary is fluent Cantonese.
        coherence: Whether the summary is coherent.
    """

    key_points: list[str]
    relevance: Rating
    accuracy: Rating
    fluency: Rating
    coherence: Rating

    def verdict(self, *_: str) -> Verdict:
        """Return the points and the reasons for them."""
        points = {criterion: getattr(self, criterion).points for criterion in CRITERIA}
        return Verdict(points, self.model_dump(exclude={"code"}))


@scorer(metrics=SUMMARY_METRICS)
def judged_summary(
    judgements: int = 4,
    stop: Sequence[str] = (),
) -> Scorer:
    """Score summaries by the paper's rubric, with the model in the role `grader` as the rater.

    `judged_score` is the paper's figure, from 0 to 1; the four criteria are means over the
    successful judgements, from 1 to 5. A judgement fails if two replies in a row are malformed. An
    item without a successful judgement is unscored. An empty summary scores 0, and the judge does
    not see it.

    `fluency_disagreement_rate` is the share of judgements that disagree on fluency (pass or fail)
    with the classifier behind `cantonese_fluency`.

    Args:
        judgements: Number of judgements of each item, with different seeds. A role with several
            models gets one judgement from each instead.
        stop: Stop texts: the model's answer ends before the first of them.
    """
    return judge(
        Ratings,
        summary_prompt,
        _combined,
        empty=dict.fromkeys(CRITERIA, min(POINTS)),
        judgements=judgements,
        stop=stop,
        language="yue",
    )


def summary_prompt(
    source: str,
    key_points: str,
    summary: str,
    code: str,
) -> str:
    """Render the prompt for one summary.

    Args:
        source: The text that was summarised.
        key_points: A marking scheme for it; may be empty.
        summary: The summary to judge.
        code: The call's code, see `fresh_code`.
    """
    criteria = [
        f"- **Category: {name.capitalize()}**\n\n{text}"
        for name, text in judge_texts()["criteria"].items()
    ]
    texts = {
        "original_text": source,
        "marking_scheme": key_points,
        "summary": summary,
    }
    return render(
        "summary",
        code,
        texts,
        criteria="\n\n".join(criteria),
    )


def _combined(
    summary: str, verdicts: Sequence[Values]
) -> tuple[Values, Mapping[str, Any]]:
    """Return the means over judgements, and what the classifier and the length add to them."""
    detected = cantonese_fluency(summary, max_characters=LONGEST_SUMMARY)
    metadata = {
        "length_penalty": detected.length_penalty,
        "cantonese_fluency_passed": detected.passed,
    }
    if not verdicts:
        # Inspect counts NaN as unscored.
        names = ("judged_score", *CRITERIA, "fluency_disagreement_rate")
        return dict.fromkeys(names, nan), metadata
    points = {}
    for criterion in CRITERIA:
        points[criterion] = fmean(verdict[criterion] for verdict in verdicts)
    disagreements = [
        (verdict["fluency"] == PASS) != detected.passed for verdict in verdicts
    ]
    values = {
        "judged_score": summary_score(points, detected.n_characters),
        **points,
        "fluency_disagreement_rate": fmean(disagreements),
    }
    return values, metadata
