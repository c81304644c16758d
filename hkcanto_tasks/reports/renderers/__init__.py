"""A report as a page, Markdown, JSON or CSV; `terminal` shows one on the terminal.

A renderer knows `blocks` and nothing else: no benchmark, task or metric.
"""

from typing import Literal

from ..blocks import Report

Format = Literal["html", "md", "json", "csv"]


def render(report: Report, format: Format) -> str:  # noqa: A002
    r"""Return a report as the text of one file, which can always be encoded as UTF-8.

    Args:
        report: What to render.
        format: `html`, one page that needs no network; `md`, Markdown as GitHub reads it; `json`,
            the blocks as they are; `csv`, one long table with a value a line.

    Raises:
        MissingPackage: If the page's packages are not installed.

    Example:
        >>> from datetime import datetime
        >>> render(Report("Scores", datetime(2026, 1, 2), "0.1", ()), "md").splitlines()[0]
        '# Scores'
    """
    match format:
        case "html":
            from .page import page as renderer
        case "md":
            from .markdown import markdown as renderer
        case "json":
            from .json_document import json_document as renderer
        case "csv":
            from .tidy_csv import tidy_csv as renderer
    return renderer(report)
