"""The results section of a model card, in Markdown: figures with intervals and signatures."""

import re
from collections import defaultdict
from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment

from ...describing import WAYS
from ..reports.blocks import unit_of
from ..reports.presentation import figure_title, task_title
from ..reports.renderers.formatting import interval_text, value_text
from ..runs import Run
from ..statistics.estimates import value_of
from .runs import Publication, Publisher


def publication(runs: Sequence[Run], by: Publisher) -> Publication:
    """Return a text for each model's card, with the figures that the harnesses print."""
    environment = Environment(trim_blocks=True, autoescape=False)
    environment.filters["cell"] = lambda text: re.sub(r"([\\|\[\]<>*`])", r"\\\1", text)
    functions = (value_of, task_title, figure_title, unit_of, value_text, interval_text)
    environment.globals |= {function.__name__: function for function in functions}
    text = files(__package__).joinpath("card.md.j2").read_text("utf-8")
    template = environment.from_string(text, {"ways": WAYS})
    texts, submit = dict[str, str](), list[str]()
    for model in dict.fromkeys(run.model for run in runs):
        by_benchmark: dict[str, list[Run]] = defaultdict(list)
        for run in runs:
            if run.model == model:
                by_benchmark[run.kind.task.benchmark.name].append(run)
        benchmarks = [
            (group[0].kind.task.benchmark, group) for group in by_benchmark.values()
        ]
        path = f"{model.replace(':', '_')}/card.md"
        texts[path] = template.render(by=by, benchmarks=benchmarks)
        submit.append(f"put {{folder}}/{path} into the README.md of {model}")
    return Publication(texts, submit)
