"""Read the tables of an origin, and group them into possible tasks."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path, PurePosixPath

import msgspec

from ..data.layouts import SPLITS, Split, find_splits
from ..data.tables import Record, Table, read_bytes, read_table
from ..errors import DataCorrupt
from .columns import Column, columns_of
from .origins import Origin


@dataclass(frozen=True)
class Group:
    """Tables with the same columns in one place: the subjects and splits of one task.

    Attributes:
        folder: The tables' folder.
        splits: Stem of a file → split → its files.
        records: The rows to score.
        header: Whether the tables have a header row.
        bad: The number of rows that cannot be read.
        only: The split to score, if there is no `test`.
        rows: The keys that lead to the rows in JSON files.
    """

    folder: str
    splits: dict[str, dict[str, tuple[str, ...]]]
    records: Sequence[Record]
    header: bool = True
    bad: int = 0
    only: str = ""
    rows: str = ""

    @cached_property
    def columns(self) -> list[Column]:
        """The columns that are not empty."""
        return [each for each in columns_of(self.records) if not each.is_blank]

    @property
    def files(self) -> list[str]:
        """Its files."""
        return [file for of in self.splits.values() for files in of.values() for file in files]

    @cached_property
    def patterns(self) -> dict[str, str]:
        """Split → the path of its files, with `{stem}`; empty if they have no common path."""
        found: dict[str, str] = {}
        for split in ("dev", "test"):
            paths = {stem: of[split] for stem, of in self.splits.items() if split in of}
            if any(len(files) > 1 for files in paths.values()):
                return {}
            one = {
                files[0] if len(self.splits) == 1 else _with_stem(files[0], stem)
                for stem, files in paths.items()
            }
            if len(one) > 1:
                return {}
            found |= dict.fromkeys([split] * len(one), *one)
        return found


@dataclass(frozen=True)
class Tables:
    """The tables in the files of an origin.

    Attributes:
        groups: The groups of tables.
        unread: Messages about files that cannot be read.
    """

    groups: Sequence[Group] = ()
    unread: Sequence[str] = field(default_factory=list)


def read_tables(origin: Origin) -> Tables:
    """Read the tables of an origin, and group those that belong together.

    Raises:
        DataCorrupt: No table can be read, or no table has rows.
    """
    read: list[tuple[tuple[str, tuple[str, ...], bool, str], Split, Table]] = []
    unread: list[str] = []
    for split in find_splits(origin.root, tuple(origin.files)):
        try:
            table, header, rows = _read(origin, split)
        except DataCorrupt as error:
            unread.append(str(error))
            continue
        if not table.records:
            unread.append(f"{origin.root / split.files[0]} has no rows.")
            continue
        columns = dict.fromkeys(name for each in table.records for name in each.cells)
        form = _outside(split.files[0]), tuple(sorted(columns)), header, rows
        read.append((form, split, table))
    if not read:
        raise DataCorrupt("\n".join(unread))
    read.sort(key=lambda each: each[0])
    groups = [
        replace(_group(folder, header, [each[1:] for each in parts]), rows=rows)
        for (folder, _, header, rows), parts in groupby(read, key=lambda each: each[0])
    ]
    return Tables(groups, unread)


def _read(origin: Origin, split: Split) -> tuple[Table, bool, str]:
    keys = ""
    try:
        parts = [read_table(origin.root / file, (), split.delimiter) for file in split.files]
    except DataCorrupt:
        found = {tuple(_paths_to_rows(origin.root / file)) for file in split.files}
        if len(found) != 1 or len(alone := found.pop()) != 1:
            raise
        (keys,) = alone
        parts = [read_table(origin.root / file, rows=keys) for file in split.files]
    table = Table(
        [row for each in parts for row in each.records], [b for p in parts for b in p.bad]
    )
    if _is_csv(split) and _lacks_header(table.records):
        names = [str(place) for place, _ in enumerate(table.records[0].cells, start=1)]
        parts = [read_table(origin.root / file, names, split.delimiter) for file in split.files]
        return Table([row for each in parts for row in each.records], []), False, ""
    return table, True, keys


def _paths_to_rows(path: Path) -> Iterator[str]:
    """Return the keys of a JSON object that lead to lists of objects, with dots between them."""
    try:
        left = [("", msgspec.json.decode(read_bytes(path)))] if path.suffix == ".json" else []
    except (msgspec.MsgspecError, RecursionError):
        return
    while left:
        above, value = left.pop()
        if isinstance(value, dict):
            left += [(f"{above}.{key}".lstrip("."), each) for key, each in value.items()]
        elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            yield above


def _is_csv(split: Split) -> bool:
    return re.search(r"\.[ct]sv(\.gz)?$", split.files[0], re.IGNORECASE) is not None


def _lacks_header(records: Sequence[Record]) -> bool:
    """Return whether the first row of a CSV file is an item: its texts occur in other rows."""
    columns = columns_of(records)
    known = ("question", "answer", "label", "text", "source", "target", "subject", "id")
    if any(each.language or any(map(each.is_called, known)) for each in columns):
        return False
    again = (each for each in columns if len(each.counts) <= len(each.texts) / 2)
    return any(each.name in {text.lower() for text in each.counts} for each in again) or any(
        len(each.name) > 30 or re.search(r"[?？。！]$|^\d+\.?\d*$", each.name) for each in columns
    )


def _outside(file: str) -> str:
    """Return the path of a file's folder, without folders that name a split."""
    folders = PurePosixPath(file).parent.parts
    return "/".join(each for each in folders if each.lower() not in SPLITS)


def _group(folder: str, header: bool, parts: Sequence[tuple[Split, Table]]) -> Group:
    names = {split.name for split, _ in parts}
    only = "" if "test" in names else "val" if "val" in names else "dev"
    if only:
        parts = [
            (replace(split, name="test"), table) for split, table in parts if split.name == only
        ]
    splits: dict[str, dict[str, tuple[str, ...]]] = {}
    for split, _ in sorted(parts, key=lambda each: each[0].rank):
        splits.setdefault(split.stem, {}).setdefault(split.name, split.files)
    tested = {stem: of for stem, of in splits.items() if "test" in of}
    tests = [table for split, table in parts if split.name == "test"]
    return Group(
        folder,
        tested,
        [row for table in tests for row in table.records],
        header,
        sum(len(table.bad) for table in tests),
        {"dev": "train", "val": "validation"}.get(only, ""),
    )


def _with_stem(file: str, stem: str) -> str:
    head, found, tail = file.rpartition(stem)
    return f"{head}{{stem}}{tail}" if found else file


def divided(group: Group, alike: Callable[[Group], object]) -> Iterator[Group]:
    """Divide a group so that the subjects of each part are similar and share a path pattern.

    Args:
        group: The group.
        alike: Returns the property that all subjects of a part must share.
    """
    parts: dict[object, list[tuple[str, list[Record]]]] = {}
    for stem, of in group.splits.items() if len(group.splits) > 1 else ():
        own = [row for row in group.records if row.file.endswith(of["test"])]
        same = alike(replace(group, splits={stem: of}, records=own))
        parts.setdefault(same if group.patterns else stem, []).append((stem, own))
    if len(parts) < 2:
        yield group
        return
    for part in parts.values():
        splits = {stem: group.splits[stem] for stem, _ in part}
        yield replace(group, splits=splits, records=[row for _, own in part for row in own])
