"""Locate benchmark data through environment variables, read at each call of `locate`.

* `HKCANTO_DATA=sample`: the sample data in the benchmark's folder. It overrides the next line, so
  that a user with a permanent data folder can still try something on the sample data.
* `HKCANTO_DATA_DIR=<dir>`: `<dir>/<folder>`, laid out like the release; never uses the network.
* Neither: a download of the pinned release into the user's cache, or into `HKCANTO_CACHE`.
  `HKCANTO_OFFLINE=1` and `HF_HUB_OFFLINE=1` forbid downloads; `HKCANTO_GITHUB_ENDPOINT` and
  `HF_ENDPOINT` name mirrors; `HKCANTO_REVISION_<FOLDER>` pins a hub data set to a commit or tag.
"""

import os
from fnmatch import fnmatch
from pathlib import Path

from ..declarations import Benchmark
from ..errors import DataNotFound, on_disk
from ..printable import warn_once
from . import fetch
from .fetch import DataFolder
from .releases import FolderData, GitHubRelease, HubDataset, inside, recorded_files


def locate(benchmark: Benchmark) -> DataFolder:
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
    release, home, name = benchmark.release, Path(benchmark.home), benchmark.folder
    declared = home / "benchmark.toml"
    chosen = os.environ.get("HKCANTO_DATA") or "release"
    if isinstance(release, FolderData):
        root = inside(home, release.path, f"{declared}: path of [data]")
        if not root.is_dir():
            raise DataNotFound(f"{root}, the data of {name}, is not a folder.")
        return DataFolder(name, "own", root)
    if chosen == "sample":
        if not (home / "sample").is_dir():
            raise DataNotFound(
                f"{name} has no sample data in {home}. Unset HKCANTO_DATA."
            )
        return DataFolder(name, "sample", home / "sample")
    if chosen != "release":
        raise DataNotFound(
            f"HKCANTO_DATA={chosen!r} is unknown. Set it to 'sample' or 'release'."
        )
    is_github = isinstance(release, GitHubRelease)
    recorded = recorded_files(release, benchmark.home) if is_github else {}
    if parent := _folder("HKCANTO_DATA_DIR"):
        variable = fetch.revision_variable(name)
        if pin := os.environ.get(variable):
            warn_once(
                f"{variable}={pin} has no effect: HKCANTO_DATA_DIR={parent} is set."
            )
        with on_disk(
            parent, remedy="Correct HKCANTO_DATA_DIR, or unset it to download."
        ):
            root = inside(parent, name, f"{declared}: folder", links=True)
            if not root.is_dir():
                names = (
                    ", ".join(sorted(path.name for path in parent.glob("[!.]*/")))
                    or "none"
                )
                there = f"has no folder {name!r}, only {names}"
                raise DataNotFound(
                    f"HKCANTO_DATA_DIR={parent} {there if parent.is_dir() else 'is not a folder'}. "
                    "Set it to the folder of the releases, or unset it to download."
                )
            # A git clone may have the data in a subfolder.
            prefix = release.prefix if isinstance(release, GitHubRelease) else ""
            clone = inside(root, prefix, f"{declared}: prefix", links=True)
        return DataFolder(name, "local", clone if clone.is_dir() else root, recorded)
    from platformdirs import user_cache_path

    cache = fetch.own_cache(_folder("HKCANTO_CACHE") or user_cache_path("hkcanto"))
    place = fetch.own_cache(inside(cache, name, f"{declared}: folder"))
    if isinstance(release, GitHubRelease):
        # One folder per commit, so that versions of the package do not replace each other's files.
        root = inside(place, release.commit[:7], f"{declared}: commit")
        return fetch.GitHubFolder(name, place, release.repository, root, recorded)
    every = {
        path for task in benchmark.tasks for of in task.paths.values() for path in of
    }
    wanted = sorted(path.replace("{stem}", "*").replace("**/", "*") for path in every)
    more = (
        one for one in wanted if not any(fnmatch(one, known) for known in release.allow)
    )
    release = HubDataset(release.repo_id, release.revision, (*release.allow, *more))
    return fetch.HubFolder(name, place, release)


def _folder(variable: str) -> Path | None:
    """Return the folder that an environment variable names."""
    given = os.environ.get(variable)
    try:
        return Path(given).expanduser() if given else None
    except RuntimeError as error:
        why = f"{variable}={given} is in the home of an unknown user. Correct the name."
        raise DataNotFound(why) from error
