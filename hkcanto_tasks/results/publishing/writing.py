"""Atomic writing of a set of files: a killed process leaves either the old files or the new."""

import ctypes
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ...errors import OptionError

_EXCHANGES = {"linux": "renameat2", "darwin": "renameatx_np"}  # Python has no function for it.
_EXCHANGE = 2  # their flag


def write(files: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder: all of them, or none.

    They are written to a temporary folder and moved into place in one step. A single file is moved
    by itself, several are moved with their common folder and its other contents. Links in the
    folder are not followed.

    Args:
        files: Path in the folder (with `/`) → text.
        folder: Created if it does not exist.

    Raises:
        OptionError: A folder within it is a link, or is the current directory.
        OSError: The operating system refuses.
    """
    root = folder.resolve()
    place = root / os.path.commonpath(files)
    for within in {parent for path in files for parent in (root / path).parents}:
        if within.is_relative_to(root) and within.is_symlink():
            raise OptionError(f"{within} is a link, and links are not followed. Give a folder.")
    home = root.parent if place == root else root
    home.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".publish-", dir=home))
    made = beside / "made"
    try:
        if len(files) > 1 and place.exists():
            if Path.cwd().is_relative_to(place):
                raise OptionError(
                    f"{place} would be replaced, but you are in it: give another folder."
                )
            shutil.copytree(place, made, symlinks=True)
        for path, text in files.items():
            file = made / (root / path).relative_to(place)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)  # It may be a link.
            file.write_text(text, encoding="utf-8")
        place.parent.mkdir(parents=True, exist_ok=True)
        if len(files) > 1 and place.exists():
            _exchange(made, place)
        else:
            made.replace(place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _exchange(made: Path, place: Path) -> None:
    """Exchange two folders, in one step if the system and the file system support it."""
    name = _EXCHANGES.get(sys.platform)
    exchange = getattr(ctypes.CDLL(None), name, None) if name else None
    if exchange and exchange(0, os.fsencode(made), 0, os.fsencode(place), _EXCHANGE) == 0:
        return
    before = made.parent.with_name(f"{made.parent.name}-before")  # survives a crash
    place.replace(before)
    try:
        made.replace(place)
    except BaseException:
        before.replace(place)
        raise
    shutil.rmtree(before, ignore_errors=True)
