"""Grading of logged answers by a judge model, for tasks with a rubric (`rescore --grader`)."""

from collections.abc import Sequence
from dataclasses import replace

from ...errors import OptionError
from ...kinds.judged import Judged
from .rescore import Rescored


def grade(runs: Sequence[Rescored], grader: str) -> list[Rescored]:
    """Return runs with answers judged by a model; runs without a rubric stay as they are.

    Args:
        runs: Runs that were scored.
        grader: The model, as Inspect names it.

    Raises:
        OptionError: Inspect is not installed, no run has a rubric, or the model cannot be called.
    """
    try:
        from hkcanto.judges import rubric
    except ImportError as error:
        raise OptionError(
            f"--grader {grader}: models are called through Inspect, which cannot be imported "
            f"({error}). pip install 'hkcanto[inspect]', or leave --grader out."
        ) from error
    waiting = [
        (run.setup, each.sample, each.judgement.answer)
        for run in runs
        if isinstance(run.setup, Judged)
        for each in run.scored
        if run.setup.waits(each.judgement)
    ]
    if not any(isinstance(run.setup, Judged) for run in runs):
        raise OptionError(f"--grader {grader} is only for tasks with a rubric; leave it out.")
    try:
        said = rubric.grade(grader, waiting)
    except Exception as error:  # any error of Inspect or of the provider
        raise OptionError(f"--grader {grader} cannot be called: {error}") from error
    if said and all(each.failure for each in said):
        raise OptionError(f"--grader {grader} cannot be called: {said[0].failure}")
    replies, made = iter(said), list[Rescored]()
    for run in runs:
        how = run.setup
        if not isinstance(how, Judged):
            made.append(run)
            continue
        scored = [
            each._replace(
                judgement=how.judged(
                    each.judgement, [next(replies)] if how.waits(each.judgement) else []
                )
            )
            for each in run.scored
        ]
        unjudged = sum(each.judgement.values["unjudged_rate"] or 0 for each in scored)
        remark = f"judged by {grader}; {unjudged:.0f} of {len(scored):,} answers are unjudged"
        run.origin.notes += (remark,)
        signature = run.signature.judged_by([grader] if waiting else [])
        remarks = [*(each for each in run.remarks if "--grader" not in each), remark]
        made.append(replace(run, scored=scored, signature=signature, remarks=remarks))
    return made
