"""Logs of lm-eval: `results_….json`, with a `samples_….jsonl` for each task beside it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from textwrap import shorten
from typing import Any

import msgspec

from ...catalogue import known_signature
from ...errors import LogError
from ...judgements import Judgement
from ...samples import Sample
from ..runs import Harness, Run, Sent, SkippedLog, Usage
from . import items as shared
from .items import ItemRows, Rows


class Origin(msgspec.Struct):
    """The original run of rescored answers, as written by `hkcanto rescore`; see `Run`."""

    model: str
    harness: Harness
    backend: str
    version_of_harness: str
    settings: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    status: str
    limited: bool
    picked: bool
    available: int
    usage: Usage = Usage()
    sent: Sent = Sent()


class _Results(msgspec.Struct):
    results: dict[str, dict[str, Any]]
    configs: dict[str, dict[str, Any]]
    counts: dict[str, dict[str, Any]] = msgspec.field(name="n-samples")
    config: dict[str, Any] = {}
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
    # Only in logs written by `hkcanto rescore`, from Inspect's samples.
    reasoning: str = ""
    output_tokens: float | None = None
    truncated: float | None = None
    further: dict[str, float | None] = {}
    requested: tuple[str, str] | None = None


_RESULTS = msgspec.json.Decoder(_Results, strict=False)
_LOGGED = msgspec.json.Decoder(_Logged)


def lm_eval_runs(path: Path, rows: Rows) -> Iterator[Run | SkippedLog]:
    """Read a results file and its samples files: yield a run per task, and parts left out."""
    results = shared.decode(path.read_bytes(), _RESULTS)
    model, settings = _model(results)
    stamp = path.stem.removeprefix("results_")
    given, cache = dict(settings), results.config.get("use_cache")
    system = given.get("system instruction", "")
    notes = [shared.WITH_SYSTEM] if system else []
    if cache:
        notes.append(
            f"answers may come from lm-eval's cache {cache}, which mixes models up"
        )
    if token := given.get("think_end_token"):
        notes.append(
            f"lm-eval removed the reasoning up to {token}: its language is unknown"
        )
    chat = shared.CHAT if results.chat_template is not None else ""
    answers = sum(of.get("effective") or 0 for of in results.counts.values())
    left = defaultdict[str, list[str]](list)  # why → tasks that are left out
    for name, config in results.configs.items():
        if config.get("dataset_path") != "hkcanto":
            left["not tasks of hkcanto"].append(name)
            continue
        try:
            samples = path.with_name(f"samples_{name}_{stamp}.jsonl")
            metadata = config.get("metadata") or {}
            signature = known_signature(metadata.get("signature"))
            expected, available = (
                int(results.counts[name][n]) for n in ("effective", "original")
            )
            if not expected:
                continue  # the data has none of the task's subjects
            if not samples.is_file():
                advice = "run lm_eval with --log_samples and do not rename files"
                left[f"no samples_…_{stamp}.jsonl; {advice}"].append(name)
                continue
            items = rows(signature)
            problems, last, requested = _add_samples(items, samples)
        except shared.UNREADABLE as error:
            yield SkippedLog(path, f"{name}: {shared.reason(error)}")
            continue
        count = len(items)
        if missing := shared.left_out(problems, count, expected):
            yield SkippedLog(samples, missing)
        if not count:
            continue
        figures = {figure.name for figure in items.kind.figures}
        # Our tasks log the time from the last request made to the first response, for all tasks of
        # the log. lm-eval's own time includes loading the model.
        took = metadata.get("seconds") if answers <= count and not cache else None
        tokens = None if items.kind.is_generative else 0
        run = Run(
            model=model,
            harness="lm-eval",
            signature=items.signed(signature),
            created=datetime.fromtimestamp(results.date or path.stat().st_mtime, UTC),
            sources=(path,),
            items=items.items(),
            # Of several filters, the first counts.
            reported={
                ((), key.partition(",")[0]): float(value)
                for key, value in reversed(results.results.get(name, {}).items())
                if key.partition(",")[0] in figures and isinstance(value, int | float)
            },
            notes=tuple(notes),
            limited=expected != available,
            picked=last >= expected,  # chosen by `--samples`
            status="incomplete" if missing else "success",
            available=available,
            backend=str(results.config.get("model") or "unknown"),
            version_of_harness=results.lm_eval_version or "unknown",
            settings=settings,
            # The first request's settings count, then the task's.
            sent=shared.sent_of(
                {"seed": given.get("seed"), **(config.get("generation_kwargs") or {})}
                | requested,
                template=(results.chat_template_sha or chat)[:7],
                system=system,
                repeats=config.get("repeats") or 1,
            ),
            log_id=str(results.date or ""),
            usage=Usage(
                count,
                answer_tokens=tokens,
                seconds=took if took is None else float(took),
            ),
        )
        if results.rescored:  # what is known of the original run counts
            ended = {"status": run.status} if run.unfinished else {}
            run = replace(run, **msgspec.structs.asdict(results.rescored) | ended)
        yield run
    for why, names in left.items():
        yield SkippedLog(
            path, f"{why}: {shorten(', '.join(names), 100, placeholder=' …')}"
        )


def _add_samples(items: ItemRows, path: Path) -> tuple[list[str], int, dict[str, Any]]:
    """Add the samples of a file.

    Returns:
        Problems, the highest document number, and the settings of the first request.
    """
    problems: list[str] = []
    requested: dict[str, Any] | None = None
    of_filter, last = None, -1
    with path.open("rb", buffering=1 << 17) as file:
        for number, line in enumerate(file, 1):
            try:
                logged = shared.decode(line, _LOGGED)
                of_filter = of_filter or logged.filter
                if requested is None:
                    requested = _request(logged.arguments)[1]
                if logged.filter != of_filter:
                    continue
                judgement, reasoning = logged.doc.judgement, logged.reasoning
                response: Any = logged.filtered_resps
                if not items.kind.is_generative:
                    if judgement is None:
                        raise LogError(
                            "log-likelihoods without scores: do not use --predict_only"
                        )
                    response = judgement.answer
                # A list is nested more than once with --metadata repeats or filters.
                while isinstance(response, list):
                    response = next(iter(response), "")
                response = response if isinstance(response, str) else ""
                if logged.doc.in_reasoning:
                    response, reasoning = "", response
                items.add(
                    logged.doc,
                    judgement,
                    response,
                    reasoning=reasoning,
                    further=logged.further,
                    output_tokens=logged.output_tokens,
                    truncated=logged.truncated,
                    prompt=_request(logged.arguments)[0] if items.texts else "",
                    requested=logged.requested or logged.doc.requested,
                )
                last = max(last, logged.doc_id)
            except shared.UNREADABLE as error:
                problems.append(f"line {number}: {shared.reason(error)}")
    return problems, last, requested or {}


def _request(arguments: msgspec.Raw) -> tuple[str, dict[str, Any]]:
    """Return the prompt and the settings of the first request; a chat is JSON of its messages.

    lm-eval 0.4 logs `{"gen_args_0": {"arg_0": prompt, "arg_1": settings}}`, 0.5 `[[prompt, …]]`.
    """
    requests = msgspec.json.decode(arguments)
    first: Any = next(
        iter(requests.values() if isinstance(requests, dict) else requests), []
    )
    prompt, settings = [
        *(first.values() if isinstance(first, dict) else first),
        "",
        None,
    ][:2]
    text = prompt if isinstance(prompt, str) else "\n\n".join(map(str, prompt))
    return text, settings if isinstance(settings, dict) else {}


def _model(results: _Results) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the model's name and its settings."""
    config, backend = results.config, str(results.config.get("model"))
    arguments, generation = map(
        _arguments, (config.get("model_args"), config.get("gen_kwargs"))
    )
    # If no argument names the model, lm-eval invents a random name.
    name = results.model_name if results.model_name in arguments.values() else backend
    settings = {key: value for key, value in arguments.items() if value != name}
    settings |= {f"gen {key}": value for key, value in generation.items()}
    settings |= {
        "backend": backend,
        "chat template": "yes" if results.chat_template_sha else "",
    }
    settings["system instruction"] = (results.system_instruction_sha or "")[:7]
    return str(name), shared.settings_of(settings)


def _arguments(given: Any) -> dict[str, str]:
    """Return arguments that lm-eval logs as a dictionary or as `a=b,c=d`."""
    if isinstance(given, str):
        given = dict(part.partition("=")[::2] for part in given.split(","))
    return {str(key).strip(): str(value) for key, value in (given or {}).items()}
