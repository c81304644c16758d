"""Check which constraints a response follows, strictly and loosely, and pool IFEval's four figures.

This follows section 2.2 of Zhou and others (2023), "Instruction-Following Evaluation for Large
Language Models", https://arxiv.org/abs/2311.07911.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from hkcanto_metrics.constraints.declaring import VERIFIERS, Constraint
from hkcanto_metrics.reasoning import strip_reasoning


@dataclass(frozen=True, slots=True)
class Followed:
    """Which constraints of a prompt a response follows.

    Attributes:
        strict: For each constraint, whether the response follows it.
        loose: For each constraint, whether the response or one of its seven variants follows it.
    """

    strict: tuple[bool, ...]
    loose: tuple[bool, ...]


def follows(response: str, constraint: Constraint) -> bool:
    """Return whether a response strictly follows a constraint.

    Args:
        response: What the model wrote. Reasoning is removed first (see `split_reasoning`).
        constraint: The constraint.

    Returns:
        Whether the answer follows it. A response without an answer follows nothing.

    Examples:
        >>> once = Constraint("occurrences", {"word": "叮叮", "exactly": 1})
        >>> follows("<think>叮叮？</think>搭叮叮。", once), follows("叮叮叮叮", once)
        (True, False)
        >>> follows("", Constraint("avoids", {"words": ["的士"]}))
        False
    """
    return _holds(strip_reasoning(response), constraint)


def follows_loosely(response: str, constraint: Constraint) -> bool:
    """Return whether a response loosely follows a constraint: as it is, or as one of its variants.

    A variant lacks the first line, the last line, every ``*``, or several of these. So an
    introduction, a farewell and emphasis do not matter. Neither does a violation in one of these
    lines, so the result is an upper bound.

    Args:
        response: What the model wrote. Reasoning is removed first (see `split_reasoning`).
        constraint: The constraint.

    Returns:
        Whether the answer or one of its seven variants follows it. An empty text follows nothing.

    Examples:
        >>> one_line, said = Constraint("lines", {"exactly": 1}), "好呀：\\n搭電車去。"
        >>> follows_loosely(said, one_line), follows(said, one_line)
        (True, False)
    """
    answer = strip_reasoning(response)
    return any(_holds(variant, constraint) for variant in _variants(answer))


def check_constraints(response: str, constraints: Sequence[Constraint]) -> Followed:
    """Check which of a prompt's constraints a response follows, strictly and loosely.

    Args:
        response: What the model wrote. Reasoning is removed first.
        constraints: The constraints of the prompt, at least one.

    Returns:
        For each constraint, whether it is followed.

    Raises:
        ValueError: There are no constraints.

    Examples:
        >>> asked = [Constraint("lines", {"exactly": 1}), Constraint("ends_with_question")]
        >>> check_constraints("好呀：\\n搭電車？", asked)
        Followed(strict=(False, True), loose=(True, True))
    """
    if not constraints:
        raise ValueError("there are no constraints; give at least one")
    return Followed(
        strict=tuple(follows(response, each) for each in constraints),
        loose=tuple(follows_loosely(response, each) for each in constraints),
    )


def pool_constraints(followed: Iterable[Followed]) -> dict[str, float]:
    """Return the four figures of IFEval.

    Args:
        followed: For each prompt the result of `check_constraints`.

    Returns:
        ``prompt_level_strict_acc`` and ``prompt_level_loose_acc``: the share of prompts whose
        constraints are all followed; ``inst_level_strict_acc`` and ``inst_level_loose_acc``: the
        share of all constraints that are followed. From 0 to 1.

    Raises:
        ValueError: There are no results.

    Examples:
        >>> pool_constraints([Followed((True, False), (True, True)), Followed((True,), (True,))])
        {'prompt_level_strict_acc': 0.5, 'inst_level_strict_acc': 0.6666666666666666, \
'prompt_level_loose_acc': 1.0, 'inst_level_loose_acc': 1.0}
    """
    results = list(followed)
    if not results:
        raise ValueError("no results to pool: the list is empty; check at least one response")
    figures = {}
    for name in ("strict", "loose"):
        of_each: list[tuple[bool, ...]] = [getattr(each, name) for each in results]
        figures[f"prompt_level_{name}_acc"] = fmean(map(all, of_each))
        figures[f"inst_level_{name}_acc"] = fmean(each for found in of_each for each in found)
    return figures


def _holds(answer: str, constraint: Constraint) -> bool:
    answer = answer.strip()
    return bool(answer) and VERIFIERS[constraint.name].holds(answer, constraint.args)


def _variants(answer: str) -> list[str]:
    """Return an answer and its seven variants."""
    lines = answer.strip().split("\n")
    ends = product((None, 1), (None, -1))
    kept = ["\n".join(lines[start:end]) for start, end in ends]
    return [*kept, *(each.replace("*", "") for each in kept)]
