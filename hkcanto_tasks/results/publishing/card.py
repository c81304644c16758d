"""The results section of a model card, in Markdown: figures with intervals and signatures."""

import re
from collections import defaultdict
from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment, Template

from ...declarations import Benchmark
from ...describing import WAYS
from ..reports.blocks import unit_of
from ..reports.presentation import figure_title, task_title
from ..reports.renderers.formatting import interval_text, value_text
from ..runs import Run
from ..statistics.estimates import value_of
from .runs import Publication, Publisher, unusual_decoding


def publication(runs: Sequence[Run], by: Publisher) -> Publication:
    """Return a text for each model's card, with the figures that the harnesses print."""
    template = _template()
    runs_by_model: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        runs_by_model[run.model].append(run)
    texts = dict[str, str]()
    instructions = list[str]()
    for model, model_runs in runs_by_model.items():
        path = f"{model.replace(':', '_')}/card.md"
        texts[path] = template.render(by=by, benchmarks=_by_benchmark(model_runs))
        instructions.append(f"put {{folder}}/{path} into the README.md of {model}")
    return Publication(texts, instructions)


def _template() -> Template:
    environment = Environment(trim_blocks=True, autoescape=False)
    environment.filters["cell"] = lambda text: re.sub(r"([\\|\[\]<>*`])", r"\\\1", text)
    for function in (
        value_of,
        task_title,
        figure_title,
        unit_of,
        value_text,
        interval_text,
        unusual_decoding,
    ):
        environment.globals[function.__name__] = function
    text = files(__package__).joinpath("card.md.j2").read_text("utf-8")
    return environment.from_string(text, {"ways": WAYS})


def _by_benchmark(runs: Sequence[Run]) -> list[tuple[Benchmark, list[Run]]]:
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.kind.task.benchmark.name].append(run)
    return [(group[0].kind.task.benchmark, group) for group in groups.values()]
