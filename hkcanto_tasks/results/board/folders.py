"""The results in folders of records and of logs, mixed freely."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...errors import HKCantoError, on_disk
from ..logs import argument, logs_in, read_runs
from ..logs.checking import published_signature
from ..logs.items import UNREADABLE, reason
from ..publishing.runs import DEPARTURE, publishable_runs, unusual_decoding
from ..runs import Run
from ..statistics.estimates import value_of
from .records import PublishedResult, read_record, refuse_other_items


class LeftOut(NamedTuple):
    """A file or run that is not on the board, and why."""

    source: str
    reason: str


def read_results(
    arguments: Sequence[str],
) -> tuple[Sequence[PublishedResult], Mapping[str, Sequence[str]]]:
    """Read records and logs, mixed freely.

    Args:
        arguments: Folders or files; `NAME=PATH` names the model of the logs in it.

    Returns:
        The results, and the files left out by reason, the most frequent first.

    Raises:
        LogError: A path does not exist.
        DataNotFound: The system refuses.
    """
    results = list[PublishedResult]()
    left_out = list[LeftOut]()
    for text in arguments:
        name, root = argument(text)
        with on_disk(root):
            for result in _results_at(name, root):
                if isinstance(result, LeftOut):
                    left_out.append(result)
                else:
                    results.append(result)
    return _without_records_of_logs(results), _by_reason(left_out)


def _without_records_of_logs(
    results: Sequence[PublishedResult],
) -> list[PublishedResult]:
    """Return sorted results; of a run's log and its record, only the log."""
    logged = {_run_key(result) for result in results if result.has_logs}
    kept = [
        result
        for result in results
        if result.has_logs or _run_key(result) not in logged
    ]
    kept.sort(
        key=lambda result: (
            result.model,
            result.key(),
            str(result.created),
            result.source,
        )
    )
    return kept


def _run_key(result: PublishedResult) -> Hashable:
    """Return a key that a record and the log of the same run share."""
    rescored_by = dict(result.signature.options).get("rescored")
    created = round(result.created.timestamp(), 3) if result.created else 0.0
    harness = result.settings["harness"]
    return result.model, harness, result.key(), rescored_by, created


def _by_reason(left_out: Iterable[LeftOut]) -> dict[str, list[str]]:
    """Return the files left out by reason, the most frequent reason first."""
    sources: dict[str, list[str]] = defaultdict(list)
    in_one_line = {(source, " ".join(why.split())) for source, why in left_out}
    for source, why in sorted(in_one_line):
        sources[why].append(source)
    return dict(sorted(sources.items(), key=lambda pair: -len(pair[1])))


# ---------------------------------------------------------------------- one path


def _results_at(name: str, root: Path) -> Iterator[PublishedResult | LeftOut]:
    """Yield the result of each record and logged run at a path, or why it is left out."""
    folder = root if root.is_dir() else root.parent
    sources = _visible_files(root, folder)
    logs = {*logs_in(folder)}.intersection(sources)
    for home in _homes(logs, root):
        yield from _results_of_logs(
            name,
            home,
            folder,
            sources,
        )
    for file, source in sources.items():
        if file.suffix == ".json" and file not in logs:
            yield _result_of_record(file, source)


def _visible_files(root: Path, folder: Path) -> dict[Path, str]:
    """Return the files at a path with their names in a folder, without hidden ones."""
    paths = [root] if root.is_file() else sorted(root.rglob("*"))
    files = {}
    for path in paths:
        name = path.relative_to(folder).as_posix()
        is_hidden = "/." in f"/{name}"
        if path.is_file() and not is_hidden:
            files[path] = name
    return files


def _homes(logs: Collection[Path], root: Path) -> list[Path]:
    """Return the outermost folders with logs, or a log that is given as a file.

    A run may have several logs in a folder, so a folder with logs is read as a whole.
    """
    homes = {log.parent if root.is_dir() else log for log in logs}
    return sorted(home for home in homes if homes.isdisjoint(home.parents))


def _results_of_logs(
    name: str,
    home: Path,
    folder: Path,
    sources: Mapping[Path, str],
) -> Iterator[PublishedResult | LeftOut]:
    try:
        runs = read_runs(f"{name}={home}" if name else str(home))
    except HKCantoError as error:
        yield LeftOut(home.relative_to(folder).as_posix(), str(error))
        return
    for log in runs.skipped:
        yield LeftOut(sources.get(log.path, log.path.name), log.reason)
    publishable, refused = publishable_runs(runs)
    for run, why in refused:
        yield LeftOut(_source(run, sources), why)
    for run in publishable:
        yield _result_of_run(run, _source(run, sources))


def _source(run: Run, sources: Mapping[Path, str]) -> str:
    """Return the name of a run's first log."""
    log = run.sources[0]
    return sources.get(log, log.name)


def _result_of_run(run: Run, source: str) -> PublishedResult | LeftOut:
    try:
        signature, kind = published_signature(run.signature.text)
    except HKCantoError as error:
        return LeftOut(source, str(error))
    values = {}
    for name in run.figures:
        value = value_of(run, name)
        if value is not None:
            values[name] = value
    settings = {"harness": run.harness, **dict(run.settings)}
    for name in sorted(run.generation):
        settings[name] = str(run.generation[name])
    settings[DEPARTURE] = unusual_decoding(run)
    return PublishedResult(
        standing="checked" if run.compared else "not compared",
        model=run.model,
        kind=kind,
        signature=signature,
        values=values,
        created=run.created,
        source=source,
        settings=settings,
    )


def _result_of_record(file: Path, source: str) -> PublishedResult | LeftOut:
    try:
        result = read_record(file.read_bytes(), source)
        items = file.with_name(f"{file.stem}_samples.jsonl")
        if items.is_file():
            refuse_other_items(result, items.read_bytes())
        return result
    except UNREADABLE as error:
        return LeftOut(source, reason(error))
