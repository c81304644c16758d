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
from itertools import chain
from statistics import fmean
from types import FunctionType, ModuleType
from typing import Annotated, Any, get_args, get_type_hints

import msgspec
from msgspec import Meta

from hkcanto_metrics.constraints.reading import narrow, normalise
from hkcanto_metrics.faults import in_words
from hkcanto_metrics.reasoning import split_reasoning

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
        for field in msgspec.structs.fields(self.record):
            if field.name not in _BOUNDS:
                described[field.name] = _values_in_words(field)
        return described

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
            problem = _bounds_problem(values) or _words_problem(values)
        except msgspec.ValidationError as error:
            problem = in_words(error, args)
        if not problem:
            return values
        takes = [f"{name} ({words})" for name, words in self.arguments.items()]
        if self.least is not None:
            takes.append(
                f"exactly, about, or at_least and at_most (numbers from {self.least})"
            )
        known = ", ".join(takes) or "no arguments"
        raise ValueError(f"constraint {self.name!r}: {problem}; it takes {known}")

    def holds(
        self,
        answer: str,
        args: Mapping[str, Any],
    ) -> bool:
        """Whether an answer satisfies the verifier; an empty one never does."""
        values = self.read(args)
        bounds = {name: values.pop(name, None) for name in _BOUNDS}
        text = answer.strip()
        if not text:
            return False
        result = self.function(normalise(text), **values)
        if self.least is None:
            return bool(result)
        counts = result if isinstance(result, list) else [result]
        least, most = _count_range(**bounds)
        least = max(least, self.least)
        return bool(counts) and least <= min(counts) and max(counts) <= most


def _values_in_words(field: msgspec.structs.FieldInfo) -> str:
    """Describe the possible values of an argument, and its default."""
    members = get_args(field.type)
    kind = members[0] if type(None) in members else field.type
    if hasattr(kind, "__metadata__"):
        words = str(kind.__metadata__[0].description)
    elif get_args(kind):
        words = " or ".join(map(repr, get_args(kind)))
    else:
        words = "true or false"
    if field.required:
        return words
    if field.default is False:
        return f"{words}, false by default"
    if isinstance(field.default, str):
        return f"{words}, {field.default!r} by default"
    return f"{words}, optional"


def _bounds_problem(values: Mapping[str, Any]) -> str:
    """Return what is wrong with a count's bounds; empty for valid ones, or for a condition."""
    if "exactly" not in values:
        return ""
    bounds = {name: values[name] for name in _BOUNDS if values[name] is not None}
    if not bounds:
        return "no bound is given"
    for name in ("exactly", "about"):
        if name in bounds and len(bounds) > 1:
            return f"{name} goes with no other bound"
    least = bounds.get("at_least")
    most = bounds.get("at_most", math.inf)
    if least == 0:
        return "at_least 0 is followed by every answer"
    if least is not None and least > most:
        return f"at_least {least} is more than at_most {most}"
    return ""


def _words_problem(values: Mapping[str, Any]) -> str:
    """Return why no answer can use these words as asked; empty if one can."""
    words = values.get("words") or [values.get("word", "")]
    narrow_words = {narrow(word) for word in words}
    for text in values.get("not_in", ()):
        exception = narrow(text)
        if not any(word in exception and word != exception for word in narrow_words):
            return f"the exception {[exception]} does not contain the word, or is as short as it"
    position = values.get("sentence", values.get("place"))
    if position == 0:
        return "0 does not exist; 1 is the first and -1 the last"
    fewest = values.get("exactly") or values.get("at_least") or 1
    if "words" in values and fewest > len(narrow_words):
        return f"{fewest} different words of {len(narrow_words)} are impossible"
    return ""


def _count_range(
    exactly: int | None,
    at_least: int | None,
    at_most: int | None,
    about: int | None,
) -> tuple[float, float]:
    """Return the smallest and the largest count that bounds allow."""
    if exactly is not None:
        return exactly, exactly
    if about is not None:
        return math.ceil(about * 0.9), math.floor(about * 1.1)
    least = at_least or 0
    most = math.inf if at_most is None else at_most
    return least, most


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
        is_imported = getattr(function, "__module__", "") != module.__name__
        if inspect.isfunction(function) and not is_imported and name[0] != "_":
            VERIFIERS[name] = _verifier(topic, function)


def _verifier(topic: str, function: FunctionType) -> Verifier:
    hints = get_type_hints(function, include_extras=True)
    # A count's type says which one is the smallest that can satisfy bounds; a bool says nothing.
    least = getattr(hints.pop("return"), "__metadata__", (None,))[0]
    defaults = function.__kwdefaults__ or {}
    fields: list[tuple[str, Any, Any]] = []
    for argument, hint in hints.items():
        if argument != "answer":
            default = defaults.get(argument, msgspec.NODEFAULT)
            fields.append((argument, hint, default))
    if least is not None:
        bound = Annotated[int, Meta(ge=least)] | None
        fields += [(name, bound, None) for name in _BOUNDS]
    name = function.__name__
    record = msgspec.defstruct(
        name,
        fields,
        kw_only=True,
        forbid_unknown_fields=True,
    )
    return Verifier(
        name,
        topic,
        function,
        record,
        least,
    )


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
        args = {}
        for name, value in (self.args or {}).items():
            if value is not None:
                # NumPy arrays, as in a data frame's cells, become lists.
                args[name] = value.tolist() if hasattr(value, "tolist") else value
        VERIFIERS[self.name].read(args)
        msgspec.structs.force_setattr(self, "args", args)


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
        raise ValueError(f"{in_words(error)}; {expected}, not {rows!r:.80}") from error


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
        split_reasoning(response).tagged, constraint.args or {}
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
        >>> one_line, response = Constraint("lines", {"exactly": 1}), "好呀：\\n搭電車去。"
        >>> follows_loosely(response, one_line), follows(response, one_line)
        (True, False)
    """
    lines = split_reasoning(response).tagged.strip().split("\n")
    verifier = VERIFIERS[constraint.name]
    without_first = lines[1:]
    without_last = lines[:-1]
    without_both = lines[1:-1]
    for kept in (lines, without_first, without_last, without_both):
        text = "\n".join(kept)
        for variant in (text, text.replace("*", "")):
            if verifier.holds(variant, constraint.args or {}):
                return True
    return False


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
        >>> constraints = [Constraint("lines", {"exactly": 1}), Constraint("ends_with_question")]
        >>> check_constraints("好呀：\\n搭電車？", constraints)
        Followed(strict=(False, True), loose=(True, True))
    """
    if not constraints:
        raise ValueError("there are no constraints; give at least one")
    return Followed(
        strict=tuple(follows(response, constraint) for constraint in constraints),
        loose=tuple(
            follows_loosely(response, constraint) for constraint in constraints
        ),
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
    strict = [result.strict for result in results]
    loose = [result.loose for result in results]
    return {
        "prompt_level_strict_acc": fmean(map(all, strict)),
        "inst_level_strict_acc": fmean(chain.from_iterable(strict)),
        "prompt_level_loose_acc": fmean(map(all, loose)),
        "inst_level_loose_acc": fmean(chain.from_iterable(loose)),
    }
