"""The files of a release in a folder: list, find, download, identify and verify them."""

import difflib
import fnmatch
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..errors import DataNotFound, HKCantoError, on_disk
from .releases import Registry, inside
from .tables import ENDINGS, is_file, no_file, read_bytes, refusal

if TYPE_CHECKING:
    from .downloads import GitHubSource


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that `DataFolder.verify` found.

    Attributes:
        file: Path in the folder.
        kind: `missing`; `changed` (not the recorded sha256); `extra` (not in the record);
            `unreadable` (it cannot be opened, or it has no record and cannot be data).
        detail: The problem in words.
    """

    file: str
    kind: Literal["missing", "changed", "extra", "unreadable"]
    detail: str


@dataclass(slots=True)
class DataFolder:
    """The files of one release in a folder.

    Attributes:
        name: The release's folder name, such as `hkmmlu`.
        kind: `local` (the user's folder), `sample`, `cache` (downloaded), or `own` (in the
            benchmark's folder).
        root: The folder that file paths start from. A hub data set has one per commit; before the
            first download it does not exist.
        recorded: Checksums and origins of the release's files; empty if they are not known.
        source: The source of missing files; None means that nothing is downloaded.
    """

    name: str
    kind: Literal["local", "sample", "cache", "own"]
    root: Path
    recorded: Registry = field(default_factory=dict)
    source: "GitHubSource | None" = None

    def fetch(self, files: Sequence[str] | None = None, *, progress: bool | None = None) -> None:
        """Download missing files, several in parallel; cheap if all are there.

        Args:
            files: Paths in the folder; None means the whole release.
            progress: Whether to draw a progress bar; None means when stderr is a terminal.

        Raises:
            DataNotFound: The release has no such file, or it cannot be read or stored.
            DataCorrupt: A downloaded file does not have the recorded content.
            NetworkUnavailable: A download is needed, and fails or is forbidden.
        """
        if self.source:
            self.source.fetch(self, files, progress)
            return
        for file in self.recorded if files is None else files:
            if not is_file(self.root / file):
                raise self.absent(file)

    def path(self, file: str) -> Path:
        """Return a file's path, downloading it if necessary; for many files, call `fetch` first.

        Args:
            file: Path in the folder, such as `mmlu/dev/anatomy_dev.csv`.

        Raises:
            DataNotFound, DataCorrupt, NetworkUnavailable: As `fetch`.
        """
        self.fetch([file])
        return self.root / file

    def files(self, pattern: str = "*") -> list[str]:
        """List the existing files, sorted, without downloading any.

        Args:
            pattern: Shell pattern for the path in the folder; `*` also matches slashes.

        Returns:
            Paths in the folder, without hidden files.

        Raises:
            DataNotFound: A folder cannot be read, or a link leads out of a benchmark's own folder.
        """
        links = self.kind in ("local", "cache")
        return fnmatch.filter(files_under(self.root, links=links), pattern)

    def revision(self, *files: str) -> str:
        """Name the version of some files, for the signature of a score.

        Args:
            files: Paths in the folder, downloaded if necessary; none means the whole release.

        Returns:
            `sample` for sample data; for a benchmark's own folder, the first 7 digits of the files'
            sha256. Otherwise the short ids of the files' commits, joined by `+`. Files in the
            user's folder that differ from the record are named by `local-` and 7 digits of their
            sha256.
        """
        if self.kind == "sample":
            return "sample"
        self.fetch(files or None)
        digests = [digest(self.root / file) for file in files or self.files()]
        if self.kind == "own":
            return hashlib.sha256("".join(digests).encode()).hexdigest()[:7]
        # By content, not by name: at another commit, the release may have other file names.
        pin_of = {entry.sha256: entry.commit[:7] for entry in self.recorded.values()}
        pins = {pin_of[each] for each in digests if each in pin_of}
        others = [each for each in digests if each not in pin_of]
        if len(others) > 1:
            others = [hashlib.sha256("".join(sorted(others)).encode()).hexdigest()]
        return "+".join(sorted(pins) + [f"local-{each[:7]}" for each in others])

    def verify(self) -> list[Problem]:
        """Compare every file with the record, without downloading any.

        Returns:
            The problems, in file order; none for the complete, unaltered release. Without a
            record, only files that cannot be data are reported.
        """
        if self.source and not self.recorded:
            where = self.source.home
            return [Problem("*", "missing", f"nothing has been downloaded to {where} yet")]
        there = set(self.files())
        problems = []
        for file in sorted(there | set(self.recorded)):
            entry, path = self.recorded.get(file), self.root / file
            try:
                if file not in there:
                    problems.append(Problem(file, "missing", f"{path} does not exist"))
                elif entry:
                    if (found := digest(path)) != entry.sha256:
                        what = refusal(read_bytes(path))
                        detail = what or f"its sha256 is {found}, not the recorded {entry.sha256}"
                        problems.append(Problem(file, "changed", detail))
                elif self.recorded:
                    problems.append(Problem(file, "extra", "the release has no such file"))
                elif what := refusal(read_bytes(path)):
                    problems.append(Problem(file, "unreadable", what))
            except HKCantoError as error:
                problems.append(Problem(file, "unreadable", str(error)))
        return problems

    def moved(self) -> str:
        """Say if the release has changed since it was downloaded.

        Returns:
            A sentence; an empty text if it has not, or if the source cannot be reached.
        """
        return self.source.moved() if self.source else ""

    def absent(self, file: str) -> DataNotFound:
        """Return the error for a missing file.

        Args:
            file: Path in the folder.
        """
        entry, path = self.recorded.get(file), self.root / file
        if entry and self.kind == "local":
            return DataNotFound(
                f"{path} {no_file(path)}. Unset HKCANTO_DATA_DIR to download it, or make it in a"
                f" clone of the release with `git show {entry.commit}:{entry.origin}`."
            )
        near = difflib.get_close_matches(file, {*self.recorded, *self.files()}, n=1)
        hint = f"Did you mean {near[0]}?" if near else "Check the name."
        return DataNotFound(f"{self.name} has no file {file!r} in {self.root}. {hint}")


def files_under(root: Path, *, links: bool = True) -> list[str]:
    """List the files below a folder, sorted, except `.git`, `.DS_Store`, the hub's `.cache` …

    Links are followed. Pipes, broken links and empty folders with a data file's name are included,
    so that their reader reports them.

    Args:
        root: The folder.
        links: Whether links may lead out of the folder.

    Raises:
        DataNotFound: A folder cannot be read, or a link leads out of the folder and must not.
    """
    found: list[str] = []
    with on_disk(root):
        for folder, folders, files in os.walk(root, onerror=_unless_missing, followlinks=True):
            here = Path(folder)
            for each in () if links else (*folders, *files):
                if not each.startswith(".") and (here / each).is_symlink():
                    name = (here / each).relative_to(root).as_posix()
                    inside(root, name, "A link in a benchmark's own folder", DataNotFound)
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
    """Return whether a folder is a link to a folder above it."""
    return folder.is_symlink() and folder.parent.resolve().is_relative_to(folder.resolve())


def digest(path: Path, like: str = "") -> str:
    """Return the hash of a file's content in hexadecimal; an empty text if there is no file.

    Args:
        path: The file.
        like: The hash to compare it with, which sets the kind: git's blob id for 40 digits, else
            sha256.
    """
    if not is_file(path):
        return ""
    with on_disk(path), path.open("rb") as file:
        head = b"blob %d\0" % os.fstat(file.fileno()).st_size
        blob = partial(hashlib.sha1, head, usedforsecurity=False)
        return hashlib.file_digest(file, blob if len(like) == 40 else hashlib.sha256).hexdigest()
