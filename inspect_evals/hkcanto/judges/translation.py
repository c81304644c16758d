"""A judge of translations, which labels error spans (HKCanto-Eval, Appendix F.1)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import nan
from statistics import fmean
from typing import Annotated, Any, Literal

from inspect_ai.scorer import Metric, Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from pydantic import BaseModel, ConfigDict, Field

from hkcanto_metrics.error_spans import (
    OMISSION,
    ErrorCategory,
    ErrorSpan,
    TranslationAccuracy,
    locate,
    translation_accuracy,
)

from .panel import (
    Candidate,
    Form,
    Judgement,
    Reply,
    Unusable,
    ask_panel,
    at_least_one,
    failure_rate,
    judged_text,
    source_text,
)
from .prompts import fill, judge_texts, neutralize, quote

Direction = Literal["yue_en", "en_yue", "yue_zh", "zh_yue"]

TRANSLATION_METRICS: dict[str, list[Metric]] = {
    "judged_accuracy": [mean(), stderr()],
    "judge_failure_rate": [mean()],
}


class LabelledError(BaseModel):
    """An error as the judge writes it down.

    Attributes:
        text: The stretch that holds it.
        occurrence: Which of the places of that stretch is meant, from 1.
        to_end: Whether it goes on to the end, so that ``text`` is only its beginning. No judge
            could copy what a model in a loop has written.
        reason: Why it is one.
        category: The paper's name for its kind.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str
    occurrence: int
    to_end: bool = False
    reason: str
    category: ErrorCategory


class LabelledErrors(Reply):
    """The judge's answer: at most five errors, as the paper's annotators gave."""

    errors: Annotated[list[LabelledError], Field(max_length=5)]


@dataclass(frozen=True, slots=True)
class Labels:
    """A verified answer.

    Attributes:
        errors: The errors as the judge wrote them down, each with where it stands.
        accuracy: What formula (1) makes of them.
    """

    errors: Sequence[tuple[LabelledError, ErrorSpan]]
    accuracy: TranslationAccuracy


@scorer(metrics=TRANSLATION_METRICS)
def judged_translation(
    direction: Direction,
    judgements: int = 4,
    stop: Sequence[str] = (),
    structured: bool = True,
) -> Scorer:
    """Score translations by formula (1), with the model of the role `grader` as the annotator.

    `judged_accuracy` is the mean over the judgements that succeeded. A judgement fails when two
    answers in a row are malformed or label text that is not there; an item where all fail is
    unscored, which is not zero. An empty translation scores 0 and is not shown to the judge.

    Args:
        direction: From which language to which, e.g. `zh_yue`.
        judgements: Judgements of each item, with different seeds; the paper had four annotators.
            A role with several models gets one judgement from each instead.
        stop: Texts before which the model's answer ends.
        structured: Whether to send a JSON schema along. Providers that know none ignore it; turn
            it off for one that refuses it.
    """
    at_least_one(judgements)

    async def score(state: TaskState, target: Target) -> Score:
        source = source_text(state)
        candidate = judged_text(state, stop, source)
        translation = candidate.text
        if not translation:
            return _score(candidate, [])

        def prompt(code: str) -> str:
            return translation_prompt(direction, source, target.text, translation, code)

        def check(reply: LabelledErrors) -> Labels:
            return _labels(reply.errors, source, translation)

        form = Form(prompt, LabelledErrors, check, structured)
        about = (state.sample_id, state.epoch, source, translation)
        return _score(candidate, await ask_panel(form, judgements, about))

    return score


def translation_prompt(
    direction: Direction, source: str, reference: str, translation: str, code: str
) -> str:
    """Render the prompt for one translation.

    Args:
        direction: From which language to which.
        source: The text that was translated.
        reference: A translation that is right; may be empty.
        translation: The one to judge.
        code: The call's code, see `fresh_code`.
    """
    texts = judge_texts()
    source_language, target_language = direction.split("_")
    blocks = {"source": source, "reference_translation": reference, "translation": translation}
    return fill(
        texts.translation.prompt,
        source_language=texts.languages[source_language],
        target_language=texts.languages[target_language],
        rubric=texts.translation.rubric,
        data=fill(texts.data, code=code),
        texts=quote(blocks, code),
        code=code,
    )


def _labels(errors: Sequence[LabelledError], source: str, translation: str) -> Labels:
    spans = [_span(error, source, translation) for error in errors]
    return Labels(
        errors=tuple(zip(errors, spans, strict=True)),
        accuracy=translation_accuracy(
            translation,
            [span for span in spans if span.category != OMISSION],
            [span for span in spans if span.category == OMISSION],
        ),
    )


def _span(error: LabelledError, source: str, translation: str) -> ErrorSpan:
    side, text = ("source", source) if error.category == OMISSION else ("translation", translation)
    try:
        start, end = locate(neutralize(text), neutralize(error.text), error.occurrence)
    except ValueError as problem:
        raise Unusable(
            f"{error.category} is labelled in the {side}, where this does not stand: {problem}"
        ) from problem
    return ErrorSpan(error.category, start, len(text) if error.to_end else end)


def _score(candidate: Candidate, judgements: Sequence[Judgement[Labels]]) -> Score:
    values = [each.verdict.accuracy.value for each in judgements if each.verdict]
    failed = bool(judgements) and not values
    return Score(
        value={
            "judged_accuracy": fmean(values) if values else nan if failed else 0.0,
            "judge_failure_rate": failure_rate(judgements),
        },
        answer=candidate.text,
        explanation="\n\n".join(map(_explanation, judgements)) or "The translation is empty.",
        reason="grader_failed" if failed else None if candidate.text else "no_response",
        metadata={
            "judgements": [_record(each) for each in judgements],
            "shown": candidate.shown,
        },
    )


def _explanation(judgement: Judgement[Labels]) -> str:
    who = f"**{judgement.grader}, seed {judgement.seed}:**"
    if not judgement.verdict:
        return f"{who} no judgement. {judgement.failure}"
    terms = judgement.verdict.accuracy
    errors = (
        f"\n* {error.category} 「{error.text}{'…' if error.to_end else ''}」: {error.reason}"
        for error, _ in judgement.verdict.errors
    )
    return (
        f"{who} ({terms.target_length} - {terms.target_errors}) / "
        f"({terms.target_length} + {terms.source_errors}) = {terms.value:.3f}{''.join(errors)}"
    )


def _record(judgement: Judgement[Labels]) -> dict[str, Any]:
    record: dict[str, Any] = {"grader": judgement.grader, "seed": judgement.seed}
    if not judgement.verdict:
        return {**record, "failure": judgement.failure}
    errors = [
        {**error.model_dump(), "start": span.start, "end": span.end}
        for error, span in judgement.verdict.errors
    ]
    terms = judgement.verdict.accuracy
    return {**record, "judged_accuracy": terms.value, "terms": asdict(terms), "errors": errors}
