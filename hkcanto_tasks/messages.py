"""Messages for people, in English or in another language of a gettext catalogue.

The English text is the key of the catalogue. It is a whole sentence, with a named place for each
value: other languages put values in another order.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from gettext import NullTranslations

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


@contextmanager
def speaking(catalogue: NullTranslations) -> Iterator[None]:
    """Take messages from a catalogue within the block."""
    token = _catalogue.set(catalogue)
    try:
        yield
    finally:
        _catalogue.reset(token)
