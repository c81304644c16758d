"""Read the constraints of IFEval's files, and of files in its form.

``ifeval.toml`` maps its instructions to our verifiers. They count as this package does, not as
IFEval's code does: a word is a Chinese character, a Latin word or a number, and only ``**`` and
``__`` highlight.
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hkcanto_metrics.constraints.declaring import Constraint

# Instruction → our verifiers, each with its arguments.
_VERIFIERS: dict[str, list[tuple[str, dict[str, Any]]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
_LANGUAGES = {"en": "english", "zh": "written_chinese", "yue": "cantonese"}


def read_ifeval(
    instruction_id_list: Sequence[str],
    kwargs: Sequence[Mapping[str, Any] | None] | None,
) -> tuple[Constraint, ...]:
    """Read the instructions of a prompt in IFEval's form.

    Args:
        instruction_id_list: The ids of the instructions.
        kwargs: For each id its arguments; None counts as not given.

    Returns:
        Our constraints, at least one for each id.

    Raises:
        ValueError: An id is unknown, or an argument is missing or wrong.

    Examples:
        >>> asked = {"keyword": "奶茶", "frequency": 3, "relation": "less than"}
        >>> read_ifeval(["keywords:frequency"], [asked])
        (Constraint(name='occurrences', args={'word': '奶茶', 'at_most': 2}),)
    """
    kwargs = kwargs or []
    if not instruction_id_list or len(instruction_id_list) != len(kwargs):
        raise ValueError(
            f"{len(instruction_id_list)} instructions have {len(kwargs)} kwargs"
        )
    asked: list[Constraint] = []
    for name, of_name in zip(instruction_id_list, kwargs, strict=True):
        if name not in _VERIFIERS:
            raise ValueError(
                f"no instruction is named {name!r}; give {', '.join(_VERIFIERS)}"
            )
        given = {
            key: value for key, value in (of_name or {}).items() if value is not None
        }
        try:
            asked += [
                Constraint(ours, _filled(args, given))
                for ours, args in _VERIFIERS[name]
            ]
        except ValueError as error:
            raise ValueError(f"the instruction {name!r}: {error}") from error
    return tuple(asked)


def _filled(args: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return our arguments, with IFEval's in their places."""
    places = {
        key: value[1:] for key, value in args.items() if str(value).startswith("$")
    }
    filled = {**args, **{key: given.get(place) for key, place in places.items()}}
    if "language" in filled:
        filled["language"] = _LANGUAGES.get(str(filled["language"]), filled["language"])
    if (number := filled.pop("bound", None)) is not None:
        relation = next(
            (value for key, value in given.items() if key.endswith("relation")), ""
        )
        if relation not in ("", "at least", "less than"):
            raise ValueError(
                f"the relation is {relation!r}; give 'at least' or 'less than'"
            )
        is_most = relation == "less than"
        filled["at_most" if is_most else "at_least"] = number - 1 if is_most else number
    return filled
