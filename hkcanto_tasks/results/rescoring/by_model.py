"""A second look at logged answers by a model, through Inspect: a reader's or a judge's."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from hkcanto_metrics.reasoning import split_reasoning

from ...errors import OptionError
from ...kinds.judged import Judged
from ...kinds.multiple_choice import MultipleChoice
from .rescore import Rescored, Scored


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

    if not any(map(has_letters, runs)):
        raise OptionError(f"--reader {reader} is only for multiple choice; leave it out.")
    asked = [
        (run.setup, each.sample, text)
        for run in filter(has_letters, runs)
        for each, text in _unread(run)
    ]
    letters = _ask("--reader", reader, "hkcanto.second_look", "read_letters", asked)
    failed = [letter for letter in letters if isinstance(letter, BaseException)]
    if failed and len(failed) == len(letters):
        raise OptionError(f"--reader {reader} cannot be called: {failed[0]}") from failed[0]
    replies, made = iter(letters), list[Rescored]()
    for run in runs:
        if not has_letters(run):
            made.append(run)
            continue
        unread = {id(each) for each, _ in _unread(run)}
        scored = [
            _reread(each, next(replies) if id(each) in unread else None) for each in run.scored
        ]
        known = [
            each.more["further"] for each in scored if each.more["further"]["read"] is not None
        ]
        right, forced = (sum(each[name] for each in known) for name in ("acc_reread", "forced"))
        remark = (
            f"{reader} read {forced:.0f} of {len(unread):,} answers that the rules left unread: "
            f"acc_reread {right / max(1, len(known)):.2%}"
        )
        if len(known) < len(scored):
            remark += f"; {len(scored) - len(known)} could not be asked"
        run.origin.notes += (remark,)
        made.append(replace(run, scored=scored, remarks=[*run.remarks, remark]))
    return made


def grade(runs: Sequence[Rescored], grader: str) -> list[Rescored]:
    """Return runs with answers judged by a model; runs without a rubric stay as they are.

    Args:
        runs: Runs that were scored.
        grader: The model, as Inspect names it.

    Raises:
        OptionError: Inspect is not installed, no run has a rubric, or the model cannot be called.
    """
    if not any(isinstance(run.setup, Judged) for run in runs):
        raise OptionError(f"--grader {grader} is only for tasks with a rubric; leave it out.")
    waiting = [
        (run.setup, each.sample, each.judgement.answer)
        for run in runs
        if isinstance(run.setup, Judged)
        for each in run.scored
        if run.setup.waits(each.judgement)
    ]
    replies = _ask("--grader", grader, "hkcanto.judges.rubric", "grade", waiting)
    if replies and all(reply.failure for reply in replies):
        raise OptionError(f"--grader {grader} cannot be called: {replies[0].failure}")
    given, made = iter(replies), list[Rescored]()
    for run in runs:
        how = run.setup
        if not isinstance(how, Judged):
            made.append(run)
            continue
        scored = []
        for each in run.scored:
            own = [next(given)] if how.waits(each.judgement) else []
            scored.append(each._replace(judgement=how.judged(each.judgement, own)))
        unjudged = sum(each.judgement.values["unjudged_rate"] or 0 for each in scored)
        remark = f"judged by {grader}; {unjudged:.0f} of {len(scored):,} answers are unjudged"
        run.origin.notes += (remark,)
        signature = run.signature.judged_by([grader] if waiting else [])
        remarks = [*(each for each in run.remarks if "--grader" not in each), remark]
        made.append(replace(run, scored=scored, signature=signature, remarks=remarks))
    return made


def _ask(option: str, model: str, module: str, function: str, asked: Sequence[Any]) -> list[Any]:
    """Have Inspect ask a model, by a function of our package for it."""
    try:
        ask: Callable[[str, Sequence[Any]], Sequence[Any]]
        ask = getattr(import_module(module), function)
    except ImportError as error:
        raise OptionError(
            f"{option} {model}: models are called through Inspect, which cannot be imported "
            f"({error}). pip install 'hkcanto[inspect]', or leave {option} out."
        ) from error
    try:
        return list(ask(model, asked))
    except Exception as error:  # any error of Inspect or of the provider
        raise OptionError(f"{option} {model} cannot be called: {error}") from error


def _unread(run: Rescored) -> Iterator[tuple[Scored, str]]:
    """Yield the answers that the rules left unread, each with its text without reasoning."""
    for each in run.scored:
        if not each.judgement.answer:
            text = split_reasoning(each.response, each.more.get("reasoning", "")).answer.strip()
            if text:
                yield each, text


def _reread(each: Scored, letter: str | BaseException | None) -> Scored:
    """Return a response with the figures of the second look; None if the reader failed."""
    values: dict[str, float | None] = dict.fromkeys(("read", "forced", "none", "acc_reread"))
    if not isinstance(letter, BaseException):
        answer = each.judgement.answer or letter or ""
        values = {
            "read": float(bool(each.judgement.answer)),
            "forced": float(bool(letter)),
            "none": float(not answer),
            "acc_reread": float(answer == each.sample.target),
        }
    further = {**(each.more.get("further") or {}), **values}
    return each._replace(more={**each.more, "further": further})
