"""The errors that hkcanto raises on purpose.

Each message says what is wrong (file, row, value), why, and what to do, so a command line can print
it unchanged, without a traceback.
"""

import difflib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from pathlib import Path
from types import TracebackType

from .printable import printable

# Names such as DataNotFound already say what is wrong; the suffix "Error" would add nothing.
# ruff: noqa: N818


class HKCantoError(Exception):
    """The base of all errors below; catch this to catch them all.

    Examples:
        >>> issubclass(DataCorrupt, HKCantoError)
        True
    """


class DataNotFound(HKCantoError):
    """Data is not in the configured location or on a server, or cannot be read or stored."""


class DataCorrupt(HKCantoError):
    """A file exists but is not valid data: wrong checksum, pointer file, truncated."""


class NetworkUnavailable(HKCantoError):
    """Data must be downloaded, but the network is off, forbidden or not responding."""


class CatalogueError(HKCantoError):
    """A file that declares benchmarks, subjects or checksums contradicts itself or its schema."""


class OptionError(HKCantoError):
    """A task, model or command does not accept a given option."""


class LogError(HKCantoError):
    """A path has no logs of a harness, or only logs of tasks that are not ours."""


class ComparisonError(HKCantoError):
    """Two results cannot be compared: different items, tasks or data, or a missing figure."""


def did_you_mean(
    name: str, known: Iterable[str], form: str = "{}", most: int = 1
) -> str:
    """Return a question with the known names most like another one, and a space; empty without any.

    Args:
        name: The unknown name.
        known: The names that there are.
        form: The form in which a name is shown.
        most: The number of names.

    Examples:
        >>> did_you_mean("exampels", ["shots", "examples"])
        'Did you mean examples? '
    """
    near = difflib.get_close_matches(name, [*known], n=most)
    return f"Did you mean {' or '.join(map(form.format, near))}? " if near else ""


_READABLE = "Make it readable, or put a complete copy in its place."


@contextmanager
def on_disk(path: Path, done: str = "read", remedy: str = _READABLE) -> Iterator[None]:
    """Turn an error of the operating system into one of hkcanto.

    Args:
        path: The path to name if the error itself names none.
        done: The action that failed, as a participle: "read".
        remedy: The advice to the user.

    Examples:
        >>> with on_disk(Path("a.csv"), remedy="Ask its owner."):
        ...     raise PermissionError(13, "Permission denied")
        Traceback (most recent call last):
        hkcanto_tasks.errors.DataNotFound: a.csv cannot be read: Permission denied. Ask its owner.
    """
    try:
        yield
    except (
        OSError,
        NotImplementedError,
    ) as error:  # the second where there are no file locks
        named = [
            getattr(error, name, None) for name in ("filename2", "filename", "strerror")
        ]
        where = str(named[0] or named[1] or path)
        raise DataNotFound(
            f"{where} cannot be {done}: {named[2] or error}. {remedy}"
        ) from error


@contextmanager
def from_package(declared: EntryPoint) -> Iterator[None]:
    """Turn any error of another package's entry point, even `SystemExit`, into one of hkcanto.

    Args:
        declared: The entry point.

    Examples:
        >>> try:
        ...     with from_package(EntryPoint("quiz", "quizzes:Quiz", "hkcanto.kinds")):
        ...         raise SystemExit(0)
        ... except CatalogueError as error:
        ...     print(str(error).partition(". ")[0])
        the entry point quiz = quizzes:Quiz (hkcanto.kinds) cannot be used: SystemExit: 0
    """
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        place = f"the entry point {declared.name} = {declared.value} ({declared.group})"
        why = f"{type(error).__name__}: {error}. Correct or uninstall its package."
        raise CatalogueError(f"{place} cannot be used: {why}") from error


_COMMANDS = (
    "lm_eval",
    "lm-eval",
    "inspect",
    "lm_eval/__main__.py",
    "inspect_ai/__main__.py",
)


def in_command() -> bool:
    """Return whether this process is a harness's command, not a program that calls the harness."""
    program = sys.argv[0].replace("\\", "/").removesuffix(".exe")
    return f"/{program}".endswith(tuple(f"/{name}" for name in _COMMANDS))


def without_traceback() -> None:
    """Make the harnesses' commands end with our message instead of a traceback.

    A program that calls a harness still gets the exception, and its traceback if uncaught.
    """
    if not in_command():
        return
    others = sys.excepthook

    def show(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if isinstance(error, HKCantoError):
            print(f"\n{type(error).__name__}: {printable(str(error))}", file=sys.stderr)  # noqa: T201
        else:
            others(kind, error, trace)

    sys.excepthook = show
