"""The Inspect scorer: the core's judgement of a response as an Inspect score."""

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.log import HeadlineMetric
from inspect_ai.scorer import Metric, Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from hkcanto_tasks.corpus import language_of, pair_of
from hkcanto_tasks.loading import LoadedTask, condition

from .metrics import (
    category_macro,
    category_means,
    corpus_figures,
    pooled_rate,
    pooled_stderr,
    subject_macro,
    subject_means,
    subset_means,
)

Metrics = dict[str, list[Metric]] | list[Metric | dict[str, list[Metric]]]


def metrics_of(loaded: LoadedTask, judge: Mapping[str, list[Metric]] | None = None) -> Metrics:
    """Return the Inspect metrics of a task's figures, in the order of its kind, and of a judge's.

    Args:
        loaded: The task.
        judge: The metrics of a judge's figures, if there is one.
    """
    figures = loaded.condition.kind.METRICS
    of_items: dict[str, list[Metric]] = {
        metric.name: [pooled_rate(metric.name), pooled_stderr(metric.name)]
        if metric.pooled
        else [mean(), stderr()]
        for metric in figures
        if not metric.corpus
    }
    if "acc" in of_items:
        of_items["acc"] += _breakdown(loaded)
    of_items |= judge or {}
    of_corpus = [metric.name for metric in figures if metric.corpus]
    if not of_corpus:
        return of_items
    return [corpus_figures(of_corpus, language_of(loaded.task)), of_items]


def _breakdown(loaded: LoadedTask) -> Sequence[Metric]:
    """Accuracy by subject and category and for the paper's subsets, and its averages."""
    breakdown: list[Metric] = []
    if len(loaded.examples) > 1:
        breakdown.append(subject_macro())
    if loaded.task.entry.average == "categories":
        breakdown.append(category_macro())
    if any(sample.groups for sample in loaded.samples):
        breakdown.append(subset_means())
    if any(sample.category for sample in loaded.samples):
        breakdown.append(category_means())
    if len(loaded.examples) > 1:
        breakdown.append(subject_means())
    return breakdown


def headline_of(loaded: LoadedTask) -> HeadlineMetric:
    """Return the figure that the paper reports."""
    entry = loaded.task.entry
    if any(metric.corpus for metric in loaded.condition.kind.METRICS):
        return HeadlineMetric(scorer="judged", score="judged", metric=entry.headline)
    averages = {"subjects": "hkcanto/subject_macro", "categories": "hkcanto/category_macro"}
    one_subject = len(loaded.examples) < 2
    metric = None if one_subject else averages.get(entry.average)
    return HeadlineMetric(scorer="judged", score=entry.headline, metric=metric)


@scorer(metrics=[])
def judged(task: str, options: dict[str, Any] | None = None) -> Scorer:
    """Score the responses of a task of the catalogue; its metrics are `metrics_of`.

    Args:
        task: The task's name in lm-eval, e.g. `hkcanto_g2p`.
        options: The options of its kind.
    """
    how = condition(task, **(options or {}))

    async def score(state: TaskState, target: Target) -> Score:
        choices = state.metadata["choices"]
        judgement = how.judge(state.output.completion, target.text, choices)
        return Score(
            value=dict(judgement.values),
            answer=judgement.answer,
            explanation=judgement.explanation,
            metadata={
                "weights": dict(judgement.weights),
                **judgement.details,
                "pair": pair_of(judgement)._asdict(),
            },
        )

    return score
