"""Download releases into the user's cache, safely in many processes at once.

A downloaded file counts only while its sha256 is the recorded one, looked at on every use (17 ms
for all 390 files of HKCanto-Eval), so no half-written or altered file is ever scored.
"""

import json
import logging
import os
import re
import shutil
import stat
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote, unquote

from ..errors import DataCorrupt, DataNotFound, HKCantoError, NetworkUnavailable, on_disk
from .folders import digest
from .releases import GitHubRelease, HubDataset, RecordedFile, Registry, inside, read_registry
from .tables import is_file, read_bytes, refusal
from .transfers import TRIES, Transfer, receive

if TYPE_CHECKING:
    from .folders import DataFolder

_log = logging.getLogger("hkcanto")

_REMEDY = (
    "Set HKCANTO_CACHE to a folder that you may write to, or make room, or take away what is in its"
    " place."
)
_SILENT_WAIT = 2.0
"""Seconds that another process is waited for before that is said."""
_COMMIT = "[0-9a-f]{40}"


class Source(ABC):
    """A server that fills a folder of the cache, where one process at a time adds what is lacking.

    Args:
        name: The release's folder name.
        home: The release's folder in the cache; it need not exist yet.
    """

    mirror: ClassVar[str]
    """The environment variable that names another server."""

    server: ClassVar[str]
    """The server without it."""

    def __init__(self, name: str, home: Path) -> None:
        self.name, self.home = name, home
        self.partial = home / ".partial"

    def fetch(
        self, folder: "DataFolder", files: Sequence[str] | None, progress: bool | None
    ) -> None:
        """Download what is not there or not as recorded; see `DataFolder.fetch`."""
        if not (lacking := self._lacking(folder, files)):
            return
        if variable := forbidden():
            raise self.unavailable(f"{variable} forbids it, and {lacking[0]} is not in {self.home}")
        from filelock import FileLock, Timeout

        lock = FileLock(self.home / ".lock")
        with on_disk(self.home, "written", _REMEDY):
            for each in (self.home.parent, self.home):
                each.mkdir(0o755, parents=True, exist_ok=True)
                own_cache(each)
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
                self.look(folder)
                if lacking := self._lacking(folder, files):
                    shutil.rmtree(self.partial, ignore_errors=True)  # of one that was killed
                    self.partial.mkdir()
                    self.fill(folder, lacking, progress)
                    self._lacking(folder, files)  # only now are the names of a hub's files known
            finally:
                shutil.rmtree(self.partial, ignore_errors=True)
                lock.release()

    @abstractmethod
    def look(self, folder: "DataFolder") -> None:
        """Tell a folder its root and its record, as they are now."""

    @abstractmethod
    def fill(self, folder: "DataFolder", files: Sequence[str], progress: bool | None) -> None:
        """Download these files, replacing them if they exist; the caller holds the lock."""

    def moved(self) -> str:
        """Say that the release is another now; a release at a fixed commit never is."""
        return ""

    def download(
        self,
        root: Path,
        files: Registry,
        progress: bool | None,
        *,
        address: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Download files beside the folder, and move each into it that is whole and as recorded.

        Args:
            root: The folder.
            files: Path in the folder → what it must be.
            progress: As for `DataFolder.fetch`.
            address: The address of a file on the server, with `{commit}` and `{file}`.
            headers: The requests' headers.
        """
        from tqdm import tqdm

        server, auth = self.endpoint()
        wanted = {
            Transfer(
                server + address.format(commit=entry.commit, file=quote(entry.origin)),
                self.partial / str(number),
                entry.size,
                headers or {},
                auth,
            ): (inside(root, file, f"{self.name}, to be downloaded", error=DataCorrupt), entry)
            for number, (file, entry) in enumerate(files.items())
        }
        bar = tqdm(
            desc=f"Downloading {self.name}",
            total=len(wanted),
            unit="file",
            disable=None if progress is None else not progress,
        )
        with bar, closing(receive([*wanted])) as arriving:
            for each in arriving:
                self.check(each)
                target, entry = wanted[each]
                assert each.path
                if entry.sha256 not in ("", found := digest(each.path, entry.sha256)):
                    what = refusal(read_bytes(each.path))
                    raise DataCorrupt(
                        f"{each.url} is not the file recorded for {target}:"
                        f" {'sha256' if len(found) == 64 else 'git blob id'} {found}, expected"
                        f" {entry.sha256}{f'; {what}' if what else ''}. It was not kept. Try again;"
                        f" if that does not help, check {self.mirror} and your proxy, or set"
                        f" HKCANTO_DATA_DIR=<dir> to use a good copy in <dir>/{self.name}."
                    )
                target.parent.mkdir(parents=True, exist_ok=True)
                each.path.replace(target)
                bar.update()

    def check(self, transfer: Transfer) -> None:
        """Raise the error that a transfer ended with, if it did, as one of ours."""
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
        said = said if url in said else f"{url}: {said}"
        if status == 403:
            said += ". If the data set is gated, set HF_TOKEN"
        raise self.unavailable(said) from error

    def endpoint(self) -> tuple[str, tuple[str, str] | None]:
        """Return the server's URL, and the user and password that were in it."""
        given = (os.environ.get(self.mirror) or self.server).rstrip("/")
        if not (named := re.fullmatch(r"(\w+://)([^/]*)@(.*)", given)):
            return given, None
        user, _, password = named[2].partition(":")
        return named[1] + named[3], (unquote(user), unquote(password))

    def unavailable(self, why: str) -> NetworkUnavailable:
        """Return the error that says why nothing can be downloaded, and what to do."""
        return NetworkUnavailable(
            f"cannot download {self.name} from {self.endpoint()[0]}: {why.rstrip('.')}.\n"
            "Run it again later (files that did arrive are kept), or set one of these:\n"
            f"  HKCANTO_DATA_DIR=<dir>: use a copy in <dir>/{self.name} without any network\n"
            "  HKCANTO_DATA=sample: try things with the small data set in the package\n"
            f"  {self.mirror}=<url>: download from a mirror\n"
            "  HTTPS_PROXY=<url>: go through a proxy"
        )

    def _lacking(self, folder: "DataFolder", files: Sequence[str] | None) -> list[str]:
        recorded = folder.recorded
        if not recorded:
            return ["the data set"]
        if absent := [file for file in files or () if file not in recorded]:
            raise folder.absent(absent[0])
        return [
            file
            for file in (recorded if files is None else files)
            if digest(folder.root / file) != recorded[file].sha256
        ]


class GitHubSource(Source):
    """Files of a GitHub repository, each from its own commit."""

    mirror = "HKCANTO_GITHUB_ENDPOINT"
    server = "https://raw.githubusercontent.com"

    def __init__(self, name: str, home: Path, release: GitHubRelease) -> None:
        super().__init__(name, home)
        self._address = f"/{release.repository}/{{commit}}/{{file}}"

    def look(self, folder: "DataFolder") -> None:
        """Do nothing: what is recorded is in the benchmark's folder."""

    def fill(self, folder: "DataFolder", files: Sequence[str], progress: bool | None) -> None:
        """Download these files."""
        wanted = {file: folder.recorded[file] for file in files}
        self.download(folder.root, wanted, progress, address=self._address)


class HubSource(Source):
    """A snapshot of a hub data set, and a registry made when it was complete.

    The registry's first line is the request, its second the commit and the number of files: a
    request without a revision gets the same data each time, and another request does not get this
    one's. The files come as those of GitHub do, because huggingface_hub sets no limit to the time
    and size of a file, and does not compare it with the hash that the hub announces.
    """

    mirror = "HF_ENDPOINT"
    server = "https://huggingface.co"

    def __init__(self, name: str, home: Path, release: HubDataset) -> None:
        super().__init__(name, home)
        self._release = release
        self._pin = f"HKCANTO_REVISION_{re.sub('[^A-Z0-9]', '_', name.upper())}"
        self._revision = os.environ.get(self._pin) or release.revision or ""
        named = quote(self._revision or "default", safe="")
        self._registry = home / f"registry.{named}.sha256"
        self._request = f"# {release.repo_id}@{named} {' '.join(release.allow)}"

    def look(self, folder: "DataFolder") -> None:
        """Tell a folder what was downloaded for this request: its commit, and its files."""
        commit, folder.recorded = self._downloaded()
        folder.root = inside(self.home, commit or "not-downloaded", str(self._registry))

    def moved(self) -> str:
        """Say that the branch or tag leads to another commit now; nothing without a network."""
        commit, _ = self._downloaded()
        try:
            now = "" if forbidden() else self._ask(self._revision, tries=1)[0]
        except HKCantoError:  # nobody asked for the network
            return ""
        if not commit or now in ("", commit):
            return ""
        return (
            f"{self._revision or 'the default branch'} of {self._release.repo_id} is at"
            f" {now[:7]} now; what is here, and used, is {commit[:7]}. To take the new"
            f" one: {self._pin}={now[:7]}, or delete {self._registry}."
        )

    def fill(self, folder: "DataFolder", files: Sequence[str], progress: bool | None) -> None:
        """Download the files of the commit that are not there, and record them all."""
        from huggingface_hub.utils import filter_repo_objects  # type: ignore[attr-defined]

        repo = self._release.repo_id
        commit, before = self._downloaded()
        commit, there = self._ask(commit or self._revision)
        names = sorted(filter_repo_objects(there, allow_patterns=[*self._release.allow]))
        if not names:
            raise DataNotFound(
                f"{repo} at {commit} has no file that matches"
                f" {', '.join(self._release.allow)}: its layout has changed. Set HKCANTO_DATA_DIR"
                f"=<dir> to use an older copy in <dir>/{self.name}."
            )
        root = inside(self.home, commit, str(self._registry))
        lacking = {}
        for name in names:
            path = inside(root, name, f"the list of files of {repo}", error=DataCorrupt)
            wanted = before[name].sha256 if name in before else there[name].sha256
            if not wanted or digest(path, wanted) != wanted:
                lacking[name] = replace(there[name], sha256=wanted)
        address = f"/datasets/{repo}/resolve/{{commit}}/{{file}}"
        self.download(root, lacking, progress, address=address, headers=_token())
        lines = [f"{quote(name)} {digest(root / name)}\n" for name in names]
        partial = self.partial / "registry"
        head = f"{self._request}\n# {commit} {len(lines)}\n"
        partial.write_text(head + "".join(lines), encoding="utf-8")
        partial.replace(self._registry)
        self.look(folder)

    def _downloaded(self) -> tuple[str, Registry]:
        """Return the commit and the files of an earlier download; nothing without one."""
        if not is_file(self._registry):
            return "", {}
        request, *lines = read_bytes(self._registry).decode("utf-8", "replace").split("\n")
        if lines and request != self._request:
            return "", {}
        named = re.fullmatch(rf"# ({_COMMIT})(?: (\d+))?", lines[0]) if lines else None
        if not named or int(named[2] or len(lines) - 2) != len(lines) - 2:
            raise DataCorrupt(
                f"{self._registry} was cut or damaged. Delete it and fetch again (which takes"
                f" {self._revision or 'the default branch'} as it is then, unless"
                f" {self._pin}=<commit> is set)."
            )
        return named[1], read_registry(self._registry, commit=named[1])

    def _ask(self, revision: str, tries: int = TRIES) -> tuple[str, Registry]:
        """Ask the hub for the commit that is wanted, and its files."""
        server, auth = self.endpoint()
        at = f"/revision/{quote(revision, safe='')}" if revision else ""
        url = f"{server}/api/datasets/{self._release.repo_id}{at}?blobs=true"
        asked = Transfer(url, headers=_token(), auth=auth, tries=tries)
        for _ in receive([asked]):
            self.check(asked)
        try:
            said = json.loads(asked.content.getvalue())
            commit = str(said["sha"])
            files = {}
            for each in said.get("siblings") or ():
                name, lfs = str(each["rfilename"]), each.get("lfs") or {}
                known = lfs.get("sha256") or each.get("blobId") or ""
                files[name] = RecordedFile(known, commit, name, lfs.get("size", each.get("size")))
            if not re.fullmatch(_COMMIT, commit):
                raise ValueError(f"{commit!r} is no commit")
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise self.unavailable(f"{url} does not answer as a hub does ({error!r})") from error
        if re.fullmatch(_COMMIT, revision) and commit != revision:
            raise DataCorrupt(
                f"{url} answers with commit {commit}, not with the one asked for. Nothing was"
                f" downloaded. Check {self.mirror} and your proxy, or set HKCANTO_DATA_DIR=<dir> to"
                f" use a copy in <dir>/{self.name}."
            )
        return commit, files


def forbidden() -> str:
    """Name the variable that forbids downloads; an empty text if none does."""
    for variable in ("HKCANTO_OFFLINE", "HF_HUB_OFFLINE"):
        if os.environ.get(variable, "").upper() in ("1", "ON", "TRUE", "YES"):
            return variable
    return ""


def _token() -> Mapping[str, str]:
    """Return the headers that authenticate the user to a hub."""
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    headers: Mapping[str, str] = build_hf_headers()
    return headers


def cache_folder() -> Path:
    """Return the folder in which downloads and what else is made once are kept."""
    if given := os.environ.get("HKCANTO_CACHE"):
        return Path(given).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("hkcanto")


def own_cache(folder: Path) -> Path:
    """Return a folder of the cache, unless another user can change what is in it.

    The registry of a hub data set is in there: whoever writes to it decides what is scored.

    Raises:
        DataNotFound: It is another user's, or others may write to it.
    """
    with on_disk(folder, remedy=_REMEDY):
        if not folder.exists():
            return folder
        found = folder.stat()
        why = f"user {found.st_uid} owns it" if found.st_uid != os.getuid() else ""
        if found.st_mode & stat.S_IWOTH:
            why = why or "any user may write to it"
        if why:
            raise DataNotFound(
                f"the cache folder {folder} is not used, because {why} and could change what is"
                " scored. Set HKCANTO_CACHE to a folder of your own"
                f"{'' if 'owns' in why else f', or run `chmod o-w {folder}`'}."
            )
    return folder
