"""Reading the logs of both harnesses into evaluations, without either harness."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ...catalogue import named_tasks
from ...errors import LogError
from ..evaluations import Evaluation, SkippedLog
from . import inspect, lm_eval
from .decoding import UNREADABLE, reason
from .labels import Origin, labels
from .runs import Run, evaluation, newest
from .task_items import Length

__all__ = ["RunsRead", "read_runs"]

_HEAD_OF_INSPECT = re.compile(rb'\s*\{\s*"(?:version|status|eval)"')
_HEAD_OF_LM_EVAL = re.compile(rb'\s*\{\s*"results"')


@dataclass(frozen=True, slots=True)
class RunsRead:
    """What was found.

    Attributes:
        evaluations: What could be read, in the order of the arguments.
        places: For each evaluation, the place of its argument among all: those of one argument may
            differ in task, condition and model.
        skipped: What could not, and why: a log, samples of one, or what was read elsewhere.
        arguments: The paths that were given. Where none has the place of one, there was nothing in
            it but what is skipped, such as a log that was given twice.
    """

    evaluations: Sequence[Evaluation]
    places: Sequence[int]
    skipped: Sequence[SkippedLog]
    arguments: Sequence[Path]


class _Argument(NamedTuple):
    place: int
    path: Path
    name: str


def read_runs(
    arguments: Sequence[str | Path],
    *,
    texts: bool = False,
    length: Length = len,
    length_unit: str = "characters",
    progress: Callable[[int, int], None] | None = None,
) -> RunsRead:
    """Read logs of lm-eval and of Inspect, mixed freely.

    Runs of one model and condition on different subjects are joined. Within an argument, the newest
    run counts of each model, condition and subject. One bad file or sample never stops the rest.

    Args:
        arguments: Logs, or folders that are searched for them: lm-eval's `results_….json` with
            `samples_….jsonl` beside them, Inspect's `.eval` and `.json`. `NAME=PATH` gives a name.
        texts: Whether to keep prompts and responses.
        length: Of a text.
        length_unit: What `length` counts.
        progress: Called with how many logs are read, and of how many.

    Raises:
        LogError: A path does not exist or has no logs, or nothing could be read.
    """
    given = [_argument(argument, place) for place, argument in enumerate(arguments)]
    logs = {argument: _logs(argument.path) for argument in given}
    total, done = sum(map(len, logs.values())), 0
    skipped: list[SkippedLog] = []
    found: list[tuple[Origin, Evaluation]] = []
    seen: dict[Path, _Argument] = {}
    for argument, paths in logs.items():
        runs: list[Run] = []
        skipped += lm_eval.without_results(argument.path, paths)
        for path in paths:
            first = seen.setdefault(path.resolve(), argument)
            if first is argument:
                read = list(_read(path, length, texts))
                runs += [each for each in read if isinstance(each, Run)]
                skipped += [each for each in read if isinstance(each, SkippedLog)]
            else:
                skipped.append(SkippedLog(path, f"it is also in {first.path} and was read there"))
            done += 1
            if progress:
                progress(done, total)
        kept, older = newest(runs)
        skipped += older
        for parts in kept:
            model = next(iter(parts.values())).model
            found.append((Origin(model, *argument), evaluation(parts, length_unit)))
    if not found:
        raise LogError(_nothing_read(given, skipped))
    conditions: dict[Origin, set[Hashable]] = defaultdict(set)
    for origin, one in found:
        conditions[origin].add(one.comparable_as)
    label_of = labels(conditions)
    tasks = {name: place for place, name in enumerate(named_tasks())}
    found.sort(key=lambda each: (each[0].argument, tasks[each[1].task]))
    return RunsRead(
        evaluations=[replace(each, label=label_of[origin]) for origin, each in found],
        places=[origin.argument for origin, _ in found],
        skipped=skipped,
        arguments=[argument.path for argument in given],
    )


def _argument(argument: str | Path, place: int) -> _Argument:
    name, is_named, path = str(argument).partition("=")
    # A path may have a "=" of its own.
    if not is_named or not name or Path(argument).exists():
        name, path = "", str(argument)
    found = Path(path).expanduser()
    if not found.exists():
        raise LogError(f"{path} does not exist. Give a log or a folder of logs, or NAME=PATH.")
    return _Argument(place, found, name)


def _logs(path: Path) -> list[Path]:
    """Return the logs at a path, whether or not they can be read."""
    if path.is_file():
        if path.suffix == ".jsonl":
            raise LogError(
                f"{path} has samples only. Give the results_….json of lm-eval that is beside it, "
                "or their folder."
            )
        if path.suffix not in (".json", ".eval"):
            raise LogError(
                f"{path} is no log: those of lm-eval are called results_….json, those of Inspect "
                "end in .eval or .json."
            )
        return [path]
    found = [file for file in sorted(path.rglob("*")) if file.is_file() and _reader(file)]
    if not found and not any(path.rglob("samples_*.jsonl")):
        raise LogError(
            f"{path} has no logs: no results_….json of lm-eval (run it with --output_path and "
            "--log_samples), and no .eval or .json of Inspect."
        )
    return found


def _reader(file: Path) -> Callable[[Path, Length, bool], Iterator[Run | SkippedLog]] | None:
    """Return what reads a log, by its name and beginning; None if it is none."""
    if file.suffix != ".json":
        return inspect.read if file.suffix == ".eval" else None
    try:
        with file.open("rb") as opened:
            head = opened.read(100)
    except OSError:
        return lm_eval.read  # which tells why it cannot be read
    if _HEAD_OF_INSPECT.match(head):
        return inspect.read
    return (
        lm_eval.read if file.name.startswith("results_") or _HEAD_OF_LM_EVAL.match(head) else None
    )


def _read(path: Path, length: Length, texts: bool) -> Iterator[Run | SkippedLog]:
    try:
        yield from (_reader(path) or lm_eval.read)(path, length, texts)
    except UNREADABLE as error:
        yield SkippedLog(path, reason(error))


def _nothing_read(given: Sequence[_Argument], skipped: Sequence[SkippedLog]) -> str:
    where = ", ".join(str(argument.path) for argument in given)
    reasons = "".join(f"\n{each.path}: {each.reason}" for each in skipped[:5])
    more = f"\nand {len(skipped) - 5} more" if len(skipped) > 5 else ""
    return f"nothing to report in {where}:{reasons}{more}"
