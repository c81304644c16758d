"""Runs whose answers say nothing about the model, because too many of them could not be read."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...messages import named, say
from ..runs import UNREAD, Run, once_a_run

MOST_UNREAD = 0.10
"""The share of unread, empty or unjudged answers above which there is no verdict on a run."""

_MOST = 0.5  # of the unread answers have the cause that is named
_NO_VERDICT = (
    "{number:,} of {total:,} answers of {model} on {task} could not be read: no verdict. Likely "
    "cause: {cause}. See them: hkcanto report {log} --unread"
)
_ALSO_ON_OTHERS = (
    "{number:,} of {total:,} answers of {model} on {task} and on {others} more tasks could not be "
    "read: no verdict. Likely cause: {cause}. See them: hkcanto report {log} --unread"
)
_REASONS = {
    "none: refusal": "most refuse to answer",
    "none: undecided": "most name several answers",
    "none: no option": "most are in another form than the task asks for",
    "none: no label": "most are in another form than the task asks for",
}


class _Cause(NamedTuple):
    """A likely cause of unread answers, and the answers that show it."""

    text: str
    mask: NDArray[np.bool_]


@dataclass(frozen=True)
class UnreadRun:
    """A run with many unread answers, and the likely cause."""

    run: Run
    number: int
    total: int
    cause: str


def unread_mask(run: Run) -> NDArray[np.bool_]:
    """Return which answers are unread, empty or unjudged."""
    items = run.items
    unread = np.zeros(len(items), np.bool_)
    for name in UNREAD:
        if name in items.values:
            unread |= items.values[name] > 0
    return unread


@once_a_run
def unread_run(run: Run) -> UnreadRun | None:
    """Return a run on which there is no verdict, because many answers are unread; else None."""
    unread = unread_mask(run)
    count = int(unread.sum())
    if count <= MOST_UNREAD * len(unread):
        return None
    return UnreadRun(
        run,
        count,
        len(unread),
        _likely_cause(run, unread),
    )


def no_verdict(runs: Iterable[UnreadRun]) -> list[str]:
    """Say for each model of some runs why there is no verdict, and how to see the answers."""
    by_log = defaultdict[tuple[str, str], list[UnreadRun]](list)
    for unread in runs:
        by_log[unread.run.label, unread.cause].append(unread)
    texts = list[str]()
    for (label, cause), members in by_log.items():
        members.sort(key=lambda unread: -unread.number / unread.total)
        first, *others = members
        definition = first.run.definition
        places = {
            "number": first.number,
            "total": first.total,
            "model": label,
            "task": named(definition.title, definition.chinese),
            "others": len(others),
            "cause": say(cause),
            "log": first.run.sources[0],
        }
        texts.append(say(_ALSO_ON_OTHERS if others else _NO_VERDICT, **places))
    return texts


def _likely_cause(run: Run, unread: NDArray[np.bool_]) -> str:
    items = run.items
    if (
        "unjudged_rate" in items.values
        and (items.values["unjudged_rate"][unread] > 0).all()
    ):
        return "the judge model failed (hkcanto rescore LOGS --grader MODEL -o FOLDER)"
    reasons = np.array(items.reasons or [""] * len(items), np.str_)
    empty = (items.response_lengths == 0) | (reasons == "none: empty")
    cut_off = items.truncated > 0
    causes = [
        _Cause(
            "they end at the token limit within the reasoning (reasoning=true)",
            empty & cut_off,
        ),
        _Cause("they end at the token limit (a higher max_tokens)", cut_off),
        _Cause(
            "they are empty (failed requests, or a token limit used up by reasoning)",
            empty,
        ),
    ]
    causes += [_Cause(text, reasons == reason) for reason, text in _REASONS.items()]
    for cause in causes:
        if cause.mask[unread].mean() > _MOST:
            return cause.text
    return "another chat template, or another form than the task asks for"
