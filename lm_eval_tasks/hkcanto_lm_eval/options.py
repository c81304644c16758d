"""The options of a run, out of the mapping in which lm-eval hands them over with other things."""

import difflib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.task import option_values, refuse_unknown

# What lm-eval, other tasks of the same run, and our own files put there.
_NOT_OURS = frozenset(
    {"version", "config", "config_source", "_metadata", "part_of", "max_seq_lengths", "tokenizer"}
)
# What every task has besides the options of its kind.
_OURS = {
    "shots": "a number from 0",
    "subjects": "names of subjects or categories, with commas",
    "multiturn": "true or false",
}
_MULTITURN = "--fewshot_as_multiturn"


class RunOptions(NamedTuple):
    """What a run asks a task for.

    Attributes:
        shots: Worked examples, if it says how many.
        subjects: Only these, or those of these categories.
        multiturn: Whether each worked example is a turn of its own in a chat; None if it does not
            say.
        of_kind: The options of the task's kind.
    """

    shots: int | None
    subjects: list[str]
    multiturn: bool | None
    of_kind: dict[str, Any]


def run_options(name: str, metadata: Mapping[str, Any]) -> RunOptions:
    """Pick a task's options out of its metadata.

    lm-eval merges `--metadata` with the arguments of the model, so that what is no option of ours
    is often no mistake. Refused is what stands in `--metadata` itself, or what looks like an option
    of ours and is no argument of the model.

    Args:
        name: The task's name.
        metadata: What lm-eval hands to the task.

    Returns:
        What the run asks for.

    Raises:
        OptionError: There is no such option.

    Examples:
        >>> run_options("hkmmlu", {"pretrained": "gpt2", "shots": "5", "prompt": "yue"}).of_kind
        {'prompt': 'yue'}
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
    multiturn = metadata.get("multiturn")
    if multiturn is not None and str(multiturn).lower() not in ("true", "false"):
        raise OptionError(f"{name}: multiturn={multiturn!r} is neither true nor false.")
    return RunOptions(
        count,
        subjects.split(",") if isinstance(subjects, str) else list(subjects),
        None if multiturn is None else str(multiturn).lower() == "true",
        {key: value for key, value in metadata.items() if key in of_kind},
    )


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
