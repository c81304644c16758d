"""Register verifiers, and check which constraints a response follows.

A verifier is a function of an answer and keyword arguments. It returns a bool, or one or several
counts, for which a constraint sets bounds. The arguments of every constraint are checked against
the function's signature. Strict and loose checks and the four figures follow section 2.2 of Zhou
and others (2023), "Instruction-Following Evaluation for Large Language Models",
https://arxiv.org/abs/2311.07911.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, product
from statistics import fmean
from types import ModuleType
from typing import Annotated, Any, get_args, get_type_hints

import msgspec
from msgspec import Meta

from hkcanto_metrics.constraints.reading import narrow, normalise
from hkcanto_metrics.reasoning import strip_reasoning

Text = Annotated[str, Meta(pattern=r"\S", description="text")]
Texts = Annotated[tuple[Text, ...], Meta(min_length=1, description="list of texts")]
AnyTexts = Annotated[tuple[Text, ...], Meta(description="list of texts")]
Number = Annotated[int, Meta(ge=1, description="number from 1")]
# Counts, each with the smallest one that can satisfy bounds. An answer with a count of 0, such as
# one without a list, satisfies no bounds of a `CountFrom1`. All of `Counts` have to fit.
Count = Annotated[int, 0]
CountFrom1 = Annotated[int, 1]
Counts = Annotated[list[int], 1]
_BOUNDS = ("exactly", "at_least", "at_most", "about")


@dataclass(frozen=True, slots=True)
class Verifier:
    """A check that a program can make.

    Attributes:
        name: Its name in constraints.
        topic: The aspect that it checks, such as Length.
        function: The check, called with an answer and keyword arguments.
        record: The types of the arguments.
        least: For a count, the smallest one that can satisfy bounds, 0 or 1. None for a condition.
    """

    name: str
    topic: str
    function: Callable[..., bool | int | list[int]]
    record: type[msgspec.Struct]
    least: int | None

    @property
    def description(self) -> str:
        """The verifier's condition or count, in one line."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def arguments(self) -> dict[str, str]:
        """Argument → its possible values, in words; without the bounds.

        Examples:
            >>> from hkcanto_metrics.constraints import VERIFIERS
            >>> VERIFIERS["word_in_sentence"].arguments
            {'word': 'text', 'sentence': 'number from 1, or from -1 back'}
        """
        described = {}
        for argument in msgspec.structs.fields(self.record):
            members = get_args(argument.type)
            kind = members[0] if type(None) in members else argument.type
            words = " or ".join(map(repr, get_args(kind))) or "true or false"
            if hasattr(kind, "__metadata__"):
                words = str(kind.__metadata__[0].description)
            default = "" if argument.required else ", optional"
            if isinstance(argument.default, str | bool):
                default = f", {argument.default!r} by default".replace("False", "false")
            described[argument.name] = words + default
        return {name: words for name, words in described.items() if name not in _BOUNDS}

    def read(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Check arguments.

        Args:
            args: The arguments of a constraint.

        Returns:
            The arguments, with defaults.

        Raises:
            ValueError: A name or a type is wrong, or no answer could follow the arguments.
        """
        try:
            values = msgspec.structs.asdict(msgspec.convert(args, self.record))
            problem = _problem(values)
        except msgspec.ValidationError as error:
            problem = str(error).replace("`", "").replace("at $.", "at ")
        if not problem:
            return values
        takes = [f"{name} ({kind})" for name, kind in self.arguments.items()]
        if self.least is not None:
            takes.append(
                f"exactly, about, or at_least and at_most (numbers from {self.least})"
            )
        known = ", ".join(takes) or "no arguments"
        raise ValueError(f"constraint {self.name!r}: {problem}; it takes {known}")

    def holds(self, answer: str, args: Mapping[str, Any]) -> bool:
        """Whether an answer satisfies the verifier; an empty one never does."""
        values, answer = self.read(args), answer.strip()
        exactly, at_least, at_most, about = (values.pop(name, None) for name in _BOUNDS)
        counts = self.function(normalise(answer), **values) if answer else []
        if self.least is None:
            return bool(counts)
        if about is not None:
            at_least, at_most = math.ceil(about * 0.9), math.floor(about * 1.1)
        if exactly is not None:
            at_least = at_most = exactly
        least, most = (
            max(self.least, at_least or 0),
            math.inf if at_most is None else at_most,
        )
        counts = counts if isinstance(counts, list) else [counts]
        return bool(counts) and least <= min(counts) and max(counts) <= most


VERIFIERS: dict[str, Verifier] = {}
"""Name → verifier."""


def register(topic: str, module: ModuleType) -> None:
    """Register the public functions of a module as verifiers.

    Args:
        topic: The aspect that they check, such as Length.
        module: The module. Its functions take an answer and keyword arguments, and return a bool, a
            `Count`, a `CountFrom1` or `Counts`.
    """
    for name, function in vars(module).items():
        is_own = getattr(function, "__module__", "") == module.__name__
        if name.startswith("_") or not is_own or not inspect.isfunction(function):
            continue
        hints = get_type_hints(function, include_extras=True)
        least = getattr(hints.pop("return"), "__metadata__", (None,))[0]
        defaults = dict.fromkeys(hints, msgspec.NODEFAULT) | (
            function.__kwdefaults__ or {}
        )
        del defaults["answer"]
        fields: list[Any] = [
            (argument, hints[argument], value) for argument, value in defaults.items()
        ]
        if least is not None:
            fields += [
                (bound, Annotated[int, Meta(ge=least)] | None, None)
                for bound in _BOUNDS
            ]
        record = msgspec.defstruct(
            name, fields, kw_only=True, forbid_unknown_fields=True
        )
        VERIFIERS[name] = Verifier(name, topic, function, record, least)


class Constraint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A requirement on an answer that a program can check.

    Attributes:
        name: The verifier's name.
        args: Its arguments. None counts as not given, like an empty cell of a table.

    Raises:
        ValueError: The verifier is unknown, an argument is unknown or has the wrong type, or no
            answer could follow the arguments.

    Examples:
        >>> Constraint("characters", {"at_most": 50})
        Constraint(name='characters', args={'at_most': 50})
        >>> Constraint("sentences", {"at_least": 3, "at_most": 2})
        Traceback (most recent call last):
        ...
        ValueError: constraint 'sentences': at_least 3 is more than at_most 2; it takes exactly, \
about, or at_least and at_most (numbers from 1)
    """

    name: str
    args: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name not in VERIFIERS:
            near = get_close_matches(str(self.name), VERIFIERS, n=3) or VERIFIERS
            raise ValueError(
                f"no constraint is named {self.name!r}; give {', '.join(near)}"
            )
        if not isinstance(self.args, Mapping | None):
            raise ValueError(
                f"constraint {self.name!r}: args is {self.args!r}; give a mapping"
            )
        given = _given(self.args or {})
        VERIFIERS[self.name].read(given)
        msgspec.structs.force_setattr(self, "args", given)


def read_constraints(rows: str | Sequence[Any]) -> tuple[Constraint, ...]:
    """Read the constraints of a prompt from data.

    Args:
        rows: A list of constraints, or of mappings with ``name`` and optionally ``args``; or the
            list of mappings as JSON, for tables whose cells must have one type.

    Returns:
        The constraints, at least one.

    Raises:
        ValueError: ``rows`` is not such a list, or a constraint is invalid (see `Constraint`).

    Examples:
        >>> read_constraints('[{"name": "sentences", "args": {"exactly": 2}}]')
        (Constraint(name='sentences', args={'exactly': 2}),)
    """
    try:
        if isinstance(rows, str):
            return msgspec.json.decode(rows, type=_Constraints)
        return msgspec.convert(rows, _Constraints)
    except msgspec.MsgspecError as error:
        expected = "give a list of one or more mappings with name and args"
        problem = str(error).replace("`", "")
        raise ValueError(f"{problem}; {expected}, not {rows!r:.80}") from error


_Constraints = Annotated[tuple[Constraint, ...], Meta(min_length=1)]


@dataclass(frozen=True, slots=True)
class Followed:
    """Which constraints of a prompt a response follows.

    Attributes:
        strict: For each constraint, whether the response follows it.
        loose: For each constraint, whether the response or one of its seven variants follows it.
    """

    strict: tuple[bool, ...]
    loose: tuple[bool, ...]


def follows(response: str, constraint: Constraint) -> bool:
    """Return whether a response strictly follows a constraint.

    Args:
        response: The model's response. Reasoning is removed first (see `split_reasoning`).
        constraint: The constraint.

    Returns:
        Whether the answer follows it. A response without an answer follows nothing.

    Examples:
        >>> once = Constraint("occurrences", {"word": "叮叮", "exactly": 1})
        >>> follows("<think>叮叮？</think>搭叮叮。", once), follows("叮叮叮叮", once)
        (True, False)
        >>> follows("", Constraint("avoids", {"words": ["的士"]}))
        False
    """
    return VERIFIERS[constraint.name].holds(
        strip_reasoning(response), constraint.args or {}
    )


def follows_loosely(response: str, constraint: Constraint) -> bool:
    """Return whether a response loosely follows a constraint: as it is, or as one of its variants.

    A variant lacks the first line, the last line, every ``*``, or several of these. So an
    introduction, a farewell and emphasis do not matter. Neither does a violation in one of these
    lines, so the result is an upper bound.

    Args:
        response: The model's response. Reasoning is removed first (see `split_reasoning`).
        constraint: The constraint.

    Returns:
        Whether the answer or one of its seven variants follows it. An empty text follows nothing.

    Examples:
        >>> one_line, said = Constraint("lines", {"exactly": 1}), "好呀：\\n搭電車去。"
        >>> follows_loosely(said, one_line), follows(said, one_line)
        (True, False)
    """
    lines = strip_reasoning(response).strip().split("\n")
    kept = [
        "\n".join(lines[start:end]) for start, end in product((None, 1), (None, -1))
    ]
    variants = [*kept, *(text.replace("*", "") for text in kept)]
    return any(
        VERIFIERS[constraint.name].holds(text, constraint.args or {})
        for text in variants
    )


def check_constraints(response: str, constraints: Sequence[Constraint]) -> Followed:
    """Check which of a prompt's constraints a response follows, strictly and loosely.

    Args:
        response: The model's response. Reasoning is removed first.
        constraints: The constraints of the prompt, at least one.

    Returns:
        For each constraint, whether it is followed.

    Raises:
        ValueError: There are no constraints.

    Examples:
        >>> asked = [Constraint("lines", {"exactly": 1}), Constraint("ends_with_question")]
        >>> check_constraints("好呀：\\n搭電車？", asked)
        Followed(strict=(False, True), loose=(True, True))
    """
    if not constraints:
        raise ValueError("there are no constraints; give at least one")
    return Followed(
        strict=tuple(follows(response, each) for each in constraints),
        loose=tuple(follows_loosely(response, each) for each in constraints),
    )


def pool_constraints(followed: Iterable[Followed]) -> dict[str, float]:
    """Return the four figures of IFEval.

    Args:
        followed: For each prompt the result of `check_constraints`.

    Returns:
        ``prompt_level_strict_acc`` and ``prompt_level_loose_acc``: the share of prompts whose
        constraints are all followed; ``inst_level_strict_acc`` and ``inst_level_loose_acc``: the
        share of all constraints that are followed. From 0 to 1.

    Raises:
        ValueError: There are no results.

    Examples:
        >>> pool_constraints([Followed((True, False), (True, True)), Followed((True,), (True,))])
        {'prompt_level_strict_acc': 0.5, 'inst_level_strict_acc': 0.6666666666666666, \
'prompt_level_loose_acc': 1.0, 'inst_level_loose_acc': 1.0}
    """
    results = list(followed)
    if not results:
        raise ValueError(
            "no results to pool: the list is empty; check at least one response"
        )
    figures = {}
    for name in ("strict", "loose"):
        prompts: list[tuple[bool, ...]] = [getattr(result, name) for result in results]
        figures[f"prompt_level_{name}_acc"] = fmean(map(all, prompts))
        figures[f"inst_level_{name}_acc"] = fmean(chain.from_iterable(prompts))
    return figures


def _given(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not None, with arrays of NumPy as lists."""
    given = {name: value for name, value in args.items() if value is not None}
    return {k: v.tolist() if hasattr(v, "tolist") else v for k, v in given.items()}


def _problem(values: Mapping[str, Any]) -> str:
    """Return why bounds are wrong, or why no answer can follow some arguments; otherwise ""."""
    given = {name: values[name] for name in _BOUNDS if values.get(name) is not None}
    least, most = given.get("at_least", 1), given.get("at_most", math.inf)
    fewest = given.get("exactly", least)
    words = {*map(narrow, values.get("words") or [values.get("word", "")])}
    exceptions = [*map(narrow, values.get("not_in", ()))]
    most_words = len(words) if "words" in values else math.inf
    places = (values.get("sentence"), values.get("place"))
    stray = [
        text for text in exceptions if not any(word in text != word for word in words)
    ]
    problems = {
        "no bound is given": "exactly" in values and not given,
        "exactly goes with no other bound": "exactly" in given and len(given) > 1,
        "about goes with no other bound": "about" in given and len(given) > 1,
        "at_least 0 is followed by every answer": least == 0,
        f"at_least {least} is more than at_most {most}": "at_least" in given
        and least > most,
        f"the exception {stray[:1]} does not contain the word, or is not longer": stray,
        "0 does not exist; 1 is the first and -1 the last": 0 in places,
        f"{fewest} different words of {len(words)} are impossible": fewest > most_words,
    }
    return next((problem for problem, is_so in problems.items() if is_so), "")
