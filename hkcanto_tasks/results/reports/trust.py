"""Checks of a run's figures: equal to the harness's, all items, few unread answers, known data."""

from collections.abc import Sequence
from typing import NamedTuple

from ..results import UNREAD
from ..runs import Run
from ..statistics.estimates import Agreement, agreement, estimate
from ..statistics.intervals import Estimate

_MANY_UNREAD = 0.02


class Trust(NamedTuple):
    """The results of the checks of a run."""

    figures: Agreement  # with those that the harness reports
    ending: str  # why requested items are missing, such as `cancelled`
    items: int
    expected: int
    unread: Estimate | None  # the share of responses from which no answer could be read
    data: str
    data_known: bool
    prompt_known: bool
    rescored: str  # the version that scored logged answers again; otherwise empty
    decoding: str  # `greedy`, `temperature 0.7`, `decoding unknown`; empty for log-likelihoods

    @property
    def faults(self) -> str:
        """The failed checks, or a badge that there are none."""
        against = [each for each in self.badges.split(" · ") if each.startswith("✗")]
        return " · ".join(against) or "✓ nothing against it"

    @property
    def badges(self) -> str:
        """All checks as text, each with ✓ or ✗ in front."""
        equal, different = self.figures.equal, len(self.figures.different)
        whole = self.items == self.expected
        unread = self.unread.value if self.unread else None
        parts = [
            f"✗ {different} figures differ from the harness's" if different else "",
            f"✓ rescored by {self.rescored}" if self.rescored and not different else "",
            "" if self.prompt_known else "✗ prompt and decoding unknown",
            "✓ equal to the harness" if equal and not different and not self.rescored else "",
            "" if equal or different else "✗ not checked against the harness",
            f"✗ {self.ending}" if self.ending else "",
            "✓ all items" if whole else f"✗ {self.items:,} of {self.expected:,} items",
            ""
            if unread is None
            else f"{'✓' if unread <= _MANY_UNREAD else '✗'} {unread:.1%} unread",
            f"✓ data {self.data}" if self.data_known else f"✗ data {self.data}",
            f"{'✓' if self.decoding == 'greedy' else '✗'} {self.decoding}"
            if self.decoding and self.prompt_known
            else "",
        ]
        return " · ".join(filter(None, parts))


def trust(run: Run) -> Trust:
    """Check a run's figures."""
    name = next((name for name in UNREAD if name in run.items.values), None)
    unread = estimate(run, name) if name else None
    items, data = len(set(run.items.ids)), (run.data, run.trusted_data)
    decoding = run.decoding if run.setup.is_generative else ""
    known, again = run.signature.prompt_known, run.options.get("rescored", "")
    whole = (agreement(run), run.unfinished, items, run.expected)
    return Trust(*whole, unread, *data, known, again, decoding)


def doubts(run: Run) -> Sequence[str]:
    """Return the doubts about a run's figures, short enough for a table cell."""
    own = trust(run)
    lacks = own.items != own.expected and own.data_known and not own.ending
    unread = own.unread.value if own.unread else 0.0
    parts = {
        "unlike the harness": bool(own.figures.different),
        "unchecked": not (own.figures.equal or own.figures.different),
        "prompt and decoding unknown": not own.prompt_known,
        own.ending: bool(own.ending),
        "own data" if run.is_local else f"{own.data or 'unknown'} data": not own.data_known,
        "limit" if run.limited else "not all items": lacks,
        f"{unread:.0%} unread": unread > _MANY_UNREAD,
        own.decoding: own.prompt_known and own.decoding not in ("", "greedy"),
    }
    return [text for text, holds in parts.items() if holds]
