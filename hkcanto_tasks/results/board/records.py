"""Records of Every Eval Ever, as `hkcanto publish --to eee` writes them: results without items.

A contributor may have edited a record, so this module checks everything that can be checked without
items.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from math import fsum, isclose
from typing import Annotated, Any

import msgspec

from ...errors import HKCantoError, LogError
from ...figures import Figure, language_of
from ...fingerprints import fingerprints
from ...setup import Setup, setup
from ...signatures import OF_A_JUDGE, Signature, parse_signature
from ..logs.items import decode
from ..publishing.eee import LIBRARIES, UNITS
from ..publishing.runs import MODEL
from ..results import UNREAD, Harness, Result
from ..statistics.intervals import CONFIDENCE, Estimate

EPOCH = datetime.fromtimestamp(0, UTC)
"""The time given to a result that has none."""

_TOLERANCE = 1e-6
_HARNESSES: Mapping[str, Harness] = {library: name for name, library in LIBRARIES.items()}
_NOT_OPTIONS = ("turns", "subjects", "rationale", "rescored", *OF_A_JUDGE)
_NOT_SETTINGS = ("deployment_type", "model_availability", "backend")

# ---------------------------------------------------------------------- the form of a file

Texts = dict[str, str]


class _Interval(msgspec.Struct, frozen=True):
    lower: float
    upper: float
    confidence_level: float = CONFIDENCE


class _Uncertainty(msgspec.Struct, frozen=True):
    num_samples: Annotated[int, msgspec.Meta(ge=1)]
    confidence_interval: _Interval | None = None


class _Score(msgspec.Struct, frozen=True):
    score: float
    uncertainty: _Uncertainty
    details: Texts = {}


class _Metric(msgspec.Struct, frozen=True):
    lower_is_better: bool
    metric_unit: str = ""
    additional_details: Texts = {}


class _Source(msgspec.Struct, frozen=True):
    additional_details: Texts = {}


class _Generation(msgspec.Struct, frozen=True):
    generation_args: dict[str, Any] = {}


class _Evaluation(msgspec.Struct, frozen=True):
    metric_config: _Metric
    score_details: _Score
    source_data: _Source
    generation_config: _Generation = _Generation()


class _Library(msgspec.Struct, frozen=True):
    name: str
    version: str


class _Publisher(msgspec.Struct, frozen=True):
    source_organization_name: str
    evaluator_relationship: str
    additional_details: Texts = {}


class _Model(msgspec.Struct, frozen=True):
    id: Annotated[str, msgspec.Meta(max_length=200)]
    additional_details: Texts = {}


class _File(msgspec.Struct, frozen=True):
    schema_version: str
    evaluation_id: str
    evaluation_timestamp: str
    retrieved_timestamp: str
    source_metadata: _Publisher
    eval_library: _Library
    model_info: _Model
    evaluation_results: Annotated[list[_Evaluation], msgspec.Meta(min_length=1)]


_DECODER = msgspec.json.Decoder(_File)

# ---------------------------------------------------------------------- a record


@dataclass(frozen=True, eq=False)
class Record(Result):
    """A result without items.

    Attributes:
        values: Figure → its value with interval.
        expected: The number of items of its task; the record covers all of them.
        source: Its file in the folder of results.
        by: Who ran the model, and their relationship to its developer.
        url: Where the logs are; empty if not given.
        published: When the record was made; for a log, the same as `created`.
        availability: `open_weights`, `closed_weights` or `unknown`.
        library: The harness with its version.
        settings: How the model was run: dtype, backend, temperature.
    """

    label: str
    model: str
    harness: Harness
    signature: Signature
    created: datetime
    values: Mapping[str, Estimate]
    expected: int = 0
    source: str = ""
    by: str = ""
    url: str = ""
    published: datetime = EPOCH
    availability: str = "unknown"
    library: str = ""
    settings: tuple[tuple[str, str], ...] = ()

    unfinished = ""
    is_of_harness = True

    def value(self, name: str, part: str = "") -> Estimate | None:  # noqa: D102
        if part and (whole := self.figures.get(name)):
            of_part = (
                each.name
                for each in self.figures.values()
                if (each.part, each.averages, each.over) == (part, whole.averages, whole.over)
            )
            name = next(of_part, "")
        return self.values.get(name)

    def is_complete(self, part: str = "") -> bool:  # noqa: D102
        del part
        return True

    @cached_property
    def setup(self) -> Setup:
        """The setup of the whole task and variant, with its figures."""
        return _setup(self.task, self.shots)

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The figures of its task by name, the headline first."""
        return _figures(self.task, self.shots)

    @property
    def unread(self) -> Estimate | None:
        """The share of responses from which no answer could be read."""
        return next((self.values[name] for name in UNREAD if name in self.values), None)

    @property
    def wrong_script(self) -> Estimate | None:
        """The share of outputs that are in Simplified where the reference is in Traditional."""
        of_chinese = language_of(self.setup.task) == "zh"
        return self.values.get("wrong_script") if of_chinese else None


@lru_cache(maxsize=1024)
def _setup(task: str, shots: int | None) -> Setup:
    return setup(task, shots=shots)


@lru_cache(maxsize=1024)
def _figures(task: str, shots: int | None) -> Mapping[str, Figure]:
    return {figure.name: figure for figure in _setup(task, shots).figures}


# ---------------------------------------------------------------------- reading one


def read_record(data: bytes, source: str) -> Record:
    """Read a record, and check everything that can be checked without items.

    Args:
        data: The file.
        source: Its name, as messages show it.

    Raises:
        LogError: It contradicts itself or the catalogue.
        ValueError: It is not in the form of a record.
    """
    file = decode(data, _DECODER)
    if not file.schema_version.startswith("0.3."):
        raise LogError(f"its schema is {file.schema_version!r}, and this version reads 0.3")
    if file.eval_library.name not in _HARNESSES:
        raise LogError(f"its harness {file.eval_library.name!r} is not {' or '.join(_HARNESSES)}")
    if not MODEL.fullmatch(file.model_info.id):
        raise LogError(f"{file.model_info.id!r} is not a model name: ORGANISATION/NAME")
    signature = _signature(file.evaluation_results)
    known = _figures(signature.task, signature.shots)
    values = dict(_values(file.evaluation_results, known))
    details = file.evaluation_results[0].source_data.additional_details
    model, who = file.model_info.additional_details, file.source_metadata
    args = file.evaluation_results[0].generation_config.generation_args
    settings = {name: text for name, text in model.items() if name not in _NOT_SETTINGS}
    settings |= {"backend": model.get("backend", "unknown")}
    settings |= {name: f"{args[name]}" for name in sorted(args)}
    record = Record(
        label=file.model_info.id,
        model=file.model_info.id,
        harness=_HARNESSES[file.eval_library.name],
        signature=signature,
        created=_time(file.evaluation_timestamp),
        values=values,
        expected=_whole(signature, details, values[next(iter(known))]),
        source=source,
        by=f"{who.source_organization_name} ({who.evaluator_relationship.replace('_', ' ')})",
        url=_web(who.additional_details.get("logs", "")),
        published=_time(file.retrieved_timestamp),
        availability=model.get("model_availability", "unknown"),
        library=f"{file.eval_library.name} {file.eval_library.version}",
        settings=tuple(settings.items()),
    )
    for problem in _contradictions(record):
        raise LogError(f"it contradicts itself: {problem}")
    return record


def _time(text: str) -> datetime:
    try:
        return datetime.fromtimestamp(float(text), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise LogError(f"{text!r} is not a time in seconds since 1970") from error


def _web(address: str) -> str:
    """Return an address if it is on the web, else an empty text: other links are not shown."""
    return address if address.startswith(("https://", "http://")) else ""


def _signature(entries: Sequence[_Evaluation]) -> Signature:
    texts = {entry.metric_config.additional_details.get("signature") for entry in entries}
    if len(texts) > 1:
        raise LogError(f"it contradicts itself: it has {len(texts)} signatures")
    signature = parse_signature(*texts)
    if not signature.prompt_known:
        raise LogError("the prompts were not logged")
    if signature.data == "sample" or "local" in signature.data or not signature.data:
        raise LogError(f"its data ({signature.data}) is not a published revision")
    if "subjects" in dict(signature.options):
        raise LogError("it covers only some subjects")
    _known(signature)
    return signature


@lru_cache(maxsize=1024)
def _known(signature: Signature) -> None:
    """Refuse a signature that the catalogue of this version would not produce.

    Raises:
        LogError: Its hashes are not those of the task's current version, it is of a later version,
            or the catalogue does not know its task or options.
    """
    options = {
        name: {"yes": "true", "no": "false"}.get(text, text)
        for name, text in signature.options
        if name not in _NOT_OPTIONS
    }
    multiturn = dict(signature.options).get("turns") == "multi"
    try:
        made = setup(signature.task, shots=signature.shots, multiturn=multiturn, **options)
        now = made.signature(signature.data)
        sent = signature.sent, signature.read
        # Rows already in the requested script are not converted, and so have another fingerprint.
        known = sent == (now.sent, now.read) or sent == fingerprints(made.at(own_script=True))
    except HKCantoError as error:
        raise LogError(f"its signature is unknown: {error}") from error
    own, ours = signature.version, now.version
    if own.isdecimal() and ours.isdecimal() and int(own) > int(ours):
        raise LogError(f"it is of version {own} of {signature.task}; this hkcanto has {ours}")
    if own == ours and not known:
        raise LogError(
            f"its signature is unknown: version {own} of {signature.task} has sent:{now.sent} and "
            f"read:{now.read}, not sent:{signature.sent} and read:{signature.read}"
        )


def _values(
    entries: Sequence[_Evaluation], known: Mapping[str, Figure]
) -> Iterator[tuple[str, Estimate]]:
    """Yield each figure with its name, and refuse invalid ones.

    Raises:
        LogError: A figure is unknown, repeated, out of range, or wrongly marked as the headline.
    """
    names = Counter(entry.metric_config.additional_details.get("name", "") for entry in entries)
    first = next(iter(known))
    for entry in entries:
        metric, score = entry.metric_config, entry.score_details
        name = metric.additional_details.get("name", "")
        figure = known.get(name)
        if figure is None or figure.higher_is_better is None:
            raise LogError(f"its task has no figure {name!r} that is published")
        if names[name] > 1:
            raise LogError(f"it contradicts itself: it has {name} {names[name]} times")
        if (metric.additional_details.get("headline") == "yes") != (name == first):
            raise LogError(f"the headline of its task is {first}, but it marks {name} otherwise")
        unit, most = UNITS[figure.unit]
        if metric.lower_is_better == figure.higher_is_better or metric.metric_unit != unit:
            raise LogError(f"the unit or the direction of {name} differs from the catalogue")
        ends = score.uncertainty.confidence_interval
        low, high = (ends.lower, ends.upper) if ends else (score.score, score.score)
        if ends and ends.confidence_level != CONFIDENCE:
            raise LogError(f"the interval of {name} is not a 95 % interval")
        if not 0 <= score.score <= float(most) or score.score == float("inf"):
            raise LogError(f"{name} is {score.score:g}, but a {figure.unit} is from 0 to {most}")
        if not low - _TOLERANCE <= score.score <= high + _TOLERANCE:
            raise LogError(f"{name} is {score.score:g}, outside its interval {low:g} to {high:g}")
        items, note = score.uncertainty.num_samples, score.details.get("note", "")
        own = (ends.lower, ends.upper) if ends else (None, None)
        yield name, Estimate(score.score, own[0], own[1], items, note)
    if first not in names:
        raise LogError(f"its headline {first} is missing")


def _whole(signature: Signature, details: Texts, headline: Estimate) -> int:
    """Return the number of items of a record, after checking that none is missing.

    Raises:
        LogError: Items are missing.
    """
    task = _setup(signature.task, signature.shots).task
    try:
        items = int(details.get("items", headline.items))
        expected = int(details.get("items_expected", items))
    except ValueError as error:
        raise LogError("its counts of items are not whole numbers") from error
    size = int(dict(signature.options).get("size", 0))
    scored = [task.scored_rows(each) for each in task.subjects]
    if all(each.rows for each in task.subjects):
        expected = sum(min(rows, size or rows) for rows in scored)
    if items != expected:
        raise LogError(f"it has {items:,} of {expected:,} items")
    return items


def _contradictions(record: Record) -> Iterator[str]:
    """Yield averages that do not match their parts, if the parts make up the whole."""
    task = record.setup.task
    names = list(dict.fromkeys(each.category for each in task.subjects if each.category))
    names = names if len(names) > 1 else [each.name for each in task.subjects]
    parts = [figure for figure in record.figures.values() if figure.part in names]
    found = [record.values[figure.name] for figure in parts if figure.name in record.values]
    if len(found) != len(names) or len(names) < 2:
        return
    alike = fsum(each.value for each in found) / len(found)
    pooled = fsum(each.value * each.items for each in found) / sum(each.items for each in found)
    by_question = all(figure.over == "questions" for figure in parts)
    of_subjects = "" if names == [each.name for each in task.subjects] else "categories"
    means = {"questions": pooled if by_question else None, "categories": alike}
    means["subjects"] = None if of_subjects else alike
    for figure in record.figures.values():
        own, mean = record.values.get(figure.name), means[figure.over]
        if own is None or mean is None or figure.part or figure.averages != parts[0].averages:
            continue
        if not isclose(own.value, mean, abs_tol=_TOLERANCE):
            yield f"{figure.name} is {own.value:g}, but the average of its parts is {mean:g}"
