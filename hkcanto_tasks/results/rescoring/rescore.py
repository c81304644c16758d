"""Rescoring of logs and of other tools' answers, with this version's rules."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from ...errors import LogError, OptionError
from ...samples import Sample
from ...signatures import UNKNOWN, Signature
from ...signing import signature_of
from ...tasks import LoadedTask, load_task
from ..logs import logs_in
from ..logs.items import LoggedItem
from ..runs import Run, SkippedLog
from .answers import Answer, read_answers
from .matching import matched_answers
from .runs import MARK, RescoredRows, RescoredRun, rescored_runs

_MOST_EXAMPLES = 3  # in a message
_ENDINGS_AT_LIMIT = ("length", "max_tokens", "model_length")
_UNKNOWN_OPTIONS = ("prompt", "examples")


def rescore(
    paths: Sequence[Path],
    task: str,
    model: str,
    columns: Mapping[str, str],
    progress: Callable[[int, int], None],
    encoding: str = "utf-8",
) -> tuple[list[RescoredRun], list[SkippedLog]]:
    """Score existing answers again.

    Args:
        paths: Logs of both harnesses, folders of logs, and files of answers.
        task: The task of files of answers, by its name in lm-eval.
        model: The model of files of answers; if empty, the file's name.
        columns: The names of columns in files of answers, if they are not those of `COLUMNS`.
        progress: Called with the number of files read so far and the total.
        encoding: The encoding of files of answers.

    Returns:
        The runs, and the logs that could not be used.

    Raises:
        LogError: A path is missing or has nothing to score, or a file's answers belong to another
            task.
        OptionError: The task of a file is unknown.
    """
    runs = list[RescoredRun]()
    skipped = list[SkippedLog]()
    loaded: LoadedTask | None = None
    files = _files_at(paths, skipped)
    for done, file in enumerate(files, 1):
        if file.suffix == ".jsonl":
            loaded = loaded or _loaded_task(task, file)
            answers = read_answers(file, columns, encoding)
            runs.append(
                _run_of_answers(
                    file,
                    loaded,
                    model or file.stem,
                    answers,
                )
            )
        else:
            for run in rescored_runs(file):
                if isinstance(run, SkippedLog):
                    skipped.append(run)
                else:
                    runs.append(run)
        progress(done, len(files))
    if not runs:
        reasons = [f"\n{log.path}: {log.reason}" for log in skipped[:_MOST_EXAMPLES]]
        names = ", ".join(map(str, paths))
        raise LogError(f"nothing to score in {names}:{''.join(reasons)}")
    return runs, skipped


def _files_at(paths: Iterable[Path], skipped: list[SkippedLog]) -> list[Path]:
    """Return the logs and files of answers at some paths, each once."""
    files: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            path_files = logs_in(path, skipped)
        elif path.is_file() and path.suffix in (".json", ".jsonl", ".eval"):
            path_files = [path]
        else:
            path_files = []
        if not path_files:
            raise LogError(
                f"{path} does not exist or contains nothing to score. Give the results_….json of "
                "lm-eval, an .eval or .json of Inspect, a folder of these, or a .jsonl of answers."
            )
        files |= dict.fromkeys(path_files)
    return [*files]


def _loaded_task(task: str, file: Path) -> LoadedTask:
    """Return the task of a file of answers."""
    if not task:
        raise OptionError(
            f"{file} does not say which task its answers are for. "
            "Give --task NAME, such as --task hkmmlu (hkcanto list)."
        )
    return load_task(task)


# ---------------------------------------------------------------------- files of other tools


def _run_of_answers(
    file: Path,
    loaded: LoadedTask,
    model: str,
    answers: Sequence[Answer],
) -> RescoredRun:
    """Score the answers in a file of another tool.

    Raises:
        LogError: It lacks answers, or they belong to another task.
        OptionError: The task compares log-likelihoods.
    """
    if not loaded.kind.is_generative:
        raise OptionError(
            f"{loaded.task.name} compares log-likelihoods, but {file} has texts. "
            f"Give --task {loaded.task.definition.name}."
        )
    failures = Counter(answer.failure for answer in answers if answer.failure)
    if failures.total() == len(answers):
        raise LogError(
            f"{file}: all {len(answers):,} requests failed ({_listed(failures)})."
        )
    answered = [answer for answer in answers if not answer.failure]
    matched = matched_answers(file, answered, loaded)
    rows = _judged_rows(matched, loaded)
    is_part = len(matched) < len(loaded.samples)
    first_items = {sample.id for sample in loaded.samples[: len(matched)]}
    run = Run(
        model=model,
        harness="other",
        signature=_signature_of_answers(loaded),
        created=datetime.fromtimestamp(file.stat().st_mtime, UTC),
        sources=(file,),
        items=rows.items(),
        settings=(MARK,),
        status="incomplete" if failures else "success",
        limited=is_part,
        picked=any(sample.id not in first_items for _, sample in matched),
        available=len(loaded.samples),
    )
    remarks = _remarks_on_answers(matched, failures)
    if is_part:
        remarks.append(
            f"it has {len(matched):,} of the task's {len(loaded.samples):,} items"
        )
    return RescoredRun(
        run,
        loaded.kind,
        rows.scored,
        remarks,
    )


def _listed(failures: Counter[str]) -> str:
    """Return the most frequent failures with their numbers."""
    most = failures.most_common(_MOST_EXAMPLES)
    return ", ".join(f"{failure}: {count:,}" for failure, count in most)


def _judged_rows(
    matched: Iterable[tuple[Answer, Sample]],
    loaded: LoadedTask,
) -> RescoredRows:
    rows = RescoredRows(loaded.kind.for_other_prompts())
    for answer, sample in matched:
        truncated = None
        if answer.finish:
            truncated = float(answer.finish in _ENDINGS_AT_LIMIT)
        item = LoggedItem(
            sample, None, answer.response, answer.reasoning, truncated=truncated
        )
        rows.add(item)
    return rows


def _remarks_on_answers(
    matched: Iterable[tuple[Answer, Sample]],
    failures: Counter[str],
) -> list[str]:
    empty = 0
    cut_off = 0
    for answer, _ in matched:
        empty += not answer.response.strip()
        cut_off += answer.finish in _ENDINGS_AT_LIMIT
    remarks = []
    if failures:
        count = failures.total()
        remarks.append(
            f"{count:,} requests failed ({_listed(failures)}) and are left out"
        )
    if empty:
        remarks.append(f"{empty:,} answers are empty")
    if cut_off:
        remarks.append(
            f"{cut_off:,} answers were cut off at the token limit (finish_reason)"
        )
    return remarks


def _signature_of_answers(loaded: LoadedTask) -> Signature:
    """Return the task's signature, in which whatever another tool sent is unknown."""
    signature = signature_of(loaded.kind.at(subjects=loaded.asked), loaded.revision)
    options = dict(signature.options)
    for name in options:
        if name in _UNKNOWN_OPTIONS:
            options[name] = UNKNOWN
    options |= {"turns": UNKNOWN, "decoding": UNKNOWN}
    options |= dict([MARK])
    return replace(
        signature,
        shots=None,
        sent=UNKNOWN,
        options=tuple(options.items()),
    )
