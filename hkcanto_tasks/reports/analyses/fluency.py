"""Fluency: whether texts that were to be in Cantonese are, wherever a task asks for Cantonese."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from hkcanto_metrics.rubric import CRITERIA

from ..blocks import Column, Section, table
from ..evaluations import Evaluation
from ..figures import figure
from ..presentation import MODEL, TASK, figure_columns, side_by_side

_FIGURES = (
    "cantonese_ratio",
    "simplified_ratio",
    "degenerate",
    "empty",
    "overgenerated",
    "n_characters",
    "length_penalty",
)
_POINTS = "Points as a share of those to be had, less for length."
_DISAGREES = "Judgements whose verdict on fluency is not that of the words used."
_FAILED = "Judgements that could not be used; an item without any is unscored."
_JUDGED = {
    "judged_score": Column("Judged score", "percent", _POINTS, False, drawn=True),
    **{each: Column(each.capitalize(), "number", "Mean points, 5, 3 or 1.") for each in CRITERIA},
    "fluency_disagreement_rate": Column("Disagrees on fluency", "percent", _DISAGREES),
    "judge_failure_rate": Column("Failed judgements", "percent", _FAILED, True),
}


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section on how Cantonese the texts are that were to be."""
    groups = side_by_side([run for run in evaluations if "fluent" in run.items.values])
    runs = [run for group in groups for run in group.evaluations]
    fluent = [(replace(column, drawn=True), of) for column, of in figure_columns(runs, ["fluent"])]
    written = table(
        "fluency",
        "Texts that were to be in Cantonese",
        runs,
        [MODEL, TASK, *fluent, *figure_columns(runs, _FIGURES)],
        "Judged by the words used, as cantonesedetect (Lau, Lau and To 2024) sorts them; "
        "whether a text says the right thing is not judged. Quotations do not count.",
    )
    judged = table(
        "summaries_judged",
        "Summaries as a judge sees them",
        [run for run in runs if "judged_score" in run.items.values],
        [MODEL, TASK, *((column, partial(figure, name=name)) for name, column in _JUDGED.items())],
        "A model gave points by the rubric of HKCanto-Eval (Appendix G.1), for which the paper had "
        "people: figures of different judges are not comparable.",
    )
    tables = [each for each in (written, judged) if each.rows]
    return [Section("Fluency", tables, "fluency")] if tables else []
