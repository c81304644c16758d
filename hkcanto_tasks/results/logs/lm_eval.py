"""Logs of lm-eval: `results_….json`, with a `samples_….jsonl` for each task beside it."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from math import inf, isnan, nan
from pathlib import Path
from textwrap import shorten
from typing import Any

import msgspec

from ...judgements import Judgement
from ...samples import Sample
from ...setup import Setup
from ...signatures import parse_signature
from ..results import Harness
from ..runs import Run, SkippedLog
from ..usage import Timed, Usage
from .decoding import UNREADABLE, Unusable, decode, left_out, reason
from .items import ItemRows, Rows
from .joining import WITH_SYSTEM, numbers, settings_of


class Origin(msgspec.Struct):
    """The original run of rescored answers, as written by `hkcanto rescore`; see `Run`."""

    model: str
    harness: Harness
    backend: str
    version_of_harness: str
    settings: tuple[tuple[str, str], ...]
    generation: dict[str, float]
    notes: tuple[str, ...]
    status: str
    limited: bool
    picked: bool
    available: int
    usage: Usage = Usage()


class _Results(msgspec.Struct):
    results: dict[str, dict[str, Any]]
    configs: dict[str, dict[str, Any]]
    counts: dict[str, dict[str, int | None]] = msgspec.field(name="n-samples", default_factory=dict)
    config: dict[str, Any] = {}
    date: float | None = None
    model_name: str | None = None
    chat_template_sha: str | None = None
    system_instruction_sha: str | None = None
    lm_eval_version: str | None = None
    total_evaluation_time_seconds: str | float | None = None
    rescored: Origin | None = None


class _Doc(Sample, frozen=True, gc=False, kw_only=True):
    judgement: Judgement | None = None
    in_reasoning: bool = False
    letters: tuple[str, ...] = ()


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


_RESULTS, _LOGGED = msgspec.json.Decoder(_Results), msgspec.json.Decoder(_Logged)


def read(path: Path, rows: Rows) -> Iterator[Run | SkippedLog]:
    """Read a results file and its samples files: yield a run per task, and parts left out."""
    results = decode(path.read_bytes(), _RESULTS)
    model, settings = _model(results)
    stamp = path.stem.removeprefix("results_")
    others, without = list[str](), list[str]()
    for name, config in results.configs.items():
        if config.get("dataset_path") != "hkcanto":
            others.append(name)
            continue
        try:
            samples = path.with_name(f"samples_{name}_{stamp}.jsonl")
            signature = parse_signature((config.get("metadata") or {}).get("signature"))
            counts = results.counts.get(name, {})
            expected = counts.get("effective")
            if not (signature.data if expected is None else expected):
                continue  # the data has none of the task's subjects
            if not samples.is_file():
                without.append(name)
                continue
            items = rows(signature)
            problems, last = _add_samples(items, samples)
        except UNREADABLE as error:
            yield SkippedLog(path, f"{name}: {reason(error)}")
            continue
        count = len(items)
        if missing := left_out(problems, count, expected or max(1, count + len(problems))):
            yield SkippedLog(samples, missing)
        if count:
            run = Run(
                label="",
                model=model,
                harness="lm-eval",
                signature=items.judged_by(signature),
                created=datetime.fromtimestamp(results.date or path.stat().st_mtime, UTC),
                sources=(path,),
                items=items.items(),
                reported=_reported(items.setup, results.results.get(name, {})),
                notes=tuple(_notes(results, dict(settings))),
                limited=expected != counts.get("original"),
                picked=last >= (expected or last + 1),  # chosen by `--samples`
                status="incomplete" if missing else "success",
                available=counts.get("original") or 0,
                backend=str(results.config.get("model") or "unknown"),
                version_of_harness=results.lm_eval_version or "unknown",
                settings=settings,
                generation=_generation(config.get("generation_kwargs") or {}),
                usage=_usage(path, results, config, count, generative=items.setup.is_generative),
            )
            if origin := results.rescored:
                known = msgspec.structs.asdict(origin)
                run = replace(run, **(known | ({"status": run.status} if missing else {})))
            yield run
    no_samples = (
        f"no samples_…_{stamp}.jsonl; run lm_eval with --log_samples and do not rename files"
    )
    for why, names in (("not tasks of hkcanto", others), (no_samples, without)):
        if names:
            listed = shorten(", ".join(names), 100, placeholder=" and more")
            yield SkippedLog(path, f"{why}: {listed}")


def without_results(folder: Path) -> Iterator[SkippedLog]:
    """Yield samples files without their results file."""
    for file in sorted(folder.rglob("samples_*.jsonl")):
        stamp = file.stem.rpartition("_")[2]
        if not file.with_name(f"results_{stamp}.json").exists():
            what = "samples without the results_….json that lm-eval writes beside them"
            yield SkippedLog(file, what)


def _add_samples(items: ItemRows, path: Path) -> tuple[list[str], int]:
    """Add the samples of a file; return problems and the highest document number."""
    problems: list[str] = []
    of_filter, last = None, -1
    with path.open("rb", buffering=1 << 17) as file:
        for number, line in enumerate(file, 1):
            try:
                logged = decode(line, _LOGGED)
                of_filter = of_filter or logged.filter
                if logged.filter == of_filter:
                    _add(items, logged)
                    last = max(last, logged.doc_id)
            except UNREADABLE as error:
                problems.append(f"line {number}: {reason(error)}")
    return problems, last


def _add(items: ItemRows, logged: _Logged) -> None:
    judgement = logged.doc.judgement
    response: Any = logged.filtered_resps
    if not items.setup.is_generative:
        response = judgement.answer if judgement else _likeliest(logged)
    while isinstance(response, list):  # nested more than once with --metadata repeats or filters
        response = response[0] if response else ""
    response = response if isinstance(response, str) else ""
    reasoning = logged.reasoning
    if logged.doc.in_reasoning:
        response, reasoning = "", response
    items.add(
        logged.doc,
        judgement,
        response,
        reasoning=reasoning,
        further={name: _number(value) for name, value in logged.further.items()},
        output_tokens=_number(logged.output_tokens),
        truncated=_number(logged.truncated),
        prompt=_prompt(logged.arguments) if items.texts else "",
    )


def _number(value: float | None) -> float:
    return nan if value is None else value


def _likeliest(logged: _Logged) -> str:
    """Return the letter with the highest log-likelihood; empty if one is not a number."""
    found = [float(each[0]) for each in logged.filtered_resps if isinstance(each, list) and each]
    letters = logged.doc.letters
    if not letters or len(found) != len(letters):
        raise Unusable("its log-likelihoods are not those of the letters")
    return "" if any(map(isnan, found)) else letters[found.index(max(found))]


def _generation(given: Mapping[str, Any]) -> dict[str, float]:
    """Return the known decoding settings; greedy decoding counts as temperature 0."""
    greedy = {"temperature": 0.0} if given.get("do_sample") is False else {}
    found = numbers(greedy | {**given})
    if "max_gen_toks" in found:
        found["max_tokens"] = found.pop("max_gen_toks")
    return found


def _usage(
    path: Path, results: _Results, config: Mapping[str, Any], count: int, *, generative: bool
) -> Usage:
    """Return the usage: the time for all tasks of the log, without token counts.

    lm-eval's own time begins when its command starts, before it loads the model. Our tasks log a
    second time, from the last request made to the first response read.
    """
    asked = _seconds((config.get("metadata") or {}).get("seconds"))
    whole = _seconds(results.total_evaluation_time_seconds)
    every = max(count, sum(each.get("effective") or 0 for each in results.counts.values()))
    took = whole if asked is None else asked
    timed = () if took is None else (Timed(str(path), took, every, with_loading=asked is None),)
    return Usage(
        count,
        answer_tokens=None if generative else 0,
        timed=timed,
        reused=bool(results.config.get("use_cache")),
    )


def _seconds(logged: object) -> float | None:
    """Return a time that lm-eval logs as text; None if it is not a number of seconds."""
    with suppress(TypeError, ValueError):
        found = float(str(logged))
        return found if 0 <= found < inf else None
    return None


def _prompt(arguments: msgspec.Raw) -> str:
    """Return the prompt of the first request; a chat is a JSON list of messages.

    lm-eval 0.4 logs `{"gen_args_0": {"arg_0": prompt, …}}`, 0.5 `[[prompt, …]]`.
    """
    requests = msgspec.json.decode(arguments)
    first = next(iter(requests.values() if isinstance(requests, dict) else requests), ())
    prompt = first.get("arg_0", "") if isinstance(first, dict) else next(iter(first), "")
    return prompt if isinstance(prompt, str) else "\n\n".join(map(str, prompt))


def _reported(how: Setup, row: dict[str, Any]) -> dict[tuple[tuple[str, ...], str], float]:
    """Return the catalogue's figures in a row of results; of several filters, the first counts."""
    known = {figure.name for figure in how.figures}
    return {
        ((), name): float(value)
        for key, value in reversed(row.items())
        if (name := key.partition(",")[0]) in known and isinstance(value, int | float)
    }


def _model(results: _Results) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the model's name and its settings."""
    arguments, generation = (
        _arguments(results.config.get(own)) for own in ("model_args", "gen_kwargs")
    )
    backend, name = str(results.config.get("model")), results.model_name
    # If no argument names the model, lm-eval invents a random name.
    if name not in arguments.values():
        name = backend
    settings = {key: value for key, value in arguments.items() if value != name}
    settings |= {f"gen {key}": value for key, value in generation.items()}
    settings |= {"backend": backend, "chat template": "yes" if results.chat_template_sha else ""}
    settings["system instruction"] = (results.system_instruction_sha or "")[:7]
    return str(name), settings_of(settings)


def _notes(results: _Results, settings: Mapping[str, str]) -> Iterator[str]:
    if results.system_instruction_sha:
        yield WITH_SYSTEM
    if token := settings.get("think_end_token"):
        yield f"lm-eval removed the reasoning up to {token}: its language is unknown"


def _arguments(given: Any) -> dict[str, str]:
    """Return arguments that lm-eval logs as a dictionary or as `a=b,c=d`."""
    if isinstance(given, str):
        given = dict(part.partition("=")[::2] for part in given.split(","))
    return {str(key).strip(): str(value) for key, value in (given or {}).items()}
