"""Logs of Inspect: `.eval`, a zip archive with a JSON file per sample, or one `.json` file.

They are read without Inspect, which needs seconds to import and minutes for large logs.
"""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache, partial
from math import inf, nan
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, BinaryIO

import msgspec
import numpy as np

from ...judgements import Judgement
from ...samples import Sample
from ...setup import setup
from ...signatures import Signature, parse_signature
from ..runs import Run, SkippedLog
from ..usage import Timed, Usage
from .decoding import UNREADABLE, Unusable, decode, left_out, reason
from .items import ItemRows, Rows
from .joining import WITH_SYSTEM, numbers, settings_of

_SCORER = "judged"
_JUDGES = ("judged_translation", "judged_summary")
_ZSTANDARD = 93
_HIGHEST = 1e9  # score of a judge; real ones are from 0 to 5
_LARGEST = 64 << 20  # Bytes of a sample; an archive of 2 MB may unpack to gigabytes.


class _Eval(msgspec.Struct):
    task: str
    created: Annotated[datetime, msgspec.Meta(tz=True)]
    model: str
    model_base_url: str | None = None
    model_args: dict[str, Any] = {}
    dataset: dict[str, Any] = {}
    config: dict[str, Any] = {}
    model_generate_config: dict[str, Any] = {}
    model_roles: dict[str, Any] | None = None
    packages: dict[str, str] = {}
    metadata: dict[str, Any] | None = None


class _Log(msgspec.Struct):
    eval: _Eval
    status: str = "started"
    invalidated: bool = False  # somebody invalidated some samples: Inspect will run these again
    plan: dict[str, Any] = {}
    results: dict[str, Any] | None = None
    samples: list[msgspec.Raw] | None = None


# Garbage collection of sample records would take a tenth of the time, so it is off for them.


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
        return "\n".join(p.get("summary" if p.get("redacted") else "reasoning") or "" for p in own)


class _Tokens(msgspec.Struct, gc=False):
    input_tokens: int | None = None  # excluding cached ones
    output_tokens: int | None = None
    input_tokens_cache_write: int | None = None
    input_tokens_cache_read: int | None = None
    reasoning_tokens: int | None = None
    total_cost: float | None = None  # if the user gave Inspect the prices

    @property
    def counts(self) -> tuple[int, ...]:
        """The tokens of the prompt, the answer, the cached part of the prompt, and reasoning."""
        cached = self.input_tokens_cache_read or 0
        prompt = (self.input_tokens or 0) + cached + (self.input_tokens_cache_write or 0)
        return prompt, self.output_tokens or 0, cached, self.reasoning_tokens or 0


class _Used(msgspec.Struct, gc=False):
    """The tokens and time of a sample; an archive has them for all samples in one member."""

    id: str | int
    epoch: int = 1
    model_usage: dict[str, _Tokens] = {}
    role_usage: dict[str, _Tokens] = {}  # such as a judge's, which model_usage includes
    started_at: datetime | None = None
    completed_at: datetime | None = None


class _Choice(msgspec.Struct, gc=False):
    message: _Message = msgspec.field(default_factory=_Message)
    stop_reason: str = ""


class _Output(msgspec.Struct, gc=False):
    choices: list[_Choice] = []
    usage: _Tokens | None = None


class _ScoreMetadata(msgspec.Struct, gc=False):
    judgement: Judgement | None = None


class _SampleScore(msgspec.Struct, gc=False):
    value: Any = None
    metadata: _ScoreMetadata | None = None


class _Metadata(Sample, frozen=True, gc=False, kw_only=True):
    task: str = ""


class _Logged(msgspec.Struct, gc=False):
    input: str | list[_Message]
    metadata: _Metadata
    output: _Output
    scores: dict[str, _SampleScore] | None = None
    id: str | int = ""
    epoch: int = 1
    error: Any = None


class _Call(msgspec.Struct):
    request: dict[str, Any] = {}


class _Event(msgspec.Struct):
    event: str
    role: str | None = None  # of a judge
    config: dict[str, Any] = {}
    call: _Call | None = None


class _Asked(msgspec.Struct):
    events: list[_Event]


class _Judged(msgspec.Struct, gc=False):
    id: str | int
    scores: dict[str, _SampleScore] | None = None


_LOG, _SAMPLE = msgspec.json.Decoder(_Log), msgspec.json.Decoder(_Logged)
_JUDGED, _ASKED = msgspec.json.Decoder(_Judged), msgspec.json.Decoder(_Asked)
_USED, _ALL_USED = msgspec.json.Decoder(_Used), msgspec.json.Decoder(list[_Used])
_Samples = Mapping[str, Callable[[], Any]]
_Answered = tuple[_Used | None, _Tokens | None]  # usage of a sample, and of its answer alone


def read(path: Path, rows: Rows) -> Iterator[Run | SkippedLog]:
    """Read a log that ends in `.eval` or `.json`: yield a run per task, and parts left out."""
    with path.open("rb") as file:
        log, samples = _opened(path, file, _SAMPLE)
        signatures = _signatures(log.eval)
        items = {key: rows(own) for key, own in signatures.items()}
        answered: dict[str, list[_Answered]] = {key: [] for key in signatures}
        problems, unscored, taken = list[str](), 0, _taken(path, file)
        for name, load in samples.items():
            try:
                sample = load()
                key = "" if "" in items else sample.metadata.task
                own = items[key]
                if _SCORER not in (sample.scores or {}) and (own.NEEDS_SCORES or sample.error):
                    unscored += 1
                    continue
                _add(own, sample)
                used = taken.get((sample.id, sample.epoch))
                answered[key].append((used, sample.output.usage))
            except UNREADABLE as error:
                problems.append(f"{name}: {reason(error)}")
    scored = sum(len(own) for own in items.values())
    if missing := left_out(problems, scored, scored + len(problems)):
        yield SkippedLog(path, missing)
    elif not scored:
        raise Unusable(f"no sample with a score; the run ended as {log.status!r}")
    scores: list[dict[str, Any]] = (log.results or {}).get("scores") or []
    asked, about = log.eval.config, log.eval
    picked = asked.get("sample_id") is not None
    status = "invalidated" if log.invalidated else log.status
    if status == "success" and (unscored or problems):
        status = "incomplete"
    generation, timed = _generation(path, log), tuple(_timed(path, about, answered))
    for key, signature in signatures.items():
        if len(items[key]):
            yield Run(
                label="",
                model=about.model,
                harness="inspect",
                signature=items[key].judged_by(signature),
                created=about.created,
                sources=(path,),
                items=items[key].items(),
                reported=_reported(scores, key),
                notes=tuple(_notes(log, scores, scored, unscored)),
                limited=picked or asked.get("limit") is not None,
                picked=picked,
                # If one log has several tasks, this is their sum.
                available=int(about.dataset.get("samples") or 0) if len(signatures) == 1 else 0,
                status=status,
                backend=about.model.partition("/")[0],
                version_of_harness=about.packages.get("inspect_ai", "unknown"),
                settings=settings_of(about.model_generate_config | about.model_args),
                generation=generation,
                usage=_usage(answered[key], timed),
            )


def _opened(path: Path, file: BinaryIO, of: msgspec.json.Decoder[Any]) -> tuple[_Log, _Samples]:
    return (_archive if path.suffix == ".eval" else _whole)(file, of)


def _whole(file: BinaryIO, of: msgspec.json.Decoder[Any]) -> tuple[_Log, _Samples]:
    """Read a `.json` file, which contains all samples."""
    log = decode(file.read(), _LOG)
    samples = enumerate(map(bytes, log.samples or ()), 1)
    return log, {f"sample {number}": partial(decode, each, of) for number, each in samples}


def _archive(file: BinaryIO, of: msgspec.json.Decoder[Any]) -> tuple[_Log, _Samples]:
    """Read an `.eval` file: a zip archive with a member for each sample."""
    try:
        # A name may occur more than once: the last one counts, as in Inspect.
        members = {info.filename: info for info in zipfile.ZipFile(file).infolist()}
    except zipfile.BadZipFile as error:
        raise Unusable(
            "not a complete zip archive: the run is still going on, or the file is cut off"
        ) from error
    header = members.get("header.json") or members.get("_journal/start.json")
    if header is None:
        raise Unusable("a zip archive, but not a log of Inspect: it has no header.json")

    def load(member: zipfile.ZipInfo) -> Any:
        data = unpacked(file, member)
        # Skip the events if possible: they are most of the file, and come last. A cut at a wrong
        # place would leave invalid JSON, and so be noticed.
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            if (start := data.find(b',"events":')) >= 0:
                return of.decode(data[:start] + b"}")
        return decode(data, of)

    # Samples are logged as they finish; sorting by number restores their order.
    names = sorted(members, key=lambda name: (name.rpartition("/")[0], len(name), name))
    samples = {n: partial(load, members[n]) for n in names if n.startswith("samples/")}
    return decode(unpacked(file, header), _LOG), samples


def unpacked(file: BinaryIO, member: zipfile.ZipInfo) -> bytes:
    """Return the content of an archive member, and refuse more bytes than it declares."""
    # `ZipFile.read` takes three times as long, does not limit the unpacked size with Zstandard, and
    # does not support Zstandard before Python 3.14.
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
        raise Unusable("damaged: its size differs from the archive's entry")
    return data


@cache
def _zstandard() -> tuple[Any, type[Exception]]:
    import zstandard

    return zstandard.ZstdDecompressor(), zstandard.ZstdError


def _signatures(logged: _Eval) -> dict[str, Signature]:
    """Return task name → signature; the name is empty if there is only one task."""
    metadata = logged.metadata or {}
    given = metadata.get("signatures") or {"": metadata.get("signature")}
    if given == {"": None} and not logged.task.startswith("hkcanto/"):
        raise Unusable(f"not a task of hkcanto: {logged.task}")
    return {str(task): parse_signature(text) for task, text in dict(given).items()}


def _generation(path: Path, log: _Log) -> dict[str, float]:
    """Return the decoding settings, preferably those of the first request.

    Inspect drops a temperature that a model refuses.
    """
    steps = log.plan.get("steps") or []
    ours = {k: v for step in steps for k, v in (step.get("params") or {}).items()}
    if log.eval.model_args.get(
        "do_sample"
    ):  # for Transformers, which then samples at temperature 1
        ours = {}
    found = numbers(ours | (log.plan.get("config") or {}) | log.eval.model_generate_config)
    with path.open("rb") as file, suppress(*UNREADABLE):
        for load in _opened(path, file, _ASKED)[1].values():
            for event in load().events:
                if event.event == "model" and not event.role:
                    found |= numbers(event.config)
                    request = event.call and str(event.call.request)
                    lost = request and "temperature" in found and "temperature" not in request
                    return {k: v for k, v in found.items() if not (lost and k == "temperature")}
    return found


def _taken(path: Path, file: BinaryIO) -> dict[tuple[str | int, int], _Used]:
    """Return the tokens and time of each sample; empty if the log does not have them."""
    found: list[_Used] = []
    with suppress(*UNREADABLE):
        if path.suffix == ".eval":
            members = {info.filename: info for info in zipfile.ZipFile(file).infolist()}
            parts = [name for name in members if name.startswith("_journal/summaries/")]
            for name in ["summaries.json"] if "summaries.json" in members else parts:
                every: list[_Used] = decode(unpacked(file, members[name]), _ALL_USED)
                found += every
        else:
            file.seek(0)
            log = decode(file.read(), _LOG)
            found += [decode(bytes(sample), _USED) for sample in log.samples or ()]
    return {(each.id, each.epoch): each for each in found}


def _timed(path: Path, about: _Eval, answered: Mapping[str, list[_Answered]]) -> Iterator[Timed]:
    """Yield the time during which scored samples were running, if all of them have times.

    Loading the model and the pause before an `eval-retry` do not count. An exception is a vLLM
    server that Inspect starts: it begins to load with the first request.
    """
    used = [used for own in answered.values() for used, _ in own]
    spans = [
        (each.started_at.timestamp(), each.completed_at.timestamp())
        for each in used
        if each and each.started_at and each.completed_at
    ]
    seconds, until = 0.0, -inf
    for start, end in sorted(spans):
        seconds += max(0.0, end - max(start, until))
        until = max(until, end)
    if spans and len(spans) == len(used):
        starts = about.model.startswith("vllm/") and not about.model_base_url
        yield Timed(str(path), seconds, len(spans), with_loading=starts)


def _usage(answered: Sequence[_Answered], timed: tuple[Timed, ...]) -> Usage:
    """Return the tokens of a task's answers, with those of judges separate."""
    totals, of_judges, reused = np.zeros(4, int), np.zeros(4, int), False
    for used, answer in answered:
        judges = _sum(used.role_usage) if used else np.zeros(4, int)
        own = _sum(used.model_usage) - judges if used else np.zeros(4, int)
        if not own.any():  # the answer came from Inspect's cache, or tokens were not counted
            if not answer or not any(answer.counts):
                return Usage(len(answered), timed=timed)
            own, reused = np.array(answer.counts), reused or used is not None
        totals, of_judges = totals + own, of_judges + judges
    prompt, answers, cached, reasoning = totals.tolist()
    judged = int(of_judges[:2].sum()) or None
    more = cached or None, reasoning or None, judged, _dollars([used for used, _ in answered])
    return Usage(len(answered), prompt or None, answers, *more, timed=timed, reused=reused)


def _dollars(samples: Sequence[_Used | None]) -> float | None:
    """Return the cost of samples; None if the cost of any is unknown."""
    if not all(samples):
        return None
    costs = [each.total_cost for used in samples if used for each in used.model_usage.values()]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _sum(usage: Mapping[str, _Tokens]) -> Any:
    return np.array([each.counts for each in usage.values()], int).reshape(-1, 4).sum(axis=0)


def _add(items: ItemRows, logged: _Logged) -> None:
    choice = logged.output.choices[0] if logged.output.choices else _Choice()
    used = logged.output.usage
    messages = [_Message("user", logged.input)] if isinstance(logged.input, str) else logged.input
    scores = logged.scores or {}
    own = scores[_SCORER].metadata if _SCORER in scores else None
    judges = (
        (name, value)
        for scorer, score in scores.items()
        if scorer.startswith(f"{_SCORER}_") and isinstance(score.value, dict)
        for name, value in score.value.items()
    )
    items.add(
        logged.metadata,
        own.judgement if own else None,
        choice.message.text,
        reasoning=choice.message.reasoning,
        further={
            n: nan if v is None else v for n, v in judges if isinstance(v, int | float | None)
        },
        output_tokens=nan if not used or used.output_tokens is None else used.output_tokens,
        truncated=float(choice.stop_reason in ("max_tokens", "model_length", "length")),
        prompt="\n\n".join(f"[{each.role}]\n{each.text}" for each in messages)
        if items.texts
        else "",
    )


def _reported(scores: list[dict[str, Any]], task: str) -> dict[tuple[tuple[str, ...], str], float]:
    """Return Inspect's figures; if there are several tasks, only their headlines are logged."""
    judged: dict[str, Any] = {}
    reported: dict[str, Any] = {}
    for score in reversed(scores):  # the first of several reducers counts
        if score.get("scorer") == _SCORER:
            judged |= score["metrics"]
        elif "mean" in score["metrics"]:  # a judge's
            reported[score["name"]] = score["metrics"]["mean"]
    reported |= {setup(task).headline.name: judged.get(task, {})} if task else judged
    values = {name: figure.get("value") for name, figure in reported.items()}
    return {
        ((), name): float(value)
        for name, value in values.items()
        if not name.endswith("_stderr") and isinstance(value, int | float)
    }


def _notes(log: _Log, scores: list[dict[str, Any]], scored: int, unscored: int) -> Iterator[str]:
    graders = (log.eval.model_roles or {}).get("grader", [])
    graders = graders if isinstance(graders, list) else [graders]
    names = [str(grader.get("model")) for grader in graders if isinstance(grader, dict)]
    if names and any(score.get("scorer", "").startswith(f"{_SCORER}_") for score in scores):
        version = (log.eval.metadata or {}).get("judge", "prompts:1")
        yield f"judged by {', '.join(names)}, {version}"
    if log.eval.model_generate_config.get("system_message"):
        yield WITH_SYSTEM
    if unscored:
        yield f"{unscored} of {scored + unscored} items have no score, because of errors"
    if log.status != "success":
        yield f"the run did not succeed (status {log.status!r}); it has {scored} items"


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
    where = str(path)
    try:
        with path.open("rb") as file:
            log, samples = _opened(path, file, _JUDGED)
            for name, load in samples.items():
                where = f"{path}, {name}"
                sample = load()
                judged = [(sample.scores or {}).get(name) for name in _JUDGES]
                values = [each.value for each in judged if each and isinstance(each.value, dict)]
                for criterion, value in (pair for own in values for pair in own.items()):
                    if not criterion.endswith("_rate") and isinstance(value, int | float):
                        if abs(value) > _HIGHEST:
                            raise Unusable(f"{criterion!r}: {value:.3g} is not a judge score")
                        items = found.setdefault(criterion, {})
                        items.setdefault(str(sample.id), []).append(value)
    except UNREADABLE as error:
        raise Unusable(f"{where}: {reason(error)}") from error
    if not found:
        raise Unusable(
            f"{path}: the log of {log.eval.task} has no scores of a judge; run the task with "
            "-T judge=true and --model-role grader=…"
        )
    return {name: {id_: fmean(own) for id_, own in of.items()} for name, of in found.items()}
