"""An Inspect model provider for the rule-based grapheme-to-phoneme engines."""

from typing import Any

from inspect_ai.model import ChatMessage, ModelAPI, ModelOutput, ModelUsage, modelapi

from hkcanto_tasks.kinds.g2p_engines import find_engine, sentence_of


@modelapi(name="hkcanto")
class rule_based(ModelAPI):  # noqa: N801  (Inspect names providers in lower case)
    """`--model hkcanto/pycantonese` and `--model hkcanto/tojyutping`."""

    def __init__(
        self,
        model_name: str,
        **settings: Any,
    ) -> None:
        super().__init__(model_name, **settings)
        self.engine = find_engine(model_name)

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002  (Inspect's name)
        *_: Any,
        **__: Any,
    ) -> ModelOutput:
        """Convert the sentence at the end of the last message."""
        jyutping = self.engine(sentence_of(input[-1].text))
        output = ModelOutput.from_content(self.model_name, jyutping)
        # Without usage Inspect counts tokens with an encoding that it would have to download.
        output.usage = ModelUsage()
        return output
