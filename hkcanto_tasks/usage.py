"""Tokens and time of a run, as far as its logs have them."""

from dataclasses import dataclass
from typing import NamedTuple


class Timed(NamedTuple):
    """How long a harness took, in one of its logs.

    Attributes:
        log: The log.
        seconds: The time that passed.
        answers: How many answers it took them for, those to other tasks of the log included.
        with_loading: Whether starting up and loading the model took part of them.
    """

    log: str
    seconds: float
    answers: int
    with_loading: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and time of a run, by the counts of the provider. What no log says is None.

    Attributes:
        answers: How many answers these are of; one to each question in each epoch.
        prompt_tokens: Of all prompts, with those that the provider's prefix cache served.
        answer_tokens: That the model wrote, with its reasoning.
        cached_tokens: Of the prompts' tokens, those that the provider's prefix cache served; None
            where it reports none, as in the next two.
        reasoning_tokens: Of the answers' tokens, those of reasoning.
        judge_tokens: Of a judge's prompts and answers, which are in none of the others.
        dollars: What the answers cost, with those of judges.
        timed: The logs that say a time.
        reused: Whether answers are from a cache of the harness, or may be: the model wrote these at
            another time, which is not in `seconds`.
    """

    answers: int = 0
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    judge_tokens: int | None = None
    dollars: float | None = None
    timed: tuple[Timed, ...] = ()
    reused: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        """Return the usage of two runs; the time of a log that both are from counts once."""

        def both(name: str) -> int | None:
            known = [n for n in (getattr(self, name), getattr(other, name)) if n is not None]
            return sum(known) if len(known) == 2 or (known and name in _IF_ANY) else None

        costs = [each.dollars for each in (self, other) if each.dollars is not None]
        return Usage(
            answers=self.answers + other.answers,
            dollars=sum(costs) if len(costs) == 2 else None,
            timed=tuple(dict.fromkeys((*self.timed, *other.timed))),
            reused=self.reused or other.reused,
            **{name: both(name) for name in TOKENS},
        )

    @property
    def tokens(self) -> dict[str, int]:
        """The counts that are known, by their names."""
        found = {name: getattr(self, name) for name in TOKENS}
        return {name: count for name, count in found.items() if count is not None}

    @property
    def known(self) -> dict[str, int | float | bool]:
        """What is known, for programs: the tokens, and `seconds` with what these are of."""
        found: dict[str, int | float | bool] = {"answers": self.answers, **self.tokens}
        if self.dollars is not None:
            found["dollars"] = round(self.dollars, 6)
        if self.seconds is not None:
            found["seconds"] = round(self.seconds, 3)
            found["seconds_of_answers"] = sum(each.answers for each in self.timed)
            found |= {"seconds_with_loading": self.with_loading, "answers_reused": self.reused}
        return found

    @property
    def seconds(self) -> float | None:
        """The time of the logs together, in which other tasks may have run: see `shared`."""
        known = sum(each.answers for each in self.timed) >= self.answers
        return sum(each.seconds for each in self.timed) if self.timed and known else None

    @property
    def shared(self) -> bool:
        """Whether the seconds are also of other answers than these."""
        return sum(each.answers for each in self.timed) > self.answers

    @property
    def with_loading(self) -> bool:
        """Whether starting up and loading the model are in the seconds."""
        return any(each.with_loading for each in self.timed)

    @property
    def remarks(self) -> str:
        """What to know of the seconds, for people; empty if they are of these answers alone.

        Examples:
            >>> Usage(20, timed=(Timed("a.json", 90.0, 60, with_loading=True),)).remarks
            'for 60 answers, also to other tasks; with loading the model'
        """
        if self.seconds is None:
            return ""
        every = sum(each.answers for each in self.timed)
        remarks = [
            f"for {every:,} answers, also to other tasks" * self.shared,
            "with loading the model" * self.with_loading,
            "answers from a cache took none" * self.reused,
        ]
        return "; ".join(filter(None, remarks))


_IF_ANY = ("cached_tokens", "reasoning_tokens", "judge_tokens")
TOKENS = ("prompt_tokens", "answer_tokens", *_IF_ANY)
"""The counts that a `Usage` has."""
