"""Download releases into the user's cache, safely in many processes at once.

A downloaded file is used only if its sha256 is the recorded one. This is checked at every use (17
ms for all 390 files of HKCanto-Eval), so incomplete or altered files are never scored.
"""

import json
import logging
import os
import re
import shutil
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from textwrap import shorten
from typing import Any
from urllib.parse import quote, unquote

from ..errors import (
    DataCorrupt,
    DataNotFound,
    HKCantoError,
    NetworkUnavailable,
    on_disk,
)
from .folders import DataFolder, digest
from .releases import HubDataset, RecordedFile, Registry, inside, read_registry
from .tables import is_file, is_table, read_bytes, refusal
from .transfers import TRIES, Transfer, receive

_log = logging.getLogger("hkcanto")

_REMEDY = (
    "Set HKCANTO_CACHE to a folder that you can write to, free disk space, or remove whatever is in"
    " its place."
)
_SILENT_WAIT = 2.0  # seconds of waiting for another process before it is logged
_COMMIT = "[0-9a-f]{40}"


class GitHubSource:
    """A GitHub repository as the source of a folder of the cache; each file has its own commit.

    Args:
        name: The release's folder name.
        home: The release's folder in the cache; it need not exist yet.
        repository: `owner/name`.

    Attributes:
        mirror: The environment variable that sets another server.
        server: The default server.
        address: The address of a file on the server: repository, commit, path.
    """

    mirror = "HKCANTO_GITHUB_ENDPOINT"
    server = "https://raw.githubusercontent.com"
    address = "/{}/{}/{}"

    def __init__(self, name: str, home: Path, repository: str) -> None:
        self.name, self.home, self.repository = name, home, repository
        self.partial = home / ".partial"

    def fetch(self, folder: DataFolder, files: Sequence[str] | None, progress: bool | None) -> None:
        """Download missing files, one process at a time; see `DataFolder.fetch`."""
        if not (lacking := _lacking(folder, files)):
            return
        if variable := _forbidden():
            raise self.failure(f"{variable} forbids it, and {lacking[0]} is not in {self.home}")
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
                    "Waiting for another process to download %s: it holds %s. If there is no"
                    " such process, stop this one, delete that file and start again;"
                    " HKCANTO_CACHE=<dir> uses another folder.",
                    *(self.name, lock.lock_file),
                )
                lock.acquire(timeout=-1)
            try:
                # While this process waited, another may have fetched them.
                self.look(folder)
                if lacking := _lacking(folder, files):
                    shutil.rmtree(self.partial, ignore_errors=True)  # left by a killed process
                    self.partial.mkdir()
                    self.fill(folder, lacking, progress)
                    _lacking(folder, files)  # the names of a hub's files were not known before
            finally:
                shutil.rmtree(self.partial, ignore_errors=True)
                lock.release()

    def look(self, folder: DataFolder) -> None:
        """Update a folder's root and record, which never change for a GitHub release."""

    def moved(self) -> str:
        """Say if the release has changed; a GitHub release never does."""
        return ""

    def fill(self, folder: DataFolder, files: Sequence[str], progress: bool | None) -> None:
        """Download these files, replacing them if they exist; the caller holds the lock."""
        self.download(folder.root, {file: folder.recorded[file] for file in files}, progress)

    def download(self, root: Path, files: Registry, progress: bool | None) -> None:
        """Download files next to a folder, and move complete and correct ones into it."""
        from tqdm import tqdm

        wanted: list[Transfer] = []
        for file, entry in files.items():
            address = self.address.format(self.repository, entry.commit, quote(entry.origin))
            each = self.transfer(address)
            each.path, each.target = self.partial / str(len(wanted)), self.inside(root, file)
            each.expected, each.size = entry.sha256, entry.size
            wanted.append(each)
        hidden = None if progress is None else not progress
        title = f"Downloading {self.name}"
        bar = tqdm(desc=title, total=len(wanted), unit="file", disable=hidden)
        with bar, closing(receive(wanted)) as arriving:
            for each in arriving:
                self.check(each)
                if each.expected not in ("", found := digest(each.path, each.expected)):
                    kind = "sha256" if len(found) == 64 else "git blob id"
                    what = refusal(read_bytes(each.path)) or "another file"
                    raise self.failure(
                        f"{each.url} is not the file recorded for {each.target}: {kind} {found},"
                        f" expected {each.expected}; {what}. It was not kept",
                        DataCorrupt,
                    )
                each.target.parent.mkdir(parents=True, exist_ok=True)
                each.path.replace(each.target)
                bar.update()

    def inside(self, root: Path, file: str) -> Path:
        """Return the local path of a file that the release lists."""
        return inside(root, file, f"the list of files of {self.repository}", DataCorrupt)

    def transfer(self, address: str) -> Transfer:
        """Return the transfer of an address on the server."""
        server, auth = self.endpoint()
        return Transfer(server + address, headers=self.headers(), auth=auth)

    def headers(self) -> Mapping[str, str]:
        """Return the headers of all requests."""
        return {}

    def check(self, transfer: Transfer) -> None:
        """Raise the error of a failed transfer as one of our own errors."""
        error, url = transfer.error, transfer.url.partition("?")[0]
        if error is None:
            return
        if isinstance(error, HKCantoError) or (isinstance(error, OSError) and error.errno):
            raise error  # our own error or the disk's; network errors have no errno
        status = getattr(getattr(error, "response", None), "status_code", None)
        said = f"{type(error).__name__}: {shorten(str(error), 160)}"
        said = said if url in said else f"{url}: {said}"
        kind: type[HKCantoError] = NetworkUnavailable
        if status in (401, 404, 410):
            kind, said = DataNotFound, f"{url} is not on the server, or not public (HTTP {status})"
        if status in (401, 403, 404):
            said += ". A gated data set needs HF_TOKEN=<token>"
        raise self.failure(said, kind) from error

    def endpoint(self) -> tuple[str, tuple[str, str] | None]:
        """Return the server's URL, and the user and password that it contained."""
        given = (os.environ.get(self.mirror) or self.server).rstrip("/")
        if not (parts := re.fullmatch(r"(\w+://)([^/]*)@(.*)", given)):
            return given, None
        user, _, password = parts[2].partition(":")
        return parts[1] + parts[3], (unquote(user), unquote(password))

    def failure(self, why: str, kind: type[HKCantoError] = NetworkUnavailable) -> HKCantoError:
        """Return an error that says why a download failed and what to do."""
        return kind(
            f"cannot download {self.name} from {self.endpoint()[0]}: {why.rstrip('.')}.\n"
            "Run it again later (downloaded files are kept), or set one of these:\n"
            f"  HKCANTO_DATA_DIR=<dir>: use a copy in <dir>/{self.name} without any network\n"
            "  HKCANTO_DATA=sample: use the sample data in the package to try things out\n"
            f"  {self.mirror}=<url>: download from a mirror\n"
            "  HTTPS_PROXY=<url>: go through a proxy"
        )


class HubSource(GitHubSource):
    """A hub data set: a snapshot of one commit, and a registry that is written last.

    The registry's first line has the request, its second the commit and the number of files. So a
    request without a revision gets the same data each time, and a different request gets its own
    data. Files are downloaded like those of GitHub, because huggingface_hub limits neither the time
    nor the size of a download, and does not check a file against the hash that the hub announces.
    """

    mirror = "HF_ENDPOINT"
    server = "https://huggingface.co"
    address = "/datasets/{}/resolve/{}/{}"

    def __init__(self, name: str, home: Path, release: HubDataset) -> None:
        super().__init__(name, home, release.repo_id)
        self._allow = release.allow
        self._pin = revision_variable(name)
        self._revision = os.environ.get(self._pin) or release.revision or ""
        self._named = self._revision or "the default branch"
        named = quote(self._revision or "default", safe="")
        self._registry = home / f"registry.{named}.sha256"
        self._request = f"# {release.repo_id}@{named} {' '.join(release.allow)}"

    def look(self, folder: DataFolder) -> None:
        """Set a folder's commit and files from an earlier download of the same request."""
        commit, folder.recorded = self._downloaded()
        folder.root = inside(self.home, commit or "not-downloaded", str(self._registry))

    def commit(self) -> str:
        """Ask the hub for the current commit of the revision."""
        return self._ask(self._revision)[0]

    def moved(self) -> str:
        """Say if the branch or tag has moved; an empty text if not, or without a network."""
        commit, _ = self._downloaded()
        try:
            now = "" if _forbidden() else self._ask(self._revision, tries=1)[0]
        except HKCantoError:  # the network is not needed otherwise
            return ""
        if not commit or now in ("", commit):
            return ""
        return (
            f"{self._named} of {self.repository} is now at {now[:7]}; the local data in use is"
            f" from {commit[:7]}. To use the new data: {self._pin}={now[:7]}, or delete"
            f" {self._registry}."
        )

    def fill(self, folder: DataFolder, files: Sequence[str], progress: bool | None) -> None:
        """Download all missing files of the commit, and record them."""
        del files
        from huggingface_hub.utils import filter_repo_objects  # type: ignore[attr-defined]

        before, recorded = self._downloaded()
        commit, there = self._ask(before or self._revision)
        names = sorted(filter_repo_objects(there, allow_patterns=[*self._allow]))
        if not names:
            why = f"{self.repository} at {commit} has no file that matches {', '.join(self._allow)}"
            raise self.failure(f"{why}: its layout has changed", DataNotFound)
        root, lacking = inside(self.home, commit, str(self._registry)), {}
        for name in names:
            expected = (recorded if name in recorded else there)[name].sha256
            if not expected or digest(self.inside(root, name), expected) != expected:
                lacking[name] = replace(there[name], sha256=expected)
        self.download(root, lacking, progress)
        lines = [self._request, f"# {commit} {len(names)}"]
        lines += [f"{quote(name)} {digest(root / name)}" for name in names]
        partial = self.partial / "registry"
        partial.write_text("\n".join([*lines, ""]), encoding="utf-8")
        partial.replace(self._registry)
        self.look(folder)

    def headers(self) -> Mapping[str, str]:
        """Return the headers that authenticate the user."""
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

        headers: Mapping[str, str] = build_hf_headers()
        return headers

    def _downloaded(self) -> tuple[str, Registry]:
        """Return the commit and files of an earlier download; empty values without one."""
        if not is_file(self._registry):
            return "", {}
        request, *lines = read_bytes(self._registry).decode("utf-8", "replace").split("\n")
        if lines and request != self._request:
            return "", {}
        head = re.fullmatch(rf"# ({_COMMIT})(?: (\d+))?", lines[0]) if lines else None
        if not head or int(head[2] or len(lines) - 2) != len(lines) - 2:
            raise DataCorrupt(
                f"{self._registry} is truncated or damaged. Delete it and fetch again (this takes"
                f" the current {self._named}, unless {self._pin}=<commit> is set)."
            )
        return head[1], read_registry(self._registry, commit=head[1])

    def _ask(self, revision: str, tries: int = TRIES) -> tuple[str, Registry]:
        """Ask the hub for the commit and the files of a revision."""
        at = f"/revision/{quote(revision, safe='')}" if revision else ""
        asked = self.transfer(f"/api/datasets/{self.repository}{at}?blobs=true")
        asked.tries = tries
        for _ in receive([asked]):
            self.check(asked)
        try:
            said = json.loads(asked.content.getvalue())
            commit, files = str(said["sha"]), {}
            if not re.fullmatch(_COMMIT, commit):
                raise ValueError(f"{commit!r} is no commit")
            for each in said.get("siblings") or ():
                name, lfs = str(each["rfilename"]), each.get("lfs") or {}
                known = lfs.get("sha256") or each.get("blobId") or ""
                files[name] = RecordedFile(known, commit, name, lfs.get("size", each.get("size")))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            why = f"{asked.url} does not answer like a hub ({error!r})"
            raise self.failure(why) from error
        if re.fullmatch(_COMMIT, revision) and commit != revision:
            why = f"{asked.url} answers with commit {commit}, not with the requested one"
            raise self.failure(why, DataCorrupt)
        return commit, files


class GitHubHead(GitHubSource):
    """The tables of a GitHub repository at a commit that is not known yet.

    Args:
        name: The release's folder name.
        home: The release's folder in the cache; it need not exist yet.
        repository: `owner/name`.
        revision: A commit, tag or branch; empty for the default branch.
        below: The folder of the repository to download; empty for all of it.

    Attributes:
        prefix: The folder that contains all tables, with a final slash, or an empty text.
    """

    def __init__(
        self, name: str, home: Path, repository: str, revision: str = "", below: str = ""
    ) -> None:
        super().__init__(name, home, repository)
        self._revision, self._below = revision or "HEAD", below
        self.prefix = ""

    def fill(self, folder: DataFolder, files: Sequence[str], progress: bool | None) -> None:
        """Download all tables of the commit, and record their checksums."""
        del files
        commit = str(self._ask(f"commits/{quote(self._revision, safe='')}")["sha"])
        tree = self._ask(f"git/trees/{commit}?recursive=1")
        if tree.get("truncated"):
            why = f"{self.repository} has more files than GitHub lists: name a folder of it"
            raise self.failure(why, DataNotFound)
        found = {
            each["path"]: each
            for each in tree["tree"]
            if each["type"] == "blob"
            and (is_table(each["path"]) or each["path"].lower().endswith(".zip"))
            and f"{each['path']}/".startswith(self._below.rstrip("/") + "/" * bool(self._below))
        }
        if not found:
            where = f"{self.repository}/{self._below}".rstrip("/")
            raise self.failure(f"{where} at {commit} has no table", DataNotFound)
        self.prefix = "".join(f"{each}/" for each in _shared_folders(found))
        folder.root = inside(self.home, commit[:7], f"the commit of {self.repository}")
        recorded = {
            path.removeprefix(self.prefix): RecordedFile(
                each["sha"], commit, path, each.get("size")
            )
            for path, each in found.items()
        }
        self.download(
            folder.root,
            {
                file: entry
                for file, entry in recorded.items()
                if digest(self.inside(folder.root, file), entry.sha256) != entry.sha256
            },
            progress,
        )
        folder.recorded = {
            file: replace(entry, sha256=digest(folder.root / file))
            for file, entry in recorded.items()
        }

    def _ask(self, what: str) -> dict[str, Any]:
        """Ask GitHub's API, or its equivalent on a mirror."""
        asked = self.transfer(f"/repos/{self.repository}/{what}")
        if not os.environ.get(self.mirror):
            asked.url = asked.url.replace(self.server, "https://api.github.com", 1)
        for _ in receive([asked]):
            self.check(asked)
        try:
            said: dict[str, Any] = json.loads(asked.content.getvalue())
            if not re.fullmatch(_COMMIT, str(said["sha"])):
                raise ValueError(f"{said['sha']!r} is no commit")
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            why = f"{asked.url} does not answer like GitHub ({error!r})"
            raise self.failure(why) from error
        return said


def _shared_folders(files: Iterable[str]) -> list[str]:
    """Return the folders that all of these files share, from the outermost."""
    levels = zip(*(each.split("/")[:-1] for each in files), strict=False)
    return [level[0] for level in takewhile(lambda level: len({*level}) == 1, levels)]


def _lacking(folder: DataFolder, files: Sequence[str] | None) -> list[str]:
    """Return the files that are missing or not as recorded."""
    recorded = folder.recorded
    if not recorded:
        return ["the data set"]
    if absent := [file for file in files or () if file not in recorded]:
        raise folder.absent(absent[0])
    wanted = recorded if files is None else files
    return [file for file in wanted if digest(folder.root / file) != recorded[file].sha256]


def _forbidden() -> str:
    """Name the variable that forbids downloads; an empty text if none does."""
    for variable in ("HKCANTO_OFFLINE", "HF_HUB_OFFLINE"):
        if os.environ.get(variable, "").upper() in ("1", "ON", "TRUE", "YES"):
            return variable
    return ""


def revision_variable(name: str) -> str:
    """Return the environment variable that pins a hub data set, by the name of its folder.

    Examples:
        >>> revision_variable("yue-mmlu")
        'HKCANTO_REVISION_YUE_MMLU'
    """
    return f"HKCANTO_REVISION_{re.sub('[^A-Z0-9]', '_', name.upper())}"


def cache_folder() -> Path:
    """Return the folder for downloads and other cached files."""
    if given := os.environ.get("HKCANTO_CACHE"):
        return Path(given).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("hkcanto")


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
        found = folder.stat()
    if found.st_uid == os.getuid() and not found.st_mode & stat.S_IWOTH:
        return folder
    why = "any user may write to it" if found.st_uid == os.getuid() else "another user owns it"
    raise DataNotFound(
        f"the cache folder {folder} is not safe: {why} (user {found.st_uid},"
        f" {stat.filemode(found.st_mode)}), and could change what is scored. Set HKCANTO_CACHE to a"
        " folder that you own and nobody else may write to."
    )
