"""Individual answers for people to inspect, only in a report with items."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any
from zlib import crc32

import numpy as np

from ....figures import corpus_rows, language_of
from ...runs import Run
from ..blocks import ITEM_FIELDS, ItemView, Note, Section
from ..presentation import task_title

_MOST = 200


def sections(runs: Sequence[Run]) -> Sequence[Section]:
    """Return a section with answers of each model in each task, if their texts were read."""
    found = [(run, _scores(run)) for run in runs if run.items.texts]
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run, own in found:
        for item, score in zip(run.items.ids, own, strict=True):
            scores[run.task, item] += [] if np.isnan(score) else [score]
    # Ranked by item, not by answer, so that all runs of a task show the same items.
    ranks = {key: (min(of) - max(of), fmean(of)) if of else (0, 2) for key, of in scores.items()}
    rows = list[dict[str, Any]]()
    for run, own in found:
        order = [(*ranks[run.task, item], crc32(item.encode())) for item in run.items.ids]
        chosen = sorted(range(len(order)), key=order.__getitem__)[:_MOST]
        chosen.sort(key=lambda place: (order[place][:2], place))
        rows += [_row(run, place, own[place]) for place in chosen]
    how = Note(
        f"At most {_MOST} answers per model and task: first the items on which the runs differ "
        "most, then the worst; ties are broken at random."
    )
    view = ItemView(rows, sum(len(run.items) for run, _ in found) - len(rows))
    return [Section("Answers", [how, view], "items")] if rows else []


def _scores(run: Run) -> Sequence[float]:
    """Return each answer's score by the task's headline, from 0 to 1 (best); NaN if unknown."""
    headline = run.headline
    if headline.form == "corpus":
        return corpus_rows(headline, run.items.pairs, language_of(run.setup.task))[1]
    values = run.items.values[headline.averages]
    good = values if headline.higher_is_better else 1 - values
    return list(map(float, np.clip(good, 0, 1)))


def _row(run: Run, place: int, score: float) -> dict[str, Any]:
    items = run.items
    titles = {subject.name: subject.title for subject in run.subjects}
    subject = titles.get(items.subjects[place], items.subjects[place])
    reason = items.reasons[place] if items.reasons else ""
    known = None if np.isnan(score) else score
    where = run.label, task_title(run), items.ids[place], subject
    values = *where, *items.texts[place], reason, known
    return dict(zip(ITEM_FIELDS, values, strict=True))
