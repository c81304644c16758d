"""Instruction following that a program can check: verifiers for Cantonese and Written Chinese.

A constraint consists of a verifier's name and arguments; the arguments are checked when it is
created. A verifier is a condition, such as `quoted`, or a count, for which a constraint sets
``exactly``, ``at_least`` or ``at_most``. `VERIFIERS` maps names to verifiers;
docs/reference/constraints.md lists them.

>>> from hkcanto_metrics.constraints import Constraint, follows
>>> follows("搭叮叮去中環。", Constraint("characters", {"at_most": 10}))
True
"""

from hkcanto_metrics.constraints import form, language, length, sound, words
from hkcanto_metrics.constraints.declaring import VERIFIERS as VERIFIERS
from hkcanto_metrics.constraints.declaring import Constraint as Constraint
from hkcanto_metrics.constraints.declaring import Followed as Followed
from hkcanto_metrics.constraints.declaring import Verifier as Verifier
from hkcanto_metrics.constraints.declaring import check_constraints as check_constraints
from hkcanto_metrics.constraints.declaring import follows as follows
from hkcanto_metrics.constraints.declaring import follows_loosely as follows_loosely
from hkcanto_metrics.constraints.declaring import pool_constraints as pool_constraints
from hkcanto_metrics.constraints.declaring import read_constraints as read_constraints
from hkcanto_metrics.constraints.declaring import register
from hkcanto_metrics.constraints.ifeval import read_ifeval as read_ifeval

register("Length", length)
register("Words", words)
register("Form", form)
register("Language and script", language)
register("Sound", sound)
