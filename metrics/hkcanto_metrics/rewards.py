"""Rewards for reinforcement learning: the scores of the evaluation, one for each completion.

Each has the signature of TRL's reward functions: completions, as texts or as lists of messages, and
columns of the data set, each a list with an entry for each completion; what else a trainer hands
over is ignored. A row whose column is None is not this reward's, which is None then, so that tasks
can be mixed. Where your columns have other names, or for a setting, write a function of two lines:

    def pronunciation(completions, gold, **_):
        return jyutping_reward(completions, gold, tone_weight=0.5)

``docs/rewards.md`` has the adapters for verifiers and NeMo Gym.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from hkcanto_metrics.reasoning import split_reasoning, strip_reasoning

Completion = str | Sequence[Mapping[str, Any]]
Options = Mapping[str, str | None] | Sequence[str | None]
Rewards = list[float | None]

_LETTERS = "ABCDEFGHIJ"
# Where chat templates put the reasoning that they take out of a message.
_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")


def choice_reward(
    completions: Sequence[Completion],
    answer: Sequence[str | int | None],
    options: Sequence[Options | None] | None = None,
    choices: Sequence[Options | None] | None = None,
    **_: object,
) -> Rewards:
    """Reward the right letter of a multiple-choice question, read as in the evaluation.

    Args:
        completions: What the model wrote, each a text or a list of messages.
        answer: The right letters, or their numbers from 0.
        options: The options of each question: a list of texts, or a mapping from letters, in which
            None stands for no option.
        choices: The same, for data sets that call them so.

    Returns:
        1.0 where `read_choice` reads the right letter, else 0.0; None where the answer is None.

    Raises:
        ValueError: A question has no options, or its answer is none of them.

    Examples:
        >>> of_both = {"answer": ["B", "B"], "options": [["旺角", "灣仔"]] * 2}
        >>> choice_reward(["答案係B。", "A 同 B"], **of_both)
        [1.0, 0.0]
    """
    from hkcanto_metrics.choice import read_choice

    rewards: Rewards = []
    of_each = options or choices or [None] * len(completions)
    for completion, right, given in zip(completions, answer, of_each, strict=True):
        if right is None:
            rewards.append(None)
            continue
        named = given if isinstance(given, Mapping) else dict(zip(_LETTERS, given or ()))  # noqa: B905
        shown = {letter: text for letter, text in named.items() if text is not None}
        letter = _LETTERS[right : right + 1] if isinstance(right, int) else right
        if letter not in shown:
            raise ValueError(
                f"choice_reward: the answer {right!r} is none of the options {', '.join(shown)}; "
                "give a letter or a number from 0, and the options in a column `options`"
            )
        rewards.append(float(read_choice(_answer(completion), shown).letter == letter))
    return rewards


def jyutping_reward(
    completions: Sequence[Completion],
    jyutping: Sequence[str | None],
    *,
    tone_weight: float = 1.0,
    **_: object,
) -> Rewards:
    """Reward Jyutping by its syllables.

    Args:
        completions: What the model wrote, each a text or a list of messages.
        jyutping: The gold strings, with alternatives such as ``(ze2|ze5)``.
        tone_weight: What a syllable counts whose tone alone is wrong, from 0 to 1 errors.

    Returns:
        1 - the ``ser`` of `score_jyutping`, at least 0; None where the gold string is None.

    Raises:
        ValueError: ``tone_weight`` is not from 0 to 1.
        MalformedAnswer: A gold string does not follow the notation.

    Examples:
        >>> jyutping_reward(["nei5 hou3", "nei5"], ["nei5 hou2", "nei5 hou2"])
        [0.5, 0.5]
        >>> jyutping_reward(["nei5 hou3", "nei5"], ["nei5 hou2", "nei5 hou2"], tone_weight=0.5)
        [0.75, 0.5]
    """
    from hkcanto_metrics.g2p import score_jyutping

    if not 0 <= tone_weight <= 1:
        raise ValueError(f"tone_weight is {tone_weight}; a wrong tone counts from 0 to 1 errors")

    rewards: Rewards = []
    for completion, gold in zip(completions, jyutping, strict=True):
        if gold is None:
            rewards.append(None)
            continue
        score = score_jyutping(_answer(completion), gold)
        pairs = [(right, got) for right, got in score.alignment if right and got and right != got]
        tones = sum(right.rstrip("123456") == got.rstrip("123456") for right, got in pairs)
        spared = (1 - tone_weight) * tones / score.ser.total
        rewards.append(max(0.0, 1 - score.ser + spared))
    return rewards


def cantonese_reward(
    completions: Sequence[Completion], *, script: Literal["hant", "hans"] | None = None, **_: object
) -> Rewards:
    """Reward an answer in fluent Cantonese, whatever it says.

    A text of a few neutral words passes too: use `multiply_rewards` with a reward of the content.

    Args:
        completions: What the model wrote, each a text or a list of messages.
        script: Traditional (``hant``) or Simplified (``hans``), where one is asked for.

    Returns:
        1.0 where `cantonese_fluency` passes the text, times the share of its characters that are in
        the script; else 0.0.

    Examples:
        >>> cantonese_reward(["佢哋返咗屋企。", "他們回家了。", "你试下早啲瞓。"], script="hant")
        [1.0, 0.0, 0.0]
    """
    from hkcanto_metrics.cleaning import clean_output
    from hkcanto_metrics.fluency import cantonese_fluency

    rewards: Rewards = []
    for completion in completions:
        fluency = cantonese_fluency(clean_output(_answer(completion)).text)
        simplified = fluency.simplified_ratio
        share = {None: 1.0, "hant": 1 - simplified, "hans": simplified}[script]
        rewards.append(fluency.passed * share)
    return rewards


def reasoning_language_reward(completions: Sequence[Completion], **_: object) -> Rewards:
    """Reward reasoning in Cantonese that comes to an end.

    Args:
        completions: What the model wrote, each a text or a list of messages.

    Returns:
        1.0 where `score_reasoning` calls it Cantonese and finished, else 0.0: also without any
        reasoning, so that none is no way out.

    Examples:
        >>> reasoning_language_reward(["<think>佢問緊邊個城市，應該係香港。</think>B", "B"])
        [1.0, 0.0]
    """
    from hkcanto_metrics.language import score_reasoning

    scores = [score_reasoning(_text(completion)) for completion in completions]
    return [(score.cantonese or 0.0) * (score.finished or 0.0) for score in scores]


def format_reward(
    completions: Sequence[Completion], *, pattern: str = r".*\S.*", **_: object
) -> Rewards:
    r"""Reward reasoning, in any wrapping that `split_reasoning` knows, with an answer after it.

    Args:
        completions: What the model wrote, each a text or a list of messages.
        pattern: A regular expression that the whole answer matches; ``.`` matches line ends too.

    Returns:
        1.0 where there is both, else 0.0.

    Examples:
        >>> format_reward(["<think>係B。</think>答：B", "答：B", "<think>係"], pattern="答：[A-D]")
        [1.0, 0.0, 0.0]
    """
    matches = re.compile(pattern, re.DOTALL).fullmatch
    found = [split_reasoning(_text(completion)) for completion in completions]
    reasoned = [each.finished and each.reasoning.strip() != "" for each in found]
    answered = [matches(each.answer.strip()) is not None for each in found]
    return [float(each) for each in map(all, zip(reasoned, answered, strict=True))]


def multiply_rewards(*rewards: Callable[..., Rewards]) -> Callable[..., Rewards]:
    """Multiply rewards, so that none can be had at the price of another.

    Args:
        rewards: Functions of this form, ours or yours.

    Returns:
        One of the same form, named after them; None where one of them is.

    Examples:
        >>> right_and_explained = multiply_rewards(format_reward, choice_reward)
        >>> right_and_explained.__name__
        'format_reward_x_choice_reward'
        >>> right_and_explained(["<think>？</think>B"], answer=["B"], options=[["旺角", "灣仔"]])
        [1.0]
    """

    def multiplied(completions: Sequence[Completion], **columns: Any) -> Rewards:
        of_each = (reward(completions=completions, **columns) for reward in rewards)
        return [None if None in each else math.prod(each) for each in zip(*of_each, strict=True)]

    multiplied.__name__ = "_x_".join(reward.__name__ for reward in rewards)
    return multiplied


def _answer(completion: Completion) -> str:
    """What the evaluation scores."""
    return strip_reasoning(_text(completion)).lstrip()


def _text(completion: Completion) -> str:
    """The text of the last message, with reasoning that stands beside it in front."""
    if isinstance(completion, str):
        return completion
    message = completion[-1] if completion else {}
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "".join(part.get("text") or "" for part in content)
    thought = next((message[key] for key in _REASONING_KEYS if message.get(key)), "")
    return f"<think>{thought}</think>{content}" if thought else content
