"""Reading folders of results for the board: records and logs; logs are cached as records.

A result that must not be on a board is refused by name, with the reason.
"""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from math import isclose
from pathlib import Path
from typing import NamedTuple

import msgspec

from ... import __version__
from ...data.downloads import cache_folder, own_cache
from ...errors import HKCantoError, LogError, on_disk
from ..logs import logs_in, read_runs
from ..logs.items import UNREADABLE, reason
from ..publishing.eee import record_of
from ..publishing.runs import NotPublishable, Publisher, sorted_out
from ..publishing.writing import write
from ..reports.presentation import task_title
from .records import Record, read_record

_SAME = 1e-8  # records have ten digits
_MUCH = 20e6  # bytes of logs above which several processes pay off
_MOST = 5e6  # bytes of a record; ours have about ten thousand

Progress = Callable[[int, int], None]


class Refused(NamedTuple):
    """A file that is not on the board, and why."""

    path: str
    reason: str


class Results(NamedTuple):
    """The records read from folders of results, and the files refused."""

    records: Sequence[Record]
    refused: Sequence[Refused]


class _Group(NamedTuple):
    """Logs that are read together: those in a folder with logs, or a single file."""

    name: str  # the user's name for the model; empty without one
    path: Path
    shown: str  # its path, for people


class _Read(msgspec.Struct):
    """The cache entry of a group: records as JSON, refusals, and a stamp of the files."""

    stamp: str
    records: list[str]
    refused: list[tuple[str, str]]


def read_results(arguments: Sequence[str], progress: Progress | None = None) -> Results:
    """Read records and logs, mixed freely.

    Args:
        arguments: Folders or files; `NAME=PATH` names the model of the logs in it.
        progress: Called with the number of folders of logs read so far and the total.

    Raises:
        LogError: A path does not exist.
        DataNotFound: The system refuses.
    """
    records, refused = list[Record](), list[Refused]()
    groups = list[_Group]()
    for argument in arguments:
        name, root = _argument(argument)
        with on_disk(root):
            of_logs, others = _sorted(name, root)
        groups += of_logs
        for file in others:
            shown = _shown(file, root)
            try:
                records.append(_record(file, shown))
            except UNREADABLE as error:
                refused.append(Refused(shown, reason(error)))
    known = len(records)
    for group, read in zip(groups, _read(groups, progress), strict=True):
        for text in read.records:
            try:
                records.append(read_record(text.encode(), group.shown))
            except UNREADABLE as error:
                refused.append(Refused(group.shown, reason(error)))
        refused += [Refused(*each) for each in read.refused]
    kept = list(_once(records, known, refused))
    return Results(
        sorted(kept, key=lambda each: (each.model, each.task, each.created, each.source)),
        sorted(set(refused)),
    )


def _argument(argument: str) -> tuple[str, Path]:
    name, _, path = argument.partition("=")
    if not path or Path(argument).exists():
        name, path = "", argument
    root = Path(path).expanduser()
    if not root.exists():
        raise LogError(f"{path} does not exist. Give a folder of results, or NAME=PATH.")
    return name, root


def _shown(path: Path, root: Path) -> str:
    """Return a path to show, without the location of the folder of results."""
    return path.relative_to(root).as_posix() if path != root else path.name


def _sorted(name: str, root: Path) -> tuple[list[_Group], list[Path]]:
    """Return the logs at a path in groups, and its other JSON files, which should be records."""
    if root.is_file():
        logs = {root} if root.suffix == ".eval" or root.name.startswith("results_") else set()
        groups = [_Group(name, each, each.name) for each in logs]
        return groups, [] if logs else [root]
    logs = {log for log in logs_in(root) if not _hidden(log, root)}
    # One run may have several logs in a folder, so a folder with logs is read as a whole.
    homes = sorted({log.parent for log in logs})
    tops = [home for home in homes if not any(home != up and up in home.parents for up in homes)]
    files = [file for file in sorted(root.rglob("*.json")) if not _hidden(file, root)]
    others = [file for file in files if file not in logs and file.is_file()]
    groups = [_Group(name, top, _shown(top, root) if top != root else ".") for top in tops]
    return groups, others


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _record(file: Path, shown: str) -> Record:
    if file.stat().st_size > _MOST:
        raise LogError("it is too large for a record")
    data = file.read_bytes()
    if b"evaluation_results" not in data:
        raise LogError("it is neither a log nor a record of Every Eval Ever")
    return read_record(data, shown)


def _once(records: Sequence[Record], known: int, refused: list[Refused]) -> Iterator[Record]:
    """Yield each result once. Those from index `known` on are from logs, and check the records."""
    found: dict[Hashable, list[tuple[bool, Record]]] = defaultdict(list)
    for place, each in enumerate(records):
        made = round(each.created.timestamp(), 3)
        key = each.model, each.harness, each.comparable_as, each.options.get("rescored"), made
        found[key].append((place >= known, each))
    for alike in found.values():
        (is_log, first), *others = sorted(alike, key=lambda each: (not each[0], each[1].source))
        unlike = [each for _, each in others if not _equal(first, each)]
        by_log = "the log beside it" if is_log else first.source
        for each in unlike:
            why = f"its figures differ from those of {by_log} for the same run"
            refused.append(Refused(each.source, why))
        if is_log or not unlike:
            # The record says who ran it; its figures are those of the log.
            yield next(
                (each for from_log, each in alike if not from_log and each not in unlike), first
            )
            continue
        why = f"its figures differ from those of {unlike[0].source} for the same run"
        refused.append(Refused(first.source, why))


def _equal(one: Record, other: Record) -> bool:
    """Return whether the figures that two records share are equal, including the headline."""
    shared = one.values.keys() & other.values.keys()
    return one.headline.name in shared and all(
        isclose(one.values[name].value, other.values[name].value, rel_tol=_SAME, abs_tol=_SAME)
        for name in shared
    )


# ---------------------------------------------------------------------- logs


def _read(groups: Sequence[_Group], progress: Progress | None) -> list[_Read]:
    """Return the results of each group of logs, from the cache if its files have not changed."""
    home = own_cache(cache_folder() / "board")
    done: dict[_Group, _Read] = {}
    stamps = {group: _stamp(group) for group in groups}
    for group in groups:
        kept = home / _name(group)
        if kept.is_file():
            try:
                read = msgspec.json.decode(kept.read_bytes(), type=_Read)
            except UNREADABLE:
                continue
            if read.stamp == stamps[group][0]:
                done[group] = read
    rest = [group for group in groups if group not in done]
    large = sum(stamps[group][1] for group in rest) > _MUCH and len(rest) > 1
    workers = min(len(rest), os.cpu_count() or 1) if large else 0
    pool = ProcessPoolExecutor(workers) if workers > 1 else None
    try:
        made = pool.map(_read_logs, rest) if pool else map(_read_logs, rest)
        for place, (group, (records, refused)) in enumerate(zip(rest, made, strict=True), 1):
            done[group] = _Read(stamps[group][0], records, refused)
            with on_disk(home, "written", "Set HKCANTO_CACHE to a folder that you may write to."):
                write({_name(group): msgspec.json.encode(done[group]).decode()}, home)
            if progress:
                progress(place, len(rest))
    finally:
        if pool:
            pool.shutdown(cancel_futures=True)
    return [done[group] for group in groups]


def _name(group: _Group) -> str:
    """Return the name of a group in the cache, made from its path, not its content."""
    key = f"{group.name}={group.path.resolve()}"
    return f"{sha256(os.fsencode(key)).hexdigest()[:20]}.json"


def _stamp(group: _Group) -> tuple[str, int]:
    """Return a stamp that changes with the files of a group, and their size in bytes."""
    files = sorted(group.path.rglob("*")) if group.path.is_dir() else [group.path]
    own = [(str(file), file.stat()) for file in files if file.is_file()]
    told = [__version__, *((path, each.st_size, each.st_mtime_ns) for path, each in own)]
    return sha256(repr(told).encode()).hexdigest(), sum(each.st_size for _, each in own)


def _read_logs(group: _Group) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the records of a group as JSON, and the logs and runs that are refused."""
    root = group.path if group.path.is_dir() else group.path.parent
    try:
        read = read_runs(f"{group.name}={group.path}" if group.name else str(group.path))
    except HKCantoError as error:
        return [], [(group.shown, " ".join(str(error).split()))]
    refused = [(_of(group, log.path, root), log.reason) for log in read.skipped]
    records = []
    clean, others = sorted_out(read)
    for run, why in others:
        refused.append((_of(group, run.sources[0], root), f"{task_title(run)}: {why}"))
    for run in clean:
        try:
            made = record_of(run, Publisher())
        except NotPublishable as error:
            refused.append((_of(group, run.sources[0], root), str(error)))
            continue
        made["retrieved_timestamp"] = made["evaluation_timestamp"]
        records.append(json.dumps(made, ensure_ascii=False))
    return records, refused


def _of(group: _Group, path: Path, root: Path) -> str:
    """Return the path of a log to show."""
    inside = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    return inside if group.shown in (".", inside) else f"{group.shown}/{inside}"
