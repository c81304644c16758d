"""Rewards for reinforcement learning: the scores of the evaluation, one for each completion.

Each reward has the signature of TRL's reward functions. It takes completions (texts or lists of
messages) and columns of the data set (lists, NumPy arrays or pandas Series with one entry for each
completion), and ignores other columns and objects that a trainer passes. A missing column and an
unknown setting are errors. A row whose column is None or NaN
belongs to another reward and gets None from this one, so tasks can be mixed. An error names the
reward and the row, counted from 0. To use other column names, or to change a setting, write a
function of two lines:

    def pronunciation(completions, gold, **_):
        return jyutping_reward(completions, gold, tone_weight=0.5)

``docs/rewards.md`` has the adapters for verifiers and NeMo Gym.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from statistics import fmean
from typing import Any, Literal

from hkcanto_metrics.reasoning import response_as_text, split_reasoning, strip_reasoning
from hkcanto_metrics.script import HAN

Completions = Sequence[str | Sequence[Mapping[str, Any]]]
Texts = Sequence[str | None]
Options = Sequence[Mapping[str, str | None] | Sequence[str | None] | None] | None
Rewards = list[float | None]
Score = Callable[..., float | None]

# Code or name of a language → its names in `identify_language`.
_LANGUAGES = {
    "yue": ["cantonese"],
    "zh": ["written_chinese", "simplified_mandarin"],
    "en": ["english"],
}
_LANGUAGES |= {names[0]: names for names in _LANGUAGES.values()}
_OPTIONS = {"options", "choices"}
_OPTION_LETTERS = "ABCDEFGHIJ"
# A column of indices with gaps has floats: 1.0 is found as 1.
_LETTERS_BY_INDEX: dict[float, str] = dict(enumerate(_OPTION_LETTERS))
_LONGEST_JYUTPING = 20_000
_TONED_LETTER = re.compile("[a-z][1-6]")
# Two syllables with | or / between them, several in braces, or two tones of one syllable.
_ALTERNATIVES = re.compile(
    r"[a-z][1-6]\s*(?:[|/~]|\bor\b|或)\s*[a-z]+[1-6]|\{(?!\s*\"[^\"{}]*\"\s*:)[^{}]*[1-6][^{}\w]+[a-z]+[1-6]"
    r"|\b([a-z]+)[1-6]\W*[,、(){}\[\]]\W*\1[1-6]"
)
# Han characters, clause marks and line ends, which separate stretches of Jyutping. An answer is one
# stretch or several.
_NOT_JYUTPING = re.compile("[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef\n:;,.!?→=>]+")
# Similarity by difflib: langauge is a misspelt language, and question_id is another column.
_ALMOST_EQUAL = 0.85
# Words joined by _, %20, capitals or nothing, or base64: longer than names and English words in
# use; and codes of letters and digits, such as Pinyin with tones. Code and addresses stay.
_LONG_WORD = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|https?://[!-~]{,100}|(?P<joined>[A-Za-z0-9_%+/=-]{28,})"
    r"|(?P<coded>\b(?=[a-zA-Z=]*\d)(?=[\d=]*[a-zA-Z])[A-Za-z0-9]{2,27}=*)",
    re.DOTALL,
)
_DIGIT = re.compile("[0-9=]")
_PART_OF_WORD = re.compile("[A-Z]?[a-z]{1,8}|[A-Z]{1,8}")
# Joins characters to words, so that they are not recognised.
_UNDERSCORE = re.compile(f"(?<=[{HAN}])_|_(?=[{HAN}])")
# Invisible in HTML and Markdown.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# Displayed from right to left.
_REVERSED = re.compile("\u202e[^\u202c\n]*")
# The message keys to which chat templates move the reasoning.
_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")


def choice_reward(
    completions: Completions,
    answer: Sequence[str | int | None] | None = None,
    options: Options = None,
    choices: Options = None,
    question: Texts | None = None,
    **others: object,
) -> Rewards:
    """Reward the right letter of a multiple-choice question, read as in the evaluation.

    Args:
        completions: The model's responses, each a text or a list of messages.
        answer: The right letters, or their indices from 0.
        options: The options of each question: a list of texts, or a mapping from letters to texts.
            A letter that maps to None is not an option.
        choices: The same as ``options``, for data sets that use this name.
        question: The questions. If one asks which is not true, "B is wrong" decides for B.

    Returns:
        For each completion, 1.0 if `read_choice` reads the right letter, otherwise 0.0; None if
        the answer is None.

    Raises:
        ValueError: Options are missing, too many or without letters from A to J, or the answer is
            missing or not one of them.

    Examples:
        >>> columns = {"answer": ["B", "B"], "options": [["旺角", "灣仔"]] * 2}
        >>> choice_reward(["答案係B。", "A 同 B"], **columns)
        [1.0, 0.0]
    """
    from hkcanto_metrics.choice import read_choice

    def score(
        text: str,
        answer: Any,
        **prompt_cells: Any,
    ) -> float | None:
        prompt = _prompt(**prompt_cells)
        if answer is None:
            return None
        letter = answer
        if isinstance(answer, int | float) and not isinstance(answer, bool):
            letter = _LETTERS_BY_INDEX.get(answer, answer)
        # A list, because a wrong answer may be of a type that cannot be hashed.
        if letter not in [*prompt.options]:
            letters = ", ".join(prompt.options) or "(none)"
            expected = "give a letter or a number from 0, and the options in a column `options`"
            raise ValueError(
                f"the answer {answer!r} is not one of the options {letters}; {expected}"
            )
        response = strip_reasoning(text).lstrip()
        read = read_choice(response, prompt.options, prompt.question)
        return float(read.letter == letter)

    return _rewards(
        "choice_reward",
        score,
        completions,
        others,
        required="answer",
        answer=answer,
        options=options,
        choices=choices,
        question=question,
    )


def jyutping_reward(
    completions: Completions,
    jyutping: Texts | None = None,
    *,
    tone_weight: float = 1.0,
    **others: object,
) -> Rewards:
    """Reward Jyutping by its syllable accuracy.

    Args:
        completions: The model's responses, each a text or a list of messages.
        jyutping: The gold strings, with alternatives such as ``(ze2|ze5)``.
        tone_weight: The number of errors that a syllable counts if only its tone is wrong, from 0
            to 1.

    Returns:
        For each completion, 1 minus the ``ser`` of `score_jyutping`, at least 0; None if the gold
        string is None.

    Raises:
        ValueError: ``tone_weight`` is outside 0 to 1, or a gold string is malformed.

    Examples:
        >>> jyutping_reward(["nei5 hou3", "nei5"], ["nei5 hou2", "nei5 hou2"])
        [0.5, 0.5]
        >>> jyutping_reward(["nei5 hou3", "nei5"], ["nei5 hou2", "nei5 hou2"], tone_weight=0.5)
        [0.75, 0.5]
    """
    from hkcanto_metrics.g2p import score_jyutping

    if not isinstance(tone_weight, int | float) or not 0 <= tone_weight <= 1:
        raise ValueError(
            f"jyutping_reward: tone_weight is {tone_weight!r}; give one from 0 to 1"
        )

    def score(text: str, jyutping: Any) -> float | None:
        if jyutping is None:
            return None
        if not isinstance(jyutping, str):
            raise ValueError(
                f"the gold string is {jyutping!r}; give Jyutping as a text"
            )
        scored = score_jyutping(_jyutping_answer(text, jyutping), jyutping)
        forgiven = (1 - tone_weight) * _wrong_tones(scored.alignment)
        return max(0.0, 1 - scored.ser + forgiven / scored.ser.total)

    return _rewards(
        "jyutping_reward",
        score,
        completions,
        others,
        required="jyutping",
        jyutping=jyutping,
    )


def _jyutping_answer(text: str, gold: str) -> str:
    """Return the last stretch of Jyutping that may be the whole answer, or all of the response."""
    from hkcanto_metrics.jyutping import fold, parse_answer

    answer = _COMMENT.sub("", strip_reasoning(text)).lstrip()
    folded = fold(answer[:_LONGEST_JYUTPING])
    fewest_syllables = min(map(len, parse_answer(gold)))
    # A model that offers several readings does not answer.
    if _ALTERNATIVES.search(folded):
        return ""
    # A shorter stretch may be a syllable in an explanation.
    for stretch in _NOT_JYUTPING.split(folded):
        if len(_TONED_LETTER.findall(stretch)) >= fewest_syllables:
            answer = stretch
    return answer


def _wrong_tones(alignment: Iterable[tuple[str | None, str | None]]) -> int:
    """Count the syllables in which only the tone is wrong."""
    count = 0
    for right, read in alignment:
        if right and read and read != right:
            count += right.rstrip("123456") == read.rstrip("123456")
    return count


def cantonese_reward(
    completions: Completions,
    question: Texts | None = None,
    options: Options = None,
    choices: Options = None,
    language: Texts | None = None,
    *,
    script: Literal["hant", "hans"] | None = None,
    min_characters: int = 4,
    exponent: float = 1.0,
    **others: object,
) -> Rewards:
    """Reward an answer in Cantonese, whatever it says.

    Quotations of the question and of the options do not count, nor do clauses that only name an
    option, such as 答案係A. The rest must be prose of some length, not a list of words or a loop.
    Code, other quotations and text after a colon earn nothing, and reduce the share if they are in
    another language.

    Args:
        completions: The model's responses, each a text or a list of messages.
        question: The questions, if any.
        options: The options of each question, as in `choice_reward`.
        choices: The same as ``options``, for data sets that use this name.
        language: The language that each row asks for, by name or code: ``cantonese`` or ``yue``,
            ``written_chinese`` or ``zh``, ``english`` or ``en``. By default, Cantonese.
        script: The script to write in: Traditional (``hant``) or Simplified (``hans``); None for
            either.
        min_characters: The number of different Chinese characters that the answer needs, not
            counting particles such as 嘅.
        exponent: The power to which the share is raised. Above 1, a little Cantonese earns less.

    Returns:
        For each completion, the share of the text that is in Cantonese (`cantonese_share`), times
        the share of its characters that are in the script; 0.0 if it has fewer than
        ``min_characters``. If `cantonese_fluency` finds too many words of Written Chinese, at most
        their share of Cantonese words. None if the row is in another language.

    Raises:
        ValueError: ``script`` has another value, ``min_characters`` is not a number from 0 up,
            ``exponent`` is not above 0, or a language is unknown.

    Examples:
        >>> cantonese_reward(["佢哋返咗屋企。", "他們回家了。", "你试下早啲瞓。"], script="hant")
        [1.0, 0.0, 0.0]
        >>> options = [["叮叮", "纜車"]] * 2
        >>> cantonese_reward(["答案係叮叮。", "係叮叮，因為佢會響。"], options=options)
        [0.0, 1.0]
        >>> cantonese_reward(["佢哋返咗屋企。他們在家。今日好凍。"], exponent=2)
        [0.5102040816326531]
    """
    from hkcanto_metrics.cleaning import clean_output
    from hkcanto_metrics.fluency import MIN_CANTONESE_RATIO, count_features
    from hkcanto_metrics.script import simplified_share

    if script not in (None, "hant", "hans"):
        raise ValueError(f"cantonese_reward: script is {script!r}; give hant or hans")
    _check_sizes("cantonese_reward", min_characters, exponent)

    def score(
        text: str,
        language: Any,
        **prompt_cells: Any,
    ) -> float | None:
        prompt = _prompt(**prompt_cells)
        if "cantonese" not in _language_names(language):
            return None
        # Twice, as in an evaluation: once to find the answer, once to clean it.
        answer = strip_reasoning(strip_reasoning(text).lstrip())
        cleaned = clean_output(answer)
        if "reasoning" in cleaned.removed:  # behind a label, such as 譯文：
            answer = cleaned.text
        own_text = _own_text(answer, prompt)
        is_choice = bool(prompt.options)
        share = _cantonese_share(
            own_text,
            prompt,
            min_characters,
            answers=is_choice,
        )
        ratio, written = count_features(own_text)
        if written and ratio < MIN_CANTONESE_RATIO:
            share = min(share, float(ratio))
        if script == "hant":
            share *= 1 - simplified_share(own_text)
        elif script == "hans":
            share *= simplified_share(own_text)
        return math.pow(share, exponent)

    return _rewards(
        "cantonese_reward",
        score,
        completions,
        others,
        language=language,
        options=options,
        choices=choices,
        question=question,
    )


def reasoning_language_reward(
    completions: Completions,
    question: Texts | None = None,
    options: Options = None,
    choices: Options = None,
    language: Texts | None = None,
    *,
    min_characters: int = 10,
    exponent: float = 1.0,
    **others: object,
) -> Rewards:
    """Reward reasoning in Cantonese, or in a row's language, that comes to an end.

    Text before the reasoning counts as reasoning if it is in another language; so does the answer
    to a question with options, if it is longer than the reasoning.

    Args:
        completions: The model's responses, each a text or a list of messages.
        question: The questions. Repeating their words does not count.
        options: The options of each question. Repeating them does not count, either.
        choices: The same as ``options``, for data sets that use this name.
        language: The language to reason in for each row, as in `cantonese_reward`.
        min_characters: The number of different Chinese characters that the reasoning needs, as in
            `cantonese_reward`; in another language, of all characters.
        exponent: The power to which the share is raised.

    Returns:
        For each completion, the share of the reasoning that is in Cantonese, as in
        `cantonese_reward`, or the share of its prose in the row's language by `identify_language`;
        0.0 if the reasoning has no end, is in another language, too short, a loop or a list of
        words. Missing reasoning gets 0.0, too, so a model cannot gain by omitting it.

    Raises:
        ValueError: ``min_characters`` is below 0 or no number, ``exponent`` is at most 0, or
            a language is unknown.

    Examples:
        >>> reasoning_language_reward(["<think>佢問緊邊個城市，應該係香港。</think>B", "B"])
        [1.0, 0.0]
        >>> reasoning_language_reward(["<think>It is in Hong Kong.</think>B"], language=["en"])
        [1.0]
    """
    _check_sizes("reasoning_language_reward", min_characters, exponent)

    def score(
        text: str,
        language: Any,
        **prompt_cells: Any,
    ) -> float:
        prompt = _prompt(**prompt_cells)
        names = _language_names(language)
        response = split_reasoning(text)
        reasoning = response.reasoning
        if not response.finished:
            return 0.0
        outside = "".join(text[start:end] for start, end in response.spans[:-1])
        if prompt.options and len(response.answer) > len(reasoning):
            outside += response.answer
        thoughts = f"{outside}\n{reasoning}" if reasoning.strip() else ""
        own_text = _own_text(thoughts, prompt)
        if "cantonese" not in names:
            share = _language_share(own_text, names, min_characters)
            return math.pow(share, exponent)
        share = _cantonese_share(own_text, prompt, min_characters)
        if outside.strip():  # it can only reduce the share
            own_text = _own_text(reasoning, prompt)
            share = min(share, _cantonese_share(own_text, prompt, min_characters))
        return math.pow(share, exponent)

    return _rewards(
        "reasoning_language_reward",
        score,
        completions,
        others,
        language=language,
        options=options,
        choices=choices,
        question=question,
    )


def constraint_reward(
    completions: Completions,
    constraints: Sequence[str | Sequence[Any] | None] | None = None,
    instruction_id_list: Sequence[Sequence[str] | None] | None = None,
    kwargs: Sequence[Sequence[Mapping[str, Any]] | None] | None = None,
    *,
    loose: bool = False,
    **others: object,
) -> Rewards:
    """Reward the constraints that an answer follows, as `hkcanto_metrics.constraints` checks them.

    It does not look at the request: an answer of only the keyword, or filler text of the right
    length, earns the full reward if nothing more is asked. Multiply it with a reward for content,
    such as `cantonese_reward` or a judge's score, and ask for several things at once.

    Args:
        completions: The model's responses, each a text or a list of messages.
        constraints: For each prompt a list of mappings with ``name`` and ``args``, or the same as
            JSON (see `read_constraints`).
        instruction_id_list: For each prompt the ids of IFEval's instructions, instead of
            ``constraints`` (see `read_ifeval`).
        kwargs: For each prompt the arguments of these instructions.
        loose: Whether to ignore an introduction, a farewell and emphasis (see `follows_loosely`).
            A model trained with this reward learns to write them.

    Returns:
        For each completion, the share of the constraints that the answer follows, from 0 to 1; 0.0
        without an answer; None if the constraints are None.

    Raises:
        ValueError: There are no constraints, a list is empty, a constraint is unknown or
            impossible, or ``loose`` is not True or False.

    Examples:
        >>> short = {"name": "characters", "args": {"at_most": 5}}
        >>> question = {"name": "ends_with_question"}
        >>> constraint_reward(["食咗飯未？", "未呀。"], [[short, question]] * 2)
        [1.0, 0.5]
    """
    from hkcanto_metrics.constraints import follows, follows_loosely, read_constraints
    from hkcanto_metrics.constraints.ifeval import read_ifeval

    if not isinstance(loose, bool):
        raise ValueError(f"constraint_reward: loose is {loose!r}; give True or False")
    check = follows_loosely if loose else follows

    def score(
        text: str,
        constraints: Any,
        instruction_id_list: Any,
        kwargs: Any,
    ) -> float | None:
        if constraints is not None:
            read = read_constraints(constraints)
        elif instruction_id_list is not None:
            read = read_ifeval(instruction_id_list, kwargs)
        else:
            return None
        return fmean(check(text, constraint) for constraint in read)

    return _rewards(
        "constraint_reward",
        score,
        completions,
        others,
        required="constraints or instruction_id_list",
        constraints=constraints,
        instruction_id_list=instruction_id_list,
        kwargs=kwargs,
    )


def format_reward(
    completions: Completions,
    *,
    pattern: str = r".*\S.*",
    **others: object,
) -> Rewards:
    r"""Reward reasoning, in any format that `split_reasoning` knows, followed by an answer.

    Args:
        completions: The model's responses, each a text or a list of messages.
        pattern: A regular expression that must match the whole answer with its tags; ``.``
            matches line ends, too.

    Returns:
        For each completion, 1.0 if it has both, otherwise 0.0.

    Raises:
        ValueError: ``pattern`` is not a valid regular expression.

    Examples:
        >>> format_reward(["<think>係B。</think>答：B", "答：B", "<think>係"], pattern="答：[A-D]")
        [1.0, 0.0, 0.0]
    """
    from hkcanto_metrics.constraints.reading import normalise

    try:
        matches = re.compile(pattern, re.DOTALL).fullmatch
    except (TypeError, re.error) as error:
        raise ValueError(f"format_reward: pattern is {pattern!r}: {error}") from error

    def score(text: str) -> float:
        response = split_reasoning(text)
        visible = [normalise(response.reasoning), normalise(response.answer)]
        if not response.finished or not all(map(str.strip, visible)):
            return 0.0
        return float(matches(response.tagged.strip()) is not None)

    return _rewards(
        "format_reward",
        score,
        completions,
        others,
    )


def multiply_rewards(*rewards: Callable[..., Rewards]) -> Callable[..., Rewards]:
    """Multiply rewards, so that a model must satisfy all of them at once.

    Args:
        rewards: Reward functions with this signature, ours or your own.

    Returns:
        A reward function with the same signature, named after the given ones. It returns None for a
        row if one of them does. It can be pickled if they can.

    Raises:
        ValueError: A reward is not a function, or none is given.

    Examples:
        >>> right_and_explained = multiply_rewards(format_reward, choice_reward)
        >>> right_and_explained.__name__
        'format_reward_x_choice_reward'
        >>> right_and_explained(["<think>？</think>B"], answer=["B"], options=[["旺角", "灣仔"]])
        [1.0]
    """
    if not rewards or not all(map(callable, rewards)):
        raise ValueError(
            f"multiply_rewards: give at least one reward function, not {rewards!r}"
        )
    return _Product(rewards)


class _Product:
    """The product of rewards. TRL shows its name, for which it looks inside a `partial`."""

    def __init__(self, rewards: Sequence[Callable[..., Rewards]]) -> None:
        self._rewards = rewards
        names = [
            getattr(reward, "__name__", type(reward).__name__) for reward in rewards
        ]
        self.__name__ = "_x_".join(names)

    def __call__(
        self,
        completions: Completions,
        **columns: Any,
    ) -> Rewards:
        factors = [
            reward(completions=completions, **columns) for reward in self._rewards
        ]
        counts = [len(rewards) for rewards in factors]
        if {*counts} != {len(completions)}:
            raise ValueError(
                f"{self.__name__}: {len(completions)} completions, but {counts} rewards"
            )
        products: Rewards = []
        for row in zip(*factors, strict=True):
            products.append(None if None in row else math.prod(row))
        return products


def _rewards(
    reward: str,
    score: Score,
    completions: Completions,
    others: Mapping[str, object],
    required: str = "",
    **columns: Sequence[Any] | None,
) -> Rewards:
    """Score each completion with its cells of the columns; an error names reward and row."""
    missing = [name for name, column in columns.items() if column is None]
    if required and {*required.split(" or ")} <= {*missing}:
        present = ", ".join(others) or "(none)"
        raise ValueError(
            f"{reward}: give a column {required}; the other columns are {present}"
        )
    _check_others(reward, others, missing)
    lists = _lists(reward, completions=completions, **columns)
    rewards: Rewards = []
    for row in range(len(lists["completions"])):
        cells = dict.fromkeys(columns)
        try:
            for name, column in lists.items():
                cells[name] = _python_value(column[row])
            text = _text(cells.pop("completions"))
            rewards.append(score(text, **cells))
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(f"{reward}, row {row}: {error}") from error
    return rewards


def _lists(
    reward: str,
    **columns: Any,
) -> dict[str, Any]:
    """Return the columns that are given as lists, with an entry for each completion."""
    lists: dict[str, Any] = {}
    for name, column in columns.items():
        if name == "completions" or column is not None:
            lists[name] = _python_value(column)
    for name, column in lists.items():
        if not _is_list(column) or len(column) != len(lists["completions"]):
            expected = "a list with one entry for each completion"
            raise ValueError(f"{reward}: {name} is {column!r:.80}; give {expected}")
    return lists


def _check_others(
    reward: str,
    others: Mapping[str, object],
    missing: Collection[str],
) -> None:
    """Refuse unknown settings, and columns that are probably misspelt.

    Trainers pass all columns of the data set, which are lists, and objects such as TRL's
    ``trainer_state`` and ``log_extra``. Only settings are numbers or texts.
    """
    for name, value in others.items():
        if isinstance(value, str | int | float):
            raise ValueError(f"{reward}: {name}={value!r} is not one of its arguments")
        for column in get_close_matches(name.lower(), missing, cutoff=_ALMOST_EQUAL):
            # A data set has either name of the options.
            if column not in _OPTIONS or {*missing} >= _OPTIONS:
                raise ValueError(f"{reward}: rename the column {name} to {column}")


def _check_sizes(
    reward: str,
    least: object,
    exponent: object,
) -> None:
    if not isinstance(least, int) or isinstance(least, bool) or least < 0:
        raise ValueError(
            f"{reward}: min_characters is {least!r}; give a number from 0 up"
        )
    if not isinstance(exponent, int | float) or not 0 < exponent < math.inf:
        raise ValueError(f"{reward}: exponent is {exponent!r}; give a number above 0")


@dataclass(frozen=True, slots=True)
class _Prompt:
    """The question put to a model.

    Attributes:
        question: The question; empty if the row has none.
        options: Letter → option.
    """

    question: str
    options: dict[str, str]


def _prompt(
    options: Any,
    choices: Any,
    question: Any,
) -> _Prompt:
    shown = _shown_options(choices if options is None else options)
    if not isinstance(question, str | None):
        raise ValueError(f"the question is {question!r}; give a text")
    return _Prompt(question or "", shown)


def _shown_options(options: Any) -> dict[str, str]:
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        if not _is_list(options) or len(options) > len(_OPTION_LETTERS):
            raise ValueError(
                f"the options are {options!r}; give a list of at most 10, or a mapping"
            )
        options = dict(zip(_OPTION_LETTERS, options, strict=False))
    shown = {}
    for letter, cell in options.items():
        text = _python_value(cell)
        if text is None:
            continue
        if letter not in [*_OPTION_LETTERS]:
            raise ValueError(f"an option has the letter {letter!r}; give A to J")
        if not isinstance(text, str):
            raise ValueError(f"the option {text!r} is not a text")
        shown[letter] = text
    return shown


def _language_names(language: Any) -> list[str]:
    """Return the names that `identify_language` has for a language."""
    code = "yue" if language is None else str(language).lower()
    if code not in _LANGUAGES:
        raise ValueError(f"the language is {code!r}; give {', '.join(_LANGUAGES)}")
    return _LANGUAGES[code]


def _own_text(text: str, prompt: _Prompt) -> str:
    """Return what a text says itself, without quotations of its prompt."""
    from hkcanto_metrics.constraints.reading import normalise
    from hkcanto_metrics.own_words import without_quotations

    text = normalise(_REVERSED.sub("", text))
    text = _LONG_WORD.sub(_divided, _UNDERSCORE.sub(" ", text))
    return without_quotations(text, prompt.question, prompt.options.values())


def _divided(long_word: re.Match[str]) -> str:
    """Divide a long word into words, because words have a weight and letters have none."""
    from hkcanto_metrics.jyutping import is_valid

    letters = _DIGIT.sub("x", long_word[0])
    if long_word["coded"] and not is_valid(long_word[0]):
        return letters
    return (
        " ".join(_PART_OF_WORD.findall(letters))
        if long_word["joined"]
        else long_word[0]
    )


def _cantonese_share(
    own_text: str,
    prompt: _Prompt,
    min_characters: int,
    *,
    answers: bool = False,
) -> float:
    from hkcanto_metrics.own_words import cantonese_share

    prompt_text = "".join((prompt.question, *prompt.options.values()))
    return cantonese_share(
        own_text,
        min_characters,
        prompt_text,
        answers=answers,
    )


def _language_share(
    text: str,
    names: Collection[str],
    min_characters: int,
) -> float:
    """Return the share of a text in a language; 0 if it is too short, or a loop."""
    from hkcanto_metrics.language import identify_language
    from hkcanto_metrics.repetition import is_degenerate

    identified = identify_language(text)
    if identified.n_characters < min_characters or is_degenerate(text):
        return 0.0
    shares = identified.shares.items()
    return sum(share for name, share in shares if name in names)


def _python_value(value: Any) -> Any:
    """Convert arrays, Series and tensors to lists, their numbers to Python's, and NaN to None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    # Only NaN differs from itself; comparing pandas' NA gives NA.
    if type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    return value


def _is_list(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | Mapping)


def _text(completion: Any) -> str:
    """Return the assistant's last text, after reasoning from a separate key of the message."""
    if isinstance(completion, str):
        return completion
    if not isinstance(completion, Sequence):
        raise ValueError(
            f"the completion is {completion!r}; give a text or a list of messages"
        )
    message: Mapping[str, Any] | None = None if completion else {}
    for turn in completion:
        if not isinstance(turn, Mapping):
            raise ValueError(
                f"the message is {turn!r}; give a mapping with role and content"
            )
        if turn.get("role", "assistant") == "assistant":
            message = turn
    if message is None:
        raise ValueError(f"no message of {completion!r:.80} has the role assistant")
    content = _content_text(_python_value(message.get("content")) or "")
    for key in _REASONING_KEYS:
        if message.get(key):
            return f"<think>{message[key]}</think>{content}"
    return content


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not _is_list(content):
        raise ValueError(f"the content is {content!r}; give a text or a list of parts")
    for part in content:
        if not isinstance(part, Mapping):
            raise ValueError(
                f"a part of the message is {part!r}; give a mapping with type"
            )
    return response_as_text(content)
