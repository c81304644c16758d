"""Figures of generated text: translations, and Cantonese fluency."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from hkcanto_metrics.error_spans import ERROR_CATEGORIES
from hkcanto_metrics.rubric import CRITERIA

from ....figures import Figure
from ...runs import Run
from ...statistics.estimates import estimate
from ..blocks import (
    Block,
    Column,
    Note,
    Row,
    Section,
    Table,
    column_of,
    section,
    table,
)
from ..presentation import (
    MODEL,
    TASK,
    SideBySide,
    figure_columns,
    in_order,
    side_by_side,
)

_FAULTS = ("empty", "overgenerated", "wrong_script", "copied_source", "fluent")
_FLUENCY = (
    *("cantonese_ratio", "simplified_ratio", "degenerate", "empty", "overgenerated"),
    *("n_characters", "length_penalty"),
)
_OF_PAPERS = ("judged_accuracy", "judged_score")
_ACCURACY = "Share of characters in which the judge labelled no error (formula (1))."
_POINTS = "Share of the possible points, lowered by a penalty for length."
_MEAN = "Mean of the judge's points: 5, 3 or 1."
_DISAGREES = "Share of judgements that disagree with `fluent` on whether a text is fluent."
_ERRORS = "Labelled errors per judgement."
_FAILED = "Share of unusable judgements. An item without a usable judgement has no score."
JUDGED: Mapping[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure("judged_accuracy", "Judged accuracy", "share", True, _ACCURACY),
        Figure("judged_score", "Judged score", "share", True, _POINTS),
        *(Figure(of, of.capitalize(), "count", True, _MEAN) for of in CRITERIA),
        Figure("fluency_disagreement_rate", "Disagrees on fluency", "share", None, _DISAGREES),
        Figure("judge_failure_rate", "Failed judgements", "share", False, _FAILED),
        *(Figure(of, of, "count", False, _ERRORS) for of in ERROR_CATEGORIES),
    )
}
"""The figures that a judge in Inspect adds to those of a task."""

_WARNING = (
    "For translations into Cantonese or Written Chinese, BLEU, chrF, METEOR and ROUGE-L are only "
    "diagnostics: they know one reference, and between such close varieties many other "
    "translations are as good. HKCanto-Eval (Appendix F) rejects BLEU for these pairs and has "
    "people label errors."
)
_CAPTION = (
    "Intervals are from bootstrap resamples. Units are characters in Chinese and words in English. "
    "The mean is over BLEU, METEOR and ROUGE-L (HKMMLU, Table 2). Output in the wrong script has a "
    "low raw figure and a high normalised one."
)
_SCORES = (
    Column("Model"),
    Column("Figure"),
    Column("Raw", "score", "In the requested script.", False, drawn=True),
    Column("Normalised", "score", "With both sides in one script.", False, drawn=True),
    Column("Gap", "score_points", "Normalised minus raw: the cost of the wrong script."),
)
_JUDGED_BY = (
    "Judged by the words used, as classified by cantonesedetect (Lau, Lau and To 2024); the "
    "content is not judged. Quotations do not count."
)
_BY_A_JUDGE = (
    "Judged by a model with the rubrics of HKCanto-Eval (Appendices F.1 and G.1), which people "
    "used in the paper. Figures of different judges are not comparable."
)


def sections(runs: Sequence[Run]) -> Sequence[Section]:
    """Return a section on translation and one on fluency."""
    return [*translation(runs), *fluency(runs)]


def translation(runs: Sequence[Run]) -> Sequence[Section]:
    """Return the section on translations: raw scores, scores in one script, and faults."""
    groups = side_by_side(run for run in runs if any(each.of_texts for each in run.setup.FIGURES))
    runs = [run for group in groups for run in group.runs]
    caption = "Shares of outputs; fluency only for translations into Cantonese."
    columns = [MODEL, TASK, *figure_columns(runs, _FAULTS)]
    faults = table("translation_faults", "Faults of the translations", runs, columns, caption)
    blocks: list[Block] = [*map(_scores, groups)]
    blocks += [faults] if len(faults.columns) > 2 else []
    blocks.append(_judged("translation", in_order(runs, "judged_accuracy")))
    if any(run.definition.language != "en" for run in runs):
        blocks.insert(0, Note(_WARNING, "warning"))
    return section("Translation", blocks, "translation")


def fluency(runs: Sequence[Run]) -> Sequence[Section]:
    """Return the section on Cantonese fluency, for tasks that ask for Cantonese."""
    runs = in_order(runs, "fluent")
    fluent = [(replace(column, drawn=True), of) for column, of in figure_columns(runs, ["fluent"])]
    columns = [MODEL, TASK, *fluent, *figure_columns(runs, _FLUENCY)]
    title, judged = "Texts requested in Cantonese", in_order(runs, "judged_score")
    tables = [table("fluency", title, runs, columns, _JUDGED_BY), _judged("summaries", judged)]
    return section("Fluency", tables, "fluency")


def _judged(name: str, runs: Sequence[Run]) -> Table:
    columns = [
        (column_of(figure, drawn=name in _OF_PAPERS), partial(estimate, name=name))
        for name, figure in JUDGED.items()
    ]
    title = "Ratings by a judge"
    return table(f"{name}_judged", title, runs, [MODEL, TASK, *columns], _BY_A_JUDGE)


def _scores(group: SideBySide[Run]) -> Table:
    rows = [
        Row([run.label, figure.title, raw, normalized, normalized.value - raw.value], "run")
        for run in group.runs
        for figure in run.setup.FIGURES
        if (normalized := estimate(run, f"{figure.name}_normalized"))
        and (raw := estimate(run, figure.name))
    ]
    return Table(f"translation_{group.name}", group.title, _SCORES, rows, _CAPTION)
