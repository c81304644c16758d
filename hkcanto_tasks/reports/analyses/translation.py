"""Translation: figures as they are and with both sides in one script, faults, a judge's figures."""

from collections.abc import Mapping, Sequence

from hkcanto_metrics.error_spans import ERROR_CATEGORIES

from ..blocks import Block, Cell, Chart, Column, Note, Row, Section, Table
from ..evaluations import Evaluation
from ..figures import figure
from .figure_tables import figure_table
from .presentation import cell, chart, figure_columns, legend, side_by_side

_NORMALIZED = "_normalized"
_FAULTS = ("empty", "wrong_script", "copied_source", "fluent")
_JUDGED: dict[str, Column] = {
    "judged_accuracy": Column(
        "Judged accuracy",
        "percent",
        "Share of the characters that the judge labelled no error in (HKCanto-Eval, formula (1)).",
    ),
    "judge_failure_rate": Column(
        "Failed judgements",
        "percent",
        "Judgements that could not be used; an item without any is unscored.",
        lower_is_better=True,
    ),
    **{
        str(category): Column(
            category, "number", "Labelled errors for each judgement.", lower_is_better=True
        )
        for category in ERROR_CATEGORIES
    },
}
_WARNING = (
    "BLEU, chrF, METEOR and ROUGE-L are diagnostics where Cantonese or Written Chinese is written, "
    "not the score: they compare with one reference, and between such close varieties many other "
    "translations are as good. HKCanto-Eval (Appendix F) rejects BLEU for these pairs and has "
    "people label the errors instead."
)


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section on translation.

    Args:
        evaluations: All that was run; only translations are looked at.
    """
    of_kind = [each for each in evaluations if any(metric.corpus for metric in each.metrics)]
    if not of_kind:
        return []
    groups = side_by_side(of_kind)
    blocks: list[Block] = []
    if any(each.named.entry.language != "en" for each in of_kind):
        blocks.append(Note(_WARNING, "warning"))
    for group in groups:
        scores = {each.label: _scores(each) for each in group.evaluations}
        if any(scores.values()):
            blocks.append(_table(group.title, scores, f"translation_{group.name}"))
            blocks.append(_chart(group.title, scores))
    ordered = [each for group in groups for each in group.evaluations]
    faults = figure_table(
        "Faults of the translations",
        ordered,
        figure_columns(ordered, _FAULTS),
        name="translation_faults",
        caption="Shares of the outputs. What passes as Cantonese is judged where it is asked for.",
        with_task=True,
    )
    judged = figure_table(
        "Translations as a judge sees them",
        [each for each in ordered if "judged_accuracy" in each.items.values],
        _JUDGED,
        name="translation_judged",
        caption="A model labelled error spans by the rubric of HKCanto-Eval (Appendix F.1), for "
        "which the paper had people: figures of different judges are not comparable.",
        with_task=True,
    )
    blocks += [table for table in (faults, judged) if table]
    return [Section("Translation", blocks, name="translation")] if blocks else []


_Scores = Mapping[str, tuple[Cell, Cell]]


def _scores(evaluation: Evaluation) -> _Scores:
    """Figure → its cell as it is, and normalised."""
    return {
        metric.title: (cell(raw), cell(figure(evaluation, f"{metric.name}{_NORMALIZED}")))
        for metric in evaluation.metrics
        if f"{metric.name}{_NORMALIZED}" in evaluation.figures
        and (raw := figure(evaluation, metric.name))
    }


def _table(title: str, scores: Mapping[str, _Scores], name: str) -> Table:
    rows = [
        Row([Cell(model), Cell(shown), raw, normalized, Cell(_gap(raw, normalized))], kind="run")
        for model, figures in scores.items()
        for shown, (raw, normalized) in figures.items()
    ]
    return Table(
        title,
        [
            Column("Model"),
            Column("Figure"),
            Column("Raw", "number", "As it is written: the right words in the script asked for."),
            Column("Normalised", "number", "With both sides in one script: the right words."),
            Column("Gap", "number", "Normalised less raw: what the wrong script costs.", None),
        ],
        rows,
        "Figures of the corpus, from 0 to 100, with intervals from bootstrap resamples; characters "
        "are the units in Chinese, words in English; the mean is that of "
        "BLEU, METEOR and ROUGE-L (HKMMLU, Table 2). A model that converts the language but not "
        "the script has a low raw figure and a high normalised one.",
        name,
    )


def _gap(raw: Cell, normalized: Cell) -> float | None:
    if isinstance(raw.value, float) and isinstance(normalized.value, float):
        return normalized.value - raw.value
    return None


def _chart(title: str, scores: Mapping[str, _Scores]) -> Chart:
    import altair as alt

    forms = ("raw", "normalised")
    values = [
        {"model": model, "figure": shown, "form": form, "score": each.value}
        for model, figures in scores.items()
        for shown, cells in figures.items()
        for form, each in zip(forms, cells, strict=True)
    ]
    models = list(scores)
    shown = list(dict.fromkeys(title for figures in scores.values() for title in figures))
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("score:Q", title="score, raw to normalised"),
        y=alt.Y("figure:N", sort=shown, title=None, axis=alt.Axis(labelLimit=110)),
        yOffset=alt.YOffset("model:N", sort=models),
        color=alt.Color("model:N", sort=models, title=None, legend=legend(models)),
    )
    # Grey, because shapes have no colour of their own, and black is not seen in a dark theme.
    shapes = alt.Legend(orient="bottom", symbolFillColor="gray", symbolStrokeColor="gray")
    lines = base.mark_line().encode(detail="figure:N")
    dots = base.mark_point(opacity=1, size=60, filled=True).encode(
        shape=alt.Shape("form:N", sort=list(forms), title=None, legend=shapes),
        tooltip=["model:N", "figure:N", "form:N", alt.Tooltip("score:Q", format=".1f")],
    )
    return Chart(
        f"{title}: raw and normalised",
        chart(alt.layer(lines, dots), height=alt.Step(14, **{"for": "offset"})),
        "For each figure and model a line from the score as it is to the score with both sides in "
        "one script: its length is what the wrong script costs. The table above has the values.",
    )
