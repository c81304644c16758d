"""A resources server for NeMo Gym: the right letter, and reasoning in a row's language."""

from typing import Any

from nemo_gym.base_resources_server import (
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)

from hkcanto_metrics import choice_reward, reasoning_language_reward


class QuestionRequest(BaseVerifyRequest):
    """A row and the model's response: the question and its options are not quoted for reward."""

    question: str
    options: list[str]
    answer: str
    language: str


class QuestionResponse(BaseVerifyResponse):
    """A response's reward: 1 for the letter, and half of the language's share."""

    letter: float
    language_share: float


class ReasoningServer(SimpleResourcesServer):
    """Rewards a response to a multiple-choice question."""

    async def verify(self, body: QuestionRequest) -> QuestionResponse:
        """Return the request with its rewards."""
        message = [
            {"content": body.response.output_text, "reasoning": _reasoning(body)}
        ]
        asked = {"question": [body.question], "options": [body.options]}
        (letter,) = choice_reward([message], [body.answer], **asked)
        (share,) = reasoning_language_reward(
            [message], language=[body.language], **asked
        )
        earned = {
            "letter": letter,
            "language_share": share,
            "reward": letter + 0.5 * share,
        }
        return QuestionResponse(**body.model_dump() | earned)


def _reasoning(body: QuestionRequest) -> str:
    """Return the reasoning that the server sent in items of its own, not in the text."""
    texts: list[str] = []
    for item in body.response.output:
        if item.type == "reasoning":
            parts: list[Any] = item.content or item.summary or []
            texts += [part.text for part in parts]
    return "\n".join(texts)


if __name__ == "__main__":
    ReasoningServer.run_webserver()
