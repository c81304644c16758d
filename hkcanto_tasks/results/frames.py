"""What `read_runs` returns: a list of runs, which prints as a table and makes data frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..printable import one_line
from .reports.frames import figure_rows
from .runs import Run, SkippedLog
from .statistics.estimates import estimate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Runs(Sequence[Run]):
    """Runs that were read from logs, in the order of the arguments.

    Attributes:
        runs: The runs.
        places: For each run, the index of its argument.
        skipped: Files that were not read completely.
        names: For each run, the name that its argument gives it, or an empty text.
    """

    runs: Sequence[Run]
    places: Sequence[int]
    skipped: Sequence[SkippedLog]
    names: Sequence[str]

    def __getitem__(self, place: Any) -> Any:
        return self.runs[place]

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        """Return a table: the model, task, headline, number of items and status of each run."""
        lines = [("model", "task", "headline", "items", "status"), *map(_line, self.runs)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = (zip(line, widths, strict=True) for line in lines)
        table = ["  ".join(text.ljust(width) for text, width in row).rstrip() for row in rows]
        if self.skipped:
            table.append(f"not read, or not in full: {len(self.skipped)} (see .skipped)")
        return "\n".join(table)

    def to_frame(self, *, items: bool = False) -> "pd.DataFrame":
        """Return the runs' figures as a pandas data frame; pandas must be installed.

        Args:
            items: Return a row for each item and value instead, with the item's id and subject and
                without intervals.

        Returns:
            A row for each figure of a run, over all items and, in tasks with several subjects, for
            each `subject` (empty for all): `value`, `low` and `high` (the 95 % interval), `n`
            (items), `direction` (whether `higher` or `lower` is better, or `neither`), `headline`
            (whether it is the figure to read first), `status` (`cancelled`, …), `step` (of a
            checkpoint) and further columns, as in the CSV of `hkcanto report`. Shares and rates
            are from 0 to 1; missing values are NaN.
        """
        import pandas as pd

        if not items:
            return pd.DataFrame(figure_rows(self.runs))
        parts = [
            {"model": run.label, "task": run.task, "setup": run.condition}
            | {"id": run.items.ids, "subject": run.items.subjects, "figure": name, "value": values}
            for run in self.runs
            for name, values in run.items.values.items()
        ]
        return pd.concat(map(pd.DataFrame, parts), ignore_index=True) if parts else pd.DataFrame()


def _line(run: Run) -> tuple[str, ...]:
    figure, headline = run.headline, estimate(run, run.headline.name)
    value = "–" if headline is None else f"{headline.value:.4g}"
    if headline and figure.unit in ("share", "rate"):
        value = f"{headline.value:.1%}"
    label, task = one_line(run.label), f"{run.task}, {run.condition}"
    return (
        label,
        task,
        f"{figure.name} {value}",
        f"{len(run.items):,}",
        run.unfinished or "finished",
    )
