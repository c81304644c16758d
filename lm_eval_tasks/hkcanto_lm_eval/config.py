"""Exchange settings with lm-eval: a task's options, its configuration and its YAML file."""

import argparse
import difflib
import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from hkcanto_tasks.declarations import Average, Benchmark
from hkcanto_tasks.kinds.base import Kind
from hkcanto_tasks.tasks import option_values, refuse_unknown

# Keys that lm-eval, other tasks of the same run, and our own files put into the metadata.
_NOT_OURS = frozenset(
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


def options_of(name: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
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
        >>> options_of("hkmmlu", {"pretrained": "gpt2", "shots": "5", "prompt": "yue"})
        {'shots': '5', 'prompt': 'yue'}
    """
    known = option_values(name)
    asked = _keys_of("--metadata")
    others = _NOT_OURS | (_keys_of("--model_args", "-a") - asked)
    near = partial(difflib.get_close_matches, possibilities=known, n=1, cutoff=0.8)
    suspects = (key for key in metadata if key not in others)
    refuse_unknown(name, (key for key in suspects if key in asked or near(key)))
    return {
        key: value
        for key, value in metadata.items()
        if key in known and value is not None
    }


def seed_sent() -> dict[str, int | None]:
    """Return the user's seed for a server, or none as in Inspect: lm-eval itself sends 1234.

    Of four seeds on the command line, the third is for sampling. Other models get no seed.
    """
    from lm_eval.api.registry import get_model

    name = from_argv("--model", "-M")
    given = _keys_of("--model_args", "-a") | _keys_of("--gen_kwargs")
    if not name or "seed" in given or not hasattr(get_model(name), "_create_payload"):
        return {}
    seeds = (from_argv("--seed") or "").split(",")
    seed = seeds[2] if len(seeds) > 2 else seeds[0]
    return {"seed": int(seed) if seed.strip().isdecimal() else None}


def from_argv(*flags: str, **options: Any) -> Any:
    """Return the value of an argument on the command line; None if it is missing or malformed.

    Args:
        flags: The argument's names.
        options: Further arguments of `ArgumentParser.add_argument`.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument(*flags, dest="value", **options)
    try:
        return parser.parse_known_args()[0].value
    except (SystemExit, argparse.ArgumentError):
        return None


def _keys_of(*flags: str) -> set[str]:
    """Return the keys of a mapping on the command line, as JSON, `a=1,b=2` or `a=1 b=2`."""
    keys: set[str] = set()
    for text in from_argv(*flags, nargs="*", action="extend") or ():
        try:
            keys |= json.loads(text).keys()
        except (ValueError, AttributeError):
            keys |= set(re.findall(r"(?:^|,)\s*(\w+)=", text))
    return keys


def output_type(how: Kind) -> str:
    """Return lm-eval's name for the requests that a task sends."""
    if how.is_generative:
        return "generate_until"
    return "loglikelihood" if how.GOLD else "multiple_choice"


def configuration(how: Kind) -> dict[str, Any]:
    """Return the configuration for lm-eval's `ConfigurableTask`.

    Examples:
        >>> from hkcanto_tasks.tasks import task_as_run
        >>> configuration(task_as_run("hkcanto_cultural_0shot"))["num_fewshot"]
        0
    """
    metrics = []
    for figure in how.table:
        higher = figure.higher_is_better
        metrics.append(
            {"metric": figure.name, "aggregation": "mean", "higher_is_better": higher}
        )
    config: dict[str, Any] = {
        "dataset_path": "hkcanto",
        "test_split": "test",
        "fewshot_split": "examples",
        "fewshot_config": {"sampler": "first_n"},
        # --num_fewshot overrides any number except an explicit 0.
        "num_fewshot": how.task.shots or (0 if how.task.variant.shots == 0 else None),
        "description": "system",
        "doc_to_text": "text",
        "doc_to_target": "target",
        "target_delimiter": how.template.answer_separator,
        "fewshot_delimiter": how.template.example_separator,
        "output_type": output_type(how),
        # Any value keeps lm-eval from looking the metrics' names up on the hub.
        "process_results": "process_results",
        # The task's own aggregations replace these.
        "metric_list": metrics,
    }
    if not how.is_generative:
        return config if how.GOLD else {**config, "doc_to_choice": "letters"}
    until = list(how.sent_stop(chat=False))
    asked = {"until": until, "max_gen_toks": how.max_tokens, "do_sample": False}
    return {**config, "generation_kwargs": asked}


def averages_over(benchmark: Benchmark) -> list[Average]:
    """Return a benchmark's averages over columns; one of a single column is a group of its own."""
    return [average for average in benchmark.averages if len(average.columns) > 1]
