"""Examples of responses that could not be read, for `hkcanto report --unread`."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..runs import Run
from ..statistics.validity import unread_mask

_MOST_EXAMPLES = 3


@dataclass(frozen=True)
class UnreadResponses:
    """Responses of a run that could not be read for one reason: their number, and some of them.

    An example is the item's id with the response.
    """

    reason: str
    number: int
    examples: Sequence[tuple[str, str]]


def unread_responses(run: Run) -> list[UnreadResponses]:
    """Return a run's unread responses by reason, the most frequent first; it has to have texts."""
    items = run.items
    positions = defaultdict[str, list[int]](list)
    for position in np.flatnonzero(unread_mask(run)).tolist():
        reason = items.reasons[position] if items.reasons else ""
        positions[reason.removeprefix("none: ") or "unread"].append(position)
    groups = list[UnreadResponses]()
    for reason, found in positions.items():
        examples = [
            (items.ids[position], items.texts[position].response)
            for position in found[:_MOST_EXAMPLES]
        ]
        groups.append(UnreadResponses(reason, len(found), examples))
    return sorted(groups, key=lambda group: -group.number)
