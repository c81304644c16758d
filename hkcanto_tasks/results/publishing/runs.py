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
from ..statistics.estimates import harness_agreement

_log = logging.getLogger("hkcanto")
MODEL = re.compile(r"(?![A-Za-z]:/)\w([\w.:@+-]*\w)?(/\w([\w.:@+-]*\w)?)?", re.ASCII)
_SAFE = re.compile(r"[\w.+-]+")
_SETTINGS = (
    *("dtype", "revision", "quantization", "load_in_4bit", "load_in_8bit"),
    *("max_length", "max_model_len", "enable_thinking", "chat template"),
)
# If there is an adapter, lm-eval names the model after it; `pretrained` is then the base model.
_WEIGHTS = ("peft", "delta", "lora_local_path", "pretrained", "model_path")
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


def sorted_out(
    read: Runs, tasks: Collection[str] = ()
) -> tuple[list[Run], list[tuple[Run, str]]]:
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
        named.append(
            (replace(run, model=run.name or model or run.model), bool(run.name))
        )
    alike = Counter((run.model, run.comparable_as, run.harness) for run, _ in named)
    clean, refused = list[Run](), list[tuple[Run, str]]()
    for run, is_named in named:
        if tasks and run.task not in tasks:
            continue
        more = alike[run.model, run.comparable_as, run.harness] - 1
        if reason := next(_refusals(run, more, is_named), ""):
            refused.append((run, reason))
        else:
            settings = (
                of
                for of in run.settings
                if of[0] in _SETTINGS and _SAFE.fullmatch(of[1])
            )
            clean.append(
                replace(run, label=run.model, notes=(), settings=tuple(settings))
            )
    return clean, refused


def _refusals(run: Run, more: int, is_named: bool) -> Iterator[str]:
    """Yield reasons not to publish a run; `more` other runs have the same model and setup."""
    checked, items = harness_agreement(run), len({*run.items.ids})
    if run.is_sample:
        yield "sample data, whose figures mean nothing. Run it without HKCANTO_DATA=sample."
    if not run.signature.prompt_known:
        yield "its prompts were not logged. Run it in lm-eval or Inspect."
    if run.departure:
        yield f"{run.departure}: the catalogue's task sends something else. Run it unchanged."
    if run.outdated:
        yield f"it {run.outdated}."
    if not run.trusted_data:
        yield f"its data ({run.data}) is not a published revision. Run it on the release."
    if run.unfinished or run.limited or items != run.expected:
        what = "items occur twice" if len(run.items) > items else "not the whole task"
        part = f"{run.unfinished or what}, with {items:,} of {run.expected:,} items"
        yield f"{part}. Finish it (inspect eval-retry LOG), or run it without limit or subjects."
    for one in checked.different:
        both = f"{one.ours:.6g} here, {one.reported:.6g} in {run.harness}"
        yield f"{one.name} is {both}. Take the log as it was written, or run it again."
    yield from _unlike(run)
    if not checked.equal:
        yield f"its log has no figures of {run.harness} to check against. Run it to the end."
    what = "Give the model's name on the hub: publish ORGANISATION/NAME=PATH."
    weights = [
        name for name, value in run.settings if name in _WEIGHTS and value not in _UNSET
    ]
    if weights and not is_named:
        yield f"{run.model} does not name all its weights, like an adapter ({weights[0]}). {what}"
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
            known = {
                sample.id: (sample.text, sample.target) for sample in loaded.samples
            }
    if known is None and run.trusted_data:
        what = f"{run.label} on {run.task}: its questions were not compared with the release"
        _log.warning("%s: the data %s is not on this machine.", what, run.data)
    for again in chain.from_iterable(map(of_log, run.sources)):
        if isinstance(again, SkippedLog) or again.run.task != run.task:
            continue
        for scored in again.scored:
            sample, name = scored.sample, scored.sample.id
            if scored.is_changed:
                yield f"{name} has other values in the log than its answer gives. {advice}"
            elif known is not None and known.get(name) != (sample.text, sample.target):
                yield f"{name} has another question or answer than the data {run.data}. {advice}"


def folder_of(model: str) -> str:
    """Return a model's ORGANISATION/NAME as a path that is valid on every file system.

    Raises:
        NotPublishable: It has no organisation.
    """
    if "/" not in model:
        what = f"{model}: results are filed under a model's ORGANISATION/NAME"
        raise NotPublishable(
            f"{what}. Give it: hkcanto publish ORGANISATION/{model}=PATH."
        )
    return model.replace(":", "_")
