"""Checks on runs before publishing, and removal of private details.

Logs contain paths, hosts and commands, so only the settings named here are published.
"""

import logging
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ...errors import HKCantoError
from ...tasks import load_task
from ..frames import Runs
from ..rescoring.runs import Scored, options_of, rescored_runs
from ..runs import Run, SkippedLog
from ..statistics.estimates import harness_agreement

_log = logging.getLogger("hkcanto")
MODEL = re.compile(r"(?![A-Za-z]:/)\w([\w.:@+-]*\w)?(/\w([\w.:@+-]*\w)?)?", re.ASCII)
_SAFE_VALUE = re.compile(r"[\w.+-]+")
_PUBLIC_SETTINGS = (
    "dtype",
    "revision",
    "quantization",
    "load_in_4bit",
    "load_in_8bit",
    "max_length",
    "max_model_len",
    "enable_thinking",
    "chat template",
)
# If there is an adapter, lm-eval names the model after it; `pretrained` is then the base model.
_WEIGHTS = ("peft", "delta", "lora_local_path", "pretrained", "model_path")
_UNSET = ("None", "False")
_GIVE_NAME = "Give the model's name on the hub: publish ORGANISATION/NAME=PATH."
_TAKE_LOG_AS_WRITTEN = (
    "Take the log as it was written, or score it again: hkcanto rescore."
)


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


def publishable_runs(
    runs: Runs,
    tasks: Collection[str] = (),
) -> tuple[list[Run], list[tuple[Run, str]]]:
    """Return the runs in publishable form, and those that must not be published, with reasons.

    A model has the name that the user gave, or its own without Inspect's provider: `Qwen/Qwen3-8B`
    for `vllm/Qwen/Qwen3-8B`. No path, host or key of the user's machine remains.

    Args:
        runs: The runs.
        tasks: Names of tasks to publish; empty for all.
    """
    named = [replace(run, model=_public_name(run)) for run in runs.runs]
    counts = Counter(map(_model_and_condition, named))
    publishable = list[Run]()
    refused = list[tuple[Run, str]]()
    for run in named:
        if tasks and run.task not in tasks:
            continue
        duplicates = counts[_model_and_condition(run)] - 1
        reason = _refusal(run, duplicates)
        if reason:
            refused.append((run, reason))
        else:
            publishable.append(_without_private_details(run))
    return publishable, refused


def _public_name(run: Run) -> str:
    if run.name:
        return run.name
    _, _, without_provider = run.model.partition("/")
    if run.harness == "inspect" and without_provider:
        return without_provider
    return run.model


def _model_and_condition(run: Run) -> Hashable:
    return run.model, run.comparable_as, run.harness


def _without_private_details(run: Run) -> Run:
    settings = tuple(
        (name, value)
        for name, value in run.settings
        if name in _PUBLIC_SETTINGS and _SAFE_VALUE.fullmatch(value)
    )
    return replace(
        run,
        label=run.model,
        notes=(),
        settings=settings,
    )


# ---------------------------------------------------------------------- refusals


def _refusal(run: Run, duplicates: int) -> str:
    """Return the first reason not to publish a run; empty if there is none.

    Args:
        run: The run.
        duplicates: The number of other runs of its model under its condition.
    """
    return (
        _refusal_of_task(run)
        or _refusal_of_coverage(run)
        or _refusal_of_figures(run)
        or _refusal_of_items(run)
        or _refusal_of_unchecked(run)
        or _refusal_of_name(run)
        or _refusal_of_duplicates(run, duplicates)
    )


def _refusal_of_task(run: Run) -> str:
    """Return why a run is not on the catalogue's task and the released data."""
    if run.is_sample:
        return "sample data, whose figures mean nothing. Run it without HKCANTO_DATA=sample."
    if not run.signature.prompt_known:
        return "its prompts were not logged. Run it in lm-eval or Inspect."
    if run.departure:
        return f"{run.departure}: the catalogue's task sends something else. Run it unchanged."
    if run.outdated:
        return f"it {run.outdated}."
    if not run.trusted_data:
        return (
            f"its data ({run.data}) is not a published revision. Run it on the release."
        )
    return ""


def _refusal_of_coverage(run: Run) -> str:
    """Return why a run does not have each item of its task once."""
    items = len({*run.items.ids})
    if not run.unfinished and not run.limited and items == run.expected:
        return ""
    if run.unfinished:
        fault = run.unfinished
    elif len(run.items) > items:
        fault = "items occur twice"
    else:
        fault = "not the whole task"
    return (
        f"{fault}, with {items:,} of {run.expected:,} items. "
        "Finish it (inspect eval-retry LOG), or run it without limit or subjects."
    )


def _refusal_of_figures(run: Run) -> str:
    """Return a figure that differs from the harness's."""
    different = harness_agreement(run).different
    if not different:
        return ""
    figure = different[0]
    return (
        f"{figure.name} is {figure.ours:.6g} here, {figure.reported:.6g} in {run.harness}. "
        "Take the log as it was written, or run it again."
    )


def _refusal_of_items(run: Run) -> str:
    """Return an item that differs from the release's, or whose judgement from the log's.

    The items are compared with the release if it is on this machine.
    """
    released = _released_texts(run)
    if released is None and run.trusted_data:
        _log.warning(
            "%s on %s: its questions were not compared with the release: "
            "the data %s is not on this machine.",
            run.label,
            run.task,
            run.data,
        )
    for scored in _scored_again(run):
        sample = scored.sample
        if scored.is_changed:
            return (
                f"{sample.id} has other values in the log than its answer gives. "
                f"{_TAKE_LOG_AS_WRITTEN}"
            )
        texts = sample.text, sample.target
        if released is not None and released.get(sample.id) != texts:
            return (
                f"{sample.id} has another question or answer than the data {run.data}. "
                f"{_TAKE_LOG_AS_WRITTEN}"
            )
    return ""


def _released_texts(run: Run) -> dict[str, tuple[str, str]] | None:
    """Return each released item's text and target by its id; None without the release."""
    with suppress(HKCantoError):
        loaded = load_task(run.task, shots=run.shots, **options_of(run.signature))
        if loaded.revision == run.data:
            return {
                sample.id: (sample.text, sample.target) for sample in loaded.samples
            }
    return None


def _scored_again(run: Run) -> Iterator[Scored]:
    """Yield the responses in a run's logs, judged again."""
    for source in run.sources:
        for rescored in rescored_runs(source):
            if isinstance(rescored, SkippedLog) or rescored.run.task != run.task:
                continue
            yield from rescored.scored


def _refusal_of_unchecked(run: Run) -> str:
    """Return that a log has no figures to compare with ours."""
    if harness_agreement(run).equal:
        return ""
    return (
        f"its log has no figures of {run.harness} to check against. Run it to the end."
    )


def _refusal_of_name(run: Run) -> str:
    """Return why a model's name would mislead."""
    if not run.name:
        for name, value in run.settings:
            if name in _WEIGHTS and value not in _UNSET:
                return (
                    f"{run.model} does not name all its weights, like an adapter ({name}). "
                    f"{_GIVE_NAME}"
                )
    is_name = MODEL.fullmatch(run.model)
    if not is_name or (not run.name and Path(run.model).exists()):
        return (
            f"{run.model!r} is not a model name, or is a folder on your machine. "
            f"{_GIVE_NAME}"
        )
    return ""


def _refusal_of_duplicates(run: Run, duplicates: int) -> str:
    """Return that other runs have the same model and condition."""
    if not duplicates:
        return ""
    return (
        f"{duplicates} more of {run.model} under the same condition in {run.harness}. "
        "Publish one of them, or give them different names: NAME=PATH."
    )


def folder_of(model: str) -> str:
    """Return a model's ORGANISATION/NAME as a path that is valid on every file system.

    Raises:
        NotPublishable: It has no organisation.
    """
    if "/" not in model:
        raise NotPublishable(
            f"{model}: results are filed under a model's ORGANISATION/NAME. "
            f"Give it: hkcanto publish ORGANISATION/{model}=PATH."
        )
    return model.replace(":", "_")
