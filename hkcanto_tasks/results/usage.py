"""Token counts and time of a run, if its logs have them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


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


_IF_ANY = ("cached_tokens", "reasoning_tokens", "judge_tokens")
_TOKENS = ("prompt_tokens", "answer_tokens", *_IF_ANY)


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

    @staticmethod
    def total(parts: Sequence["Usage"]) -> "Usage":
        """Return the sum of the usage of several runs; a log that they share counts once."""
        sums: dict[str, Any] = {}
        for name in (*_TOKENS, "dollars"):
            counts = [getattr(part, name) for part in parts]
            known = [count for count in counts if count is not None]
            is_known = len(known) == len(parts) or (known and name in _IF_ANY)
            sums[name] = sum(known) if is_known else None
        return Usage(
            answers=sum(part.answers for part in parts),
            timed=tuple(dict.fromkeys(log for part in parts for log in part.timed)),
            reused=any(part.reused for part in parts),
            **sums,
        )

    @property
    def tokens(self) -> dict[str, int]:
        """The known counts by name."""
        counts = {name: getattr(self, name) for name in _TOKENS}
        return {name: count for name, count in counts.items() if count is not None}

    @property
    def known(self) -> dict[str, int | float | bool]:
        """The known values for programs: tokens, cost, and `seconds` with their scope."""
        values: dict[str, int | float | bool] = {"answers": self.answers, **self.tokens}
        if self.dollars is not None:
            values["dollars"] = round(self.dollars, 6)
        if self.seconds is not None:
            values["seconds"] = round(self.seconds, 3)
            values["seconds_of_answers"] = self.timed_answers
            values |= {"seconds_with_loading": self.with_loading, "answers_reused": self.reused}
        return values

    @property
    def timed_answers(self) -> int:
        """The answers that were written in the logs' time, to this task and others."""
        return sum(part.answers for part in self.timed)

    @property
    def seconds(self) -> float | None:
        """The total time of the logs, which may include other tasks; see `shared`."""
        if not self.timed or self.timed_answers < self.answers:
            return None
        return sum(part.seconds for part in self.timed)

    @property
    def shared(self) -> bool:
        """Whether the seconds include answers to other tasks."""
        return self.timed_answers > self.answers

    @property
    def with_loading(self) -> bool:
        """Whether the seconds include starting up and loading the model."""
        return any(part.with_loading for part in self.timed)

    @property
    def remarks(self) -> str:
        """The scope of the seconds, for people; empty if they are for these answers alone.

        Examples:
            >>> Usage(20, timed=(Timed("a.json", 90.0, 60, with_loading=True),)).remarks
            'for 60 answers, also to other tasks; with loading the model'
        """
        if self.seconds is None:
            return ""
        remarks = []
        if self.shared:
            remarks.append(f"for {self.timed_answers:,} answers, also to other tasks")
        if self.with_loading:
            remarks.append("with loading the model")
        if self.reused:
            remarks.append("answers from a cache took none")
        return "; ".join(remarks)
