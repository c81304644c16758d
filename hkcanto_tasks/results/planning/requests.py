"""Estimates of requests, tokens, hours and cost before anything is sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from os.path import commonprefix

from hkcanto_metrics.script import is_han

from ...choosing import chosen_tasks
from ...loading import LoadedTask, load_task
from ...samples import Sample
from ..reports.blocks import Column, Report, Section, table
from ..tokens import Count, load_tokenizer

_OTHERS = 4  # characters of other scripts to a token


BY_CHARACTERS = f"characters (one token per Chinese character, or per {_OTHERS} others)"
"""How tokens are counted without a tokenizer."""


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of a task at its default settings, without a chat template.

    Attributes:
        task: The task's name in lm-eval.
        requests: The number of requests: one per item, or one per letter by log-likelihood.
        prompt: Tokens of all prompts.
        shared: Tokens that repeat the beginning of another prompt; an unlimited prefix cache can
            serve them.
        limit: The longest answer, in tokens.
    """

    task: str
    requests: int
    prompt: int
    shared: int
    limit: int

    @property
    def answers(self) -> int:
        """Tokens of all answers, if each is as long as allowed."""
        return self.requests * self.limit

    def hours(self, speed: float) -> float:
        """Hours at a speed in tokens a second, of prompts and answers together."""
        return (self.prompt + self.answers) / speed / 3600

    def cost(self, of_prompts: float, of_answers: float) -> float:
        """The cost at prices per million tokens."""
        return (self.prompt * of_prompts + self.answers * of_answers) / 1e6


def by_characters(texts: Sequence[str]) -> list[int]:
    """Count one token per Chinese character, and one per four others.

    Examples:
        >>> by_characters(["你好", "four more", ""])
        [2, 3, 0]
    """
    return [
        (chinese := sum(map(is_han, text))) + -(-(len(text) - chinese) // _OTHERS) for text in texts
    ]


def times(loaded: LoadedTask, sample: Sample) -> int:
    """Return how often a prompt is sent: once, or by log-likelihood once per letter."""
    letters = sum(text is not None for text in sample.choices)
    return 1 if loaded.setup.is_generative else letters


def requests_of(loaded: LoadedTask, count: Count = by_characters) -> Requests:
    """Count what a task sends.

    Examples:
        >>> found = requests_of(load_task("hkcanto_orthography"))
        >>> found.requests == len(load_task("hkcanto_orthography").samples), found.limit
        (True, 12)
    """
    prompts = [
        loaded.prompt(each).text() for each in loaded.samples for _ in range(times(loaded, each))
    ]
    # Once sorted, each prompt shares its longest beginning with a neighbour.
    ordered = sorted(prompts)
    beginnings = [commonprefix(pair) for pair in pairwise(ordered)]  # noqa: RUF071
    own = sum(count(prompts))
    limit = loaded.setup.max_tokens if loaded.setup.is_generative else 0
    return Requests(loaded.task.name, len(prompts), own, sum(count(beginnings)), limit)


def report(
    names: Sequence[str] | None,
    tokenizer: str | None = None,
    speed: float | None = None,
    prices: tuple[float, float] | None = None,
) -> Report:
    """Estimate tasks or benchmarks at their default settings, as a report.

    Args:
        names: Tasks or benchmarks; by default all of them.
        tokenizer: As in `load_tokenizer`; by default tokens are counted by characters.
        speed: Tokens a second, of prompts and answers together.
        prices: The prices of a million prompt tokens and of a million answer tokens.
    """
    from ..reports.report import report_of

    count = load_tokenizer(tokenizer) if tokenizer else by_characters
    loaded = (load_task(task.name, allow_absent=True) for task in chosen_tasks(names))
    found = [requests_of(each, count) for each in loaded if each.samples]
    how = tokenizer or BY_CHARACTERS
    made = table(
        "estimate",
        "Requests and tokens of a run",
        found,
        [
            (Column("Task"), lambda row: row.task),
            (Column("Requests", "count"), lambda row: row.requests),
            (Column("Prompt tokens", "count"), lambda row: row.prompt),
            (
                Column("Cacheable", "percent", "Prompt tokens that a prefix cache can serve."),
                lambda row: row.shared / max(1, row.prompt),
            ),
            (Column("Answer limit", "count", "Tokens of one answer."), lambda row: row.limit),
            (Column("Hours, at most", "number"), lambda row: speed and row.hours(speed)),
            (Column("Cost, at most", "number"), lambda row: prices and row.cost(*prices)),
        ],
        f"Tokens by {how}, without a chat template. Hours and cost assume answers of the maximum "
        "length and no prefix cache.",
    )
    total = Section("Estimate", [made], "estimate", is_summary=True)
    return report_of([total], "Estimate")
