"""The errors that hkcanto raises on purpose.

Each message says what is wrong (file, row, value), why, and what to do, so a command line can print
it unchanged, without a traceback.
"""

import difflib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from .printable import printable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# Names such as DataNotFound already say what is wrong; the suffix "Error" would add nothing.
# ruff: noqa: N818


DOCS = "https://github.com/hkcanto/hkcanto/blob/main/docs"
"""The address of the documentation's pages."""


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


class PathNotFound(LogError):
    """A path that a command was given does not exist; the command exits with status 2."""


class ComparisonError(HKCantoError):
    """Two results cannot be compared: different items, tasks or data, or a missing figure."""


def did_you_mean(
    name: str,
    known: Iterable[str],
    form: str = "{}",
    most: int = 1,
) -> str:
    """Return a question with the most similar known names, and a space; empty without any.

    Args:
        name: The unknown name.
        known: The known names.
        form: The form in which a name is shown.
        most: The largest number of names to show.

    Examples:
        >>> did_you_mean("exampels", ["shots", "examples"])
        'Did you mean examples? '
    """
    similar = difflib.get_close_matches(name, [*known], n=most)
    if not similar:
        return ""
    return f"Did you mean {' or '.join(map(form.format, similar))}? "


_MAKE_READABLE = "Make it readable, or put a complete copy in its place."


@contextmanager
def on_disk(
    path: Path,
    done: str = "read",
    remedy: str = _MAKE_READABLE,
) -> Iterator[None]:
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
    # A file system without locks raises NotImplementedError.
    except (OSError, NotImplementedError) as error:
        source = getattr(error, "filename", None)
        target = getattr(error, "filename2", None)
        cause = getattr(error, "strerror", None) or error
        raise DataNotFound(
            f"{target or source or path} cannot be {done}: {cause}. {remedy}"
        ) from error


@contextmanager
def from_package(declared: "EntryPoint") -> Iterator[None]:
    """Turn any error of another package's entry point, even `SystemExit`, into one of hkcanto.

    Args:
        declared: The entry point.

    Examples:
        >>> from importlib.metadata import EntryPoint
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
        raise CatalogueError(
            f"the entry point {declared.name} = {declared.value} ({declared.group}) "
            f"cannot be used: {type(error).__name__}: {error}. "
            "Correct or uninstall its package."
        ) from error


_HARNESS_COMMANDS = (
    "lm_eval",
    "lm-eval",
    "inspect",
    "lm_eval/__main__.py",
    "inspect_ai/__main__.py",
)


def in_command() -> bool:
    """Return whether this process is a harness's command, not a program that calls the harness."""
    program = sys.argv[0].replace("\\", "/").removesuffix(".exe")
    endings = tuple(f"/{name}" for name in _HARNESS_COMMANDS)
    return f"/{program}".endswith(endings)


def without_traceback() -> None:
    """Make the harnesses' commands end with our message instead of a traceback.

    A program that calls a harness still gets the exception, and its traceback if uncaught.
    """
    if not in_command():
        return
    default_hook = sys.excepthook

    def show(
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, HKCantoError):
            print(f"\n{type(error).__name__}: {printable(str(error))}", file=sys.stderr)  # noqa: T201
        else:
            default_hook(kind, error, trace)

    sys.excepthook = show
