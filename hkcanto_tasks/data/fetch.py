"""The files of a release in a folder, and their download into the user's cache.

pooch downloads each file into a temporary folder; huggingface_hub lists the files of a hub data set
and authenticates the requests. A file is compared with the recorded hash and then moved into place,
so an incomplete or altered file is never scored. The hash is checked again at every use (17 ms for
all 390 files of HKCanto-Eval).

Threads that end with the process download the files. `snapshot_download` starts threads that Python
waits for at exit: a server that sends a byte a second would hold the command for hours. (Neither
library limits the time or the unpacked size of a download.)
"""

import base64
import hashlib
import logging
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any, Literal
from urllib.parse import quote, unquote

from ..errors import (
    DataCorrupt,
    DataNotFound,
    HKCantoError,
    NetworkUnavailable,
    did_you_mean,
    on_disk,
)
from .releases import HubDataset, RecordedFile, Registry, inside, read_registry
from .tables import is_file, no_file, read_bytes, refusal

_log = logging.getLogger("hkcanto")

_CACHE_REMEDY = (
    "Set HKCANTO_CACHE to a folder that you can write to, free disk space or empty it."
)
_COMMIT_ID = "[0-9a-f]{40}"
_TRUE_VALUES = ("1", "ON", "TRUE", "YES")
_CONNECTIONS = 8
_SILENT_WAIT = 2.0  # seconds of waiting for another process before it is logged
_TIMEOUT = (3.05, 10.0)  # seconds to wait for a connection, and for more bytes
# Some file must be complete after _GRACE seconds, plus one second for every _SLOWEST bytes of the
# largest one.
_GRACE = 60.0
_SLOWEST = 10 * 1024
_CUT_OFF = ("ChunkedEncodingError", "IncompleteRead", "ProtocolError")  # a connection
_BUSY = (429, 500, 502, 503, 504)  # status codes of a server
_WAITS = (1.0, 2.0, 4.0, 8.0)  # seconds before a busy server is asked again


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
    kind: str
    detail: str


@dataclass
class DataFolder:
    """The files of one release in an existing folder; nothing is downloaded.

    Attributes:
        name: The release's folder name, such as `hkmmlu`.
        kind: `local` (the user's folder), `sample`, `cache` (downloaded), or `own` (in the
            benchmark's folder).
        root: The folder that file paths start from. A hub data set has one per commit; before the
            first download it does not exist.
        recorded: Checksums and origins of the release's files; empty if they are not known.
        is_floating: Whether neither the declaration nor the user pins the data.
    """

    name: str
    kind: Literal["local", "sample", "cache", "own"]
    root: Path
    recorded: Registry = field(default_factory=dict)
    is_floating: bool = False

    def fetch(
        self,
        files: Sequence[str] | None = None,
        *,
        progress: bool = False,  # noqa: ARG002
    ) -> None:
        """Download missing files, several in parallel; cheap if all are there.

        Args:
            files: Paths in the folder; None means the whole release.
            progress: Whether to draw a progress bar even if stderr is not a terminal.

        Raises:
            DataNotFound: The release lacks the file, or it cannot be read or stored.
            DataCorrupt: A downloaded file does not have the recorded content.
            NetworkUnavailable: A download is needed, and fails or is forbidden.
        """
        for file in self.recorded if files is None else files:
            if not is_file(self.root / file):
                raise self.absent(file)

    def files(self) -> list[str]:
        """List the existing files, sorted, without downloading any.

        Links are followed, except to a folder above. Pipes and broken links are included, so that
        their reader reports them; hidden files, such as `.git` and the hub's `.cache`, are not.

        Returns:
            Paths in the folder.

        Raises:
            DataNotFound: A folder cannot be read, or a link leads out of a benchmark's own folder.
        """
        with on_disk(self.root):
            return sorted(self._below("")) if self.root.is_dir() else []

    def _below(self, folder: str) -> Iterator[str]:
        parent = self.root / folder
        for entry in [*os.scandir(parent)]:
            path = f"{folder}{entry.name}"
            if entry.name.startswith("."):
                continue
            is_link = entry.is_symlink()
            if is_link and self.kind in ("own", "sample"):
                inside(
                    self.root, path, "A link in a benchmark's own folder", DataNotFound
                )
            # Asking the system again whether each file is a folder would double the time.
            if not (Path(entry).is_dir() if is_link else entry.is_dir()):
                yield path
            elif not (is_link and _leads_above(Path(entry), parent)):
                yield from self._below(f"{path}/")

    def revision(
        self,
        *files: str,
        hashes: Mapping[str, str] | None = None,
    ) -> str:
        """Name the version of some files, for the signature of a score.

        A file is the recorded one only if it has the recorded content at the recorded path.

        Args:
            files: Paths in the folder, downloaded if necessary; none means the whole release.
            hashes: The sha256 of the files that have been read.

        Returns:
            `sample` for sample data; otherwise the short ids of the files' commits, joined by `+`.
            Files that are not as recorded are named by `local-` and the first 7 digits of the
            sha256 of what `sha256sum` prints for them, sorted by path. A benchmark's own files have
            these 7 digits alone.
        """
        if self.kind == "sample":
            return "sample"
        self.fetch(files or None)
        commits = set()
        changed = []  # as `sha256sum` prints them
        for file in sorted({*files} or self.files()):
            content = (hashes or {}).get(file) or digest(self.root / file)
            entry = self.recorded.get(file)
            if entry and entry.sha256 == content:
                commits.add(entry.commit[:7])
            else:
                changed.append(f"{content}  {file}\n")
        listed = "".join(changed).encode("utf-8", "surrogateescape")
        digits = hashlib.sha256(listed).hexdigest()[:7]
        if self.kind == "own":
            return digits
        local = [f"local-{digits}"] if changed else []
        return "+".join([*sorted(commits), *local])

    def verify(self) -> list[Problem]:
        """Compare every file with the record, without downloading any.

        Returns:
            The problems, in file order; none for the complete, unaltered release. Without a
            record, only files that cannot be data are reported.
        """
        if self.kind == "cache" and not self.recorded:
            detail = f"nothing is downloaded to {self.root.parent} yet"
            return [Problem("*", "missing", detail)]
        present = {*self.files()}
        problems = []
        for file in sorted(present | self.recorded.keys()):
            try:
                content = read_bytes(self.root / file)
            except HKCantoError as error:
                kind = "unreadable" if file in present else "missing"
                problems.append(Problem(file, kind, str(error)))
                continue
            problems.extend(self._problems(file, content))
        return problems

    def _problems(
        self,
        file: str,
        content: bytes,
    ) -> Iterator[Problem]:
        """Compare the content of a file with the record."""
        entry = self.recorded.get(file)
        reason = refusal(content)
        if entry:
            sha256 = hashlib.sha256(content).hexdigest()
            if sha256 != entry.sha256:
                hashes = f"its sha256 is {sha256}, not the recorded {entry.sha256}"
                yield Problem(file, "changed", reason or hashes)
        elif self.recorded:
            yield Problem(file, "extra", "it is not in the release")
        elif reason:
            yield Problem(file, "unreadable", reason)

    def absent(self, file: str) -> DataNotFound:
        """Return the error for a missing file.

        Args:
            file: Path in the folder.
        """
        entry = self.recorded.get(file)
        path = self.root / file
        if entry and self.kind == "local":
            return DataNotFound(
                f"{path} {no_file(path)}. Unset HKCANTO_DATA_DIR, or run "
                f"`git show {entry.commit}:{entry.origin}` in a clone of the release."
            )
        hint = did_you_mean(file, {*self.recorded, *self.files()}) or "Check the name."
        return DataNotFound(
            f"{self.name} has no file {file!r} in {self.root}. {hint.rstrip()}"
        )


def _leads_above(link: Path, folder: Path) -> bool:
    """Return whether a link leads to the folder that has it, or to one above."""
    target = link.resolve()
    parents = (folder, *folder.parents)
    return any(parent.resolve().is_relative_to(target) for parent in parents)


def digest(path: Path, like: str = "") -> str:
    """Return the hash of a file's content in hexadecimal; empty without a file.

    Args:
        path: The file.
        like: The hash to compare it with, which sets the kind: git's blob id for 40 digits,
            otherwise sha256.
    """
    if not is_file(path):
        return ""
    with on_disk(path), path.open("rb") as file:
        if len(like) != 40:
            return hashlib.file_digest(file, "sha256").hexdigest()
        size = os.fstat(file.fileno()).st_size
        blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        return hashlib.file_digest(file, lambda: blob).hexdigest()


class GitHubFolder(DataFolder):
    """A folder of the cache, filled from a GitHub repository; each file has its own commit.

    Args:
        name: The release's folder name.
        home: The release's folder in the cache; it need not exist yet.
        repo: `owner/name`.
        root: The folder of this version of the release in `home`.
        recorded: Checksums and origins of its files.

    Attributes:
        mirror: The environment variable that sets another server.
        server: The default server.
        address: The address of a file on the server: repository, commit, path.
    """

    mirror = "HKCANTO_GITHUB_ENDPOINT"
    server = "https://raw.githubusercontent.com"
    address = "{}/{}/{}"

    def __init__(
        self,
        name: str,
        home: Path,
        repo: str,
        root: Path,
        recorded: Registry,
    ) -> None:
        super().__init__(
            name,
            "cache",
            root,
            recorded,
        )
        self.home = home
        self.repository = repo
        self.partial = home / ".partial"

    def fetch(
        self, files: Sequence[str] | None = None, *, progress: bool = False
    ) -> None:
        """Download missing files, one process at a time; see `DataFolder.fetch`."""
        lacking = self.lacking(files)
        if not lacking:
            return
        if variable := forbidden():
            raise self.failure(
                f"{variable} forbids it, and {lacking[0]} is not in {self.home}. "
                f"Unset {variable} to download it"
            )
        with on_disk(self.home, "written", _CACHE_REMEDY):
            for folder in (self.home.parent, self.home):
                folder.mkdir(0o755, parents=True, exist_ok=True)
                safe_cache(folder)
            with self._locked():
                self.look()  # another process may have downloaded them meanwhile
                if lacking := self.lacking(files):
                    self._remove_partial()  # left by a killed process
                    self.partial.mkdir()
                    try:
                        self.fill(lacking, progress)
                    finally:
                        self._remove_partial()
            self.lacking(files)  # the names of a hub's files were not known before

    def _locked(self) -> AbstractContextManager[Any]:
        """Wait until no other process downloads the release; say so if it takes long."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.home / ".lock")
        try:
            return lock.acquire(timeout=_SILENT_WAIT)
        except Timeout:
            _log.warning(
                f"Waiting for another process to download {self.name}: it holds "
                f"{lock.lock_file}. If that process has ended, delete that file."
            )
            return lock.acquire()

    def _remove_partial(self) -> None:
        shutil.rmtree(self.partial, ignore_errors=True)

    def look(self) -> None:
        """Update the root and the record, which never change for a GitHub release."""

    def lacking(self, files: Sequence[str] | None) -> list[str]:
        """Return the files that are missing or not as recorded.

        Raises:
            DataNotFound: The release lacks a file.
        """
        if not self.recorded:
            return ["the data set"]
        wanted = self.recorded if files is None else files
        for file in wanted:
            if file not in self.recorded:
                raise self.absent(file)
        return [
            file
            for file in wanted
            if digest(self.root / file) != self.recorded[file].sha256
        ]

    def fill(
        self,
        lacking: Sequence[str],
        progress: bool,
    ) -> None:
        """Download these files, replacing them if they exist; the caller holds the lock."""
        self.download({file: self.recorded[file] for file in lacking}, {}, progress)

    def download(
        self,
        files: Registry,
        headers: Mapping[str, str],
        progress: bool,
    ) -> None:
        """Download files into a temporary folder, and move correct ones into the root."""
        from pooch import HTTPDownloader
        from tqdm import tqdm

        server, authorization = self.endpoint()
        request = HTTPDownloader(timeout=_TIMEOUT, headers={**headers, **authorization})

        def load(
            url: str,
            file: str,
            path: Path,
        ) -> None:
            target = self.inside(file)
            request(url, str(path), None)
            self._keep(
                path,
                target,
                files[file].sha256,
                url,
            )

        requests = []
        for number, (file, entry) in enumerate(files.items()):
            path = quote(entry.origin)
            address = self.address.format(self.repository, entry.commit, path)
            requests.append((f"{server}/{address}", file, self.partial / str(number)))
        largest = max((entry.size or 0 for entry in files.values()), default=0)
        arriving = self.receive(load, requests, largest)
        title = f"Downloading {self.name}"
        hidden = False if progress else None  # None: unless stderr is a terminal
        for _ in tqdm(
            arriving,
            title,
            len(files),
            unit="file",
            disable=hidden,
        ):
            pass

    def _keep(
        self,
        path: Path,
        target: Path,
        expected: str,
        url: str,
    ) -> None:
        """Move a downloaded file into its place, if its content is the expected one."""
        content = digest(path, expected)
        if expected and content != expected:
            reason = refusal(read_bytes(path)) or "another file"
            raise self.failure(
                f"{url} is not the file recorded for {target}: its hash is {content}, "
                f"expected {expected}; {reason}. It was not kept",
                DataCorrupt,
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)

    def inside(self, file: str) -> Path:
        """Return the local path of a file that the release lists."""
        return inside(
            self.root, file, f"the list of files of {self.repository}", DataCorrupt
        )

    def receive(
        self,
        load: Callable[..., Any],
        requests: Sequence[tuple[Any, ...]],
        largest: int = 0,
    ) -> Iterator[Any]:
        """Call a function of a library for several requests in parallel, and yield its answers.

        The thread of a silent server is abandoned: it ends by itself or with the process, and
        writes only to its temporary folder.

        Args:
            load: A function of an address and more.
            requests: Its arguments, the address first.
            largest: The size of the largest file.

        Raises:
            HKCantoError: A request fails, or none is complete for too long.
        """
        from multiprocessing import TimeoutError as NothingYet
        from multiprocessing.pool import ThreadPool

        patience = _GRACE + largest / _SLOWEST
        try:
            with ThreadPool(_CONNECTIONS) as pool:
                arriving = pool.imap_unordered(partial(self._patiently, load), requests)
                for _ in requests:
                    yield arriving.next(patience)
        except NothingYet as error:
            raise self.failure(
                f"it was too slow: nothing was complete in {patience:.0f} s"
            ) from error

    def _patiently(
        self,
        load: Callable[..., Any],
        request: tuple[Any, ...],
    ) -> Any:
        """Call a function of a library; ask a busy server again, and convert a network's error."""
        url = request[0]
        waits = iter(_WAITS)
        while True:
            try:
                return load(*request)
            except Exception as error:
                if isinstance(error, HKCantoError) or getattr(error, "errno", None):
                    raise  # an error of the network has no errno
                status = getattr(getattr(error, "response", None), "status_code", None)
                is_cut_off = type(error).__name__ in _CUT_OFF
                wait = next(waits, None) if is_cut_off or status in _BUSY else None
                if wait is None:
                    raise self._network_failure(url, error, status) from error
                fault = f"is busy (HTTP {status})" if status else "broke off"
                _log.warning(
                    "%s %s; asking again in %g s.",
                    url,
                    fault,
                    wait,
                )
                time.sleep(wait)

    def _network_failure(
        self,
        url: str,
        error: Exception,
        status: int | None,
    ) -> HKCantoError:
        """Return the error for a request that failed, by the status code of the answer."""
        advice = ""
        if status in (401, 403, 404):
            advice = ". A gated data set needs HF_TOKEN=<token>"
        if status in (401, 404, 410):
            reason = f"{url} is missing on the server or private (HTTP {status})"
            return self.failure(reason + advice, DataNotFound)
        reason = f"{url}: {type(error).__name__}: {shorten(str(error), 160)}"
        return self.failure(reason + advice)

    def endpoint(self) -> tuple[str, dict[str, str]]:
        """Return the server's URL, and headers with the user and password that it contained."""
        url = (os.environ.get(self.mirror) or self.server).rstrip("/")
        parts = re.fullmatch(r"(\w+://)([^/]*)@(.*)", url)
        if not parts:
            return url, {}
        scheme, user, address = parts.groups()
        secret = base64.b64encode(unquote(user).encode()).decode()
        return scheme + address, {"authorization": f"Basic {secret}"}

    def failure(
        self, reason: str, kind: type[HKCantoError] = NetworkUnavailable
    ) -> HKCantoError:
        """Return an error that says why a download failed and what to do."""
        return kind(
            f"cannot download {self.name} from {self.endpoint()[0]}: {reason.rstrip('.')}.\n"
            "Run it again later (downloaded files are kept), or set one of these:\n"
            f"  HKCANTO_DATA_DIR=<dir>: use a copy in <dir>/{self.name} without any network\n"
            "  HKCANTO_DATA=sample: use the sample data in the package to try things out\n"
            f"  {self.mirror}=<url>: download from a mirror\n"
            "  HTTPS_PROXY=<url>: go through a proxy"
        )


class HubFolder(GitHubFolder):
    """A folder of the cache for one commit of a hub data set, with a registry that is written last.

    The registry's first line has the request, its second the commit and the number of files. So a
    request without a revision gets the same data each time, and a different request gets its own
    data.

    Args:
        name: The release's folder name.
        home: The release's folder in the cache; it need not exist yet.
        release: The data set.
    """

    mirror = "HF_ENDPOINT"
    server = "https://huggingface.co"
    address = "datasets/{}/resolve/{}/{}"

    def __init__(
        self,
        name: str,
        home: Path,
        release: HubDataset,
    ) -> None:
        super().__init__(
            name,
            home,
            release.repo_id,
            home / "not-downloaded",
            {},
        )
        self._allow = release.allow
        self._commit = ""
        self._pin = revision_variable(name)
        self._revision = os.environ.get(self._pin) or release.revision or ""
        self.is_floating = not self._revision
        revision = quote(self._revision or "default", safe="")
        self._registry = inside(
            home, f"registry.{revision}.sha256", self._pin, DataNotFound
        )
        self._request = f"# {release.repo_id}@{revision} {' '.join(release.allow)}"
        self.look()

    def look(self) -> None:
        """Set the commit and the files from an earlier download of the same request, if any."""
        if not is_file(self._registry):
            return
        registry = read_bytes(self._registry).decode("utf-8", "replace")
        request, *lines = registry.split("\n")
        if lines and request != self._request:
            return
        head = re.fullmatch(rf"# ({_COMMIT_ID}) (\d+)", lines[0]) if lines else None
        if not head or int(head[2]) != len(lines) - 2:
            raise DataCorrupt(
                f"{self._registry} is truncated or damaged. Delete it and fetch again "
                f"(the newest data, unless {self._pin}=<commit> is set)."
            )
        self._commit = head[1]
        self.root = inside(self.home, self._commit, str(self._registry))
        self.recorded = read_registry(self._registry, commit=self._commit)

    def fill(self, lacking: Sequence[str], progress: bool) -> None:  # noqa: ARG002
        """Download all missing files of the commit, and record them."""
        from huggingface_hub import utils

        hub: Any = utils
        commit, listed = self._listed(self._commit or self._revision)
        names = sorted(hub.filter_repo_objects(listed, allow_patterns=[*self._allow]))
        if not names:
            patterns = ", ".join(self._allow)
            raise self.failure(
                f"{self.repository} at {commit} has no file that matches {patterns}: "
                "its layout has changed",
                DataNotFound,
            )
        self.root = inside(self.home, commit, str(self._registry))
        files: dict[str, RecordedFile] = {}
        for name in names:
            expected = (self.recorded.get(name) or listed[name]).sha256
            if not expected or digest(self.inside(name), expected) != expected:
                files[name] = replace(listed[name], sha256=expected)
        headers = {**hub.build_hf_headers(), "accept-encoding": "identity"}
        self.download(files, headers, progress)
        self._record(commit, names)
        self.look()

    def _record(
        self,
        commit: str,
        names: Sequence[str],
    ) -> None:
        """Write the registry of the complete files."""
        lines = [self._request, f"# {commit} {len(names)}"]
        for name in names:
            lines.append(f"{quote(name)} {digest(self.root / name)}")
        unfinished = self.partial / "registry"
        unfinished.write_text("\n".join([*lines, ""]), encoding="utf-8")
        unfinished.replace(self._registry)

    def _listed(self, revision: str) -> tuple[str, Registry]:
        """Ask the hub for the commit and the files of a revision."""
        from huggingface_hub import HfApi

        server, headers = self.endpoint()
        url = f"{server}/datasets/{self.repository}"
        request = partial(
            HfApi(server, headers=headers).dataset_info,
            self.repository,
            revision=revision or None,
            timeout=_TIMEOUT[1],
            files_metadata=True,
        )
        (info,) = self.receive(lambda _: request(), [(url,)])
        expected = revision if re.fullmatch(_COMMIT_ID, revision) else _COMMIT_ID
        if not re.fullmatch(expected, str(info.sha)):
            raise self.failure(
                f"{url} answers with commit {info.sha}, not with the requested one",
                DataCorrupt,
            )
        files = {}
        for file in info.siblings or ():
            content = file.lfs.sha256 if file.lfs else file.blob_id or ""
            size = file.lfs.size if file.lfs else file.size
            name = file.rfilename
            files[name] = RecordedFile(
                content,
                info.sha,
                name,
                size,
            )
        return info.sha, files


def forbidden() -> str:
    """Name the variable that forbids downloads; an empty text if none does."""
    for name in ("HKCANTO_OFFLINE", "HF_HUB_OFFLINE"):
        if os.environ.get(name, "").upper() in _TRUE_VALUES:
            return name
    return ""


def revision_variable(name: str) -> str:
    """Return the environment variable that pins a hub data set, by the name of its folder.

    Examples:
        >>> revision_variable("yue-mmlu")
        'HKCANTO_REVISION_YUE_MMLU'
    """
    return f"HKCANTO_REVISION_{re.sub('[^A-Z0-9]', '_', name.upper())}"


def safe_cache(folder: Path) -> Path:
    """Return a folder of the cache; refuse it if another user can change its contents.

    It holds the registries of hub data sets, and anyone who can write to one can change scores.

    Args:
        folder: The folder; it need not exist.

    Raises:
        DataNotFound: It belongs to another user, or any user may write to it.
    """
    with on_disk(folder, remedy=_CACHE_REMEDY):
        if not folder.exists():
            return folder
        state = folder.stat()
    if state.st_uid == os.getuid() and not state.st_mode & stat.S_IWOTH:
        return folder
    raise DataNotFound(
        f"the cache folder {folder} is not safe: another user may change it (its owner "
        f"is {state.st_uid}, its mode {stat.filemode(state.st_mode)}). "
        "Set HKCANTO_CACHE to a folder that only you may write to."
    )
