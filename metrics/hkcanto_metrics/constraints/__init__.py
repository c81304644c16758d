"""Instruction following that a program can check: verifiers for Cantonese and Written Chinese.

A constraint consists of a verifier's name and arguments; the arguments are checked when it is
created. A verifier is a condition, such as `quoted`, or a count, for which a constraint sets
``exactly``, ``at_least`` or ``at_most``. `VERIFIERS` maps names to verifiers;
docs/reference/constraints.md lists them.

>>> from hkcanto_metrics.constraints import Constraint, follows
>>> follows("搭叮叮去中環。", Constraint("characters", {"at_most": 10}))
True
"""

from hkcanto_metrics.constraints import language, writing  # noqa: F401  # they register
from hkcanto_metrics.constraints.declaring import (
    VERIFIERS,
    Constraint,
    Followed,
    Verifier,
    check_constraints,
    follows,
    follows_loosely,
    pool_constraints,
    read_constraints,
)
from hkcanto_metrics.constraints.ifeval import read_ifeval

__all__ = [
    "VERIFIERS",
    "Constraint",
    "Followed",
    "Verifier",
    "check_constraints",
    "follows",
    "follows_loosely",
    "pool_constraints",
    "read_constraints",
    "read_ifeval",
]
