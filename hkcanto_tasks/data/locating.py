"""Where benchmark files come from, chosen by the environment each time that `locate` is called.

* `HKCANTO_DATA=sample`: the small data set in the benchmark's folder. It wins over the next line:
  whoever has set a data folder for good can still try something on the sample.
* `HKCANTO_DATA_DIR=<dir>`: `<dir>/<folder>`, laid out as the release is; no network, ever.
* Neither: a download of the pinned release into the user's cache, or into `HKCANTO_CACHE`.
  `HKCANTO_OFFLINE=1` and `HF_HUB_OFFLINE=1` forbid downloads; `HKCANTO_GITHUB_ENDPOINT` and
  `HF_ENDPOINT` name mirrors; `HKCANTO_REVISION_<FOLDER>` pins a hub data set to a commit or tag.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataNotFound, on_disk
from .folders import DataFolder, LocalFolder, OwnFolder, SampleFolder
from .releases import FolderData, GitHubRelease

if TYPE_CHECKING:
    from ..catalogue import Benchmark


def locate(benchmark: "Benchmark") -> DataFolder:
    """Find a benchmark's data in the place that the environment chooses.

    Args:
        benchmark: The benchmark.

    Returns:
        The folder. Nothing is downloaded before a file is asked for.

    Raises:
        DataNotFound: `HKCANTO_DATA` has an unknown value, or there is no such folder.

    Examples:
        >>> from unittest.mock import patch
        >>> from hkcanto_tasks.catalogue import find_benchmark
        >>> with patch.dict(os.environ, HKCANTO_DATA="", HKCANTO_DATA_DIR=""):
        ...     locate(find_benchmark("hkmmlu")).kind
        'cache'
    """
    release, home = benchmark.release, Path(benchmark.home)
    if isinstance(release, FolderData):
        return OwnFolder(benchmark.folder, home / release.path)
    chosen = os.environ.get("HKCANTO_DATA") or "release"
    if chosen not in ("release", "sample"):
        raise DataNotFound(
            f"HKCANTO_DATA={chosen!r} is unknown. Set it to 'sample' (the small data set inside the"
            " package) or 'release' (the real data, the default)."
        )
    if chosen == "sample":
        return SampleFolder(benchmark.folder, home / "sample")
    if given := os.environ.get("HKCANTO_DATA_DIR"):
        remedy = "Correct HKCANTO_DATA_DIR, or unset it to download."
        with on_disk(Path(given), remedy=remedy):
            return LocalFolder(benchmark.folder, Path(given).expanduser(), release, benchmark.home)
    # Here, so that local data and the sample do not wait for the import of what downloads need.
    from .downloads import CachedGitHub, CachedHub

    if isinstance(release, GitHubRelease):
        return CachedGitHub(benchmark.folder, release, benchmark.home)
    return CachedHub(benchmark.folder, release)
