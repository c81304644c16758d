"""The language of models' reasoning, and accuracy with and without reasoning in Cantonese."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from ....figures import LANGUAGES
from ...runs import Run
from ...statistics.estimates import estimate
from ...statistics.intervals import Estimate
from ..blocks import Column, Section, Table, Value, section, table
from ..presentation import MODEL, TASK, FigureColumn, figure_columns, in_order

_CAPTION = (
    "Only responses with a logged reasoning block. A block is in the language of at least 85 % of "
    "its prose, otherwise mixed. Formulas, code and quotations do not count."
)
_ACCURACY = (
    "Responses without a reasoning block count in the first accuracy only. A higher accuracy in "
    "one language does not prove that the language is the cause: models choose it by the question."
)


def sections(runs: Sequence[Run]) -> Sequence[Section]:
    """Return a section on the language of reasoning, if there was any."""
    runs = in_order(runs, "reasoning_finished")
    columns = [MODEL, TASK, *figure_columns(runs, ["acc", "acc_reasoning_cantonese"])]
    for named, cantonese in (("Cantonese", 1), ("other", 0)):
        of = partial(_accuracy, cantonese)
        columns.append((Column(f"Accuracy, {named} reasoning", "percent"), of))
    scored = [run for run in runs if "acc" in run.items.values]
    answered, finished = in_order(runs, "answer_cantonese"), ["reasoning_finished"]
    tables = [
        _languages("reasoning", "Language of the reasoning", runs, finished, _CAPTION),
        table("reasoning_accuracy", "Accuracy by reasoning", scored, columns, _ACCURACY),
        _languages("answer", "Language of the answers", answered, [], "Answers in prose only."),
    ]
    return section("Reasoning", tables, "reasoning")


def _languages(
    what: str, title: str, runs: Sequence[Run], more: Sequence[str], caption: str
) -> Table:
    """Return a table of the number of blocks or answers, and the share of each language."""
    columns: list[FigureColumn] = [(Column("Items", "count"), partial(_items, what))]
    for language, named in LANGUAGES.items():
        name = f"{what}_{language}"
        if any(of.value for run in runs if (of := estimate(run, name))):
            column = Column(named, "percent", drawn=language == "cantonese")
            columns.append((column, partial(_share, name)))
    columns += figure_columns(runs, more)
    return table(f"{what}_language", title, runs, [MODEL, TASK, *columns], caption)


def _items(what: str, run: Run) -> Value:
    found = estimate(run, f"{what}_cantonese")
    return found.items if found else None


def _share(name: str, run: Run) -> Value:
    """Return the share of a language, with its interval for Cantonese."""
    found = estimate(run, name)
    return found if name.endswith("_cantonese") or not found else found.value


def _accuracy(cantonese: int, run: Run) -> Estimate | None:
    return estimate(run, "acc", np.equal(run.items.values["reasoning_cantonese"], cantonese))
