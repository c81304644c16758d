"""Logs of Inspect: `.eval`, a zip archive of a JSON file for each sample, or all in one `.json`.

They are read without Inspect, which takes seconds to import and minutes for large logs.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from math import nan
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ...corpus_figures import Pair
from ...task import condition
from .decoding import Unusable, decode
from .item_columns import Length, Row, TaskItems
from .runs import Model, Run, settings_of
from .signatures import Signature, catalogue_task, of_whole_task, parse_signature

_SCORER = "judged"
_ZSTANDARD = 93


class _Eval(msgspec.Struct):
    task: str = ""
    created: str = ""
    model: str = ""
    model_args: Any = None
    model_generate_config: Any = None
    model_roles: Any = None
    task_args: Any = None
    metadata: Any = None


class _Figure(msgspec.Struct):
    value: Any = None


class _Score(msgspec.Struct):
    name: str
    scorer: str = ""
    metrics: dict[str, _Figure] = msgspec.field(default_factory=dict)


class _Results(msgspec.Struct):
    scores: list[_Score] = msgspec.field(default_factory=list)


class _Header(msgspec.Struct):
    eval: _Eval
    status: str = "started"
    results: _Results | None = None


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
        if isinstance(self.content, str):
            return ""
        parts = (part for part in self.content if part.type == "reasoning")
        return "".join((part.summary or "") if part.redacted else part.reasoning for part in parts)


class _Choice(msgspec.Struct, gc=False):
    message: _Message = msgspec.field(default_factory=_Message)
    stop_reason: str = ""


class _Usage(msgspec.Struct, gc=False):
    output_tokens: float = nan


class _Output(msgspec.Struct, gc=False):
    choices: list[_Choice] = msgspec.field(default_factory=list)
    usage: _Usage | None = None


class _Pair(msgspec.Struct, gc=False):
    hypothesis: str
    reference: str
    source: str


class _ScoreMetadata(msgspec.Struct, gc=False):
    weights: dict[str, float] = msgspec.field(default_factory=dict)
    pair: _Pair | None = None
    reason: str = ""


class _SampleScore(msgspec.Struct, gc=False):
    value: Any = None
    answer: str | None = None
    metadata: _ScoreMetadata | None = None

    @property
    def values(self) -> dict[str, float]:
        given = self.value if isinstance(self.value, dict) else {}
        return {name: value for name, value in given.items() if isinstance(value, int | float)}


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


class _Log(_Header):
    samples: list[_Sample] | None = None


_HEADER = msgspec.json.Decoder(_Header)
_SAMPLE = msgspec.json.Decoder(_Sample)
_LOG = msgspec.json.Decoder(_Log)


def read(path: Path, length: Length, texts: bool) -> Iterator[Run]:
    """Read a log.

    Args:
        path: A file that ends in `.eval` or `.json`.
        length: Of a text.
        texts: Whether to keep the texts.

    Yields:
        The runs: one, or one for each task in it.

    Raises:
        Unusable: Nothing can be read.
    """
    if path.suffix == ".eval":
        with path.open("rb") as file:
            archive = _Archive(file)
            header = archive.header()
            yield from _runs(path, header, archive.samples(), length, texts)
    else:
        log = decode(path.read_bytes(), _LOG)
        yield from _runs(path, log, log.samples or (), length, texts)


class _Archive:
    """The members of an `.eval` file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        try:
            # Names may occur more than once: the last one counts, as for Inspect.
            self._members = {info.filename: info for info in zipfile.ZipFile(file).infolist()}
        except zipfile.BadZipFile as error:
            raise Unusable(
                "not a whole zip archive: the run is still going on, or the file is cut off"
            ) from error

    def header(self) -> _Header:
        for name in ("header.json", "_journal/start.json"):
            if name in self._members:
                return decode(self._read(name), _HEADER)
        raise Unusable("a zip archive, but no log of Inspect: it has no header.json")

    def samples(self) -> Iterator[_Sample]:
        """Read the samples in the order of their numbers; they are logged as they finish."""
        names = [name for name in self._members if name.startswith("samples/")]
        for name in sorted(names, key=_by_number):
            try:
                yield _sample(self._read(name))
            except Unusable as problem:
                raise Unusable(f"{name}: {problem}") from problem

    def _read(self, name: str) -> bytes:
        """Read a member: `ZipFile.read` takes three times as long, and before Python 3.14 knows
        no Zstandard."""
        member = self._members[name]
        self._file.seek(member.header_offset + 26)
        lengths: tuple[int, int] = struct.unpack("<HH", self._file.read(4))
        self._file.seek(sum(lengths), 1)
        return _unpacked(self._file.read(member.compress_size), member.compress_type)


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


def _unpacked(data: bytes, method: int) -> bytes:
    if method == zipfile.ZIP_STORED:
        return data
    if method == zipfile.ZIP_DEFLATED:
        try:
            return zlib.decompress(data, -zlib.MAX_WBITS)
        except zlib.error as error:
            raise Unusable(f"damaged: {error}") from error
    if method != _ZSTANDARD:
        raise Unusable(f"compressed in a way that this version does not know ({method})")
    try:
        import zstandard
    except ImportError as error:
        raise Unusable("compressed with Zstandard: pip install 'hkcanto[report]'") from error
    try:
        whole: bytes = _zstandard().decompressobj(read_across_frames=True).decompress(data)
    except zstandard.ZstdError as error:
        raise Unusable(f"damaged: {error}") from error
    return whole


@cache
def _zstandard() -> Any:
    import zstandard

    return zstandard.ZstdDecompressor()


def _by_number(name: str) -> tuple[str, int, str]:
    return name.rpartition("/")[0], len(name), name


def _runs(
    path: Path, header: _Header, samples: Iterable[_Sample], length: Length, texts: bool
) -> Iterator[Run]:
    logged = header.eval
    signatures = _signatures(logged)
    tasks = {key: catalogue_task(signature.task) for key, signature in signatures.items()}
    items = {key: TaskItems(task, length, texts) for key, task in tasks.items()}
    unscored = scored = 0
    for sample in samples:
        scores = sample.scores or {}
        if _SCORER not in scores:
            unscored += 1
            continue
        scored += 1
        key = "" if "" in items else sample.metadata.task
        if key not in items:
            raise Unusable(f"{sample.id} is of a task {key!r}, which has no signature")
        row = _row(sample, scores, texts)
        if key:  # ids begin with the name of the variant, to differ from those of others
            row = msgspec.structs.replace(
                row, id=f"{tasks[key].entry.name}{row.id.removeprefix(key)}"
            )
        items[key].add(row)
    if not scored:
        raise Unusable(f"no sample with a score; the run ended as {header.status!r}")
    notes = tuple(_notes(header, scored, unscored))
    for key, signature in signatures.items():
        if by_subject := items[key].by_subject():
            yield Run(
                model=_model(logged),
                signature=of_whole_task(signature, tasks[key]),
                created=_created(path, logged),
                source=path,
                items=by_subject,
                reported=_reported(header.results, key),
                notes=notes,
            )


def _signatures(logged: _Eval) -> dict[str, Signature]:
    """Return the signature of each task, by its name; of the only one, by nothing."""
    metadata = logged.metadata if isinstance(logged.metadata, dict) else {}
    given = metadata.get("signatures") or {"": metadata.get("signature")}
    if isinstance(given, dict) and all(isinstance(text, str) for text in given.values()):
        return {str(task): parse_signature(text) for task, text in given.items()}
    if logged.task.startswith("hkcanto/"):
        raise Unusable("no signature: it was made by another version of hkcanto; run it again")
    raise Unusable(f"not a task of hkcanto: {logged.task}")


def _row(sample: _Sample, scores: Mapping[str, _SampleScore], texts: bool) -> Row:
    choice = sample.output.choices[0] if sample.output.choices else _Choice()
    messages = [_Message("user", sample.input)] if isinstance(sample.input, str) else sample.input
    judged, about = scores[_SCORER], sample.metadata
    values = judged.values
    for name, score in scores.items():
        if name.startswith(f"{_SCORER}_"):
            values |= score.values
    metadata = judged.metadata or _ScoreMetadata()
    return Row(
        id=sample.id,
        subject=about.subject,
        question=about.question,
        response=choice.message.text,
        target=sample.target,
        values=values,
        answer=judged.answer or "",
        reason=metadata.reason,
        reasoning=choice.message.reasoning,
        parts=about.parts,
        weights=metadata.weights,
        pair=Pair(*msgspec.structs.astuple(metadata.pair)) if metadata.pair else None,
        output_tokens=sample.output.usage.output_tokens if sample.output.usage else nan,
        truncated=float(choice.stop_reason in ("max_tokens", "model_length", "length")),
        prompt="\n\n".join(f"[{each.role}]\n{each.text}" for each in messages) if texts else "",
    )


def _reported(results: _Results | None, task: str) -> dict[str, float]:
    """Return Inspect's figures; of a task among several, there is its headline alone."""
    reported: dict[str, float] = {}
    headline = {task: condition(task).table[0].name} if task else {}
    for score in results.scores if results else ():
        for name, figure in score.metrics.items():
            if score.scorer != _SCORER:  # a judge's
                name = score.name if name == "mean" else ""
            elif task:
                name = headline.get(name, "")
            if name and not name.endswith("_stderr") and isinstance(figure.value, int | float):
                reported.setdefault(name, float(figure.value))
    return reported


def _notes(header: _Header, scored: int, unscored: int) -> Iterator[str]:
    logged = header.eval
    scorers = {score.scorer for score in header.results.scores} if header.results else set()
    if any(name.startswith(f"{_SCORER}_") for name in scorers) and (names := _graders(logged)):
        yield f"judged by {', '.join(names)}"
    if unscored:
        yield f"{unscored} of {scored + unscored} items have no score, because of errors"
    if header.status != "success":
        yield f"the run did not end well (status {header.status!r}); it has {scored} items"


def _graders(logged: _Eval) -> list[str]:
    roles = logged.model_roles if isinstance(logged.model_roles, dict) else {}
    graders = roles.get("grader", [])
    graders = graders if isinstance(graders, list) else [graders]
    return [str(grader.get("model")) for grader in graders if isinstance(grader, dict)]


def _model(logged: _Eval) -> Model:
    settings: dict[str, Any] = {}
    for given in (logged.model_generate_config, logged.model_args):
        if isinstance(given, dict):
            settings |= given
    return Model("inspect", logged.model, settings_of(settings))


def _created(path: Path, logged: _Eval) -> datetime:
    try:
        created = datetime.fromisoformat(logged.created)
    except ValueError:
        created = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return created if created.tzinfo else created.replace(tzinfo=UTC)
