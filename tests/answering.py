"""A mock model: the letter of its answer depends only on the prompt."""

import zlib
from collections.abc import Callable, Iterable
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

FORMS = ("{}", "答案：{}", "{}.", "The answer is {}", "唔知")


def by_word(answers: Iterable[tuple[str, str]]) -> Callable[[str], str]:
    """Return a model that gives the answer whose word is in the prompt."""
    known = dict(answers)

    def answer(prompt: str) -> str:
        (found,) = [each for word, each in known.items() if word in prompt]
        return found

    return answer


def answer(prompt: str, letters: str = "ABCD") -> str:
    """Return a letter in some form, or none, always the same for a prompt."""
    number = zlib.crc32(prompt.encode())
    return FORMS[number // 7 % len(FORMS)].format(letters[number % len(letters)])


class AnsweringLM(LM):  # type: ignore[misc]
    """The mock model for lm-eval; it also gives one letter the highest log-likelihood."""

    tokenizer_name = "answering"

    def generate_until(
        self, requests: list[Instance], disable_tqdm: bool = False
    ) -> list[str]:
        del disable_tqdm
        return [answer(request.args[0]) for request in requests]

    def loglikelihood(
        self, requests: list[Instance], **_: Any
    ) -> list[tuple[float, bool]]:
        return [
            (-float(zlib.crc32(str(request.args).encode())), False)
            for request in requests
        ]

    def loglikelihood_rolling(self, *_: Any, **__: Any) -> list[float]:
        raise NotImplementedError
