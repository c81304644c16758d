"""Read the constraints of IFEval's files, and of files in its form.

``ifeval.toml`` maps its instructions to our verifiers. They count as this package does, not as
IFEval's code does: a word is a Chinese character, a Latin word or a number.
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hkcanto_metrics.constraints.declaring import Constraint

# Instruction → our verifiers, each with its arguments.
_PATH = Path(__file__).with_suffix(".toml")
_VERIFIERS: dict[str, list[tuple[str, dict[str, Any]]]] = tomllib.loads(
    _PATH.read_text("utf-8")
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
        >>> arguments = {"keyword": "奶茶", "frequency": 3, "relation": "less than"}
        >>> read_ifeval(["keywords:frequency"], [arguments])
        (Constraint(name='occurrences', args={'word': '奶茶', 'at_most': 2}),)
    """
    kwargs = kwargs or []
    if not instruction_id_list or len(instruction_id_list) != len(kwargs):
        raise ValueError(
            f"{len(instruction_id_list)} instructions have {len(kwargs)} kwargs"
        )
    constraints: list[Constraint] = []
    for instruction, arguments in zip(instruction_id_list, kwargs, strict=True):
        constraints += _instruction_constraints(instruction, arguments or {})
    return tuple(constraints)


def _instruction_constraints(
    instruction: str, arguments: Mapping[str, Any]
) -> list[Constraint]:
    if instruction not in _VERIFIERS:
        raise ValueError(
            f"no instruction is named {instruction!r}; give {', '.join(_VERIFIERS)}"
        )
    present = {key: value for key, value in arguments.items() if value is not None}
    constraints = []
    for verifier, template in _VERIFIERS[instruction]:
        try:
            constraints.append(Constraint(verifier, _filled(template, present)))
        except ValueError as error:
            raise ValueError(f"the instruction {instruction!r}: {error}") from error
    return constraints


def _filled(
    template: Mapping[str, Any], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return our arguments, with IFEval's in their places."""
    filled = {}
    for name, value in template.items():
        is_place = str(value).startswith("$")
        argument = arguments.get(value[1:]) if is_place else value
        # A data frame's column of numbers with gaps has floats.
        if isinstance(argument, float) and argument.is_integer():
            argument = int(argument)
        filled[name] = argument
    if "language" in filled:
        filled["language"] = _LANGUAGES.get(str(filled["language"]), filled["language"])
    bound = filled.pop("bound", None)
    if bound is None:
        return filled
    if _relation(arguments) == "less than":
        filled["at_most"] = bound - 1
    else:
        filled["at_least"] = bound
    return filled


def _relation(arguments: Mapping[str, Any]) -> str:
    """Return how a count relates to its bound; empty, which means "at least", if not given."""
    relation = ""
    for key, value in arguments.items():
        if key.endswith("relation"):
            relation = value
            break
    if relation not in ("", "at least", "less than"):
        raise ValueError(
            f"the relation is {relation!r}; give 'at least' or 'less than'"
        )
    return relation
