"""A second look at logged answers by a model, through Inspect: a reader's or a judge's."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from hkcanto_metrics.reasoning import split_reasoning

from ...errors import OptionError
from ...kinds.judged import Judged
from ...kinds.multiple_choice import MultipleChoice
from .rescore import Rescored, Scored

_FIGURES = ("read", "forced", "none", "acc_reread")
_Request = Callable[[Rescored, Scored], tuple[Any, ...] | None]


def reread(runs: Sequence[Rescored], reader: str) -> list[Rescored]:
    """Return runs with the figures `read`, `forced`, `none` and `acc_reread` of each answer.

    Args:
        runs: Runs that were scored; a run without letters to read stays as it is.
        reader: The model, as Inspect names it.

    Raises:
        OptionError: Inspect is not installed, no run has letters, or the model cannot be called.
    """

    def has_letters(run: Rescored) -> bool:
        return isinstance(run.setup, MultipleChoice) and not run.setup.SEVERAL

    def request(run: Rescored, each: Scored) -> tuple[Any, ...] | None:
        reasoning = each.more.get("reasoning", "")
        text = split_reasoning(each.response, reasoning).answer.strip()
        is_unread = has_letters(run) and not each.judgement.answer and text
        return (run.setup, each.sample, text) if is_unread else None

    if not any(map(has_letters, runs)):
        raise OptionError(f"--reader {reader} is only for multiple choice; leave it out.")
    letters = _ask("--reader", reader, "hkcanto.second_look", "read_letters", runs, request)
    failed = [letter for letter in letters.values() if isinstance(letter, BaseException)]
    if failed and len(failed) == len(letters):
        raise OptionError(f"--reader {reader} cannot be called: {failed[0]}") from failed[0]
    made = []
    for run in runs:
        if not has_letters(run):
            made.append(run)
            continue
        scored = [_reread(each, letters.get(id(each))) for each in run.scored]
        known = [
            each.more["further"] for each in scored if each.more["further"]["read"] is not None
        ]
        right, forced = (sum(each[name] for each in known) for name in ("acc_reread", "forced"))
        remark = (
            f"{reader} read {forced:.0f} of {sum(id(each) in letters for each in run.scored):,} "
            f"answers that the rules left unread: acc_reread {right / max(1, len(known)):.2%}"
        )
        if len(known) < len(scored):
            remark += f"; {len(scored) - len(known)} could not be asked"
        run.origin.notes += (remark,)
        made.append(replace(run, scored=scored, remarks=[*run.remarks, remark]))
    return made


def _reread(each: Scored, letter: str | BaseException | None) -> Scored:
    """Return a response with the figures of the second look; None if the reader failed."""
    values: dict[str, float | None] = dict.fromkeys(_FIGURES)
    if not isinstance(letter, BaseException):
        answer = each.judgement.answer or letter or ""
        is_right = answer == each.sample.target
        flags = bool(each.judgement.answer), bool(letter), not answer, is_right
        values = dict(zip(_FIGURES, map(float, flags), strict=True))
    further = {**(each.more.get("further") or {}), **values}
    return each._replace(more={**each.more, "further": further})


def grade(runs: Sequence[Rescored], grader: str) -> list[Rescored]:
    """Return runs with answers judged by a model; runs without a rubric stay as they are.

    Args:
        runs: Runs that were scored.
        grader: The model, as Inspect names it.

    Raises:
        OptionError: Inspect is not installed, no run has a rubric, or the model cannot be called.
    """

    def request(run: Rescored, each: Scored) -> tuple[Any, ...] | None:
        waits = isinstance(run.setup, Judged) and run.setup.waits(each.judgement)
        return (run.setup, each.sample, each.judgement.answer) if waits else None

    if not any(isinstance(run.setup, Judged) for run in runs):
        raise OptionError(f"--grader {grader} is only for tasks with a rubric; leave it out.")
    replies = _ask("--grader", grader, "hkcanto.judges.rubric", "grade", runs, request)
    if replies and all(reply.failure for reply in replies.values()):
        failure = next(reply.failure for reply in replies.values())
        raise OptionError(f"--grader {grader} cannot be called: {failure}")
    made = []
    for run in runs:
        how = run.setup
        if not isinstance(how, Judged):
            made.append(run)
            continue
        scored = []
        for each in run.scored:
            given = [replies[id(each)]] if id(each) in replies else []
            scored.append(each._replace(judgement=how.judged(each.judgement, given)))
        unjudged = sum(each.judgement.values["unjudged_rate"] or 0 for each in scored)
        remark = f"judged by {grader}; {unjudged:.0f} of {len(scored):,} answers are unjudged"
        run.origin.notes += (remark,)
        signature = run.signature.judged_by([grader] if replies else [])
        remarks = [*(each for each in run.remarks if "--grader" not in each), remark]
        made.append(replace(run, scored=scored, signature=signature, remarks=remarks))
    return made


def _ask(
    option: str,
    model: str,
    module: str,
    function: str,
    runs: Sequence[Rescored],
    request: _Request,
) -> dict[int, Any]:
    """Have Inspect ask a model about some responses; return its replies by their `id`."""
    try:
        ask = getattr(import_module(module), function)
    except ImportError as error:
        raise OptionError(
            f"{option} {model}: models are called through Inspect, which cannot be imported "
            f"({error}). pip install 'hkcanto[inspect]', or leave {option} out."
        ) from error
    asked = {id(each): made for run in runs for each in run.scored if (made := request(run, each))}
    try:
        return dict(zip(asked, ask(model, [*asked.values()]), strict=True))
    except Exception as error:  # any error of Inspect or of the provider
        raise OptionError(f"{option} {model} cannot be called: {error}") from error
