"""Does a judge agree with people, does a metric: the report of `hkcanto agreement`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hkcanto_metrics.agreement import (
    Agreement,
    Correlation,
    agreement,
    corrected_mean,
    correlation_interval,
)
from hkcanto_metrics.error_spans import (
    OMISSION,
    ErrorSpan,
    Overlap,
    overlap_of_characters,
    overlap_of_spans,
)
from hkcanto_metrics.rates import Estimate
from hkcanto_metrics.translation import SCORES, sentence_scores

from ..errors import LogError
from ..kinds.translation import Translation
from ..reports.blocks import Column, Report, Row, Section, Table
from ..reports.blocks import Estimate as Figure
from ..reports.intervals import ratio_interval
from ..reports.report import report_of
from .human_errors import (
    CATEGORIES,
    TARGETS,
    JudgedRun,
    JudgedTranslation,
    MarkedTranslation,
    common,
    read_marked,
)

_RANKS = (
    "Correlation over segments with what people marked. A metric is lexical and knows one "
    "reference. Of people's errors, accuracy is formula (1) of HKCanto-Eval, and penalties weigh "
    "as in MQM; per character of the output, length alone ranks well."
)
_BIAS = "The judge's accuracy less that of people, by the length of the source in characters."
_SPANS = (
    "F1 of what the judge marked: by characters, by spans that touch, by segments that have such "
    "an error. A judge marks omissions in the source, people in the translation. At most five "
    "errors are asked of the judge, of people all."
)
_CORRECTED = (
    "What people would give, if the judge erred on these translations as on those that people "
    "marked: its mean less its bias there (prediction-powered inference, arXiv 2301.09633)."
)


def of_scores(rows: Sequence[Agreement]) -> Report:
    """Report how a judge's scores agree with those of people, a row for each criterion."""
    columns = [
        Column("Criterion"),
        Column("Items", "count"),
        *(Column(name, "number") for name in ("Pearson", "Spearman", "Kendall")),
        Column("Alpha", "number", "Krippendorff's, of the judge and the mean of the people."),
        Column("People's alpha", "number", "Among the people."),
        Column("Bias", "number", "The judge's mean less that of the people."),
        Column("Corrected mean", "number", "People's mean on all that was judged, estimated."),
    ]
    listed = [
        Row(
            [
                row.criterion,
                row.items,
                *(_correlation(row, kind) for kind in ("pearson", "spearman", "kendall")),
                row.alpha,
                row.human_alpha,
                _figure(row.bias, row.items),
                _figure(row.corrected, row.items),
            ]
        )
        for row in rows
    ]
    title = "Agreement of the judge with people"
    made = Table("agreement", title, columns, listed)
    return report_of([Section(title, [made], "agreement", True)], title)


def of_marked(path: Path, runs: Sequence[JudgedRun]) -> Report:
    """Report how judges and metrics agree with the errors that people marked.

    Args:
        path: A file of SiniticMTError.
        runs: Runs of the judge on its translations; others are corrected by these, if the judge is
            the same. Without any, all of the file is compared with the metrics.

    Raises:
        LogError: No run is of the file's translations, or one is of others by the same ids.
    """
    marked = {each.id: each for each in read_marked(path)}
    own = [run for run in runs if run.samples.keys() & marked.keys()]
    if runs and not own:
        raise LogError(
            f"No log has judgements of the translations in {path}: run inspect eval "
            "hkcanto/marked_errors -T path=… --model none --model-role grader=… first."
        )
    shared = [each for each in marked.values() if all(each.id in run.samples for run in own)]
    if len(shared) < 2:
        raise LogError(
            f"{path} and the logs have {len(shared)} translations in common: none to rank."
        )
    tables = [_ranks(shared, own)]
    for place, run in enumerate(own, 1):
        tables += [_bias(run, shared, place), _spans(run, shared, place)]
    tables += _corrected(shared, own, [run for run in runs if run not in own])
    title = "Agreement of judges and metrics with people"
    return report_of([Section(title, tables, "agreement", True)], title)


def _ranks(marked: Sequence[MarkedTranslation], runs: Sequence[JudgedRun]) -> Table:
    scores = [sentence_scores(each.translation, each.reference) for each in marked]
    titles = {metric.name: metric.title for metric in Translation.FIGURES}
    values = {
        f"Judge {run.judge}": [run.samples[each.id].accuracy for each in marked] for run in runs
    }
    values |= {titles[name]: [each[name] for each in scores] for name in SCORES}
    people = {name: [of(each) for each in marked] for name, of in TARGETS.items()}
    kinds: list[tuple[str, Correlation]] = [(name, "spearman") for name in TARGETS]
    first = next(iter(TARGETS))
    kinds[1:1] = [(first, "kendall"), (first, "pearson")]
    rows = []
    for label, own in values.items():
        found = {name: _agreement(own, target) for name, target in people.items()}
        rows.append(Row([label, *(_correlation(found[name], kind) for name, kind in kinds)]))
    columns = [
        Column(f"{kind.capitalize()}, {name}", "number", lower_is_better=False)
        for name, kind in kinds
    ]
    title = f"How {len(marked):,} segments are ranked"
    return Table("ranks", title, [Column("Judge or metric"), *columns], rows, _RANKS)


def _bias(run: JudgedRun, marked: Sequence[MarkedTranslation], place: int) -> Table:
    ordered = sorted(marked, key=lambda each: len(each.source))
    parts = {"All": ordered}
    for part in np.array_split(np.arange(len(ordered)), 3) if len(ordered) > 5 else ():
        some = [ordered[at] for at in part]
        parts[f"{len(some[0].source)} to {len(some[-1].source)}"] = some
    rows = []
    for name, some in parts.items():
        row = _agreement(
            [run.samples[each.id].accuracy for each in some], [each.accuracy for each in some]
        )
        judge = float(np.mean([run.samples[each.id].accuracy for each in some]))
        rows.append(
            Row([name, len(some), judge, row.corrected.value, _figure(row.bias, row.items)])
        )
    columns = [
        Column("Length"),
        Column("Segments", "count"),
        Column("Judge", "percent"),
        Column("People", "percent"),
        Column("Bias", "points"),
    ]
    return Table(f"bias_{place}", f"Bias of {run.judge}", columns, rows, _BIAS)


def _spans(run: JudgedRun, marked: Sequence[MarkedTranslation], place: int) -> Table:
    pairs = [(each, errors) for each in marked for errors in _placed(run.samples[each.id], each)]
    rows = []
    for category in ("All", *CATEGORIES):
        overlaps = [_overlaps(each, errors, category) for each, errors in pairs]
        *places, segments = ([each[at] for each in overlaps] for at in range(3))
        rows.append(
            Row(
                [
                    category,
                    *(_mean_count(places[1], side) for side in ("marked", "found")),
                    *map(_f1, places),
                    _f1(segments),
                ]
            )
        )
    columns = [
        Column("Category"),
        Column("People", "number", "Spans in the translation for each segment, by people."),
        Column("Judge", "number", "The same, by the judge."),
        Column("F1, characters", "percent"),
        Column("F1, spans", "percent"),
        Column("F1, segments", "percent"),
    ]
    return Table(f"spans_{place}", f"Errors that {run.judge} finds", columns, rows, _SPANS)


def _corrected(
    marked: Sequence[MarkedTranslation], own: Sequence[JudgedRun], others: Sequence[JudgedRun]
) -> Iterator[Table]:
    people = [each.accuracy for each in marked]
    rows = []
    for run in others:
        scores = [sample.accuracy for sample in run.samples.values()]
        for same in (each for each in own if each.judge == run.judge):
            judged = [same.samples[each.id].accuracy for each in marked]
            mean = _figure(corrected_mean(people, judged, scores, weight=1), len(scores))
            rows.append(Row([run.model, run.judge, len(scores), float(np.mean(scores)), mean]))
    columns = [
        Column("Model"),
        Column("Judge"),
        Column("Segments", "count"),
        Column("Judged", "percent"),
        Column("Corrected", "percent"),
    ]
    if rows:
        yield Table("corrected", "Judged accuracy, corrected", columns, rows, _CORRECTED)


def _placed(judged: JudgedTranslation, marked: MarkedTranslation) -> Iterator[list[ErrorSpan]]:
    """Yield each judgement in the common categories, and with places in the whole translation."""
    before = marked.translation.find(judged.text)
    if before < 0:
        raise LogError(
            f"The log has another translation under the id {marked.id} than the file. Judge the "
            "file's: inspect eval hkcanto/marked_errors -T path=…"
        )
    for errors in judged.judgements:
        yield [
            replace(
                each,
                category=common(each.category),
                start=each.start + before,
                end=each.end + before,
            )
            for each in errors
        ]


def _overlaps(
    marked: MarkedTranslation, errors: Sequence[ErrorSpan], category: str
) -> tuple[Overlap, Overlap, Overlap]:
    """Compare a judgement with people's marks: characters, spans, and whether there is any."""
    whole = category == "All"
    found = [each for each in errors if whole or each.category == category]
    in_text = [each for each in found if each.category != OMISSION]
    spans = [each for each in marked.spans if whole or each.category == category]
    has = bool(marked.categories) if whole else category in marked.categories
    segments = Overlap(int(bool(found) and has), int(bool(found)), int(has))
    return overlap_of_characters(in_text, spans), overlap_of_spans(in_text, spans), segments


def _mean_count(overlaps: Sequence[Overlap], side: str) -> float:
    return float(np.mean([getattr(each, side) for each in overlaps]))


def _f1(overlaps: Sequence[Overlap]) -> Figure | None:
    both = [each.found + each.marked for each in overlaps]
    if not sum(both):
        return None
    total = Overlap(*np.sum(overlaps, axis=0).tolist())
    low, high = ratio_interval([2 * each.shared for each in overlaps], both)
    return Figure(total.f1, low, high, len(overlaps))


def _agreement(judge: Sequence[float], people: Sequence[float]) -> Agreement:
    by_judge = {str(at): value for at, value in enumerate(judge)}
    [row] = agreement({"": by_judge}, {"": {str(at): [v] for at, v in enumerate(people)}})
    return row


def _correlation(row: Agreement, kind: Correlation) -> Figure:
    value: float = getattr(row, kind)
    return _figure(Estimate(value, *correlation_interval(kind, value, row.items)), row.items)


def _figure(estimate: Estimate, items: int) -> Figure:
    known = not np.isnan(estimate.low)
    return Figure(
        estimate.value, estimate.low if known else None, estimate.high if known else None, items
    )
