"""Figures of writing: of translations, and of texts that were to be in Cantonese."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from hkcanto_metrics.error_spans import ERROR_CATEGORIES
from hkcanto_metrics.rubric import CRITERIA

from ...runs import Run
from ..blocks import Block, Column, Note, Row, Section, Table, table
from ..estimates import estimate
from ..presentation import MODEL, TASK, SideBySide, figure_columns, side_by_side

_FAULTS = ("empty", "overgenerated", "wrong_script", "copied_source", "fluent")
_FLUENCY = (
    *("cantonese_ratio", "simplified_ratio", "degenerate", "empty", "overgenerated"),
    *("n_characters", "length_penalty"),
)
_ACCURACY = "Share of the characters that the judge labelled no error in (formula (1))."
_POINTS = "Points as a share of those to be had, less for length."
_DISAGREES = "Judgements whose verdict on fluency is not that of the words used."
_ERRORS = "Labelled errors for each judgement."
_FAILED = "Judgements that could not be used; an item without any is unscored."
JUDGED: Mapping[str, Column] = {
    "judged_accuracy": Column("Judged accuracy", "percent", _ACCURACY, False, drawn=True),
    "judged_score": Column("Judged score", "percent", _POINTS, False, drawn=True),
    **{each: Column(each.capitalize(), "number", "Mean points, 5, 3 or 1.") for each in CRITERIA},
    "fluency_disagreement_rate": Column("Disagrees on fluency", "percent", _DISAGREES),
    "judge_failure_rate": Column("Failed judgements", "percent", _FAILED, True),
    **{each: Column(each, "number", _ERRORS, True) for each in ERROR_CATEGORIES},
}
_WARNING = (
    "Where Cantonese or Written Chinese is written, BLEU, chrF, METEOR and ROUGE-L are diagnostics "
    "and not the score: they know one reference, and of such close varieties many translations are "
    "as good. HKCanto-Eval (Appendix F) rejects BLEU for these pairs and has people label errors."
)
_CAPTION = (
    "Intervals are from bootstrap resamples; units are characters in Chinese, words in English; "
    "the mean is of BLEU, METEOR and ROUGE-L (HKMMLU, Table 2). In another script "
    "the raw figure is low and the normalised one high."
)


def sections(evaluations: Sequence[Run]) -> Sequence[Section]:
    """Return a section on translation and one on fluency."""
    return [*translation(evaluations), *fluency(evaluations)]


def translation(evaluations: Sequence[Run]) -> Sequence[Section]:
    """Say how translations score, as they are and with both sides in one script, and why."""
    groups = side_by_side(
        [run for run in evaluations if any(each.form == "corpus" for each in run.setup.FIGURES)]
    )
    runs = [run for group in groups for run in group.evaluations]
    caption = "Shares of the outputs; what passes as Cantonese, where it is asked for."
    columns = [MODEL, TASK, *figure_columns(runs, _FAULTS)]
    tables = [
        *map(_scores, groups),
        table("translation_faults", "Faults of the translations", runs, columns, caption),
        _judged("translation", [run for run in runs if "judged_accuracy" in run.items.values]),
    ]
    blocks: list[Block] = [each for each in tables if each.rows and len(each.columns) > 2]
    if any(run.setup.task.definition.language != "en" for run in runs):
        blocks.insert(0, Note(_WARNING, "warning"))
    return [Section("Translation", blocks, "translation")] if blocks else []


def fluency(evaluations: Sequence[Run]) -> Sequence[Section]:
    """Say how Cantonese the texts are that were to be, wherever a task asks for Cantonese."""
    groups = side_by_side([run for run in evaluations if "fluent" in run.items.values])
    runs = [run for group in groups for run in group.evaluations]
    fluent = [(replace(column, drawn=True), of) for column, of in figure_columns(runs, ["fluent"])]
    written = table(
        "fluency",
        "Texts that were to be in Cantonese",
        runs,
        [MODEL, TASK, *fluent, *figure_columns(runs, _FLUENCY)],
        "Judged by the words used, as cantonesedetect (Lau, Lau and To 2024) sorts them; "
        "whether a text says the right thing is not judged. Quotations do not count.",
    )
    judged = _judged("summaries", [run for run in runs if "judged_score" in run.items.values])
    tables = [each for each in (written, judged) if each.rows]
    return [Section("Fluency", tables, "fluency")] if tables else []


def _judged(name: str, runs: Sequence[Run]) -> Table:
    return table(
        f"{name}_judged",
        "As a judge sees them",
        runs,
        [MODEL, TASK, *((column, partial(estimate, name=of)) for of, column in JUDGED.items())],
        "A model judged by the rubrics of HKCanto-Eval (Appendices F.1 and G.1), for which the "
        "paper had people: figures of different judges are not comparable.",
    )


def _scores(group: SideBySide) -> Table:
    rows = [
        Row([run.label, metric.title, raw, normalized, normalized.value - raw.value], "run")
        for run in group.evaluations
        for metric in run.setup.FIGURES
        if (normalized := estimate(run, f"{metric.name}_normalized"))
        and (raw := estimate(run, metric.name))
    ]
    columns = [
        Column("Model"),
        Column("Figure"),
        Column("Raw", "score", "In the script asked for.", False, drawn=True),
        Column("Normalised", "score", "With both sides in one script.", False, drawn=True),
        Column("Gap", "score_points", "Normalised less raw: what the wrong script costs."),
    ]
    return Table(f"translation_{group.name}", group.title, columns, rows, _CAPTION)
