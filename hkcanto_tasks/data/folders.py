"""The files of a release in a folder: list them, find one, tell their version, verify them."""

import difflib
import fnmatch
import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import DataNotFound, HKCantoError, on_disk
from .releases import GitHubRelease, HubDataset, Registry, recorded_files
from .tables import ENDINGS, is_file, no_file, read_bytes, refusal


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that `DataFolder.verify` found.

    Attributes:
        file: Path in the folder.
        kind: `missing`; `changed` (not the recorded sha256); `extra` (not in the record);
            `unreadable` (it cannot be opened; or there is no record, and it is plainly no data).
        detail: What exactly, for a person.
    """

    file: str
    kind: Literal["missing", "changed", "extra", "unreadable"]
    detail: str


class DataFolder(ABC):
    """The files of one release, wherever they are.

    Attributes:
        name: The release's folder name, such as `hkmmlu`.
        kind: `local` (the user's folder), `sample`, `cache` (downloaded), or `own` (in the
            benchmark's folder).
    """

    def __init__(self, name: str, kind: Literal["local", "sample", "cache", "own"]) -> None:
        self.name = name
        self.kind = kind

    @property
    @abstractmethod
    def root(self) -> Path:
        """The folder that file paths start from."""

    @property
    @abstractmethod
    def recorded(self) -> Registry:
        """What the release's files must be; empty where that is not known."""

    @abstractmethod
    def fetch(self, files: Sequence[str] | None = None, *, progress: bool | None = None) -> None:
        """Make files available, several side by side; costs little when they are.

        Args:
            files: Paths in the folder; None means the whole release.
            progress: Whether to draw a progress bar; None means when stderr is a terminal.

        Raises:
            DataNotFound: The release has no such file, or it cannot be read or kept.
            DataCorrupt: What arrived is not the recorded content.
            NetworkUnavailable: A download is needed and cannot be had.
        """

    def path(self, file: str) -> Path:
        """Return where a file is, downloading it if need be; for many, call `fetch` first.

        Args:
            file: Path in the folder, such as `mmlu/dev/anatomy_dev.csv`.

        Raises:
            DataNotFound, DataCorrupt, NetworkUnavailable: As `fetch`.
        """
        self.fetch([file])
        return self.root / file

    def files(self, pattern: str = "*") -> list[str]:
        """List the files that are there, sorted, without downloading any.

        Args:
            pattern: Shell pattern for the path in the folder; `*` also matches slashes.

        Returns:
            Paths in the folder, hidden files left out.
        """
        return fnmatch.filter(files_under(self.root), pattern)

    def revision(self, *files: str) -> str:
        """Name the version of some files, for the signature that goes with a score.

        Args:
            files: Paths in the folder, downloaded if need be; none means the whole release.

        Returns:
            `sample` for the sample, else the short ids of the commits that the files
            come from, joined by `+`. In the user's own folder, `local-` and 7 digits of their
            sha256 stand for files that are not the recorded ones.
        """
        self.fetch(files or None)
        # By content, not by name: a clone of the release at another commit has other names.
        pin_of = {entry.sha256: entry.commit[:7] for entry in self.recorded.values()}
        digests = [sha256(self.root / file) for file in files or self.files()]
        pins = {pin_of[digest] for digest in digests if digest in pin_of}
        others = [digest for digest in digests if digest not in pin_of]
        if len(others) > 1:
            others = [hashlib.sha256("".join(sorted(others)).encode()).hexdigest()]
        return "+".join(sorted(pins) + [f"local-{digest[:7]}" for digest in others])

    def verify(self) -> list[Problem]:
        """Compare every file with the record; downloads nothing.

        Returns:
            What is wrong, in file order; nothing when this is the complete, unaltered release.
            Where there is no record, only files that cannot be data are reported.
        """
        recorded, there = self.recorded, set(self.files())
        problems = []
        for file in sorted(there | set(recorded)):
            entry, path = recorded.get(file), self.root / file
            try:
                if file not in there:
                    problems.append(Problem(file, "missing", f"{path} does not exist"))
                elif entry:
                    if (digest := sha256(path)) != entry.sha256:
                        what = refusal(read_bytes(path))
                        detail = what or f"its sha256 is {digest}, recorded is {entry.sha256}"
                        problems.append(Problem(file, "changed", detail))
                elif recorded:
                    problems.append(Problem(file, "extra", "the release has no such file"))
                elif what := refusal(read_bytes(path)):
                    problems.append(Problem(file, "unreadable", what))
            except HKCantoError as error:
                problems.append(Problem(file, "unreadable", str(error)))
        return problems

    def moved(self) -> str:
        """Say, in a sentence, that the release is another now than when it was downloaded."""
        return ""

    def _absent(self, file: str) -> DataNotFound:
        near = difflib.get_close_matches(file, {*self.recorded, *self.files()}, n=1)
        hint = f"Did you mean {near[0]}?" if near else "Check the name."
        return DataNotFound(f"{self.name} has no file {file!r} in {self.root}. {hint}")


class OwnFolder(DataFolder):
    """Data in the benchmark's own folder: the same everywhere."""

    def __init__(
        self, name: str, root: Path, kind: Literal["own", "sample"] = "own", missing: str = ""
    ) -> None:
        super().__init__(name, kind)
        self._root = root
        if not root.is_dir():
            raise DataNotFound(missing or f"{root}, the data of {name}, is not a folder.")

    @property
    def root(self) -> Path:
        """The folder below the benchmark's."""
        return self._root

    @property
    def recorded(self) -> Registry:
        """Nothing: the folder itself is the record."""
        return {}

    def revision(self, *files: str) -> str:
        """Return the first 7 digits of the files' sha256, or `sample`."""
        if self.kind == "sample":
            return "sample"
        digests = "".join(sha256(self.root / file) for file in files or self.files())
        return hashlib.sha256(digests.encode()).hexdigest()[:7]

    def fetch(self, files: Sequence[str] | None = None, *, progress: bool | None = None) -> None:
        """Check that the files are there."""
        del progress
        for file in files or ():
            if not is_file(self.root / file):
                raise self._absent(file)


class SampleFolder(OwnFolder):
    """The small data set, written for trying things out, in the folder `sample`."""

    def __init__(self, name: str, root: Path) -> None:
        super().__init__(
            name,
            root,
            "sample",
            f"HKCANTO_DATA=sample, but {name} has no sample in {root}. Unset HKCANTO_DATA to use "
            "the release.",
        )


class LocalFolder(DataFolder):
    """A folder of the user's, laid out as the release is: never written to, and no network."""

    def __init__(
        self, name: str, parent: Path, release: GitHubRelease | HubDataset, home: str
    ) -> None:
        super().__init__(name, "local")
        self._release, self._home = release, home
        self._root = parent / name
        if not parent.is_dir():
            raise DataNotFound(
                f"HKCANTO_DATA_DIR={parent} is not a folder. Correct it, or unset it to download."
            )
        if not self._root.is_dir():
            raise DataNotFound(
                f"HKCANTO_DATA_DIR={parent} has no folder {name!r}, only {_folders_in(parent)}."
                " Set it to the folder that holds the releases, or unset it to download."
            )
        # A git clone has the data in a folder of its own.
        if isinstance(release, GitHubRelease) and (self._root / release.prefix).is_dir():
            self._root /= release.prefix

    @property
    def root(self) -> Path:
        """The folder in `HKCANTO_DATA_DIR`."""
        return self._root

    @property
    def recorded(self) -> Registry:
        """The release's registry, if it has one."""
        if isinstance(self._release, GitHubRelease):
            return recorded_files(self._release, self._home)
        return {}

    def fetch(self, files: Sequence[str] | None = None, *, progress: bool | None = None) -> None:
        """Check that the files are there."""
        del progress
        for file in self.recorded if files is None else files:
            if not is_file(self.root / file):
                raise self._absent(file)

    def _absent(self, file: str) -> DataNotFound:
        if entry := self.recorded.get(file):
            return DataNotFound(
                f"{self.root / file} {no_file(self.root / file)}. Unset HKCANTO_DATA_DIR to"
                " download it, or make it in a clone of the release with"
                f" `git show {entry.commit}:{entry.origin}`."
            )
        return super()._absent(file)


def files_under(root: Path) -> list[str]:
    """List the files below a folder, sorted, but for `.git`, `.DS_Store`, the hub's `.cache` …

    Links are followed. What is called as data is and is no file (a pipe, a link to nothing, an
    empty folder) is among them, so that its reader says so.

    Raises:
        DataNotFound: A folder cannot be read.
    """
    found: list[str] = []
    with on_disk(root):
        for folder, folders, files in os.walk(root, onerror=_unless_missing, followlinks=True):
            here = Path(folder)
            if not folders and not files and here.suffix in ENDINGS:
                found.append(here.relative_to(root).as_posix())
            found += (
                (here / file).relative_to(root).as_posix()
                for file in files
                if not file.startswith(".") and (file.endswith(ENDINGS) or (here / file).is_file())
            )
            folders[:] = [
                each
                for each in folders
                if not each.startswith(".") and not _leads_back(here / each)
            ]
    return sorted(found)


def _unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


def _leads_back(folder: Path) -> bool:
    """Whether it is a link to a folder that it is in."""
    return folder.is_symlink() and folder.parent.resolve().is_relative_to(folder.resolve())


def sha256(path: Path) -> str:
    """Return the sha256 of a file's content in hexadecimal, or an empty text if it is no file."""
    if not is_file(path):
        return ""
    with on_disk(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _folders_in(parent: Path) -> str:
    names = sorted(path.name for path in parent.glob("*/") if not path.name.startswith("."))
    return ", ".join(names) or "no folder at all"
