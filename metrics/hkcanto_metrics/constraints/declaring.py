"""Register verifiers, and check the constraints that use them.

A verifier is a function of an answer and keyword arguments. It returns a bool, or one or several
counts, for which a constraint sets bounds. The arguments of every constraint are checked against
the function's signature.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

Text = Annotated[str, Meta(pattern=r"\S")]
Texts = Annotated[tuple[Text, ...], Meta(min_length=1)]
Number = Annotated[int, Meta(ge=1)]
Function = Callable[..., bool | int | list[int]]
_F = TypeVar("_F", bound=Function)
_BOUNDS = ("exactly", "at_least", "at_most")


@dataclass(frozen=True, slots=True)
class Verifier:
    """A check that a program can make.

    Attributes:
        name: Its name in constraints.
        function: The check, called with an answer and keyword arguments.
        record: The types of the arguments.
        least: For a count, the smallest one that can satisfy bounds, 0 or 1. None for a condition.
        impossible: Returns why no answer can follow some arguments of the right types; "" if one
            can.
    """

    name: str
    function: Function
    record: type[msgspec.Struct]
    least: int | None
    impossible: Callable[..., str] | None

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
        hints = get_type_hints(self.record, include_extras=True)
        return {
            each.name: _in_words(hints[each.name]) + _default(each)
            for each in msgspec.structs.fields(self.record)
            if each.name not in _BOUNDS
        }

    def read(self, args: Mapping[str, Any]) -> msgspec.Struct:
        """Check arguments.

        Args:
            args: The arguments of a constraint. None means that an argument is not given.

        Returns:
            The arguments, with defaults.

        Raises:
            ValueError: A name or a type is wrong, or no answer could follow the arguments.
        """
        try:
            read = msgspec.convert(given(args), self.record)
        except msgspec.ValidationError as error:
            raise self._refusal(str(error).replace("`", "").replace("at $.", "at ")) from error
        if self.least is not None and (problem := _bounds_problem(read)):
            raise self._refusal(problem)
        if self.impossible and (problem := self.impossible(**msgspec.structs.asdict(read))):
            raise self._refusal(problem)
        return read

    def holds(self, answer: str, args: Mapping[str, Any]) -> bool:
        """Whether an answer satisfies the verifier with these arguments; see `read` for errors."""
        values = msgspec.structs.asdict(self.read(args))
        if self.least is None:
            return bool(self.function(answer, **values))
        exactly, at_least, at_most = (values.pop(name) for name in _BOUNDS)
        found = self.function(answer, **values)
        counts = found if isinstance(found, list) else [found]
        return bool(counts) and all(
            self.least <= count
            and exactly in (None, count)
            and (at_least or 0) <= count
            and (at_most is None or count <= at_most)
            for count in counts
        )

    def _refusal(self, problem: str) -> ValueError:
        takes = [f"{name} ({kind})" for name, kind in self.arguments.items()]
        if self.least is not None:
            takes.append(f"exactly, or at_least and at_most (numbers from {self.least})")
        return ValueError(
            f"constraint {self.name!r}: {problem}; it takes {', '.join(takes) or 'no arguments'}"
        )


VERIFIERS: dict[str, Verifier] = {}
"""Name → verifier."""


def condition(*, impossible: Callable[..., str] | None = None) -> Callable[[_F], _F]:
    """Register a function that returns a bool as a verifier."""
    return lambda function: _register(function, None, impossible)


def measure(
    *, least: Literal[0, 1], impossible: Callable[..., str] | None = None
) -> Callable[[_F], _F]:
    """Register a function that returns a count as a verifier; of several counts, all have to fit.

    Args:
        least: 0 if a constraint may ask for none; 1 if an answer with a count of 0, such as one
            without a list, satisfies no bounds.
        impossible: See `Verifier`.
    """
    return lambda function: _register(function, least, impossible)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A requirement on an answer that a program can check.

    Attributes:
        name: The verifier's name.
        args: Its arguments. None counts as not given, like an empty cell of a table.

    Raises:
        ValueError: There is no such verifier, an argument is unknown or has the wrong type, or no
            answer could follow the arguments.

    Examples:
        >>> Constraint("characters", {"at_most": 50})
        Constraint(name='characters', args={'at_most': 50})
        >>> Constraint("sentences", {"at_least": 3, "at_most": 2})
        Traceback (most recent call last):
        ...
        ValueError: constraint 'sentences': at_least 3 is more than at_most 2; it takes exactly, \
or at_least and at_most (numbers from 1)
    """

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name not in VERIFIERS:
            near = get_close_matches(str(self.name), VERIFIERS, n=3) or VERIFIERS
            raise ValueError(f"no constraint is named {self.name!r}; give {', '.join(near)}")
        if not isinstance(self.args, Mapping):
            raise ValueError(f"constraint {self.name!r}: args is {self.args!r}; give a mapping")
        VERIFIERS[self.name].read(self.args)
        object.__setattr__(self, "args", given(self.args))


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
        listed = msgspec.json.decode(rows) if isinstance(rows, str) else rows
    except msgspec.DecodeError as error:
        raise ValueError(f"the constraints are {rows!r:.80}: {error}; give a list") from error
    if isinstance(listed, str | Mapping) or not isinstance(listed, Sequence) or not listed:
        raise ValueError(f"the constraints are {rows!r:.80}; give a list of one or more")
    return tuple(map(_constraint, listed))


def _constraint(row: Any) -> Constraint:
    if isinstance(row, Constraint):
        return row
    if not isinstance(row, Mapping) or not {"name"} <= row.keys() <= {"name", "args"}:
        raise ValueError(f"the constraint is {row!r:.80}; give a mapping with name and args")
    return Constraint(row["name"], row.get("args") or {})


def given(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not None, with arrays of NumPy as lists."""
    return {
        name: value.tolist() if hasattr(value, "tolist") else value
        for name, value in args.items()
        if value is not None
    }


def _register(function: _F, least: int | None, impossible: Callable[..., str] | None) -> _F:
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = [
        (name, hints[name], msgspec.NODEFAULT if each.default is each.empty else each.default)
        for name, each in [*inspect.signature(function).parameters.items()][1:]
    ]
    if least is not None:
        bound = Annotated[int, Meta(ge=least)] | None
        fields += [(name, bound, None) for name in _BOUNDS]
    name = function.__name__
    record = msgspec.defstruct(name, fields, kw_only=True, frozen=True, forbid_unknown_fields=True)
    VERIFIERS[name] = Verifier(name, function, record, least, impossible)
    return function


def _bounds_problem(read: Any) -> str:
    if read.exactly is read.at_least is read.at_most is None:
        return "no bound is given"
    if read.exactly is not None and (read.at_least, read.at_most) != (None, None):
        return "exactly goes with no other bound"
    if read.at_least == 0:
        return "at_least 0 is followed by every answer"
    if None not in (read.at_least, read.at_most) and read.at_least > read.at_most:
        return f"at_least {read.at_least} is more than at_most {read.at_most}"
    return ""


def _default(argument: msgspec.structs.FieldInfo) -> str:
    if argument.required:
        return ""
    if not isinstance(argument.default, str | bool):
        return ", optional"
    return f", {repr(argument.default).replace('False', 'false')} by default"


def _in_words(kind: Any) -> str:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        meta = arguments[1]
        words = _in_words(arguments[0])
        if meta.ge is not None:
            words += f" from {meta.ge}"
        return meta.description or words
    if origin in (Union, types.UnionType):
        return " or ".join(_in_words(each) for each in arguments if each is not type(None))
    if origin is Literal:
        return " or ".join(f"{each!r}" for each in arguments)
    if origin is tuple:
        return "list of " + re.sub("^[a-z]+", r"\g<0>s", _in_words(arguments[0]))
    return {str: "text", int: "number", bool: "true or false"}[kind]
