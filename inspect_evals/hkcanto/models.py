"""An Inspect model provider for the rule-based grapheme-to-phoneme engines."""

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from hkcanto_tasks.engines import find_engine, sentence_of


@modelapi(name="hkcanto")
class rule_based(ModelAPI):  # noqa: N801  (Inspect names providers in lower case)
    """`--model hkcanto/pycantonese` and `--model hkcanto/tojyutping`."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  (Inspect's signature)
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self.engine = find_engine(model_name)

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],  # noqa: ARG002
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,  # noqa: ARG002
    ) -> ModelOutput:
        """Convert the sentence at the end of the last message."""
        output = ModelOutput.from_content(
            model=self.model_name, content=self.engine(sentence_of(input[-1].text))
        )
        # Without usage Inspect counts tokens with an encoding that it would have to download.
        output.usage = ModelUsage()
        return output
