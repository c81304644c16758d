"""Hugging Face's `.eval_results/*.yaml` in a model's repository, one file per run.

A leaderboard of the hub has one condition for each task id: the task's own shots and options, as
the data set's `eval.yaml` declares it (docs/examples/hub). Results under another condition are left
out.

https://huggingface.co/docs/hub/eval-results
"""

from collections.abc import Sequence

import yaml

from ...errors import OptionError
from ...tasks import task_as_run
from ..reports.blocks import unit_of
from ..reports.presentation import figure_title, short_name
from ..reports.renderers.formatting import interval_text
from ..runs import Run
from ..statistics.estimates import value_of
from .runs import NotPublishable, Publication, Publisher, folder_of

try:
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
except ImportError as error:
    how = "pip install -U huggingface_hub"
    raise OptionError(f"--to hf needs a newer huggingface_hub: {how}") from error


def publication(runs: Sequence[Run], by: Publisher) -> Publication:
    """Return the headline of each run in the form for model pages and data set leaderboards.

    Raises:
        NotPublishable: No benchmark is on the hub, a model has no name there, or two results would
            be in the same file.
    """
    files, submit, others = dict[str, str](), list[str](), set[str]()
    for run in runs:
        benchmark, folder = (
            run.kind.task.benchmark,
            f"{folder_of(run.model)}/.eval_results",
        )
        path = f"{folder}/{short_name(run.task, run.condition)}.yaml"
        if not benchmark.hub:
            others.add(f"{benchmark.title} is not a data set on the Hugging Face hub")
            continue
        default = f"{task_as_run(run.task).task.shots or 0}-shot"
        if run.condition != default:
            others.add(
                f"{run.task}, {run.condition}: the leaderboard of this task is {default}"
            )
            continue
        if path in files:
            raise NotPublishable(
                f"{run.model} has two results of {run.task} under one condition, from both "
                "harnesses, but a model's page takes only one. Publish one of them."
            )
        figure, value = run.headline, value_of(run, run.headline.name)
        assert value is not None  # a complete run has its headline
        factor = 100 if figure.unit in ("share", "rate") else 1  # in the papers' unit
        interval = f"95 % interval {interval_text(value, unit_of(figure))}"
        entry = EvalResultEntry(
            dataset_id=benchmark.hub.repo_id,
            task_id=run.task,
            value=round(value.value * factor, 2),
            date=run.created.isoformat(),
            source_url=by.url or None,
            source_name=by.name or None if by.url else None,
            notes=f"{figure_title(run, figure)}, {interval}; {run.signature.text}",
        )
        entries = eval_result_entries_to_yaml([entry])
        files[path] = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True)
        submit.append(
            f"hf upload {run.model} {{folder}}/{folder} .eval_results --create-pr"
        )
    if not files:
        raise NotPublishable(
            f"{'; '.join(sorted(others))}. Publish it --to card or --to eee."
        )
    return Publication(files, [*dict.fromkeys(submit)], sorted(others))
