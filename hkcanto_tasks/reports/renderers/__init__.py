"""A report in each form; a renderer knows `blocks` alone, and no benchmark, task or metric."""

from typing import Literal

from ...errors import OptionError
from ..blocks import Report
from .markdown import markdown
from .records import json_document, tidy_csv

Format = Literal["html", "md", "github", "json", "csv"]


def render(report: Report, format: Format) -> str:  # noqa: A002
    r"""Return a report as the text of one file, which can always be encoded as UTF-8.

    `html` is one page that needs no network; `md` is Markdown as GitHub reads it, `github` the same
    for a pull request, with all but the summary folded; `json` is the records; `csv` one tidy
    table: of runs a row for each figure.

    Raises:
        OptionError: If the page's package is not installed.
    """
    match format:
        case "html":
            try:
                from .page import page
            except ImportError as error:
                how = 'a page needs the package Jinja2: pip install "hkcanto[report]".'
                raise OptionError(how) from error
            return page(report)
        case "json":
            return json_document(report)
        case "csv":
            return tidy_csv(report)
    return markdown(report, folded=format == "github")
