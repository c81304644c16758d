"""Instruction following: a request with constraints on its answer that a program can check.

The figures are the four of IFEval (Zhou et al. 2023, section 2.2). The content of an answer is not
judged. The verifiers are in `hkcanto_metrics.constraints`.
"""

import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from operator import itemgetter
from typing import Any, ClassVar

import msgspec

from hkcanto_metrics.constraints import (
    Constraint,
    Followed,
    check_constraints,
    follows,
    pool_constraints,
    read_constraints,
)

from ..data.tables import Row
from ..errors import DataCorrupt
from ..figures import figures
from ..judgements import Judgement
from ..samples import Sample
from .prompted import Prompted

_LOOSELY = (
    "followed by the answer as it is, or without its first line, its last line, all *, or several "
    "of these."
)
_POOLED = ("inst_level_strict_acc", "inst_level_loose_acc")
_ANSWERS = "constraint_answers.json"


class Constraints(Prompted):
    """Requests with constraints. Columns: `prompt`, `constraints`; optional: `id`, `topic`.

    The column `constraints` has a list of `{"name": …, "args": {…}}`, or such a list as a JSON
    text. An answer is checked as written, without its reasoning.
    """

    FIGURES = figures(
        *("prompt_level_strict_acc", "inst_level_strict_acc"),
        *("prompt_level_loose_acc", "inst_level_loose_acc", "empty"),
    )
    COLUMNS: ClassVar = {**Prompted.COLUMNS, "constraints": ("constraints",)}

    def row(self, row: Row) -> Sample:
        """Read a request and its constraints.

        Raises:
            DataCorrupt: A constraint is invalid. Unlike other unreadable rows, such a row is never
                set aside: it is the author's mistake, and may affect every row of the file.
        """
        cell, columns = row.find(self.columns("constraints")), self.columns("constraints")
        if cell is None:
            raise DataCorrupt(
                f"{row.where} has no constraints: expected a list in a column "
                f"{' or '.join(columns)}, found {row.named()}. Correct the row."
            )
        try:
            asked = read_constraints(cell)  # type: ignore[arg-type]  # checked by it
        except ValueError as error:
            raise DataCorrupt(f"{row.where}: {error}. Correct the row.") from error
        target = msgspec.json.encode(asked).decode()
        return msgspec.structs.replace(super().row(row), target=target)

    def made_up(self) -> Sample:
        """Return an item with constraints that distinguish strict from loose checks."""
        asked = [
            Constraint("lines", {"exactly": 1}),
            Constraint("characters", {"counting": "all", "at_most": 3}),
        ]
        target = msgspec.json.encode(asked).decode()
        return msgspec.structs.replace(super().made_up(), target=target)

    def further_readings(self) -> list[Any]:
        """Return each verifier's verdicts on some right and wrong answers."""
        answers = msgspec.json.decode(files(__package__).joinpath(_ANSWERS).read_bytes())
        return [
            [name, args, [follows(answer, Constraint(name, args)) for answer in (*right, *wrong)]]
            for name, of_verifier in answers.items()
            for args, right, wrong in map(itemgetter("args", "right", "wrong"), of_verifier)
        ]

    def score(self, answer: str, sample: Sample) -> Judgement:
        """Check which constraints an answer follows.

        Examples:
            >>> kind = Constraints.__new__(Constraints)  # made by `task_as_run`
            >>> asked = '[{"name": "quoted"}, {"name": "ends_with_question"}]'
            >>> judged = kind.score("好呀：\\n「搭電車？」", Sample(id="", target=asked))
            >>> judged.values["inst_level_strict_acc"], judged.reason
            (0.5, 'not followed: 1. quoted (but loosely)')
        """
        asked = read_constraints(sample.target)
        found = check_constraints(answer, asked)
        empty = not answer.strip()
        return Judgement(
            values={**pool_constraints([found]), "empty": float(empty)},
            answer=answer,
            reason="none: empty" if empty else _reason(asked, found),
            weights=dict.fromkeys(_POOLED, len(asked)),
            explanation=_explanation(asked, found),
        )


def followed_strictly(target: str, reason: str) -> list[tuple[str, bool]]:
    """Return an item's verifiers, each with whether the answer was judged to follow it.

    Args:
        target: The item's target.
        reason: The judgement's reason.

    Examples:
        >>> followed_strictly('[{"name": "lines"}, {"name": "quoted"}]', "not followed: 1. lines")
        [('lines', False), ('quoted', True)]
    """
    missed = {int(number) for number in re.findall(r"(\d+)\. ", reason)}
    without = reason.startswith("none:")
    return [
        (each["name"], not without and number not in missed)
        for number, each in enumerate(msgspec.json.decode(target), start=1)
    ]


def _reason(asked: Sequence[Constraint], found: Followed) -> str:
    missed = [
        f"{number}. {each.name}" + " (but loosely)" * loose
        for number, (each, strict, loose) in enumerate(_each(asked, found), start=1)
        if not strict
    ]
    return f"not followed: {', '.join(missed)}" if missed else "all followed"


def _explanation(asked: Sequence[Constraint], found: Followed) -> str:
    """Say in Markdown which constraints were followed."""
    return "\n".join(
        f"{number}. `{each.name}` `{msgspec.json.encode(each.args).decode()}`: "
        + ("followed" if strict else f"not followed{', but loosely' * loose}")
        for number, (each, strict, loose) in enumerate(_each(asked, found), start=1)
    )


def _each(asked: Sequence[Constraint], found: Followed) -> Iterable[tuple[Constraint, bool, bool]]:
    return zip(asked, found.strict, found.loose, strict=True)
