"""The figures of a run: their definitions, and their computation from the values of items.

Every figure has one of three forms. A *mean* is a weighted sum over items, Σ w·x, such as an
accuracy, a mean over subjects, or TMMLU+'s mean of means over categories. A *rate* is a ratio of
two sums, errors over lengths. A *corpus* figure is a function of all pairs of texts, such as BLEU,
or of all labels, such as macro-F1. Both harnesses, reports, comparisons, gates and plans take
weights and values from this module.
"""

import tomllib
from collections import Counter
from collections.abc import (
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from math import fsum, nan, sqrt
from statistics import variance
from typing import Any, Literal, NamedTuple, get_args

from hkcanto_metrics import translation
from hkcanto_metrics.language import Language as ProseLanguage
from hkcanto_metrics.language import WrittenLanguage
from hkcanto_metrics.translation import Language

from .declarations import ChoiceDefinition, Subject, TaskVariant
from .judgements import Judgement
from .samples import Sample

Unit = Literal["share", "score", "rate", "count", "number"]
Over = Literal["questions", "subjects", "categories"]
Form = Literal["mean", "rate", "corpus"]
Categories = Mapping[str, str] | None

_MOST_SUBJECTS_SHOWN = 6  # with more, subjects have no figures of their own


@dataclass(frozen=True, slots=True)
class Figure:
    """The definition of a figure, used by both harnesses, reports and docs.

    Attributes:
        name: The key in results.
        title: Human-readable title.
        unit: `share` of items, from 0 to 1; `rate` of errors over reference length, from 0, and
            above 1 if there are more errors than reference units; `score` from 0 to 100; `count`,
            without a limit; `number` on its own scale, from 0.
        higher_is_better: Whether higher values are better; None if neither good nor bad.
        help: Its meaning, in a sentence.
        form: `mean`, `rate` or `corpus`, defined above. A corpus figure has no values of items.
        diagnostic: Whether it is only in samples and reports, not in the harnesses' tables.
        of: The figure of an item that it averages; empty if that has the same name.
        over: The units with equal weight in a mean: questions, subjects or categories.
        part: The set of items that it is restricted to; empty for all.
        labels: All labels, for macro-F1.

    Examples:
        >>> Figure("acc", "Accuracy", "share", True, "Share of right answers.").averages
        'acc'
    """

    name: str
    title: str
    unit: Unit
    higher_is_better: bool | None
    help: str
    form: Form = "mean"
    diagnostic: bool = False
    of: str = ""
    over: Over = "questions"
    part: str = ""
    labels: tuple[str, ...] = ()

    @property
    def is_accuracy(self) -> bool:
        """Whether it is a share of items of which more is better, so that tasks have a mean."""
        is_share = self.unit == "share" and self.form == "mean"
        return is_share and self.higher_is_better is True

    @property
    def averages(self) -> str:
        """The name of the figure of an item that it averages."""
        return self.of or self.name

    @property
    def of_texts(self) -> bool:
        """Whether it compares texts with references."""
        return self.form == "corpus" and self.unit == "score"

    @property
    def unlimited(self) -> bool:
        """Whether the length of one response, such as a loop, can change it without limit."""
        return self.unit == "count" or (self.unit == "rate" and self.form == "rate")


@cache
def declared_figures() -> Mapping[str, Figure]:
    """Return the figures of `figures.toml`, by key."""
    text = files(__package__).joinpath("figures.toml").read_text("utf-8")
    figures: dict[str, Figure] = {}
    for key, entry in tomllib.loads(text).items():
        figures[key] = Figure(**{"name": key, "higher_is_better": None, **entry})
    return figures


def figures(*keys: str) -> tuple[Figure, ...]:
    """Return the figures that `figures.toml` declares under some keys.

    Examples:
        >>> [figure.title for figure in figures("acc", "empty")]
        ['Accuracy', 'Empty']
    """
    return tuple(declared_figures()[key] for key in keys)


class Pair(NamedTuple):
    """The texts of one item for a corpus figure."""

    hypothesis: str
    reference: str
    source: str


class ItemValue(float):
    """An item's value of a figure, with the subject and length that the figure needs.

    It is needed because lm-eval passes only the items' values to an aggregation. It is logged as a
    plain number, and survives pickling between processes.

    Attributes:
        subject: The item's subject.
        length: Length of the reference, for a rate.

    Examples:
        >>> ItemValue.of(1.0, "hk_law").subject
        'hk_law'
    """

    subject: str
    length: float

    @classmethod
    def of(
        cls,
        value: float,
        subject: str,
        length: float = 1.0,
    ) -> "ItemValue":
        """Make a value with its subject and length."""
        item = cls(value)
        item.subject = subject
        item.length = length
        return item


ItemValues = dict[str, ItemValue | Pair | None]


def item_values(
    figures: Iterable[Figure],
    sample: Sample,
    judgement: Judgement,
) -> ItemValues:
    """Return an item's value of each figure, or its texts for a corpus figure.

    The value is None if the item is not in the figure's part.

    Args:
        figures: The figures of its task.
        sample: The item.
        judgement: The judgement of the response.
    """
    values: ItemValues = {}
    for figure in figures:
        number = judgement.values.get(figure.averages)
        if figure.form == "corpus":
            values[figure.name] = Pair(judgement.answer, sample.target, sample.source)
        elif figure.part and figure.part not in sample.parts:
            values[figure.name] = None
        elif number is not None:
            length = judgement.weights.get(figure.averages, 1.0)
            values[figure.name] = ItemValue.of(number, sample.subject, length)
    return values


def weights(
    over: Over,
    subjects: Sequence[str],
    categories: Categories = None,
) -> list[float]:
    """Return the weight of each item in a mean.

    Args:
        over: `questions`: every item counts once (HKMMLU, Table 1). `subjects`: the mean of the
            subjects' means (HKCanto-Eval, Table 7). `categories`: the mean over categories of the
            mean over their subjects' means (TMMLU+, Table 2).
        subjects: The subject of each item.
        categories: Subject → category, for `categories`.

    Returns:
        The weights, which sum to 1; subjects and categories without items are left out.

    Examples:
        >>> weights("subjects", ["law", "law", "food"])
        [0.25, 0.25, 0.5]
    """
    share = subject_weights(over, Counter(subjects), categories)
    return [share[name] for name in subjects]


def subject_weights(
    over: Over,
    sizes: Mapping[str, int],
    categories: Categories = None,
) -> dict[str, float]:
    """Return the weight of each item of a subject in a mean, from the subjects' sizes.

    Args:
        over: As in `weights`.
        sizes: Subject → its number of items, without empty subjects.
        categories: Subject → category, for `categories`.

    Examples:
        >>> subject_weights("subjects", {"law": 2, "food": 1})
        {'law': 0.25, 'food': 0.5}
    """
    if over == "questions":
        return dict.fromkeys(sizes, 1 / sum(sizes.values()))
    if over == "subjects":
        return {name: 1 / (len(sizes) * size) for name, size in sizes.items()}
    category = {name: (categories or {})[name] for name in sizes}
    members = Counter(category.values())
    return {
        name: 1 / (len(members) * members[category[name]] * size)
        for name, size in sizes.items()
    }


def value(
    figure: Figure,
    items: Iterable[Any],
    categories: Categories = None,
    language: Language = "zh",
) -> float:
    """Return the value of a figure for some items; NaN without items.

    Args:
        figure: The figure.
        items: The result of `item_values` for each item.
        categories: Subject → category, for a mean over categories.
        language: The units in which texts are compared, see `language_of`.

    Examples:
        >>> acc = Figure("acc_macro", "", "share", True, "", over="subjects")
        >>> value(acc, [ItemValue.of(x, s) for x, s in ((1, "law"), (0, "law"), (1, "food"))])
        0.75
    """
    values = [item for item in items if item is not None]
    if not values:
        return nan
    if figure.form == "corpus":
        return corpus_value(figure, values, language)
    if figure.form == "rate":
        # An item without a reference has its errors for a value, and no length.
        errors = fsum(item * (item.length or 1) for item in values)
        return errors / (_length(values) or 1)
    if figure.over == "questions":
        return fsum(values) / len(values)
    shares = weights(figure.over, [item.subject for item in values], categories)
    return fsum(share * item for share, item in zip(shares, values, strict=True))


def standard_error(
    figure: Figure,
    items: Sequence[ItemValue],
    categories: Categories = None,
) -> float:
    """Return the standard error of a mean or a pooled rate; NaN for fewer than two items.

    A mean over subjects or categories has the standard error of a stratified mean, with subjects as
    strata (Cochran 1977, section 5.3); a subject with a single item adds nothing. A rate has the
    standard error of a ratio (section 6.4).

    Args:
        figure: The mean or the rate.
        items: The items of its part.
        categories: Subject → category, for a mean over categories.

    Examples:
        >>> acc = Figure("acc", "Accuracy", "share", True, "")
        >>> standard_error(acc, [ItemValue.of(x, "") for x in (1, 0, 1, 0)])
        0.28867513459481287
    """
    if len(items) < 2:
        return nan
    if figure.form == "rate":
        return _error_of_rate(items, value(figure, items))
    strata: dict[str, list[float]] = {}
    for item in items:
        stratum = "" if figure.over == "questions" else item.subject
        strata.setdefault(stratum, []).append(float(item))
    sizes = {name: len(values) for name, values in strata.items()}
    weight = subject_weights(figure.over, sizes, categories)
    variances = []
    for name, values in strata.items():
        if len(values) > 1:
            variances.append(weight[name] ** 2 * len(values) * variance(values))
    return sqrt(fsum(variances))


def _error_of_rate(items: Sequence[ItemValue], rate: float) -> float:
    squares = []
    for item in items:
        residual = (item - rate) * item.length if item.length else item
        squares.append(residual**2)
    count = len(items)
    return sqrt(fsum(squares) * count / (count - 1)) / (_length(items) or 1)


def _length(items: Iterable[ItemValue]) -> float:
    return fsum(item.length for item in items)


# ---------------------------------------------------------------------- figures of a corpus


def language_of(task: TaskVariant) -> Language:
    """Return the units for comparing a task's texts: words in English, otherwise characters."""
    return "en" if task.definition.language == "en" else "zh"


def metric_signatures(task: TaskVariant) -> dict[str, str]:
    """Return how each corpus figure of a task is computed, in sacreBLEU's form if it has one."""
    return dict(translation.translation_signatures(language_of(task)))


def corpus_value(
    figure: Figure,
    pairs: Iterable[Pair],
    language: Language,
) -> float:
    """Return a corpus figure; all figures of texts are computed at once and cached.

    Args:
        figure: The figure.
        pairs: One per item.
        language: See `language_of`.

    Examples:
        >>> f1 = Figure("f1", "F1", "share", True, "", "corpus", labels=("a", "b"))
        >>> corpus_value(f1, [Pair("a", "a", ""), Pair("b", "a", "")], "zh")
        0.3333333333333333
    """
    if figure.of_texts:
        return _scores(tuple(pairs), language)[figure.name]
    rows, statistic = corpus_rows(figure, pairs, language)
    return float(statistic(rows.sum(axis=0, keepdims=True))[0])


def corpus_error(
    figure: Figure,
    pairs: Iterable[Pair],
    language: Language,
    items: Sequence[Hashable],
) -> float:
    """Return the jackknife standard error of `corpus_value`; NaN for fewer than two items.

    Args:
        figure: The figure.
        pairs: One per response.
        language: See `language_of`.
        items: The item of each response; an item's responses in all epochs count as one.
    """
    rows, statistic = corpus_rows(figure, pairs, language)
    values = pseudo_values(sum_clusters(rows, items), statistic)
    return sqrt(variance(values.tolist()) / len(values)) if len(values) > 1 else nan


def corpus_rows(
    figure: Figure,
    pairs: Iterable[Pair],
    language: Language,
) -> tuple[Any, Callable[[Any], Any]]:
    """Return rows, and the function from sums of rows (sets of items × columns) to the figure.

    Args:
        figure: The figure.
        pairs: One per item.
        language: See `language_of`.
    """
    import numpy as np

    hypotheses, references, _ = zip(*pairs, strict=True)
    if figure.of_texts:
        rows, score = translation.sufficient_statistics(
            figure.name, hypotheses, references, language=language
        )
    else:
        from hkcanto_metrics.labels import label_statistics  # slow to import

        rows, score = label_statistics(hypotheses, references, figure.labels)
    return rows, lambda sums: np.array([*map(score, sums)])


def corpus_scores(
    figure: Figure,
    pairs: Iterable[Pair],
    language: Language,
) -> list[float]:
    """Return each item's score from 0 to 1: a sentence score, or whether its label is right.

    The arguments are those of `corpus_rows`.
    """
    if figure.of_texts:
        scores = []
        for output, reference, _ in pairs:
            score = translation.sentence_scores(output, reference, language)
            scores.append(score[figure.name] / 100)
        return scores
    return [float(pair.hypothesis == pair.reference) for pair in pairs]


def sum_clusters(rows: Any, clusters: Any) -> Any:
    """Sum the rows (items × columns) of each cluster, in the order in which clusters appear.

    Equal values mark items that are not independent: epochs of one item, or questions on one
    passage. Without values, every item is a cluster.

    Examples:
        >>> import numpy as np
        >>> sum_clusters(np.array([[1.0], [2.0], [3.0]]), [7, 5, 7])
        array([[4.],
               [2.]])
    """
    import numpy as np

    if clusters is None:
        return rows
    _, first, number = np.unique(
        np.asarray(clusters), return_index=True, return_inverse=True
    )
    sums = np.zeros((len(first), rows.shape[1]))
    by_appearance = np.argsort(np.argsort(first))
    np.add.at(sums, by_appearance[number], rows)
    return sums


def pseudo_values(rows: Any, statistic: Callable[[Any], Any]) -> Any:
    """Return the jackknife's pseudo-value of each row: of a mean, the row's own value.

    A figure is nearly the mean of its pseudo-values, and has nearly that mean's distribution
    (Tukey, 1958; Efron and Tibshirani, 1993, chapter 11).

    Args:
        rows: A row of counts for each independent unit.
        statistic: Sums of rows (sets of units × columns) → the figure of each set.

    Examples:
        >>> import numpy as np
        >>> pseudo_values(np.array([[1.0], [2.0], [6.0]]), lambda sums: sums[:, 0] ** 2)
        array([115., 145., 225.])
    """
    total = rows.sum(axis=0, keepdims=True)
    count = len(rows)
    without = statistic(total - rows) if count > 1 else 0.0
    return count * statistic(total) - (count - 1) * without


@lru_cache(maxsize=4)
def _scores(pairs: tuple[Pair, ...], language: Language) -> Mapping[str, float]:
    hypotheses, references, sources = zip(*pairs, strict=True)
    return translation.score_translation(
        hypotheses,
        references,
        language=language,
        sources=sources,
    )


# ---------------------------------------------------------------------- figures of reasoning

OF_REASONING = ("reasoning_cantonese", "reasoning_finished")
"""The figures of every task whose answers are written."""

_RIGHT = "acc_reasoning_cantonese"
LANGUAGES: tuple[str, ...] = get_args(ProseLanguage)
"""The languages in `hkcanto_metrics.language`."""


def reasoning_values(
    reasoning: WrittenLanguage,
    answer_language: str,
    values: Mapping[str, float | None],
) -> dict[str, float]:
    """Return an item's values of the figures of reasoning, and 1 or 0 for each language.

    Args:
        reasoning: The language of its reasoning.
        answer_language: The language of its answer.
        values: The values of its kind's figures.

    Examples:
        >>> reasoning_values(WrittenLanguage("english"), "none", {"acc": 1.0})[_RIGHT]
        0.0
    """
    shares: dict[str, float] = {}
    for language in LANGUAGES:
        shares[f"reasoning_{language}"] = float(reasoning.language == language)
    shares["reasoning_finished"] = reasoning.finished or 0.0
    if answer_language != "none":
        for language in LANGUAGES:
            shares[f"answer_{language}"] = float(answer_language == language)
    acc = values.get("acc")
    if acc is not None:
        shares[_RIGHT] = acc * shares["reasoning_cantonese"]
    return shares


# ---------------------------------------------------------------------- the figures of a task


def figures_of(task: TaskVariant, own: Iterable[Figure]) -> tuple[Figure, ...]:
    """Return all figures of a task, the headline first.

    They are the kind's, those of reasoning if the model writes, and averages of accuracy.

    Args:
        task: The task, with the subjects that it runs.
        own: The figures of its kind.

    Examples:
        >>> from hkcanto_tasks import load_task
        >>> [figure.name for figure in load_task("hkcanto_cultural").kind.figures][:3]
        ['acc_macro', 'acc', 'acc_food']
    """
    all_figures = [*own]
    accuracy = next((figure for figure in all_figures if figure.name == "acc"), None)
    if task.variant.scoring == "generative":
        all_figures += figures(*OF_REASONING)
        if accuracy:
            all_figures += figures(_RIGHT)
    if accuracy:
        all_figures[1:1] = [*_averages(task), *_parts(task, accuracy)]
    headline = _headline(task) or all_figures[0].name
    return tuple(sorted(all_figures, key=lambda figure: figure.name != headline))


def _headline(task: TaskVariant) -> str:
    """Return the name of the declared headline, as it is for the subjects that are run."""
    headline = task.definition.headline
    if headline.startswith("acc_") and len(task.subjects) == 1:
        return "acc"
    categories = {subject.category for subject in task.subjects}
    if headline == "acc_category_macro" and len(categories) == 1:
        return "acc_macro"
    return headline


def _averages(task: TaskVariant) -> tuple[Figure, ...]:
    """Return the means of accuracy over subjects and categories."""
    names: list[str] = []
    if len(task.subjects) > 1:
        names.append("acc_macro")
    if len(_categories(task)) > 1 and _is_by_category(task):
        names.append("acc_category_macro")
    return figures(*names)


def _parts(task: TaskVariant, accuracy: Figure) -> Iterator[Figure]:
    """Yield the accuracy on each category, subject, set and type of question."""
    definition = task.definition
    categories = _categories(task)
    titles: dict[str, str] = {}
    if len(categories) > 1:
        titles |= dict.fromkeys(categories, "")
    if _has_figure_by_subject(task):
        titles |= {subject.name: subject.title for subject in task.subjects}
    for subject in task.subjects:
        titles |= dict.fromkeys(subject.groups, "")
    if isinstance(definition, ChoiceDefinition):
        titles |= dict.fromkeys(definition.types, "")
    for name, title in titles.items():
        title = title or definition.titles.get(name, "")
        title = title or name.replace("_", " ").capitalize()
        # If the average is over categories, a category's figure is the mean over its subjects.
        is_mean = _is_by_category(task) and name in categories
        yield replace(
            accuracy,
            name=f"acc_{name}",
            title=title,
            help=f"Accuracy on one part: {title}.",
            of=accuracy.name,
            over="subjects" if is_mean else "questions",
            part=name,
        )


def _categories(task: TaskVariant) -> list[str]:
    categories = dict.fromkeys(subject.category for subject in task.subjects)
    return [category for category in categories if category]


def _is_by_category(task: TaskVariant) -> bool:
    return task.definition.headline == "acc_category_macro"


def _has_figure_by_subject(task: TaskVariant) -> bool:
    """Whether each subject has a figure of its own, as with the few subjects of Table 7."""
    few = (
        len(task.subjects) > 1 and len(task.definition.subjects) <= _MOST_SUBJECTS_SHOWN
    )
    return few and not any(subject.category for subject in task.subjects)


def parts_of(task: TaskVariant, subject: Subject) -> tuple[str, ...]:
    """Return the parts with their own figures to which all items of a subject belong."""
    by_name = (subject.name,) if _has_figure_by_subject(task) else ()
    return tuple(filter(None, (subject.category, *by_name, *subject.groups)))
