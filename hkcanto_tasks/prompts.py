"""Rendering of prompts: the text and the messages of a question with its worked examples.

Inspect sends them. lm-eval joins its own text from the same parts; the hash of requests in a
signature shows that both texts are equal.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from .errors import CatalogueError
from .samples import Sample

OF_EXAMPLES = ("number", "reasoning", "answer")
"""The placeholders that only worked examples have."""

_NAME = r"\w+(?:\.[^\W_]\w*)*"  # of a column, or a path into it: `choices.A`
_PLACE = re.compile(
    rf"(\{{\{{\{{{_NAME}\}}\}}\}}|\{{\{{(?:{_NAME})?\}}\}}|\{{{_NAME}\}})"
)


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example of a few-shot prompt, as the model sees it.

    Attributes:
        question: The question turn, rendered.
        answer: The answer turn, rendered.
        origin: The source of its reasoning, if any: `release`, `paper`, or a data set.
        sample: The item behind it, for prompts written by the user.
    """

    question: str
    answer: str
    origin: str = ""
    sample: Sample | None = None


class NoSuchPlace(CatalogueError):  # noqa: N818
    """A template has an unknown placeholder.

    Attributes:
        name: The text in its braces.
    """

    def __init__(
        self,
        name: str,
        known: Iterable[str],
    ) -> None:
        names = ", ".join(f"{{{place}}}" for place in known)
        super().__init__(
            f"a template has the placeholder {{{name}}}; known are {names}."
        )
        self.name = name


def fill(
    text: str,
    values: Mapping[str, str],
    *,
    keep: bool = False,
) -> str:
    r"""Fill the placeholders of a template; all templates are filled here.

    Unlike with `str.format`, values and the rest of the text may contain braces, and a template
    cannot look up attributes of a value.

    Args:
        text: A text with placeholders `{name}`. `{{name}}` gives the characters `{name}`, `{{}}`
            gives `{}`, and `{{{name}}}` a value in braces. Other braces stay as they are.
        values: Name → the value to insert.
        keep: Leave the other placeholders, and `{{name}}`, to a later call.

    Raises:
        NoSuchPlace: A placeholder has no value.

    Examples:
        >>> fill("Example {number}: {source}", {"source": "{number}", "number": "1"})
        'Example 1: {number}'
        >>> fill(r"\boxed{{}}, such as \boxed{{{answer}}}, {{x}}", {"answer": "4"})
        '\\boxed{}, such as \\boxed{4}, {x}'
    """

    def filled(match: re.Match[str]) -> str:
        place = match[0]
        if _is_escaped(place):
            return place if keep else place[1:-1]
        name = place.strip("{}")
        if name not in values:
            if keep:
                return place
            raise NoSuchPlace(name, values)
        if not place.startswith("{{{"):
            return values[name]
        in_braces = f"{{{values[name]}}}"
        # A later call must not take the value for a placeholder.
        if keep and _PLACE.fullmatch(in_braces):
            return f"{{{in_braces}}}"
        return in_braces

    return _PLACE.sub(filled, text)


def _is_escaped(place: str) -> bool:
    """Return whether braces are literal: `{{x}}` or `{{}}`, but not `{{{x}}}`."""
    return place.startswith("{{") and not place.startswith("{{{")


@cache
def places(*texts: str) -> tuple[str, ...]:
    """Return the names of the placeholders in templates, each once.

    Examples:
        >>> places("{passage}\\n{question} {{x}} {{}} {{{answer}}}")
        ('passage', 'question', 'answer')
    """
    names: dict[str, None] = {}
    for text in texts:
        for place in _PLACE.findall(text):
            if not _is_escaped(place):
                names[place.strip("{}")] = None
    return tuple(names)


def convert(text: str, conversion: Callable[[str], str]) -> str:
    """Convert the text of a template, for example to another script, but not its placeholders.

    Examples:
        >>> convert("about {title}", str.upper)
        'ABOUT {title}'
    """
    parts = _PLACE.split(text)
    parts[::2] = map(conversion, parts[::2])  # the others are placeholders
    return "".join(parts)


def until_stop(response: str, stop: Sequence[str]) -> str:
    r"""Cut a response before the first stop text.

    Not all harnesses and servers honour stop texts; cutting here gives a model the same score
    everywhere.

    Examples:
        >>> until_stop("nei5 hou2\nExample 7", ["\nExample"]), until_stop("\nExample", ["\nExample"])
        ('nei5 hou2', '')
    """
    starts = [response.find(text) for text in stop]
    present = [start for start in starts if start >= 0]
    return response[: min(present, default=len(response))]


def without_system(messages: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    r"""Return messages without the system message, whose text begins the next message instead.

    Args:
        messages: Role and text of each message.

    Examples:
        >>> without_system([("system", "Add.\n"), ("user", "1+1=")])
        [('user', 'Add.\n1+1=')]
        >>> without_system([("system", "Be brief."), ("user", "1+1=")])
        [('user', 'Be brief.\n\n1+1=')]
    """
    if len(messages) < 2 or messages[0][0] != "system":
        return [*messages]
    (_, instruction), (role, text), *others = messages
    separator = "" if instruction[-1:].isspace() else "\n\n"
    return [(role, instruction + separator + text), *others]


@dataclass(frozen=True, slots=True)
class Prompt:
    r"""A few-shot prompt in parts, to be rendered as plain text or as chat messages.

    Attributes:
        system: Instruction before everything else, including the white space that follows it.
        examples: Worked examples, in order.
        question: The question to answer.
        answer_separator: Text between a question and its answer.
        example_separator: Text after each worked example.
        chat_system: System message of a chat, if the instruction is in the user's message instead.

    Examples:
        >>> p = Prompt("Add.\n", [Example("1+1", "2")], "2+3=", "=", "\n")
        >>> p.text()
        'Add.\n1+1=2\n2+3='
    """

    system: str
    examples: Sequence[Example]
    question: str
    answer_separator: str
    example_separator: str
    chat_system: str | None = None

    def text(self) -> str:
        """Return the prompt as one string, for base models and completion APIs."""
        parts = [self.system]
        for example in self.examples:
            parts += (
                example.question,
                self.answer_separator,
                example.answer,
                self.example_separator,
            )
        return "".join([*parts, self.question])

    def messages(
        self,
        *,
        multiturn: bool = False,
        no_system: bool = False,
    ) -> list[tuple[str, str]]:
        """Return the prompt as chat messages: role (`system`, `user` or `assistant`) and text.

        Args:
            multiturn: One user and one assistant message per worked example, instead of all
                examples in front of the question in a single user message.
            no_system: The system message begins the first user message instead.
        """
        message, begin = self.in_chat
        messages = [("system", message)] if message else []
        if multiturn:
            for example in self.examples:
                messages += [
                    ("user", begin + example.question),
                    ("assistant", example.answer),
                ]
                begin = ""
            messages.append(("user", begin + self.question))
        else:
            text = self.text().removeprefix(self.system)
            messages.append(("user", begin + text))
        return without_system(messages) if no_system else messages

    @property
    def in_chat(self) -> tuple[str, str]:
        """The system message of a chat, and the text before everything else in the user's."""
        if self.chat_system is None:
            return self.system, ""
        return self.chat_system, self.system
