"""Instruction following: a request with constraints on its answer that a program can check.

The figures are the four of IFEval (Zhou et al. 2023, section 2.2). The content of an answer is not
judged. The verifiers are in `hkcanto_metrics.constraints`.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, ClassVar

import msgspec

from hkcanto_metrics.constraints import (
    Constraint,
    Followed,
    check_constraints,
    follows,
    pool_constraints,
    read_constraints,
    read_ifeval,
)
from hkcanto_metrics.constraints.language import OWN_LANGUAGES
from hkcanto_metrics.reasoning import Reasoned

from ..data.tables import LeftOutRow, Row
from ..errors import DataCorrupt, OptionError
from ..figures import figures
from ..judgements import Judgement
from ..samples import Sample
from .prompted import Prompted

_ANSWERS = "constraint_answers.json"
_LANGUAGE = "language:response_language"


class Constraints(Prompted):
    """Requests with constraints. Columns: `prompt`, `constraints`; optional: `id`, `topic`.

    The column `constraints` has a list of `{"name": …, "args": {…}}`, or such a list as a JSON
    text. IFEval's columns `instruction_id_list` and `kwargs` do as well. An answer is checked as
    written, without its reasoning. Needs PyCantonese: `pip install 'hkcanto[g2p]'`.
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

    def set_up(self) -> None:
        """Refuse to run without the package that reads answers."""
        if find_spec("pycantonese") is None:
            raise OptionError(
                "the kind 'constraints' finds words and rhymes with PyCantonese: "
                "pip install 'hkcanto[g2p]'."
            )

    def row(self, row: Row) -> Sample:
        """Read a request and its constraints.

        Raises:
            LeftOutRow: IFEval's row asks for a language that no verifier knows.
            DataCorrupt: A constraint is invalid. Unlike other unreadable rows, such a row is never
                set aside: it is the author's mistake, and may affect every row of the file.
        """
        cell: Any = row.find(self.columns("constraints"))
        ids: Any = row.find(("instruction_id_list",))
        try:
            if cell is None and ids is not None:
                kwargs: Any = row.find(("kwargs",))
                _refuse_languages(row, ids, kwargs)
                constraints = read_ifeval(ids, kwargs)
            else:
                constraints = read_constraints(cell)
        except ValueError as error:
            correct = f"Correct the row; it has {row.named()}."
            raise DataCorrupt(f"{row.where}: {error}. {correct}") from error
        target = msgspec.json.encode(constraints).decode()
        return msgspec.structs.replace(super().row(row), target=target)

    @property
    def reads(self) -> set[str]:
        """The columns that the kind reads itself, in lower case."""
        return {*super().reads, "instruction_id_list", "kwargs"}

    def answer_in(self, parts: Reasoned) -> str:
        """Return all text outside of the reasoning: a constraint may be about tags."""
        return parts.tagged

    def score(
        self,
        answer: str,
        sample: Sample,
    ) -> Judgement:
        """Check which constraints an answer follows.

        Examples:
            >>> kind = Constraints.__new__(Constraints)  # made by `task_as_run`
            >>> asked = '[{"name": "quoted"}, {"name": "ends_with_question"}]'
            >>> judged = kind.score("好呀：\\n「搭電車？」", Sample(id="", target=asked))
            >>> judged.values["inst_level_strict_acc"], judged.reason
            (0.5, 'not followed: 1. quoted (but loosely)')
        """
        constraints = read_constraints(sample.target)
        checks = check_constraints(answer, constraints)
        is_empty = not answer.strip()
        count = len(constraints)
        return Judgement(
            values={**pool_constraints([checks]), "empty": float(is_empty)},
            answer=answer,
            reason="none: empty" if is_empty else _reason(constraints, checks),
            weights={"inst_level_strict_acc": count, "inst_level_loose_acc": count},
            explanation=_explanation(constraints, checks),
        )

    def further_readings(self) -> list[Any]:
        """Return each verifier's verdicts on some right and wrong answers."""
        content = files(__package__).joinpath(_ANSWERS).read_bytes()
        answers = msgspec.json.decode(content, type=dict[str, list[_VerifierCase]])
        readings = []
        for name, cases in answers.items():
            for case in cases:
                constraint = Constraint(name, case.args)
                texts = (*case.right, *case.wrong)
                verdicts = [follows(text, constraint) for text in texts]
                readings.append([name, case.args, verdicts])
        return readings


def _refuse_languages(
    row: Row,
    ids: Sequence[str],
    kwargs: Sequence[Mapping[str, Any] | None] | None,
) -> None:
    """Leave out a row of IFEval that asks for a language that cannot be identified here.

    31 of its 541 rows ask for another language than English; py3langid identifies those.
    """
    for instruction, arguments in zip(ids, kwargs or (), strict=False):
        language = (arguments or {}).get("language")
        if instruction != _LANGUAGE or not isinstance(language, str):
            continue
        what = f"the language {language!r}"
        try:
            (constraint,) = read_ifeval([_LANGUAGE], [{"language": language}])
        except ValueError:
            raise LeftOutRow(row.where, what) from None
        is_ours = (constraint.args or {})["language"] in OWN_LANGUAGES
        if not is_ours and find_spec("py3langid") is None:
            raise LeftOutRow(row.where, f"{what} (pip install 'hkcanto[languages]')")


def _reason(constraints: Sequence[Constraint], checks: Followed) -> str:
    """Return which constraints an answer does not follow."""
    missed: list[str] = []
    verdicts = zip(
        constraints,
        checks.strict,
        checks.loose,
        strict=True,
    )
    for number, (constraint, strict, loose) in enumerate(verdicts, start=1):
        if not strict:
            loosely = " (but loosely)" if loose else ""
            missed.append(f"{number}. {constraint.name}{loosely}")
    return f"not followed: {', '.join(missed)}" if missed else "all followed"


def _explanation(constraints: Sequence[Constraint], checks: Followed) -> str:
    """Return each constraint with its verdict, in Markdown."""
    lines: list[str] = []
    verdicts = zip(
        constraints,
        checks.strict,
        checks.loose,
        strict=True,
    )
    for number, (constraint, strict, loose) in enumerate(verdicts, start=1):
        if strict:
            verdict = "followed"
        elif loose:
            verdict = "followed only loosely"
        else:
            verdict = "not followed"
        args = msgspec.json.encode(constraint.args).decode()
        lines.append(f"{number}. `{constraint.name}` `{args}`: {verdict}")
    return "\n".join(lines)


class _VerifierCase(msgspec.Struct):
    args: dict[str, Any]
    right: list[str]
    wrong: list[str]
