"""Where benchmark files come from, chosen by the environment each time that `locate` is called.

* `HKCANTO_DATA=sample`: the small data set inside the package. It wins over the next line: whoever
  has set a data folder for good can still try something on the sample, and every result says so.
* `HKCANTO_DATA_DIR=<dir>`: `<dir>/<folder>`, laid out as the release is; no network, ever.
* Neither: a download of the pinned release into the user's cache, or into `HKCANTO_CACHE`.
  `HKCANTO_OFFLINE=1` and `HF_HUB_OFFLINE=1` forbid downloads; `HKCANTO_GITHUB_ENDPOINT` and
  `HF_ENDPOINT` name mirrors.
"""

import os
from pathlib import Path

from .errors import DataNotFound
from .folders import DataFolder, LocalFolder, PackageFolder, Problem, SampleFolder
from .releases import GitHubRelease, HubDataset, PackageData, Release

__all__ = ["DataFolder", "GitHubRelease", "HubDataset", "Problem", "locate"]


def locate(folder: str, release: Release) -> DataFolder:
    """Find a release in the place that the environment chooses.

    Args:
        folder: The release's folder name in `HKCANTO_DATA_DIR`, in the sample and in the cache.
        release: Where it is published.

    Returns:
        The folder. Nothing is downloaded before a file is asked for.

    Raises:
        DataNotFound: `HKCANTO_DATA` has an unknown value, or there is no such folder.

    Example:
        >>> from unittest.mock import patch
        >>> with patch.dict(os.environ, HKCANTO_DATA="", HKCANTO_DATA_DIR=""):
        ...     locate("hkmmlu", HubDataset("chuxuecao/HKMMLU")).kind
        'cache'
    """
    if isinstance(release, PackageData):
        return PackageFolder(folder, release)
    chosen = os.environ.get("HKCANTO_DATA") or "release"
    if chosen not in ("release", "sample"):
        raise DataNotFound(
            f"HKCANTO_DATA={chosen!r} is unknown. Set it to 'sample' (the small data set inside the"
            " package) or 'release' (the real data, the default)."
        )
    if chosen == "sample":
        return SampleFolder(folder)
    if given := os.environ.get("HKCANTO_DATA_DIR"):
        return LocalFolder(folder, Path(given).expanduser(), release)
    # Here, so that local data and the sample do not wait for the import of what downloads need.
    from .downloads import CachedGitHub, CachedHub

    if isinstance(release, GitHubRelease):
        return CachedGitHub(folder, release)
    return CachedHub(folder, release)
