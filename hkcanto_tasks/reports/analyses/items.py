"""Wrong answers, one by one, for people to look at: only in a report with items."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...corpus_figures import language_of
from ..blocks import ItemRow, ItemView, Note, Section
from ..evaluations import Evaluation
from .presentation import task_title

_MOST = 200


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section with wrong answers of each model in each task, if their texts were read."""
    rows: list[ItemRow] = []
    left_out = 0
    for run in evaluations:
        if run.items.texts:
            worst = _worst_first(run)
            rows += [_row(run, place) for place in worst[:_MOST]]
            left_out += max(0, len(worst) - _MOST)
    if not rows:
        return []
    how = Note(
        f"At most {_MOST} answers of a model in a task. Where answers are right or wrong, they are "
        "wrong ones, evenly spread over the task; elsewhere those with the worst headline figure."
    )
    view = ItemView(rows, left_out)
    return [Section("Wrong answers", [how, view], name="items")]


def _worst_first(run: Evaluation) -> NDArray[np.intp]:
    """Return the places of the answers that are not perfect, in the order to show them in."""
    faults = _faults(run)
    wrong: NDArray[np.intp] = np.flatnonzero(faults > 0)
    if len(np.unique(faults[wrong])) > 1:
        wrong = wrong[np.argsort(-faults[wrong], kind="stable")]
    elif len(wrong) > _MOST:
        spread = np.linspace(0, len(wrong) - 1, _MOST).round().astype(np.intp)
        rest = np.setdiff1d(np.arange(len(wrong)), spread)
        wrong = wrong[np.concatenate([spread, rest])]
    return wrong


def _faults(run: Evaluation) -> NDArray[np.float64]:
    """Return how bad each answer is by the task's headline: 0 is perfect, NaN is unknown."""
    headline = run.headline
    if headline.corpus:
        from hkcanto_metrics.translation import sentence_scores

        language = language_of(run.named)
        scores = [
            sentence_scores(pair.hypothesis, pair.reference, language)[headline.name] / 100
            for pair in run.items.pairs
        ]
        return 1 - np.array(scores)
    values = run.items.values[headline.averages]
    return 1 - values if headline.higher_is_better else values


def _row(run: Evaluation, place: int) -> ItemRow:
    items = run.items
    text = items.texts[place]
    titles = {subject.name: subject.title for subject in run.named.subjects}
    return ItemRow(
        model=run.label,
        task=task_title(run),
        item=items.ids[place],
        subject=titles.get(items.subjects[place], items.subjects[place]),
        prompt=text.prompt,
        response=text.response,
        answer=text.answer,
        target=text.target,
        correct=False,
    )
