"""Download releases into the user's cache, safely in many processes at once.

A downloaded file counts only while its sha256 is the recorded one, looked at on every use (17 ms
for all 390 files of HKCanto-Eval), so no half-written or altered file is ever scored.
"""

import hashlib
import logging
import os
import re
import shutil
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath
from textwrap import shorten
from typing import Annotated, ClassVar
from urllib.parse import quote

import msgspec

from ..errors import DataCorrupt, DataNotFound, HKCantoError, NetworkUnavailable, on_disk
from .folders import DataFolder, Problem, sha256
from .releases import GitHubRelease, HubDataset, Registry, read_registry, recorded_files
from .tables import is_file, read_bytes, refusal
from .transfers import TRIES, Transfer, receive

_log = logging.getLogger("hkcanto")

_REMEDY = (
    "Set HKCANTO_CACHE to a folder that you may write to, or make room, or take away what is in its"
    " place."
)
_SILENT_WAIT = 2.0
"""Seconds that another process is waited for before that is said."""


class CachedRelease(DataFolder):
    """Files in the user's cache, where one process at a time adds what is lacking."""

    mirror: ClassVar[str]
    """The environment variable that names another server."""

    server: ClassVar[str]
    """The server without it."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "cache")
        self._home = cache_folder() / name
        self._partial = self._home / ".partial"

    def fetch(self, files: Sequence[str] | None = None, *, progress: bool | None = None) -> None:
        """Download what is not there or not as recorded."""
        if not (lacking := self._lacking(files)):
            return
        if variable := self._forbidden():
            raise self._unavailable(
                f"{variable} forbids it, and {lacking[0]} is not in {self._home}"
            )
        from filelock import FileLock, Timeout

        lock = FileLock(self._home / ".lock")
        with on_disk(self._home, "written", _REMEDY):
            self._home.mkdir(parents=True, exist_ok=True)
            try:
                lock.acquire(timeout=_SILENT_WAIT)
            except Timeout:
                _log.warning(
                    "Waiting until another process has downloaded %s: it holds %s. If there is no"
                    " such process, stop this one, delete that file and start again;"
                    " HKCANTO_CACHE=<dir> uses another folder.",
                    *(self.name, lock.lock_file),
                )
                lock.acquire(timeout=-1)
            try:
                # While this process waited, another may have fetched them.
                if lacking := self._lacking(files):
                    shutil.rmtree(self._partial, ignore_errors=True)  # of one that was killed
                    self._partial.mkdir()
                    self._download(lacking, progress)
                    self._lacking(files)  # only now does a hub data set know its files' names
            finally:
                shutil.rmtree(self._partial, ignore_errors=True)
                lock.release()

    @abstractmethod
    def _download(self, files: Sequence[str], progress: bool | None) -> None:
        """Download these files, replacing them if they exist; the caller holds the lock."""

    def _receive(self, transfers: Sequence[Transfer], progress: bool | None) -> None:
        """Download files into the folder of what is partial, and move each that is whole."""
        from tqdm import tqdm

        bar = tqdm(
            desc=f"Downloading {self.name}",
            total=len(transfers),
            unit="file",
            disable=None if progress is None else not progress,
        )
        with bar, closing(receive(transfers)) as arriving:
            for each in arriving:
                self._check(each)
                if each.sha256 not in ("", digest := sha256(each.path)):
                    what = refusal(read_bytes(each.path))
                    raise DataCorrupt(
                        f"{each.url} is not the file recorded for {each.target}: sha256 {digest},"
                        f" expected {each.sha256}{f'; {what}' if what else ''}. It was not kept."
                        f" Try again; if that does not help, check {self.mirror} and your proxy, or"
                        f" set HKCANTO_DATA_DIR=<dir> to use a good copy in <dir>/{self.name}."
                    )
                each.target.parent.mkdir(parents=True, exist_ok=True)
                each.path.replace(each.target)
                bar.update()

    def _check(self, transfer: Transfer) -> None:
        """Raise what a transfer failed of, if it did."""
        error, url = transfer.error, transfer.url.partition("?")[0]
        if error is None:
            return
        if isinstance(error, HKCantoError) or (isinstance(error, OSError) and error.errno):
            raise error  # ours, or the disk's complaint: the network's have no number
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status in (401, 404, 410):
            raise DataNotFound(
                f"{url} is not on the server, or not public (HTTP {status}). Correct {self.mirror}"
                " if you set it, set HF_TOKEN for a gated data set, or set HKCANTO_DATA_DIR=<dir>"
                f" to use a copy in <dir>/{self.name}."
            ) from error
        said = f"{type(error).__name__}: {shorten(str(error), 160)}"
        raise self._unavailable(said if url in said else f"{url}: {said}") from error

    def _lacking(self, files: Sequence[str] | None) -> list[str]:
        recorded = self.recorded
        if absent := [file for file in files or () if file not in recorded]:
            raise self._absent(absent[0])
        return [
            file
            for file in (recorded if files is None else files)
            if sha256(self.root / file) != recorded[file].sha256
        ]

    def _forbidden(self) -> str:
        """Name the variable that forbids downloads, if one does."""
        return next(
            (
                variable
                for variable in ("HKCANTO_OFFLINE", "HF_HUB_OFFLINE")
                if os.environ.get(variable, "").upper() in ("1", "ON", "TRUE", "YES")
            ),
            "",
        )

    def _endpoint(self) -> str:
        return (os.environ.get(self.mirror) or self.server).rstrip("/")

    def _unavailable(self, why: str) -> NetworkUnavailable:
        return NetworkUnavailable(
            f"cannot download {self.name} from {self._endpoint()}: {why.rstrip('.')}.\n"
            "Run it again later (files that did arrive are kept), or set one of these:\n"
            f"  HKCANTO_DATA_DIR=<dir>: use a copy in <dir>/{self.name} without any network\n"
            "  HKCANTO_DATA=sample: try things with the small data set in the package\n"
            f"  {self.mirror}=<url>: download from a mirror\n"
            "  HTTPS_PROXY=<url>: go through a proxy"
        )


class CachedGitHub(CachedRelease):
    """Files of a GitHub repository, each from its own commit, in the cache."""

    mirror = "HKCANTO_GITHUB_ENDPOINT"
    server = "https://raw.githubusercontent.com"

    def __init__(self, name: str, release: GitHubRelease, home: str) -> None:
        super().__init__(name)
        self._release, self._benchmark = release, home

    @property
    def root(self) -> Path:
        """A folder per commit, so that versions of the package do not undo each other's work."""
        return self._home / self._release.commit[:7]

    @property
    def recorded(self) -> Registry:
        """The registry in the benchmark's folder."""
        return recorded_files(self._release, self._benchmark)

    def _download(self, files: Sequence[str], progress: bool | None) -> None:
        recorded, server = self.recorded, f"{self._endpoint()}/{self._release.repository}"
        self._receive(
            [
                Transfer(
                    f"{server}/{recorded[file].commit}/{quote(recorded[file].origin)}",
                    self._partial / str(number),
                    self.root / file,
                    recorded[file].sha256,
                )
                for number, file in enumerate(files)
            ],
            progress,
        )


class _Object(msgspec.Struct):
    size: int
    sha256: str


class _Sibling(msgspec.Struct):
    rfilename: str
    blob: str = msgspec.field(name="blobId", default="")
    size: int | None = None
    lfs: _Object | None = None

    def is_at(self, path: Path) -> bool:
        """Whether this file is there, as by a fetch that failed later on."""
        if self.lfs:
            return sha256(path) == self.lfs.sha256
        content = read_bytes(path) if is_file(path) else b""
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() == self.blob


class _Commit(msgspec.Struct):
    """What a hub says of a commit of a data set."""

    sha: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{40}$")]
    siblings: list[_Sibling] = []


class CachedHub(CachedRelease):
    """A snapshot of a hub data set in the cache, and a registry made when it was complete.

    The registry's first line is the request, its second the commit and the number of files: a
    request without a revision gets the same data each time, and another request does not get this
    one's. The files come as those of GitHub do, because huggingface_hub sets no limit to the time
    and size of a file.
    """

    mirror = "HF_ENDPOINT"
    server = "https://huggingface.co"

    def __init__(self, name: str, release: HubDataset) -> None:
        super().__init__(name)
        self._release = release
        self._pin = f"HKCANTO_REVISION_{re.sub('[^A-Z0-9]', '_', name.upper())}"
        self._revision = os.environ.get(self._pin) or release.revision
        named = quote(self._revision or "default", safe="")
        self._registry = self._home / f"registry.{named}.sha256"
        self._request = f"# {release.repo_id}@{named} {' '.join(release.allow)}"

    @property
    def root(self) -> Path:
        """A folder per commit; while that is not known, one that does not exist."""
        return self._home / (self._commit() or "not-downloaded")

    @property
    def recorded(self) -> Registry:
        """The registry made after the download."""
        commit = self._commit()
        return read_registry(self._registry, commit=commit) if commit else {}

    def verify(self) -> list[Problem]:
        """Compare every file with what was downloaded."""
        if not self._commit():
            return [Problem("*", "missing", f"nothing is downloaded to {self._home} yet")]
        return super().verify()

    def moved(self) -> str:
        """Say that the branch or tag leads to another commit now; nothing without a network."""
        commit = self._commit()
        try:
            now = "" if self._forbidden() else self._ask(tries=1).sha
        except HKCantoError:  # nobody asked for the network
            return ""
        if not commit or now in ("", commit):
            return ""
        return (
            f"{self._revision or 'the default branch'} of {self._release.repo_id} is at"
            f" {now[:7]} now; what is here, and used, is {commit[:7]}. To take the new"
            f" one: {self._pin}={now[:7]}, or delete {self._registry}."
        )

    def _commit(self) -> str | None:
        if not is_file(self._registry):
            return None
        request, *lines = read_bytes(self._registry).decode("utf-8", "replace").split("\n")
        if lines and request != self._request:
            return None
        named = re.fullmatch(r"# ([0-9a-f]{40})(?: (\d+))?", lines[0]) if lines else None
        if not named or int(named[2] or len(lines) - 2) != len(lines) - 2:
            raise DataCorrupt(
                f"{self._registry} was cut or damaged. Delete it and fetch again (which takes"
                f" {self._revision or 'the default branch'} as it is then, unless"
                f" {self._pin}=<commit> is set)."
            )
        return named[1]

    def _lacking(self, files: Sequence[str] | None) -> list[str]:
        return super()._lacking(files) if self._commit() else ["the data set"]

    def _ask(self, tries: int = TRIES) -> _Commit:
        """Ask the hub for the commit that is wanted, and its files."""
        revision = f"/revision/{quote(self._revision, safe='')}" if self._revision else ""
        url = f"{self._endpoint()}/api/datasets/{self._release.repo_id}{revision}?blobs=true"
        asked = Transfer(url, headers=_token(), tries=tries)
        for _ in receive([asked]):
            self._check(asked)
        try:
            return msgspec.json.decode(asked.content, type=_Commit)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise self._unavailable(f"{url} does not answer as a hub does ({error})") from error

    def _download(self, files: Sequence[str], progress: bool | None) -> None:
        commit = self._commit()
        if commit:
            self._receive(self._transfers(commit, dict.fromkeys(files)), progress)
            return
        from huggingface_hub.utils import filter_repo_objects  # type: ignore[attr-defined]

        now = self._ask()
        there = {each.rfilename: each for each in now.siblings}
        files = [*filter_repo_objects(there, allow_patterns=[*self._release.allow])]
        if not files:
            raise DataNotFound(
                f"{self._release.repo_id} at {now.sha} has no file that matches"
                f" {', '.join(self._release.allow)}: its layout has changed. Set HKCANTO_DATA_DIR"
                f"=<dir> to use an older copy in <dir>/{self.name}."
            )
        root = self._home / now.sha
        lacking = {
            file: (there[file].lfs or there[file]).size
            for file in files
            if not there[file].is_at(root / file)
        }
        self._receive(self._transfers(now.sha, lacking), progress)
        lines = [f"{quote(file)} {sha256(root / file)}\n" for file in sorted(files)]
        partial = self._partial / "registry"
        head = f"{self._request}\n# {now.sha} {len(lines)}\n"
        partial.write_text(head + "".join(lines), encoding="utf-8")
        partial.replace(self._registry)

    def _transfers(self, commit: str, sizes: Mapping[str, int | None]) -> list[Transfer]:
        if wrong := [file for file in sizes if {"..", "/"} & {*PurePosixPath(file).parts}]:
            raise DataCorrupt(f"{self._release.repo_id} names a file outside: {wrong[0]!r}.")
        where, recorded = f"{self._endpoint()}/datasets/{self._release.repo_id}", self.recorded
        return [
            Transfer(
                f"{where}/resolve/{commit}/{quote(file)}",
                self._partial / str(number),
                self._home / commit / file,
                recorded[file].sha256 if recorded else "",
                size,
                _token(),
            )
            for number, (file, size) in enumerate(sizes.items())
        ]


def _token() -> Mapping[str, str]:
    """Return the headers that show a hub who asks."""
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    headers: Mapping[str, str] = build_hf_headers()
    return headers


def cache_folder() -> Path:
    """Return the folder in which downloads and what else is made once are kept."""
    if given := os.environ.get("HKCANTO_CACHE"):
        return Path(given).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("hkcanto")
