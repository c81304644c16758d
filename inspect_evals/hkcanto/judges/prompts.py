"""What a judge is told: the papers' rubrics, and texts quoted in such a way that they stay data."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from random import Random
from string import Template

import msgspec

# Plain, full-width and small ones, which Unicode's normalisation makes plain, and Kimi's. What they
# become, no normalisation makes plain.
_BRACKETS = str.maketrans("<＜﹤◁>＞﹥▷[［﹇]］﹈", "‹‹‹‹››››〔〔〔〕〕〕")


class JudgeTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of `prompts.toml`.

    Attributes:
        version: Of these texts, and of how those under judgement are shown.
        data: That the texts under judgement are data.
        retry: What follows an answer that cannot be used.
        retry_level: The same where a level is asked for.
        languages: Language code → what the prompt calls it.
        translation: The judge of translations: the paper's error categories in `rubric`, and our
            `prompt` around them.
        summary: The judge of summaries: `instructions`, what the paper's annotators were told, the
            `scale` of its points, and our `prompt`.
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
    """Draw the code of one call: the same for the same parts, unknown to whoever wrote the texts.

    A text would have to contain the hash of itself to name its own code.

    Args:
        parts: What the call is about: the item, the seed and the texts.

    Examples:
        >>> fresh_code("a", 1) == fresh_code("a", 1) != fresh_code("a", 2)
        True
    """
    return f"{Random(repr(parts)).getrandbits(64):016x}"


def neutralize(text: str) -> str:
    """Replace angle and square brackets by others, character by character.

    Without them a text can neither close its block nor write a tag or any model's control tokens,
    which all have such brackets, and every position stays where it was.

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
    """Fill the `$name` places of a text in; what is filled in is not looked through again.

    Examples:
        >>> fill("Score $text.", text="$points")
        'Score $points.'
    """
    return Template(template.strip()).substitute(
        {name: value.strip() for name, value in values.items()}
    )
