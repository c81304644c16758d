"""Rendering a report in each output format; renderers know only `blocks`, not tasks or metrics."""

from typing import Literal

from ....errors import OptionError
from ..blocks import Report
from .language import translated
from .markdown import markdown
from .records import json_document, tidy_csv

ReportFormat = Literal["html", "md", "github", "json", "csv"]


def render(report: Report, format: ReportFormat) -> str:  # noqa: A002
    r"""Return a report as the text of one file, which can always be encoded as UTF-8.

    `html` is one page that needs no network; `md` is GitHub's Markdown; `github` is the same for a
    pull request, with all sections folded except the summary; `json` has the records; `csv` is one
    tidy table, which for runs has a row for each figure.

    Raises:
        OptionError: The package for pages is not installed.
    """
    if format in ("html", "md", "github"):
        report = translated(report)
    if format == "html":
        try:
            from .page import page
        except ImportError as error:
            raise OptionError(
                'a page needs the package Jinja2: pip install "hkcanto[report]".'
            ) from error
        return page(report)
    if format == "json":
        return json_document(report)
    if format == "csv":
        return tidy_csv(report)
    return markdown(report, folded=format == "github")
