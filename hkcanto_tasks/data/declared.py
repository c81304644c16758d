"""Match the paths that a task declares to the files of a release, and to subjects.

A release's path may differ from the declared one by a folder around it, `.gz` at its end, and the
hub's shard numbers (`law-00000-of-00002.parquet` for `law.parquet`).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .layouts import Split
from .scripts import script_of_folders
from .tables import container, table_ending

if TYPE_CHECKING:
    from ..catalogue import Subject, TaskDefinition

_SHARD = r"-\d{5}-of-\d{5}"


@dataclass(frozen=True, slots=True)
class _Found:
    """The file of a declared path, or its shards.

    Attributes:
        above: The folder that the release adds around the declared path, with a final slash.
        exact: Whether the release has exactly the declared path.
        files: Paths in the release.
    """

    above: str
    exact: bool
    files: tuple[str, ...]


def _matching(path: str, files: Collection[str]) -> dict[str, list[_Found]]:
    """Return stem → the files that match a declared path: exact matches if there are any."""
    before, place, after = _divided(path)
    ending = table_ending(after or before)
    if place:
        core = re.escape(after[: -len(ending) or None])
        inner = rf"{re.escape(before)}(?P<stem>[^/]+?){core}"
    else:
        inner = rf"{re.escape(before[: -len(ending) or None])}(?P<stem>)"
    whole = rf"(?P<above>(?:.*/)?){inner}(?P<shard>{_SHARD})?{re.escape(ending)}(?P<gz>\.gz)?"
    found: dict[str, dict[tuple[str, bool, bool], list[str]]] = {}
    for file in files:
        if match := re.fullmatch(whole, file):
            key = match["above"], not match["gz"], not match["shard"]
            found.setdefault(match["stem"], {}).setdefault(key, []).append(file)
    return {
        stem: [
            _Found(above, not above and plain, tuple(sorted(each)))
            for (above, plain, one), each in places.items()
            if one or (above, plain, True) not in places
        ]
        for stem, places in found.items()
    }


def _divided(path: str) -> tuple[str, str, str]:
    match = re.search(r"\{stem\}|\*", path)
    return (path[: match.start()], match[0], path[match.end() :]) if match else (path, "", "")


def declared_splits(files: Collection[str], task: "TaskDefinition") -> Iterator[Split]:
    """Find the splits of a task through the paths that it declares.

    Args:
        files: The files of the release.
        task: The task.

    Returns:
        The splits of every subject, including subjects of other tasks. A split in several folders
        occurs several times; a split without one of its files of parallel lines is left out.

    Examples:
        >>> from hkcanto_tasks.catalogue import TaskDefinition
        >>> task = TaskDefinition(name="quiz", title="", kind="", files="test/{stem}.csv")
        >>> [(each.stem, each.files) for each in declared_splits(["test/law.csv", "law.csv"], task)]
        [('law', ('test/law.csv',))]
    """
    for name, places in task.places.items():
        found: dict[str, list[_Found]] = {}
        for paths in places:
            of_each = [_matching(path, files) for path in paths]
            for stem in of_each[0]:
                together = [*_together([each.get(stem, []) for each in of_each])]
                exact = [each for each in together if each.exact]
                if together:
                    found.setdefault(stem, exact or together)
        for stem, each_place in found.items():
            for place in each_place:
                yield Split(
                    stem,
                    name,
                    place.files,
                    script=script_of_folders(place.files[0].split("/")[:-1]),
                    lines=task.lines(name),
                    above=place.above,
                )


def _together(of_each: Sequence[Sequence[_Found]]) -> Iterator[_Found]:
    """Join files of parallel lines, one for each column, that are in the same folder."""
    if len(of_each) == 1:
        yield from of_each[0]
        return
    for first in of_each[0]:
        beside = [[each for each in found if each.above == first.above] for found in of_each]
        if all(found and len(found[0].files) == 1 for found in beside):
            parts = [found[0] for found in beside]
            files = tuple(each.files[0] for each in parts)
            yield _Found(first.above, all(each.exact for each in parts), files)


def wanted(
    recorded: Collection[str], task: "TaskDefinition", subjects: Sequence["Subject"]
) -> list[str]:
    """Return the files of a release that contain some subjects of a task.

    Args:
        recorded: The recorded files of the release.
        task: The task.
        subjects: The subjects.

    Returns:
        For each subject, the files of the first declared path that the release has, or the archive
        that contains them. If it has none of the paths, the path as declared.
    """
    found: dict[str, None] = {}
    archives = {file for file in recorded if file.lower().endswith(".zip")}
    for subject in subjects:
        for places in task.places.values():
            asked = [[path.replace("{stem}", subject.stem) for path in paths] for paths in places]
            there = [
                [file for path in paths for file in _recorded(path, recorded, archives)]
                for paths in asked
            ]
            found |= dict.fromkeys(next(filter(None, there), [*map(container, asked[0])]))
    return [*found]


def _recorded(path: str, recorded: Collection[str], archives: Collection[str]) -> Sequence[str]:
    if container(path) in archives:
        return [container(path)]
    if path in recorded:
        return [path]
    return [file for each in _matching(path, recorded).get("", []) for file in each.files]


def subjects_named(files: Collection[str], task: "TaskDefinition") -> Mapping[str, str]:
    """Return the names that match `*` in the test paths of a task, each with one of its files.

    Args:
        files: The files of the release.
        task: The task; its `extra_stems` are left out.
    """
    named: dict[bool, dict[str, str]] = {True: {}, False: {}}
    for path in task.paths("test", "{stem}"):
        for stem, found in sorted(_matching(path, files).items()) if "*" in path else ():
            for each in found:
                named[each.exact].setdefault(stem, each.files[0])
    stems = named[True] or named[False]
    return {stem: file for stem, file in stems.items() if stem not in task.extra_stems}
