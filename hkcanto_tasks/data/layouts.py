"""Which files of a release hold which split of what: by its card, else by the files' names."""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from .tables import ENDINGS, read_bytes

_log = logging.getLogger("hkcanto")

_SPLITS = {
    "test": "test",
    "dev": "dev",
    "train": "dev",
    "few_shot": "dev",
    "fewshot": "dev",
    "examples": "dev",
    "val": "val",
    "valid": "val",
    "validation": "val",
}
_SPLIT = "|".join(_SPLITS)
# `hk_law_test`, `test-hk_law`; and what Parquet files are called on the hub: `test-00000-of-00001`.
_AT_END = re.compile(rf"(?P<stem>.*?)[_.\s-](?P<split>{_SPLIT})", re.IGNORECASE)
_AT_START = re.compile(rf"(?P<split>{_SPLIT})[_.\s-](?P<stem>.*)", re.IGNORECASE)
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")
_NOT_DATA = ("dataset_info", "dataset_infos", "metadata", "package", "config")


@dataclass(frozen=True, slots=True)
class Split:
    """The rows of one split of something.

    Attributes:
        stem: What it is called: a subject, in the words of the release; empty if nothing says it.
        name: `test`, `dev` or `val`.
        files: Paths in the folder, to be read one after the other.
        delimiter: Between the cells of CSV files.
        column: The column whose cells must be the stem, where the files are of several subjects.
    """

    stem: str
    name: str
    files: tuple[str, ...]
    delimiter: str = ","
    column: str = ""


@cache
def find_splits(root: Path, files: tuple[str, ...]) -> Sequence[Split]:
    """Find the splits of a release of which nothing is declared.

    Args:
        root: Its folder.
        files: The files in it, as paths in the folder.

    Returns:
        A split for each configuration that its card names; without a card, or with one that says
        nothing about files, those that the names of files and folders tell.

    Examples:
        >>> files = ("test/hk_law.csv", "hk_law_dev.csv", "hk_music/test-00000-of-00001.parquet")
        >>> [(split.stem, split.name) for split in find_splits(Path("nowhere"), files)]
        [('hk_law', 'test'), ('hk_law', 'dev'), ('hk_music', 'test')]
    """
    splits = list(_of_card(root)) if "README.md" in files else []
    return splits or list(_of_names(files))


def _of_card(root: Path) -> list[Split]:
    """Ask `datasets` what the card says; its readers of files would change cells such as `007`."""
    if not read_bytes(root / "README.md").startswith(b"---"):
        return []
    from datasets.load import dataset_module_factory

    found = []
    try:
        configs = dataset_module_factory(str(root)).builder_configs_parameters.builder_configs or []
        for config in configs if len(configs) > 1 else ():  # of one, the files' names say more
            patterns = config.data_files
            splits = patterns.resolve(str(root)) if hasattr(patterns, "resolve") else patterns
            for name, paths in splits.items():
                relative = (Path(path).resolve().relative_to(root.resolve()) for path in paths)
                files = tuple(path.as_posix() for path in relative)
                if (of := _role(name, splits)) and all(file.endswith(ENDINGS) for file in files):
                    delimiter = str(getattr(config, "sep", None) or ",")
                    found.append(Split(str(config.name), of, files, delimiter))
    except Exception as error:  # of whatever kind the library's versions raise
        _log.info("%s: its card is of no help (%s); going by the names of files.", root, error)
        return []
    return found


def _role(name: str, splits: Mapping[str, object]) -> str | None:
    """What a split is; `datasets` calls a single one `train`, and a folder `dev` `validation`."""
    if len(splits) == 1:
        return "test"
    role = _SPLITS.get(str(name).lower())
    return "dev" if role == "val" and len(splits) == 2 else role


def _of_names(files: Sequence[str]) -> Iterator[Split]:
    shards: dict[tuple[str, str, str], list[str]] = {}
    for file in files:
        path = PurePosixPath(file)
        if path.suffix.lower() in ENDINGS and path.stem.lower() not in _NOT_DATA:
            name = _SHARD.sub("", path.stem)
            stem, split = _of_name(name, path.parent.parts)
            # Shards belong together; two files of one name in two formats do not.
            alone = "" if name != path.stem else file
            shards.setdefault((stem, split, alone), []).append(file)
    seen = set()
    for (stem, split, _), of_it in shards.items():
        if (stem, split) not in seen:
            seen.add((stem, split))
            yield Split(stem, split, tuple(of_it))


def _of_name(name: str, folders: Sequence[str]) -> tuple[str, str]:
    if name.lower() in _SPLITS:
        others = [each for each in folders if each.lower() not in _SPLITS]
        return others[-1] if others else "", _SPLITS[name.lower()]
    for pattern in (_AT_END, _AT_START):
        if match := pattern.fullmatch(name):
            return match["stem"], _SPLITS[match["split"].lower()]
    of_folder = [_SPLITS[each.lower()] for each in folders if each.lower() in _SPLITS]
    return name, of_folder[-1] if of_folder else "test"
