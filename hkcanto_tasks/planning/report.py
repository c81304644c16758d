"""The plan as a report: what numbers of questions show, and how many it takes."""

from collections.abc import Callable, Mapping, Sequence

from ..catalogue import benchmarks, find_task, named_tasks
from ..errors import OptionError
from ..figures import subject_weights
from ..reports.blocks import Block, Column, Note, Report, Section, Table, Value, table
from ..reports.report import report_of
from ..setup import Setup, setup
from . import power
from .observed import Part
from .power import Spread, applied

_Gate = tuple[Part, float]
_METHOD = (
    "80 % power, every question answered by both runs. A difference is tested at 5 %, two-sided "
    "(Miller 2024, section 5), a gate at 5 %, one-sided. The exact test (McNemar) and the gate by "
    "Gaffke's bound are those of hkcanto compare."
)


def catalogue(spread: Spread, names: Sequence[str] = ()) -> Sequence[Part]:
    """Return the tasks and parts of tasks with as many questions as are published, and one spread.

    Of a discordance they are the tasks whose figure is a share of questions, else the others.

    Args:
        spread: Of all of them.
        names: Benchmarks, tasks, their parts or subjects; without any all but subjects.

    Raises:
        CatalogueError: There is none of such a name.

    Examples:
        >>> from hkcanto_tasks.reports.estimates import Estimate
        >>> half = power.of_discordance(Estimate(0.5, None, None, 0))
        >>> [(part.name, part.items) for part in catalogue(half, ["hkcanto_law"])]
        [('hkcanto_law', 424)]
    """
    known = [each.name for each in benchmarks()]
    whole = [
        task
        for task in named_tasks().values()
        if task.scope != "subject" and not task.variant.suffix
        if task.benchmark.name in (names or known)
    ]
    whole += [find_task(name) for name in names if name not in known]
    found = []
    for task in whole:
        how = setup(task.name)
        sizes = {subject.name: subject.rows for subject in task.subjects if subject.rows}
        items = sum(sizes.values())
        if items and (how.headline.unit == "share") == (spread.discordance is not None):
            found.append(Part(task.name, items, _as_headline(spread, how, sizes)))
    return found


def _as_headline(spread: Spread, how: Setup, sizes: Mapping[str, int]) -> Spread:
    """Weigh the questions of a whole task as its headline weighs them."""
    if how.headline.over == "questions":
        return spread
    items, shares = sum(sizes.values()), subject_weights(how.headline.over, sizes, how.categories)
    own = [shares[name] * items for name in sizes]
    return power.weighted(spread, own, [size / items for size in sizes.values()])


def build(
    parts: Sequence[Part],
    others: Sequence[Part],
    *,
    title: str,
    about: str = "",
    sizes: Sequence[int] = (),
    gates: Sequence[float] = (2.0,),
    loss: float = 0.0,
) -> Report:
    """Return the report.

    Args:
        parts: What was observed or assumed.
        others: What is as large as a benchmark, with one of these spreads.
        title: Its title: what was observed or assumed.
        about: What its intervals are.
        sizes: Numbers of questions to plan for, with the first of the spreads.
        gates: Differences and tolerances δ, in points.
        loss: What the second run truly loses, in points; negative if it is better.

    Raises:
        OptionError: A gate is not above the loss.
    """
    if impossible := [gate for gate in gates if gate <= loss]:
        raise OptionError(
            f"--gate {impossible[0]:g} with --loss {loss:g}: a run that loses as much as the "
            "tolerance or more does not pass. Give a larger gate, or a smaller loss."
        )
    whole = [part for part in parts if not part.is_subject]
    counted = [part._replace(name=f"any {n:,}", items=n) for part in whole[:1] for n in sizes]
    rows = [*counted, *(part for part in whole if part.items), *others]
    gated: list[_Gate] = [(part, gate) for part in whole for gate in gates]
    blocks: list[Block] = [Note(_METHOD), _shown("shows", rows, about)]
    sections = [
        Section("What so many questions show", blocks, "shows", is_summary=True),
        Section("What it takes", [_taken(gated, loss / 100)], "takes", is_summary=True),
    ]
    if subjects := [part for part in parts if part.is_subject]:
        sections.append(Section("By subject", [_shown("subjects", subjects, about)], "subjects"))
    return report_of(sections, title)


def _shown(name: str, parts: Sequence[Part], about: str) -> Table:
    several = len({part.of for part in parts}) > 1
    columns: list[tuple[Column, Callable[[Part], Value]]] = [
        (Column("Questions of"), lambda part: part.name),
        (Column("Items", "count"), lambda part: part.items),
        (Column("Shows", "number", "Points, by the formula.", drawn=True), _smallest),
        (Column("Disagree", "percent", "Of the questions."), lambda part: part.spread.discordance),
        (Column("SD", "number", "Of the differences, in points."), _deviation),
        (Column("Exact test", "number", "Points, by McNemar's exact test."), _smallest_exact),
        (Column("Between"), lambda part: part.of if several else None),
    ]
    title = "The smallest difference that they show, in points"
    return table(name, title, parts, columns, about)


def _taken(gated: Sequence[_Gate], loss: float) -> Table:
    def needed(by: Callable[[float, float], int]) -> Callable[[_Gate], Value]:
        return lambda row: applied(lambda end: by(end, row[1] / 100), row[0].spread.deviation)

    several, pairs = len({part for part, _ in gated}) > 1, len({part.of for part, _ in gated})
    columns: list[tuple[Column, Callable[[_Gate], Value]]] = [
        (Column("Points"), lambda row: f"{row[1]:g}{f', {row[0].name}' * several}"),
        (Column("To show it", "count", "The difference."), needed(power.items_to_show)),
        (
            Column("To pass a gate", "count", "By the normal approximation."),
            needed(lambda end, delta: power.items_for_gate(end, delta, loss)),
        ),
        (
            Column("By compare --gate", "count", "With Gaffke's bound."),
            lambda row: power.items_for_bound(row[0].spread, row[1] / 100, loss),
        ),
        (Column("There are", "count"), lambda row: row[0].items or None),
        (Column("Between"), lambda row: row[0].of if pairs > 1 else None),
    ]
    caption = f"The gates are for a second run that truly loses {100 * loss:g} points."
    return table("takes", "How many questions it takes", gated, columns, caption)


def _smallest(part: Part) -> Value:
    most = part.spread.discordance.value if part.spread.discordance else 1.0
    found = applied(
        lambda end: 100 * power.smallest_difference(end, part.items), part.spread.deviation
    )
    return found if found.value < 100 * most else None


def _smallest_exact(part: Part) -> Value:
    if not part.spread.discordance:
        return None
    found = power.smallest_by_mcnemar(part.spread.discordance.value, part.items)
    return None if found is None else 100 * found


def _deviation(part: Part) -> Value:
    spread = part.spread
    return None if spread.discordance else applied(lambda end: 100 * end, spread.deviation)
