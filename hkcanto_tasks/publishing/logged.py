"""What a log says of how a model was run, besides what the signature says: safe to publish.

Logs hold paths, hosts and commands. Only what is named here is taken from them.
"""

import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..logs.inspect import unpacked
from ..runs import Run
from ..signatures import parse_signature

_ADAPTERS = ("peft", "delta", "lora_local_path")
_SETTINGS = (
    *("dtype", "revision", "quantization", "load_in_4bit", "load_in_8bit"),
    *("max_length", "max_model_len", "enable_thinking"),
)
_GENERATION = {name: name for name in ("temperature", "top_p", "top_k", "max_tokens")}
_GENERATION["max_gen_toks"] = "max_tokens"  # in lm-eval


@dataclass(frozen=True, slots=True)
class Logged:
    """How a model was run."""

    backend: str  # what ran it: lm-eval's `--model`, or Inspect's provider
    version: str  # of the harness
    generation: Mapping[str, float]  # temperature, top_p, top_k, max_tokens, as far as they are set
    settings: Mapping[str, str]  # of the model, such as `dtype`
    adapted: bool  # whether weights of the user's own were put on it, which its name does not say


def logged(run: Run) -> Logged:
    """Return how the model of an evaluation was run."""
    read = _of_lm_eval if run.harness == "lm-eval" else _of_inspect
    found = [read(path, run.task) for path in run.sources]
    return replace(found[0], version="+".join(sorted({each.version for each in found})))


def _of_lm_eval(path: Path, task: str) -> Logged:
    log = json.loads(path.read_bytes())
    config, configs = log.get("config") or {}, log["configs"].values()
    given = config.get("model_args") or {}
    if isinstance(given, str):
        given = dict(part.partition("=")[::2] for part in given.split(","))
    given |= {"chat template": "yes" if log.get("chat_template_sha") else "no"}
    signed = ((each, (each.get("metadata") or {}).get("signature")) for each in configs)
    own = next(each for each, text in signed if text and parse_signature(text).task == task)
    generation = own.get("generation_kwargs") or {}
    if generation.get("do_sample") is False:
        generation = {"temperature": 0.0} | generation
    return _logged(config.get("model"), log.get("lm_eval_version"), generation, given)


def _of_inspect(path: Path, task: str) -> Logged:
    del task  # A log has one setting for all of its tasks.
    log = json.loads(_header(path) if path.suffix == ".eval" else path.read_bytes())
    about, plan = log["eval"], log.get("plan") or {}
    generation = (plan.get("config") or {}) | (about.get("model_generate_config") or {})
    version = (about.get("packages") or {}).get("inspect_ai")
    given = about.get("model_args") or {}
    return _logged(about["model"].partition("/")[0], version, generation, given)


def _header(path: Path) -> bytes:
    with path.open("rb") as file:
        members = {info.filename: info for info in zipfile.ZipFile(file).infolist()}
        # Without the former, a run did not come to its end.
        return unpacked(file, members.get("header.json") or members["_journal/start.json"])


def _logged(
    backend: str | None,
    version: str | None,
    generation: Mapping[str, Any],
    given: Mapping[str, Any],
) -> Logged:
    settings = {name: str(given.get(name, "")) for name in (*_SETTINGS, "chat template")}
    return Logged(
        backend or "unknown",
        version or "unknown",
        {
            _GENERATION[name]: value
            for name, value in generation.items()
            if name in _GENERATION and isinstance(value, int | float)
        },
        {name: value for name, value in settings.items() if re.fullmatch(r"[\w.+-]+", value)},
        any(given.get(name) for name in _ADAPTERS),
    )
