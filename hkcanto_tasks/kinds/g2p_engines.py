"""Rule-based grapheme-to-phoneme engines, the paper's control row, as models of both harnesses.

They answer the actual prompts of the task, so a run with one of them checks a whole installation in
seconds.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..catalogue import find_benchmark
from ..errors import OptionError

Engine = Callable[[str], str]


def pycantonese(sentence: str) -> str:
    """Convert a sentence with PyCantonese; words that it cannot pronounce are left out.

    Examples:
        >>> pycantonese("你好")
        'nei5 hou2'
    """
    words = _installed("pycantonese").characters_to_jyutping(sentence)
    return " ".join(jyutping for _, jyutping in words if jyutping)


def tojyutping(sentence: str) -> str:
    """Convert a sentence with ToJyutping; characters that it cannot pronounce are left out."""
    characters = _installed("ToJyutping").get_jyutping_list(sentence)
    return " ".join(jyutping for _, jyutping in characters if jyutping)


def _installed(package: str) -> Any:
    """Return a package of the extra `g2p`.

    Raises:
        OptionError: It is not installed.
    """
    try:
        return import_module(package)
    except ImportError as error:
        why = f"this rule-based engine needs the package {package}"
        raise OptionError(f"{why}: pip install 'hkcanto[g2p]'.") from error


ENGINES: dict[str, Engine] = {"pycantonese": pycantonese, "tojyutping": tojyutping}


def find_engine(name: str) -> Engine:
    """Return an engine by its name.

    Raises:
        OptionError: The engine does not exist.
    """
    if name not in ENGINES:
        raise OptionError(
            f"no rule-based engine {name!r}; there are {', '.join(ENGINES)}."
        )
    return ENGINES[name]


def sentence_of(prompt: str) -> str:
    """Return the sentence that a prompt of `hkcanto_g2p` asks to convert.

    Args:
        prompt: The whole prompt, or its last user message.

    Raises:
        OptionError: The prompt is not from that task.

    Examples:
        >>> sentence_of("Example 1\\n早晨\\nzou2 san4\\n\\nText to Convert: \\n你好\\n")
        '你好'
    """
    mark = find_benchmark("hkcanto").prompts["g2p"].question.partition("{sentence}")[0]
    _, present, sentence = prompt.rpartition(mark)
    if not present:
        only = f"a rule-based engine answers only hkcanto_g2p, whose prompts contain {mark!r}"
        raise OptionError(f"{only}; this prompt ends in {prompt[-80:]!r}.")
    return sentence.strip()
