"""An lm-eval model for the rule-based grapheme-to-phoneme engines."""

from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from tqdm import tqdm

from hkcanto_tasks.kinds.g2p_engines import find_engine, sentence_of


class RuleBasedG2P(LM):  # type: ignore[misc]
    """`lm_eval --model hkcanto-g2p --model_args engine=pycantonese --tasks hkcanto_g2p`.

    Args:
        engine: `pycantonese` or `tojyutping`.
    """

    tokenizer_name = "hkcanto-g2p"

    def __init__(
        self,
        engine: str = "pycantonese",
        **_: Any,
    ) -> None:
        super().__init__()
        self.engine = find_engine(engine)

    def generate_until(
        self, requests: list[Instance], disable_tqdm: bool = False
    ) -> list[str]:
        """Convert the sentence at the end of each prompt."""
        responses = []
        for request in tqdm(
            requests, disable=disable_tqdm, desc="Converting to Jyutping"
        ):
            sentence = sentence_of(request.args[0])
            responses.append(self.engine(sentence))
        return responses

    def apply_chat_template(
        self,
        chat_history: list[dict[str, str]],
        *_: Any,
        **__: Any,
    ) -> str:
        """Join the messages: the engine only looks at the last sentence."""
        return "\n".join(message["content"] for message in chat_history)

    def chat_template(self, chat_template: bool | str = False) -> str:  # noqa: ARG002
        """Return the template's name, which lm-eval logs."""
        return "joined"

    def loglikelihood(
        self,
        *_: Any,
        **__: Any,
    ) -> list[tuple[float, bool]]:
        """Refuse: a rule-based engine has no probabilities."""
        raise NotImplementedError(
            "hkcanto-g2p, a rule-based engine, has no log-likelihoods; it answers only the task "
            "hkcanto_g2p."
        )

    loglikelihood_rolling = loglikelihood
