"""Logs of Inspect: `.eval`, a zip archive of a JSON file for each sample, or all in one `.json`.

They are read without Inspect, which takes seconds to import and minutes for large logs.
"""

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from math import nan
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ...corpus_figures import Pair
from ...task import condition
from ..evaluations import SkippedLog
from ..items import Row
from .decoding import UNREADABLE, Unusable, decode, left_out, reason
from .runs import Model, Run, settings_of
from .signatures import Signature, parse_signature
from .task_items import Length, TaskItems

_SCORER = "judged"
_ZSTANDARD = 93
_LARGEST = 64 << 20  # Bytes of a sample; an archive of 2 MB may hold one of gigabytes.


class _Eval(msgspec.Struct):
    task: str = ""
    created: str = ""
    model: str = ""
    model_args: Any = None
    model_generate_config: Any = None
    model_roles: Any = None
    metadata: Any = None


class _Score(msgspec.Struct):
    name: str
    scorer: str = ""
    metrics: dict[str, dict[str, Any]] = {}


class _Results(msgspec.Struct):
    scores: list[_Score] = []


class _Header(msgspec.Struct):
    eval: _Eval
    status: str = "started"
    results: _Results | None = None


class _Log(_Header):
    samples: list[msgspec.Raw] | None = None


class _LogWithNaN(_Header):
    samples: list[Any] | None = None


# The records of samples take no part in garbage collection, which would take a tenth of the time.


class _Part(msgspec.Struct, gc=False):
    type: str = ""
    text: str = ""
    reasoning: str = ""
    summary: str | None = None
    redacted: bool = False


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    content: str | list[_Part] = ""

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text for part in self.content if part.type == "text")

    @property
    def reasoning(self) -> str:
        parts = () if isinstance(self.content, str) else self.content
        own = (part for part in parts if part.type == "reasoning")
        return "".join((part.summary or "") if part.redacted else part.reasoning for part in own)


class _Choice(msgspec.Struct, gc=False):
    message: _Message = msgspec.field(default_factory=_Message)
    stop_reason: str = ""


class _Usage(msgspec.Struct, gc=False):
    output_tokens: float = nan


class _Output(msgspec.Struct, gc=False):
    choices: list[_Choice] = []
    usage: _Usage | None = None


class _ScoreMetadata(msgspec.Struct, gc=False):
    weights: dict[str, float] = {}
    pair: dict[str, str] | None = None
    reason: str = ""


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
    id: str
    input: str | list[_Message]
    target: str
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    output: _Output = msgspec.field(default_factory=_Output)
    scores: dict[str, _SampleScore] | None = None


_HEADER = msgspec.json.Decoder(_Header)
_SAMPLE = msgspec.json.Decoder(_Sample)
_LOG = msgspec.json.Decoder(_Log)
_LOG_WITH_NAN = msgspec.json.Decoder(_LogWithNaN)


def read(path: Path, length: Length, texts: bool) -> Iterator[Run | SkippedLog]:
    """Read a log that ends in `.eval` or `.json`: a run for each task, and what is left out."""
    with path.open("rb") as file:
        log = _Archive(file) if path.suffix == ".eval" else _Whole(file)
        logged = log.header.eval
        signatures = _signatures(logged)
        items = {key: TaskItems(own.task, length, texts) for key, own in signatures.items()}
        problems, unscored = list[str](), 0
        for name in log.names:
            try:
                sample = _sample(log.read(name))
                if _SCORER not in (scores := sample.scores or {}):
                    unscored += 1
                    continue
                key = "" if "" in items else sample.metadata.task
                if key not in items:
                    raise Unusable(f"it is of a task {key!r}, which has no signature")
                items[key].add(_row(sample, scores, key and items[key].task.entry.name, texts))
            except UNREADABLE as error:
                problems.append(f"{name}: {reason(error)}")
    scored = sum(map(len, items.values()))
    if missing := left_out(problems, scored, scored + len(problems)):
        yield SkippedLog(path, missing)
    if not scored:
        raise Unusable(f"no sample with a score; the run ended as {log.header.status!r}")
    given = (logged.model_generate_config, logged.model_args)
    settings = {name: each for own in given if isinstance(own, dict) for name, each in own.items()}
    for key, signature in signatures.items():
        if len(items[key]):
            yield Run(
                model=Model("inspect", logged.model, settings_of(settings)),
                signature=signature,
                created=_created(path, logged),
                source=path,
                items=items[key].columns(),
                reported=_reported(log.header, key),
                notes=tuple(_notes(log.header, scored, unscored)),
            )


class _Archive:
    """An `.eval` file: a member for each sample."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        try:
            # Names may occur more than once: the last one counts, as for Inspect.
            self._members = {info.filename: info for info in zipfile.ZipFile(file).infolist()}
        except zipfile.BadZipFile as error:
            raise Unusable(
                "not a whole zip archive: the run is still going on, or the file is cut off"
            ) from error
        # Samples are logged as they finish: in the order of their numbers they are as they were.
        names = (name for name in self._members if name.startswith("samples/"))
        self.names = sorted(names, key=lambda name: (name.rpartition("/")[0], len(name), name))
        headers = (each for each in ("header.json", "_journal/start.json") if each in self._members)
        if (first := next(headers, None)) is None:
            raise Unusable("a zip archive, but no log of Inspect: it has no header.json")
        self.header = decode(self.read(first), _HEADER)

    def read(self, name: str) -> bytes:
        # `ZipFile.read` takes three times as long, and before Python 3.14 knows no Zstandard.
        member = self._members[name]
        if member.file_size > _LARGEST:
            raise Unusable(f"larger than {_LARGEST >> 20} MB when unpacked")
        self._file.seek(member.header_offset + 26)
        lengths: tuple[int, int] = struct.unpack("<HH", self._file.read(4))
        self._file.seek(sum(lengths), 1)
        packed = self._file.read(member.compress_size)
        data = _unpacked(packed, member.compress_type, member.file_size + 1)
        if len(data) != member.file_size:
            raise Unusable("damaged: not as large as the archive says")
        return data


class _Whole:
    """A `.json` file, with all samples in it."""

    def __init__(self, file: BinaryIO) -> None:
        data = file.read()
        self.header: _Log | _LogWithNaN
        try:
            self.header = _LOG.decode(data)
            samples = [bytes(each) for each in self.header.samples or ()]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.header = decode(data, _LOG_WITH_NAN)
            samples = [json.dumps(each).encode() for each in self.header.samples or ()]
        self._samples = {f"sample {number}": each for number, each in enumerate(samples, 1)}
        self.names = list(self._samples)

    def read(self, name: str) -> bytes:
        return self._samples[name]


def _sample(data: bytes) -> _Sample:
    """Decode a sample, if possible without its events: they are most of it, and come last."""
    start = data.find(b',"events":')
    if start >= 0:
        try:
            # A place within another value leaves that open, so that it cannot be taken for this.
            return _SAMPLE.decode(data[:start] + b"}")
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
    return decode(data, _SAMPLE)


def _unpacked(data: bytes, method: int, most: int) -> bytes:
    """Unpack so many bytes of a member at most."""
    if method == zipfile.ZIP_STORED:
        return data
    if method == zipfile.ZIP_DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, most)
    if method != _ZSTANDARD:
        raise Unusable(f"compressed in a way that this version does not know ({method})")
    decompressor, damage = _zstandard()
    try:
        with decompressor.stream_reader(data, read_across_frames=True) as reader:
            return bytes(reader.read(most))
    except damage as error:
        raise Unusable(f"damaged: {error}") from error


@cache
def _zstandard() -> tuple[Any, type[Exception]]:
    try:
        import zstandard
    except ImportError as error:
        raise Unusable("compressed with Zstandard: pip install 'hkcanto[report]'") from error
    return zstandard.ZstdDecompressor(), zstandard.ZstdError


def _signatures(logged: _Eval) -> dict[str, Signature]:
    """Return the signature of each task, by its name; of the only one, by nothing."""
    metadata = logged.metadata if isinstance(logged.metadata, dict) else {}
    given = metadata.get("signatures") or {"": metadata.get("signature")}
    if given == {"": None} and not logged.task.startswith("hkcanto/"):
        raise Unusable(f"not a task of hkcanto: {logged.task}")
    return {str(task): parse_signature(text) for task, text in dict(given).items()}


def _row(sample: _Sample, scores: dict[str, _SampleScore], entry: str, texts: bool) -> Row:
    """Return a sample as a row; `entry` begins its id instead of the variant, if there are more."""
    choice = sample.output.choices[0] if sample.output.choices else _Choice()
    messages = [_Message("user", sample.input)] if isinstance(sample.input, str) else sample.input
    judged, about = scores.pop(_SCORER), sample.metadata
    metadata = judged.metadata or _ScoreMetadata()
    judges = [score for name, score in scores.items() if name.startswith(f"{_SCORER}_")]
    return Row(
        id=f"{entry}{sample.id.removeprefix(about.task)}" if entry else sample.id,
        subject=about.subject,
        question=about.question,
        response=choice.message.text,
        target=sample.target,
        values={
            name: value
            for score in (judged, *judges)
            if isinstance(score.value, dict)
            for name, value in score.value.items()
            if isinstance(value, int | float)
        },
        answer=judged.answer or "",
        reason=metadata.reason,
        reasoning=choice.message.reasoning,
        parts=about.parts,
        weights=metadata.weights,
        pair=Pair(**metadata.pair) if metadata.pair else None,
        output_tokens=sample.output.usage.output_tokens if sample.output.usage else nan,
        truncated=float(choice.stop_reason in ("max_tokens", "model_length", "length")),
        prompt="\n\n".join(f"[{each.role}]\n{each.text}" for each in messages) if texts else "",
    )


def _reported(header: _Header, task: str) -> dict[str, float]:
    """Return Inspect's figures; of a task among several, there is its headline alone."""
    headline = condition(task).table[0].name if task else ""
    reported: dict[str, float] = {}
    for score in header.results.scores if header.results else ():
        for name, figure in score.metrics.items():
            if score.scorer != _SCORER:  # a judge's
                name = score.name if name == "mean" else ""
            elif task:
                name = headline if name == task else ""
            value = figure.get("value")
            if name and not name.endswith("_stderr") and isinstance(value, int | float):
                reported.setdefault(name, float(value))
    return reported


def _notes(header: _Header, scored: int, unscored: int) -> Iterator[str]:
    roles = header.eval.model_roles if isinstance(header.eval.model_roles, dict) else {}
    graders = roles.get("grader", [])
    graders = graders if isinstance(graders, list) else [graders]
    names = [str(grader.get("model")) for grader in graders if isinstance(grader, dict)]
    scores = header.results.scores if header.results else ()
    if names and any(score.scorer.startswith(f"{_SCORER}_") for score in scores):
        yield f"judged by {', '.join(names)}"
    if unscored:
        yield f"{unscored} of {scored + unscored} items have no score, because of errors"
    if header.status != "success":
        yield f"the run did not end well (status {header.status!r}); it has {scored} items"


def _created(path: Path, logged: _Eval) -> datetime:
    try:
        created = datetime.fromisoformat(logged.created)
    except ValueError:
        created = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return created if created.tzinfo else created.replace(tzinfo=UTC)
