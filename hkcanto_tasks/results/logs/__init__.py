"""Read the logs of lm-eval and Inspect into runs; neither harness has to be installed."""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ...errors import LogError, PathNotFound
from ...signatures import Signature
from ...tasks import task_as_run
from ..frames import Runs
from ..runs import Run, SkippedLog
from .inspect import inspect_runs
from .items import UNREADABLE, ItemRows, NewItemRows, reason
from .joining import joined_runs
from .lm_eval import lm_eval_runs

_FORMS = (
    "the results_….json of lm-eval with its samples beside it, "
    "or .eval or .json of Inspect"
)
DRAFTS = ".publish-"
"""The beginning of the name of a folder in which `hkcanto publish` prepares its files."""

_MOST_REASONS = 5
_INSPECT_START = re.compile(rb'\s*\{\s*"(?:version|status|eval)"')

LogReader = Callable[[Path, NewItemRows], Iterator[Run | SkippedLog]]


class Argument(NamedTuple):
    """The user's name for logs (empty if there is none), and their path."""

    name: str
    path: Path


def read_runs(
    arguments: str | Path | Sequence[str | Path],
    *,
    texts: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Runs:
    """Read logs of lm-eval and Inspect, mixed freely.

    Within an argument, runs of one model and setup on different items are joined: subjects,
    shards, parts. Of several answers to an item, one run's count: see `joined_runs`. One bad file
    or sample never stops the rest.

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
    parsed = [*map(argument, arguments)]
    runs, skipped = _read_all(parsed, texts, progress)
    kept: list[Run] = []
    for runs_of_argument in runs:
        for run in joined_runs(runs_of_argument, skipped):
            _keep(run, kept, skipped)
    paths = [path for _, path in parsed]
    if not kept:
        lines = [f"nothing to report in {', '.join(map(str, paths))}:"]
        lines += [f"{log.path}: {log.reason}" for log in skipped[:_MOST_REASONS]]
        raise LogError("\n".join(lines))
    return Runs(labelled(kept, paths), skipped)


def _keep(
    run: Run,
    kept: list[Run],
    skipped: list[SkippedLog],
) -> None:
    """Add a run to `kept`, or to `skipped` if it is a copy."""
    for other in kept:
        if run.is_copy_of(other):
            cause = f"it is a copy of {other.sources[0]}"
            skipped.append(SkippedLog(run.sources[0], cause))
            return
    kept.append(run)


def _read_all(
    arguments: Sequence[Argument],
    texts: bool,
    progress: Callable[[int, int], None] | None,
) -> tuple[list[list[Run]], list[SkippedLog]]:
    """Return the runs of each argument, and the logs that were not read in full."""

    def new_rows(signature: Signature) -> ItemRows:
        return ItemRows(task_as_run(signature.task, shots=signature.shots), texts)

    skipped: list[SkippedLog] = []
    logs = _logs_once(arguments, skipped)
    runs: list[list[Run]] = [[] for _ in arguments]
    for done, (position, log) in enumerate(logs, 1):
        for part in read_log(log, new_rows):
            if isinstance(part, SkippedLog):
                skipped.append(part)
                continue
            name = arguments[position].name
            runs[position].append(replace(part, argument=position, name=name))
        if progress:
            progress(done, len(logs))
    return runs, skipped


def _logs_once(
    arguments: Sequence[Argument],
    skipped: list[SkippedLog],
) -> list[tuple[int, Path]]:
    """Return each log with the position of the first argument that has it."""
    logs: list[tuple[int, Path]] = []
    first_of: dict[Path, int] = {}
    for position, (_, path) in enumerate(arguments):
        for log in _logs(path, skipped):
            first = first_of.setdefault(log.resolve(), position)
            if first == position:
                logs.append((position, log))
                continue
            cause = f"it was already read from {arguments[first].path}"
            skipped.append(SkippedLog(log, cause))
    return logs


def argument(text: str | Path) -> Argument:
    """Return an argument's name (empty if it has none) and path."""
    name, _, path_text = str(text).partition("=")
    # The path itself may contain "=".
    if not path_text or Path(text).exists():
        name = ""
        path_text = str(text)
    path = Path(path_text)
    with suppress(RuntimeError):  # `~nobody` has no home
        path = path.expanduser()
    if not path.exists():
        advice = "Give a log or a folder of logs, or NAME=PATH."
        raise PathNotFound(f"{path} does not exist. {advice}")
    return Argument(name, path)


def logs_in(folder: Path, left_out: list[SkippedLog] | None = None) -> list[Path]:
    """Return the logs of both harnesses in a folder, whether or not they can be read.

    Args:
        folder: The folder.
        left_out: Gets the folders in it that were not searched.
    """
    unsearched: list[SkippedLog] = [] if left_out is None else left_out

    def note(error: OSError) -> None:
        unsearched.append(SkippedLog(Path(error.filename), reason(error)))

    logs: list[Path] = []
    root = folder.resolve()
    for parent, folders, names in os.walk(folder, onerror=note):
        folders[:] = [name for name in folders if not name.startswith(DRAFTS)]
        for name in folders:
            path = Path(parent, name)
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                cause = "a link to another folder is not followed: give that folder"
                unsearched.append(SkippedLog(path, cause))
        for name in names:
            file = Path(parent, name)
            if file.is_file() and _reader(file):
                logs.append(file)
    return sorted(logs)


def _logs(path: Path, left_out: list[SkippedLog]) -> list[Path]:
    """Return the logs at a path, whether or not they can be read."""
    if path.is_file() and path.suffix in (".json", ".eval"):
        return [path]
    if logs := logs_in(path, left_out):
        return logs
    advice = f"Give {_FORMS}. Run lm_eval with --output_path and --log_samples."
    raise LogError(f"{path} is not a log or a folder of logs. {advice}")


def _reader(file: Path) -> LogReader | None:
    """Return the reader of a log, by its name and first bytes; None if it is not a log."""
    if file.suffix == ".eval":
        return inspect_runs
    if file.suffix != ".json":
        return None
    if file.name.startswith("results_"):
        return lm_eval_runs
    with suppress(OSError), file.open("rb") as opened:
        if _INSPECT_START.match(opened.read(100)):
            return inspect_runs
    return None


def read_log(path: Path, new_rows: NewItemRows) -> Iterator[Run | SkippedLog]:
    """Read one log, and yield a run for each task and a note for each part left out.

    Args:
        path: lm-eval's `results_….json`, or Inspect's `.eval` or `.json`.
        new_rows: Makes the collector for the items of a task.
    """
    reader = _reader(path) or lm_eval_runs
    try:
        yield from reader(path, new_rows)
    except UNREADABLE as error:
        yield SkippedLog(path, reason(error))


# ---------------------------------------------------------------------- labels

_HARNESS = {"lm-eval": "lm-eval", "inspect": "Inspect", "other": "another tool"}
_WEIGHT_SETTINGS = (
    "revision",
    "subfolder",
    "peft",
    "delta",
    "pretrained",
    "model_path",
)


def labelled(
    runs: Sequence[Run],
    paths: Sequence[Path],
) -> list[Run]:
    """Return runs with labels, which differ for two models under one condition.

    A label is the user's name for the argument, or the end of the model's name. If two models would
    have the same label under one condition, their difference follows in parentheses. Models of one
    label on different tasks are named in a note.

    Args:
        runs: The runs of all arguments.
        paths: The path of each argument.
    """
    label_of = _labels(runs, paths)
    label_of |= _labels_by_settings(label_of)
    models: dict[tuple[int, str], set[str]] = defaultdict(set)
    for run in runs:
        models[run.argument, label_of[run]].add(_weights(run))
    labelled_runs: list[Run] = []
    for run in runs:
        label = label_of[run]
        notes = run.notes
        names = sorted(models[run.argument, label])
        if len(names) > 1:
            notes = (
                *notes,
                f"{label} is the label of several models: {'; '.join(names)}",
            )
        labelled_runs.append(replace(run, label=label, notes=notes))
    return labelled_runs


def _labels(
    runs: Sequence[Run],
    paths: Sequence[Path],
) -> dict[Run, str]:
    """Return the label of each run, equal for the runs of a model."""
    by_model: dict[Hashable, list[Run]] = defaultdict(list)
    for run in runs:
        by_model[run.argument, run.harness, run.model, run.settings].append(run)
    by_name: dict[str, list[list[Run]]] = defaultdict(list)
    for model_runs in by_model.values():
        by_name[_short_name(model_runs[0])].append(model_runs)
    label_of: dict[Run, str] = {}
    for name, models in by_name.items():
        ambiguous = _ambiguous(models)
        remarks = dict(zip(ambiguous, _remarks(ambiguous, paths), strict=True))
        for model_runs in models:
            label = name + remarks.get(model_runs[0], "")
            label_of |= dict.fromkeys(model_runs, label)
    return label_of


def _labels_by_settings(label_of: Mapping[Run, str]) -> dict[Run, str]:
    """Return other labels for runs that have the label and the condition of an earlier run.

    They are of one model, and were sent with other settings, such as a number of epochs.
    """
    first_runs: dict[Hashable, Run] = {}
    labels: dict[Run, str] = {}
    for run, label in label_of.items():
        first = first_runs.setdefault((label, run.comparable_as), run)
        settings = [
            f"{name} {setting}"
            for name, (_, setting) in first.sent.differs(run.sent).items()
        ]
        if settings:
            labels[run] = f"{label} ({', '.join(settings)})"
    return labels


def _short_name(run: Run) -> str:
    return run.name or re.split(r"[/\\]", run.model.rstrip("/\\"))[-1]


def _ambiguous(models: Sequence[Sequence[Run]]) -> list[Run]:
    """Return the first run of each model that was run under one condition with another."""
    conditions = [{run.comparable_as for run in runs} for runs in models]
    counts = Counter(chain.from_iterable(conditions))
    ambiguous: list[Run] = []
    for runs, of_model in zip(models, conditions, strict=True):
        if any(counts[condition] > 1 for condition in of_model):
            ambiguous.append(runs[0])
    return ambiguous


def _weights(run: Run) -> str:
    """Return the model's name, and the settings that choose its weights."""
    words = [run.model]
    for name, value in run.settings:
        if name in _WEIGHT_SETTINGS:
            words.append(f"{name} {value}")
    return ", ".join(words)


def _remarks(
    ambiguous: Sequence[Run],
    paths: Sequence[Path],
) -> list[str]:
    """Return in parentheses what tells some models apart: `(base)` for `runs/base/logs`."""
    columns = (
        [_HARNESS[run.harness] for run in ambiguous],
        [run.model for run in ambiguous],
        _distinct_folders([paths[run.argument] for run in ambiguous]),
        [f"#{number}" for number, _ in enumerate(ambiguous, 1)],
    )
    remarks: list[tuple[str, ...]] = [()] * len(ambiguous)
    for column in columns:
        longer = [(*remark, text) for remark, text in zip(remarks, column, strict=True)]
        if len({*longer}) > len({*remarks}):
            remarks = longer
    return [f" ({', '.join(remark)})" for remark in remarks]


def _distinct_folders(paths: Sequence[Path]) -> list[str]:
    """Return the parts of each path that are not parts of all paths."""
    parts = [path.absolute().parts for path in paths]
    shared = set(chain(*parts)).intersection(*parts)
    texts: list[str] = []
    for path in parts:
        distinct = [part for part in path if part not in shared]
        texts.append("/".join(distinct) or path[-1])
    return texts
