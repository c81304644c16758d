"""Chat templates without a system role, such as Gemma 2's: the user's message has the instruction.

lm-eval drops a system message that a template refuses, and some templates drop it themselves. The
task's instruction would then reach nobody.
"""

import re
from collections.abc import Callable, Mapping, Sequence

Message = Mapping[str, str]

NOTE = "The chat template has no system role: the user's message begins with the instruction."

_SYSTEM = {"role": "system", "content": "Be brief."}
_USER = {"role": "user", "content": "Hello."}

# As vLLM, TGI and llama.cpp pass on what templates raise, and as OpenAI and Google word it.
_REFUSED = re.compile(
    r"system (role|message|prompt|instruction)|role\W{0,3} does not support"
    r"|roles must alternate|developer instruction",
    re.IGNORECASE,
)


def lacks_system_role(render: Callable[[Sequence[Message]], object]) -> bool:
    """Return whether a chat template refuses or drops a system message.

    Args:
        render: Renders messages with the template.

    Examples:
        >>> lacks_system_role(lambda messages: messages[-1]["content"])
        True
        >>> lacks_system_role(str)
        False
    """
    try:
        text = str(render([_SYSTEM, _USER]))
    except Exception:  # whatever the template or the tokenizer raises
        return True
    return _SYSTEM["content"] not in text


def explain_refusal(error: str, option: str) -> str:
    """Return the advice on a server's error about the system role; empty for another error.

    Args:
        error: The server's message.
        option: The option that asks without a system message.

    Examples:
        >>> explain_refusal("400: System role not supported", "-T no_system=true")[-27:]
        'message: -T no_system=true.'
        >>> explain_refusal("400: context length exceeded", "-T no_system=true")
        ''
    """
    if not _REFUSED.search(error):
        return ""
    return (
        "The server's chat template seems to have no system role. Put the instruction into the "
        f"user's message: {option}."
    )
