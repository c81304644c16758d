"""Logs of Inspect: `.eval`, a zip archive of a JSON file for each sample, or all in one `.json`.

They are read without Inspect, which takes seconds to import and minutes for large logs.
"""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from math import nan
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ...corpus import Pair
from ...loading import Condition
from ..evaluations import SkippedLog
from .decoding import Unusable, decode
from .item_columns import ItemColumns, Length, Row
from .signatures import Signature, catalogue_task, condition_of, of_whole_task, parse_signature
from .subject_runs import Model, SubjectRun, settings_of

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


class _SampleScore(msgspec.Struct, gc=False):
    value: Any = None
    answer: str | None = None
    metadata: _ScoreMetadata | None = None

    @property
    def values(self) -> dict[str, float]:
        given = self.value if isinstance(self.value, dict) else {}
        return {name: value for name, value in given.items() if isinstance(value, int | float)}


class _Metadata(msgspec.Struct, gc=False):
    subject: str = ""
    groups: tuple[str, ...] = ()


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


def read(path: Path, length: Length, texts: bool) -> Iterator[SubjectRun | SkippedLog]:
    """Read a log.

    Args:
        path: A file that ends in `.eval` or `.json`.
        length: Of a text.
        texts: Whether to keep the texts.

    Yields:
        The runs, one for each subject.

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
) -> Iterator[SubjectRun]:
    logged = header.eval
    signature = _signature(logged)
    named = catalogue_task(signature.task)
    known = {subject.name for subject in named.subjects}
    shots = 0 if _is_multiturn(logged) else signature.shots
    question_of = question_finder(condition_of(signature, named), shots)
    columns: dict[str, ItemColumns] = {}
    unscored = scored = 0
    for sample in samples:
        scores = sample.scores or {}
        if _SCORER not in scores:
            unscored += 1
            continue
        scored += 1
        subject = sample.metadata.subject
        if subject not in known:
            raise Unusable(
                f"the catalogue of this version has no subject {subject!r} of {named.name}"
            )
        if subject not in columns:
            columns[subject] = ItemColumns(named, subject, length, texts)
        columns[subject].add(_row(sample, scores, question_of, texts))
    if not scored:
        raise Unusable(f"no sample with a score; the run ended as {header.status!r}")
    reported = _reported(header.results)
    notes = tuple(_notes(header, scored, unscored))
    for subject, items in columns.items():
        yield SubjectRun(
            model=_model(logged, signature.version),
            signature=of_whole_task(signature, named),
            subject=subject,
            created=_created(path, logged),
            source=path,
            items=items.items(),
            reported={
                key: value for key, value in reported.items() if subject and key[0] == subject
            },
            notes=notes,
            siblings=len(columns),
            reported_of_all={
                key: value
                for key, value in reported.items()
                if not key[0] or key[0].startswith("category:")
            },
        )


def _signature(logged: _Eval) -> Signature:
    metadata = logged.metadata if isinstance(logged.metadata, dict) else {}
    text = metadata.get("signature")
    if isinstance(text, str):
        return parse_signature(text)
    if logged.task.startswith("hkcanto/"):
        raise Unusable("no signature: it was made by another version of hkcanto; run it again")
    raise Unusable(f"not a task of hkcanto: {logged.task}")


def _row(
    sample: _Sample,
    scores: Mapping[str, _SampleScore],
    question_of: Callable[[str], str],
    texts: bool,
) -> Row:
    choice = sample.output.choices[0] if sample.output.choices else _Choice()
    messages = [_Message("user", sample.input)] if isinstance(sample.input, str) else sample.input
    judged = scores[_SCORER]
    values = judged.values
    for name, score in scores.items():
        if name.startswith(f"{_SCORER}_"):
            values |= score.values
    metadata = judged.metadata or _ScoreMetadata()
    return Row(
        id=sample.id,
        question=question_of(messages[-1].text if messages else ""),
        response=choice.message.text,
        target=sample.target,
        values=values,
        answer=judged.answer or "",
        reasoning=choice.message.reasoning,
        groups=sample.metadata.groups,
        weights=metadata.weights,
        pair=Pair(*msgspec.structs.astuple(metadata.pair)) if metadata.pair else None,
        output_tokens=sample.output.usage.output_tokens if sample.output.usage else nan,
        truncated=float(choice.stop_reason in ("max_tokens", "model_length", "length")),
        prompt="\n\n".join(f"[{each.role}]\n{each.text}" for each in messages) if texts else "",
    )


def question_finder(how: Condition, shots: int) -> Callable[[str], str]:
    """Return what finds the question in a message that begins with worked examples.

    Behind the end of each example's question is its answer, and behind the last answer, after a
    separator, the question to answer.

    Args:
        how: The condition, for the texts of its prompt.
        shots: Worked examples in the message.
    """
    template, cot = how.template, how.task.variant.cot
    question = (template.question_cot if cot else None) or template.question
    example = (template.example_cot if cot else None) or template.example or template.question
    end = example.replace("{cue}", template.cue).rpartition("}")[2] + template.answer_separator
    separator = template.example_separator
    start = question.partition("{")[0]

    def question_of(message: str) -> str:
        place = 0
        for _ in range(shots):
            place = message.find(end, place) + len(end)
            if place < len(end):
                return message
        # Without the start of the question, if that was converted to Simplified script.
        for found in (message.find(separator + start, place), message.find(separator, place)):
            if shots and found >= 0:
                return message[found + len(separator) :]
        return message

    return question_of


def _reported(results: _Results | None) -> dict[tuple[str, str], float]:
    """Return Inspect's figures by scope and metric."""
    reported: dict[tuple[str, str], float] = {}
    for score in results.scores if results else ():
        for name, figure in score.metrics.items():
            name = name.rpartition("/")[2]
            key = _key(score, name)
            if key and isinstance(figure.value, int | float):
                reported.setdefault(key, float(figure.value))
    return reported


def _key(score: _Score, name: str) -> tuple[str, str] | None:
    if name.endswith("stderr"):
        return None
    if score.name == score.scorer:  # figures of the corpus
        return "", name
    if name in ("mean", "rate"):
        return "", score.name
    if name in ("subject_macro", "category_macro"):
        return "", f"{score.name}_{name.removeprefix('subject_')}"
    kind, _, part = name.partition("_")
    scopes = {
        "subset": ("", f"{score.name}_{part}"),
        "category": (f"category:{part}", score.name),
        "subject": (part, score.name),
    }
    return scopes.get(kind)


def _notes(header: _Header, scored: int, unscored: int) -> Iterator[str]:
    logged = header.eval
    scorers = {score.scorer for score in header.results.scores} if header.results else set()
    if any(name.startswith(f"{_SCORER}_") for name in scorers) and (names := _graders(logged)):
        yield f"judged by {', '.join(names)}"
    if unscored:
        yield f"{unscored} of {scored + unscored} items have no score, because of errors"
    if header.status != "success":
        yield f"the run did not end well (status {header.status!r}); it has {scored} items"
    if _is_multiturn(logged):
        yield "worked examples as turns of their own"


def _graders(logged: _Eval) -> list[str]:
    roles = logged.model_roles if isinstance(logged.model_roles, dict) else {}
    graders = roles.get("grader", [])
    graders = graders if isinstance(graders, list) else [graders]
    return [str(grader.get("model")) for grader in graders if isinstance(grader, dict)]


def _is_multiturn(logged: _Eval) -> bool:
    return isinstance(logged.task_args, dict) and logged.task_args.get("multiturn") is True


def _model(logged: _Eval, version: str) -> Model:
    settings: dict[str, Any] = {"multiturn": "yes" if _is_multiturn(logged) else ""}
    for given in (logged.model_generate_config, logged.model_args):
        if isinstance(given, dict):
            settings |= given
    settings["hkcanto"] = version
    return Model("inspect", logged.model, settings_of(settings))


def _created(path: Path, logged: _Eval) -> datetime:
    try:
        created = datetime.fromisoformat(logged.created)
    except ValueError:
        created = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return created if created.tzinfo else created.replace(tzinfo=UTC)
