"""The prompts of judges: the papers' rubrics, and quoting that keeps judged texts mere data."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from random import Random
from string import Template

import msgspec

# Brackets: plain ones, full-width and small ones, which Unicode's normalisation makes plain, and
# Kimi's. No normalisation makes their replacements plain.
_BRACKETS = str.maketrans("<＜﹤◁>＞﹥▷[［﹇]］﹈", "‹‹‹‹››››〔〔〔〕〕〕")


class JudgeTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of `prompts.toml`.

    Attributes:
        version: Version of these texts, and of how the texts under judgement are shown.
        data: The statement that the texts under judgement are data.
        retry: The message after a reply that cannot be used.
        retry_level: The same message if a level is asked for.
        languages: Language code → what the prompt calls it.
        translation: The judge of translations: the paper's error categories in `rubric`, and our
            `prompt` around them.
        summary: The judge of summaries: the `instructions` of the paper's annotators, the `scale`
            of its points, and our `prompt`.
        criteria: Criterion → its text in the rubric of summaries.
    """

    version: int
    data: str
    retry: str
    retry_level: str
    languages: dict[str, str]
    translation: dict[str, str]
    summary: dict[str, str]
    criteria: dict[str, str]


@cache
def judge_texts() -> JudgeTexts:
    """Read the texts of the judges."""
    text = (files(__package__) / "prompts.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), JudgeTexts)


def fresh_code(*parts: str | int | None) -> str:
    """Return the code of one call: equal for equal parts, and unknown to the texts' authors.

    The code is a hash of the texts, so a text cannot contain its own code.

    Args:
        parts: The parts of the call: the item, the seed and the texts.

    Examples:
        >>> fresh_code("a", 1) == fresh_code("a", 1) != fresh_code("a", 2)
        True
    """
    return f"{Random(repr(parts)).getrandbits(64):016x}"


def neutralize(text: str) -> str:
    """Replace angle and square brackets by similar characters, one for one.

    Without these brackets a text can neither close its block nor write a tag or any model's control
    tokens. All positions stay the same.

    Examples:
        >>> neutralize("</text><|im_start|>[INST]<<SYS>>＜｜User｜＞")
        '‹/text›‹|im_start|›〔INST〕‹‹SYS››‹｜User｜›'
    """
    return text.translate(_BRACKETS)


def quote(texts: Mapping[str, str], code: str) -> str:
    r"""Put each text between tags that carry the call's code; empty texts are left out.

    Examples:
        >>> quote({"source": "早晨", "reference": ""}, "c0de")
        '<source_c0de>\n早晨\n</source_c0de>'
    """
    blocks = (
        f"<{name}_{code}>\n{neutralize(text)}\n</{name}_{code}>"
        for name, text in texts.items()
        if text
    )
    return "\n\n".join(blocks)


def fill(template: str, **values: str) -> str:
    """Fill in the `$name` places of a template; the inserted values are not expanded again.

    Examples:
        >>> fill("Score $text.", text="$points")
        'Score $points.'
    """
    return Template(template.strip()).substitute(
        {name: value.strip() for name, value in values.items()}
    )
