"""What lm-eval says to a task and is told of it: options, configuration, what a YAML file shows."""

import difflib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hkcanto_tasks.figures import Figure
from hkcanto_tasks.setup import RUN_OPTIONS, Setup, option_values, refuse_unknown

# What lm-eval, other tasks of the same run, and our own files put there.
_NOT_OURS = frozenset(
    {"version", "config", "config_source", "_metadata", "part_of", "max_seq_lengths", "tokenizer"}
)
_MULTITURN = "--fewshot_as_multiturn"


def options_of(name: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Pick a task's options out of its metadata.

    lm-eval merges `--metadata` with the arguments of the model, so a key that is no option of ours
    is often no mistake. Refused is a key that `--metadata` itself names, or that looks like an
    option of ours and is no argument of the model.

    Args:
        name: The task's name.
        metadata: What lm-eval hands to the task.

    Returns:
        The arguments for `hkcanto_tasks.setup.setup`.

    Raises:
        OptionError: There is no such option.

    Examples:
        >>> options_of("hkmmlu", {"pretrained": "gpt2", "shots": "5", "prompt": "yue"})
        {'shots': '5', 'prompt': 'yue'}
    """
    known = {**RUN_OPTIONS, **option_values(name)}
    asked, of_model = _keys_of("--metadata"), _keys_of("--model_args", "-a")
    near = [
        key
        for key in metadata
        if difflib.get_close_matches(key, known, n=1, cutoff=0.8) and key not in of_model
    ]
    suspect = (key for key in metadata if key in asked or key in near)
    refuse_unknown(name, (key for key in suspect if key not in _NOT_OURS))
    return {key: value for key, value in metadata.items() if key in known and value is not None}


def says_turns() -> bool:
    """Whether the command line says itself if worked examples are turns of their own.

    Without it, lm-eval 0.4.11 and newer make them turns wherever there is a chat template.
    """
    return any(argument.partition("=")[0] == _MULTITURN for argument in sys.argv[1:])


def _keys_of(*flags: str, arguments: Sequence[str] | None = None) -> set[str]:
    """Return the keys of a mapping on the command line, given as JSON, `a=1,b=2` or `a=1 b=2`."""
    given: list[str] = []
    reading = False
    for argument in sys.argv[1:] if arguments is None else arguments:
        flag, has_value, value = argument.partition("=")
        if flag in flags:
            reading = True
            given += [value] if has_value else []
        elif argument.startswith("--"):
            reading = False
        elif reading:
            given.append(argument)
    keys: set[str] = set()
    for text in given:
        try:
            keys |= json.loads(text).keys()
        except (ValueError, AttributeError):
            keys |= set(re.findall(r"(?:^|,)\s*(\w+)=", text))
    return keys


def configuration(how: Setup) -> dict[str, Any]:
    """Return what lm-eval's `ConfigurableTask` is made with."""
    template = how.template
    config: dict[str, Any] = {
        "dataset_path": "hkcanto",
        "test_split": "test",
        "fewshot_split": "examples",
        "fewshot_config": {"sampler": "first_n"},
        "num_fewshot": _shots(how),
        "description": "system",
        "doc_to_text": "text",
        "doc_to_target": "target",
        "target_delimiter": template.answer_separator,
        "fewshot_delimiter": template.example_separator,
        # Any value keeps lm-eval from looking the metrics' names up on the hub.
        "process_results": "process_results",
        "metric_list": [
            {
                "metric": figure.name,
                "aggregation": "mean",  # the task's own take its place
                "higher_is_better": figure.higher_is_better,
            }
            for figure in how.table
        ],
        "output_type": _output_type(how),
    }
    if not how.is_generative:
        return config | {"doc_to_choice": "letters"}
    return config | {"generation_kwargs": _generation(how)}


def shown(how: Setup) -> dict[str, Any]:
    """Return what the YAML file of a task shows, in the keys that lm-eval people know.

    Examples:
        >>> from hkcanto_tasks.setup import setup
        >>> shown(setup("hkcanto_cultural_0shot"))["num_fewshot"]
        0
    """
    template, options = how.template, how.options
    system = template.system
    if getattr(options, "cot", False) and template.system_cot is not None:
        system = template.system_cot
    elif not how.task.shots and template.zero_shot and "{zero}" not in system:
        system = template.zero_shot
    shows: dict[str, Any] = {
        "output_type": _output_type(how),
        "description": system,
        "num_fewshot": how.task.shots,
    }
    if how.is_generative:
        shows["generation_kwargs"] = _generation(how)
    shows["metric_list"] = [
        {
            "metric": figure.name,
            "aggregation": aggregation_name(figure),
            "higher_is_better": figure.higher_is_better,
        }
        for figure in how.table
    ]
    return shows


def aggregation_name(figure: Figure) -> str:
    """Say in a word how items become a figure.

    Examples:
        >>> from hkcanto_tasks.setup import setup
        >>> aggregation_name(setup("tmmluplus_gen").table[0])
        'mean_over_categories'
    """
    if figure.form != "mean":
        return {"corpus": "corpus", "rate": "pooled"}[figure.form]
    over = "mean" if figure.over == "questions" else f"mean_over_{figure.over}"
    return f"{over}_of_{figure.part}" if figure.part else over


def _output_type(how: Setup) -> str:
    return "generate_until" if how.is_generative else "multiple_choice"


def _shots(how: Setup) -> int | None:
    # lm-eval lets --num_fewshot change any number but an explicit 0.
    return how.task.shots if how.task.variant.shots == 0 else how.task.shots or None


def _generation(how: Setup) -> dict[str, Any]:
    until = list(how.sent_stop(chat=False))
    return {"until": until, "max_gen_toks": how.max_tokens, "do_sample": False}
