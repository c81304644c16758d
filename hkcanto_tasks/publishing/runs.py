"""Which runs may be published, and as whose: the checks come before any file."""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ..errors import HKCantoError
from ..reports.overview import trust
from ..reports.presentation import task_title
from ..runs import Run, Runs
from .logged import Logged, logged

_MODEL = re.compile(r"(?![A-Za-z]:/)\w([\w.:@+-]*\w)?(/\w([\w.:@+-]*\w)?)?")
_LOCAL = re.compile(r"\S*(\\|~|//|/\.|(?<!\S)[/.])\S*")  # a word that is a path


class NotPublishable(HKCantoError):  # noqa: N818
    """Runs that must not be published as they are; a line for each says why, and what to do."""


class Publisher(NamedTuple):
    """Who publishes: a name, what it is to the models' developers, and where the logs are."""

    name: str = ""
    relationship: str = ""
    url: str = ""


class Publication(NamedTuple):
    """Files by their path in the folder that is written, how to submit them, what is left out."""

    files: Mapping[str, str]
    submit: Sequence[str]
    left_out: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class PublishedRun:
    """A run that may be published: no path or name of the user's machine is in it."""

    model: str  # `organisation/name`, or what the user calls it
    evaluation: Run  # with that name for its model and as its label
    logged: Logged
    named: bool  # whether it is the user who calls it so

    @property
    def condition(self) -> Hashable:
        """Equal for runs of one model under one condition."""
        return self.model, self.evaluation.comparable_as

    @property
    def folder(self) -> str:
        """The model's name as a path that every file system takes."""
        return self.model.replace(":", "_")


def publishable(read: Runs) -> list[PublishedRun]:
    """Return runs that were read from logs as they are published.

    Raises:
        NotPublishable: Some run must not be published.
    """
    found = []
    for run, name in zip(read.runs, read.names, strict=True):
        found.append(PublishedRun(name or _model(run), run, logged(run), named=bool(name)))
    alike = Counter((each.condition, each.evaluation.harness) for each in found)
    refused = []
    for each in found:
        run = each.evaluation
        if why := next(_refusals(each, alike[each.condition, run.harness] - 1), ""):
            refused.append(f"\n{run.label} on {task_title(run)}: {why}")
    if refused:
        count = f"{len(refused)} of {len(found)} runs must not be published, so nothing was written"
        raise NotPublishable(f"{count}:{''.join(refused)}")
    both = Counter(each.condition for each in found)
    return [_as_published(each, in_both=both[each.condition] > 1) for each in found]


def _model(run: Run) -> str:
    """Return a model's name without Inspect's provider: `Qwen/Qwen3-8B` of `vllm/Qwen/Qwen3-8B`."""
    parts = run.model.split("/")
    return "/".join(parts[1:] if run.harness == "inspect" and len(parts) > 2 else parts)


def _refusals(each: PublishedRun, more: int) -> Iterator[str]:
    run = each.evaluation
    found = trust(run)
    if run.is_sample:
        yield "sample data, whose figures mean nothing. Run it without HKCANTO_DATA=sample."
    if not found.data_known:
        yield (
            f"its data ({found.data}) is no published revision, so nobody knows what was asked. "
            "Run it on the release: `hkcanto doctor` says what your data is."
        )
    if found.items != found.expected or run.limited:
        of = "" if run.limited else f" of {found.expected:,}"
        yield (
            f"it has only {found.items:,}{of} items, and would pass for the whole task. "
            "Run it without --limit, and on all subjects."
        )
    for one in found.figures.different[:1]:
        yield (
            f"{one.name} is {one.ours:.6g} here, {one.reported:.6g} in {run.harness}. Was the log "
            "edited, or made by another version? Take the log as it was written, or run it again."
        )
    if not found.figures.equal:
        yield f"its log has no figure of {run.harness}'s to check ours by. Run it to its end."
    what = "Give the model's name on the hub: publish ORGANISATION/NAME=PATH."
    if each.logged.adapted and not each.named:
        yield f"it was run with an adapter on {each.model}, and is another model. {what}"
    if not _MODEL.fullmatch(each.model) or (Path(each.model).exists() and not each.named):
        yield f"{each.model!r} is no model's name, or a folder of your machine. {what}"
    if more:
        yield (
            f"{more} more of {each.model} under the same condition in {run.harness}. Publish one "
            "of them, or name them apart: NAME=PATH."
        )


def _as_published(each: PublishedRun, *, in_both: bool) -> PublishedRun:
    run = each.evaluation
    label = f"{each.model} ({run.harness})" if in_both else each.model
    notes = tuple(_LOCAL.sub("…", note) for note in run.notes)
    return replace(each, evaluation=replace(run, label=label, model=each.model, notes=notes))


def on_the_hub(runs: Sequence[PublishedRun]) -> None:
    """Refuse models whose name is not `organisation/name`.

    Raises:
        NotPublishable: There is one.
    """
    for model in sorted({each.model for each in runs if "/" not in each.model}):
        raise NotPublishable(
            f"{model}: results are filed under ORGANISATION/NAME of a model. Give it by "
            f"`hkcanto publish ORGANISATION/{model}=PATH`."
        )
