"""Reading the logs of lm-eval and Inspect into runs, without either harness installed."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ...catalogue import named_tasks
from ...errors import LogError
from ...signatures import Signature
from ...tasks import task_as_run
from ..frames import Runs
from ..runs import Run, SkippedLog
from . import inspect, lm_eval
from .items import UNREADABLE, ItemRows, Rows, reason
from .joining import LabelledModel, join, labels, newest

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
        LogError: A path does not exist or has no logs, or nothing could be read.
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
    joined_runs: list[tuple[LabelledModel, Run]] = []
    for place, (name, path) in enumerate(given):
        kept, older = newest(runs.pop(place, []))
        skipped += [*lm_eval.without_results(path), *older]
        for parts in kept:
            run = join(parts)
            if copy := next((each for _, each in joined_runs if run.is_copy_of(each)), None):
                skipped.append(SkippedLog(run.sources[0], f"it is a copy of {copy.sources[0]}"))
                continue
            model = run.harness, run.model, run.settings
            joined_runs.append((LabelledModel(*model, place, path, name), run))
    if not joined_runs:
        reasons = "".join(f"\n{each.path}: {each.reason}" for each in skipped[:5])
        more = f"\nand {len(skipped) - 5} more" if len(skipped) > 5 else ""
        paths = ", ".join(str(path) for _, path in given)
        raise LogError(f"nothing to report in {paths}:{reasons}{more}")
    conditions: dict[LabelledModel, set[Hashable]] = defaultdict(set)
    for origin, one in joined_runs:
        conditions[origin].add(one.comparable_as)
    label_of = labels(conditions)
    tasks = {name: place for place, name in enumerate(named_tasks())}
    joined_runs.sort(key=lambda each: (each[0].argument, tasks[each[1].task]))
    labelled = [replace(each, label=label_of[origin]) for origin, each in joined_runs]
    places = [origin.argument for origin, _ in joined_runs]
    return Runs(labelled, places, skipped, [given[place][0] for place in places])


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
            raise LogError(
                f"{path} is not a log. Give the results_….json of lm-eval, with its samples beside "
                "it, or an .eval or .json of Inspect, or a folder of these."
            )
        return [path]
    logs = logs_in(path)
    if not logs and not any(path.rglob("samples_*.jsonl")):
        raise LogError(
            f"{path} has no logs: no results_….json of lm-eval (run it with --output_path and "
            "--log_samples), and no .eval or .json of Inspect."
        )
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
