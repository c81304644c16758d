"""Records of the messages that a model got for an item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hkcanto_metrics.reasoning import ends_in_reasoning
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import LoadedTask

Messages = Sequence[tuple[str, str]]
"""Role and text of each message; a plain text has an empty role."""


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """The prompt of an item as lm-eval rendered it.

    Attributes:
        task: The task with the worked examples of this prompt.
        messages: The messages.
        in_chat: Whether a chat template rendered it.
    """

    task: LoadedTask
    messages: Messages
    in_chat: bool

    def catalogue_messages(self, sample: Sample) -> Messages:
        """Return the messages that the catalogue's task sends for an item, in the same form."""
        prompt = self.task.prompt(sample)
        if self.in_chat:
            kind = self.task.kind
            return prompt.messages(
                multiturn=kind.multiturn, no_system=kind.options.no_system
            )
        return [("", prompt.text())]


@dataclass(frozen=True, slots=True)
class Request:
    """The messages sent for an item.

    Attributes:
        prompt: The prompt.
        context: The prompt as the model gets it: a text, or the messages for a chat API.
        settings: The generation settings; None if log-likelihoods were asked for.
        splits_reasoning: Whether lm-eval itself removes reasoning (`think_end_token`).
        sent_hash: Hash of what was sent.
        catalogue_hash: Hash of what the catalogue's task sends; empty for an unknown item.
    """

    prompt: RenderedPrompt
    context: Any
    settings: Mapping[str, Any] | None
    splits_reasoning: bool
    sent_hash: str
    catalogue_hash: str

    def is_all_reasoning(
        self,
        response: str,
        default_limit: int,
    ) -> bool:
        """Return whether a response ended within a reasoning block that the prompt opened.

        Args:
            response: The response.
            default_limit: The token limit if the settings have none.
        """
        if self.splits_reasoning or not isinstance(self.context, str):
            return False
        limit = (self.settings or {}).get("max_gen_toks") or default_limit
        return ends_in_reasoning(self.context, response, int(limit))
