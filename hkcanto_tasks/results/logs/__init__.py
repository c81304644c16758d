"""Reading the logs of lm-eval and Inspect into runs, without either harness installed."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from os.path import commonprefix
from pathlib import Path
from typing import Any, NamedTuple

from ...catalogue import find_task, named_tasks
from ...errors import LogError
from ...signatures import Signature, joined
from ...tasks import task_as_run
from ..frames import Runs
from ..runs import Items, Run, SkippedLog, Usage
from . import inspect, lm_eval
from .items import UNREADABLE, ItemRows, Rows, reason

_LOGS = "the results_….json of lm-eval with its samples beside it, or .eval or .json of Inspect"
_MOST_REASONS = 5
_OF_WEIGHTS = ("revision", "subfolder", "peft", "delta", "pretrained", "model_path")
_HEAD_OF_INSPECT = re.compile(rb'\s*\{\s*"(?:version|status|eval)"')


def read_runs(
    arguments: str | Path | Sequence[str | Path],
    *,
    texts: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Runs:
    """Read logs of lm-eval and Inspect, mixed freely.

    Runs of one model and setup on different subjects are joined. Within an argument, only the
    newest run of each model, setup and subject counts. One bad file or sample never stops the rest.

    Args:
        arguments: Logs, or folders with logs: lm-eval's `results_….json` with `samples_….jsonl`
            beside them, and Inspect's `.eval` and `.json`. `NAME=PATH` gives the model a name.
        texts: Whether to keep prompts and responses.
        progress: Called with the number of logs read so far and the total.

    Returns:
        The runs, in the order of the arguments; `to_frame()` makes a table of them.

    Raises:
        LogError: A path is missing or without logs, or all logs are unreadable.
    """
    if isinstance(arguments, str | Path):
        arguments = [arguments]
    given = [argument(each) for each in arguments]
    logs = [(place, log) for place, (_, path) in enumerate(given) for log in _logs(path)]
    runs: dict[int, list[Run]] = defaultdict(list)
    skipped: list[SkippedLog] = []
    seen: dict[Path, int] = {}

    def rows(signature: Signature) -> ItemRows:
        return ItemRows(task_as_run(signature.task, shots=signature.shots), texts)

    for done, (place, log) in enumerate(logs, 1):
        first = seen.setdefault(log.resolve(), place)
        if first != place:
            skipped.append(SkippedLog(log, f"it was already read from {given[first][1]}"))
        for each in read_log(log, rows) if first == place else ():
            if isinstance(each, Run):
                runs[place].append(each)
            else:
                skipped.append(each)
        if progress:
            progress(done, len(logs))
    kept: list[tuple[LabelledModel, Run]] = []
    conditions: dict[LabelledModel, set[Hashable]] = defaultdict(set)
    tasks = [*named_tasks()]
    for place, (name, path) in enumerate(given):
        newest, older = _newest(runs.pop(place, []))
        skipped += [*lm_eval.without_results(path), *older]
        for run in sorted(map(_join, newest), key=lambda run: tasks.index(run.task)):
            if copy := next((each for _, each in kept if run.is_copy_of(each)), None):
                skipped.append(SkippedLog(run.sources[0], f"it is a copy of {copy.sources[0]}"))
                continue
            origin = LabelledModel(run.harness, run.model, run.settings, place, path, name)
            kept.append((origin, run))
            conditions[origin].add(run.comparable_as)
    if not kept:
        reasons = [f"{each.path}: {each.reason}" for each in skipped[:_MOST_REASONS]]
        more = len(skipped) - _MOST_REASONS
        reasons += [f"and {more} more"] if more > 0 else []
        paths = ", ".join(str(path) for _, path in given)
        raise LogError("\n".join([f"nothing to report in {paths}:", *reasons]))
    label_of = labels(conditions)
    several: dict[tuple[int, str], set[str]] = defaultdict(set)
    for origin in conditions:
        weights = [f"{name} {value}" for name, value in origin.settings if name in _OF_WEIGHTS]
        several[origin.argument, label_of[origin]].add(", ".join([origin.model, *weights]))
    labelled = []
    for origin, run in kept:
        called, notes = several[origin.argument, label_of[origin]], run.notes
        if len(called) > 1:  # on different tasks
            notes = (*notes, f"{label_of[origin]} stands for several: {'; '.join(sorted(called))}")
        labelled.append(replace(run, label=label_of[origin], notes=notes))
    places = [origin.argument for origin, _ in kept]
    return Runs(labelled, places, skipped, [origin.name for origin, _ in kept])


def argument(given: str | Path) -> tuple[str, Path]:
    """Return an argument's name (empty if it has none) and path."""
    name, _, path = str(given).partition("=")
    # The path itself may contain "=".
    if not path or Path(given).exists():
        name, path = "", str(given)
    with suppress(RuntimeError):  # of `~nobody`
        path = str(Path(path).expanduser())
    place = Path(path)
    if not place.exists():
        raise LogError(f"{path} does not exist. Give a log or a folder of logs, or NAME=PATH.")
    return name, place


def logs_in(folder: Path) -> list[Path]:
    """Return the logs of both harnesses in a folder, whether or not they can be read."""
    return [file for file in sorted(folder.rglob("*")) if file.is_file() and _reader(file)]


def _logs(path: Path) -> list[Path]:
    """Return the logs at a path, whether or not they can be read."""
    if path.is_file():
        if path.suffix not in (".json", ".eval"):
            raise LogError(f"{path} is not a log. Give {_LOGS}, or a folder of these.")
        return [path]
    logs = logs_in(path)
    if not logs and not any(path.rglob("samples_*.jsonl")):
        how = "Run lm_eval with --output_path and --log_samples."
        raise LogError(f"{path} has no logs, such as {_LOGS}. {how}")
    return logs


def _reader(file: Path) -> Callable[[Path, Rows], Iterator[Run | SkippedLog]] | None:
    """Return the reader of a log, by its name and first bytes; None if it is not a log."""
    if file.suffix == ".eval":
        return inspect.read
    if file.suffix == ".json" and file.name.startswith("results_"):
        return lm_eval.read
    if file.suffix == ".json":
        with suppress(OSError), file.open("rb") as opened:
            return inspect.read if _HEAD_OF_INSPECT.match(opened.read(100)) else None
    return None


def read_log(path: Path, rows: Rows) -> Iterator[Run | SkippedLog]:
    """Read one log, and yield a run for each task and a note for each part left out.

    Args:
        path: lm-eval's `results_….json`, or Inspect's `.eval` or `.json`.
        rows: Makes the collector for the items of a task.
    """
    try:
        yield from (_reader(path) or lm_eval.read)(path, rows)
    except UNREADABLE as error:
        yield SkippedLog(path, reason(error))


# ---------------------------------------------------------------------- joining


def _newest(runs: Sequence[Run]) -> tuple[list[list[Run]], list[SkippedLog]]:
    """Return the runs to join of each model and setup, and the logs left out.

    Of two runs that share a subject, one counts: the one that finished, then the one with more
    subjects, then the newer one.
    """

    def rank(run: Run) -> tuple[Any, ...]:
        size = len({*run.items.subjects})
        return not run.unfinished, size, run.created, str(run.sources[0])

    order, skipped = sorted(runs, key=rank), list[SkippedLog]()
    kept: dict[Hashable, list[Run]] = {_joined_by(run): [] for run in order}
    for run in reversed(order):
        parts = kept[_joined_by(run)]
        subjects = {*run.items.subjects}
        sharing = [part for part in parts if not subjects.isdisjoint(part.items.subjects)]
        if not sharing:
            parts.append(run)
            continue
        other = sharing[0].sources[0].name
        why = f"older run of the same task, {other} is newer"
        if run.unfinished and not sharing[0].unfinished:
            why = f"{run.unfinished}, {other} is complete"
        elif rank(run)[1] < rank(sharing[0])[1]:
            why = f"{other} has its subjects and more"
        why = f"{run.task}: {why}; to keep both, name them NAME=PATH"
        skipped.append(SkippedLog(run.sources[0], why))
    return list(kept.values()), skipped


def _joined_by(run: Run) -> Hashable:
    signature = run.signature
    whole = replace(signature.with_option("subjects", ""), data=signature.sort_of_data, package="")
    return run.harness, run.model, run.settings, run.sent, whole


def _join(parts: Sequence[Run]) -> Run:
    """Join runs of one model under one setup on different subjects; the result has no label."""
    signature = joined(run.signature for run in parts)
    rank = {each.name: place for place, each in enumerate(find_task(signature.task).subjects)}
    runs = sorted(parts, key=lambda run: rank[run.items.subjects[0]])
    items, reported = runs[0].items, dict(runs[0].reported)
    if len(runs) > 1:
        subjects = [subject for run in runs for subject in run.items.subjects]
        order = sorted(range(len(subjects)), key=lambda place: rank[subjects[place]])
        items = Items.joined([run.items for run in runs], order)
        reported = {
            (tuple(dict.fromkeys(run.items.subjects)), name): value
            for run in runs
            for (_, name), value in run.reported.items()
        }
    notes = dict.fromkeys(note for run in runs for note in run.notes)
    if unread := sum(map(int, re.findall(r"-(\d+)rows", signature.data))):
        notes[f"{unread} unreadable rows of its data set aside"] = None
    return replace(
        runs[0],
        signature=signature,
        created=max(run.created for run in runs),
        sources=tuple(dict.fromkeys(source for run in runs for source in run.sources)),
        items=items,
        reported=reported,
        notes=tuple(notes),
        limited=any(run.limited for run in runs),
        picked=any(run.picked for run in runs),
        available=sum(run.available for run in runs),
        status=next((run.status for run in runs if run.unfinished), "success"),
        version_of_harness="+".join(sorted({run.version_of_harness for run in runs})),
        usage=Usage.total([run.usage for run in runs]),
    )


# ---------------------------------------------------------------------- labels

_HARNESS = {"lm-eval": "lm-eval", "inspect": "Inspect", "other": "another tool"}


class LabelledModel(NamedTuple):
    """A model in an argument; each gets a label."""

    harness: str
    model: str
    settings: tuple[tuple[str, str], ...]
    argument: int  # its position among the arguments
    path: Path
    name: str  # the user's name for the argument; empty without one


def labels(conditions: Mapping[LabelledModel, set[Hashable]]) -> dict[LabelledModel, str]:
    """Return a label for each model of each argument, from the conditions of its runs.

    The label is the user's name for the argument, or the end of the model's name. If two models
    would have the same label under one condition, their difference follows in parentheses.
    """
    remarks: dict[LabelledModel, list[str]] = {origin: [] for origin in conditions}

    def label(origin: LabelledModel) -> str:
        name = origin.name or re.split(r"[/\\]", origin.model.rstrip("/\\"))[-1]
        return f"{name} ({', '.join(remarks[origin])})" if remarks[origin] else name

    for tell in _TELL:
        by_label: dict[str, list[LabelledModel]] = defaultdict(list)
        for origin in conditions:
            by_label[label(origin)].append(origin)
        for called in by_label.values():
            runs = Counter(chain.from_iterable(conditions[origin] for origin in called))
            alike = [o for o in called if any(runs[condition] > 1 for condition in conditions[o])]
            told = tell(alike) if alike else []
            if len(set(told)) > 1:
                for origin, text in zip(alike, told, strict=True):
                    remarks[origin].append(text)
    return {origin: label(origin) for origin in conditions}


def _folders(alike: Sequence[LabelledModel]) -> list[str]:
    """Return the part of each argument's path that differs, such as `base` in `runs/base/logs`."""
    parts = [origin.path.absolute().parts for origin in alike]
    start = len(commonprefix(parts))  # noqa: RUF071  (of tuples)
    end = len(commonprefix([path[start:][::-1] for path in parts]))  # noqa: RUF071
    return ["/".join(path[start : len(path) - end]) or path[-1] for path in parts]


_TELL: tuple[Callable[[Sequence[LabelledModel]], list[str]], ...] = (
    lambda alike: [_HARNESS[origin.harness] for origin in alike],
    lambda alike: [origin.model for origin in alike],
    _folders,
    lambda alike: [f"#{number}" for number in range(1, len(alike) + 1)],
)
