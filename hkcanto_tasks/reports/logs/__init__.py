"""Reading the logs of both harnesses into evaluations, without either harness."""

import re
import struct
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...catalogue import named_tasks
from ...errors import LogError
from ..evaluations import Evaluation, SkippedLog
from . import inspect, lm_eval
from .decoding import Unusable
from .labels import Origin, labels
from .runs import Parts, Run, condition, evaluation, newest

__all__ = ["RunsRead", "read_runs"]

_HEAD_OF_INSPECT = re.compile(rb'\s*\{\s*"(?:version|status|eval)"')
_HEAD_OF_LM_EVAL = re.compile(rb'\s*\{\s*"results"')


@dataclass(frozen=True, slots=True)
class RunsRead:
    """What was found.

    Attributes:
        evaluations: What could be read, in the order of the arguments.
        places: For each evaluation, the place of its argument among all.
        skipped: What could not, and why.
    """

    evaluations: Sequence[Evaluation]
    places: Sequence[int]
    skipped: Sequence[SkippedLog]


@dataclass(frozen=True, slots=True)
class _Argument:
    path: Path
    name: str
    place: int


def read_runs(
    arguments: Sequence[str | Path],
    *,
    texts: bool = False,
    length: Callable[[str], int] = len,
    length_unit: str = "characters",
    progress: Callable[[int, int], None] | None = None,
) -> RunsRead:
    """Read logs of lm-eval and of Inspect, mixed freely.

    Runs of one model and condition on different subjects are joined. Within an argument, the newest
    run counts of each model, condition and subject. One bad file never stops the rest.

    Args:
        arguments: Logs, or folders that are searched for them: lm-eval's `results_….json` with
            `samples_….jsonl` beside them, Inspect's `.eval` and `.json`. `NAME=PATH` gives a name.
        texts: Whether to keep prompts and responses.
        length: Of a text.
        length_unit: What `length` counts.
        progress: Called with how many logs are read, and of how many.

    Raises:
        LogError: A path does not exist or has no logs, or nothing could be read.

    Example:
        >>> from hkcanto_tasks.errors import LogError
        >>> try:
        ...     read_runs(["no/such/folder"])
        ... except LogError as error:
        ...     print(error)
        no/such/folder does not exist. Give a log or a folder of logs, or NAME=PATH.
    """
    given = [_argument(argument, place) for place, argument in enumerate(arguments)]
    logs = {argument: _logs(argument.path) for argument in given}
    total, done = sum(map(len, logs.values())), 0
    skipped: list[SkippedLog] = []
    found: list[tuple[Origin, Parts]] = []
    seen: dict[Path, Path] = {}
    for argument, paths in logs.items():
        runs: list[Run] = []
        skipped += _samples_alone(argument.path, paths)
        for path in paths:
            first = seen.setdefault(path.resolve(), argument.path)
            if first is not argument.path:
                skipped.append(SkippedLog(path, f"it is also in {first} and was read there"))
            else:
                for one in _read(path, length, texts):
                    if isinstance(one, Run):
                        runs.append(one)
                    else:
                        skipped.append(one)
            done += 1
            if progress:
                progress(done, total)
        kept, older = newest(runs)
        skipped += older
        for parts in kept:
            model = next(iter(parts.values())).model
            found.append((Origin(model, argument.place, argument.path, argument.name), parts))
    if not found:
        raise LogError(_nothing_read(given, skipped))
    ordered = _evaluations(found, length_unit)
    return RunsRead([one for _, one in ordered], [place for place, _ in ordered], skipped)


def _argument(argument: str | Path, place: int) -> _Argument:
    name, is_named, path = str(argument).partition("=")
    # A path may have a "=" of its own.
    if not is_named or not name or Path(argument).exists():
        name, path = "", str(argument)
    found = Path(path).expanduser()
    if not found.exists():
        raise LogError(f"{path} does not exist. Give a log or a folder of logs, or NAME=PATH.")
    return _Argument(found, name, place)


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
    found = [file for file in sorted(path.rglob("*")) if file.is_file() and _is_log(file)]
    if not found and not any(path.rglob("samples_*.jsonl")):
        raise LogError(
            f"{path} has no logs: no results_….json of lm-eval (run it with --output_path and "
            "--log_samples), and no .eval or .json of Inspect."
        )
    return found


def _is_log(file: Path) -> bool:
    if file.suffix == ".eval" or (file.suffix == ".json" and file.name.startswith("results_")):
        return True
    if file.suffix != ".json":
        return False
    with file.open("rb") as opened:
        head = opened.read(100)
    return bool(_HEAD_OF_LM_EVAL.match(head) or _HEAD_OF_INSPECT.match(head))


def _samples_alone(folder: Path, logs: Sequence[Path]) -> Iterator[SkippedLog]:
    """Find samples of lm-eval whose results are not there, as those of an interrupted run."""
    stamps = {(log.parent, stamp[1]) for log in logs if (stamp := lm_eval.STAMP.search(log.stem))}
    renamed = {log.parent for log in logs if not lm_eval.STAMP.search(log.stem)}
    for file in sorted(folder.rglob("samples_*.jsonl")) if folder.is_dir() else ():
        stamp = lm_eval.STAMP.search(file.stem)
        key = file.parent, stamp[1] if stamp else ""
        if key not in stamps and file.parent not in renamed:
            stamps.add(key)
            yield SkippedLog(
                file, "samples without the results_….json that lm-eval writes with them"
            )


def _read(path: Path, length: Callable[[str], int], texts: bool) -> Iterator[Run | SkippedLog]:
    try:
        reader = inspect if _is_of_inspect(path) else lm_eval
        yield from reader.read(path, length, texts)
    except Unusable as problem:
        yield SkippedLog(path, str(problem))
    except OSError as error:
        yield SkippedLog(path, f"cannot be read: {error.strerror or error}")
    # What a hostile file may make the libraries below raise.
    except (ValueError, TypeError, RuntimeError, EOFError, OverflowError, struct.error) as error:
        yield SkippedLog(path, f"damaged: {str(error).partition(chr(10))[0]}")


def _is_of_inspect(path: Path) -> bool:
    if path.suffix == ".eval":
        return True
    with path.open("rb") as file:
        return _HEAD_OF_INSPECT.match(file.read(100)) is not None


def _evaluations(
    found: Sequence[tuple[Origin, Parts]], length_unit: str
) -> Sequence[tuple[int, Evaluation]]:
    """Label the models, and sort by argument and the catalogue's order."""
    conditions: dict[Origin, set[Hashable]] = defaultdict(set)
    for origin, parts in found:
        conditions[origin].add(condition(parts))
    label_of = labels(conditions)
    tasks = {name: place for place, name in enumerate(named_tasks())}
    made = [
        (origin.argument, evaluation(parts, label_of[origin], length_unit))
        for origin, parts in found
    ]
    return sorted(made, key=lambda each: (each[0], tasks[each[1].task]))


def _nothing_read(given: Sequence[_Argument], skipped: Sequence[SkippedLog]) -> str:
    where = ", ".join(str(argument.path) for argument in given)
    reasons = "".join(f"\n{each.path}: {each.reason}" for each in skipped[:5])
    more = f"\nand {len(skipped) - 5} more" if len(skipped) > 5 else ""
    return f"nothing to report in {where}:{reasons}{more}"
