"""Token counts and time of a run, if its logs have them."""

from dataclasses import dataclass
from typing import NamedTuple


class Timed(NamedTuple):
    """The time that a harness took, from one of its logs.

    Attributes:
        log: The log.
        seconds: The time that passed.
        answers: The number of answers in this time, including those for other tasks of the log.
        with_loading: Whether the time includes starting up and loading the model.
    """

    log: str
    seconds: float
    answers: int
    with_loading: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and time of a run, as counted by the provider. Values that no log has are None.

    Attributes:
        answers: The number of answers: one for each item and epoch.
        prompt_tokens: Tokens of all prompts, including those from the provider's prefix cache.
        answer_tokens: Tokens that the model wrote, including its reasoning.
        cached_tokens: Prompt tokens from the provider's prefix cache; None, like the next two, if
            the provider does not report it.
        reasoning_tokens: Tokens of reasoning among the answer tokens.
        judge_tokens: Tokens of a judge's prompts and answers, which no other count includes.
        dollars: Cost of the answers, including judges'.
        timed: The logs that have a time.
        reused: Whether some answers are, or may be, from a cache of the harness. The model wrote
            these at another time, which `seconds` does not include.
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
        """Return the sum of the usage of two runs; a log that both share counts once."""

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
        """The known counts by name."""
        found = {name: getattr(self, name) for name in TOKENS}
        return {name: count for name, count in found.items() if count is not None}

    @property
    def known(self) -> dict[str, int | float | bool]:
        """The known values for programs: tokens, cost, and `seconds` with their scope."""
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
        """The total time of the logs, which may include other tasks; see `shared`."""
        known = sum(each.answers for each in self.timed) >= self.answers
        return sum(each.seconds for each in self.timed) if self.timed and known else None

    @property
    def shared(self) -> bool:
        """Whether the seconds include answers to other tasks."""
        return sum(each.answers for each in self.timed) > self.answers

    @property
    def with_loading(self) -> bool:
        """Whether the seconds include starting up and loading the model."""
        return any(each.with_loading for each in self.timed)

    @property
    def remarks(self) -> str:
        """The scope of the seconds, for people; empty if they are for these answers alone.

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
"""The names of the counts in a `Usage`."""
