"""Instruction following: a request with constraints on its answer that a program can check.

The figures are the four of IFEval (Zhou et al. 2023, section 2.2). The content of an answer is not
judged. The verifiers are in `hkcanto_metrics.constraints`.
"""

from importlib.resources import files
from operator import itemgetter
from typing import Any, ClassVar

import msgspec

from hkcanto_metrics.constraints import (
    Constraint,
    check_constraints,
    follows,
    pool_constraints,
    read_constraints,
    read_ifeval,
)

from ..data.tables import Row
from ..errors import DataCorrupt
from ..figures import figures
from ..judgements import Judgement
from ..samples import Sample
from .prompted import Prompted

_ANSWERS = "constraint_answers.json"


class Constraints(Prompted):
    """Requests with constraints. Columns: `prompt`, `constraints`; optional: `id`, `topic`.

    The column `constraints` has a list of `{"name": …, "args": {…}}`, or such a list as a JSON
    text. IFEval's columns `instruction_id_list` and `kwargs` do as well. An answer is checked as
    written, without its reasoning.
    """

    FIGURES = figures(
        *("prompt_level_strict_acc", "inst_level_strict_acc"),
        *("prompt_level_loose_acc", "inst_level_loose_acc", "empty"),
    )
    COLUMNS: ClassVar = {**Prompted.COLUMNS, "constraints": ("constraints",)}
    TARGET = (
        '[{"name":"lines","args":{"exactly":1}},'
        '{"name":"characters","args":{"counting":"all","at_most":3}}]'
    )  # its constraints distinguish strict from loose checks

    def row(self, row: Row) -> Sample:
        """Read a request and its constraints.

        Raises:
            DataCorrupt: A constraint is invalid. Unlike other unreadable rows, such a row is never
                set aside: it is the author's mistake, and may affect every row of the file.
        """
        cell: Any = row.find(self.columns("constraints"))
        ids: Any = row.find(("instruction_id_list",))
        kwargs: Any = row.find(("kwargs",))
        of_ifeval = cell is None and ids is not None
        try:
            asked = read_ifeval(ids, kwargs) if of_ifeval else read_constraints(cell)
        except ValueError as error:
            correct = f"Correct the row; it has {row.named()}."
            raise DataCorrupt(f"{row.where}: {error}. {correct}") from error
        target = msgspec.json.encode(asked).decode()
        return msgspec.structs.replace(super().row(row), target=target)

    def further_readings(self) -> list[Any]:
        """Return each verifier's verdicts on some right and wrong answers."""
        answers = msgspec.json.decode(
            files(__package__).joinpath(_ANSWERS).read_bytes()
        )
        return [
            [
                name,
                args,
                [
                    follows(answer, Constraint(name, args))
                    for answer in (*right, *wrong)
                ],
            ]
            for name, of_verifier in answers.items()
            for args, right, wrong in map(
                itemgetter("args", "right", "wrong"), of_verifier
            )
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
        checked = check_constraints(answer, asked)
        missed, explained = [], []
        verdicts = zip(asked, checked.strict, checked.loose, strict=True)
        for number, (constraint, strict, loose) in enumerate(verdicts, start=1):
            verdict = "followed"
            if not strict:
                verdict = "not followed, but loosely" if loose else "not followed"
                missed.append(
                    f"{number}. {constraint.name}{' (but loosely)' if loose else ''}"
                )
            args = msgspec.json.encode(constraint.args).decode()
            explained.append(f"{number}. `{constraint.name}` `{args}`: {verdict}")
        reason = f"not followed: {', '.join(missed)}" if missed else "all followed"
        empty = not answer.strip()
        return Judgement(
            values={**pool_constraints([checked]), "empty": float(empty)},
            answer=answer,
            reason="none: empty" if empty else reason,
            weights={
                f"inst_level_{way}_acc": len(asked) for way in ("strict", "loose")
            },
            explanation="\n".join(explained),
        )
