"""Locate benchmark data through environment variables, read at each call of `locate`.

* `HKCANTO_DATA=sample`: the sample data in the benchmark's folder. It overrides the next line, so
  that a user with a permanent data folder can still try something on the sample data.
* `HKCANTO_DATA_DIR=<dir>`: `<dir>/<folder>`, laid out like the release; never uses the network.
* Neither: a download of the pinned release into the user's cache, or into `HKCANTO_CACHE`.
  `HKCANTO_OFFLINE=1` and `HF_HUB_OFFLINE=1` forbid downloads; `HKCANTO_GITHUB_ENDPOINT` and
  `HF_ENDPOINT` name mirrors; `HKCANTO_REVISION_<FOLDER>` pins a hub data set to a commit or tag.
"""

import difflib
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..errors import DataCorrupt, DataNotFound, on_disk
from .fetch import (
    DataFolder,
    GitHubSource,
    HubSource,
    cache_folder,
    own_cache,
    revision_variable,
    user_folder,
)
from .releases import FolderData, GitHubRelease, Registry, inside, recorded_files
from .tables import container, table_ending, with_members

if TYPE_CHECKING:
    from ..catalogue import Benchmark, TaskDefinition


_log = logging.getLogger("hkcanto")

VARIABLES = {
    *("HKCANTO_ALIASES", "HKCANTO_AUTOLOAD", "HKCANTO_BENCHMARKS", "HKCANTO_CACHE"),
    *("HKCANTO_DATA", "HKCANTO_DATA_DIR", "HKCANTO_GITHUB_ENDPOINT", "HKCANTO_OFFLINE"),
}
"""The known environment variables, besides `HKCANTO_REVISION_<FOLDER>`."""


def locate(benchmark: "Benchmark") -> DataFolder:
    """Find a benchmark's data in the location that the environment sets.

    Args:
        benchmark: The benchmark.

    Returns:
        The folder. Nothing is downloaded before a file is requested.

    Raises:
        CatalogueError: The benchmark names a folder outside its own, or its registry is wrong.
        DataCorrupt: The registry of an earlier download is damaged.
        DataNotFound: `HKCANTO_DATA` has an unknown value, the folder does not exist, or other users
            can change the cache.

    Examples:
        >>> from unittest.mock import patch
        >>> from hkcanto_tasks.catalogue import find_benchmark
        >>> with patch.dict(os.environ, HKCANTO_DATA="", HKCANTO_DATA_DIR=""):
        ...     locate(find_benchmark("hkmmlu")).kind
        'cache'
    """
    _warn_of_unknown(tuple(sorted(each for each in os.environ if each.startswith("HKCANTO_"))))
    return _located(benchmark)


def known_files(benchmark: "Benchmark") -> list[str]:
    """Return the files of a release that are known without a download.

    Args:
        benchmark: The benchmark.

    Returns:
        Paths in the release, including members of local archives, from its record or else from the
        folder; empty if there is neither.

    Raises:
        CatalogueError: The benchmark names a folder outside its own, or its registry is wrong.
    """
    release, folder = benchmark.release, None
    recorded: Registry = {}
    if isinstance(release, GitHubRelease):
        recorded = recorded_files(release, benchmark.home)
    with suppress(DataCorrupt, DataNotFound):  # reported when the data is loaded
        folder = _located(benchmark)
        return with_members(folder.root, [*(recorded or folder.recorded)] or folder.files())
    return [*recorded]


def _located(benchmark: "Benchmark") -> DataFolder:
    release, home, name = benchmark.release, Path(benchmark.home), benchmark.folder
    declared = home / "benchmark.toml"
    if isinstance(release, FolderData):
        root = inside(home, release.path, f"{declared}: path of [data]")
        if not root.is_dir():
            raise DataNotFound(f"{root}, the data of {name}, is not a folder.")
        return DataFolder(name, "own", root)
    chosen = os.environ.get("HKCANTO_DATA") or "release"
    if chosen not in ("release", "sample"):
        raise DataNotFound(
            f"HKCANTO_DATA={chosen!r} is unknown. Set it to 'sample' (the sample data in the"
            " package) or 'release' (the real data, the default)."
        )
    if chosen == "sample":
        root = home / "sample"
        if not root.is_dir():
            raise DataNotFound(
                f"HKCANTO_DATA=sample, but {name} has no sample data in {root}. Unset HKCANTO_DATA"
                " to use the release."
            )
        return DataFolder(name, "sample", root)
    github = release if isinstance(release, GitHubRelease) else None
    recorded = recorded_files(github, benchmark.home) if github else {}
    if given := os.environ.get("HKCANTO_DATA_DIR"):
        if pin := os.environ.get(revision_variable(name)):
            _warn(
                f"{revision_variable(name)}={pin} has no effect: HKCANTO_DATA_DIR={given} is set."
            )
        with on_disk(Path(given), remedy="Correct HKCANTO_DATA_DIR, or unset it to download."):
            root = _local(user_folder("HKCANTO_DATA_DIR", given), name, declared, github)
        return DataFolder(name, "local", root, recorded)
    place = own_cache(inside(own_cache(cache_folder()), name, f"{declared}: folder"))
    if isinstance(release, GitHubRelease):
        # One folder per commit, so that versions of the package do not replace each other's files.
        root = inside(place, release.commit[:7], f"{declared}: commit")
        return DataFolder(
            name, "cache", root, recorded, GitHubSource(name, place, release.repository)
        )
    declared_paths = (path for task in benchmark.tasks for path in _paths(task))
    lacking = (path for path in declared_paths if not any(fnmatch(path, p) for p in release.allow))
    allow = (*release.allow, *dict.fromkeys(lacking))
    source = HubSource(name, place, msgspec.structs.replace(release, allow=allow))
    folder = DataFolder(name, "cache", place, source=source)
    source.look(folder)
    return folder


def _paths(task: "TaskDefinition") -> Iterator[str]:
    """Return patterns for the files that a task declares, or for their archives."""
    for split in task.places:
        for path in map(container, task.paths(split, "*")):
            ending = table_ending(path)
            yield f"{path.removesuffix(ending)}*{ending}" if ending else path  # shards, too


@cache  # logged once
def _warn(message: str) -> None:
    _log.warning(message)


@cache
def _warn_of_unknown(given: tuple[str, ...]) -> None:
    """Warn of unknown variables, since a misspelt one may leave data unpinned."""
    from ..catalogue import benchmarks

    every = benchmarks()
    folders = [each.folder for each in every if each.hub]
    folders += [each.reasoning.repo_id.rpartition("/")[2] for each in every if each.reasoning]
    known = {*VARIABLES, *map(revision_variable, folders)}
    for name in given:
        if name not in known and not name.startswith("HKCANTO_TEST_"):
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(sorted(known))}."
            _warn(f"{name} is set, but nothing reads it. {hint}")


def _local(parent: Path, name: str, declared: Path, github: GitHubRelease | None) -> Path:
    """Return the folder of a release inside the user's folder."""
    if not parent.is_dir():
        raise DataNotFound(
            f"HKCANTO_DATA_DIR={parent} is not a folder. Correct it, or unset it to download."
        )
    root = inside(parent, name, f"{declared}: folder", links=True)
    if not root.is_dir():
        names = sorted(path.name for path in parent.glob("*/") if not path.name.startswith("."))
        raise DataNotFound(
            f"HKCANTO_DATA_DIR={parent} has no folder {name!r}, only"
            f" {', '.join(names) or 'no folder at all'}. Set it to the folder that holds the"
            " releases, or unset it to download."
        )
    # A git clone may have the data in a subfolder.
    clone = inside(root, github.prefix, f"{declared}: prefix", links=True) if github else root
    return clone if clone.is_dir() else root
