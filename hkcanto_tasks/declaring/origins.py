"""Find the rows of a new benchmark: in a file or folder, or on the hub.

A data set is downloaded into the cache at its current commit, which the declaration
pins.
"""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import msgspec

from ..catalogue import Benchmark
from ..data.fetch import files_under
from ..data.locating import locate
from ..data.releases import FolderData, GitHubRelease, HubDataset, Registry, Release
from ..data.tables import ENDINGS, is_table, with_members
from ..errors import DataNotFound, OptionError

_NAME = r"(?P<name>[A-Za-z0-9][\w.-]*/[\w.-]+?)"
_HUB = re.compile(
    rf"(?:(?:https?://)?huggingface\.co/datasets/|hf:)?{_NAME}/?"
    r"(?:(?:@|/tree/)(?P<revision>[^/@]+))?"
)


@dataclass(frozen=True)
class Origin:
    """The files to declare.

    Attributes:
        said: Their location, for people.
        root: The folder that file paths start from.
        files: The tables in it, including members of archives.
        release: How a `benchmark.toml` refers to them.
        copied: Whether to copy them into the benchmark's own folder.
        recorded: The checksums of a GitHub release.
    """

    said: str
    root: Path
    files: Sequence[str]
    release: Release
    copied: bool = False
    recorded: Registry = field(default_factory=dict)


def find_origin(given: str, name: str, home: Path) -> Origin:
    """Find the files that a user names, and download them if necessary.

    Args:
        given: A path, or `owner/name` on the hub; `@revision` names a commit, tag or branch of it.
        name: The benchmark's name, also used for the download's folder in the cache.
        home: The benchmark's own folder, which need not exist.

    Raises:
        OptionError: `given` is none of these.
        DataNotFound: The file, repository or data set does not exist, or has no table.
        NetworkUnavailable: A download is needed, and fails or is forbidden.
    """
    path = Path(given).expanduser()
    if path.exists():
        return _local(path, home)
    if given.endswith((*ENDINGS, ".zip", ".gz")) or given.startswith((".", "/", "~")):
        raise DataNotFound(f"{given} does not exist. Give a file or a folder that does.")
    if found := _HUB.fullmatch(given):
        return _of_hub(found, name)
    raise OptionError(
        f"--from {given} is neither an existing file or folder nor the name of a repository. Give a"
        " path, or owner/name for a data set on the Hugging Face hub."
    )


def _local(path: Path, home: Path) -> Origin:
    if path.is_file() and not (is_table(path.name) or path.suffix.lower() == ".zip"):
        raise OptionError(f"{path} is not in a known format: {', '.join(ENDINGS)}, .zip, .gz.")
    inside = path.resolve().is_relative_to(home.resolve())
    root = home.resolve() if inside else path.resolve() if path.is_dir() else path.resolve().parent
    if path.is_dir():
        below = path.resolve().relative_to(root).as_posix()
        files = [each for each in files_under(root) if below == "." or each.startswith(f"{below}/")]
    else:
        files = [path.resolve().relative_to(root).as_posix()]
    return Origin(str(path), root, _tables(root, files, path), FolderData(), not inside)


def _of_hub(found: re.Match[str], name: str) -> Origin:
    repo_id = found["name"]
    with ignoring_other_data():
        hub = HubDataset(repo_id, found["revision"])
        folder = locate(Benchmark(name=name, title="", tasks=(), prompts={}, folder=name, hub=hub))
        folder.fetch()
    release = HubDataset(repo_id, folder.root.name)
    return Origin(
        f"{repo_id} on the hub", folder.root, _tables(folder.root, folder.files()), release
    )


def ignoring_other_data() -> AbstractContextManager[object]:
    """Ignore the user's `HKCANTO_DATA` and `HKCANTO_DATA_DIR` inside this context."""
    return patch.dict(os.environ, HKCANTO_DATA="", HKCANTO_DATA_DIR="")


def _tables(root: Path, files: Sequence[str], said: object = "") -> list[str]:
    found = [each for each in with_members(root, files) if is_table(each)]
    if not found:
        raise DataNotFound(
            f"{said or root} has no file in a known format: {', '.join(ENDINGS)}, also with .gz or "
            f"in a .zip. It has {', '.join(files[:6]) or 'no files'}."
        )
    return found


def release_lines(origin: Origin) -> Mapping[str, Mapping[str, object]]:
    """Return the table of a `benchmark.toml` that locates the files.

    Examples:
        >>> release_lines(Origin("x.csv", Path(), ["x.csv"], FolderData()))
        {'data': {}}
    """
    release = origin.release
    name = {GitHubRelease: "github", HubDataset: "hub", FolderData: "data"}[type(release)]
    usual = {field.name: field.default for field in msgspec.structs.fields(release)}
    given = msgspec.structs.asdict(release)
    return {name: {key: text for key, text in given.items() if text != usual[key]}}
