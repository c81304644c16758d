"""Reading, by a model, of answers that the rules could not read (`rescore --reader`)."""

from collections.abc import Sequence
from dataclasses import replace

from hkcanto_metrics.reasoning import split_reasoning

from ...errors import OptionError
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
    try:
        from hkcanto.second_look import read_letters
    except ImportError as error:
        raise OptionError(
            f"--reader {reader}: models are called through Inspect, which cannot be imported "
            f"({error}). pip install 'hkcanto[inspect]', or leave --reader out."
        ) from error
    with_letters = [isinstance(run.setup, MultipleChoice) and not run.setup.SEVERAL for run in runs]
    if not any(with_letters):
        raise OptionError(f"--reader {reader} is only for multiple choice; leave it out.")
    unread = [
        (run.setup, each.sample, text)
        for run, has in zip(runs, with_letters, strict=True)
        for each in run.scored
        if has and (text := _unread(each))
    ]
    try:
        letters = iter(found := read_letters(reader, unread))
    except Exception as error:  # any error of Inspect or of the provider
        raise OptionError(f"--reader {reader} cannot be called: {error}") from error
    failed = [each for each in found if isinstance(each, BaseException)]
    if failed and len(failed) == len(found):
        raise OptionError(f"--reader {reader} cannot be called: {failed[0]}") from failed[0]
    made = []
    for run, has in zip(runs, with_letters, strict=True):
        if not has:
            made.append(run)
            continue
        scored = [_with(each, next(letters) if _unread(each) else None) for each in run.scored]
        own = [each.more["further"] for each in scored if each.more["further"]["read"] is not None]
        right, forced = (sum(each[name] for each in own) for name in ("acc_reread", "forced"))
        asked = sum(bool(_unread(each)) for each in run.scored)
        remark = (
            f"{reader} read {forced:.0f} of {asked:,} answers that the rules left unread: "
            f"acc_reread {right / max(1, len(own)):.2%}"
        )
        remark += f"; {len(scored) - len(own)} could not be asked" * (len(own) < len(scored))
        run.origin.notes += (remark,)
        made.append(replace(run, scored=scored, remarks=(*run.remarks, remark)))
    return made


def _unread(each: Scored) -> str:
    """Return an unread answer without its reasoning, for the reader; empty if it was read."""
    if each.judgement.answer:
        return ""
    return split_reasoning(each.response, each.more.get("reasoning", "")).answer.strip()


def _with(each: Scored, letter: str | BaseException | None) -> Scored:
    """Return a response with the figures of the second look; None if the reader failed."""
    by_rules = each.judgement.answer
    values: dict[str, float | None]
    if isinstance(letter, BaseException):
        values = dict.fromkeys(("read", "forced", "none", "acc_reread"))
    else:
        final = by_rules or letter or ""
        values = {
            "read": float(bool(by_rules)),
            "forced": float(bool(letter)),
            "none": float(not final),
            "acc_reread": float(final == each.sample.target),
        }
    further = {**(each.more.get("further") or {}), **values}
    return each._replace(more={**each.more, "further": further})
