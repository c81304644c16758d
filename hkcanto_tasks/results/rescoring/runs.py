"""Runs whose answers are judged again with this version's rules."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path

from ... import __version__
from ...figures import Figure, item_values, language_of, value
from ...judgements import Judgement
from ...kinds.base import Kind
from ...kinds.judged import Judged
from ...signatures import Signature
from ...signing import signature_of
from ...tasks import task_as_run
from ..logs import read_log
from ..logs.checking import options_of
from ..logs.items import ItemRows, LoggedItem, judged_again
from ..runs import Items, Run, SkippedLog

MARK = ("rescored", __version__)
"""Distinguishes a log from its original in one report."""


@dataclass(slots=True)
class Scored:
    """A logged item with its new judgement."""

    item: LoggedItem
    judgement: Judgement

    @property
    def is_changed(self) -> bool:
        """Whether the response was judged differently before."""
        before = self.item.judgement
        return before is not None and before.outcome != self.judgement.outcome


class RescoredRows(ItemRows):
    """The items of a run, each judged again as it is collected.

    Args:
        kind: Reads the answers.
        rubric: The rubric of the logged judgements.

    Attributes:
        scored: The judged responses.
        collected: The items, after `items` was called.
    """

    NEEDS_SCORES = False

    def __init__(
        self,
        kind: Kind,
        rubric: str = "",
    ) -> None:
        # A log-likelihood is logged only as evidence.
        super().__init__(kind, texts=True, evidence=not kind.is_generative)
        self.rubric = rubric
        self.scored = list[Scored]()
        self.collected: Items | None = None

    def add(self, item: LoggedItem) -> None:
        """Judge a response and add it; see `ItemRows.add`."""
        judged = judged_again(self.kind, item, self.rubric)
        super().add(item._replace(judgement=judged))
        self.scored.append(Scored(item, judged))

    def items(self) -> Items:
        """Return the items, which identify the run."""
        self.collected = super().items()
        return self.collected


@dataclass
class RescoredRun:
    """A run whose answers were judged again.

    Attributes:
        run: The run, with the signature of the new figures.
        kind: The task as it was run.
        scored: The judged responses.
        remarks: Caveats for the reader, also in the new log.
    """

    run: Run
    kind: Kind
    scored: Sequence[Scored]
    remarks: list[str]

    @property
    def headline(self) -> float:
        """The new headline."""
        return self.figure(self.kind.headline)

    @property
    def headline_before(self) -> float:
        """The old headline; NaN if some response had no score."""
        judgements = []
        for scored in self.scored:
            before = scored.item.judgement
            if before is None:
                return nan
            judgements.append(before)
        return self._figure_from(judgements, self.kind.headline)

    def figure(self, figure: Figure) -> float:
        """Return a figure of the new judgements; NaN without items."""
        judgements = [scored.judgement for scored in self.scored]
        return self._figure_from(judgements, figure)

    def _figure_from(
        self,
        judgements: Sequence[Judgement],
        figure: Figure,
    ) -> float:
        values = []
        for scored, judgement in zip(self.scored, judgements, strict=True):
            values_of_item = item_values([figure], scored.item.sample, judgement)
            values.append(values_of_item.get(figure.name))
        language = language_of(self.kind.task)
        return value(
            figure,
            values,
            self.kind.categories,
            language,
        )


# ---------------------------------------------------------------------- logs of our tasks


def rescored_runs(log: Path) -> Iterator[RescoredRun | SkippedLog]:
    """Score the answers of one log again, and yield a run for each of its tasks."""
    collectors = list[RescoredRows]()

    def new_rows(signature: Signature) -> RescoredRows:
        options = options_of(signature)
        kind = task_as_run(signature.task, shots=signature.shots, **options)
        if not signature.prompt_known:
            kind = kind.for_other_prompts()
        rubric = dict(signature.options).get("rubric", "none")
        rows = RescoredRows(kind, rubric)
        collectors.append(rows)
        return rows

    for run in read_log(log, new_rows):
        if isinstance(run, SkippedLog):
            yield run
            continue
        # By identity: a log may have two entries with one signature.
        rows = next(rows for rows in collectors if rows.collected is run.items)
        yield _rescored_run(run, rows)


def _rescored_run(run: Run, rows: RescoredRows) -> RescoredRun:
    """Return a run with its new signature and with remarks on what changed."""
    logged = run.signature
    current = signature_of(rows.kind.at(), logged.data)
    options = dict([*logged.options, MARK])
    if isinstance(rows.kind, Judged):
        options["rubric"] = rows.kind.rubric_hash
    signature = replace(
        current,
        task=logged.task,
        shots=logged.shots,
        sent=logged.sent,
        options=tuple(options.items()),
    )
    settings = dict([*run.settings, MARK])
    return RescoredRun(
        run=replace(
            run, signature=rows.signed(signature), settings=tuple(settings.items())
        ),
        kind=rows.kind,
        scored=rows.scored,
        remarks=_remarks(rows, logged, current),
    )


def _remarks(
    rows: RescoredRows,
    logged: Signature,
    current: Signature,
) -> list[str]:
    """Return how a log differs from one of this version."""
    kind = rows.kind
    remarks = []
    if isinstance(kind, Judged) and rows.rubric != kind.rubric_hash:
        remarks.append(
            f"it was judged with another rubric ({rows.rubric}, now {kind.rubric_hash}), "
            "which does not count without --grader MODEL"
        )
    if logged.version != current.version:
        remarks.append(f"version {logged.version} of the task is now {current.version}")
    if logged.prompt_known and logged.sent != current.sent:
        remarks.append(
            "it had the prompts of an older version "
            f"(sent:{logged.sent}, now {current.sent})"
        )
    return remarks
