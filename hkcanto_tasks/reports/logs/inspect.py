"""Logs of Inspect: `.eval`, a zip archive of a JSON file for each sample, or all in one `.json`.

They are read without Inspect, which takes seconds to import and minutes for large logs.
"""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache, partial
from math import nan
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, BinaryIO

import msgspec

from ...corpus_figures import Pair
from ...records import Reasoning
from ...signatures import Signature, parse_signature
from ...task import condition
from ..evaluations import SkippedLog
from .decoding import UNREADABLE, Unusable, decode, left_out, reason
from .runs import Model, Run, settings_of
from .task_items import Length, Row, TaskItems

_SCORER = "judged"
_JUDGES = ("judged_translation", "judged_summary")
_ZSTANDARD = 93
_LARGEST = 64 << 20  # Bytes of a sample; an archive of 2 MB may hold one of gigabytes.


class _Eval(msgspec.Struct):
    task: str
    created: Annotated[datetime, msgspec.Meta(tz=True)]
    model: str
    model_args: dict[str, Any] = {}
    config: dict[str, Any] = {}
    model_generate_config: dict[str, Any] = {}
    model_roles: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None


class _Score(msgspec.Struct):
    name: str
    scorer: str = ""
    metrics: dict[str, dict[str, Any]] = {}


class _Log(msgspec.Struct):
    eval: _Eval
    status: str = "started"
    results: dict[str, Any] | None = None
    samples: list[msgspec.Raw] | None = None


# The records of samples take no part in garbage collection, which would take a tenth of the time.


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    content: str | list[dict[str, Any]] = ""

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "".join(part["text"] for part in self.content if part["type"] == "text")

    @property
    def reasoning(self) -> str:
        parts = () if isinstance(self.content, str) else self.content
        own = (part for part in parts if part["type"] == "reasoning")
        return "".join(p.get("summary" if p.get("redacted") else "reasoning") or "" for p in own)


class _Choice(msgspec.Struct, gc=False):
    message: _Message = msgspec.field(default_factory=_Message)
    stop_reason: str = ""


class _Output(msgspec.Struct, gc=False):
    choices: list[_Choice] = []
    usage: dict[str, Any] | None = None


class _ScoreMetadata(msgspec.Struct, gc=False):
    weights: dict[str, float] = {}
    pair: dict[str, str] | None = None
    reason: str = ""
    reasoning: Reasoning | None = None


class _SampleScore(msgspec.Struct, gc=False):
    value: Any = None
    answer: str | None = None
    metadata: _ScoreMetadata | None = None


class _Metadata(msgspec.Struct, gc=False):
    task: str = ""
    question: str = ""
    subject: str = ""
    parts: tuple[str, ...] = ()


class _Sample(msgspec.Struct, gc=False):
    id: str | int
    input: str | list[_Message]
    target: str
    metadata: _Metadata
    output: _Output
    scores: dict[str, _SampleScore] | None = None


_LOG, _SAMPLE = msgspec.json.Decoder(_Log), msgspec.json.Decoder(_Sample)
_Samples = Mapping[str, Callable[[], _Sample]]


def read(path: Path, length: Length, texts: bool) -> Iterator[Run | SkippedLog]:
    """Read a log that ends in `.eval` or `.json`: a run for each task, and what is left out."""
    with path.open("rb") as file:
        log, samples = _archive(file) if path.suffix == ".eval" else _whole(file)
        signatures = _signatures(log.eval)
        items = {key: TaskItems(own.task, length, texts) for key, own in signatures.items()}
        problems, unscored = list[str](), 0
        for name, load in samples.items():
            try:
                sample = load()
                if _SCORER not in (sample.scores or {}):
                    unscored += 1
                    continue
                key = "" if "" in items else sample.metadata.task
                items[key].add(_row(sample, key and items[key].task.entry.name, texts))
            except UNREADABLE as error:
                problems.append(f"{name}: {reason(error)}")
    scored = sum(len(own.rows) for own in items.values())
    if missing := left_out(problems, scored, scored + len(problems)):
        yield SkippedLog(path, missing)
    elif not scored:
        raise Unusable(f"no sample with a score; the run ended as {log.status!r}")
    scores = msgspec.convert((log.results or {}).get("scores") or [], list[_Score])
    asked = log.eval.config
    limited = any(asked.get(name) is not None for name in ("limit", "sample_id"))
    settings = settings_of(log.eval.model_generate_config | log.eval.model_args)
    for key, signature in signatures.items():
        if items[key].rows:
            yield Run(
                model=Model("inspect", log.eval.model, settings),
                signature=signature,
                created=log.eval.created,
                source=path,
                items=items[key],
                reported=_reported(scores, key),
                notes=tuple(_notes(log, scores, scored, unscored)),
                limited=limited,
            )


def _whole(file: BinaryIO) -> tuple[_Log, _Samples]:
    """Read a `.json` file, with all samples in it."""
    log = decode(file.read(), _LOG)
    samples = enumerate(map(bytes, log.samples or ()), 1)
    return log, {f"sample {number}": partial(decode, each, _SAMPLE) for number, each in samples}


def _archive(file: BinaryIO) -> tuple[_Log, _Samples]:
    """Read an `.eval` file: a zip archive with a member for each sample."""
    try:
        # Names may occur more than once: the last one counts, as for Inspect.
        members = {info.filename: info for info in zipfile.ZipFile(file).infolist()}
    except zipfile.BadZipFile as error:
        raise Unusable(
            "not a whole zip archive: the run is still going on, or the file is cut off"
        ) from error
    header = members.get("header.json") or members.get("_journal/start.json")
    if header is None:
        raise Unusable("a zip archive, but no log of Inspect: it has no header.json")

    def load(member: zipfile.ZipInfo) -> _Sample:
        data = unpacked(file, member)
        # If possible without its events: they are most of it, and come last. A place within another
        # value leaves that open, so that it cannot be taken for this.
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            if (start := data.find(b',"events":')) >= 0:
                return _SAMPLE.decode(data[:start] + b"}")
        return decode(data, _SAMPLE)

    # Samples are logged as they finish: in the order of their numbers they are as they were.
    names = sorted(members, key=lambda name: (name.rpartition("/")[0], len(name), name))
    samples = {n: partial(load, members[n]) for n in names if n.startswith("samples/")}
    return decode(unpacked(file, header), _LOG), samples


def unpacked(file: BinaryIO, member: zipfile.ZipInfo) -> bytes:
    """Return what an archive holds under a name, no longer than it says."""
    # `ZipFile.read` takes three times as long, has no limit of what Zstandard unpacks to, and
    # before Python 3.14 does not know it.
    most = member.file_size + 1
    if most > _LARGEST:
        raise Unusable(f"larger than {_LARGEST >> 20} MB when unpacked")
    file.seek(member.header_offset + 26)
    file.seek(sum(struct.unpack("<HH", file.read(4))), 1)
    data = file.read(member.compress_size)
    if member.compress_type == zipfile.ZIP_DEFLATED:
        data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, most)
    elif member.compress_type == _ZSTANDARD:
        decompressor, damage = _zstandard()
        try:
            with decompressor.stream_reader(data, read_across_frames=True) as reader:
                data = reader.read(most)
        except damage as error:
            raise Unusable(f"damaged: {error}") from error
    if len(data) != member.file_size:
        raise Unusable("damaged: not as large as the archive says")
    return data


@cache
def _zstandard() -> tuple[Any, type[Exception]]:
    import zstandard

    return zstandard.ZstdDecompressor(), zstandard.ZstdError


def _signatures(logged: _Eval) -> dict[str, Signature]:
    """Return the signature of each task, by its name; of the only one, by nothing."""
    metadata = logged.metadata or {}
    given = metadata.get("signatures") or {"": metadata.get("signature")}
    if given == {"": None} and not logged.task.startswith("hkcanto/"):
        raise Unusable(f"not a task of hkcanto: {logged.task}")
    return {str(task): parse_signature(text) for task, text in dict(given).items()}


def _row(sample: _Sample, entry: str, texts: bool) -> Row:
    """Return a sample as a row; `entry` begins its id instead of the variant, if there are more."""
    choice = sample.output.choices[0] if sample.output.choices else _Choice()
    messages = [_Message("user", sample.input)] if isinstance(sample.input, str) else sample.input
    about, scores = sample.metadata, sample.scores or {}
    judged = scores[_SCORER]
    metadata = judged.metadata or _ScoreMetadata()
    return Row(
        id=f"{entry}{str(sample.id).removeprefix(about.task)}" if entry else str(sample.id),
        subject=about.subject,
        question=about.question,
        response=choice.message.text,
        target=sample.target,
        values={
            name: value
            for scorer, score in scores.items()
            if scorer.startswith(_SCORER) and isinstance(score.value, dict)
            for name, value in score.value.items()
            if isinstance(value, int | float | None)
        },
        answer=judged.answer or "",
        reason=metadata.reason,
        reasoning=choice.message.reasoning,
        judged=metadata.reasoning,
        parts=about.parts,
        weights=metadata.weights,
        pair=Pair(**metadata.pair) if metadata.pair else None,
        output_tokens=float((sample.output.usage or {}).get("output_tokens", nan)),
        truncated=float(choice.stop_reason in ("max_tokens", "model_length", "length")),
        prompt="\n\n".join(f"[{each.role}]\n{each.text}" for each in messages) if texts else "",
    )


def _reported(scores: list[_Score], task: str) -> dict[str, float]:
    """Return Inspect's figures; of a task among several, there is its headline alone."""
    judged: dict[str, Any] = {}
    reported: dict[str, Any] = {}
    for score in reversed(scores):  # The first of several reducers counts.
        if score.scorer == _SCORER:
            judged |= score.metrics
        elif "mean" in score.metrics:  # a judge's
            reported[score.name] = score.metrics["mean"]
    reported |= {condition(task).table[0].name: judged.get(task, {})} if task else judged
    values = {name: figure.get("value") for name, figure in reported.items()}
    return {
        name: float(value)
        for name, value in values.items()
        if not name.endswith("_stderr") and isinstance(value, int | float)
    }


def _notes(log: _Log, scores: list[_Score], scored: int, unscored: int) -> Iterator[str]:
    graders = (log.eval.model_roles or {}).get("grader", [])
    graders = graders if isinstance(graders, list) else [graders]
    names = [str(grader.get("model")) for grader in graders if isinstance(grader, dict)]
    if names and any(score.scorer.startswith(f"{_SCORER}_") for score in scores):
        version = (log.eval.metadata or {}).get("judge", "prompts:1")
        yield f"judged by {', '.join(names)}, {version}"
    if unscored:
        yield f"{unscored} of {scored + unscored} items have no score, because of errors"
    if log.status != "success":
        yield f"the run did not end well (status {log.status!r}); it has {scored} items"


# ------------------------------------------- the judge's scores, for `hkcanto agreement`


def judge_scores(path: Path) -> dict[str, dict[str, float]]:
    """Return the judge's scores of a log.

    Args:
        path: A log that ends in `.eval` or `.json`.

    Returns:
        Criterion → sample id → score, the mean over epochs. Unscored samples are left out.

    Raises:
        Unusable: The log cannot be read, or has no judge's scores.
    """
    found: dict[str, dict[str, list[float]]] = {}
    try:
        with path.open("rb") as file:
            log, samples = _archive(file) if path.suffix == ".eval" else _whole(file)
            for load in samples.values():
                sample = load()
                judged = [(sample.scores or {}).get(name) for name in _JUDGES]
                values = [each.value for each in judged if each and isinstance(each.value, dict)]
                for criterion, value in (pair for own in values for pair in own.items()):
                    if not criterion.endswith("_rate") and isinstance(value, int | float):
                        items = found.setdefault(criterion, {})
                        items.setdefault(str(sample.id), []).append(value)
    except UNREADABLE as error:
        raise Unusable(f"{path}: {reason(error)}") from error
    if not found:
        raise Unusable(
            f"the log of {log.eval.task} has no scores of a judge; run the task with "
            "-T judge=true and --model-role grader=…"
        )
    return {name: {id_: fmean(own) for id_, own in of.items()} for name, of in found.items()}
