"""Every average of the papers, once: which items count how much.

Each of them is a weighted mean of the items' values, and differs from the others in the weights
alone. Both harnesses and the reports ask here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum, nan, sqrt
from statistics import variance

from .catalogue import Average, Subject, TaskVariant, find_task
from .records import Figure, Over

_FEW_SUBJECTS = 6
_IN_WORDS = {
    "questions": "every question counts once",
    "subjects": "mean of the subjects' accuracies",
    "categories": "mean over the categories of the mean over their subjects",
}


def weights(
    over: Over, subjects: Sequence[str], categories: Mapping[str, str] | None = None
) -> list[float]:
    """Return how much each item counts in an average.

    Args:
        over: `questions`: every item counts once (HKMMLU, Table 1). `subjects`: the mean of the
            subjects' means (HKCanto-Eval, Table 7). `categories`: the mean over categories of the
            mean over their subjects' means (TMMLU+, Table 2).
        subjects: The subject of each item.
        categories: Subject → category, for `categories`.

    Returns:
        A weight for each item, in sum 1; subjects and categories without an item take no part.

    Examples:
        >>> weights("subjects", ["law", "law", "food"])
        [0.25, 0.25, 0.5]
    """
    if over == "questions":
        return [1 / len(subjects)] * len(subjects)
    sizes = Counter(subjects)
    category_of = {name: (categories or {})[name] if over == "categories" else "" for name in sizes}
    in_category = Counter(category_of.values())
    share = {
        name: 1 / (len(in_category) * in_category[category_of[name]] * size)
        for name, size in sizes.items()
    }
    return [share[name] for name in subjects]


def average(
    values: Sequence[float],
    over: Over = "questions",
    subjects: Sequence[str] = (),
    categories: Mapping[str, str] | None = None,
) -> float:
    """Return an average of some items; NaN of none.

    Args:
        values: One for each item.
        over: As in `weights`, as are subjects and categories.
        subjects: See there.
        categories: See there.

    Examples:
        >>> average([1.0, 0.0, 1.0], "subjects", ["law", "law", "food"])
        0.75
    """
    if not values:
        return nan
    if over == "questions":
        return fsum(values) / len(values)
    shares = weights(over, subjects, categories)
    return fsum(share * value for share, value in zip(shares, values, strict=True))


def standard_error(
    values: Sequence[float],
    over: Over = "questions",
    subjects: Sequence[str] = (),
    categories: Mapping[str, str] | None = None,
) -> float:
    """Return the standard error of an average; NaN of fewer than two items.

    Over subjects or categories it is that of a stratified mean, the subjects being the strata
    (Cochran 1977, section 5.3); a subject with a single item adds nothing.

    Args:
        values: As in `average`, as are over, subjects and categories.
        over: See there.
        subjects: See there.
        categories: See there.

    Examples:
        >>> standard_error([1.0, 0.0, 1.0, 0.0])
        0.28867513459481287
    """
    if len(values) < 2:
        return nan
    of_stratum: dict[str, list[float]] = {}
    strata = [""] * len(values) if over == "questions" else subjects
    for stratum, value in zip(strata, values, strict=True):
        of_stratum.setdefault(stratum, []).append(value)
    counts = weights(over, strata, categories)
    weight = dict(zip(strata, counts, strict=True))
    of_sum = (
        weight[stratum] ** 2 * len(of) * variance(of)
        for stratum, of in of_stratum.items()
        if len(of) > 1
    )
    return sqrt(fsum(of_sum))


def categories_of(task: TaskVariant) -> dict[str, str]:
    """Return the category of each subject of a task."""
    return {subject.name: subject.category for subject in task.definition.subjects}


def figures(task: TaskVariant, metrics: Iterable[Figure]) -> list[Figure]:
    """Return all figures of a task, the headline first: its kind's, and the averages of accuracy.

    Args:
        task: The task, with the subjects that it runs.
        metrics: Those of its kind.

    Examples:
        >>> from hkcanto_tasks import load_task
        >>> [figure.name for figure in load_task("hkcanto_cultural").condition.figures][:3]
        ['acc_macro', 'acc', 'acc_food']
    """
    of_kind = list(metrics)
    made = [*of_kind]
    for metric in of_kind:
        if metric.name == "acc":
            made[1:1] = _averages(task, metric)
    first = headline(task) or made[0].name
    return sorted(made, key=lambda figure: figure.name != first)


def in_table(task: TaskVariant, every: Iterable[Figure]) -> list[Figure]:
    """Return the figures that a harness's table shows, the headline first.

    Args:
        task: The task.
        every: All of its figures, as from `figures`.
    """
    first, *rest = every
    wanted = task.definition.table
    return [
        first,
        *(
            figure
            for figure in rest
            if (
                figure.averages in wanted or figure.name in wanted
                if wanted
                else not figure.diagnostic
            )
        ),
    ]


def headline(task: TaskVariant) -> str:
    """Return the name of the figure that the paper reports.

    Of a single category it is the mean over its subjects, and of a single subject its accuracy.
    """
    name, subjects = task.definition.headline, task.subjects
    if name == "acc_category_macro" and len({subject.category for subject in subjects}) == 1:
        name = "acc_macro"
    return "acc" if name.startswith("acc_") and len(subjects) == 1 else name


def _averages(task: TaskVariant, acc: Figure) -> Iterable[Figure]:
    of_acc = replace(acc, of=acc.name)
    subjects, entry = task.subjects, task.definition
    categories = list(dict.fromkeys(filter(None, (subject.category for subject in subjects))))
    if len(subjects) > 1:
        yield _over(of_acc, "acc_macro", "Mean over subjects", "subjects")
    by_category = entry.headline == "acc_category_macro"
    if len(categories) > 1 and by_category:
        yield _over(of_acc, "acc_category_macro", "Mean over categories", "categories")
    parts = dict.fromkeys(categories, "") if len(categories) > 1 else {}
    if shown_by_subject(task):
        parts |= {subject.name: subject.title for subject in subjects}
    parts |= {group: "" for subject in subjects for group in subject.groups}
    parts |= dict.fromkeys((*entry.types, *entry.coarse), "")
    summed_up = {fine for fines in entry.coarse.values() for fine in fines}
    for name, title in parts.items():
        title = title or entry.titles.get(name) or name.replace("_", " ").capitalize()
        yield replace(
            of_acc,
            name=f"acc_{name}",
            title=title,
            help=f"Accuracy on its part: {title}.",
            # Where the average is over categories, each of them is one over its subjects.
            over="subjects" if by_category and name in categories else "questions",
            part=name,
            diagnostic=name in summed_up,
        )


def shown_by_subject(task: TaskVariant) -> bool:
    """Return whether each subject has a figure of its own: where there are few, as in Table 7."""
    few = len(task.subjects) > 1 and len(task.definition.subjects) <= _FEW_SUBJECTS
    return few and not any(subject.category for subject in task.subjects)


def parts_of(task: TaskVariant, subject: Subject) -> tuple[str, ...]:
    """Return the parts of a task, reported apart, that all items of a subject belong to."""
    by_name = (subject.name,) if shown_by_subject(task) else ()
    return tuple(filter(None, (subject.category, *by_name, *subject.groups)))


def _over(acc: Figure, name: str, title: str, over: Over) -> Figure:
    return replace(acc, name=name, title=title, over=over, help=f"Accuracy: {_IN_WORDS[over]}.")


def share(of: Average, task: str) -> float:
    """Return how much of an average over several tasks the headline of one of them is.

    Args:
        of: The average, such as the ZH/YUE average of HKCanto-Eval's Table 1.
        task: The name of a task in one of its columns.

    Returns:
        Its part of its column, which is by number of questions, over the number of columns.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_benchmark
        >>> share(find_benchmark("hkcanto").averages[1], "hkcanto_mmlu_yue")
        0.25
    """
    column = next(column for column in of.columns if task in column)
    questions = {name: sum(each.rows for each in find_task(name).subjects) for name in column}
    return questions[task] / sum(questions.values()) / len(of.columns)


def of_columns(of: Average, headlines: Mapping[str, float]) -> float:
    """Return an average over several tasks.

    Args:
        of: The average.
        headlines: Task → its headline, for every task in the average's columns.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_benchmark
        >>> english = find_benchmark("hkcanto").averages[0]
        >>> tasks = ["hkcanto_mmlu_en", "hkcanto_dse_en", "hkcanto_professional_en"]
        >>> of_columns(english, dict(zip(tasks, [0.5, 1.0, 1.0])))
        0.75
    """
    tasks = [task for column in of.columns for task in column]
    return fsum(share(of, task) * headlines[task] for task in tasks)
