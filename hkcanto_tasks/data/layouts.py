"""Find the splits and subjects of a release, from its data set card or from file names."""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath

from ..errors import DataNotFound
from .scripts import script_named, script_of_folders
from .stems import words
from .tables import is_table, read_bytes, table_ending

_log = logging.getLogger("hkcanto")

SPLITS = {
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
"""Name of a split in a release → our split, and its preference among several names."""
_SPLIT = "|".join(SPLITS)
# `hk_law_test`, `test-hk_law`, and the hub's Parquet files `test-00000-of-00001`.
_AT_END = re.compile(rf"(?P<stem>.*?)[_.\s-](?P<split>{_SPLIT})", re.IGNORECASE)
_AT_START = re.compile(rf"(?P<split>{_SPLIT})[_.\s-](?P<stem>.*)", re.IGNORECASE)
# `test-00000-of-00002`, `part-0`, and the hub's own `0000.parquet`.
_SHARD = re.compile(
    r"(?:(?:^|[-_.])(?:part|shard|chunk)[-_.]?(\d+)|-(\d{5})-of-(\d{5})|^(0\d{2,}))$", re.IGNORECASE
)
_NOT_DATA = (
    *("dataset_info", "dataset_infos", "dataset_dict", "state"),
    *("metadata", "package", "config"),
)


@dataclass(frozen=True, slots=True)
class Split:
    """The location of one split's rows.

    Attributes:
        stem: The subject's name in the release; empty if nothing names it.
        name: `test`, `dev` or `val`.
        files: Paths in the folder, to be read one after the other.
        delimiter: The character between the cells of CSV files.
        column: The column that selects the rows, if the files have rows of several subjects.
        values: The subject's names in that column.
        script: The script or language in the split's name: `tc`, `sc`, `en`, `zh`, or empty.
        rank: The preference among names of a split: `dev` before `train`.
        written: A column that names the script of each row, and its value for these rows.
        lines: One column per file, for files of parallel lines (line 7 of each is row 7).
        above: The folder around the declared path of the files, with a final slash.
        alone: The split's name in the release, if it is taken as the test split because it is the
            only one.
    """

    stem: str
    name: str
    files: tuple[str, ...]
    delimiter: str = ""
    column: str = ""
    values: tuple[str, ...] = ()
    script: str = ""
    rank: int = 0
    written: tuple[str, str] = ("", "")
    lines: tuple[str, ...] = ()
    above: str = ""
    alone: str = ""


@cache
def find_splits(root: Path, files: tuple[str, ...]) -> Sequence[Split]:
    """Find the splits of a release for which no files are declared.

    Args:
        root: Its folder.
        files: The files in it, as paths in the folder.

    Returns:
        The splits of each configuration in the card. Without a card, or if the card does not list
        files, the splits that file and folder names indicate. Several splits have the same stem and
        name if several files do.

    Examples:
        >>> files = ("test/hk_law.csv", "hk_law_dev.csv", "hk_music/test-00000-of-00001.parquet")
        >>> [(split.stem, split.name) for split in find_splits(Path("nowhere"), files)]
        [('hk_law', 'test'), ('hk_law', 'dev'), ('hk_music', 'test')]
    """
    splits = list(_of_card(root)) if "README.md" in files else []
    return splits or list(_of_names(files))


def shards_expected(files: Sequence[str]) -> int:
    """Return the expected number of shards; 0 if every shard is there exactly once.

    Examples:
        >>> shards_expected(["law-part0.csv", "law-part2.csv"]), shards_expected(["law.csv"])
        (3, 0)
    """
    stems = (file.rpartition("/")[2][: -len(table_ending(file)) or None] for file in files)
    found = [match for stem in stems if (match := _SHARD.search(stem))]
    numbers = sorted(int(each[1] or each[2] or each[4]) for each in found)
    first = min(numbers[0], 1) if numbers else 0
    announced = [int(each[3]) for each in found if each[3]]
    expected = max(announced or [numbers[-1] + 1 - first if numbers else 0])
    return 0 if numbers == [*range(first, first + expected)] else expected


def _of_card(root: Path) -> list[Split]:
    """Return the splits in a data set card; empty if the card does not help."""
    if not read_bytes(root / "README.md").startswith(b"---"):
        return []
    found: list[Split] = []
    try:
        configs = _configurations(root, root)
        for config in configs if len(configs) > 1 else ():  # for one, the files' names say more
            for name, files in config.splits.items():
                if (of := _role(name, config.splits)) and all(map(is_table, files)):
                    alone = name if len(config.splits) == 1 else ""
                    found += _divided(config.split(of, files, alone), name, root.name)
    except Exception as error:  # its type depends on the library's version
        _log.info("%s: its card cannot be used (%s); using the names of files.", root, error)
        return []
    return found


@dataclass(frozen=True, slots=True)
class _Configuration:
    """A configuration of a hub data set.

    Attributes:
        name: Its name in the card; `default` if it has none.
        splits: Name of a split → its files.
        delimiter: The character between the cells of its CSV files; empty if the card has none.
    """

    name: str
    splits: Mapping[str, tuple[str, ...]]
    delimiter: str

    def split(self, role: tuple[str, int], files: tuple[str, ...], alone: str = "") -> Split:
        """Return one of its splits in a given role."""
        alone = "" if SPLITS.get(alone.lower()) == role[0] else alone
        return Split(self.name, role[0], files, self.delimiter, rank=role[1], alone=alone)


def _configurations(root: Path, folder: Path) -> list[_Configuration]:
    """Ask `datasets` only for the card's contents: its readers would change cells such as `007`."""
    from datasets.load import dataset_module_factory

    found = []
    configs = dataset_module_factory(str(folder)).builder_configs_parameters.builder_configs or []
    for config in configs:
        patterns = config.data_files
        splits = patterns.resolve(str(folder)) if hasattr(patterns, "resolve") else patterns
        of_splits = {
            str(name): tuple(
                Path(path).resolve().relative_to(root.resolve()).as_posix() for path in paths
            )
            for name, paths in splits.items()
        }
        delimiter = str(getattr(config, "sep", None) or ",").replace(",", "")
        found.append(_Configuration(str(config.name), of_splits, delimiter))
    return found


def named_splits(root: Path, config: str, splits: Mapping[str, str], *, one: bool) -> list[Split]:
    """Find the splits of a hub data set by the names that a task declares.

    Args:
        root: Its folder.
        config: The configuration, or a folder of the data set; empty for all configurations.
        splits: Our split → its name in the data set; if empty, splits are recognised by name.
        one: Whether the task has no subjects, and so only one configuration.

    Raises:
        DataNotFound: The configuration or split does not exist; the message lists the existing
            ones.
    """
    where, known = f"the data set in {root}", _known(root, root)
    names = [each.name for each in known]
    tables = (path.relative_to(root).parent for path in root.rglob("*") if is_table(path.name))
    folders = sorted({path.as_posix() for path in tables} - {"."})
    chosen = [each for each in known if config in ("", each.name)]
    if config and not chosen and config in folders:
        chosen = [replace(each, name=config) for each in _known(root, root / config)]
    if not chosen or (one and len(chosen) > 1):
        said = f"no configuration {config!r}" if config else "several configurations"
        more = [each for each in folders if each not in names]
        listed = f"there are {', '.join(names)}" + f"; folders: {', '.join(more)}" * bool(more)
        raise DataNotFound(f'{where} has {said}; {listed}. Declare one: config = "{names[0]}".')
    found: list[Split] = []
    for each in chosen:
        stem = "" if config or len(chosen) == 1 else each.name
        if splits:
            roles = {name: (ours, 0) for ours, name in splits.items() if name in each.splits}
        else:
            roles = {name: role for name in each.splits if (role := _role(name, each.splits))}
        for name, role in roles.items():
            if others := [file for file in each.splits[name] if not is_table(file)]:
                raise DataNotFound(
                    f"{where} has {others[0]} in its split {name!r}, which is not a table."
                )
            alone = "" if splits or len(each.splits) > 1 else name
            found.append(replace(each.split(role, each.splits[name], alone), stem=stem))
    there = {name: None for each in chosen for name in each.splits}
    for ours, name in (splits or {"test": "test"}).items():
        if ours not in {each.name for each in found}:
            raise DataNotFound(
                f"{where} has no split {name!r}{f' in {config!r}' * bool(config)}; there are "
                f"{', '.join(there)}. Declare which one is the {ours} split: "
                f'splits = {{ {ours} = "{next(iter(there), "…")}" }}.'
            )
    return found


def _known(root: Path, folder: Path) -> list[_Configuration]:
    try:
        return _configurations(root, folder)
    except Exception as error:  # of whatever kind the library's versions raise
        raise DataNotFound(
            f"`datasets` finds no configurations in {folder}: {error}. Name the files instead: "
            'files = { test = "…" }.'
        ) from error


def _divided(split: Split, name: str, benchmark: str) -> Iterator[Split]:
    """Divide a configuration into files, unless it is a subject or the files are shards."""
    rest, script = script_named(split.stem)
    script = script if not rest else script_named(name)[1]
    parts = list(_of_names(split.files))
    if words(rest, benchmark) or len({part.stem for part in parts}) < max(2, len(parts)):
        yield replace(split, script=script or (parts[0].script if parts else ""))
        return
    for part in parts:
        yield replace(split, stem=part.stem, files=part.files, script=script or part.script)


def _role(name: str, splits: Mapping[str, object]) -> tuple[str, int] | None:
    """Return a split's role; `datasets` calls a single split `train`, and `dev` `validation`."""
    plain = script_named(str(name))[0].lower()
    roles = {script_named(str(each))[0].lower() for each in splits}
    if len(roles) == 1:
        return "test", 0
    if not (role := SPLITS.get(plain)):
        return None
    return ("dev" if role == "val" and len(roles) == 2 else role), [*SPLITS].index(plain)


def _of_names(files: Sequence[str]) -> Iterator[Split]:
    shards: dict[tuple[Split, str, str], list[str]] = {}
    for file in files:
        path = PurePosixPath(file)
        stem = path.name[: -len(table_ending(file)) or None]
        if is_table(file) and stem.lower() not in _NOT_DATA:
            name = _SHARD.sub("", stem)
            folders = [each.removesuffix(".zip") for each in path.parent.parts]
            split = _of_name(name, folders)
            # Shards belong together; files of the same name in two formats do not.
            alone = "" if name != stem else file
            shards.setdefault((split, str(path.parent), alone), []).append(file)
    for (split, _, _), of_it in shards.items():
        yield replace(split, files=tuple(of_it))


def _of_name(name: str, folders: Sequence[str]) -> Split:
    """Return the subject and split in a file's name and folders, without the file itself."""
    plain, script = script_named(name) if name else ("", "")
    inside = [script_named(folder)[0] for folder in folders]
    script_outside = script_of_folders(folders)
    roles = [each.lower() for each in inside if each.lower() in SPLITS]
    others = [each for each in inside if each and each.lower() not in SPLITS]
    above = others[-1] if others else ""
    role = roles[-1] if roles else "test"
    stem = name
    if not plain or plain.lower() in SPLITS:
        stem, role = above, plain.lower() or role
    else:
        for text, own in ((name, ""), (plain, script)):
            if match := _AT_END.fullmatch(text) or _AT_START.fullmatch(text):
                stem, role, script = match["stem"], match["split"].lower(), own
                break
        else:
            script = ""  # it may be part of the subject's name
    return Split(
        stem,
        SPLITS[role],
        (),
        script=(script or script_outside) if script in ("", "zh") and script_outside else script,
        rank=[*SPLITS].index(role),
    )
