"""Messages for people, in English or in another language of a gettext catalogue.

The English text is the key of the catalogue. It is a whole sentence, with a named place for each
value: other languages put values in another order.

Reports are made in English, and their JSON is English. A message remembers its key and its values,
so that a report can be translated as a whole before it is shown.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from gettext import NullTranslations, translation
from importlib.resources import as_file, files
from typing import Literal

Language = Literal["en", "zh-Hant"]
Saying = Callable[[NullTranslations], str]

_ENGLISH = NullTranslations()
_catalogue: ContextVar[NullTranslations] = ContextVar("catalogue", default=_ENGLISH)


class Message(str):
    """An English text that can be said in the language of a catalogue.

    Attributes:
        said_in: Returns the text in the language of a catalogue.
    """

    said_in: Saying


def say(message: str, **places: object) -> str:
    """Return a message in English, with values in its places, that `spoken` translates.

    Examples:
        >>> say("{model} leads on {count} tasks.", model="base", count=3)
        'base leads on 3 tasks.'
    """
    return _message(
        lambda catalogue: _filled(_looked_up(message, catalogue), places, catalogue)
    )


def say_number(
    one: str,
    many: str,
    number: int,
    **places: object,
) -> str:
    """Return the message for one thing or for several; the place `number` has their number.

    Examples:
        >>> say_number("{number} task", "{number:,} tasks", 1200)
        '1,200 tasks'
    """
    places = {"number": number, **places}
    return _message(
        lambda catalogue: _filled(
            catalogue.ngettext(one, many, number), places, catalogue
        )
    )


def named(english: str, chinese: str) -> str:
    """Return a name that a benchmark states in both languages; an acronym is one in each language.

    Examples:
        >>> named("Hong Kong law", "香港法律")
        'Hong Kong law'
    """
    if english.isupper() or not chinese:
        return verbatim(english)
    return _message(lambda catalogue: english if catalogue is _ENGLISH else chinese)


def verbatim(text: str) -> str:
    """Return a name or other data, which is the same in each language; a message stays one.

    Examples:
        >>> verbatim("Qwen3-8B")
        'Qwen3-8B'
    """
    return text if isinstance(text, Message) else _message(lambda _: text)


def joined(joint: str, texts: Iterable[str]) -> str:
    """Return texts with a joint between them, such as `; `, which is a message, too.

    Examples:
        >>> joined(", ", ["one", "two"])
        'one, two'
    """
    parts = [*texts]
    return _message(
        lambda catalogue: _looked_up(joint, catalogue).join(
            str(_said(part, catalogue)) for part in parts
        )
    )


def sentences(*texts: str) -> str:
    """Return sentences as one text.

    Examples:
        >>> sentences("One.", "Two.")
        'One. Two.'
    """
    text, *others = texts
    for other in others:
        text = say("{text} {next}", text=text, next=other)
    return text


def spoken(text: str) -> str:
    """Return a message, or a fixed English text, in the chosen language."""
    catalogue = _catalogue.get()
    if isinstance(text, Message):
        return text.said_in(catalogue)
    return _looked_up(text, catalogue)


@contextmanager
def speaking(language: Language) -> Iterator[Language]:
    """Take messages from the catalogue of a language within the block."""
    catalogue = _ENGLISH
    if language != "en":
        with as_file(files(__package__).joinpath("languages")) as folder:
            catalogue = translation(
                "hkcanto", folder, languages=[language.replace("-", "_")]
            )
    with using(catalogue):
        yield language


@contextmanager
def using(catalogue: NullTranslations) -> Iterator[None]:
    """Take messages from a catalogue within the block."""
    token = _catalogue.set(catalogue)
    try:
        yield
    finally:
        _catalogue.reset(token)


def _message(said_in: Saying) -> Message:
    message = Message(said_in(_ENGLISH))
    message.said_in = said_in
    return message


def _looked_up(text: str, catalogue: NullTranslations) -> str:
    """Return a text in a catalogue's language; the empty text is the key of its header."""
    return catalogue.gettext(text) if text else text


def _filled(
    text: str, places: Mapping[str, object], catalogue: NullTranslations
) -> str:
    """Return a text with values in its places, which may be messages."""
    if not places:
        return text
    values = {name: _said(value, catalogue) for name, value in places.items()}
    return text.format(**values)


def _said(value: object, catalogue: NullTranslations) -> object:
    """Return a message in a catalogue's language; any other value as it is."""
    return value.said_in(catalogue) if isinstance(value, Message) else value
