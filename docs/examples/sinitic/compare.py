"""Compare judges and metrics with the errors that people marked in translations.

    python docs/examples/sinitic/compare.py cantonese.jsonl [logs/….eval …] [--json made.json]

Without logs, only the metrics are compared, on the whole file. Each log of task.py adds its judge.
If other logs have scores of the same judge, they are corrected by its bias on this file. Tables are
in Markdown.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from marked_errors import CATEGORIES, TARGETS, MarkedTranslation, common, read_marked

from hkcanto_metrics.agreement import (
    Agreement,
    Correlation,
    RateEstimate,
    agreement,
    corrected_mean,
)
from hkcanto_metrics.error_spans import OMISSION, ErrorSpan
from hkcanto_metrics.translation import SCORES, sentence_scores

RESAMPLES = 1000
Value = str | float | RateEstimate | None
Table = list[dict[str, Value]]
CAPTIONS = {
    "ranks": "Correlation of each judge and metric with people's marks, over segments. The metrics "
    "are lexical and use one reference. People's accuracy is formula (1) of HKCanto-Eval. "
    "Penalties have the weights of MQM. If penalties are divided by the characters of the output, "
    "a translation's length alone ranks well.",
    "bias": "The mean of the judge's accuracy minus people's, by the length of the source in "
    "characters.",
    "spans": "Number of marked spans per segment, and F1 of the judge's marks: by characters, by "
    "spans that touch, and by segments that have such an error. The judge marks omissions in the "
    "source, and people mark them in the translation. The judge is asked for at most five errors, "
    "people for all.",
    "corrected": "An estimate of the mean that people would give: the judge's mean minus its bias "
    "on the translations that people marked. It assumes that the judge has the same bias on these "
    "translations (prediction-powered inference, arXiv 2301.09633).",
}


@dataclass(frozen=True, slots=True)
class JudgedTranslation:
    """A judge's judgements of a translation.

    Attributes:
        text: The translation as the judge saw it.
        accuracy: The mean accuracy of its judgements, by formula (1), from 0 to 1.
        judgements: The errors of each judgement, with positions in `text`; positions of omissions
            are in the source.
    """

    text: str
    accuracy: float
    judgements: tuple[tuple[ErrorSpan, ...], ...]


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One judge's judgements of the translations in a log, by sample id."""

    model: str
    judge: str
    samples: Mapping[str, JudgedTranslation]


def judged_run(path: Path) -> JudgedRun:
    """Read a judge's labels of translations from a log, without failed judgements.

    Raises:
        ValueError: The log has no judge's translations.
    """
    from inspect_ai.log import read_eval_log

    log, samples, judges = (
        read_eval_log(str(path)),
        dict[str, JudgedTranslation](),
        set[str](),
    )
    for sample in log.samples or []:
        score = (sample.scores or {}).get("judged_translation")
        judgements = score.metadata["judgements"] if score and score.metadata else []
        made = [each for each in judgements if "errors" in each]
        if score is None or not made:
            continue
        judges |= {each["grader"] for each in made}
        samples[str(sample.id)] = JudgedTranslation(
            score.answer or "",
            fmean(each["judged_accuracy"] for each in made),
            tuple(
                tuple(
                    ErrorSpan(e["category"], e["start"], e["end"])
                    for e in each["errors"]
                )
                for each in made
            ),
        )
    if not samples:
        raise ValueError(
            f"{path} has no judge's labels of translations; run task.py first"
        )
    return JudgedRun(log.eval.model, " + ".join(sorted(judges)), samples)


def compare(path: Path, runs: Sequence[JudgedRun]) -> dict[str, Table]:
    """Return the tables by name: `ranks`, `bias_1`, `spans_1` …, `corrected`.

    Raises:
        ValueError: No run has the file's translations, or a run has other translations under the
            same ids.
    """
    marked = {each.id: each for each in read_marked(path)}
    own = [run for run in runs if run.samples.keys() & marked.keys()]
    if runs and not own:
        raise ValueError(
            f"no log has judgements of the translations in {path}; run task.py first"
        )
    shared = [
        each for each in marked.values() if all(each.id in run.samples for run in own)
    ]
    if len(shared) < 2:
        raise ValueError(
            f"{path} and the logs have {len(shared)} translations in common: too few"
        )
    tables = {"ranks": ranks(shared, own)}
    for place, run in enumerate(own, 1):
        tables[f"bias_{place}"] = bias(run, shared)
        tables[f"spans_{place}"] = spans(run, shared)
    if others := corrected(shared, own, [run for run in runs if run not in own]):
        tables["corrected"] = others
    return tables


def ranks(marked: Sequence[MarkedTranslation], runs: Sequence[JudgedRun]) -> Table:
    """Return how each judge and metric ranks the segments."""
    scores = [sentence_scores(each.translation, each.reference) for each in marked]
    values = {
        f"Judge {run.judge}": [run.samples[each.id].accuracy for each in marked]
        for run in runs
    }
    values |= {name: [each[name] for each in scores] for name in SCORES}
    people = {name: [of(each) for each in marked] for name, of in TARGETS.items()}
    first = next(iter(TARGETS))
    kinds: list[tuple[str, Correlation]] = [(name, "spearman") for name in TARGETS]
    kinds[1:1] = [(first, "kendall"), (first, "pearson")]
    table = []
    for label, own in values.items():
        found = {name: _agreement(own, target) for name, target in people.items()}
        row: dict[str, Value] = {"judge or metric": label}
        for name, kind in kinds:
            value: float = getattr(found[name], kind)
            row[f"{kind}, {name}"] = RateEstimate(value, *found[name].intervals[kind])
        table.append(row)
    return table


def bias(run: JudgedRun, marked: Sequence[MarkedTranslation]) -> Table:
    """Return how lenient a judge is, overall and by the length of the source."""
    ordered = sorted(marked, key=lambda each: len(each.source))
    parts = {"all": ordered}
    for part in np.array_split(np.arange(len(ordered)), 3) if len(ordered) > 5 else ():
        some = [ordered[at] for at in part]
        parts[f"{len(some[0].source)} to {len(some[-1].source)}"] = some
    table = list[dict[str, Value]]()
    for name, some in parts.items():
        judged = [run.samples[each.id].accuracy for each in some]
        people = [each.accuracy for each in some]
        row = {"judge": fmean(judged), "people": fmean(people)}
        found = _agreement(judged, people).bias
        table.append({"length": name, "segments": len(some), **row, "bias": found})
    return table


def spans(run: JudgedRun, marked: Sequence[MarkedTranslation]) -> Table:
    """Return which errors a judge finds, by category."""
    judged = [(each, [*_placed(run.samples[each.id], each)]) for each in marked]
    judgements = sum(len(own) for _, own in judged)
    table = []
    for category in ("All", *CATEGORIES):
        # Judgements of one segment are not independent, so their overlaps are summed.
        found = [
            [
                _sum(kind)
                for kind in zip(
                    *(_overlaps(each, errors, category) for errors in own), strict=True
                )
            ]
            for each, own in judged
        ]
        characters, touching, segments = zip(*found, strict=True)
        table.append(
            {
                "category": category,
                "people": sum(each.marked for each in touching) / judgements,
                "judge": sum(each.found for each in touching) / judgements,
                "F1, characters": _f1(characters),
                "F1, spans": _f1(touching),
                "F1, segments": _f1(segments),
            }
        )
    return table


def corrected(
    marked: Sequence[MarkedTranslation],
    own: Sequence[JudgedRun],
    others: Sequence[JudgedRun],
) -> Table:
    """Return the means of other runs, less the bias that the same judge has here."""
    people = [each.accuracy for each in marked]
    table = list[dict[str, Value]]()
    for run in others:
        scores = [sample.accuracy for sample in run.samples.values()]
        for same in (each for each in own if each.judge == run.judge):
            judged = [same.samples[each.id].accuracy for each in marked]
            mean = corrected_mean(people, judged, scores, weight=1)
            row = {"model": run.model, "judge": run.judge, "segments": len(scores)}
            table.append({**row, "judged": fmean(scores), "corrected": mean})
    return table


def _placed(
    judged: JudgedTranslation, marked: MarkedTranslation
) -> Iterator[list[ErrorSpan]]:
    """Yield each judgement with common categories, and with positions in the whole translation."""
    before = marked.translation.find(judged.text)
    if before < 0:
        raise ValueError(
            f"the log has another translation under the id {marked.id} than the file; judge the "
            "file's with task.py"
        )
    for errors in judged.judgements:
        yield [
            ErrorSpan(common(each.category), each.start + before, each.end + before)
            for each in errors
        ]


class Overlap(NamedTuple):
    """How much two annotations of the same text overlap. For a corpus, sum the counts.

    Attributes:
        shared: Characters or spans that both annotations have.
        found: Characters or spans in the judge's annotation.
        marked: Characters or spans in the people's annotation.
    """

    shared: int
    found: int
    marked: int


def overlap_of_characters(
    found: Sequence[ErrorSpan], marked: Sequence[ErrorSpan]
) -> Overlap:
    """Compare two annotations of a text character by character; overlapping spans count once."""
    ours, theirs = (
        {place for span in spans for place in range(span.start, span.end)}
        for spans in (found, marked)
    )
    return Overlap(len(ours & theirs), len(ours), len(theirs))


def overlap_of_spans(
    found: Sequence[ErrorSpan], marked: Sequence[ErrorSpan]
) -> Overlap:
    """Compare two annotations span by span: overlapping spans are paired from left to right."""
    free = sorted(marked, key=lambda span: span.end)
    for span in sorted(found, key=lambda span: span.end):
        touching = (
            each for each in free if each.start < span.end and span.start < each.end
        )
        if (pair := next(touching, None)) is not None:
            free.remove(pair)
    return Overlap(len(marked) - len(free), len(found), len(marked))


def _overlaps(
    marked: MarkedTranslation, errors: Sequence[ErrorSpan], category: str
) -> tuple[Overlap, Overlap, Overlap]:
    """Compare a judgement with people's marks by characters, by spans, and by having any."""
    whole = category == "All"
    found = [each for each in errors if whole or each.category == category]
    in_text = [each for each in found if each.category != OMISSION]
    own = [each for each in marked.spans if whole or each.category == category]
    has = bool(marked.categories) if whole else category in marked.categories
    segments = Overlap(int(bool(found) and has), int(bool(found)), int(has))
    return overlap_of_characters(in_text, own), overlap_of_spans(in_text, own), segments


def _sum(overlaps: Sequence[Overlap]) -> Overlap:
    return Overlap(*map(sum, zip(*overlaps, strict=True)))


def _f1(overlaps: Sequence[Overlap]) -> RateEstimate | None:
    """Return F1 over all segments, with the percentile interval of a bootstrap over them."""
    counts = np.array(
        [(2 * each.shared, each.found + each.marked) for each in overlaps]
    )
    shared, both = counts.sum(0).tolist()
    if not both:
        return None
    drawn = np.random.default_rng(0).integers(
        len(counts), size=(RESAMPLES, len(counts))
    )
    sums = np.array([counts[rows].sum(0) for rows in drawn])
    ends = np.quantile(sums[:, 0] / np.maximum(sums[:, 1], 1), [0.025, 0.975])
    return RateEstimate(shared / both, *ends.tolist())


def _agreement(judge: Sequence[float], people: Sequence[float]) -> Agreement:
    by_judge = {str(at): value for at, value in enumerate(judge)}
    [row] = agreement(
        {"": by_judge}, {"": {str(at): [v] for at, v in enumerate(people)}}
    )
    return row


def markdown(name: str, table: Table) -> str:
    """Return a table with its caption in Markdown."""

    def shown(value: Value) -> str:
        if isinstance(value, RateEstimate):
            interval = (
                "" if np.isnan(value.low) else f" [{value.low:.3f}, {value.high:.3f}]"
            )
            return f"{value.value:.3f}{interval}"
        return (
            f"{value:.3f}"
            if isinstance(value, float)
            else str("" if value is None else value)
        )

    rows = [list(table[0]), ["---"] * len(table[0])]
    rows += [list(map(shown, row.values())) for row in table]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(
        [f"## {name}", "", CAPTIONS[name.partition("_")[0]], "", *lines, ""]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, help="SiniticMTError's cantonese.jsonl")
    parser.add_argument(
        "logs", nargs="*", type=Path, help="Inspect logs with a judge's labels"
    )
    parser.add_argument(
        "--json", type=Path, help="write the tables to this file as well"
    )
    given = parser.parse_args(arguments)
    try:
        tables = compare(given.file, [judged_run(path) for path in given.logs])
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    if given.json:
        given.json.write_text(json.dumps(tables, default=_record, indent=1), "utf-8")
    print(*(markdown(name, table) for name, table in tables.items()), sep="\n")


def _record(value: Any) -> dict[str, float]:
    return {"value": value.value, "low": value.low, "high": value.high}


if __name__ == "__main__":
    main()
