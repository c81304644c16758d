"""Logs of Inspect: `.eval`, a zip archive with a JSON file per sample, or one `.json` file.

They are read without Inspect, which needs seconds to import and minutes for large logs.
"""

import re
import struct
import sys
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from io import SEEK_END, BytesIO
from itertools import chain
from math import inf
from operator import attrgetter, sub
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, BinaryIO, NamedTuple

import msgspec

from ...catalogue import known_signature
from ...errors import LogError
from ...judgements import Judgement
from ...kinds.judged import Judged
from ...samples import Sample
from ...signatures import Signature
from ...tasks import task_as_run
from ..runs import Reported, Run, Sent, Settings, SkippedLog, Usage
from .checking import other_model, signature_doubt, uneven_votes
from .items import (
    CHAT,
    SCORE_AGAIN,
    UNREADABLE,
    WITH_SYSTEM,
    Evidence,
    ItemRows,
    Json,
    LoggedItem,
    NewItemRows,
    Request,
    decode,
    hashed,
    left_out,
    reason,
    sent_of,
    settings_of,
)

_SCORER = "judged"
_JUDGE_PREFIX = f"{_SCORER}_"
_JUDGES = ("judged_translation", "judged_summary")
_LENGTH_LIMITS = ("max_tokens", "model_length", "length")
_ZSTANDARD = 93
_ATTACHMENT = "attachment://"
_SAME_OF_ONE = ("", "mean", "median", "mode", "max")
"""The reducers that keep the value of a single epoch."""
_HIGHEST_SCORE = 1e9  # of a judge; real ones are from 0 to 5
_FINGERPRINT = re.compile(rb'"system_fingerprint":\s*"([^"]+)"')
Samples = dict[str, Callable[[], Any]]
"""Name of a sample → a function that decodes it."""

_LARGEST_LOG = 1 << 30  # bytes of all samples, unless the archive itself is large
_LARGEST_RATIO = 100
_LARGEST = 64 << 20  # Bytes of a sample; an archive of 2 MB may unpack to gigabytes.


class _Role(msgspec.Struct):
    model: str
    config: Json = {}


class _Eval(msgspec.Struct):
    task: str
    created: Annotated[datetime, msgspec.Meta(tz=True)]
    model: str
    eval_id: str = ""
    model_base_url: str | None = None
    model_args: Json = {}
    dataset: Json = {}
    task_args: Json = {}
    config: Json = {}
    model_generate_config: Json = {}
    model_roles: dict[str, _Role | list[_Role]] | None = None
    packages: dict[str, str] = {}
    metadata: Json | None = None


class _Log(msgspec.Struct):
    eval: _Eval
    status: str = "started"
    invalidated: bool = False
    plan: Json = {}
    results: Json | None = None
    samples: list[msgspec.Raw] | None = None

    @property
    def steps(self) -> list[Json]:
        """The solvers that were run, with their parameters."""
        return self.plan.get("steps") or []

    @property
    def scores(self) -> list[Json]:
        """The figures that Inspect computed, by scorer and reducer."""
        return (self.results or {}).get("scores") or []

    @property
    def means(self) -> list[Json]:
        """The figures whose reducer is the mean, or makes the same of one epoch."""
        of_one = self.eval.config.get("epochs") in (None, 1)
        names = _SAME_OF_ONE if of_one else ("", "mean")
        return [score for score in self.scores if (score.get("reducer") or "") in names]

    @property
    def graders(self) -> list[_Role]:
        """The judge models."""
        graders = (self.eval.model_roles or {}).get("grader", [])
        return graders if isinstance(graders, list) else [graders]

    @property
    def judging(self) -> list[Settings]:
        """The settings of each judge model."""
        return [settings_of(grader.config) for grader in self.graders]


class _Metadata(Sample, frozen=True, gc=False, kw_only=True):
    task: str = ""
    no_system: bool = False
    options: Json = msgspec.field(default_factory=dict)


class _LoggedSample(msgspec.Struct, gc=False):
    input: str | list[Json]
    metadata: _Metadata
    output: Json
    scores: dict[str, Json] | None = None
    error: Any = None
    # Somebody invalidated it: Inspect will run it again.
    invalidation: Any = None
    epoch: int = 1
    model_usage: dict[str, Json] = {}
    # Such as a judge's, which `model_usage` includes.
    role_usage: dict[str, Json] = {}
    started_at: datetime | None = None
    completed_at: datetime | None = None
    events: msgspec.Raw = msgspec.Raw(b"[]")
    messages: msgspec.Raw = msgspec.Raw(b"[]")
    events_data: msgspec.Raw = msgspec.Raw(b"null")
    attachments: msgspec.Raw = msgspec.Raw(b"{}")


class _ScoredSample(msgspec.Struct, gc=False):
    """A sample of any log with a judge's scores."""

    id: str | int
    scores: dict[str, Json] | None = None


_LOG = msgspec.json.Decoder(_Log)
_LOGGED_SAMPLE = msgspec.json.Decoder(_LoggedSample)
_SCORED_SAMPLE = msgspec.json.Decoder(_ScoredSample)


def inspect_runs(path: Path, new_rows: NewItemRows) -> Iterator[Run | SkippedLog]:
    """Read a log that ends in `.eval` or `.json`: yield a run per task, and parts left out."""
    with path.open("rb") as file:
        log, samples = head_and_samples(path, file, _LOGGED_SAMPLE)
        answers = _Answers(log, new_rows)
        for name, load in samples.items():
            try:
                answers.add(load())
            except UNREADABLE as error:
                answers.problems.append(f"{name}: {reason(error)}")
    if uneven := _uneven_votes(log, answers):
        raise LogError(uneven)
    scored = answers.scored
    expected = scored + len(answers.problems)
    if missing := left_out(answers.problems, scored, expected):
        yield SkippedLog(path, missing)
    elif not scored:
        raise LogError(_why_no_scores(log, len(samples), answers.scorers))
    for task, items in answers.items.items():
        if len(items):
            yield _run(
                path,
                log,
                answers,
                task,
            )


def _why_no_scores(
    log: _Log,
    samples: int,
    scorers: Collection[str],
) -> str:
    """Return why a log has no scored sample, and what to do."""
    if scorers:
        names = ", ".join(sorted(scorers))
        return f"no sample with a score of {_SCORER!r}, only of {names}: {SCORE_AGAIN}"
    if log.status == "success" and samples:
        return f"no sample with a score (--no-score?): {SCORE_AGAIN}"
    if log.status == "success":
        what = "no samples (--no-log-samples?), so the responses are lost"
        return f"{what}: run it again"
    return f"no sample with a score; the run ended as {log.status!r}"


class _Answers:
    """The answers of a log, collected for each of its tasks.

    Attributes:
        signatures: Task → its signature. The name is empty if there is only one task.
        items: Task → its scored items.
        usage: Task → the usage of each of its items.
        planned: The settings in the log's plan.
        sent: The settings of the first request that led to a scored response.
        models: The models that answered, by the provider.
        fingerprints: The provider's fingerprints of these models.
        recorded: Task → the options that its items record, each once.
        epochs: Task, item and epoch of each sample.
        spans: The start and end of each sample that was answered by a model.
        unscored: Number of samples without a score.
        excluded: Why samples are excluded from Inspect's figures, each with its score.
        scorers: The names of other scorers of these.
        edited: Number of samples whose score was edited afterwards.
        invalidated: Whether some sample was invalidated.
        problems: Why samples could not be read.
    """

    def __init__(
        self,
        log: _Log,
        new_rows: NewItemRows,
    ) -> None:
        self.signatures = _signatures(log.eval)
        self.items: dict[str, ItemRows] = {}
        self.usage: dict[str, list[Usage]] = {}
        for task, signature in self.signatures.items():
            self.items[task] = new_rows(signature)
            self.usage[task] = []
        self.provider = log.eval.model.partition("/")[0]
        self.planned = _planned(log)
        self.sent = self.planned
        self.models: set[str] = set()
        self.fingerprints: set[bytes] = set()
        self.recorded: dict[tuple[str, bytes], _Metadata] = {}
        self.epochs: list[str] = []
        self.spans: list[tuple[float, float]] = []
        self.unscored = 0
        self.excluded: list[str] = []
        self.scorers: set[str] = set()
        self.edited = 0
        self.invalidated = log.invalidated
        self.problems: list[str] = []

    @property
    def scored(self) -> int:
        """Number of samples with a score."""
        return sum(map(len, self.items.values()))

    def add(self, sample: _LoggedSample) -> None:
        """Add a sample to the items of its task, or note why it does not count."""
        task = "" if "" in self.items else sample.metadata.task
        items = self.items[task]
        if not self._has_score(sample, items.NEEDS_SCORES):
            return
        if not self.scored:
            self.sent = _requested(self.planned, sample)
        self._note_item(sample)
        self._note_model(sample)
        self._add_usage(task, sample)
        items.no_system |= sample.metadata.no_system
        items.add(_logged_item(sample, items))

    def _has_score(
        self,
        sample: _LoggedSample,
        needs_scores: bool,
    ) -> bool:
        """Return whether a sample has a score, if it needs one; note why it has none."""
        scores = sample.scores or {}
        if (needs_scores or sample.error) and _SCORER not in scores:
            self.unscored += 1
            self.scorers |= {*scores}
            return False
        score = _score(sample)
        if needs_scores and score.get("value") is None:
            # Not a number: Inspect leaves the sample out of its figures.
            self.excluded.append(str(score.get("reason") or "no reason given"))
            return False
        return True

    def _note_item(self, sample: _LoggedSample) -> None:
        """Note the item, epoch and options of a sample, and whether somebody changed it."""
        metadata = sample.metadata
        self.epochs.append(f"{metadata.task} {metadata.id} in epoch {sample.epoch}")
        options = msgspec.json.encode(metadata.options)
        self.recorded.setdefault((metadata.task, options), metadata)
        self.invalidated |= bool(sample.invalidation)
        self.edited += _is_edited(sample)

    def _note_model(self, sample: _LoggedSample) -> None:
        """Note which model answered."""
        # Empty if no request was made.
        self.models.add(str(sample.output.get("model") or ""))
        self.fingerprints |= _fingerprints(sample)

    def _add_usage(
        self,
        task: str,
        sample: _LoggedSample,
    ) -> None:
        usage = _usage(sample)
        if self.provider == "hf":
            # It counts a batch's padding, in prompts and in answers.
            usage = msgspec.structs.replace(
                usage, prompt_tokens=None, answer_tokens=None
            )
            sample.output["usage"] = None
        self.usage[task].append(usage)
        # A sample without usage has its answer from Inspect's cache.
        if sample.started_at and sample.completed_at and sample.model_usage:
            start = sample.started_at.timestamp()
            self.spans.append((start, sample.completed_at.timestamp()))


def _uneven_votes(log: _Log, answers: _Answers) -> str:
    """Return which item has more votes than others; empty if all have equally many."""
    if repeated := uneven_votes(answers.epochs, is_whole=False):
        return repeated
    epochs = int(log.eval.config.get("epochs") or 1)
    is_whole = _status(log, answers) == "success"
    for items in answers.items.values():
        if uneven := uneven_votes(items.ids, epochs, is_whole=is_whole):
            return uneven
    return ""


def _fingerprints(sample: _LoggedSample) -> set[bytes]:
    """Return the provider's fingerprints of the model that answered, if a log has any."""
    if sample.role_usage:
        return set()  # some may be a judge's
    return {*_FINGERPRINT.findall(bytes(sample.events))}


def _signatures(evaluation: _Eval) -> dict[str, Signature]:
    """Return the signature of each task; the name is empty if there is only one task."""
    metadata = evaluation.metadata or {}
    texts = metadata.get("signatures") or {"": metadata.get("signature")}
    if texts == {"": None} and not evaluation.task.startswith("hkcanto/"):
        raise LogError(f"not a task of hkcanto: {evaluation.task}")
    return {str(task): known_signature(text) for task, text in dict(texts).items()}


def _run(
    path: Path,
    log: _Log,
    answers: _Answers,
    task: str,
) -> Run:
    evaluation = log.eval
    items = answers.items[task]
    signature = answers.signatures[task]
    if any(log.judging) and isinstance(items.kind, Judged):
        signature = signature.with_option("judging", hashed(log.judging))
    picked = evaluation.config.get("sample_id") is not None
    available = 0
    if len(answers.items) == 1:  # otherwise the log has only the sum of its tasks
        available = int(evaluation.dataset.get("samples") or 0)
    return Run(
        model=evaluation.model,
        harness="inspect",
        signature=items.signed(signature),
        created=evaluation.created,
        sources=(path,),
        items=items.items(),
        reported=_reported(log.means, task),
        notes=tuple(_notes(log, answers)),
        limited=picked or evaluation.config.get("limit") is not None,
        picked=picked,
        available=available,
        status=_status(log, answers),
        backend=answers.provider,
        version_of_harness=evaluation.packages.get("inspect_ai", "unknown"),
        settings=_settings(log),
        sent=answers.sent,
        log_id=evaluation.eval_id,
        usage=msgspec.structs.replace(
            Usage.total(answers.usage[task]), seconds=_seconds(evaluation, answers)
        ),
        contradictions=tuple(_contradictions(evaluation, answers, task)),
        other_model=_other_model(evaluation, answers),
    )


def _contradictions(
    evaluation: _Eval,
    answers: _Answers,
    task: str,
) -> Iterator[str]:
    """Yield how the signature of a task contradicts the options that its items record."""
    signature = answers.signatures[task]
    names: dict[str, Json] = {}
    for (name, _), metadata in answers.recorded.items():
        if task in ("", name):
            names[name] = metadata.options
    is_ours = evaluation.task.startswith("hkcanto/")
    shots = evaluation.task_args.get("shots") if is_ours else None
    if isinstance(shots, str) and shots.isdecimal():
        shots = int(shots)
    reasons = [
        signature_doubt(
            signature,
            name,
            shots,
            options,
        )
        for name, options in names.items()
    ]
    yield from dict.fromkeys(filter(None, reasons or [signature_doubt(signature)]))


def _other_model(evaluation: _Eval, answers: _Answers) -> str:
    """Return which other model answered, or that the model changed; empty if neither."""
    models = sorted(answers.models - {""})
    if len(models) > 1:
        return f"answered by {', '.join(models)}"
    if other := other_model(evaluation.model, models):
        return other
    if len(answers.fingerprints) > 1:
        marks = ", ".join(sorted(mark.decode() for mark in answers.fingerprints))
        return f"the model changed during the run, by its system_fingerprint: {marks}"
    return ""


def _status(log: _Log, answers: _Answers) -> str:
    if answers.invalidated:
        return "invalidated"
    if log.status == "success" and answers.excluded:
        return "excluded"
    if log.status == "success" and (answers.unscored or answers.problems):
        return "incomplete"
    return log.status


def _notes(log: _Log, answers: _Answers) -> Iterator[str]:
    """Yield the remarks for the reader of a run."""
    if log.graders and any(
        score.get("scorer", "").startswith(_JUDGE_PREFIX) for score in log.scores
    ):
        yield _judge_note(log)
    if answers.planned.system:
        yield WITH_SYSTEM
    if other := _other_model(log.eval, answers):
        yield other
    if answers.edited:
        yield f"{answers.edited} scores were edited by hand: the figures have the edited values"
    if answers.excluded:
        total = answers.scored + answers.unscored + len(answers.excluded)
        reasons = ", ".join(sorted({*answers.excluded}))
        yield f"{len(answers.excluded)} of {total} items are excluded from scoring ({reasons})"
    if log.scores and not log.means:
        names = ", ".join(sorted({score["reducer"] for score in log.scores}))
        yield f"Inspect's figures are of the reducer {names}; these are means over epochs"
    if answers.unscored:
        total = answers.scored + answers.unscored
        yield f"{answers.unscored} of {total} items have no score, because of errors"


def _judge_note(log: _Log) -> str:
    models = ", ".join(grader.model for grader in log.graders)
    words = [(log.eval.metadata or {}).get("judge", "prompts:1")]
    words += [f"{name}={value}" for name, value in chain.from_iterable(log.judging)]
    return f"judged by {models}, {' '.join(filter(None, words))}"


def _settings(log: _Log) -> Settings:
    """Return the settings of the model, and the solvers if they are not ours."""
    solvers = "+".join(str(step.get("solver")) for step in log.steps)
    solver = {"solver": "" if solvers == "hkcanto/ask" else solvers}
    evaluation = log.eval
    return settings_of(
        evaluation.model_generate_config | evaluation.model_args | solver
    )


def _seconds(evaluation: _Eval, answers: _Answers) -> float | None:
    """Return the time during which some sample was running; None if it is unknown.

    Loading the model and the pause before an `eval-retry` do not count.
    """
    # A vLLM server that Inspect starts begins to load with the first request.
    loads = evaluation.model.startswith("vllm/") and not evaluation.model_base_url
    if loads or len(answers.items) > 1 or len(answers.spans) != answers.scored:
        return None
    seconds = 0.0
    until = -inf
    for start, end in sorted(answers.spans):
        seconds += max(0.0, end - max(start, until))
        until = max(until, end)
    return seconds


# ---------------------------------------------------------------------- files


def head_and_samples(
    path: Path,
    file: BinaryIO,
    decoder: msgspec.json.Decoder[Any],
) -> tuple[_Log, Samples]:
    """Return the head of a log, and a function for each sample that decodes it."""
    if path.suffix == ".eval":
        return _head_and_members(file, decoder)
    log = decode(file.read(), _LOG)
    samples: Samples = {}
    for number, sample in enumerate(log.samples or (), 1):
        samples[f"sample {number}"] = partial(decode, bytes(sample), decoder)
    return log, samples


def _head_and_members(
    file: BinaryIO,
    decoder: msgspec.json.Decoder[Any],
) -> tuple[_Log, Samples]:
    members = _members(file)
    header = members.get("header.json") or members.get("_journal/start.json")
    if header is None:
        raise LogError(
            "a zip archive without header.json, so it is not a log of Inspect"
        )
    _refuse_bomb(members.values(), file)

    def load(member: zipfile.ZipInfo) -> Any:
        return decode(_unpacked(file, member), decoder)

    def by_number(name: str) -> tuple[str, int, str]:
        return name.rpartition("/")[0], len(name), name

    # Samples are logged as they finish; sorting by number restores their order.
    samples: Samples = {}
    for name in sorted(members, key=by_number):
        if name.startswith("samples/"):
            samples[name] = partial(load, members[name])
    return decode(_unpacked(file, header), _LOG), samples


def _members(file: BinaryIO) -> dict[str, zipfile.ZipInfo]:
    """Return the members of an archive by name.

    Raises:
        LogError: It is no archive.
    """
    try:
        # A name may occur more than once: the last one counts, as in Inspect.
        return {info.filename: info for info in zipfile.ZipFile(file).infolist()}
    except zipfile.BadZipFile as error:
        what = "the run is still going on, or the file is cut off"
        raise LogError(f"not a complete zip archive: {what}") from error


def _refuse_bomb(members: Iterable[zipfile.ZipInfo], file: BinaryIO) -> None:
    """Refuse an archive whose entries share bytes, or unpack to far more than any log.

    Raises:
        LogError: It is one.
    """
    end = 0
    unpacked = 0
    for member in sorted(members, key=attrgetter("header_offset")):
        if member.header_offset < end:
            raise LogError(
                f"damaged: {member.filename} shares bytes with another entry"
            )
        end = member.header_offset + member.compress_size
        unpacked += member.file_size
    packed = file.seek(0, SEEK_END)
    if unpacked > max(_LARGEST_LOG, _LARGEST_RATIO * packed):
        raise LogError(f"its {packed:,} bytes would unpack to {unpacked:,}")


def _unpacked(file: BinaryIO, member: zipfile.ZipInfo) -> bytes:
    """Return the content of an archive member, and refuse more bytes than it declares."""
    # `ZipFile.read` takes three times as long, does not limit the unpacked size with Zstandard, and
    # does not support Zstandard before Python 3.14.
    limit = member.file_size + 1
    if limit > _LARGEST:
        raise LogError(f"larger than {_LARGEST >> 20} MB when unpacked")
    file.seek(member.header_offset + 26)
    file.seek(sum(struct.unpack("<HH", file.read(4))), 1)
    data = file.read(member.compress_size)
    if member.compress_type == zipfile.ZIP_DEFLATED:
        data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, limit)
    elif member.compress_type == _ZSTANDARD:
        data = _unpacked_zstandard(data, limit)
    if len(data) != member.file_size:
        raise LogError("damaged: its size differs from the archive's entry")
    return data


def _unpacked_zstandard(data: bytes, limit: int) -> bytes:
    """Return at most `limit` bytes of Zstandard's frames."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        with zstd.open(BytesIO(data)) as reader:
            return reader.read(limit)
    else:
        import zstandard

        decompressor = zstandard.ZstdDecompressor()
        with decompressor.stream_reader(data, read_across_frames=True) as stream:
            content: bytes = stream.read(limit)
        return content


# ---------------------------------------------------------------------- what was sent


def _planned(log: _Log) -> Sent:
    """Return the settings in the log's plan."""
    arguments = log.eval.model_args
    config = (log.plan.get("config") or {}) | log.eval.model_generate_config
    # `do_sample` is an argument of Transformers, which then samples at temperature 1.
    if not arguments.get("do_sample"):
        config = {"temperature": _solvers_temperature(log)} | config
    systems = [config.get("system_message"), *_solvers_systems(log)]
    repeats = log.eval.config.get("epochs") or 1
    reducers = log.eval.config.get("epochs_reducer") or []
    return sent_of(
        config,
        template=_template(arguments),
        system=hashed("\n".join(map(str, filter(None, systems)))),
        repeats=repeats,
        reducer="+".join(map(str, reducers)) if repeats > 1 else "",
    )


def _solvers_temperature(log: _Log) -> float | None:
    """Return the temperature that the last solver with one asks for; None without one."""
    temperature = None
    for step in log.steps:
        params = step.get("params") or {}
        temperature = params.get("temperature", temperature)
    return temperature


def _solvers_systems(log: _Log) -> Iterator[str | None]:
    """Yield the system messages that solvers add."""
    for step in log.steps:
        if str(step.get("solver")).rpartition("/")[2] == "system_message":
            yield (step.get("params") or {}).get("template")


def _template(arguments: Mapping[str, Any]) -> str:
    """Return a hash of the chat template; `chat` if it is not known, empty for texts."""
    if template := hashed(arguments.get("chat_template")):
        return template
    return "" if arguments.get("use_chat_template") is False else CHAT


def _requested(planned: Sent, sample: _LoggedSample) -> Sent:
    """Return the settings of the first request."""
    with suppress(UNREADABLE):
        event = next(_requests(sample))
        config: Json = msgspec.structs.asdict(planned)
        settings = {**(event.get("config") or {}), "tools": event.get("tools") or None}
        for name, value in settings.items():
            if value is not None:
                config[name] = value
        sent = sent_of(config)
        request = str((event.get("call") or {}).get("request") or "")
        if request and "'temperature':" not in request:  # a key, not a word
            return _without_temperature(sent)
        return sent
    return planned


def _without_temperature(sent: Sent) -> Sent:
    """Return settings of which a request does not have the temperature.

    Inspect drops one that a model refuses, and some providers do not log it. Runs for which other
    temperatures were asked may differ.
    """
    more = dict(sent.more)
    if sent.temperature:
        more["requested temperature"] = f"{sent.temperature:g}"
    settings = tuple(sorted(more.items()))
    return msgspec.structs.replace(sent, temperature=None, more=settings)


def _requests(sample: _LoggedSample) -> Iterator[Json]:
    """Yield the events of the model that have a response; one with a role is a judge's."""
    events: list[Json] = msgspec.json.decode(sample.events)
    for event in events:
        if event.get("event") == "span_begin" and event.get("name") == "scorers":
            return  # scorers may ask models themselves
        if event.get("event") != "model" or event.get("role") or event.get("error"):
            continue
        yield event


# ---------------------------------------------------------------------- usage


class _Tokens(NamedTuple):
    prompt: int
    answer: int
    cached: int
    reasoning: int


def _tokens(calls: Iterable[Mapping[str, Any]]) -> _Tokens:
    """Return the sums of the tokens of some calls."""
    prompt = 0
    answer = 0
    cached = 0
    reasoning = 0
    for call in calls:
        from_cache = call.get("input_tokens_cache_read") or 0
        prompt += call.get("input_tokens") or 0
        prompt += call.get("input_tokens_cache_write") or 0
        prompt += from_cache
        cached += from_cache
        answer += call.get("output_tokens") or 0
        reasoning += call.get("reasoning_tokens") or 0
    return _Tokens(
        prompt,
        answer,
        cached,
        reasoning,
    )


def _usage(sample: _LoggedSample) -> Usage:
    """Return the tokens of a sample's answer, with those of judges separate."""
    total = _tokens(sample.model_usage.values())
    judges = _tokens(sample.role_usage.values())
    tokens = _Tokens(*map(sub, total, judges))
    if not (tokens.prompt or tokens.answer):
        # The answer came from Inspect's cache.
        tokens = _tokens([sample.output.get("usage") or {}])
    if not (tokens.prompt or tokens.answer):
        return Usage(answers=1)
    return Usage(
        answers=1,
        prompt_tokens=tokens.prompt or None,
        answer_tokens=tokens.answer,
        cached_tokens=tokens.cached or None,
        reasoning_tokens=tokens.reasoning or None,
        judge_tokens=(judges.prompt + judges.answer) or None,
        dollars=_dollars(sample),
    )


def _dollars(sample: _LoggedSample) -> float | None:
    """Return the cost of all calls of a sample; None if the cost of one is unknown."""
    costs: list[float | None] = []
    for call in sample.model_usage.values():
        costs.append(call.get("total_cost"))
    if not costs or None in costs:
        return None
    return sum(filter(None, costs))


# ---------------------------------------------------------------------- answers and scores


def _logged_item(sample: _LoggedSample, items: ItemRows) -> LoggedItem:
    """Return the item of a sample, with its text and evidence if the items need them."""
    choice: Json = next(iter(sample.output.get("choices") or ()), {})
    message = choice.get("message", {})
    usage = sample.output.get("usage") or {}
    requested = _scored_metadata(sample).get("requested")
    item = LoggedItem(
        sample.metadata,
        _judgement(sample),
        "".join(_parts(message, "text")),
        "\n".join(_parts(message, "reasoning")),
        dict(_judge_values(sample.scores or {})),
        msgspec.convert(usage.get("output_tokens"), int | None),
        _truncated(choice.get("stop_reason")),
        _prompt(sample) if items.texts else "",
        msgspec.convert(requested, tuple[str, str] | None),
        edited=_is_edited(sample),
    )
    if items.evidence:
        return item._replace(evidence=_evidence(sample))
    return item


def _score(sample: _LoggedSample) -> Json:
    """Return our scorer's score of a sample; empty without one."""
    return (sample.scores or {}).get(_SCORER, {})


def _scored_metadata(sample: _LoggedSample) -> Json:
    """Return what our scorer logs beside its values."""
    return _score(sample).get("metadata") or {}


def _is_edited(sample: _LoggedSample) -> bool:
    """Return whether somebody edited the score of a sample afterwards."""
    return bool(_score(sample).get("history"))


def _judgement(sample: _LoggedSample) -> Judgement | None:
    """Return the judgement of a sample, as somebody may have edited it; None without one."""
    logged = _scored_metadata(sample).get("judgement")
    judgement = msgspec.convert(logged, Judgement | None)
    if judgement and _is_edited(sample):
        return _edited(judgement, _score(sample)["value"])
    return judgement


def _truncated(ending: str | None) -> float | None:
    """Return 1 if a response ended at a limit, 0 if it ended well; None if unknown."""
    if ending in (None, "", "unknown"):
        return None
    return float(ending in _LENGTH_LIMITS)


def _edited(judgement: Judgement, value: object) -> Judgement:
    """Return a judgement with the values that somebody gave it afterwards."""
    if not isinstance(value, dict):
        names = ", ".join(judgement.values)
        raise LogError(
            f"its score was edited to {value!r}, but it needs a value for each of {names}"
        )
    values = msgspec.convert(value, dict[str, float | None])
    return msgspec.structs.replace(judgement, values={**judgement.values, **values})


class _Exchange(NamedTuple):
    """A request and its response, as one place of a log has them."""

    messages: Sequence[Json]
    output: Json
    settings: Mapping[str, Any] = {}


def _exchanges(sample: _LoggedSample) -> Iterator[_Exchange]:
    """Yield the request and response in each place of a log that has them."""
    yield _Exchange(_input(sample), sample.output)
    messages = msgspec.json.decode(sample.messages, type=list[Json])
    if messages and messages[-1].get("role") == "assistant":
        yield _Exchange(messages[:-1], {"choices": [{"message": messages[-1]}]})
    pool = (msgspec.json.decode(sample.events_data) or {}).get("messages") or []
    for event in _requests(sample):
        sent = [*(event.get("input") or ())]
        for start, end in event.get("input_refs") or ():
            sent += pool[start:end]
        yield _Exchange(sent, event.get("output") or {}, event.get("config") or {})


def _evidence(sample: _LoggedSample) -> Evidence:
    """Return what a log shows of a request and its response, in each place that has it."""
    attachments: dict[str, str] = msgspec.json.decode(sample.attachments)
    requests: list[Request] = []
    responses = [sample.output.get("completion") or ""]
    models: list[str] = []
    for messages, output, settings in _exchanges(sample):
        # `inspect score` leaves out the messages of short samples.
        if messages:
            turns = _turns(messages, attachments)
            requests.append(Request(turns, settings=settings))
        for choice in output.get("choices", ())[:1]:
            responses += _texts([choice.get("message", {})], attachments)
        if model := output.get("model"):
            models.append(model)
    return Evidence(requests, responses, models=models)


def _turns(
    messages: Sequence[Json],
    attachments: Mapping[str, str] = {},
) -> list[tuple[str, str]]:
    """Return the role and text of messages."""
    roles = [str(message.get("role", "")) for message in messages]
    return [*zip(roles, _texts(messages, attachments), strict=True)]


def _texts(
    messages: Sequence[Json],
    attachments: Mapping[str, str] = {},
) -> Iterator[str]:
    """Yield the text of each message; long texts of events are attachments."""
    for message in messages:
        text = "".join(_parts(message, "text"))
        yield attachments.get(text.removeprefix(_ATTACHMENT), text)


def _input(sample: _LoggedSample) -> list[Json]:
    if isinstance(sample.input, str):
        return [{"role": "user", "content": sample.input}]
    return sample.input


def _prompt(sample: _LoggedSample) -> str:
    return conversation_text(_turns(_input(sample)))


def conversation_text(turns: Iterable[tuple[str, str]]) -> str:
    """Return messages as one text, for people to read."""
    return "\n\n".join(f"[{role}]\n{text}" for role, text in turns)


def _parts(
    message: Mapping[str, Any],
    kind: str,
) -> Iterator[str]:
    """Yield the parts of a message of one kind: `text` or `reasoning`."""
    content: str | list[Json] = message.get("content", "")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for part in content:
        if part["type"] == kind:
            yield part.get("summary" if part.get("redacted") else kind) or ""


def _judge_values(scores: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    """Yield the values that judges give a sample: figure or criterion, and value."""
    for scorer, score in scores.items():
        values = score.get("value")
        if not scorer.startswith(_JUDGE_PREFIX) or not isinstance(values, dict):
            continue
        for name, value in values.items():
            if isinstance(value, int | float | None):
                yield name, value


def _reported(scores: list[Json], task: str) -> Reported:
    """Return Inspect's figures; if there are several tasks, only their headlines are logged."""
    metrics: Json = {}
    figures: Json = {}
    for score in reversed(scores):  # the first of several reducers counts
        if score.get("scorer") == _SCORER:
            metrics |= score["metrics"]
        elif "mean" in score["metrics"]:  # a judge's
            figures[score["name"]] = score["metrics"]["mean"]
    if task:
        metrics = {task_as_run(task).headline.name: metrics.get(task, {})}
    values: Reported = {}
    for name, figure in (figures | metrics).items():
        if name.endswith("_stderr"):
            continue
        value = figure.get("value")
        if isinstance(value, int | float):
            values[(), name] = float(value)
    return values


def judge_scores(path: Path) -> dict[str, dict[str, float]]:
    """Return the judge's scores of a log.

    Args:
        path: A log that ends in `.eval` or `.json`.

    Returns:
        Criterion → sample id → score, the mean over epochs. Unscored samples are left out.

    Raises:
        LogError: The log cannot be read, or has no judge's scores.
    """
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    where = str(path)
    try:
        with path.open("rb") as file:
            log, samples = head_and_samples(path, file, _SCORED_SAMPLE)
            for name, load in samples.items():
                where = f"{path}, {name}"
                sample = load()
                for criterion, score in _scores_by_criterion(sample):
                    scores[criterion][str(sample.id)].append(score)
    except UNREADABLE as error:
        raise LogError(f"{where}: {reason(error)}") from error
    if not scores:
        raise LogError(
            f"{path}: the log of {log.eval.task} has no scores of a judge; "
            "run the task with -T judge=true and --model-role grader=…"
        )
    return {
        criterion: {item: fmean(epochs) for item, epochs in by_item.items()}
        for criterion, by_item in scores.items()
    }


def _scores_by_criterion(sample: _ScoredSample) -> Iterator[tuple[str, float]]:
    """Yield a judge's scores of a sample; rates are not scores."""
    judged = {name: (sample.scores or {}).get(name, {}) for name in _JUDGES}
    for criterion, score in _judge_values(judged):
        if score is None or criterion.endswith("_rate"):
            continue
        if abs(score) > _HIGHEST_SCORE:
            raise LogError(f"{criterion!r}: {score:.3g} is not a judge score")
        yield criterion, score
