"""Results on a board, and records of Every Eval Ever (`hkcanto publish --to eee`) read as such.

A record has no items, and a contributor may have edited it. So this module refuses whatever
contradicts itself or the catalogue, and computes the intervals itself.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf, isclose
from statistics import fmean
from typing import Annotated, Any, Literal

import msgspec

from ...errors import LogError
from ...figures import Figure
from ...kinds.base import Kind
from ...signatures import OUTSIDE_THE_PROTOCOL, Signature
from ..logs.checking import published_signature, uneven_votes
from ..publishing.eee import LIBRARIES, UNITS
from ..publishing.runs import DEPARTURE, MODEL
from ..runs import UNREAD
from ..statistics.intervals import Estimate, published_estimate

Standing = Literal["checked", "not compared", "self-reported", "published"]

_NOT_SETTINGS = ("deployment_type", "model_availability", "backend")
_HARNESSES = {library: harness for harness, library in LIBRARIES.items()}
_ROUNDING = 1e-4  # of a number of right answers


@dataclass(frozen=True, eq=False)
class PublishedResult:
    """A model's figures on a task: from logs, from a record, or from a paper.

    Attributes:
        standing: `checked` if its logs were read and compared with the release, `not compared` if
            the release was not there, `self-reported` for a record alone, `published` for a score
            in a paper.
        model: The model's name; on a board with whatever tells its runs apart.
        kind: The task as it was run.
        signature: Its signature.
        values: Figure → value with interval.
        created: When the model was run; None for a paper.
        by: Who ran it.
        url: Where the logs are; empty if not given.
        source: The file that it is from.
        settings: How it was run: harness, dtype, temperature.
    """

    standing: Standing
    model: str
    kind: Kind
    signature: Signature
    values: Mapping[str, Estimate]
    created: datetime | None = None
    by: str = ""
    url: str = ""
    source: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_logs(self) -> bool:
        """Whether its figures were computed from logs."""
        return self.standing in ("checked", "not compared")

    @property
    def headline(self) -> Estimate:
        """The figure to read first."""
        return self.values[self.kind.headline.name]

    def key(self, *ignored: str) -> str:
        """Return a text that is equal for results that differ only in the model.

        Args:
            ignored: Parts of the signature in which they may differ, too.
        """
        # Some kinds have no option for the prompt. They use the paper's.
        parts = {"prompt": "paper", **self.signature.parts}
        for name in ("pkg", *OUTSIDE_THE_PROTOCOL, *ignored):
            parts.pop(name, None)
        texts = sorted(f"{name}:{part}" for name, part in parts.items())
        return "|".join([self.signature.task, *texts])


# ---------------------------------------------------------------------- the form of a file

_Text = Annotated[str, msgspec.Meta(max_length=1000)]
_Texts = Annotated[dict[_Text, _Text], msgspec.Meta(max_length=40)]
_Settings = Annotated[
    dict[_Text, _Text | int | float | bool], msgspec.Meta(max_length=40)
]


class _Uncertainty(msgspec.Struct, frozen=True):
    num_samples: Annotated[int, msgspec.Meta(ge=1)]


class _Score(msgspec.Struct, frozen=True):
    score: float
    uncertainty: _Uncertainty


class _Details(msgspec.Struct, frozen=True):
    additional_details: _Texts = {}


class _Evaluation(msgspec.Struct, frozen=True):
    metric_config: _Details
    score_details: _Score
    source_data: _Details
    generation_config: dict[str, _Settings] = {}

    @property
    def figure(self) -> str:
        """The name of its figure; empty if it has none."""
        return self.metric_config.additional_details.get("name", "")

    @property
    def signature(self) -> str:
        """Its signature; empty if it has none."""
        return self.metric_config.additional_details.get("signature", "")


class _Publisher(_Details, frozen=True, kw_only=True):
    source_organization_name: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    evaluator_relationship: Literal[
        "first_party", "third_party", "collaborative", "other"
    ]


class _Model(_Details, frozen=True, kw_only=True):
    id: Annotated[
        str, msgspec.Meta(pattern=rf"(?a)^({MODEL.pattern})\Z", max_length=200)
    ]


class _ItemScore(msgspec.Struct, frozen=True):
    score: float


class _ItemLine(msgspec.Struct, frozen=True):
    sample_id: str
    evaluation: _ItemScore


class _File(msgspec.Struct, frozen=True):
    schema_version: Annotated[str, msgspec.Meta(pattern=r"^0\.3\.")]
    evaluation_timestamp: Annotated[
        str, msgspec.Meta(pattern=r"^[0-9]{1,10}(\.[0-9]{1,6})?\Z")
    ]
    source_metadata: _Publisher
    eval_library: dict[str, Any]
    model_info: _Model
    evaluation_results: Annotated[
        list[_Evaluation], msgspec.Meta(min_length=1, max_length=1000)
    ]


# ---------------------------------------------------------------------- reading a record


def read_record(data: bytes, source: str) -> PublishedResult:
    """Read a record, and check everything that can be checked without items.

    It reads what only the record knows. Units, directions, the headline and the intervals are the
    catalogue's and ours.

    Args:
        data: The file.
        source: Its name.

    Raises:
        LogError: It contradicts itself or the catalogue.
        MsgspecError: It is not in the form of a record.
    """
    file = msgspec.json.decode(data, type=_File)
    harness = _HARNESSES.get(str(file.eval_library.get("name")))
    if harness is None:
        raise LogError(f"its harness is not {' or '.join(_HARNESSES)}")
    signature, kind = _signature_and_kind(file.evaluation_results)
    created = datetime.fromtimestamp(float(file.evaluation_timestamp), UTC)
    if created > datetime.now(UTC):
        raise LogError(f"its time is in the future: {created:%Y-%m-%d}")
    publisher = file.source_metadata
    relationship = publisher.evaluator_relationship.replace("_", " ")
    url = publisher.additional_details.get("logs", "")
    is_web_address = url.startswith(("https://", "http://"))
    return PublishedResult(
        standing="self-reported",
        model=file.model_info.id,
        kind=kind,
        signature=signature,
        values=_values(file.evaluation_results, kind),
        created=created,
        by=f"{publisher.source_organization_name} ({relationship})",
        url=url if is_web_address else "",
        source=source,
        settings=_settings(file, harness),
    )


def _signature_and_kind(entries: Sequence[_Evaluation]) -> tuple[Signature, Kind]:
    """Return the signature of a record that covers all items of its task, and its kind."""
    texts = {entry.signature for entry in entries}
    if len(texts) > 1:
        raise LogError(f"it contradicts itself: it has {len(texts)} signatures")
    signature, kind = published_signature(*texts)
    details = entries[0].source_data.additional_details
    items = details.get("items")
    expected = published_item_count(kind) or details.get("items_expected")
    if items != str(expected):
        raise LogError(f"it has {items} of {expected} items")
    return signature, kind


def _settings(file: _File, harness: str) -> dict[str, str]:
    """Return the harness and the settings of the model and of generation."""
    settings = {"harness": harness, **file.model_info.additional_details}
    for name in _NOT_SETTINGS:
        settings.pop(name, None)
    generation = file.evaluation_results[0].generation_config
    arguments = generation.get("generation_args", {})
    for name in sorted(arguments):
        settings[name] = str(arguments[name])
    details = generation.get("additional_details", {})
    settings[DEPARTURE] = str(details.get(DEPARTURE, ""))
    return settings


# ---------------------------------------------------------------------- the catalogue's side


def published_item_count(kind: Kind, part: str = "") -> int:
    """Return the published number of scored items of a task or a part; 0 if it is unknown."""
    rows = [
        kind.task.scored_rows(subject)
        for subject in kind.task.subjects
        if part in ("", subject.name, subject.category, *subject.sets)
    ]
    if not all(rows):
        return 0
    # Some tasks draw a fixed number of items from each subject's rows.
    size = getattr(kind.options, "size", 0)
    return sum(min(count, size or count) for count in rows)


# ---------------------------------------------------------------------- figures


def _values(entries: Sequence[_Evaluation], kind: Kind) -> dict[str, Estimate]:
    """Return the figures of a record with our intervals.

    Raises:
        LogError: A figure is unknown, repeated or impossible, or the headline is missing.
    """
    counts = Counter(entry.figure for entry in entries)
    if kind.headline.name not in counts:
        raise LogError(f"its headline {kind.headline.name} is missing")
    figures = {figure.name: figure for figure in kind.figures}
    values = {}
    for entry in entries:
        name = entry.figure
        figure = figures.get(name)
        if figure is None or figure.higher_is_better is None:
            raise LogError(f"{name!r} is not among the published figures of its task")
        if counts[name] > 1:
            raise LogError(f"it contradicts itself: it has {name} {counts[name]} times")
        values[name] = _checked_value(entry.score_details, figure, kind)
    _refuse_right_and_unread(values, figures)
    _refuse_impossible_parts(values, figures)
    return values


def _refuse_right_and_unread(
    values: Mapping[str, Estimate],
    figures: Mapping[str, Figure],
) -> None:
    """Refuse an accuracy that unread answers leave no room for.

    Raises:
        LogError: More answers than all are right or unread.
    """
    for name in UNREAD:
        for other, value in values.items():
            figure = figures[other]
            is_accuracy = figure.averages == "acc" and figure.over == "questions"
            if name not in values or not is_accuracy or figure.part:
                continue
            if value.value + values[name].value > 1 + _ROUNDING:
                raise LogError(
                    f"it contradicts itself: {other} is {value.value:g}, but {name} is "
                    f"{values[name].value:g}"
                )


def _refuse_impossible_parts(
    values: Mapping[str, Estimate],
    figures: Mapping[str, Figure],
) -> None:
    """Refuse an accuracy of a part with more right or wrong answers than all items have.

    Raises:
        LogError: There is one.
    """
    whole = values.get("acc")
    if whole is None:
        return
    for name, part in values.items():
        figure = figures[name]
        if figure.averages != "acc" or figure.over != "questions":
            continue
        right = part.value * part.items - whole.value * whole.items
        wrong = part.items - whole.items - right
        if max(right, wrong) > _ROUNDING:
            raise LogError(
                f"it contradicts itself: acc is {whole.value:g}, but {name} is {part.value:g}"
            )


def refuse_other_items(result: PublishedResult, items: bytes) -> None:
    """Refuse a record whose own file of items has other items, or another headline.

    Args:
        result: The record.
        items: The content of its file of items.

    Raises:
        LogError: An item occurs more often than others, or the items have another mean.
        MsgspecError: The file is not in the form of such a file.
    """
    figure = result.kind.headline
    if figure.form != "mean" or figure.over != "questions":
        return
    lines = msgspec.json.Decoder(_ItemLine).decode_lines(items)
    ids = [line.sample_id for line in lines]
    count = len({*ids})
    if fault := uneven_votes(ids):
        raise LogError(f"its file of items: {fault}")
    if count != result.headline.items:
        raise LogError(f"its file of items has {count:,} of {result.headline.items:,}")
    mean = fmean(line.evaluation.score for line in lines)
    if not isclose(mean, result.headline.value, abs_tol=_ROUNDING):
        raise LogError(
            f"it contradicts itself: {figure.name} is {result.headline.value:g}, but "
            f"{mean:g} by its file of items"
        )


def _checked_value(
    details: _Score,
    figure: Figure,
    kind: Kind,
) -> Estimate:
    """Return a figure with our interval.

    Raises:
        LogError: It is out of range, or cannot be the figure of its number of items.
    """
    name = figure.name
    score = details.score
    largest = float(UNITS[figure.unit][1])
    if not 0 <= score <= largest or score == inf:
        raise LogError(
            f"{name} is {score:g}, but a {figure.unit} is from 0 to {largest:g}"
        )
    count = details.uncertainty.num_samples
    expected = published_item_count(kind, figure.part) or count
    is_accuracy = figure.averages == "acc"
    # A figure other than an accuracy may leave out items, such as empty answers.
    if count > expected or (is_accuracy and count != expected):
        raise LogError(f"{name} has {count:,} items, but its task has {expected:,}")
    if is_accuracy and figure.over == "questions":
        right_answers = score * count
        if not isclose(right_answers, round(right_answers), abs_tol=_ROUNDING):
            raise LogError(f"{name} is {score:g}, not a share of {count:,} items")
    return published_estimate(score, count, figure)
