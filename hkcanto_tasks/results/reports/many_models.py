"""The first section on more than two models: who leads, and the tables of models and tasks."""

from collections import Counter, defaultdict
from collections.abc import (
    Callable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from dataclasses import dataclass, replace
from itertools import chain
from shlex import quote
from statistics import fmean

from ...messages import joined, say, say_number, sentences
from ..runs import Run
from ..statistics.intervals import Estimate
from ..statistics.matching import points_of
from ..statistics.selection import Selection, selection
from .blocks import (
    Note,
    TableBlock,
    TableColumn,
    TableRow,
    Value,
    next_step,
    table,
    verdict_note,
)
from .overview import Overview, Results, in_points
from .pairs import (
    BY_HOW_MUCH,
    HOW_CERTAIN,
    NOTHING,
    WHO_LEADS,
)
from .presentation import (
    doubts,
    headline,
    short_title,
    side_by_side,
    task_title,
)
from .renderers.formatting import (
    listed,
    value_text,
)
from .standings import (
    best_published,
    chance,
    headline_column,
)

_MATRIX = (
    "Each task's headline figure, on all of its items unless a note says otherwise. The best is "
    "marked “*” or bold; “≈” marks models that are not certainly behind it. With few items, only large "
    "differences are certain."
)
_COUNTS = (
    "On how many of {tasks} tasks a model is certainly better than all others, perhaps the best (no "
    "model is certainly better than it), and certainly behind the best."
)
_BEST = "Tasks on which it is certainly better than all others."
_PERHAPS = "Tasks on which neither it nor another model is certainly the best."
_BEHIND = "Tasks on which it is certainly worse than the best."
_ONLY_ONE = (
    "No model leads: only {model} can be compared on every task. "
    "Each of the others has a run that is left out."
)


@dataclass(frozen=True)
class _Order:
    """The models that were run on every task, at least two, best first.

    Attributes:
        best_first: The models.
        ranks: Their mean ranks.
        means: Their mean accuracies; empty without tasks that have one.
    """

    best_first: Sequence[str]
    ranks: Mapping[str, float]
    means: Mapping[str, Estimate]

    @property
    def first(self) -> str:
        """The first model."""
        return self.best_first[0]

    @property
    def second(self) -> str:
        """The next model, which may share the first place."""
        return self.best_first[1]

    @property
    def leaders(self) -> Sequence[str]:
        """The models that share the best mean rank."""
        best = self.ranks[self.first]
        return [label for label in self.best_first if self.ranks[label] == best]

    @property
    def others(self) -> Sequence[str]:
        """The models behind the leaders."""
        return self.best_first[len(self.leaders) :]


def overview_of_runs(
    runs: Sequence[Run], tests: int
) -> tuple[Sequence[Note], Sequence[TableBlock]]:
    """Return the verdict on more than two models, and the tables of models and tasks.

    A number of `tests` share the error of 5 %.
    """
    labels = [*dict.fromkeys(run.label for run in runs)]
    results = Results(
        runs,
        (),
        labels,
        side_by_side(runs),
        (),
        tests,
    )
    overview = overview_of_many(results)
    return overview.notes, overview.tables


def overview_of_many(results: Results) -> Overview:
    """Return which model has the best mean rank, and where the best is ahead of all others.

    The differences hold for all tasks at once. Runs that are not comparable are left out.
    """
    groups = [group for group in results.groups if len(group) > 1]
    races = list[Selection]()
    left_out = list[Run]()
    for group in groups:
        race = selection(tuple(group), results.tests)
        if race is None:
            continue
        left_out += race.left_out
        if race.differences:
            races.append(race)
    ranks = _mean_ranks(results, {run.label for run in left_out})
    notes = [Note(say(NOTHING, models=len(results.labels)), "verdict")]
    if races:
        notes = [*_notes_on_many(results, ranks, races)]
    tables = [_matrix(results, races, ranks)]
    if len(races) > 1:
        tables.insert(0, _models(results, ranks, races))
    return Overview(notes, tables, left_out)


def _notes_on_many(
    results: Results,
    ranks: Mapping[str, float | None],
    races: Sequence[Selection],
) -> Iterator[Note]:
    """Yield which models lead, by how much, how certainly, and what to do next."""
    known = {label: rank for label, rank in ranks.items() if rank is not None}
    if not known:
        yield Note(say("No task was run in full by all models."), "verdict")
    elif len(known) == 1:
        (model,) = known
        yield Note(say(_ONLY_ONE, model=model), "verdict")
        if len(races) > 1:
            yield verdict_note("Task by task", _best_of_tasks(races))
    else:
        means = _mean_accuracies(results)
        best_first = _by_rank(known, means)
        order = _Order(best_first, known, means)
        yield from _notes_on_order(order, races)


def _notes_on_order(order: _Order, races: Sequence[Selection]) -> Iterator[Note]:
    """Yield which of several ranked models lead, by how much, how certainly, and the next step."""
    yield verdict_note(WHO_LEADS, _leads(order, races))
    amount = _amount(order, races)
    if amount:
        yield verdict_note(BY_HOW_MUCH, amount)
    if len(races) > 1:
        yield verdict_note(HOW_CERTAIN, _lead_certainty(order, races))
        yield verdict_note("Task by task", _best_of_tasks(races))
    elif order.others:
        yield verdict_note(HOW_CERTAIN, _certainty_on_one(order, races[0]))
    first = quote(order.first)
    second = quote(order.second)
    text = say("Compare the first two task by task:")
    command = f"hkcanto compare LOGS --model {first} --model {second}"
    yield next_step(text, command)


def _leads(order: _Order, races: Sequence[Selection]) -> str:
    """Say which models have the best mean rank, or the best score on a single task."""
    is_one_task = len(races) == 1
    places: dict[str, object] = {
        "leaders": listed(order.leaders, " and "),
        "models": len(order.best_first),
        "mean_rank": value_text(order.ranks[order.first], "score"),
        "tasks": len(races),
    }
    if is_one_task:
        places["task"] = task_title(races[0].best)
        text = say("The best of {models} models on {task}: {leaders}.", **places)
    elif len(order.leaders) > 1:
        text = say(
            "{leaders} share the first place of {models} models: mean rank {mean_rank} over "
            "{tasks} tasks.",
            **places,
        )
    else:
        text = say(
            "{leaders} is the first of {models} models: mean rank {mean_rank} over {tasks} tasks.",
            **places,
        )
    if not order.others:
        return text
    follower = order.others[0]
    if is_one_task:
        return sentences(text, say("Next is {model}.", model=follower))
    rank = value_text(order.ranks[follower], "score")
    following = say("Next is {model} with {mean_rank}.", model=follower, mean_rank=rank)
    return sentences(text, following)


def _amount(order: _Order, races: Sequence[Selection]) -> str:
    """Say by how much the first model is ahead of the second: on a single task, or in the mean."""
    is_one_task = len(races) == 1
    scores = _scores_on(races[0]) if is_one_task else order.means
    if not scores:
        return ""
    first = scores[order.first]
    second = scores[order.second]
    difference = first.value - second.value
    if is_one_task:
        difference = abs(difference)  # of error rates, the lower is better
    places = {
        "model": order.first,
        "second": order.second,
        "gain": value_text(difference, "score_points"),
        "score": value_text(first, "score"),
        "other": value_text(second, "score"),
        "tasks": first.items,
    }
    if is_one_task:
        return say("{gain} points: {model} {score} against {second} {other}.", **places)
    return say(
        "{gain} points in the mean of {tasks} tasks: {model} {score}, {second} {other}.",
        **places,
    )


def _scores_on(race: Selection) -> Mapping[str, Estimate]:
    """Return each model's score on a task, from 0 to 100."""
    scores = dict[str, Estimate]()
    for run in race.items:
        score = in_points(run)
        if score:
            scores[run.label] = score
    return scores


def _lead_certainty(order: _Order, races: Sequence[Selection]) -> str:
    """Say on how many tasks the first model is certainly better than the second, and than others."""
    first = order.first
    text = _certainty_of_two(first, order.second, races)
    rest = [label for label in order.others if label != order.second]
    unclear = [label for label in rest if not _is_clearly_ahead(first, label, races)]
    places = {"model": first, "named": listed(unclear, ", "), "count": len(rest)}
    if unclear:
        close = say("Not certainly behind {model}: {named}.", **places)
        return sentences(text, close)
    if rest:
        behind = say_number(
            "The other model is certainly behind {model} on some task, and certainly ahead on none.",
            "The other {number} are certainly behind {model} on some task, and certainly ahead on "
            "none.",
            len(rest),
            model=first,
        )
        return sentences(text, behind)
    return text


def _certainty_of_two(
    first: str,
    second: str,
    races: Sequence[Selection],
) -> str:
    """Say on how many tasks the first of two models is certainly better, and certainly worse."""
    better = _wins(first, second, races)
    worse = _wins(second, first, races)
    places = {
        "model": first,
        "second": second,
        "better": better,
        "worse": worse,
        "tasks": len(races),
    }
    if not better and not worse:
        return say(
            "Not certain: no task shows a difference between {model} and {second} (95 %, all pairs and "
            "tasks together).",
            **places,
        )
    if worse:
        return say(
            "Not certain: {model} is certainly better than {second} on {better} of {tasks} tasks, and "
            "certainly worse on {worse} (95 %, all pairs and tasks together).",
            **places,
        )
    return say(
        "{model} is certainly better than {second} on {better} of {tasks} tasks, and certainly worse "
        "on none (95 %, all pairs and tasks together).",
        **places,
    )


def _certainty_on_one(order: _Order, race: Selection) -> str:
    """Say than how many other models the best of a single task are certainly better."""
    others = order.others
    close = list[str]()
    for label in others:
        if not any(
            _is_clearly_ahead(leader, label, [race]) for leader in order.leaders
        ):
            close.append(label)
    text = say(
        "Certainly better than {apart} of the {others} others (95 %, all pairs).",
        apart=len(others) - len(close),
        others=len(others),
    )
    if not close:
        return text
    models = listed((_named_behind(label, race) for label in close), ", ")
    return sentences(text, say("Not certainly better than {named}.", named=models))


def _wins(
    leader: str,
    other: str,
    races: Sequence[Selection],
) -> int:
    """Return on how many tasks a model is significantly better than another."""
    return sum(
        run.label == leader and other in {beaten.label for beaten in behind}
        for race in races
        for run, behind in race.ahead.items()
    )


def _is_clearly_ahead(
    leader: str,
    other: str,
    races: Sequence[Selection],
) -> bool:
    """Whether a model is significantly better than another on a task, and worse on none."""
    return _wins(leader, other, races) > 0 and not _wins(other, leader, races)


def _named_behind(label: str, race: Selection) -> str:
    """Return a model, and how many points it is behind the best of a task."""
    gaps = {run.label: gap for run, gap in race.differences.items()}
    points = points_of(race.best.headline) * abs(gaps.get(label, 0.0))
    return say("{model} ({points} points behind)", model=label, points=f"{points:.1f}")


def _best_of_tasks(races: Sequence[Selection]) -> str:
    """Say on how many tasks a model is certainly better than all others."""
    tasks = defaultdict[str, list[str]](list)
    for race in races:
        if not race.ties:
            score = value_text(in_points(race.best), "score")
            won = say(
                "{task} {score}", task=short_title(race.best.definition), score=score
            )
            tasks[race.best.label].append(won)
    if not tasks:
        return say(
            "On none of the {tasks} tasks is one model certainly better than all others.",
            tasks=len(races),
        )
    texts = [
        say("{model}: {tasks}", model=label, tasks=listed(titles, ", "))
        for label, titles in tasks.items()
    ]
    return say(
        "On {won} of the {tasks} tasks one model is certainly better than all others. {named}.",
        won=sum(map(len, tasks.values())),
        tasks=len(races),
        named=listed(texts),
    )


def _mean_accuracies(results: Results) -> Mapping[str, Estimate]:
    """Return each model's mean accuracy, from 0 to 100, over the tasks that all models have.

    Only shares of right answers have a mean, and only over at least two tasks. The items of the
    estimate are the tasks.
    """
    scores = defaultdict[str, list[float]](list)
    for group in results.groups:
        if not group[0].headline.is_accuracy:
            continue
        values = {run.label: value for run in group if (value := in_points(run))}
        if len(values) == len(results.labels):
            for label, value in values.items():
                scores[label].append(value.value)
    return {
        label: Estimate(
            fmean(of_tasks),
            None,
            None,
            len(of_tasks),
        )
        for label, of_tasks in scores.items()
        if len(of_tasks) > 1
    }


def _models(
    results: Results,
    ranks: Mapping[str, float | None],
    races: Sequence[Selection],
) -> TableBlock:
    """Return the models by mean rank, with how often each is the best or not certainly behind."""
    firsts = Counter(race.best.label for race in races if not race.ties)
    perhaps = Counter[str]()
    behind = Counter[str]()
    for race in races:
        if race.ties:
            perhaps.update({run.label for run in (race.best, *race.ties)})
        tied = {run.label for run in (race.best, *race.ties)}
        behind.update({run.label for run in race.differences} - tied)
    columns: list[tuple[TableColumn, Callable[[str], Value]]] = [
        (TableColumn("Model"), str),
        (
            TableColumn("Mean rank", "score", lower_is_better=True),
            lambda label: ranks[label],
        ),
        (TableColumn("Mean accuracy", "score"), _mean_accuracies(results).get),
        (TableColumn("Certainly best", "count", _BEST), lambda label: firsts[label]),
        (TableColumn("Perhaps best", "count", _PERHAPS), lambda label: perhaps[label]),
        (
            TableColumn("Certainly behind", "count", _BEHIND),
            lambda label: behind[label],
        ),
    ]
    return table(
        "models",
        "Models, best first",
        _by_rank(ranks, _mean_accuracies(results)),
        columns,
        say(_COUNTS, tasks=len(races)),
    )


def _by_rank(
    ranks: Mapping[str, float | None], means: Mapping[str, Estimate]
) -> list[str]:
    """Return the models by mean rank, equal ones by their mean, those without a rank last."""

    def order(label: str) -> tuple[bool, float, float, str]:
        rank = ranks[label]
        mean = means[label].value if label in means else 0.0
        return rank is None, rank or 0.0, -mean, label

    return sorted(ranks, key=order)


def _matrix(
    results: Results,
    races: Sequence[Selection],
    ranks: Mapping[str, float | None],
) -> TableBlock:
    """Return the table of models × tasks, sorted by the mean rank over the tasks that all have.

    A note of a headline says whether it ties with the best, and the doubts about it. Below the
    models are the best published scores, and chance.
    """
    columns = [
        TableColumn("Model"),
        TableColumn(
            "Mean rank",
            "score",
            "Over the tasks that all models have in full.",
            lower_is_better=True,
        ),
    ]
    best: list[Value] = [say("Best published"), None]
    random: list[Value] = [say("Chance"), None]
    for group in results.groups:
        columns.append(headline_column(group[0]))
        published = best_published(group[0])
        best.append(published and published.score)
        random.append(chance(group[0]))
    rows = _model_rows(results, races, ranks)
    rows += [TableRow(best, "best"), TableRow(random, "random")]
    return TableBlock(
        "matrix",
        "Models and tasks",
        columns,
        [row for row in rows if any(value is not None for value in row.values[1:])],
        caption=_MATRIX,
        turnable=len(results.groups) > 1,
    )


def _model_rows(
    results: Results,
    races: Sequence[Selection],
    ranks: Mapping[str, float | None],
) -> list[TableRow]:
    """Return a row of headlines for each model, those without a mean rank last."""
    shared = set.intersection(*({*doubts(run)} for run in results.runs))
    ties = {*chain.from_iterable(race.ties for race in races)}
    by_label = [{run.label: run for run in reversed(group)} for group in results.groups]
    rows = list[TableRow]()
    for label in _by_rank(ranks, _mean_accuracies(results)):
        values: list[Value] = [label, ranks[label]]
        for runs in by_label:
            run = runs.get(label)
            values.append(_noted_headline(run, ties, shared) if run else None)
        rows.append(TableRow(values, "run"))
    return rows


def _noted_headline(
    run: Run,
    ties: Set[Run],
    shared: Set[str],
) -> Estimate | None:
    """Return a headline, noted with whether it ties with the best and what is doubtful about it."""
    value = headline(run)
    if value is None:
        return None
    notes = [doubt for doubt in doubts(run) if doubt not in shared]
    if run in ties:
        notes.insert(0, "≈")
    return replace(value, note=joined("; ", notes))


def _mean_ranks(results: Results, left_out: Set[str]) -> dict[str, float | None]:
    """Return each model's mean rank over the tasks that all have.

    It is None without such a task, or if a run of the model is left out of the comparison.
    """
    ranked = {*results.labels} - left_out
    ranks: dict[str, list[int]] = {label: [] for label in results.labels}
    for group in results.groups:
        for label, rank in _task_ranks(group, ranked).items():
            ranks[label].append(rank)
    return {
        label: fmean(of_tasks) if of_tasks else None
        for label, of_tasks in ranks.items()
    }


def _task_ranks(group: Sequence[Run], labels: Set[str]) -> dict[str, int]:
    """Return the rank of each of some models on a task; empty if one of them lacks the task."""
    sign = 1 if group[0].headline.higher_is_better else -1
    scores = dict[str, float]()
    for run in group:
        value = headline(run)
        if value and run.label in labels:
            scores[run.label] = sign * value.value
    if len(scores) < len(labels):
        return {}
    return {
        label: 1 + sum(other > score for other in scores.values())
        for label, score in scores.items()
    }
