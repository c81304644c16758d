"""Benchmark data that ships in the package: written by us, so that there is nothing to download."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .folders import DataFolder
from .releases import Registry


@dataclass(frozen=True, slots=True)
class PackagedData:
    """Files in the package.

    Attributes:
        path: Their folder in the package `hkcanto_tasks`.

    Example:
        >>> PackagedData("benchmarks/fluency").path
        'benchmarks/fluency'
    """

    path: str


class PackagedFolder(DataFolder):
    """A release in the package, which is the same whatever the environment says."""

    def __init__(self, name: str, release: PackagedData) -> None:
        super().__init__(name, "package")
        self._root = Path(__file__).parent / release.path

    @property
    def root(self) -> Path:
        """The folder in the package."""
        return self._root

    @property
    def recorded(self) -> Registry:
        """Nothing: the files come with the code, and their digest is in the revision."""
        return {}

    def fetch(self, files: Sequence[str] | None = None, *, progress: bool | None = None) -> None:
        """Check that the files are there."""
        del progress
        for file in files or ():
            if not (self.root / file).is_file():
                raise self._absent(file)
