"""Translation: figures as they are and with both sides in one script, faults, a judge's figures."""

from collections.abc import Sequence
from functools import partial

from hkcanto_metrics.error_spans import ERROR_CATEGORIES

from ..blocks import Block, Column, Note, Row, Section, Table, table
from ..evaluations import Evaluation
from ..figures import figure
from ..presentation import MODEL, TASK, SideBySide, figure_columns, side_by_side

_FAULTS = ("empty", "overgenerated", "wrong_script", "copied_source", "fluent")
_ACCURACY = "Share of the characters that the judge labelled no error in (formula (1))."
_FAILED = "Judgements that could not be used; an item without any is unscored."
_ERRORS = "Labelled errors for each judgement."
_JUDGED: dict[str, Column] = {
    "judged_accuracy": Column("Judged accuracy", "percent", _ACCURACY, False, drawn=True),
    "judge_failure_rate": Column("Failed judgements", "percent", _FAILED, True),
    **{each: Column(each, "number", _ERRORS, True) for each in ERROR_CATEGORIES},
}
_WARNING = (
    "BLEU, chrF, METEOR and ROUGE-L are diagnostics where Cantonese or Written Chinese is written, "
    "not the score: they compare with one reference, and between such close varieties many other "
    "translations are as good. HKCanto-Eval (Appendix F) rejects BLEU for these pairs and has "
    "people label the errors instead."
)
_CAPTION = (
    "Figures of the corpus with intervals from bootstrap resamples; units are characters in "
    "Chinese, words in English; the mean is of BLEU, METEOR and ROUGE-L (HKMMLU, Table 2). With "
    "the right words in the wrong script the raw figure is low and the normalised one high."
)


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section on translation."""
    groups = side_by_side([run for run in evaluations if any(each.corpus for each in run.metrics)])
    runs = [run for group in groups for run in group.evaluations]
    faults = table(
        "translation_faults",
        "Faults of the translations",
        runs,
        [MODEL, TASK, *figure_columns(runs, _FAULTS)],
        "Shares of the outputs; what passes as Cantonese, where it is asked for.",
    )
    by_judge = table(
        "translation_judged",
        "Translations as a judge sees them",
        [run for run in runs if "judged_accuracy" in run.items.values],
        [MODEL, TASK, *((column, partial(figure, name=name)) for name, column in _JUDGED.items())],
        "A model labelled error spans by the rubric of HKCanto-Eval (Appendix F.1), for which the "
        "paper had people: figures of different judges are not comparable.",
    )
    tables = [*map(_scores, groups), faults, by_judge]
    blocks: list[Block] = [each for each in tables if each.rows and len(each.columns) > 2]
    if any(run.named.entry.language != "en" for run in runs):
        blocks.insert(0, Note(_WARNING, "warning"))
    return [Section("Translation", blocks, "translation")] if blocks else []


def _scores(group: SideBySide) -> Table:
    rows = [
        Row([run.label, metric.title, raw, normalized, normalized.value - raw.value], "run")
        for run in group.evaluations
        for metric in run.metrics
        if (normalized := figure(run, f"{metric.name}_normalized"))
        and (raw := figure(run, metric.name))
    ]
    columns = [
        Column("Model"),
        Column("Figure"),
        Column("Raw", "score", "In the script asked for.", False, drawn=True),
        Column("Normalised", "score", "With both sides in one script.", False, drawn=True),
        Column("Gap", "score_points", "Normalised less raw: what the wrong script costs."),
    ]
    return Table(f"translation_{group.name}", group.title, columns, rows, _CAPTION)
