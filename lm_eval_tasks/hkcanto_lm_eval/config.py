"""Exchange settings with lm-eval: a task's options, its configuration and its YAML file."""

import argparse
import difflib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from hkcanto_tasks.declarations import Average, Benchmark
from hkcanto_tasks.kinds.base import Kind
from hkcanto_tasks.tasks import option_values, refuse_unknown

Config = dict[str, Any]
"""The entries of a YAML file about a task or group, or its metadata."""

# Keys that lm-eval, other tasks of the same run, and our own files put into the metadata.
_METADATA_OF_OTHERS = frozenset(
    {
        "version",
        "config",
        "config_source",
        "_metadata",
        "part_of",
        "max_seq_lengths",
        "tokenizer",
    }
)

# Keys that a YAML file may set without changing the catalogue's task.
_KEYS_WITHOUT_EFFECT = frozenset(
    {
        "task",
        "dataset_name",
        "dataset_path",
        "num_fewshot",
        "task_alias",
        "tag",
        "group",
        "metadata",
        "include",
        "class",
        "output_type",
        "_qualified_name",
    }
)


def catalogue_name(config: Config) -> str:
    """Return the name of the catalogue's task that a YAML file runs.

    Examples:
        >>> catalogue_name({"task": "my_hkmmlu", "dataset_name": "hkmmlu"})
        'hkmmlu'
    """
    return str(config.get("dataset_name") or config["task"])


def task_options(name: str, metadata: Config) -> Config:
    """Pick a task's options out of its metadata.

    lm-eval merges `--metadata` with the model's arguments, so an unknown key is not always a
    mistake. An unknown key is refused if it is named in `--metadata` itself, or if it looks like an
    option of ours and is not an argument of the model.

    Args:
        name: The task's name.
        metadata: The metadata that lm-eval passes to the task.

    Returns:
        The arguments for `hkcanto_tasks.tasks.task_as_run`.

    Raises:
        OptionError: An option does not exist.

    Examples:
        >>> task_options("hkmmlu", {"pretrained": "gpt2", "shots": "5", "prompt": "yue"})
        {'shots': '5', 'prompt': 'yue'}
    """
    known = option_values(name)
    in_metadata = _keys_of("metadata")
    of_others = _METADATA_OF_OTHERS | (_keys_of("model_args", "-a") - in_metadata)
    options: Config = {}
    for key, value in metadata.items():
        if key in known:
            if value is not None:
                options[key] = value
        elif key not in of_others:
            similar = difflib.get_close_matches(
                key,
                known,
                n=1,
                cutoff=0.8,
            )
            if key in in_metadata or similar:
                refuse_unknown(name, [key])
    return options


def seed_sent() -> dict[str, int | None]:
    """Return the user's seed for a server, or none as in Inspect: lm-eval itself sends 1234.

    Of four seeds on the command line, the third is for sampling. Other models get no seed.
    """
    from lm_eval.api.registry import get_model

    model = setting("model", "-M")
    has_own_seed = "seed" in _keys_of("model_args", "-a") | _keys_of("gen_kwargs")
    if not model or has_own_seed or not hasattr(get_model(model), "_create_payload"):
        return {}
    seeds = re.findall(r"\w+", str(setting("seed") or ""))
    seed = seeds[2] if len(seeds) > 2 else "".join(seeds[:1])
    if not seed.isdecimal():
        return {"seed": None}
    return {"seed": int(seed)}


def setting(
    name: str,
    *flags: str,
    **options: Any,
) -> Any:
    """Return a setting of lm-eval's command: an argument, or an entry of its `--config` file.

    It is None if neither has it.

    Args:
        name: The setting's name.
        flags: Short names of the argument.
        options: Further arguments of `ArgumentParser.add_argument`.
    """
    value = _from_argv(f"--{name}", *flags, **options)
    path = _from_argv("--config", "-C")
    if value is None and path:
        with suppress(OSError, yaml.YAMLError, AttributeError):
            return yaml.safe_load(Path(path).read_text("utf-8")).get(name)
    return value


def _from_argv(*flags: str, **options: Any) -> Any:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument(*flags, dest="value", **options)
    try:
        return parser.parse_known_args()[0].value
    except (SystemExit, argparse.ArgumentError):
        return None


def _keys_of(name: str, *flags: str) -> set[str]:
    """Return the keys of a mapping, which is JSON, `a=1,b=2`, `a=1 b=2` or an entry of a file."""
    keys: set[str] = set()
    value = (
        setting(
            name,
            *flags,
            nargs="*",
            action="extend",
        )
        or ()
    )
    if isinstance(value, dict):
        return {*map(str, value)}
    for text in [value] if isinstance(value, str) else value:
        try:
            keys |= json.loads(text).keys()
        except (ValueError, AttributeError):
            keys |= set(re.findall(r"(?:^|,)\s*(\w+)=", text))
    return keys


def output_type(kind: Kind) -> str:
    """Return lm-eval's name for the requests that a task sends."""
    if kind.is_generative:
        return "generate_until"
    return "loglikelihood" if kind.GOLD else "multiple_choice"


def configuration(kind: Kind) -> Config:
    """Return the configuration for lm-eval's `ConfigurableTask`.

    Examples:
        >>> from hkcanto_tasks.tasks import task_as_run
        >>> configuration(task_as_run("hkcanto_cultural_0shot"))["num_fewshot"]
        0
    """
    # --num_fewshot overrides any number except an explicit 0.
    default_shots = 0 if kind.task.variant.shots == 0 else None
    config: Config = {
        "dataset_path": "hkcanto",
        "test_split": "test",
        "fewshot_split": "examples",
        "fewshot_config": {"sampler": "first_n"},
        "num_fewshot": kind.task.shots or default_shots,
        "description": "system",
        "doc_to_text": "text",
        "doc_to_target": "target",
        "target_delimiter": kind.template.answer_separator,
        "fewshot_delimiter": kind.template.example_separator,
        "output_type": output_type(kind),
        # Any value keeps lm-eval from looking the metrics' names up on the hub.
        "process_results": "process_results",
        # The task's own aggregations replace these.
        "metric_list": [
            {
                "metric": figure.name,
                "aggregation": "mean",
                "higher_is_better": figure.higher_is_better,
            }
            for figure in kind.table
        ],
    }
    if kind.is_generative:
        config["generation_kwargs"] = {
            "until": list(kind.sent_stop(chat=False)),
            "max_gen_toks": kind.max_tokens,
            "do_sample": False,
        }
    elif not kind.GOLD:
        config["doc_to_choice"] = "letters"
    return config


def edit_hash(
    config: Config,
    kind: Kind,
    classes: Sequence[str],
) -> str:
    """Return a hash of what a user's YAML file and classes change; empty if nothing.

    Args:
        config: The configuration of the YAML file.
        kind: The task of the catalogue.
        classes: The names of the classes that a user wrote for the task.
    """
    edits = []
    for edit in sorted(config.items()):
        if edit[0] not in _KEYS_WITHOUT_EFFECT:
            edits.append(edit)
    requests = config.get("output_type")
    if requests not in (None, output_type(kind)):
        edits.append(("output_type", requests))
    for name in classes:
        edits.append(("class", name))
    if not edits:
        return ""
    return sha256(repr(edits).encode()).hexdigest()[:7]


def averages_over(benchmark: Benchmark) -> list[Average]:
    """Return a benchmark's averages over columns; one of a single column is a group of its own."""
    return [average for average in benchmark.averages if len(average.columns) > 1]
