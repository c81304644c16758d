"""Logs of lm-eval: `results_….json`, and `samples_….jsonl` of each task beside it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from ...corpus_figures import Pair
from ...task import Condition, condition
from ..evaluations import Items, SkippedLog
from .decoding import Unusable, decode
from .item_columns import Length, Row, TaskItems
from .runs import Model, Run, settings_of
from .signatures import Signature, catalogue_task, of_whole_task, parse_signature

STAMP = re.compile(r"_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[^_]*)$")
"""When a file was written, at the end of its name without the suffix."""


class _Config(msgspec.Struct):
    dataset_path: Any = None
    dataset_name: Any = None
    metadata: Any = None


class _Count(msgspec.Struct):
    effective: int | None = None


class _Results(msgspec.Struct):
    results: dict[str, dict[str, Any]]
    configs: dict[str, _Config]
    counts: dict[str, _Count] = msgspec.field(name="n-samples", default_factory=dict)
    config: dict[str, Any] = msgspec.field(default_factory=dict)
    date: float | None = None
    model_name: str | None = None
    chat_template_sha: str | None = None
    system_instruction_sha: str | None = None


class _Judgement(msgspec.Struct, gc=False):
    answer: str
    values: dict[str, float]
    reason: str = ""
    weights: dict[str, float] = msgspec.field(default_factory=dict)


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


@dataclass(frozen=True)
class _Entry:
    """A task of a results file that is one of ours: a whole condition, or a part of one."""

    name: str
    how: Condition
    signature: Signature
    effective: int | None

    @property
    def has_items(self) -> bool:
        """Whether the data had any of its subjects."""
        return bool(self.signature.data) if self.effective is None else self.effective > 0


def read(path: Path, length: Length, texts: bool) -> Iterator[Run | SkippedLog]:
    """Read a results file and the samples beside it.

    Args:
        path: The results file.
        length: Of a text.
        texts: Whether to keep the texts.

    Yields:
        The runs, and what could not be read.

    Raises:
        Unusable: Nothing can be read.
    """
    results = decode(path.read_bytes(), _RESULTS)
    entries: list[_Entry] = []
    others: list[str] = []
    for name, config in results.configs.items():
        if config.dataset_path != "hkcanto":
            others.append(name)
            continue
        try:
            entries.append(_entry(name, config, results))
        except Unusable as problem:
            yield SkippedLog(path, f"{name}: {problem}")
    if others:
        yield SkippedLog(path, f"not tasks of hkcanto: {_listed(others)}")
    without: list[str] = []
    for entry in entries:
        samples = samples_file(path, entry.name)
        if not entry.has_items:
            continue
        if not samples.is_file():
            without.append(entry.name)
            continue
        try:
            yield _run(path, results, entry, _items(samples, entry, length, texts))
        except Unusable as problem:
            yield SkippedLog(samples, str(problem))
    if without:
        yield SkippedLog(
            path,
            f"results without the samples of {_listed(without)}: run lm_eval with --log_samples",
        )


def samples_file(results: Path, task: str) -> Path:
    """Return where the samples of a task are that belong to a results file."""
    if stamp := STAMP.search(results.stem):
        return results.with_name(f"samples_{task}_{stamp[1]}.jsonl")
    # Somebody renamed the file.
    name = re.compile(rf"samples_{re.escape(task)}(?:_\d{{4}}-[^_]*)?\.jsonl")
    found = [path for path in results.parent.iterdir() if name.fullmatch(path.name)]
    return found[0] if len(found) == 1 else results.with_name(f"samples_{task}.jsonl")


def _entry(name: str, config: _Config, results: _Results) -> _Entry:
    metadata = config.metadata if isinstance(config.metadata, dict) else {}
    signature = metadata.get("signature")
    if not isinstance(signature, str):
        raise Unusable("no signature: it was made by another version of hkcanto; run it again")
    how = condition(catalogue_task(str(config.dataset_name)).name)
    count = results.counts.get(name)
    return _Entry(name, how, parse_signature(signature), count.effective if count else None)


def _run(path: Path, results: _Results, entry: _Entry, items: dict[str, Items]) -> Run:
    notes = []
    if results.system_instruction_sha:
        notes.append("with a system instruction of the user's in front")
    return Run(
        model=_model(results),
        signature=of_whole_task(entry.signature, entry.how.task),
        created=datetime.fromtimestamp(results.date or path.stat().st_mtime, UTC),
        source=path,
        items=items,
        reported=_reported(entry.how, results.results.get(entry.name, {})),
        notes=tuple(notes),
    )


def _items(path: Path, entry: _Entry, length: Length, texts: bool) -> dict[str, Items]:
    found = TaskItems(entry.how.task, length, texts)
    corpus = next((figure.name for figure in entry.how.table if figure.corpus), "pair")
    decoder = _decoder(corpus, texts)
    count, name_of_filter = 0, None
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                sample = decode(line, decoder)
            except Unusable as problem:
                raise Unusable(f"line {number}: {problem}") from problem
            name_of_filter = name_of_filter or sample.filter
            if sample.filter != name_of_filter:
                continue
            count += 1
            doc = sample.doc
            if doc.judgement is None:
                raise Unusable("no scores: it was made with --predict_only")
            found.add(
                Row(
                    id=doc.id,
                    subject=doc.subject,
                    question=doc.question,
                    response=_response(entry.how, sample),
                    target=doc.target,
                    values=doc.judgement.values,
                    answer=doc.judgement.answer,
                    reason=doc.judgement.reason,
                    parts=doc.parts,
                    weights=doc.judgement.weights,
                    pair=sample.pair,
                    prompt=_prompt(sample) if texts else "",
                )
            )
    if entry.effective is not None and count < entry.effective:
        raise Unusable(f"it has {count} of {entry.effective} samples: it is cut off")
    return found.by_subject()


@cache
def _decoder(corpus: str, texts: bool) -> msgspec.json.Decoder[Any]:
    """Of samples with the pair of texts that is logged as a corpus figure, if there is one."""
    fields: list[Any] = [("pair", Pair | None, msgspec.field(name=corpus, default=None))]
    if texts:
        fields.append(("arguments", dict[str, dict[str, Any]], msgspec.field(default_factory=dict)))
    return msgspec.json.Decoder(msgspec.defstruct("Sample", fields, bases=(_Sample,), gc=False))


def _response(how: Condition, sample: _Sample) -> str:
    if how.task.variant.scoring == "loglikelihood":
        assert sample.doc.judgement is not None
        return sample.doc.judgement.answer
    first = sample.filtered_resps[0] if sample.filtered_resps else ""
    while isinstance(first, list):  # with --metadata repeats, or a filter of the user's
        first = first[0] if first else ""
    return first if isinstance(first, str) else ""


def _prompt(sample: Any) -> str:
    prompt = next((each.get("arg_0", "") for each in sample.arguments.values()), "")
    if isinstance(prompt, list) and prompt:  # a chat, as JSON in a list of its own
        prompt = prompt[0]
    if not isinstance(prompt, str):
        return json.dumps(prompt, ensure_ascii=False)
    if not prompt.startswith("[{"):
        return prompt
    try:
        messages = json.loads(prompt)
        return "\n\n".join(f"[{each['role']}]\n{each['content']}" for each in messages)
    except (ValueError, TypeError, KeyError):
        return prompt


def _reported(how: Condition, row: Mapping[str, Any]) -> dict[str, float]:
    """Return the figures of the catalogue in a row of the results."""
    known = {figure.name for figure in how.figures}
    reported: dict[str, float] = {}
    for key, value in row.items():
        name, _, _ = key.partition(",")
        if name in known and isinstance(value, int | float):
            reported.setdefault(name, float(value))
    return reported


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


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
