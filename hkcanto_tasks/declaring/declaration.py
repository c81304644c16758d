"""Write, check and install a first `benchmark.toml`."""

import importlib.util
import json
import re
import shutil
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from hkcanto_metrics.script import is_han

from ..catalogue import (
    TaskDefinition,
    TaskVariant,
    Variant,
    benchmarks,
    named_tasks,
    read_benchmark,
)
from ..data.declared import subjects_named
from ..data.locating import locate
from ..data.release_files import ReleaseRows
from ..data.tables import container
from ..errors import CatalogueError, HKCantoError, OptionError, on_disk
from ..printable import printable
from ..setup import find_kind
from .columns import called
from .forms import languages_of, recognise
from .origins import Origin, find_origin, ignoring_other_data, release_lines
from .proposals import Doubt, Proposal
from .tables import Group, divided, read_tables

_NAME = re.compile("[a-z][a-z0-9_]*")
_MOST_SUBJECTS = 100
# Characters that control a terminal or an editor.
_ACTING = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Declared:
    """A newly declared benchmark.

    Attributes:
        folder: Its folder.
        tasks: The names of its tasks.
        recognised: Each task's kind, rows and columns in one line.
        doubts: The open questions, which are comments in its `benchmark.toml`.
        remarks: Further remarks: which files were copied or left out.
        problem: Why it does not load yet; empty if it does.
    """

    folder: Path
    tasks: Sequence[str]
    recognised: Sequence[str]
    doubts: Sequence[Doubt]
    remarks: Sequence[str]
    problem: str


@dataclass(frozen=True)
class _Task:
    name: str
    title: str
    group: Group
    proposal: Proposal


def declare(name: str, source: str, into: Path, *, force: bool = False) -> Declared:
    """Inspect rows, and declare them as a benchmark: a folder with a `benchmark.toml`.

    Nothing is written before the declaration is complete, and files are installed atomically.

    Args:
        name: The name of the benchmark and of its folder.
        source: The location of the rows; see `find_origin`.
        into: The folder in which to create the benchmark's folder.
        force: Replace existing files.

    Raises:
        OptionError: The name is invalid or already taken.
        CatalogueError: No kind of task was recognised.
        DataNotFound, DataCorrupt, NetworkUnavailable: The rows cannot be downloaded or read.
    """
    home = into.expanduser() / name
    _refuse_name(name, home)
    if not home.parent.is_dir():
        raise OptionError(f"--into {into}: the folder does not exist. Make it, or give another.")
    if (home / "benchmark.toml").exists() and not force:
        raise OptionError(f"{home / 'benchmark.toml'} exists. Give another name, or --force.")
    origin = find_origin(source, name, home)
    tasks, remarks = _recognised(name, origin)
    toml = _toml(name, origin, tasks, remarks)
    doubts = [doubt for task in tasks for doubt in task.proposal.doubts]
    with on_disk(home, "written", "Make room, or give another place with --into."):
        beside = Path(tempfile.mkdtemp(prefix=f".new-{name}-", dir=home.parent))
        try:
            staged = beside / name
            staged.mkdir()
            files = sorted({container(file) for task in tasks for file in task.group.files})
            for file in files if origin.copied else ():
                (staged / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(origin.root / file, staged / file)
            if origin.recorded:
                (staged / "checksums.sha256").write_text(_checksums(origin), encoding="utf-8")
            (staged / "benchmark.toml").write_text(toml, encoding="utf-8")
            _install(staged, home, force=force)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    if origin.copied:
        remarks = [f"Copied into {home}: {_listed(files)}.", *remarks]
    said = [_said(task) for task in tasks]
    return Declared(home, [task.name for task in tasks], said, doubts, remarks, _problem(home))


# ---------------------------------------------------------------------- the name


def _refuse_name(name: str, home: Path) -> None:
    if not _NAME.fullmatch(name):
        raise OptionError(
            f"{name!r} cannot be the name of a task: names begin with a letter from a to z, and "
            "have only these letters, digits and _. For example: my_quiz."
        )
    owners = {task.name: task.benchmark for task in named_tasks().values()}
    owners |= {each.name: each for each in benchmarks()}
    if name in owners and Path(owners[name].home) != home.resolve():
        raise OptionError(f"{name!r} is taken by {owners[name].home}. Give another name.")
    found = importlib.util.find_spec("lm_eval")
    theirs = Path(found.origin).parent / "tasks" if found and found.origin else home
    if (theirs / name).is_dir() or next(theirs.rglob(f"{name}.yaml"), None):
        raise OptionError(f"{name!r} is a task of lm-eval. Give another name.")


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")


def _distinct(texts: Iterable[str], otherwise: str) -> Iterator[str]:
    """Yield a different part of a task's name for each text."""
    taken: set[str] = set()
    for number, text in enumerate(texts, start=1):
        slug = _slug(text)
        slug = slug if slug and slug not in taken else f"{otherwise}{number}"
        taken.add(slug)
        yield slug


# ---------------------------------------------------------------------- recognising


def _recognised(name: str, origin: Origin) -> tuple[list[_Task], list[str]]:
    tables = read_tables(origin)
    remarks, found = [f"Left out: {each}" for each in tables.unread], []
    for group in (part for each in tables.groups for part in divided(each, languages_of)):
        try:
            found.append((group, recognise(group)))
        except CatalogueError as error:
            remarks.append(f"Left out: {error}")
    if not found:
        raise CatalogueError("\n".join(each.removeprefix("Left out: ") for each in remarks))
    folders = Counter(group.folder for group, _ in found)
    slugs = _distinct((_called(group, folders[group.folder] < 2) for group, _ in found), "part")
    tasks = []
    for (group, proposals), slug in zip(found, slugs, strict=True):
        for proposal in proposals:
            names = [name, slug if len(found) > 1 else "", proposal.suffix]
            whole = "_".join(filter(None, names))
            title = whole.replace("_", " ").capitalize()
            title = f"{title}: {proposal.title}" if proposal.title else title
            tasks.append(_Task(whole, title, group, _with_group(proposal, group)))
    return tasks, remarks


def _called(group: Group, alone: bool) -> str:
    """Return a group's name: its folder, or its first file if other groups share the folder."""
    place = group.folder if alone and group.folder else group.files[0].partition(".")[0]
    return place.rpartition("/")[2]


def _with_group(proposal: Proposal, group: Group) -> Proposal:
    """Add the questions about the files."""
    doubts = [*proposal.doubts]
    if group.only:
        doubts.append(Doubt(f'There is no split "test". Should "{group.only}" be used instead?'))
    return replace(proposal, doubts=doubts)


def _said(task: _Task) -> str:
    roles = ", ".join(
        f"{role} = {each if isinstance(each, str) else ', '.join(each)}"
        for role, each in task.proposal.columns.items()
    )
    named = roles if task.group.header else "no header row"
    rows = f"{len(task.group.records):,} rows"
    subjects = f", {len(task.group.splits)} subjects" if len(task.group.splits) > 1 else ""
    return f"{task.name}: {task.proposal.kind}, {rows}{subjects} ({named})"


def _listed(files: Sequence[str]) -> str:
    more = f" and {len(files) - 6} more" if len(files) > 6 else ""
    return f"{', '.join(files[:6])}{more}"


# ---------------------------------------------------------------------- the text


def _toml(name: str, origin: Origin, tasks: Sequence[_Task], remarks: Sequence[str]) -> str:
    title = name.replace("_", " ").capitalize()
    lines = [
        f"# Written by `hkcanto new` from {_one_line(origin.said)}. Check it with `hkcanto show`.",
        "# `# ?` marks a question to you: change the entry if necessary, and remove the question.",
        *(f"# {_one_line(each)}" for each in remarks),
        "",
        f"name = {_value(name)}",
        f"title = {_value(title)}",
    ]
    for table, entries in release_lines(origin).items():
        lines += ["", f"[{table}]", *(f"{key} = {_value(text)}" for key, text in entries.items())]
    for task in tasks:
        lines += ["", "# hkcanto wrote this prompt. Change it freely, and then raise `version`."]
        lines += [f"[prompts.{task.name}]"]
        lines += [f"{key} = {_value(text)}" for key, text in task.proposal.prompt.items()]
    for task in tasks:
        lines += ["", "[[tasks]]", *_entry(task, origin, several=len(tasks) > 1)]
    return "\n".join([*lines, ""])


def _entry(task: _Task, origin: Origin, *, several: bool) -> Iterator[str]:
    group, proposal = task.group, task.proposal
    subjects, column = _subjects(group)
    patterns = _by_name(group.patterns, subjects, origin)
    yield f"name = {_value(task.name)}"
    yield f"title = {_value(task.title)}"
    yield f"kind = {_value(proposal.kind)}"
    if several:
        yield f"prompts = {{ paper = {_value(task.name)} }}"
    if patterns or group.patterns:
        yield f"files = {_value(patterns or group.patterns)}"
    if group.rows:
        yield f"rows = {_value(group.rows)}"
    if not group.header:
        yield "header = false"
    columns = {**proposal.columns, **({"subject": column} if column else {})}
    if group.header:
        yield f"columns = {_value(columns)}"
    yield from (f"{key} = {_value(field)}" for key, field in proposal.fields.items())
    if "dev" in group.patterns:
        yield "# Worked examples in the prompt, from the dev file:"
        yield "# shots = 5"
    if subjects and not patterns:
        yield "subjects = ["
        yield from (f"  {_value(each)}," for each in subjects)
        yield "]"
    for doubt in proposal.doubts:
        yield f"# ? {_one_line(doubt.question)}"
        yield from (f"# {line}" for line in doubt.choices)


def _by_name(
    patterns: Mapping[str, str], subjects: Sequence[Mapping[str, str]], origin: Origin
) -> Mapping[str, str]:
    """Return paths with `*` that match exactly these subjects; empty if that is impossible."""
    if not subjects or any([*each] != ["name"] for each in subjects):
        return {}
    found = {split: path.replace("{stem}", "*") for split, path in patterns.items()}
    task = TaskDefinition(name="x", title="", kind="", files={**found})
    named = subjects_named(origin.files, task)
    return found if {*named} == {each["name"] for each in subjects} else {}


def _subjects(group: Group) -> tuple[list[dict[str, str]], str]:
    """Return the subjects, from files or from a column, and the column's name."""
    column = next(called(group.columns, "subject"), None)
    stems, name = [*group.splits], ""
    if len(stems) == 1:
        if not column or not column.is_whole or not 1 < len(column.counts) <= _MOST_SUBJECTS:
            return [], ""
        stems, name = sorted(column.counts), column.name
    return [
        {"name": slug}
        | ({"stem": stem} if stem != slug else {})
        | ({"chinese": stem} if any(map(is_han, stem)) else {})
        for stem, slug in zip(stems, _distinct(stems, "s"), strict=True)
    ], name


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _value(value: object) -> str:
    """Return a value as TOML."""
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    text = json.dumps(value, ensure_ascii=False)
    return _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _checksums(origin: Origin) -> str:
    lines = [f"{quote(file)} {entry.sha256}" for file, entry in sorted(origin.recorded.items())]
    return "\n".join([f"# {len(lines)} files", *lines, ""])


# ---------------------------------------------------------------------- its place


def _install(staged: Path, home: Path, *, force: bool) -> None:
    """Move the files to their folder; the declaration, which makes it a benchmark, comes last."""
    if not home.exists():
        staged.replace(home)
        return
    files = sorted(
        (each.relative_to(staged) for each in staged.rglob("*") if each.is_file()),
        key=lambda each: each.name == "benchmark.toml",
    )
    for file in () if force else files:
        if (home / file).exists() and (home / file).read_bytes() != (staged / file).read_bytes():
            raise OptionError(f"{home / file} exists and differs. Give --force to replace it.")
    for file in files:
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (staged / file).replace(home / file)


def _problem(home: Path) -> str:
    """Say why a declaration does not load; an empty text if it does."""
    try:
        with ignoring_other_data():
            benchmark = read_benchmark(home / "benchmark.toml")
            for task in benchmark.tasks:
                kind = find_kind(task.kind)
                whole = TaskVariant(task.name, benchmark, task, Variant(), task.subjects)
                ReleaseRows(locate(benchmark), kind(whole, kind.Options()))
    except HKCantoError as error:
        return str(error)
    return ""
