"""Reading the logs of lm-eval and Inspect into runs, without either harness installed."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from ...catalogue import find_task, named_tasks
from ...errors import LogError
from ...signatures import Signature, joined
from ...tasks import task_as_run
from ..frames import Runs
from ..runs import Items, Run, SkippedLog, Usage
from . import inspect, lm_eval
from .items import UNREADABLE, ItemRows, NewItemRows, reason

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
    logs = [
        (place, log) for place, (_, path) in enumerate(given) for log in _logs(path)
    ]
    runs: dict[int, list[Run]] = defaultdict(list)
    skipped: list[SkippedLog] = []
    seen: dict[Path, int] = {}

    def rows(signature: Signature) -> ItemRows:
        return ItemRows(task_as_run(signature.task, shots=signature.shots), texts)

    for done, (place, log) in enumerate(logs, 1):
        first = seen.setdefault(log.resolve(), place)
        if first != place:
            skipped.append(
                SkippedLog(log, f"it was already read from {given[first][1]}")
            )
        for each in read_log(log, rows) if first == place else ():
            if isinstance(each, Run):
                runs[place].append(replace(each, argument=place, name=given[place][0]))
            else:
                skipped.append(each)
        if progress:
            progress(done, len(logs))
    kept: list[Run] = []
    tasks = [*named_tasks()]
    for place in range(len(given)):
        newest, older = _newest(runs[place])
        skipped += older
        for run in sorted(map(_join, newest), key=lambda run: tasks.index(run.task)):
            if copy := next((other for other in kept if run.is_copy_of(other)), None):
                skipped.append(
                    SkippedLog(run.sources[0], f"it is a copy of {copy.sources[0]}")
                )
            else:
                kept.append(run)
    if not kept:
        reasons = [f"{each.path}: {each.reason}" for each in skipped[:_MOST_REASONS]]
        paths = ", ".join(str(path) for _, path in given)
        raise LogError("\n".join([f"nothing to report in {paths}:", *reasons]))
    return Runs(labelled(kept, [path for _, path in given]), skipped)


def argument(given: str | Path) -> tuple[str, Path]:
    """Return an argument's name (empty if it has none) and path."""
    name, _, path = str(given).partition("=")
    # The path itself may contain "=".
    if not path or Path(given).exists():
        name, path = "", str(given)
    place = Path(path)
    with suppress(RuntimeError):  # of `~nobody`
        place = place.expanduser()
    if not place.exists():
        raise LogError(
            f"{place} does not exist. Give a log or a folder of logs, or NAME=PATH."
        )
    return name, place


def logs_in(folder: Path) -> list[Path]:
    """Return the logs of both harnesses in a folder, whether or not they can be read."""
    return [
        file for file in sorted(folder.rglob("*")) if file.is_file() and _reader(file)
    ]


def _logs(path: Path) -> list[Path]:
    """Return the logs at a path, whether or not they can be read."""
    is_log = path.is_file() and path.suffix in (".json", ".eval")
    if logs := [path] if is_log else logs_in(path):
        return logs
    how = f"Give {_LOGS}. Run lm_eval with --output_path and --log_samples."
    raise LogError(f"{path} is not a log or a folder of logs. {how}")


def _reader(
    file: Path,
) -> Callable[[Path, NewItemRows], Iterator[Run | SkippedLog]] | None:
    """Return the reader of a log, by its name and first bytes; None if it is not a log."""
    if file.suffix == ".eval":
        return inspect.inspect_runs
    if file.suffix == ".json" and file.name.startswith("results_"):
        return lm_eval.lm_eval_runs
    if file.suffix == ".json":
        with suppress(OSError), file.open("rb") as opened:
            return (
                inspect.inspect_runs
                if _HEAD_OF_INSPECT.match(opened.read(100))
                else None
            )
    return None


def read_log(path: Path, rows: NewItemRows) -> Iterator[Run | SkippedLog]:
    """Read one log, and yield a run for each task and a note for each part left out.

    Args:
        path: lm-eval's `results_….json`, or Inspect's `.eval` or `.json`.
        rows: Makes the collector for the items of a task.
    """
    try:
        yield from (_reader(path) or lm_eval.lm_eval_runs)(path, rows)
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

    key_of: dict[Run, Hashable] = {}
    for run in sorted(runs, key=rank):
        whole = replace(
            run.signature.with_option("subjects", ""),
            data=run.signature.sort_of_data,
            package="",
        )
        key_of[run] = run.harness, run.model, run.settings, run.sent, whole
    kept, skipped = {key: list[Run]() for key in key_of.values()}, list[SkippedLog]()
    for run, key in reversed(key_of.items()):
        parts, subjects = kept[key], {*run.items.subjects}
        if other := next(
            (part for part in parts if subjects & {*part.items.subjects}), None
        ):
            why = f"{run.task}: {other.sources[0].name} counts, which is finished, larger or newer"
            skipped.append(
                SkippedLog(run.sources[0], f"{why}; to keep both, name them NAME=PATH")
            )
        else:
            parts.append(run)
    return [*kept.values()], skipped


def _join(parts: Sequence[Run]) -> Run:
    """Join runs of one model under one setup on different subjects; the result has no label."""
    signature = joined(run.signature for run in parts)
    rank = {
        each.name: place
        for place, each in enumerate(find_task(signature.task).subjects)
    }
    runs = sorted(parts, key=lambda run: rank[run.items.subjects[0]])
    items, reported = runs[0].items, dict(runs[0].reported)
    if len(runs) > 1:
        items = Items.joined([run.items for run in runs])
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


def labelled(runs: Sequence[Run], paths: Sequence[Path]) -> list[Run]:
    """Return runs with labels, which differ for two models under one condition.

    A label is the user's name for the argument, or the end of the model's name. If two models would
    have the same label under one condition, their difference follows in parentheses. Models of one
    label on different tasks are named in a note.

    Args:
        runs: The runs of all arguments.
        paths: The path of each argument.
    """
    models: dict[Hashable, list[Run]] = defaultdict(list)
    for run in runs:
        models[run.argument, run.harness, run.model, run.settings].append(run)
    by_name: dict[str, list[list[Run]]] = defaultdict(list)
    for model in models.values():
        name = model[0].name or re.split(r"[/\\]", model[0].model.rstrip("/\\"))[-1]
        by_name[name].append(model)
    label_of: dict[Run, str] = {}
    several: dict[tuple[int, str], set[str]] = defaultdict(set)
    for name, group in by_name.items():
        conditions = {model[0]: {run.comparable_as for run in model} for model in group}
        models_of = Counter(chain.from_iterable(conditions.values()))
        alike = [
            run
            for run, of in conditions.items()
            if any(models_of[one] > 1 for one in of)
        ]
        remarks = dict(zip(alike, _remarks(alike, paths), strict=True))
        for model in group:
            label, first = name + remarks.get(model[0], ""), model[0]
            label_of |= dict.fromkeys(model, label)
            weights = [
                f"{name} {value}"
                for name, value in first.settings
                if name in _OF_WEIGHTS
            ]
            several[first.argument, label].add(", ".join([first.model, *weights]))
    made = []
    for run in runs:
        label, notes = label_of[run], run.notes
        if len(called := several[run.argument, label]) > 1:
            notes = (*notes, f"{label} stands for several: {'; '.join(sorted(called))}")
        made.append(replace(run, label=label, notes=notes))
    return made


def _remarks(alike: Sequence[Run], paths: Sequence[Path]) -> list[str]:
    """Return in parentheses what tells some models apart: `(base)` for `runs/base/logs`."""
    parts = [paths[run.argument].absolute().parts for run in alike]
    shared = set(chain(*parts)).intersection(*parts)
    columns = (
        [_HARNESS[run.harness] for run in alike],
        [run.model for run in alike],
        [
            "/".join(part for part in path if part not in shared) or path[-1]
            for path in parts
        ],
        [f"#{number}" for number in range(1, len(alike) + 1)],
    )
    remarks: list[tuple[str, ...]] = [()] * len(alike)
    for column in columns:
        more = [(*remark, text) for remark, text in zip(remarks, column, strict=True)]
        if len({*more}) > len({*remarks}):
            remarks = more
    return [f" ({', '.join(remark)})" for remark in remarks]
