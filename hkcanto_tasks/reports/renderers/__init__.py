"""A report as a page, Markdown, JSON or CSV; `terminal` shows one on the terminal.

A renderer knows `blocks` and nothing else: no benchmark, task or metric.
"""

from typing import Literal

from ..blocks import Report

Format = Literal["html", "md", "github", "json", "csv"]


def render(report: Report, format: Format) -> str:  # noqa: A002
    r"""Return a report as the text of one file, which can always be encoded as UTF-8.

    Args:
        report: What to render.
        format: `html`, one page that needs no network; `md`, Markdown as GitHub reads it;
            `github`, the same for a pull request, with all but the summary folded; `json`, the
            records; `csv`, one long table with a value a line.

    Raises:
        OptionError: If the page's package is not installed.

    Example:
        >>> from datetime import datetime
        >>> render(Report("Scores", datetime(2026, 1, 2), "0.1", ()), "md").splitlines()[0]
        '# Scores'
    """
    match format:
        case "html":
            from .page import page

            return page(report)
        case "md" | "github":
            from .markdown import markdown

            return markdown(report, folded=format == "github")
        case "json":
            from .records import json_document

            return json_document(report)
        case "csv":
            from .records import tidy_csv

            return tidy_csv(report)
