"""Many cases in one test."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def named(*names: object) -> Iterator[None]:
    """Name the case in the report of a failure."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {', '.join(map(repr, names))}")
        raise
