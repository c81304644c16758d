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
from .runs import (
    NotPublishable,
    Publication,
    Publisher,
    folder_of,
    unusual_decoding,
)

try:
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
except ImportError as error:
    raise OptionError(
        "--to hf needs a newer huggingface_hub: pip install -U huggingface_hub"
    ) from error


def publication(runs: Sequence[Run], by: Publisher) -> Publication:
    """Return the headline of each run in the form for model pages and data set leaderboards.

    Raises:
        NotPublishable: No benchmark is on the hub, a model has no name there, or two results would
            be in the same file.
    """
    files = dict[str, str]()
    commands = list[str]()
    left_out = set[str]()
    for run in runs:
        folder = f"{folder_of(run.model)}/.eval_results"
        reason = _why_not_on_leaderboard(run)
        if reason:
            left_out.add(reason)
            continue
        path = f"{folder}/{short_name(run.task, run.condition)}.yaml"
        if path in files:
            raise NotPublishable(
                f"{run.model} has two results of {run.task} under one condition, from both "
                "harnesses, but a model's page takes only one. Publish one of them."
            )
        entries = eval_result_entries_to_yaml([_entry(run, by)])
        files[path] = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True)
        commands.append(
            f"hf upload {run.model} {{folder}}/{folder} .eval_results --create-pr"
        )
    reasons = sorted(left_out)
    if not files:
        raise NotPublishable(f"{'; '.join(reasons)}. Publish it --to card or --to eee.")
    return Publication(files, [*dict.fromkeys(commands)], reasons)


def _why_not_on_leaderboard(run: Run) -> str:
    """Return why the hub has no leaderboard for a run; empty if it has one."""
    benchmark = run.kind.task.benchmark
    if not benchmark.hub:
        return f"{benchmark.title} is not a data set on the Hugging Face hub"
    default = f"{task_as_run(run.task).task.shots or 0}-shot"
    if run.condition != default:
        return f"{run.task}, {run.condition}: the leaderboard of this task is {default}"
    return ""


def _entry(run: Run, by: Publisher) -> EvalResultEntry:
    """Return a run's headline with its interval and signature."""
    hub = run.kind.task.benchmark.hub
    figure = run.headline
    headline = value_of(run, figure.name)
    # A complete run of a benchmark on the hub has both.
    assert hub is not None
    assert headline is not None
    in_per_cent = figure.unit in ("share", "rate")  # as in the papers
    interval = f"95 % interval {interval_text(headline, unit_of(figure))}"
    notes = [
        f"{figure_title(run, figure)}, {interval}",
        unusual_decoding(run),
        "" if run.compared else "not compared with the release",
        run.signature.text,
    ]
    return EvalResultEntry(
        dataset_id=hub.repo_id,
        task_id=run.task,
        value=round(headline.value * (100 if in_per_cent else 1), 2),
        date=run.created.isoformat(),
        source_url=by.url or None,
        source_name=(by.name or None) if by.url else None,
        notes="; ".join(filter(None, notes)),
    )
