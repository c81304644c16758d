"""A second look at logged answers by a model, through Inspect: a reader's or a judge's."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from hkcanto_metrics.reasoning import split_reasoning

from ...errors import OptionError
from ...kinds.judged import Judged
from ...kinds.multiple_choice import MultipleChoice
from .rescore import Rescored, Scored

_FIGURES = ("read", "forced", "none", "acc_reread")
_SUMMED = ("acc_reread", "forced")


def reread(runs: Sequence[Rescored], reader: str) -> None:
    """Add the figures `read`, `forced`, `none` and `acc_reread` of each answer to runs.

    Args:
        runs: Runs that were scored; a run without letters to read stays as it is.
        reader: The model, as Inspect names it.

    Raises:
        OptionError: Inspect is not installed, no run has letters, or the model cannot be called.
    """
    lettered = [
        run for run in runs if isinstance(run.kind, MultipleChoice) and not run.kind.SEVERAL
    ]
    if not lettered:
        raise OptionError(f"--reader {reader} is only for multiple choice; leave it out.")
    unread = {}
    for run in lettered:
        for scored in run.scored:
            reasoning = scored.more.get("reasoning", "")
            text = split_reasoning(scored.response, reasoning).answer.strip()
            if text and not scored.judgement.answer:
                unread[id(scored)] = run.kind, scored.sample, text
    letters = _ask("--reader", reader, "hkcanto.second_look", "read_letters", unread)
    failed = [letter for letter in letters.values() if isinstance(letter, BaseException)]
    if failed and len(failed) == len(letters):
        raise OptionError(f"--reader {reader} cannot be called: {failed[0]}") from failed[0]
    for run in lettered:
        asked = sum(id(scored) in letters for scored in run.scored)
        figures = [_second_look(scored, letters.get(id(scored))) for scored in run.scored]
        known = [values for values in figures if values["read"] is not None]
        right, forced = (sum(values[name] or 0 for values in known) for name in _SUMMED)
        remark = (
            f"{reader} read {forced:.0f} of {asked:,} answers that the rules left unread: "
            f"acc_reread {right / max(1, len(known)):.2%}"
        )
        if len(known) < len(figures):
            remark += f"; {len(figures) - len(known)} could not be asked"
        run.remarks.append(remark)
        looked_at = list[Scored]()
        for scored, values in zip(run.scored, figures, strict=True):
            further = {**(scored.more.get("further") or {}), **values}
            looked_at.append(scored._replace(more={**scored.more, "further": further}))
        run.scored = looked_at


def _second_look(scored: Scored, letter: str | BaseException | None) -> Mapping[str, float | None]:
    """Return the figures of the second look; None if the reader failed."""
    if isinstance(letter, BaseException):
        return dict.fromkeys(_FIGURES)
    answer = scored.judgement.answer or letter or ""
    is_right = answer == scored.sample.target
    flags = bool(scored.judgement.answer), bool(letter), not answer, is_right
    return dict(zip(_FIGURES, map(float, flags), strict=True))


def grade(runs: Sequence[Rescored], grader: str) -> None:
    """Have a model judge the answers of runs; runs without a rubric stay as they are.

    Args:
        runs: Runs that were scored.
        grader: The model, as Inspect names it.

    Raises:
        OptionError: Inspect is not installed, no run has a rubric, or the model cannot be called.
    """
    with_rubric = [(run, run.kind) for run in runs if isinstance(run.kind, Judged)]
    if not with_rubric:
        raise OptionError(f"--grader {grader} is only for tasks with a rubric; leave it out.")
    waiting = {
        id(scored): (kind, scored.sample, scored.judgement.answer)
        for run, kind in with_rubric
        for scored in run.scored
        if kind.waits(scored.judgement)
    }
    replies = _ask("--grader", grader, "hkcanto.judges.rubric", "grade", waiting)
    if replies and all(reply.failure for reply in replies.values()):
        failure = next(reply.failure for reply in replies.values())
        raise OptionError(f"--grader {grader} cannot be called: {failure}")
    for run, kind in with_rubric:
        judged = list[Scored]()
        for scored in run.scored:
            given = [replies[id(scored)]] if id(scored) in replies else []
            judged.append(scored._replace(judgement=kind.judged(scored.judgement, given)))
        unjudged = sum(scored.judgement.values["unjudged_rate"] or 0 for scored in judged)
        run.remarks = [remark for remark in run.remarks if "--grader" not in remark]
        run.remarks.append(
            f"judged by {grader}; {unjudged:.0f} of {len(judged):,} answers are unjudged"
        )
        run.signature = run.signature.judged_by([grader] if replies else [])
        run.scored = judged


def _ask(
    option: str, model: str, module: str, function: str, asked: Mapping[int, tuple[Any, ...]]
) -> dict[int, Any]:
    """Have Inspect ask a model about some responses by their `id`; return its replies."""
    try:
        ask = getattr(import_module(module), function)
    except ImportError as error:
        raise OptionError(
            f"{option} {model}: models are called through Inspect, which cannot be imported "
            f"({error}). pip install 'hkcanto[inspect]', or leave {option} out."
        ) from error
    try:
        return dict(zip(asked, ask(model, [*asked.values()]), strict=True))
    except Exception as error:  # any error of Inspect or of the provider
        raise OptionError(f"{option} {model} cannot be called: {error}") from error
