"""Download releases into the user's cache, safely in many processes at once.

A downloaded file counts only while its sha256 is the recorded one, looked at on every use (17 ms
for all 390 files of HKCanto-Eval), so no half-written or altered file is ever scored.
"""

import os
import re
import shutil
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from textwrap import shorten
from typing import ClassVar
from urllib.parse import quote

from ..errors import DataCorrupt, DataNotFound, HKCantoError, NetworkUnavailable
from .folders import DataFolder, Problem, files_under, sha256
from .releases import GitHubRelease, HubDataset, Registry, read_registry, recorded_files
from .tables import refusal

_CONNECTIONS = 8
# Seconds for a connection to open, and for each wait for more bytes. Nothing is tried twice: who
# has no network is to hear so at once, and files that did arrive stay for the next run.
_CONNECT_TIMEOUT = 3.05
_READ_TIMEOUT = 10.0


class CachedRelease(DataFolder):
    """Files in the user's cache, where one process at a time adds what is lacking."""

    mirror: ClassVar[str]
    """The environment variable that names another server."""

    server: ClassVar[str]
    """The server without it."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "cache")
        self._home = cache_folder() / name

    def fetch(self, files: Sequence[str] | None = None, *, progress: bool | None = None) -> None:
        """Download what is not there or not as recorded."""
        if not (lacking := self._lacking(files)):
            return
        for variable in ("HKCANTO_OFFLINE", "HF_HUB_OFFLINE"):
            if os.environ.get(variable, "").upper() in ("1", "ON", "TRUE", "YES"):
                raise self._unavailable(
                    f"{variable} forbids it, and {lacking[0]} is not in {self._home}"
                )
        from filelock import FileLock

        lock = FileLock(self._home / ".lock")
        try:
            self._home.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except OSError as error:
            raise DataNotFound(
                f"{self.name} cannot be kept in {self._home}: {error}. Set HKCANTO_CACHE to a"
                " folder that you may write to."
            ) from error
        try:
            # While this process waited, another may have fetched them.
            if lacking := self._lacking(files):
                self._download(lacking, progress)
                self._lacking(files)  # only now does a hub data set know its files' names
        finally:
            lock.release()

    @abstractmethod
    def _download(self, files: Sequence[str], progress: bool | None) -> None:
        """Download these files, replacing them if they exist; the caller holds the lock."""

    def _lacking(self, files: Sequence[str] | None) -> list[str]:
        recorded = self.recorded
        if absent := [file for file in files or () if file not in recorded]:
            raise self._absent(absent[0])
        return [
            file
            for file in (recorded if files is None else files)
            if sha256(self.root / file) != recorded[file].sha256
        ]

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

    def _failure(self, url: str, error: Exception) -> HKCantoError:
        """Say what a failed request means, whichever HTTP library raised the error."""
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status in (401, 404, 410):
            return DataNotFound(
                f"{url} is not on the server, or not public (HTTP {status}). Correct {self.mirror}"
                " if you set it, set HF_TOKEN for a gated data set, or set HKCANTO_DATA_DIR=<dir>"
                f" to use a copy in <dir>/{self.name}."
            )
        return self._unavailable(f"{type(error).__name__}: {shorten(str(error), 160)}")


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
        from tqdm import tqdm

        staging = self._home / ".partial"
        shutil.rmtree(staging, ignore_errors=True)  # of a process that was killed
        staging.mkdir()
        pool = ThreadPoolExecutor(_CONNECTIONS)
        jobs = [
            pool.submit(self._download_one, file, staging / str(number))
            for number, file in enumerate(files)
        ]
        try:
            for job in tqdm(
                as_completed(jobs),
                desc=f"Downloading {self.name}",
                total=len(jobs),
                unit="file",
                disable=None if progress is None else not progress,
            ):
                job.result()
        finally:
            pool.shutdown(cancel_futures=True)
            shutil.rmtree(staging, ignore_errors=True)

    def _download_one(self, file: str, staged: Path) -> None:
        from pooch import HTTPDownloader

        entry = self.recorded[file]
        url = f"{self._endpoint()}/{self._release.repository}/{entry.commit}/{quote(entry.origin)}"
        get = HTTPDownloader(timeout=(_CONNECT_TIMEOUT, _READ_TIMEOUT), chunk_size=1 << 16)
        try:
            get(url, str(staged), None)
        except OSError as error:
            if error.errno is not None:  # the disk's complaint; the network's have no number
                raise
            raise self._failure(url, error) from error
        if (digest := sha256(staged)) != entry.sha256:
            what = refusal(staged.read_bytes())
            raise DataCorrupt(
                f"{url} is not the file recorded as {file}: sha256 {digest}, expected"
                f" {entry.sha256}{f'; {what}' if what else ''}. It was not kept. Try again; if that"
                f" does not help, check {self.mirror} and your proxy, or set HKCANTO_DATA_DIR=<dir>"
                f" to use a good copy in <dir>/{self.name}."
            )
        target = self.root / file
        target.parent.mkdir(parents=True, exist_ok=True)
        staged.replace(target)


class CachedHub(CachedRelease):
    """A snapshot of a hub data set in the cache, and a registry made when it was complete.

    The registry's first line is the request and its second the commit: a request without a
    revision gets the same data each time, and another request does not get this one's.
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
        from huggingface_hub import HfApi

        commit = self._commit()
        try:
            info = HfApi(self._endpoint()).dataset_info(
                self._release.repo_id, revision=self._revision, timeout=_READ_TIMEOUT
            )
        except Exception:  # of whatever kind: nobody asked for the network
            return ""
        if not commit or info.sha == commit:
            return ""
        return (
            f"{self._revision or 'the default branch'} of {self._release.repo_id} is at"
            f" {str(info.sha)[:7]} now; what is here, and used, is {commit[:7]}. To take the new"
            f" one: {self._pin}={str(info.sha)[:7]}, or delete {self._registry}."
        )

    def _commit(self) -> str | None:
        try:
            request, commit, *_ = self._registry.read_text(encoding="utf-8").split("\n", 2)
        except FileNotFoundError:
            return None
        return commit.removeprefix("# ") if request == self._request else None

    def _lacking(self, files: Sequence[str] | None) -> list[str]:
        return super()._lacking(files) if self._commit() else ["the data set"]

    def _download(self, files: Sequence[str], progress: bool | None) -> None:
        from huggingface_hub import HfApi, snapshot_download

        del progress  # huggingface_hub draws its own
        commit = self._commit()
        for file in files if commit else ():
            (self.root / file).unlink(missing_ok=True)  # or the hub takes an altered file for good
        repo_id, endpoint = self._release.repo_id, self._endpoint()
        try:
            # Asked first because this one request, unlike a snapshot, is not tried again and again.
            revision = commit or self._revision
            info = HfApi(endpoint).dataset_info(repo_id, revision=revision, timeout=_READ_TIMEOUT)
            snapshot_download(
                repo_id,
                repo_type="dataset",
                revision=info.sha,
                local_dir=self._home / str(info.sha),
                allow_patterns=list(self._release.allow),
                endpoint=endpoint,
                max_workers=_CONNECTIONS,
            )
        except Exception as error:  # of requests, httpx or httpx2, depending on the hub's version
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise self._failure(f"{endpoint}/datasets/{repo_id}", error) from error
        self._write_registry(str(info.sha))

    def _write_registry(self, commit: str) -> None:
        root = self._home / commit
        if not files_under(root):
            raise DataNotFound(
                f"{self._release.repo_id} at {commit} has no file that matches"
                f" {', '.join(self._release.allow)}: its layout has changed. Set HKCANTO_DATA_DIR"
                f"=<dir> to use an older copy in <dir>/{self.name}."
            )
        lines = [f"{quote(file)} {sha256(root / file)}" for file in files_under(root)]
        partial = self._registry.with_suffix(".partial")
        partial.write_text("\n".join([self._request, f"# {commit}", *lines]), encoding="utf-8")
        partial.replace(self._registry)


def cache_folder() -> Path:
    """Return the folder in which downloads and what else is made once are kept."""
    if given := os.environ.get("HKCANTO_CACHE"):
        return Path(given).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("hkcanto")
