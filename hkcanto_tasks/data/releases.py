"""Where benchmarks are published, and the checksums of their files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from os.path import realpath
from pathlib import Path, PureWindowsPath
from urllib.parse import unquote

import msgspec

from ..errors import CatalogueError, HKCantoError


class GitHubRelease(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Files in a GitHub repository, pinned by commit and checksum.

    Attributes:
        repository: `owner/name`.
        commit: Full id of the commit that has the files, unless the registry names another.
        registry: Name of the file of checksums, in the benchmark's folder.
        prefix: Folder of the release in the repository, with a final slash.

    Examples:
        >>> GitHubRelease("hon9kon9ize/hkeval2025", "ba2a58b", prefix="data/").prefix
        'data/'
    """

    repository: str
    commit: str
    registry: str = "checksums.sha256"
    prefix: str = ""


class HubDataset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Files in a Hugging Face data set.

    Attributes:
        repo_id: `owner/name`.
        revision: A commit id, tag or branch. Without one, the first download takes the default
            branch and records its commit beside the data; later runs use that commit.
        allow: Patterns of the files to download, as in `huggingface_hub.snapshot_download`. The
            default is the card and all files in supported formats.

    Examples:
        >>> HubDataset("chuxuecao/HKMMLU").revision is None
        True
    """

    repo_id: str
    revision: str | None = None
    allow: tuple[str, ...] = (
        *("README.md", "*.csv", "*.tsv", "*.json", "*.jsonl", "*.parquet", "*.zip"),
        *("*.csv.gz", "*.tsv.gz", "*.json.gz", "*.jsonl.gz"),
    )


class FolderData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Files in the benchmark's own folder.

    Attributes:
        path: Folder of the data, inside the benchmark's folder.

    Examples:
        >>> FolderData("questions").path
        'questions'
    """

    path: str = "."


Release = GitHubRelease | HubDataset | FolderData


@dataclass(frozen=True, slots=True)
class RecordedFile:
    """A file as a registry or a hub describes it.

    Attributes:
        sha256: The sha256 of the content, in lower-case hexadecimal. For a small file, a hub
            announces the 40 digits of git's blob id instead, or nothing.
        commit: The full id of the commit that holds it.
        origin: The file's path in the repository at that commit.
        size: The number of bytes, if a hub announces it.
    """

    sha256: str
    commit: str
    origin: str
    size: int | None = None


Registry = Mapping[str, RecordedFile]


def inside(
    root: Path,
    name: str,
    entry: str,
    error: type[HKCantoError] = CatalogueError,
    links: bool = False,
) -> Path:
    r"""Join a folder and an untrusted name, and refuse to leave the folder.

    Every name from a list of checksums, a hub's file list or a benchmark.toml becomes a path here.

    Args:
        root: The folder.
        name: A relative path.
        entry: The file and entry that name it, for the message.
        error: The error to raise.
        links: Whether symbolic links may lead out of the folder, as the user's own may.

    Raises:
        HKCantoError: The name is absolute, has a drive, a `..`, a NUL or broken character or more
            than 255 bytes, or follows a link out of the folder.

    Examples:
        >>> inside(Path("data"), "test/x.csv", "line 1").as_posix()
        'data/test/x.csv'
        >>> inside(Path("data"), "../x.csv", "line 1")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        hkcanto_tasks.errors.CatalogueError: line 1 names a path outside: '../x.csv'. Name one in...
    """
    # A Windows path knows drives, and takes both slashes for separators.
    path = PureWindowsPath(name)
    # No file's name has a NUL character, half of a surrogate pair, or more than 255 bytes.
    is_named = not path.anchor and not re.search("[\0\ud800-\udfff]", name)
    if is_named and all(map(_is_plain_part, path.parts)):
        joined = root / name
        if links or Path(realpath(joined)).is_relative_to(realpath(root)):
            return joined
    raise error(
        f"{entry} names a path outside: {name[:300]!r}. Name one in {root}, without `..`, "
        "drive, odd character, long name or a link that leads out."
    )


def _is_plain_part(part: str) -> bool:
    return part != ".." and len(part.encode()) <= 255


def read_registry(
    path: Path,
    *,
    commit: str,
    prefix: str = "",
) -> dict[str, RecordedFile]:
    """Read a list of checksums, in the format of pooch's registries.

    A line is `<file> <sha256>`, with the file's name URL-quoted if it contains spaces. A third
    column `<commit>:<path>`, as git writes it, gives that one file another origin. (Pooch has a URL
    there, which would bind the file to one server.) Lines that start with `#` are comments; a
    comment such as `# 390 files` gives the number of files, so that a truncated list is noticed.

    Args:
        path: The registry file.
        commit: The commit of files whose line does not name one.
        prefix: The folder before a file's name in the repository.

    Raises:
        CatalogueError: It cannot be read, is empty, or has another number of files than it says; or
            a line has another format, or names a file twice or outside the release.

    Examples:
        >>> from hkcanto_tasks.catalogue import BENCHMARKS
        >>> path = BENCHMARKS / "hkcanto" / "checksums.sha256"
        >>> recorded = read_registry(path, commit="ba2a58b", prefix="data/")
        >>> recorded["mmlu/dev/anatomy_dev.csv"].origin
        'data/mmlu/dev/anatomy_dev.csv'
        >>> recorded["phonetics-g2p/test/zh_to_jyutping_test_gold.json"].commit[:7]
        'b047f9f'
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogueError(
            f"{path}, the checksums of a release on GitHub, cannot be read: {error}. "
            "Correct or restore it."
        ) from error
    registry: dict[str, RecordedFile] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if re.fullmatch("(#.*)?", line):
            continue
        match = re.fullmatch(r"(\S+) ([0-9a-f]{64})(?: ([0-9a-f]{40}):(\S+))?", line)
        file = unquote(match[1]) if match else ""
        if not match or file in registry:
            raise CatalogueError(
                f"{path}: line {number} is not `<file> <sha256> [<commit>:<path>]`, or "
                f"names a file twice: {line!r}. Correct the line."
            )
        inside(path.parent, file, f"{path}: line {number}", links=True)
        registry[file] = RecordedFile(
            match[2], match[3] or commit, match[4] or prefix + file
        )
    # A truncated list would verify fewer files.
    for announced in re.findall(r"(?m)^# (\d+) files$", text):
        if int(announced) != len(registry):
            raise CatalogueError(
                f"{path} names {len(registry)} files, not the {announced} that it "
                "announces. Correct the list."
            )
    if not registry:
        raise CatalogueError(f"{path} names 0 files. Correct the list.")
    return registry


_COMMIT = re.compile("[0-9a-f]{40}")
_DATA_NAME = re.compile(r"([0-9a-f]{7}(?:\+[0-9a-f]{7})*)(-\d+rows)?")


def is_published(
    data: str,
    release: Release | None,
    home: str,
) -> bool:
    """Return whether the name of data in a signature can be that of a published release.

    A release with a pinned commit allows this one and those of its list of checksums.

    Args:
        data: The name, such as `ba2a58b` or `b047f9f+ba2a58b-3rows`.
        release: Where the benchmark is published.
        home: The benchmark's folder.

    Examples:
        >>> is_published("abcdef0", HubDataset("org/quiz"), "")
        True
        >>> is_published("abcdef0", HubDataset("org/quiz", revision=40 * "1"), "")
        False
    """
    match = _DATA_NAME.fullmatch(data)
    if match is None:
        return False
    pinned: set[str] = set()
    if isinstance(release, GitHubRelease):
        pinned.add(release.commit)
        pinned |= {file.commit for file in recorded_files(release, home).values()}
    elif isinstance(release, HubDataset) and _COMMIT.fullmatch(release.revision or ""):
        pinned.add(str(release.revision))
    known = {commit[:7] for commit in pinned}
    return not known or known.issuperset(match[1].split("+"))


@cache
def recorded_files(release: GitHubRelease, home: str) -> Registry:
    """Return the files in the registry of a release.

    Args:
        release: The release.
        home: The benchmark's folder.

    Raises:
        CatalogueError: As `read_registry`.
    """
    path = inside(
        Path(home), release.registry, f"{Path(home, 'benchmark.toml')}: registry"
    )
    return read_registry(path, commit=release.commit, prefix=release.prefix)
