"""The results section of a model card, in Markdown: figures with intervals and signatures."""

import re
from collections.abc import Iterator, Sequence

from ...describing import WAYS
from ..runs import Run
from ..statistics.estimates import value_of
from .runs import (
    Publication,
    Publisher,
    figure_title,
    folder_of,
    interval_text,
    number_text,
    task_title,
)

_FIGURES = ("Task and setup", "Figure", "Value", "95 % interval", "Items")
_SIGNATURES = ("Task and setup", "Harness", "Run on", "Tokens and time", "Signature")


def publication(runs: Sequence[Run], by: Publisher) -> Publication:
    """Return a text for each model's card, with the figures that the harnesses print."""
    files, submit = dict[str, str](), list[str]()
    for model in dict.fromkeys(run.model for run in runs):
        own = [run for run in runs if run.model == model]
        path = f"{folder_of(own[0])}/card.md"
        files[path] = "\n".join(_lines(own, by)) + "\n"
        submit.append(f"put {{folder}}/{path} into the README.md of {model}")
    return Publication(files, submit)


def _lines(runs: Sequence[Run], by: Publisher) -> Iterator[str]:
    benchmarks = {run.setup.task.benchmark.name: run.setup.task.benchmark for run in runs}
    for benchmark in benchmarks.values():
        own = [run for run in runs if run.setup.task.benchmark.name == benchmark.name]
        yield from (f"## {benchmark.title}", "", _row(*_FIGURES), "|---|---|--:|--:|--:|")
        for run in own:
            for figure in run.setup.table:
                if found := value_of(run, figure.name):
                    unit = " %" if figure.unit in ("share", "rate") else ""
                    title = f"{figure_title(run, figure)}{unit} {WAYS[figure.higher_is_better]}"
                    numbers = number_text(found.value, figure), interval_text(found, figure)
                    yield _row(task_title(run), title, *numbers, f"{found.items:,}")
        yield from ("", "↑: higher is better; ↓: lower is.", "")
        yield from (_row(*_SIGNATURES), "|---|---|---|---|---|")
        for run in own:
            usage = ", ".join(f"{key}: {value:,.0f}" for key, value in run.usage.known.items())
            made = f"{run.created:%Y-%m-%d}"
            yield _row(task_title(run), run.harness, made, usage, run.signature.text)
        yield from ("", "Compare numbers only if their signatures match (ignoring pkg).", "")
        yield from (f"{benchmark.paper}. {benchmark.terms}", "")
    yield f"Run by {by.name}. {by.url}".strip() if by.name else by.url


def _row(*cells: str) -> str:
    escaped = [re.sub(r"([\\|\[\]<>*`])", r"\\\1", cell) for cell in cells]
    return f"| {' | '.join(escaped)} |"
