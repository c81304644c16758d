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

_REMEDY = (
    "Set HKCANTO_CACHE to a folder that you can write to, free disk space or empty it."
)
_COMMIT = "[0-9a-f]{40}"
_CONNECTIONS = 8
_SILENT_WAIT = 2.0  # seconds of waiting for another process before it is logged
_TIMEOUT = (3.05, 10.0)  # seconds to wait for a connection, and for more bytes
# Some file must be complete after _GRACE seconds, plus one second for every _SLOWEST bytes of the
# largest one.
_GRACE, _SLOWEST = 60.0, 10 * 1024
_CUT_OFF = ("ChunkedEncodingError", "IncompleteRead", "ProtocolError")  # a connection
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
    """The files of one release in a folder that is there; nothing is downloaded.

    Attributes:
        name: The release's folder name, such as `hkmmlu`.
        kind: `local` (the user's folder), `sample`, `cache` (downloaded), or `own` (in the
            benchmark's folder).
        root: The folder that file paths start from. A hub data set has one per commit; before the
            first download it does not exist.
        recorded: Checksums and origins of the release's files; empty if they are not known.
    """

    name: str
    kind: Literal["local", "sample", "cache", "own"]
    root: Path
    recorded: Registry = field(default_factory=dict)

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
        here = self.root / folder
        for entry in [*os.scandir(here)]:
            path = f"{folder}{entry.name}"
            if entry.name.startswith("."):
                continue
            if (is_link := entry.is_symlink()) and self.kind in ("own", "sample"):
                inside(
                    self.root, path, "A link in a benchmark's own folder", DataNotFound
                )
            above = (here, *here.parents) if is_link else ()
            if not (Path(entry).is_dir() if is_link else entry.is_dir()):
                yield path
            elif not any(
                one.resolve().is_relative_to(os.path.realpath(entry)) for one in above
            ):
                yield from self._below(f"{path}/")

    def revision(self, *files: str, hashes: Mapping[str, str] | None = None) -> str:
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
        commits, others = set(), []
        for file in sorted({*files} or self.files()):
            content = (hashes or {}).get(file) or digest(self.root / file)
            entry = self.recorded.get(file)
            if entry and entry.sha256 == content:
                commits.add(entry.commit[:7])
            else:
                others.append(f"{content}  {file}\n")
        listed = hashlib.sha256(
            "".join(others).encode("utf-8", "surrogateescape")
        ).hexdigest()[:7]
        if self.kind == "own":
            return listed
        return "+".join([*sorted(commits), *([f"local-{listed}"] if others else [])])

    def verify(self) -> list[Problem]:
        """Compare every file with the record, without downloading any.

        Returns:
            The problems, in file order; none for the complete, unaltered release. Without a
            record, only files that cannot be data are reported.
        """
        if self.kind == "cache" and not self.recorded:
            return [
                Problem(
                    "*", "missing", f"nothing is downloaded to {self.root.parent} yet"
                )
            ]
        present, problems = {*self.files()}, []
        for file in sorted(present | {*self.recorded}):
            try:
                content = read_bytes(self.root / file)
            except HKCantoError as error:
                kind = "unreadable" if file in present else "missing"
                problems.append(Problem(file, kind, str(error)))
                continue
            entry, reason = self.recorded.get(file), refusal(content)
            if self.recorded and not entry:
                problems.append(Problem(file, "extra", "it is not in the release"))
            elif (
                entry and (found := hashlib.sha256(content).hexdigest()) != entry.sha256
            ):
                detail = (
                    reason or f"its sha256 is {found}, not the recorded {entry.sha256}"
                )
                problems.append(Problem(file, "changed", detail))
            elif reason and not entry:
                problems.append(Problem(file, "unreadable", reason))
        return problems

    def absent(self, file: str) -> DataNotFound:
        """Return the error for a missing file.

        Args:
            file: Path in the folder.
        """
        entry, path = self.recorded.get(file), self.root / file
        if entry and self.kind == "local":
            remedy = f"Unset HKCANTO_DATA_DIR, or run `git show {entry.commit}:{entry.origin}`"
            return DataNotFound(
                f"{path} {no_file(path)}. {remedy} in a clone of the release."
            )
        hint = did_you_mean(file, {*self.recorded, *self.files()}) or "Check the name."
        return DataNotFound(
            f"{self.name} has no file {file!r} in {self.root}. {hint.rstrip()}"
        )


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
        return hashlib.file_digest(
            file, blob if len(like) == 40 else hashlib.sha256
        ).hexdigest()


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
        self, name: str, home: Path, repo: str, root: Path, recorded: Registry
    ) -> None:
        super().__init__(name, "cache", root, recorded)
        self.home, self.repository, self.partial = home, repo, home / ".partial"

    def fetch(
        self, files: Sequence[str] | None = None, *, progress: bool = False
    ) -> None:
        """Download missing files, one process at a time; see `DataFolder.fetch`."""
        if not (lacking := self.lacking(files)):
            return
        if variable := forbidden():
            raise self.failure(
                f"{variable} forbids it, and {lacking[0]} is not in {self.home}"
            )
        from filelock import FileLock, Timeout

        lock = FileLock(self.home / ".lock")
        with on_disk(self.home, "written", _REMEDY):
            for place in (self.home.parent, self.home):
                place.mkdir(0o755, parents=True, exist_ok=True)
                own_cache(place)
            try:
                held = lock.acquire(timeout=_SILENT_WAIT)
            except Timeout:
                why = f"it holds {lock.lock_file}. If there is no such process, delete that file"
                _log.warning(
                    f"Waiting for another process to download {self.name}: {why}."
                )
                held = lock.acquire()
            with held:
                self.look()  # while this process waited, another may have fetched them
                if lacking := self.lacking(files):
                    shutil.rmtree(
                        self.partial, ignore_errors=True
                    )  # left by a killed process
                    self.partial.mkdir()
                    try:
                        self.fill(lacking, progress)
                    finally:
                        shutil.rmtree(self.partial, ignore_errors=True)
            self.lacking(files)  # the names of a hub's files were not known before

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

    def fill(self, lacking: Sequence[str], progress: bool) -> None:
        """Download these files, replacing them if they exist; the caller holds the lock."""
        self.download({file: self.recorded[file] for file in lacking}, {}, progress)

    def download(
        self, files: Registry, headers: Mapping[str, str], progress: bool
    ) -> None:
        """Download files into a temporary folder, and move correct ones into the root."""
        from pooch import HTTPDownloader
        from tqdm import tqdm

        server, secret = self.endpoint()
        download = HTTPDownloader(timeout=_TIMEOUT, headers={**headers, **secret})

        def load(url: str, file: str, path: Path) -> None:
            expected, target = files[file].sha256, self.inside(file)
            download(url, str(path), None)
            if expected not in ("", content := digest(path, expected)):
                what = refusal(read_bytes(path)) or "another file"
                hashes = f"its hash is {content}, expected {expected}; {what}. It was not kept"
                why = f"{url} is not the file recorded for {target}: {hashes}"
                raise self.failure(why, DataCorrupt)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)

        requests = []
        for number, (file, entry) in enumerate(files.items()):
            path = self.address.format(
                self.repository, entry.commit, quote(entry.origin)
            )
            requests.append((f"{server}/{path}", file, self.partial / str(number)))
        largest = max((entry.size or 0 for entry in files.values()), default=0)
        arriving, title = (
            self.receive(load, requests, largest),
            f"Downloading {self.name}",
        )
        hidden = False if progress else None  # None: unless stderr is a terminal
        for _ in tqdm(arriving, title, len(files), unit="file", disable=hidden):
            pass

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

        The thread of a server that stays silent is not waited for: it ends by itself or with the
        process, and writes only to its temporary folder.

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
            why = f"it was too slow: nothing was complete in {patience:.0f} s"
            raise self.failure(why) from error

    def _patiently(self, load: Callable[..., Any], request: tuple[Any, ...]) -> Any:
        """Call a function of a library; ask a busy server again, and convert a network's error."""
        waits, url = iter(_WAITS), request[0]
        while True:
            try:
                return load(*request)
            except Exception as error:
                if isinstance(error, HKCantoError) or getattr(error, "errno", None):
                    raise  # an error of the network has no errno
                status = getattr(getattr(error, "response", None), "status_code", None)
                is_cut = type(error).__name__ in _CUT_OFF
                may_pass = is_cut or status in (429, 500, 502, 503, 504)
                if may_pass and (wait := next(waits, None)) is not None:
                    what = f"is busy (HTTP {status})" if status else "broke off"
                    _log.warning("%s %s; asking again in %g s.", url, what, wait)
                    time.sleep(wait)
                    continue
                kind: type[HKCantoError] = NetworkUnavailable
                why = f"{url}: {type(error).__name__}: {shorten(str(error), 160)}"
                if status in (401, 404, 410):
                    kind = DataNotFound
                    why = f"{url} is not on the server, or not public (HTTP {status})"
                if status in (401, 403, 404):
                    why += ". A gated data set needs HF_TOKEN=<token>"
                raise self.failure(why, kind) from error

    def endpoint(self) -> tuple[str, dict[str, str]]:
        """Return the server's URL, and headers with the user and password that it contained."""
        given = (os.environ.get(self.mirror) or self.server).rstrip("/")
        if not (parts := re.fullmatch(r"(\w+://)([^/]*)@(.*)", given)):
            return given, {}
        secret = base64.b64encode(unquote(parts[2]).encode()).decode()
        return parts[1] + parts[3], {"authorization": f"Basic {secret}"}

    def failure(
        self, why: str, kind: type[HKCantoError] = NetworkUnavailable
    ) -> HKCantoError:
        """Return an error that says why a download failed and what to do."""
        return kind(
            f"cannot download {self.name} from {self.endpoint()[0]}: {why.rstrip('.')}.\n"
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

    def __init__(self, name: str, home: Path, release: HubDataset) -> None:
        super().__init__(name, home, release.repo_id, home / "not-downloaded", {})
        self._allow, self._commit, self._pin = (
            release.allow,
            "",
            revision_variable(name),
        )
        self._revision = os.environ.get(self._pin) or release.revision or ""
        named = quote(self._revision or "default", safe="")
        self._registry = inside(
            home, f"registry.{named}.sha256", self._pin, DataNotFound
        )
        self._request = f"# {release.repo_id}@{named} {' '.join(release.allow)}"
        self.look()

    def look(self) -> None:
        """Set the commit and the files from an earlier download of the same request, if any."""
        if not is_file(self._registry):
            return
        request, *lines = (
            read_bytes(self._registry).decode("utf-8", "replace").split("\n")
        )
        if lines and request != self._request:
            return
        head = re.fullmatch(rf"# ({_COMMIT}) (\d+)", lines[0]) if lines else None
        if not head or int(head[2]) != len(lines) - 2:
            why = f"{self._registry} is truncated or damaged. Delete it and fetch again"
            raise DataCorrupt(
                f"{why} (the newest data, unless {self._pin}=<commit> is set)."
            )
        self._commit = head[1]
        self.root = inside(self.home, self._commit, str(self._registry))
        self.recorded = read_registry(self._registry, commit=self._commit)

    def fill(self, lacking: Sequence[str], progress: bool) -> None:  # noqa: ARG002
        """Download all missing files of the commit, and record them."""
        from huggingface_hub import utils

        hub: Any = utils
        commit, listed = self._ask(self._commit or self._revision)
        names = sorted(hub.filter_repo_objects(listed, allow_patterns=[*self._allow]))
        if not names:
            why = f"{self.repository} at {commit} has no file that matches {', '.join(self._allow)}"
            raise self.failure(f"{why}: its layout has changed", DataNotFound)
        self.root = inside(self.home, commit, str(self._registry))
        files: dict[str, RecordedFile] = {}
        for name in names:
            expected = (self.recorded.get(name) or listed[name]).sha256
            if not expected or digest(self.inside(name), expected) != expected:
                files[name] = replace(listed[name], sha256=expected)
        headers = {**hub.build_hf_headers(), "accept-encoding": "identity"}
        self.download(files, headers, progress)
        lines = [self._request, f"# {commit} {len(names)}"]
        lines += [f"{quote(name)} {digest(self.root / name)}" for name in names]
        unfinished = self.partial / "registry"
        unfinished.write_text("\n".join([*lines, ""]), encoding="utf-8")
        unfinished.replace(self._registry)
        self.look()

    def _ask(self, revision: str) -> tuple[str, Registry]:
        """Ask the hub for the commit and the files of a revision."""
        from huggingface_hub import HfApi

        server, headers = self.endpoint()
        ask = partial(HfApi(server, headers=headers).dataset_info, self.repository)
        ask = partial(
            ask, revision=revision or None, timeout=_TIMEOUT[1], files_metadata=True
        )
        url = f"{server}/datasets/{self.repository}"
        (info,) = self.receive(lambda _: ask(), [(url,)])
        expected = revision if re.fullmatch(_COMMIT, revision) else _COMMIT
        if not re.fullmatch(expected, str(info.sha)):
            why = f"{url} answers with commit {info.sha}, not with the requested one"
            raise self.failure(why, DataCorrupt)
        files = {}
        for file in info.siblings or ():
            content, size = file.blob_id or "", file.size
            if file.lfs:
                content, size = file.lfs.sha256, file.lfs.size
            files[file.rfilename] = RecordedFile(
                content, info.sha, file.rfilename, size
            )
        return info.sha, files


def forbidden() -> str:
    """Name the variable that forbids downloads; an empty text if none does."""
    names, yes = ("HKCANTO_OFFLINE", "HF_HUB_OFFLINE"), ("1", "ON", "TRUE", "YES")
    return next((name for name in names if os.environ.get(name, "").upper() in yes), "")


def revision_variable(name: str) -> str:
    """Return the environment variable that pins a hub data set, by the name of its folder.

    Examples:
        >>> revision_variable("yue-mmlu")
        'HKCANTO_REVISION_YUE_MMLU'
    """
    return f"HKCANTO_REVISION_{re.sub('[^A-Z0-9]', '_', name.upper())}"


def own_cache(folder: Path) -> Path:
    """Return a folder of the cache; refuse it if another user can change its contents.

    It holds the registries of hub data sets, and anyone who can write to one can change scores.

    Args:
        folder: The folder; it need not exist.

    Raises:
        DataNotFound: It belongs to another user, or any user may write to it.
    """
    with on_disk(folder, remedy=_REMEDY):
        if not folder.exists():
            return folder
        state = folder.stat()
    if state.st_uid == os.getuid() and not state.st_mode & stat.S_IWOTH:
        return folder
    seen = f"its owner is {state.st_uid}, its mode {stat.filemode(state.st_mode)}"
    why = f"the cache folder {folder} is not safe: another user may change it ({seen})"
    raise DataNotFound(
        f"{why}. Set HKCANTO_CACHE to a folder that only you may write to."
    )
