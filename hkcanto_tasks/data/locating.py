"""Locate benchmark data through environment variables, read at each call of `locate`.

* `HKCANTO_DATA=sample`: the sample data in the benchmark's folder. It overrides the next line, so
  that a user with a permanent data folder can still try something on the sample data.
* `HKCANTO_DATA_DIR=<dir>`: `<dir>/<folder>`, laid out like the release; never uses the network.
* Neither: a download of the pinned release into the user's cache, or into `HKCANTO_CACHE`.
  `HKCANTO_OFFLINE=1` and `HF_HUB_OFFLINE=1` forbid downloads; `HKCANTO_GITHUB_ENDPOINT` and
  `HF_ENDPOINT` name mirrors; `HKCANTO_REVISION_<FOLDER>` pins a hub data set to a commit or tag.
"""

import os
from collections.abc import Mapping
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from ..declarations import Benchmark
from ..errors import DataCorrupt, DataNotFound, on_disk
from ..printable import warn_once
from . import fetch
from .fetch import DataFolder
from .releases import (
    FolderData,
    GitHubRelease,
    HubDataset,
    Registry,
    inside,
    read_registry,
    recorded_files,
)
from .tables import is_file, no_file, read_bytes, refusal


def locate(
    benchmark: Benchmark,
    source: str | None = None,
    editions: Mapping[str, str] = MappingProxyType({}),
) -> DataFolder:
    """Find a benchmark's data in the location that the environment sets.

    Args:
        benchmark: The benchmark.
        source: A value to take in place of that of `HKCANTO_DATA`, or one of the editions.
        editions: Edition of a release on GitHub → its list of checksums.

    Returns:
        The folder. Nothing is downloaded before a file is requested.

    Raises:
        CatalogueError: The benchmark names a folder outside its own, or its registry is wrong.
        DataCorrupt: The registry of an earlier download is damaged, or a file in the user's folder
            is not that of the edition.
        DataNotFound: `HKCANTO_DATA` has an unknown value, the folder does not exist, or other users
            can change the cache.

    Examples:
        >>> from unittest.mock import patch
        >>> from hkcanto_tasks.catalogue import find_benchmark
        >>> with patch.dict(os.environ, HKCANTO_DATA="", HKCANTO_DATA_DIR=""):
        ...     locate(find_benchmark("hkmmlu")).kind
        'cache'
    """
    release = benchmark.release
    home = Path(benchmark.home)
    name = benchmark.folder
    if isinstance(release, FolderData):
        root = inside(home, release.path, f"{home / 'benchmark.toml'}: path of [data]")
        if not root.is_dir():
            raise DataNotFound(f"{root}, the data of {name}, is not a folder.")
        return DataFolder(name, "own", root)
    source = source or os.environ.get("HKCANTO_DATA") or "release"
    if isinstance(release, GitHubRelease) and source in editions:
        return _edition(
            benchmark,
            release,
            source,
            editions[source],
        )
    if source == "sample":
        root = home / "sample"
        if not root.is_dir():
            raise DataNotFound(
                f"{name} has no sample data in {home}. Unset HKCANTO_DATA."
            )
        return DataFolder(name, "sample", root)
    if source != "release":
        names = " or ".join(map(repr, ("sample", "release", *editions)))
        raise DataNotFound(f"HKCANTO_DATA={source!r} is unknown. Set it to {names}.")
    recorded: Registry = {}
    prefix = ""
    if isinstance(release, GitHubRelease):
        recorded = recorded_files(release, benchmark.home)
        prefix = release.prefix
    if parent := _folder("HKCANTO_DATA_DIR"):
        root = _copy(benchmark, parent, prefix)
        return DataFolder(
            name,
            "local",
            root,
            recorded,
        )
    return _cached(benchmark, release, recorded)


def _edition(
    benchmark: Benchmark,
    release: GitHubRelease,
    name: str,
    registry: str,
) -> DataFolder:
    """Return the folder of a release with the files of an edition in place of its own.

    Args:
        benchmark: The benchmark.
        release: Its release.
        name: The edition.
        registry: Its list of checksums, in the benchmark's folder.
    """
    path = inside(Path(benchmark.home), registry, f"edition {name}")
    replaced = read_registry(path, commit=release.commit, prefix=release.prefix)
    recorded = {**recorded_files(release, benchmark.home), **replaced}
    parent = _folder("HKCANTO_DATA_DIR")
    if not parent:
        cached = _cached(benchmark, release, recorded)
        cached.root = cached.root.with_name(f"{cached.root.name}-{name}")
        return cached
    root = _copy(benchmark, parent, release.prefix)
    for file, entry in replaced.items():
        if fetch.digest(root / file) == entry.sha256:
            continue
        reason = f"it {no_file(root / file)}"
        if is_file(root / file):
            reason = refusal(read_bytes(root / file)) or "it is another version"
        what = f"{root / file} is not the file of data={name}"
        raise DataCorrupt(
            f"{what}: {reason.partition('.')[0]}. In {root}, a clone of "
            f"https://github.com/{release.repository}: git fetch origin {entry.commit} && "
            "git checkout FETCH_HEAD && git lfs pull"
        )
    return DataFolder(
        benchmark.folder,
        "local",
        root,
        recorded,
    )


def _copy(
    benchmark: Benchmark,
    parent: Path,
    prefix: str,
) -> Path:
    """Return the folder of a release's data in the user's folder of releases."""
    name = benchmark.folder
    declared = f"{benchmark.home}/benchmark.toml"
    variable = fetch.revision_variable(name)
    if pin := os.environ.get(variable):
        warn_once(f"{variable}={pin} has no effect: HKCANTO_DATA_DIR={parent} is set.")
    with on_disk(parent, remedy="Correct HKCANTO_DATA_DIR, or unset it to download."):
        root = inside(parent, name, f"{declared}: folder", links=True)
        if not root.is_dir():
            fault = "is not a folder"
            if parent.is_dir():
                names = sorted(path.name for path in parent.glob("[!.]*/"))
                fault = f"has no folder {name!r}, only {', '.join(names) or 'none'}"
            raise DataNotFound(
                f"HKCANTO_DATA_DIR={parent} {fault}. "
                "Set it to the folder of the releases, or unset it to download."
            )
        # A git clone may have the data in a subfolder.
        clone = inside(root, prefix, f"{declared}: prefix", links=True)
    return clone if clone.is_dir() else root


def _cached(
    benchmark: Benchmark,
    release: GitHubRelease | HubDataset,
    recorded: Registry,
) -> DataFolder:
    """Return the folder of a release in the user's cache, which downloads missing files."""
    from platformdirs import user_cache_path

    name = benchmark.folder
    declared = f"{benchmark.home}/benchmark.toml"
    cache = fetch.safe_cache(_folder("HKCANTO_CACHE") or user_cache_path("hkcanto"))
    home = fetch.safe_cache(inside(cache, name, f"{declared}: folder"))
    if isinstance(release, GitHubRelease):
        # One folder per commit, so that versions of the package do not replace each other's files.
        root = inside(home, release.commit[:7], f"{declared}: commit")
        return fetch.GitHubFolder(
            name,
            home,
            release.repository,
            root,
            recorded,
        )
    patterns = set()
    for task in benchmark.tasks:
        for path in chain.from_iterable(task.paths.values()):
            patterns.add(path.replace("{stem}", "*").replace("**/", "*"))
    allow = release.allow
    for pattern in sorted(patterns):
        if not any(fnmatch(pattern, known) for known in release.allow):
            allow = (*allow, pattern)
    release = HubDataset(release.repo_id, release.revision, allow)
    return fetch.HubFolder(name, home, release)


def _folder(variable: str) -> Path | None:
    """Return the folder that an environment variable names."""
    path = os.environ.get(variable)
    try:
        return Path(path).expanduser() if path else None
    except RuntimeError as error:
        raise DataNotFound(
            f"{variable}={path} is in the home of an unknown user. Correct the name."
        ) from error
