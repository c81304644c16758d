"""Checks on runs before publishing, and removal of private details.

Logs contain paths, hosts and commands, so only the settings named here are published.
"""

import logging
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ...errors import HKCantoError
from ...tasks import load_task
from ..frames import Runs
from ..rescoring.rescore import of_log, options_of
from ..runs import Run, SkippedLog
from ..statistics.estimates import agreement

_log = logging.getLogger("hkcanto")
MODEL = re.compile(r"(?![A-Za-z]:/)\w([\w.:@+-]*\w)?(/\w([\w.:@+-]*\w)?)?", re.ASCII)
_SAFE = re.compile(r"[\w.+-]+")
_SETTINGS = (
    *("dtype", "revision", "quantization", "load_in_4bit", "load_in_8bit"),
    *("max_length", "max_model_len", "enable_thinking", "chat template"),
)
# If there is an adapter, lm-eval names the model after it; `pretrained` is then the base model.
_OTHER_WEIGHTS = ("peft", "delta", "lora_local_path", "pretrained", "model_path")
_UNSET = ("None", "False")


class NotPublishable(HKCantoError):  # noqa: N818
    """Runs that must not be published as they are; the message says why, and what to do."""


class Publisher(NamedTuple):
    """Who publishes: a name, the relationship to the models' developers, and a link to the logs."""

    name: str = ""
    relationship: str = ""
    url: str = ""


class Publication(NamedTuple):
    """Files by path in the output folder, commands that submit them, and omissions."""

    files: Mapping[str, str]
    submit: Sequence[str]
    left_out: Sequence[str] = ()


def sorted_out(read: Runs, tasks: Collection[str] = ()) -> tuple[list[Run], list[tuple[Run, str]]]:
    """Return the runs in publishable form, and those that must not be published, with reasons.

    A model has the name that the user gave, or its own without Inspect's provider: `Qwen/Qwen3-8B`
    for `vllm/Qwen/Qwen3-8B`. No path, host or key of the user's machine remains.

    Args:
        read: The runs.
        tasks: Names of tasks to publish; empty for all.
    """
    named = []
    for run in read.runs:
        model = run.model.partition("/")[2] if run.harness == "inspect" else ""
        named.append((replace(run, model=run.name or model or run.model), bool(run.name)))
    alike = Counter((run.model, run.comparable_as, run.harness) for run, _ in named)
    clean, refused = list[Run](), list[tuple[Run, str]]()
    for run, is_named in named:
        if tasks and run.task not in tasks:
            continue
        more = alike[run.model, run.comparable_as, run.harness] - 1
        if reason := next(_refusals(run, more, is_named), ""):
            refused.append((run, reason))
            continue
        shown = (pair for pair in run.settings if pair[0] in _SETTINGS)
        settings = tuple(pair for pair in shown if _SAFE.fullmatch(pair[1]))
        clean.append(replace(run, label=run.model, notes=(), settings=settings))
    return clean, refused


def _refusals(run: Run, more: int, is_named: bool) -> Iterator[str]:
    """Yield reasons not to publish a run; `more` other runs have the same model and setup."""
    checked, settings, items = agreement(run), dict(run.settings), len({*run.items.ids})
    if run.unfinished:
        part = f"{run.unfinished}, with {items:,} of {run.expected:,} items"
        yield f"{part}. Finish it (inspect eval-retry LOG), or run it again."
    if run.is_sample:
        yield "sample data, whose figures mean nothing. Run it without HKCANTO_DATA=sample."
    if not run.signature.prompt_known:
        yield "its prompts were not logged. Run it in lm-eval or Inspect."
    if run.departure:
        yield (
            f"{run.departure}: the catalogue's task sends something else. Run it without another "
            "solver, a system message, or changes to the task in YAML or Python."
        )
    if run.outdated:
        yield f"it {run.outdated}."
    if not run.trusted_data:
        yield (
            f"its data ({run.data}) is not a published revision, so the items are unknown. "
            "Run it on the release: `hkcanto doctor` says what your data is."
        )
    if items != run.expected or run.limited:
        whole = "would look like the whole task. Run it without --limit, and on all subjects."
        yield f"it has only {items:,} items, but {whole}"
    for one in checked.different:
        yield (
            f"{one.name} is {one.ours:.6g} here, {one.reported:.6g} in {run.harness}. Was the log "
            "edited, or made by another version? Take the log as it was written, or run it again."
        )
    yield from _unlike(run)
    if not checked.equal:
        yield f"its log has no figures of {run.harness} to check against. Run it to the end."
    what = "Give the model's name on the hub: publish ORGANISATION/NAME=PATH."
    others = [name for name in _OTHER_WEIGHTS if settings.get(name, "None") not in _UNSET]
    if others and not is_named:
        yield f"{run.model} does not name all its weights, such as an adapter ({others[0]}). {what}"
    if not MODEL.fullmatch(run.model) or (Path(run.model).exists() and not is_named):
        yield f"{run.model!r} is not a model name, or is a folder on your machine. {what}"
    if more:
        which = f"{more} more of {run.model} under the same condition in {run.harness}"
        yield f"{which}. Publish one of them, or give them different names: NAME=PATH."


def _unlike(run: Run) -> Iterator[str]:
    """Yield the items that differ from the release's, or whose judgement differs from the log's.

    The items are compared with the release if it is on this machine.
    """
    advice = "Take the log as it was written, or score it again: hkcanto rescore."
    known: dict[str, tuple[str, str]] | None = None
    with suppress(HKCantoError):
        loaded = load_task(run.task, shots=run.shots, **options_of(run.signature))
        if loaded.revision == run.data:
            known = {sample.id: (sample.text, sample.target) for sample in loaded.samples}
    if known is None and run.trusted_data:
        what = "its questions were not compared with the release, because the data"
        _log.warning("%s on %s: %s %s is not on this machine.", run.label, run.task, what, run.data)
    for again in chain.from_iterable(map(of_log, run.sources)):
        if isinstance(again, SkippedLog) or again.signature.task != run.task:
            continue
        for scored in again.scored:
            sample, name = scored.sample, scored.sample.id
            if scored.is_changed:
                yield f"{name} has other values in the log than its answer gives. {advice}"
            elif known is not None and known.get(name) != (sample.text, sample.target):
                yield f"{name} has another question or answer than the data {run.data}. {advice}"


def folder_of(model: str) -> str:
    """Return the model's name as a path that is valid on every file system."""
    return model.replace(":", "_")


def on_the_hub(runs: Sequence[Run]) -> None:
    """Refuse models whose name is not `organisation/name`.

    Raises:
        NotPublishable: A model has such a name.
    """
    if models := sorted({run.model for run in runs if "/" not in run.model}):
        what = f"{models[0]}: results are filed under a model's ORGANISATION/NAME"
        raise NotPublishable(f"{what}. Give it: hkcanto publish ORGANISATION/{models[0]}=PATH.")
