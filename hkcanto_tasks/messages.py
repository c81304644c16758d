"""Messages for people, in English or in another language of a gettext catalogue.

The English text is the key of the catalogue. It is a whole sentence, with a named place for each
value: other languages put values in another order.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from gettext import NullTranslations, translation
from importlib.resources import as_file, files
from typing import Literal

Language = Literal["en", "zh-Hant"]

_ENGLISH = NullTranslations()
_catalogue: ContextVar[NullTranslations] = ContextVar("catalogue", default=_ENGLISH)


def say(message: str, **places: object) -> str:
    """Return a message in the chosen language, with values in its places.

    Examples:
        >>> say("{model} leads on {count} tasks.", model="base", count=3)
        'base leads on 3 tasks.'
    """
    text = _catalogue.get().gettext(message)
    return text.format(**places) if places else text


def say_number(one: str, many: str, number: int, **places: object) -> str:
    """Return the message for one thing or for several; the place `number` has their number.

    Examples:
        >>> say_number("{number} task", "{number:,} tasks", 1200)
        '1,200 tasks'
    """
    text = _catalogue.get().ngettext(one, many, number)
    return text.format(number=number, **places)


def named(english: str, chinese: str) -> str:
    """Return a name that a benchmark states in both languages, in the chosen one.

    Examples:
        >>> named("Hong Kong law", "香港法律")
        'Hong Kong law'
    """
    is_chinese = _catalogue.get() is not _ENGLISH
    return chinese if is_chinese and chinese else english


@contextmanager
def speaking(language: Language) -> Iterator[Language]:
    """Take messages from the catalogue of a language within the block."""
    catalogue = _ENGLISH
    if language != "en":
        with as_file(files(__package__).joinpath("languages")) as folder:
            catalogue = translation(
                "hkcanto", folder, languages=[language.replace("-", "_")]
            )
    token = _catalogue.set(catalogue)
    try:
        yield language
    finally:
        _catalogue.reset(token)
