"""Logs of Inspect: `.eval`, a zip archive with a JSON file per sample, or one `.json` file.

They are read without Inspect, which needs seconds to import and minutes for large logs.
"""

import struct
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, BinaryIO

import msgspec

from ...catalogue import known_signature
from ...errors import LogError
from ...judgements import Judgement
from ...kinds.judged import Judged
from ...samples import Sample
from ...tasks import task_as_run
from ..runs import Run, Sent, SkippedLog, Usage
from . import items as shared
from .items import ItemRows, Rows

_SCORER = "judged"
_JUDGES = ("judged_translation", "judged_summary")
_CUT = ("max_tokens", "model_length", "length")
_ZSTANDARD = 93
_HIGHEST = 1e9  # score of a judge; real ones are from 0 to 5
_LARGEST = 64 << 20  # Bytes of a sample; an archive of 2 MB may unpack to gigabytes.


class _Role(msgspec.Struct):
    model: str
    config: dict[str, Any] = {}


class _Eval(msgspec.Struct):
    task: str
    created: Annotated[datetime, msgspec.Meta(tz=True)]
    model: str
    eval_id: str = ""
    model_base_url: str | None = None
    model_args: dict[str, Any] = {}
    dataset: dict[str, Any] = {}
    config: dict[str, Any] = {}
    model_generate_config: dict[str, Any] = {}
    model_roles: dict[str, _Role | list[_Role]] | None = None
    packages: dict[str, str] = {}
    metadata: dict[str, Any] | None = None


class _Log(msgspec.Struct):
    eval: _Eval
    status: str = "started"
    invalidated: bool = (
        False  # somebody invalidated some samples: Inspect will run these again
    )
    plan: dict[str, Any] = {}
    results: dict[str, Any] | None = None
    samples: list[msgspec.Raw] | None = None


class _Metadata(Sample, frozen=True, gc=False, kw_only=True):
    task: str = ""


class _Logged(msgspec.Struct, gc=False):
    input: str | list[dict[str, Any]]
    metadata: _Metadata
    output: dict[str, Any]
    scores: dict[str, dict[str, Any]] | None = None
    error: Any = None
    model_usage: dict[str, dict[str, Any]] = {}
    role_usage: dict[
        str, dict[str, Any]
    ] = {}  # such as a judge's, which model_usage includes
    started_at: datetime | None = None
    completed_at: datetime | None = None
    events: msgspec.Raw = msgspec.Raw(b"[]")


class _Judged(msgspec.Struct, gc=False):
    id: str | int
    scores: dict[str, dict[str, Any]] | None = None


_LOG, _SAMPLE = msgspec.json.Decoder(_Log), msgspec.json.Decoder(_Logged)
_JUDGED = msgspec.json.Decoder(_Judged)  # of any log with a judge's scores


def inspect_runs(path: Path, rows: Rows) -> Iterator[Run | SkippedLog]:
    """Read a log that ends in `.eval` or `.json`: yield a run per task, and parts left out."""
    with path.open("rb") as file:
        log, samples = head_and_samples(path, file, _SAMPLE)
        about, metadata = log.eval, log.eval.metadata or {}
        backend = about.model.partition("/")[0]
        # The name is empty if there is only one task.
        logged = metadata.get("signatures") or {"": metadata.get("signature")}
        if logged == {"": None} and not about.task.startswith("hkcanto/"):
            raise LogError(f"not a task of hkcanto: {about.task}")
        signatures = {
            str(task): known_signature(text) for task, text in dict(logged).items()
        }
        items = {task: rows(signature) for task, signature in signatures.items()}
        usage: dict[str, list[Usage]] = {task: [] for task in signatures}
        spans = list[tuple[float, float]]()
        planned = sent = _planned(log)
        problems, unscored, answered = list[str](), 0, set[str]()
        for place, (name, load) in enumerate(samples.items()):
            try:
                sample = load()
                if not place:
                    sent = _requested(planned, sample)
                task = "" if "" in items else sample.metadata.task
                needed = items[task].NEEDS_SCORES or sample.error
                if needed and _SCORER not in (sample.scores or {}):
                    unscored += 1
                    continue
                answered.add(
                    str(sample.output.get("model") or "")
                )  # none before a request
                used = _usage(sample)
                if (
                    backend == "hf"
                ):  # it counts a batch's padding, in prompts and in answers
                    used = msgspec.structs.replace(
                        used, prompt_tokens=None, answer_tokens=None
                    )
                    sample.output["usage"] = None
                _add(items[task], sample)
                usage[task].append(used)
                # A sample without usage has its answer from Inspect's cache.
                if sample.started_at and sample.completed_at and sample.model_usage:
                    spans.append(
                        (sample.started_at.timestamp(), sample.completed_at.timestamp())
                    )
            except shared.UNREADABLE as error:
                problems.append(f"{name}: {shared.reason(error)}")
    scored = sum(map(len, items.values()))
    if missing := shared.left_out(problems, scored, scored + len(problems)):
        yield SkippedLog(path, missing)
    elif not scored:
        raise LogError(f"no sample with a score; the run ended as {log.status!r}")
    scores: list[dict[str, Any]] = (log.results or {}).get("scores") or []
    graders = (about.model_roles or {}).get("grader", [])
    graders = graders if isinstance(graders, list) else [graders]
    judging = [shared.settings_of(grader.config) for grader in graders]
    names = [grader.model for grader in graders]
    notes = [shared.WITH_SYSTEM] if planned.system else []
    if names and any(
        score.get("scorer", "").startswith(f"{_SCORER}_") for score in scores
    ):
        how = " ".join(
            f"{name}={value}" for settings in judging for name, value in settings
        )
        prompts = " ".join(filter(None, [metadata.get("judge", "prompts:1"), how]))
        notes.insert(0, f"judged by {', '.join(names)}, {prompts}")
    if len(models := sorted(answered - {""})) > 1:
        notes.append(f"answered by {', '.join(models)}")
    if unscored:
        notes.append(
            f"{unscored} of {scored + unscored} items have no score, because of errors"
        )
    status = "invalidated" if log.invalidated else log.status
    if status == "success" and (unscored or problems):
        status = "incomplete"
    solvers = "+".join(str(step.get("solver")) for step in log.plan.get("steps") or [])
    given = {"solver": "" if solvers == "hkcanto/ask" else solvers}
    picked, alone = about.config.get("sample_id") is not None, len(signatures) == 1
    # A vLLM server that Inspect starts begins to load with the first request.
    loads = about.model.startswith("vllm/") and not about.model_base_url
    seconds = _seconds(spans) if len(spans) == scored and alone and not loads else None
    for task, signature in signatures.items():
        if len(items[task]):
            if any(judging) and isinstance(items[task].kind, Judged):
                signature = signature.with_option("judging", shared.hashed(judging))
            yield Run(
                model=about.model,
                harness="inspect",
                signature=items[task].signed(signature),
                created=about.created,
                sources=(path,),
                items=items[task].items(),
                reported=_reported(scores, task),
                notes=tuple(notes),
                limited=picked or about.config.get("limit") is not None,
                picked=picked,
                # If one log has several tasks, this is their sum.
                available=int(about.dataset.get("samples") or 0) if alone else 0,
                status=status,
                backend=backend,
                version_of_harness=about.packages.get("inspect_ai", "unknown"),
                settings=shared.settings_of(
                    about.model_generate_config | about.model_args | given
                ),
                sent=sent,
                log_id=about.eval_id,
                usage=msgspec.structs.replace(
                    Usage.total(usage[task]), seconds=seconds
                ),
            )


# ---------------------------------------------------------------------- files


def head_and_samples(
    path: Path, file: BinaryIO, decoder: msgspec.json.Decoder[Any]
) -> tuple[_Log, Mapping[str, Callable[[], Any]]]:
    """Return the head of a log, and a function for each sample that decodes it."""
    if path.suffix != ".eval":
        log = shared.decode(file.read(), _LOG)
        raw = enumerate(map(bytes, log.samples or ()), 1)
        return log, {
            f"sample {n}": partial(shared.decode, data, decoder) for n, data in raw
        }
    try:
        # A name may occur more than once: the last one counts, as in Inspect.
        members = {info.filename: info for info in zipfile.ZipFile(file).infolist()}
    except zipfile.BadZipFile as error:
        what = "the run is still going on, or the file is cut off"
        raise LogError(f"not a complete zip archive: {what}") from error
    header = members.get("header.json") or members.get("_journal/start.json")
    if header is None:
        raise LogError("a zip archive, but not a log of Inspect: it has no header.json")

    def load(member: zipfile.ZipInfo) -> Any:
        return shared.decode(_unpacked(file, member), decoder)

    # Samples are logged as they finish; sorting by number restores their order.
    names = sorted(members, key=lambda name: (name.rpartition("/")[0], len(name), name))
    samples = {n: partial(load, members[n]) for n in names if n.startswith("samples/")}
    return shared.decode(_unpacked(file, header), _LOG), samples


def _unpacked(file: BinaryIO, member: zipfile.ZipInfo) -> bytes:
    """Return the content of an archive member, and refuse more bytes than it declares."""
    # `ZipFile.read` takes three times as long, does not limit the unpacked size with Zstandard, and
    # does not support Zstandard before Python 3.14.
    most = member.file_size + 1
    if most > _LARGEST:
        raise LogError(f"larger than {_LARGEST >> 20} MB when unpacked")
    file.seek(member.header_offset + 26)
    file.seek(sum(struct.unpack("<HH", file.read(4))), 1)
    data = file.read(member.compress_size)
    if member.compress_type == zipfile.ZIP_DEFLATED:
        data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, most)
    elif member.compress_type == _ZSTANDARD:
        import zstandard

        decompressor = zstandard.ZstdDecompressor()
        with decompressor.stream_reader(data, read_across_frames=True) as reader:
            data = reader.read(most)
    if len(data) != member.file_size:
        raise LogError("damaged: its size differs from the archive's entry")
    return data


# ---------------------------------------------------------------------- how it was run


def _planned(log: _Log) -> Sent:
    """Return what should be sent, by the log's plan."""
    config = (log.plan.get("config") or {}) | log.eval.model_generate_config
    systems, temperature = [config.get("system_message")], None
    for step in log.plan.get("steps") or []:
        params = step.get("params") or {}
        temperature = params.get("temperature", temperature)
        if str(step.get("solver")).rpartition("/")[2] == "system_message":
            systems.append(params.get("template"))
    arguments, repeats = log.eval.model_args, log.eval.config.get("epochs") or 1
    reducers = (log.eval.config.get("epochs_reducer") or []) if repeats > 1 else []
    chat = "" if arguments.get("use_chat_template") is False else shared.CHAT
    # `do_sample` is an argument of Transformers, which then samples at temperature 1.
    usual = {} if arguments.get("do_sample") else {"temperature": temperature}
    system = shared.hashed("\n".join(str(text) for text in systems if text))
    template = shared.hashed(arguments.get("chat_template")) or chat
    more = {"repeats": repeats, "reducer": "+".join(map(str, reducers))}
    return shared.sent_of(usual | config, template=template, system=system, **more)


def _requested(planned: Sent, sample: _Logged) -> Sent:
    """Return what the first request sent. Inspect drops a temperature that a model refuses."""
    with suppress(shared.UNREADABLE):
        events = msgspec.json.decode(sample.events)
        # A model event with a role is a judge's.
        event = next(
            e for e in events if e.get("event") == "model" and not e.get("role")
        )
        config = {k: v for k, v in (event.get("config") or {}).items() if v is not None}
        sent = shared.sent_of(msgspec.structs.asdict(planned) | config)
        request = str((event.get("call") or {}).get("request") or "")
        if request and "'temperature':" not in request:  # a key, not a word
            return msgspec.structs.replace(sent, temperature=None)
        return sent
    return planned


_COUNTED = (
    ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write"),
    ("output_tokens",),
    ("input_tokens_cache_read",),
    ("reasoning_tokens",),
)


def _tokens(calls: Iterable[Mapping[str, Any]]) -> list[int]:
    """Return the sums of the prompt, answer, cached and reasoning tokens of some calls."""
    calls = list(calls)
    return [
        sum(call.get(name) or 0 for call in calls for name in names)
        for names in _COUNTED
    ]


def _usage(sample: _Logged) -> Usage:
    """Return the tokens of a sample's answer, with those of judges separate."""
    judged = _tokens(sample.role_usage.values())
    both = zip(_tokens(sample.model_usage.values()), judged, strict=True)
    counts = [of_all - of_judges for of_all, of_judges in both]
    if not any(counts[:2]):  # the answer came from Inspect's cache
        counts = _tokens([sample.output.get("usage") or {}])
    if not any(counts[:2]):
        return Usage(1)
    prompt, answer, cached, reasoning = (count or None for count in counts)
    costs = [call.get("total_cost") for call in sample.model_usage.values()]
    dollars = sum(filter(None, costs)) if costs and None not in costs else None
    return Usage(
        1, prompt, answer or 0, cached, reasoning, sum(judged[:2]) or None, dollars
    )


def _seconds(samples: Sequence[tuple[float, float]]) -> float:
    """Return the time during which some sample was running, from their starts and ends.

    Loading the model and the pause before an `eval-retry` do not count.
    """
    seconds, until = 0.0, -inf
    for start, end in sorted(samples):
        seconds += max(0.0, end - max(start, until))
        until = max(until, end)
    return seconds


# ---------------------------------------------------------------------- answers and scores


def _add(items: ItemRows, sample: _Logged) -> None:
    choice: dict[str, Any] = next(iter(sample.output.get("choices") or ()), {})
    answer, ended = choice.get("message", {}), choice.get("stop_reason")
    scores = sample.scores or {}
    judged = scores.get(_SCORER, {}).get("metadata") or {}
    asked, used = sample.input, sample.output.get("usage") or {}
    messages = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    prompts = (f"[{m.get('role', '')}]\n{''.join(_parts(m, 'text'))}" for m in messages)
    items.add(
        sample.metadata,
        msgspec.convert(judged.get("judgement"), Judgement | None),
        "".join(_parts(answer, "text")),
        reasoning="\n".join(_parts(answer, "reasoning")),
        further=dict(_values(scores)),
        output_tokens=msgspec.convert(used.get("output_tokens"), int | None),
        truncated=None if ended in (None, "", "unknown") else float(ended in _CUT),
        prompt="\n\n".join(prompts) if items.texts else "",
        requested=msgspec.convert(judged.get("requested"), tuple[str, str] | None),
    )


def _parts(message: Mapping[str, Any], kind: str) -> Iterator[str]:
    """Yield the parts of a message of one kind: `text` or `reasoning`."""
    content: str | list[dict[str, Any]] = message.get("content", "")
    for part in (
        [{"type": "text", "text": content}] if isinstance(content, str) else content
    ):
        if part["type"] == kind:
            yield part.get("summary" if part.get("redacted") else kind) or ""


def _values(scores: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    """Yield the values that judges give a sample: figure or criterion, and value."""
    for scorer, score in scores.items():
        values = score.get("value")
        if scorer.startswith(f"{_SCORER}_") and isinstance(values, dict):
            for name, value in values.items():
                if isinstance(value, int | float | None):
                    yield name, value


def _reported(
    scores: list[dict[str, Any]], task: str
) -> dict[tuple[tuple[str, ...], str], float]:
    """Return Inspect's figures; if there are several tasks, only their headlines are logged."""
    judged: dict[str, Any] = {}
    reported: dict[str, Any] = {}
    for score in reversed(scores):  # the first of several reducers counts
        if score.get("scorer") == _SCORER:
            judged |= score["metrics"]
        elif "mean" in score["metrics"]:  # a judge's
            reported[score["name"]] = score["metrics"]["mean"]
    reported |= (
        {task_as_run(task).headline.name: judged.get(task, {})} if task else judged
    )
    return {
        ((), name): float(value)
        for name, figure in reported.items()
        if not name.endswith("_stderr")
        and isinstance(value := figure.get("value"), int | float)
    }


def judge_scores(path: Path) -> dict[str, dict[str, float]]:
    """Return the judge's scores of a log.

    Args:
        path: A log that ends in `.eval` or `.json`.

    Returns:
        Criterion → sample id → score, the mean over epochs. Unscored samples are left out.

    Raises:
        LogError: The log cannot be read, or has no judge's scores.
    """
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    where = str(path)
    try:
        with path.open("rb") as file:
            log, samples = head_and_samples(path, file, _JUDGED)
            for name, load in samples.items():
                where = f"{path}, {name}"
                sample = load()
                judged = {name: (sample.scores or {}).get(name, {}) for name in _JUDGES}
                for criterion, value in _values(judged):
                    if value is not None and not criterion.endswith("_rate"):
                        if abs(value) > _HIGHEST:
                            raise LogError(
                                f"{criterion!r}: {value:.3g} is not a judge score"
                            )
                        values[criterion][str(sample.id)].append(value)
    except shared.UNREADABLE as error:
        raise LogError(f"{where}: {shared.reason(error)}") from error
    if not values:
        what = f"{path}: the log of {log.eval.task} has no scores of a judge"
        raise LogError(
            f"{what}; run the task with -T judge=true and --model-role grader=…"
        )
    return {
        name: {item: fmean(of) for item, of in items.items()}
        for name, items in values.items()
    }
