"""A comment for a pull request on GitHub: the report, folded."""

from collections.abc import Sequence

from ..reports.renderers import render
from ..reports.report import build_report
from ..runs import Run
from .runs import Publication, Publisher


def publication(runs: Sequence[Run], by: Publisher) -> Publication:
    """Return the report of the runs, as `hkcanto report --format github` writes it."""
    del by
    text = render(build_report(runs), "github")
    return Publication({"comment.md": text}, ["gh pr comment --body-file {folder}/comment.md"])
