"""Logs of lm-eval: `results_….json`, and `samples_….jsonl` of each task beside it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from ...corpus_figures import Pair
from ...task import Condition, condition
from ..evaluations import SkippedLog
from ..items import Columns, Row
from .decoding import UNREADABLE, Unusable, decode, left_out, reason
from .runs import Model, Run, settings_of
from .signatures import parse_signature
from .task_items import Length, TaskItems

_STAMP = re.compile(r"_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[^_]*)$")


class _Results(msgspec.Struct):
    results: dict[str, dict[str, Any]]
    configs: dict[str, dict[str, Any]]
    counts: dict[str, dict[str, int | None]] = msgspec.field(name="n-samples", default_factory=dict)
    config: dict[str, Any] = {}
    date: float | None = None
    model_name: str | None = None
    chat_template_sha: str | None = None
    system_instruction_sha: str | None = None


class _Judgement(msgspec.Struct, gc=False):
    answer: str
    values: dict[str, float]
    reason: str = ""
    weights: dict[str, float] = {}


class _Doc(msgspec.Struct, gc=False):
    id: str
    subject: str
    question: str
    target: str
    parts: tuple[str, ...] = ()
    judgement: _Judgement | None = None


class _Sample(msgspec.Struct, gc=False):
    doc: _Doc
    filtered_resps: list[Any]
    filter: str = "none"


_RESULTS = msgspec.json.Decoder(_Results)


def read(path: Path, length: Length, texts: bool) -> Iterator[Run | SkippedLog]:
    """Read a results file and the samples beside it: a run for each task, and what is left out."""
    results = decode(path.read_bytes(), _RESULTS)
    others, without = list[str](), list[str]()
    for name, config in results.configs.items():
        if config.get("dataset_path") != "hkcanto":
            others.append(name)
            continue
        where, what = path, f"{name}: "
        try:
            samples = _samples_file(path, name)
            metadata = config.get("metadata")
            text = metadata.get("signature") if isinstance(metadata, dict) else None
            signature = parse_signature(text)
            how = condition(signature.task)
            expected = results.counts.get(name, {}).get("effective")
            if not (signature.data if expected is None else expected):
                continue  # The data has none of its subjects.
            if not samples.is_file():
                without.append(name)
                continue
            where, what = samples, ""
            items, missing = _items(samples, how, expected, length, texts)
        except UNREADABLE as error:
            yield SkippedLog(where, what + reason(error))
            continue
        if missing:
            yield SkippedLog(samples, missing)
        system = "with a system instruction of the user's in front"
        yield Run(
            model=_model(results),
            signature=signature,
            created=datetime.fromtimestamp(results.date or path.stat().st_mtime, UTC),
            source=path,
            items=items,
            reported=_reported(how, results.results.get(name, {})),
            notes=(system,) if results.system_instruction_sha else (),
        )
    if others:
        yield SkippedLog(path, f"not tasks of hkcanto: {_listed(others)}")
    if without:
        what = f"results without the samples of {_listed(without)}"
        yield SkippedLog(path, f"{what}: run lm_eval with --log_samples")


def without_results(folder: Path, logs: Sequence[Path]) -> Iterator[SkippedLog]:
    """Find samples whose results are not there, as those of an interrupted run."""
    known = {(log.parent, _stamp(log)) for log in logs}
    for file in sorted(folder.rglob("samples_*.jsonl")) if folder.is_dir() else ():
        # Results without a stamp were renamed: whose they are is known only to the reader.
        if known.isdisjoint({(file.parent, _stamp(file)), (file.parent, "")}):
            known.add((file.parent, _stamp(file)))
            what = "samples without the results_….json that lm-eval writes with them"
            yield SkippedLog(file, what)


def _stamp(file: Path) -> str:
    """Return when a file was written, by the end of its name."""
    found = _STAMP.search(file.stem)
    return found[1] if found else ""


def _samples_file(results: Path, task: str) -> Path:
    """Return where the samples of a task are that belong to a results file."""
    if stamp := _stamp(results):
        return results.with_name(f"samples_{task}_{stamp}.jsonl")
    # Somebody renamed the file.
    name = re.compile(rf"samples_{re.escape(task)}(?:_\d{{4}}-[^_]*)?\.jsonl")
    found = [path for path in results.parent.iterdir() if name.fullmatch(path.name)]
    return found[0] if len(found) == 1 else results.with_name(f"samples_{task}.jsonl")


def _items(
    path: Path, how: Condition, expected: int | None, length: Length, texts: bool
) -> tuple[Columns, str | None]:
    """Read samples; return them, and which are missing."""
    items, problems = TaskItems(how.task.name, length, texts), list[str]()
    corpus = next((figure.name for figure in how.table if figure.corpus), "pair")
    decoder = _decoder(corpus, texts)
    of_filter = None
    with path.open("rb", buffering=1 << 17) as file:
        for number, line in enumerate(file, 1):
            try:
                sample = decode(line, decoder)
                of_filter = of_filter or sample.filter
                if sample.filter == of_filter:
                    items.add(_row(how, sample, texts))
            except UNREADABLE as error:
                problems.append(f"line {number}: {reason(error)}")
    if not (read := len(items)):
        raise Unusable(problems[0] if problems else "it has no samples: it is cut off")
    return items.columns(), left_out(problems, read, expected or read + len(problems))


@cache
def _decoder(corpus: str, texts: bool) -> msgspec.json.Decoder[Any]:
    """Of samples with the pair of texts that is logged as a corpus figure, if there is one."""
    fields: list[Any] = [("pair", Pair | None, msgspec.field(name=corpus, default=None))]
    if texts:
        fields.append(("arguments", dict[str, dict[str, Any]], msgspec.field(default_factory=dict)))
    return msgspec.json.Decoder(msgspec.defstruct("Sample", fields, bases=(_Sample,), gc=False))


def _row(how: Condition, sample: Any, texts: bool) -> Row:
    doc: _Doc = sample.doc
    if (judgement := doc.judgement) is None:
        raise Unusable("no scores: it was made with --predict_only")
    if how.task.variant.scoring == "loglikelihood":
        response = judgement.answer
    else:
        response = sample.filtered_resps[0] if sample.filtered_resps else ""
        while isinstance(response, list):  # with --metadata repeats, or a filter of the user's
            response = response[0] if response else ""
    return Row(
        id=doc.id,
        subject=doc.subject,
        question=doc.question,
        response=response if isinstance(response, str) else "",
        target=doc.target,
        values=judgement.values,
        answer=judgement.answer,
        reason=judgement.reason,
        parts=doc.parts,
        weights=judgement.weights,
        pair=sample.pair,
        prompt=_prompt(sample.arguments) if texts else "",
    )


def _prompt(arguments: Mapping[str, Mapping[str, Any]]) -> str:
    prompt = next((each.get("arg_0", "") for each in arguments.values()), "")
    if isinstance(prompt, list) and prompt:  # a chat, as JSON in a list of its own
        prompt = prompt[0]
    if not isinstance(prompt, str):
        return json.dumps(prompt, ensure_ascii=False)
    try:
        messages = json.loads(prompt) if prompt.startswith("[{") else []
        return "\n\n".join(f"[{each['role']}]\n{each['content']}" for each in messages) or prompt
    except (ValueError, TypeError, KeyError):
        return prompt


def _reported(how: Condition, row: Mapping[str, Any]) -> dict[str, float]:
    """Return the figures of the catalogue in a row of the results."""
    known = {figure.name for figure in how.figures}
    found = [(key.partition(",")[0], value) for key, value in row.items()]
    # Of two filters the first one counts, as in the samples.
    return {
        name: float(value)
        for name, value in reversed(found)
        if name in known and isinstance(value, int | float)
    }


def _model(results: _Results) -> Model:
    config = results.config
    arguments = _arguments(config.get("model_args"))
    harness_name, name = str(config.get("model")), results.model_name
    # Where no argument names the model, lm-eval makes up a name at random.
    if name not in arguments.values():
        name = harness_name
    settings = {
        "backend": harness_name,
        **{key: value for key, value in arguments.items() if value != name},
        **{f"gen {key}": value for key, value in _arguments(config.get("gen_kwargs")).items()},
        "chat template": "yes" if results.chat_template_sha else "",
        "system instruction": (results.system_instruction_sha or "")[:7],
    }
    return Model("lm-eval", str(name), settings_of(settings))


def _arguments(given: Any) -> dict[str, str]:
    """Return arguments that lm-eval logs as a dictionary or as `a=b,c=d`."""
    if isinstance(given, str):
        parts = (part.partition("=") for part in given.split(","))
        return {key.strip(): value for key, is_pair, value in parts if is_pair}
    return {str(key): str(value) for key, value in given.items()} if isinstance(given, dict) else {}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
