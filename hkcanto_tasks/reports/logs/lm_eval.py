"""Logs of lm-eval: `results_….json`, and `samples_….jsonl` of each task beside it."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ...catalogue import NamedTask
from ...corpus import Pair
from ...kinds import kinds
from ..evaluations import Items, SkippedLog
from .decoding import Unusable, decode
from .item_columns import ItemColumns, Length, Row
from .signatures import Signature, catalogue_task, condition_of, of_whole_task, parse_signature
from .subject_runs import Model, Reported, SubjectRun, settings_of

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
    fewshot_as_multiturn: bool | None = None

    @property
    def is_multiturn(self) -> bool:
        # Without a chat template there are no turns, whatever was asked for.
        return bool(self.chat_template_sha and self.fewshot_as_multiturn)


class _Doc(msgspec.Struct, gc=False):
    id: str
    question: str
    target: str
    choices: list[str | None] = msgspec.field(default_factory=list)
    letters: list[str] = msgspec.field(default_factory=list)
    groups: tuple[str, ...] = ()


class _Sample(msgspec.Struct, gc=False):
    doc: _Doc
    filtered_resps: list[Any]
    filter: str = "none"


_RESULTS = msgspec.json.Decoder(_Results)


@dataclass(frozen=True)
class _Leaf:
    """A task of a results file that is one of ours: a subject, or a task without subjects."""

    name: str
    named: NamedTask
    signature: Signature
    effective: int | None

    @property
    def has_items(self) -> bool:
        """Whether the data had the subject at all."""
        return bool(self.signature.data) if self.effective is None else self.effective > 0

    @property
    def of_all(self) -> Signature:
        """The signature of the whole task."""
        return of_whole_task(self.signature, self.named)


def read(path: Path, length: Length, texts: bool) -> Iterator[SubjectRun | SkippedLog]:
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
    leaves: list[_Leaf] = []
    others: list[str] = []
    for name, config in results.configs.items():
        if config.dataset_path != "hkcanto":
            others.append(name)
            continue
        try:
            leaves.append(_leaf(name, config, results))
        except Unusable as problem:
            yield SkippedLog(path, f"{name}: {problem}")
    if others:
        yield SkippedLog(path, f"not tasks of hkcanto: {_listed(others)}")
    leaves = [leaf for leaf in leaves if leaf.has_items]
    without = [leaf.name for leaf in leaves if not samples_file(path, leaf.name).is_file()]
    if without:
        yield SkippedLog(
            path,
            f"results without the samples of {_listed(without)}: run lm_eval with --log_samples",
        )
    found: dict[Signature, list[tuple[_Leaf, Items]]] = defaultdict(list)
    for leaf in leaves:
        if leaf.name in without:
            continue
        samples = samples_file(path, leaf.name)
        try:
            items = _items(samples, leaf, length, texts)
        except Unusable as problem:
            yield SkippedLog(samples, str(problem))
        else:
            found[replace(leaf.of_all, data="")].append((leaf, items))
    for of_one_task in found.values():
        yield from _runs(path, results, of_one_task)


def samples_file(results: Path, task: str) -> Path:
    """Return where the samples of a task are that belong to a results file."""
    if stamp := STAMP.search(results.stem):
        return results.with_name(f"samples_{task}_{stamp[1]}.jsonl")
    # Somebody renamed the file.
    name = re.compile(rf"samples_{re.escape(task)}(?:_\d{{4}}-[^_]*)?\.jsonl")
    found = [path for path in results.parent.iterdir() if name.fullmatch(path.name)]
    return found[0] if len(found) == 1 else results.with_name(f"samples_{task}.jsonl")


def _leaf(name: str, config: _Config, results: _Results) -> _Leaf:
    metadata = config.metadata if isinstance(config.metadata, dict) else {}
    signature = metadata.get("signature")
    if not isinstance(signature, str):
        raise Unusable("no signature: it was made by another version of hkcanto; run it again")
    named = catalogue_task(str(config.dataset_name))
    count = results.counts.get(name)
    return _Leaf(name, named, parse_signature(signature), count.effective if count else None)


def _runs(
    path: Path, results: _Results, leaves: Sequence[tuple[_Leaf, Items]]
) -> Iterator[SubjectRun]:
    first = leaves[0][0]
    of_all = _reported_of_all(first.named, results)
    notes = ["worked examples as turns of their own"] if results.is_multiturn else []
    if results.system_instruction_sha:
        notes.append("with a system instruction of the user's in front")
    for leaf, items in leaves:
        subject = leaf.named.subjects[0].name
        known = {metric.name for metric in kinds()[leaf.named.entry.kind].METRICS}
        figures = _figures(results.results.get(leaf.name, {}))
        yield SubjectRun(
            model=_model(results, leaf.signature.version),
            signature=leaf.of_all,
            subject=subject,
            created=_created(path, results),
            source=path,
            items=items,
            reported={(subject, name): value for name, value in figures.items() if name in known},
            notes=tuple(notes),
            siblings=len(leaves),
            reported_of_all=of_all,
        )


def _items(path: Path, leaf: _Leaf, length: Length, texts: bool) -> Items:
    kind = kinds()[leaf.named.entry.kind]
    values = [metric.name for metric in kind.METRICS if not metric.corpus]
    corpus = next((metric.name for metric in kind.METRICS if metric.corpus), None)
    judged = texts or any(metric.pooled for metric in kind.METRICS)
    how = condition_of(leaf.signature, leaf.named)
    columns = ItemColumns(leaf.named, leaf.named.subjects[0].name, length, texts)
    decoder = _decoder(leaf.named.entry.kind, texts)
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
            doc, response = sample.doc, _response(leaf, sample)
            judgement = how.judge(response, doc.target, doc.choices) if judged else None
            pair = getattr(sample, corpus) if corpus else None
            columns.add(
                Row(
                    id=doc.id,
                    question=doc.question,
                    response=response,
                    target=doc.target,
                    values={name: getattr(sample, name) for name in values},
                    answer=judgement.answer if judgement else "",
                    groups=doc.groups,
                    weights=judgement.weights if judgement else {},
                    pair=pair,
                    prompt=_prompt(sample) if texts else "",
                )
            )
    if leaf.effective is not None and count < leaf.effective:
        raise Unusable(f"it has {count} of {leaf.effective} samples: it is cut off")
    items = columns.items()
    if all(np.isnan(column).all() for column in items.values.values()):
        raise Unusable("no scores: it was made with --predict_only")
    return items


@cache
def _decoder(kind: str, texts: bool) -> msgspec.json.Decoder[Any]:
    fields: list[Any] = [
        (metric.name, Pair | None if metric.corpus else float | None, None)
        for metric in kinds()[kind].METRICS
    ]
    if texts:
        fields.append(("arguments", dict[str, dict[str, Any]], msgspec.field(default_factory=dict)))
    return msgspec.json.Decoder(msgspec.defstruct("Sample", fields, bases=(_Sample,), gc=False))


def _response(leaf: _Leaf, sample: _Sample) -> str:
    responses = sample.filtered_resps
    if leaf.named.variant.scoring == "loglikelihood":
        try:
            likelihoods = [float(likelihood) for likelihood, _ in responses]
            return sample.doc.letters[likelihoods.index(max(likelihoods))]
        except (TypeError, ValueError, IndexError) as error:
            raise Unusable(f"{sample.doc.id} has no log-likelihoods of its letters") from error
    first = responses[0] if responses else ""
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


def _reported_of_all(named: NamedTask, results: _Results) -> Reported:
    """Return the figures of the groups: of the task and of its categories."""
    reported: dict[tuple[str, str], float] = {}
    if not named.entry.subjects[0].name:
        return reported
    for category in dict.fromkeys(["", *(subject.category for subject in named.entry.subjects)]):
        group = "_".join(filter(None, (named.entry.name, category, named.variant.suffix)))
        scope = f"category:{category}" if category else ""
        figures = _figures(results.results.get(group, {}))
        reported |= {(scope, name): value for name, value in figures.items()}
    return reported


def _figures(row: Mapping[str, Any]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for key, value in row.items():
        name, is_figure, _ = key.partition(",")
        if is_figure and not name.endswith("_stderr") and isinstance(value, int | float):
            figures.setdefault(name, float(value))
    return figures


def _model(results: _Results, version: str) -> Model:
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
        "multiturn": "yes" if results.is_multiturn else "",
        "system instruction": (results.system_instruction_sha or "")[:7],
        "hkcanto": version,
    }
    return Model(
        "lm-eval",
        str(name),
        settings_of(settings),
    )


def _arguments(given: Any) -> dict[str, str]:
    """Return arguments that lm-eval logs as a dictionary or as `a=b,c=d`."""
    if isinstance(given, str):
        parts = (part.partition("=") for part in given.split(","))
        return {key.strip(): value for key, is_pair, value in parts if is_pair}
    return {str(key): str(value) for key, value in given.items()} if isinstance(given, dict) else {}


def _created(path: Path, results: _Results) -> datetime:
    return datetime.fromtimestamp(results.date or path.stat().st_mtime, UTC)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
