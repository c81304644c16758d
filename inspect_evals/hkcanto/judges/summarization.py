"""A judge of summaries, which gives points by four criteria (HKCanto-Eval, Appendix G.1)."""

from collections.abc import Iterable, Sequence
from math import nan
from statistics import fmean
from typing import Annotated, Any

from inspect_ai.scorer import Metric, Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hkcanto_metrics.fluency import cantonese_fluency
from hkcanto_metrics.rubric import (
    COMPLETE_FAILURE,
    CRITERIA,
    LONGEST_SUMMARY,
    PASS,
    POINTS,
    summary_score,
)

from .panel import (
    Candidate,
    Form,
    Judgement,
    Reply,
    ask_panel,
    at_least_one,
    failure_rate,
    judged_text,
    source_text,
)
from .prompts import fill, judge_texts, quote

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


class Rating(BaseModel):
    """The judge's opinion on one criterion.

    Attributes:
        reason: Why the summary passes or fails.
        points: 5, 3 or 1.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    reason: str
    points: Annotated[
        int, AfterValidator(_on_the_scale), Field(json_schema_extra={"enum": list(POINTS)})
    ]


class Ratings(Reply):
    """The judge's answer.

    Attributes:
        key_points: The marking scheme for relevance: the one given, or the judge's own.
        relevance: Whether the key points are there.
        accuracy: Whether what it says is in the original text.
        fluency: Whether it is fluent Cantonese.
        coherence: Whether it hangs together.
    """

    key_points: list[str]
    relevance: Rating
    accuracy: Rating
    fluency: Rating
    coherence: Rating

    def ratings(self) -> dict[str, Rating]:
        """Return criterion → rating."""
        return {criterion: getattr(self, criterion) for criterion in CRITERIA}

    def points(self) -> dict[str, int]:
        """Return criterion → points."""
        return {criterion: rating.points for criterion, rating in self.ratings().items()}


@scorer(metrics=SUMMARY_METRICS)
def judged_summary(
    judgements: int = 4, stop: Sequence[str] = (), structured: bool = True
) -> Scorer:
    """Score summaries by the paper's rubric, with the model of the role `grader` as the rater.

    `judged_score` is the paper's figure, from 0 to 1; the four criteria are means over the
    judgements that succeeded, from 1 to 5. A judgement fails when two answers in a row are
    malformed; an item where all fail is unscored, which is not zero. An empty summary scores 0 and
    is not shown to the judge.

    `fluency_disagreement_rate` is the share of the judgements whose pass or fail in fluency is not
    that of the classifier behind `cantonese_fluency`.

    Args:
        judgements: Judgements of each item, with different seeds. A role with several models gets
            one judgement from each instead.
        stop: Texts before which the model's answer ends.
        structured: Whether to send a JSON schema along. Providers that know none ignore it; turn
            it off for one that refuses it.
    """
    at_least_one(judgements)

    async def score(state: TaskState, target: Target) -> Score:
        source = source_text(state)
        candidate = judged_text(state, stop, source)
        summary = candidate.text
        if not summary:
            return _score(candidate, [])

        def prompt(code: str) -> str:
            return summary_prompt(source, target.text, summary, code)

        form = Form(prompt, Ratings, lambda ratings: ratings, structured)
        about = (state.sample_id, state.epoch, source, summary)
        return _score(candidate, await ask_panel(form, judgements, about))

    return score


def summary_prompt(source: str, key_points: str, summary: str, code: str) -> str:
    """Render the prompt for one summary.

    Args:
        source: The text that was summarised.
        key_points: A marking scheme for it; may be empty.
        summary: The one to judge.
        code: The call's code, see `fresh_code`.
    """
    texts = judge_texts()
    criteria = (
        f"- **Category: {criterion.capitalize()}**\n\n{text.strip()}"
        for criterion, text in texts.summary.criteria.items()
    )
    return fill(
        texts.summary.prompt,
        instructions=texts.summary.instructions,
        scale=texts.summary.scale,
        criteria="\n\n".join(criteria),
        data=fill(texts.data, code=code),
        texts=quote(
            {"original_text": source, "marking_scheme": key_points, "summary": summary}, code
        ),
        code=code,
    )


def _score(candidate: Candidate, judgements: Sequence[Judgement[Ratings]]) -> Score:
    summary = candidate.text
    verdicts = [each.verdict.points() for each in judgements if each.verdict]
    if not summary:
        verdicts = [dict.fromkeys(CRITERIA, COMPLETE_FAILURE)]
    detected = cantonese_fluency(summary, max_characters=LONGEST_SUMMARY)
    points = {name: _mean(each[name] for each in verdicts) for name in CRITERIA}
    return Score(
        value={
            "judged_score": summary_score(points, detected.n_characters) if verdicts else nan,
            **points,
            "fluency_disagreement_rate": _mean(
                (each["fluency"] == PASS) != detected.passed for each in verdicts
            ),
            "judge_failure_rate": failure_rate(judgements),
        },
        answer=summary,
        explanation="\n\n".join(map(_explanation, judgements)) or "The summary is empty.",
        reason="no_response" if not summary else None if verdicts else "grader_failed",
        metadata={
            "judgements": [_record(each) for each in judgements],
            "shown": candidate.shown,
            "length_penalty": detected.length_penalty,
            "cantonese_fluency_passed": detected.passed,
        },
    )


def _mean(values: Iterable[float]) -> float:
    """Mean of the judgements' values; NaN, which Inspect counts as unscored, if all failed."""
    collected = list(values)
    return fmean(collected) if collected else nan


def _explanation(judgement: Judgement[Ratings]) -> str:
    who = f"**{judgement.grader}, seed {judgement.seed}:**"
    if not judgement.verdict:
        return f"{who} no judgement. {judgement.failure}"
    ratings = (
        f"\n* {criterion} {rating.points}: {rating.reason}"
        for criterion, rating in judgement.verdict.ratings().items()
    )
    return f"{who}{''.join(ratings)}"


def _record(judgement: Judgement[Ratings]) -> dict[str, Any]:
    record: dict[str, Any] = {"grader": judgement.grader, "seed": judgement.seed}
    if not judgement.verdict:
        return {**record, "failure": judgement.failure}
    return {**record, **judgement.verdict.model_dump(exclude={"code"})}
