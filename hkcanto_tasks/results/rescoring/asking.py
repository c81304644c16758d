"""Asking a model about logged answers: letters that the rules left unread, and rubrics."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from hkcanto_metrics.reasoning import split_reasoning

from ...adapters.model_calls import LetterReply, LoggedAnswer, ModelCalls, Progress
from ...adapters.second_look import ACCURACY, SHARES
from ...errors import OptionError
from ...kinds.base import Kind
from ...kinds.judged import Judged, Said
from ...kinds.multiple_choice import MultipleChoice
from .runs import RescoredRun, Scored


def reread(
    runs: Sequence[RescoredRun],
    reader: str,
    progress: Progress,
) -> None:
    """Add the figures `read`, `forced`, `none` and `acc_reread` of each answer to runs.

    Args:
        runs: Runs that were scored; a run without letters to read stays as it is.
        reader: The model, as Inspect names it.
        progress: Called with the number of replies so far and the total.

    Raises:
        OptionError: Inspect is missing, the runs lack letters, or the model cannot be called.
    """
    lettered = [run for run in runs if _is_lettered(run.kind)]
    if not lettered:
        raise OptionError(
            f"--reader {reader} is only for multiple choice; leave it out."
        )
    answers = []
    for run in lettered:
        for scored in run.scored:
            text = _unread_text(scored)
            answers.append((scored, LoggedAnswer(run.kind, scored.item.sample, text)))
    calls = _model_calls("--reader", reader)
    replies = _replies(
        "--reader",
        reader,
        calls.read_letters,
        answers,
        progress,
    )
    for run in lettered:
        _add_letters(run, replies, reader)


def _is_lettered(kind: Kind) -> bool:
    """Return whether an answer is one letter."""
    return isinstance(kind, MultipleChoice) and not kind.SEVERAL


def _unread_text(scored: Scored) -> str:
    """Return a response without its reasoning; empty if the rules have read its answer."""
    if scored.judgement.answer:
        return ""
    split = split_reasoning(scored.item.response, scored.item.reasoning)
    return split.answer.strip()


def _add_letters(
    run: RescoredRun,
    replies: Mapping[int, LetterReply],
    reader: str,
) -> None:
    """Add the figures of a second look to a run's responses, and a remark on it to the run."""
    shown = 0
    forced = 0
    failed = 0
    for scored in run.scored:
        reply = replies.get(id(scored))
        if reply:
            shown += 1
            forced += bool(reply.letter)
            failed += bool(reply.failure)
        values = _second_look_values(scored, reply)
        further = {**scored.item.further, **values}
        scored.item = scored.item._replace(further=further)
    run.remarks.append(
        f"{reader} read {forced} of {shown:,} answers that the rules left unread; "
        f"{failed} could not be asked"
    )


def _second_look_values(
    scored: Scored,
    reply: LetterReply | None,
) -> dict[str, float | None]:
    figures = (*SHARES, ACCURACY)
    if reply and reply.failure:
        return dict.fromkeys(figures)
    read = scored.judgement.answer
    forced = reply.letter if reply else ""
    answer = read or forced
    is_right = answer == scored.item.sample.target
    flags = (bool(read), bool(forced), not answer, is_right)
    return dict(zip(figures, map(float, flags), strict=True))


def grade(
    runs: Sequence[RescoredRun],
    grader: str,
    progress: Progress,
) -> None:
    """Have a model judge the answers of runs; runs without a rubric stay as they are.

    Args:
        runs: Runs that were scored.
        grader: The model, as Inspect names it.
        progress: Called with the number of replies so far and the total.

    Raises:
        OptionError: Inspect is missing, the runs lack a rubric, or the model cannot be called.
    """
    with_rubric = [(run, run.kind) for run in runs if isinstance(run.kind, Judged)]
    if not with_rubric:
        raise OptionError(
            f"--grader {grader} is only for tasks with a rubric; leave it out."
        )
    answers = []
    for run, kind in with_rubric:
        for scored in run.scored:
            text = scored.judgement.answer  # empty if no judge is shown it
            answers.append((scored, LoggedAnswer(kind, scored.item.sample, text)))
    calls = _model_calls("--grader", grader)
    replies = _replies(
        "--grader",
        grader,
        calls.grade,
        answers,
        progress,
    )
    for run, kind in with_rubric:
        _add_judgements(
            run,
            kind,
            replies,
            grader,
        )


def _add_judgements(
    run: RescoredRun,
    kind: Judged,
    replies: Mapping[int, Said],
    grader: str,
) -> None:
    """Add a judge's judgements to a run's responses, and its name to the signature."""
    unjudged = 0.0
    for scored in run.scored:
        reply = replies.get(id(scored))
        scored.judgement = kind.judged(scored.judgement, [reply] if reply else [])
        unjudged += scored.judgement.values["unjudged_rate"] or 0
    run.remarks.append(
        f"judged by {grader}; {unjudged:.0f} of {len(run.scored):,} answers are unjudged"
    )
    signature = run.run.signature.with_option("judge", grader if replies else "")
    run.run = replace(run.run, signature=signature)


# ---------------------------------------------------------------------- calls of a model


class _Reply(Protocol):
    @property
    def failure(self) -> str: ...


_AnyKind = TypeVar("_AnyKind", bound=Kind)
_AnyReply = TypeVar("_AnyReply", bound=_Reply)


def _model_calls(option: str, model: str) -> ModelCalls:
    """Return the adapter that can call a model: Inspect's.

    Raises:
        OptionError: Inspect is missing.
    """
    try:
        import hkcanto.model_calls as inspect_calls
    except ImportError as error:
        raise OptionError(
            f"{option} {model}: models are called through Inspect, which cannot be imported "
            f"({error}). pip install 'hkcanto[inspect]', or leave {option} out."
        ) from error
    return inspect_calls


def _replies(
    option: str,
    model: str,
    call: Callable[
        [str, Sequence[LoggedAnswer[_AnyKind]], Progress], Sequence[_AnyReply]
    ],
    answers: Sequence[tuple[Scored, LoggedAnswer[_AnyKind]]],
    progress: Progress,
) -> dict[int, _AnyReply]:
    """Return a model's replies about answers, by the identity of the response.

    The model is not asked about an empty answer.

    Raises:
        OptionError: The model cannot be called.
    """
    shown = [(scored, answer) for scored, answer in answers if answer.text]
    try:
        replies = call(model, [answer for _, answer in shown], progress)
    except Exception as error:  # any error of Inspect or of the provider
        raise OptionError(f"{option} {model} cannot be called: {error}") from error
    if replies and all(reply.failure for reply in replies):
        raise OptionError(f"{option} {model} cannot be called: {replies[0].failure}")
    responses = (id(scored) for scored, _ in shown)
    return dict(zip(responses, replies, strict=True))
