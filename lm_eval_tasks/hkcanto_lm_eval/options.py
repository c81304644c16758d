"""The options of a run, out of the mapping in which lm-eval hands them over with other things."""

import difflib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hkcanto_tasks.setup import RUN_OPTIONS, option_values, refuse_unknown

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
