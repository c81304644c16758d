"""Checks on runs before publishing, and removal of private details.

Logs contain paths, hosts and commands, so only the settings named here are published.
"""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from ...errors import HKCantoError
from ..audit import Audit, audit
from ..frames import Runs
from ..logs.checking import is_name_of, kind_of
from ..runs import Run
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
    "reasoning_effort",
    "gen reasoning_effort",
    "chat template",
)
# If there is an adapter, lm-eval names the model after it; `pretrained` is then the base model.
_WEIGHTS = ("peft", "delta", "lora_local_path", "pretrained", "model_path")
_WEIGHTS_BESIDE_NAME = ("revision", "subfolder", "peft", "delta")
DEPARTURE = "not_as_the_task"
"""The name in a record, and on a board, of `unusual_decoding`."""

_FIRST_RUNS = datetime(
    2020,
    1,
    1,
    tzinfo=UTC,
)
_CLOCKS_DIFFER = timedelta(days=1)
_UNSET = ("None", "False")
_GIVE_NAME = "Give the model's name on the hub: publish ORGANISATION/NAME=PATH."


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
    published_as: str = "",
) -> tuple[list[Run], list[tuple[Run, str]]]:
    """Return the runs in publishable form, and those that must not be published, with reasons.

    A model has the name that the user gave, or its own without Inspect's provider: `Qwen/Qwen3-8B`
    for `vllm/Qwen/Qwen3-8B`. No path, host or key of the user's machine remains.

    Args:
        runs: The runs.
        tasks: Names of tasks to publish; empty for all.
        published_as: The name of the model that answered; empty for the name in the logs, or the
            user's. With it, another model may have answered than the one that was asked.
    """
    original = [
        replace(run, name=published_as or run.name, model=_bare_name(run))
        for run in runs.runs
    ]
    models = _models_by_name(original)
    named = [replace(run, model=run.name or run.model) for run in original]
    counts = Counter(map(_model_and_condition, named))
    publishable = list[Run]()
    refused = list[tuple[Run, str]]()
    for run in named:
        if tasks and run.task not in tasks:
            continue
        if published_as:
            run = replace(run, other_model="")
        duplicates = counts[_model_and_condition(run)] - 1
        audited = _audited(run, models, duplicates)
        if audited.fault:
            refused.append((run, audited.fault))
        else:
            compared = replace(run, compared=audited.compared)
            publishable.append(_without_private_details(compared))
    return publishable, refused


def _audited(
    run: Run,
    models: Mapping[str, Sequence[str]],
    duplicates: int,
) -> Audit:
    """Return what is wrong with a run: first its name, then what its log states, then its items."""
    reason = _refusal_of_names(run, models) or _refusal(run, duplicates)
    if reason:
        return Audit(reason, compared=False)
    return audit(run)


def _models_by_name(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Return each of the user's names with the models in the logs that have it."""
    models: dict[str, dict[str, None]] = defaultdict(dict)
    for run in runs:
        if run.name:
            words = [run.model]
            for name, value in run.settings:
                if name in _WEIGHTS_BESIDE_NAME and value not in _UNSET:
                    words.append(f"{name} {value}")
            models[run.name][", ".join(words)] = None
    for name, known in models.items():
        for model in known:
            if MODEL.fullmatch(model) and not is_name_of(model, name):
                _log.warning("%s: its log names the model %s.", name, model)
    return {name: [*known] for name, known in models.items()}


def _refusal_of_names(run: Run, models: Mapping[str, Sequence[str]]) -> str:
    """Return that several models have the user's name for a run."""
    known = models.get(run.name, ())
    if len(known) < 2:
        return ""
    return (
        f"{run.name} names {len(known)} models: {'; '.join(known)}. "
        "Give each its own name: NAME=PATH."
    )


def _bare_name(run: Run) -> str:
    """Return a model's name without Inspect's provider: a name, or `openai-api/NAME`."""
    if run.harness != "inspect":
        return run.model
    return re.sub("^(openai-api/)?[^/]+/(?=.)", "", run.model)


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
        or _refusal_of_unchecked(run)
        or _refusal_of_name(run)
        or _refusal_of_other_model(run)
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
    if run.created > datetime.now(UTC) + _CLOCKS_DIFFER:
        return f"its time is in the future: {run.created:%Y-%m-%d}. Correct the clock."
    if run.created < _FIRST_RUNS:
        return f"its time cannot be right: {run.created:%Y-%m-%d}."
    if run.sent.system:
        return "a system message of the user's was sent. Run it without."
    if not run.trusted_data:
        return (
            f"its data ({run.data}) is not a published revision. Run it on the release."
        )
    return ""


def unusual_decoding(run: Run) -> str:
    """Return how the decoding of a run departs from its task's; empty if it does not."""
    words: list[str] = []
    if not run.kind.is_generative:
        return ""
    if run.decoding not in ("greedy", "decoding unknown"):
        words.append(run.decoding)
    kind = kind_of(run.signature)
    sent = run.sent
    if sent.max_tokens not in (None, kind.max_tokens):
        words.append(f"at most {sent.max_tokens:,} tokens, not {kind.max_tokens:,}")
    if sent.stop and sent.stop != kind.sent_stop(chat=bool(sent.template)):
        words.append("other stop texts")
    if sent.reasoning_effort:
        words.append(f"reasoning effort {sent.reasoning_effort}")
    words += [f"with {name}" for name, _ in sent.more]
    return ", ".join(words)


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


def _refusal_of_unchecked(run: Run) -> str:
    """Return that a log has no figures to compare with ours."""
    if harness_agreement(run).equal:
        return ""
    if run.sent.reducer not in ("", "mean"):
        return (
            f"its log has figures of the reducer {run.sent.reducer}, and these are means. "
            "Run it without --epochs-reducer."
        )
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


def _refusal_of_other_model(run: Run) -> str:
    """Return that another model answered than the one that was asked."""
    if not run.other_model:
        return ""
    return (
        f"{run.other_model}. To publish it under the name of the model that answered: "
        "--as ORGANISATION/NAME."
    )


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
