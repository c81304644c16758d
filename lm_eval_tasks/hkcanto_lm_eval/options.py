"""The options of a run, out of the mapping in which lm-eval hands them over with other things."""

import difflib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.task import option_values, refuse_unknown

# What lm-eval, other tasks of the same run, and our own files put there.
_NOT_OURS = frozenset(
    {"version", "config", "config_source", "_metadata", "part_of", "max_seq_lengths", "tokenizer"}
)
# What every task has besides the options of its kind.
_OURS = {"shots": "a number from 0", "subjects": "names of subjects or categories, with commas"}


def run_options(
    name: str, metadata: Mapping[str, Any]
) -> tuple[int | None, list[str], dict[str, Any]]:
    """Pick a task's options out of its metadata.

    lm-eval merges `--metadata` with the arguments of the model, so that what is no option of ours
    is often no mistake. Refused is what stands in `--metadata` itself, or what looks like an option
    of ours and is no argument of the model.

    Args:
        name: The task's name.
        metadata: What lm-eval hands to the task.

    Returns:
        The number of shots, if it is given; the subjects; the options of its kind.

    Raises:
        OptionError: There is no such option.

    Example:
        >>> run_options("hkmmlu", {"pretrained": "gpt2", "shots": "5", "prompt": "yue"})
        (5, [], {'prompt': 'yue'})
    """
    of_kind = option_values(name)
    asked, of_model = _keys_of("--metadata"), _keys_of("--model_args", "-a")
    near = [
        key
        for key in metadata
        if difflib.get_close_matches(key, [*_OURS, *of_kind], n=1, cutoff=0.8)
        and key not in of_model
    ]
    suspect = [key for key in metadata if (key in asked or key in near) and key not in _NOT_OURS]
    refuse_unknown(name, suspect, _OURS)
    shots, subjects = metadata.get("shots"), metadata.get("subjects") or []
    try:
        count = None if shots is None else int(shots)
    except (TypeError, ValueError) as error:
        raise OptionError(f"{name}: shots={shots!r} is no number.") from error
    return (
        count,
        subjects.split(",") if isinstance(subjects, str) else list(subjects),
        {key: value for key, value in metadata.items() if key in of_kind},
    )


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
