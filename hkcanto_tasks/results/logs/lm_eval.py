"""Logs of lm-eval: `results_….json`, with a `samples_….jsonl` for each task beside it."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from textwrap import shorten
from typing import Any

import msgspec

from hkcanto_metrics.reasoning import response_as_text

from ...catalogue import known_signature
from ...errors import LogError
from ...judgements import Judgement
from ...kinds.base import Kind
from ...samples import Sample
from ...signatures import Signature
from ..runs import Harness, Reported, Run, Sent, Settings, SkippedLog, Usage
from .checking import signature_doubt, uneven_votes
from .items import (
    CHAT,
    UNREADABLE,
    WITH_SYSTEM,
    Evidence,
    ItemRows,
    Json,
    LoggedItem,
    NewItemRows,
    Request,
    decode,
    left_out,
    reason,
    sent_of,
    settings_of,
)


class Origin(msgspec.Struct):
    """The original run of rescored answers, as written by `hkcanto rescore`; see `Run`."""

    model: str
    harness: Harness
    backend: str
    version_of_harness: str
    settings: Settings
    notes: tuple[str, ...]
    status: str
    limited: bool
    picked: bool
    available: int
    usage: Usage = Usage()
    sent: Sent = Sent()
    contradictions: tuple[str, ...] = ()
    other_model: str = ""


class _Results(msgspec.Struct):
    results: dict[str, Json]
    configs: dict[str, Json]
    counts: dict[str, Json] = msgspec.field(name="n-samples")
    config: Json = {}
    date: float | None = None
    model_name: str | None = None
    chat_template: str | None = None  # empty if only the server knows it
    chat_template_sha: str | None = None
    system_instruction_sha: str | None = None
    lm_eval_version: str | None = None
    rescored: Origin | None = None


class _Doc(Sample, frozen=True, gc=False, kw_only=True):
    judgement: Judgement | None = None
    in_reasoning: bool = False
    requested: tuple[str, str] | None = None


class _Logged(msgspec.Struct, gc=False):
    doc: _Doc
    doc_id: int
    filtered_resps: list[Any]
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    filter: str = "none"
    resps: msgspec.Raw = msgspec.Raw(b"[]")
    # Only in logs written by `hkcanto rescore`, from Inspect's samples.
    reasoning: str = ""
    output_tokens: float | None = None
    truncated: float | None = None
    further: dict[str, float | None] = {}
    requested: tuple[str, str] | None = None


# Names and classes of lm-eval's models that send this seed unless they are given another one.
_SENDS_SEED = re.compile(
    "^(local|openai|azure-openai)-.*completions$|^(Local|OpenAI|Azure).*Completion"
)
_DEFAULT_SEED = 1234


class _Turn(msgspec.Struct):
    role: str
    content: Any


_RESULTS = msgspec.json.Decoder(_Results, strict=False)
_LOGGED = msgspec.json.Decoder(_Logged)


@dataclass(frozen=True)
class _Head:
    """The entries of a results file that all of its tasks share.

    Attributes:
        results: Its content.
        model: Name of the model.
        settings: Settings that can change the answers.
        notes: Remarks for the reader.
        answers: Number of answers to all tasks.
        stamp: End of the names of its samples files.
    """

    results: _Results
    model: str
    settings: Settings
    notes: tuple[str, ...]
    answers: int
    stamp: str

    @property
    def system(self) -> str:
        """A hash of the user's system instruction; empty if there is none."""
        return dict(self.settings).get("system instruction", "")

    @property
    def template(self) -> str:
        """A hash of the chat template; `chat` if it is not known, empty for texts."""
        chat = "" if self.results.chat_template is None else CHAT
        return (self.results.chat_template_sha or chat)[:7]

    @property
    def default_seed(self) -> str | int | None:
        """The seed of requests that have none of their own: the model's, or lm-eval's."""
        seed = dict(self.settings).get("seed")
        sends_one = _SENDS_SEED.search(str(self.results.config.get("model")))
        return seed or (_DEFAULT_SEED if sends_one else None)


@dataclass(frozen=True)
class _Task:
    """The entries of a results file about one task."""

    name: str
    config: Json
    metadata: Json
    signature: Signature
    expected: int  # items that were requested
    available: int  # items in the data


def lm_eval_runs(path: Path, new_rows: NewItemRows) -> Iterator[Run | SkippedLog]:
    """Read a results file and its samples files: yield a run per task, and parts left out."""
    head = _head(path)
    tasks_left_out: dict[str, list[str]] = defaultdict(list)
    for name in head.results.configs:
        try:
            samples = path.with_name(f"samples_{name}_{head.stamp}.jsonl")
            if cause := _why_left_out(head, name, samples):
                tasks_left_out[cause].append(name)
                continue
            yield from _task_runs(
                path,
                samples,
                _task(head, name),
                head,
                new_rows,
            )
        except UNREADABLE as error:
            yield SkippedLog(path, f"{name}: {reason(error)}")
    for cause, names in tasks_left_out.items():
        listed = shorten(", ".join(names), 100, placeholder=" …")
        yield SkippedLog(path, f"{cause}: {listed}")


def _why_left_out(
    head: _Head,
    name: str,
    samples: Path,
) -> str:
    """Return why the samples of a task cannot be read; empty if they can."""
    if head.results.configs[name].get("dataset_path") != "hkcanto":
        return "not tasks of hkcanto"
    requested = head.results.counts.get(name, {}).get("effective")
    if requested and not samples.is_file():
        advice = "run lm_eval with --log_samples and do not rename files"
        return f"no samples_…_{head.stamp}.jsonl; {advice}"
    return ""


def _task_runs(
    path: Path,
    samples: Path,
    task: _Task,
    head: _Head,
    new_rows: NewItemRows,
) -> Iterator[Run | SkippedLog]:
    """Yield the run of a task, and what is missing from it."""
    if not task.expected:
        return  # the data has none of the task's subjects
    rows = new_rows(task.signature)
    answers = _answers(samples, rows, head.results.chat_template or "")
    if uneven := uneven_votes(rows.ids):
        yield SkippedLog(samples, uneven)
        return
    status = "success"
    if missing := left_out(answers.problems, len(rows), task.expected):
        status = "incomplete"
        yield SkippedLog(samples, missing)
    if len(rows):
        yield _run(
            path,
            head,
            task,
            answers,
            status,
        )


def _head(path: Path) -> _Head:
    results = decode(path.read_bytes(), _RESULTS)
    model, settings = _model(results)
    answers = 0
    for counts in results.counts.values():
        answers += counts.get("effective") or 0
    return _Head(
        results,
        model,
        settings,
        notes=tuple(_notes(results, dict(settings))),
        answers=answers,
        stamp=path.stem.removeprefix("results_"),
    )


def _notes(
    results: _Results,
    settings: Mapping[str, str],
) -> Iterator[str]:
    if "system instruction" in settings:
        yield WITH_SYSTEM
    if cache := results.config.get("use_cache"):
        yield f"answers may come from lm-eval's cache {cache}, which mixes models up"
    if token := settings.get("think_end_token"):
        yield f"lm-eval removed the reasoning up to {token}: its language is unknown"


def _task(head: _Head, name: str) -> _Task:
    config = head.results.configs[name]
    metadata = config.get("metadata") or {}
    signature = known_signature(metadata.get("signature"))
    counts = head.results.counts[name]
    return _Task(
        name,
        config,
        metadata,
        signature,
        expected=int(counts["effective"]),
        available=int(counts["original"]),
    )


def _run(
    path: Path,
    head: _Head,
    task: _Task,
    answers: "_Answers",
    status: str,
) -> Run:
    results = head.results
    items = answers.items
    generation = task.config.get("generation_kwargs") or {}
    if items.kind.is_generative:
        generation = {"seed": head.default_seed, **generation}
    run = Run(
        model=head.model,
        harness="lm-eval",
        signature=items.signed(task.signature),
        created=datetime.fromtimestamp(results.date or path.stat().st_mtime, UTC),
        sources=(path,),
        items=items.items(),
        reported=_reported(results.results.get(task.name, {}), items.kind),
        notes=head.notes,
        limited=task.expected != task.available,
        picked=answers.last_document >= task.expected,  # chosen by `--samples`
        status=status,
        available=task.available,
        backend=str(results.config.get("model") or "unknown"),
        version_of_harness=results.lm_eval_version or "unknown",
        settings=head.settings,
        # The first request's settings count, then the task's.
        sent=sent_of(
            generation | (answers.settings or {}),
            template=head.template,
            system=head.system,
            repeats=task.config.get("repeats") or 1,
        ),
        log_id=str(results.date or ""),
        usage=_usage(head, task, items),
        contradictions=_contradictions(task, results),
        cache=str(head.results.config.get("use_cache") or ""),
    )
    if results.rescored is None:
        return run
    # The record of the original run counts.
    original = msgspec.structs.asdict(results.rescored)
    original["contradictions"] += run.contradictions
    if run.unfinished:
        original["status"] = run.status
    return replace(run, **original)


def _contradictions(task: _Task, results: _Results) -> tuple[str, ...]:
    """Return how the log's signature contradicts the options that lm-eval recorded."""
    if ("rescored" in task.signature.parts) != (results.rescored is not None):
        return ("its signature and its record of the original run do not agree",)
    doubt = signature_doubt(
        task.signature,
        str(task.config.get("dataset_name") or ""),
        task.config.get("num_fewshot"),
        task.metadata,
    )
    return (doubt,) if doubt else ()


def _reported(figures: Json, kind: Kind) -> Reported:
    """Return lm-eval's figures, which it names `FIGURE,FILTER`."""
    names = {figure.name for figure in kind.figures}
    values: Reported = {}
    # Of several filters, the first counts.
    for key, value in reversed(figures.items()):
        name = key.partition(",")[0]
        if name in names and isinstance(value, int | float):
            values[(), name] = float(value)
    return values


def _usage(
    head: _Head,
    task: _Task,
    items: ItemRows,
) -> Usage:
    # Our tasks log the time from the last request made to the first response, for all tasks of
    # the log. lm-eval's own time includes loading the model.
    seconds = task.metadata.get("seconds")
    if head.answers > len(items) or head.results.config.get("use_cache"):
        seconds = None
    return Usage(
        answers=len(items),
        answer_tokens=None if items.kind.is_generative else 0,
        seconds=None if seconds is None else float(seconds),
    )


# ---------------------------------------------------------------------- samples


class _Answers:
    """The answers to a task, from its samples file.

    Attributes:
        items: The scored items.
        chat_template: The text of the chat template.
        problems: Why lines could not be read.
        filter: The filter of the answers. Of several filters, the first counts.
        settings: The settings of the first request; None before it was read.
        last_document: The highest document number.
    """

    def __init__(
        self,
        items: ItemRows,
        chat_template: str,
    ) -> None:
        self.items = items
        self.chat_template = chat_template
        self.problems: list[str] = []
        self.filter = ""
        self.settings: Json | None = None
        self.last_document = -1

    def add(self, logged: _Logged) -> None:
        """Add an answer to the items."""
        self.filter = self.filter or logged.filter
        if self.settings is None:
            self.settings = _request(logged.arguments)[1]
        if logged.filter != self.filter:
            return
        response = _response(logged, self.items.kind)
        reasoning = logged.reasoning
        if logged.doc.in_reasoning:
            reasoning = response
            response = ""
        prompt = ""
        if self.items.texts:
            prompt = _request(logged.arguments)[0]
        item = LoggedItem(
            logged.doc,
            logged.doc.judgement,
            response,
            reasoning,
            logged.further,
            logged.output_tokens,
            logged.truncated,
            prompt,
            requested=logged.requested or logged.doc.requested,
        )
        if self.items.evidence:
            item = item._replace(evidence=self._evidence(logged))
        self.items.add(item)
        self.last_document = max(self.last_document, logged.doc_id)

    def _evidence(self, logged: _Logged) -> Evidence:
        """Return what the log shows of the requests of an item and of the raw response."""
        requests = [*map(_logged_request, _requests(logged.arguments))]
        raw: list[Any] = msgspec.json.decode(logged.resps)
        responses = [_first_text(logged.filtered_resps)]
        likelihoods: list[float] = []
        if self.items.kind.is_generative and raw:
            # One response, or several if a task file asks for repeats.
            responses += map(response_as_text, raw[0])
        elif raw:
            # `[[[log-likelihood, is greedy]], …]`, of texts if lm-eval wrote them.
            likelihoods = [float(_first_text(pairs)) for pairs in raw]
            responses = [str(likelihoods), str(_likelihoods(logged.filtered_resps))]
        return Evidence(
            requests, responses, likelihoods, chat_template=self.chat_template
        )


def _answers(
    samples: Path,
    items: ItemRows,
    chat_template: str,
) -> _Answers:
    answers = _Answers(items, chat_template)
    with samples.open("rb", buffering=1 << 17) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                answers.add(decode(line, _LOGGED))
            except UNREADABLE as error:
                answers.problems.append(f"line {number}: {reason(error)}")
    return answers


def _response(logged: _Logged, kind: Kind) -> str:
    """Return all that the model wrote, or the option of the highest log-likelihood."""
    if not kind.is_generative:
        if logged.doc.judgement is None:
            what = "log-likelihoods without scores"
            raise LogError(f"{what}: do not use --predict_only")
        return logged.doc.judgement.answer
    return _first_text(logged.filtered_resps)


def _first_text(responses: list[Any]) -> str:
    """Return the first response. A list is nested more than once with repeats or filters."""
    response: Any = responses
    while isinstance(response, list) and not any(
        isinstance(part, dict) for part in response
    ):
        response = next(iter(response), "")
    return response_as_text(response)


def _likelihoods(pairs: list[Any]) -> list[float]:
    """Return the log-likelihoods in filtered responses; a single one is not in a list."""
    if pairs and not isinstance(pairs[0], list):
        pairs = [pairs]
    return [float(pair[0]) for pair in pairs]


def _request(arguments: msgspec.Raw) -> tuple[str, Json]:
    """Return the prompt and the settings of the first request; a chat is JSON of its messages.

    lm-eval 0.4 logs `{"gen_args_0": {"arg_0": prompt, "arg_1": settings}}`, 0.5 `[[prompt, …]]`.
    """
    request: Any = next(iter(_requests(arguments)), [])
    prompt, settings = [*_values(request), "", None][:2]
    if not isinstance(prompt, str):
        prompt = "\n\n".join(map(str, prompt))
    return prompt, settings if isinstance(settings, dict) else {}


def _requests(arguments: msgspec.Raw) -> Any:
    return _values(msgspec.json.decode(arguments))


def _logged_request(request: Any) -> Request:
    """Return a request: its messages, or its text, and its continuation or settings."""
    prompt, further = [*_values(request), "", ""][:2]
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]  # the named tuple of a chat API
    messages = [("", str(prompt))]
    with suppress(msgspec.MsgspecError):
        turns = msgspec.json.decode(str(prompt), type=list[_Turn])
        messages = [(turn.role, response_as_text(turn.content)) for turn in turns]
    if isinstance(further, dict):
        return Request(messages, settings=further)
    return Request(messages, str(further))


def _values(collection: Any) -> Any:
    return collection.values() if isinstance(collection, dict) else collection


# ---------------------------------------------------------------------- the model


def _model(results: _Results) -> tuple[str, Settings]:
    """Return the model's name and its settings."""
    backend = str(results.config.get("model"))
    arguments = model_arguments(results.config.get("model_args"))
    # If no argument names the model, lm-eval invents a random name.
    name = results.model_name
    if name not in arguments.values():
        name = backend
    settings: dict[str, object] = {}
    for key, value in arguments.items():
        if value != name:
            settings[key] = value
    for key, value in model_arguments(results.config.get("gen_kwargs")).items():
        settings[f"gen {key}"] = value
    settings["backend"] = backend
    settings["chat template"] = "yes" if results.chat_template_sha else ""
    settings["system instruction"] = (results.system_instruction_sha or "")[:7]
    return str(name), settings_of(settings)


def model_arguments(logged: Any) -> Json:
    """Return arguments that lm-eval logs as a dictionary or as `a=b,c=d`."""
    arguments = logged or {}
    if isinstance(logged, str):
        arguments = dict(part.partition("=")[::2] for part in logged.split(","))
    shown: Json = {}
    for key, value in arguments.items():
        is_nested = isinstance(value, dict | list)
        shown[str(key).strip()] = value if is_nested else str(value)
    return shown
