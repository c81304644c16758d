"""Results on a board, and records of Every Eval Ever (`hkcanto publish --to eee`) read as such.

A record has no items, and a contributor may have edited it. So this module refuses whatever
contradicts itself or the catalogue, and computes the intervals itself.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from math import inf, isclose
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from ...catalogue import known_signature
from ...errors import HKCantoError, LogError, on_disk
from ...kinds.base import Kind
from ...signatures import OF_A_JUDGE, Signature
from ...signing import signature_of
from ...tasks import task_as_run
from ..logs import argument, logs_in, read_runs
from ..logs.items import UNREADABLE, reason
from ..publishing.eee import LIBRARIES, UNITS
from ..publishing.runs import MODEL, sorted_out
from ..rescoring.rescore import options_of
from ..statistics.estimates import value_of
from ..statistics.intervals import Estimate, published_estimate

Standing = Literal["checked", "self-reported", "published"]

_FREE = ("rationale", "rescored", *OF_A_JUDGE)  # parts of a signature that no setup has
_NOT_SETTINGS = ("deployment_type", "model_availability", "backend")


@dataclass(frozen=True, eq=False)
class PublishedResult:
    """A model's figures on a task: from logs, from a record, or from a paper.

    Attributes:
        kind: `checked` if its logs were read, `self-reported` for a record alone, `published` for
            a score in a paper.
        model: The model's name; on a board with its revision and what else tells runs apart.
        setup: The task as it was run.
        signature: Its signature.
        values: Figure → value with interval.
        created: When the model was run; None for a paper.
        by: Who ran it.
        url: Where the logs are; empty if not given.
        source: The file that it is from.
        settings: How it was run: harness, dtype, temperature.
    """

    kind: Standing
    model: str
    setup: Kind
    signature: Signature
    values: Mapping[str, Estimate]
    created: datetime | None = None
    by: str = ""
    url: str = ""
    source: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def headline(self) -> Estimate:
        """The figure to read first."""
        return self.values[self.setup.headline.name]

    def key(self, *ignored: str) -> str:
        """Return a text that is equal for results that differ only in the model.

        Args:
            ignored: Parts of the signature in which they may differ, too.
        """
        parts = {
            "prompt": "paper",
            **self.signature.parts,
        }  # some kinds have no option for it
        kept = [
            f"{of}:{parts[of]}"
            for of in parts
            if of not in ("pkg", "rescored", *ignored)
        ]
        return "|".join([self.signature.task, *sorted(kept)])


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


class _Publisher(_Details, frozen=True, kw_only=True):
    source_organization_name: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    evaluator_relationship: Literal[
        "first_party", "third_party", "collaborative", "other"
    ]


class _Model(_Details, frozen=True, kw_only=True):
    id: Annotated[
        str, msgspec.Meta(pattern=rf"(?a)^({MODEL.pattern})\Z", max_length=200)
    ]


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


# ---------------------------------------------------------------------- reading one


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
    entries, by, model = file.evaluation_results, file.source_metadata, file.model_info
    harnesses = {library: name for name, library in LIBRARIES.items()}
    if not (harness := harnesses.get(str(file.eval_library.get("name")))):
        raise LogError(f"its harness is not {' or '.join(harnesses)}")
    texts = {
        each.metric_config.additional_details.get("signature", "") for each in entries
    }
    if len(texts) > 1:
        raise LogError(f"it contradicts itself: it has {len(texts)} signatures")
    signature, how = described(*texts)
    details = entries[0].source_data.additional_details
    items, expected = (
        details.get("items"),
        items_of(how) or details.get("items_expected"),
    )
    if items != str(expected):
        raise LogError(f"it has {items} of {expected} items")
    created = datetime.fromtimestamp(float(file.evaluation_timestamp), UTC)
    if created > datetime.now(UTC):
        raise LogError(f"its time is in the future: {created:%Y-%m-%d}")
    values = dict(_values(entries, how))
    args = entries[0].generation_config.get("generation_args", {})
    logs = by.additional_details.get("logs", "")
    settings = {"harness": harness, **model.additional_details}
    settings = {name: settings[name] for name in settings if name not in _NOT_SETTINGS}
    return PublishedResult(
        kind="self-reported",
        model=model.id,
        setup=how,
        signature=signature,
        values=values,
        created=created,
        by=f"{by.source_organization_name} ({by.evaluator_relationship.replace('_', ' ')})",
        url=logs if logs.startswith(("https://", "http://")) else "",
        source=source,
        settings=settings | {name: f"{args[name]}" for name in sorted(args)},
    )


@lru_cache(maxsize=1024)
def described(text: str) -> tuple[Signature, Kind]:
    """Return a signature and the setup that it describes, which must be the catalogue's.

    Raises:
        LogError: The prompts are not the catalogue's, the data is unknown, or only a part of the
            task was run.
        OptionError: The task does not have one of its options.
    """
    signature = known_signature(text)
    if signature.data == "sample" or "local" in signature.data or not signature.data:
        raise LogError(f"its data ({signature.data}) is not a published revision")
    if "subjects" in signature.parts:
        raise LogError("it covers only some subjects")
    how = task_as_run(signature.task, shots=signature.shots, **options_of(signature))
    now = signature_of(how, signature.data)
    if signature.version != now.version:
        what = f"it is of version {signature.version} of {signature.task}, not {now.version}"
        raise LogError(
            f"{what}. Score its log again (hkcanto rescore), and publish that"
        )
    unlike = now.differs(signature).items()
    differences = [
        f"{part}:{b}, not {part}:{a}" for part, (a, b) in unlike if part not in _FREE
    ]
    if differences:
        what = f"version {now.version} has not {', '.join(differences)}"
        raise LogError(f"its signature is unknown: {what}")
    return signature, how


def items_of(how: Kind, part: str = "") -> int:
    """Return the published number of scored items of a task or a part; 0 if it is unknown."""
    subjects, most = how.task.subjects, getattr(how.options, "size", 0)
    chosen = (
        each for each in subjects if part in ("", each.name, each.category, *each.sets)
    )
    rows = [how.task.scored_rows(each) for each in chosen]
    return sum(min(count, most or count) for count in rows) if all(rows) else 0


def _values(
    entries: Sequence[_Evaluation], how: Kind
) -> Iterator[tuple[str, Estimate]]:
    """Yield each figure with its name.

    Raises:
        LogError: A figure is unknown, repeated or impossible, or the headline is missing.
    """
    figures, first = {figure.name: figure for figure in how.figures}, how.headline.name
    names = [
        entry.metric_config.additional_details.get("name", "") for entry in entries
    ]
    if first not in names:
        raise LogError(f"its headline {first} is missing")
    for entry, name in zip(entries, names, strict=True):
        figure, score = figures.get(name), entry.score_details.score
        if figure is None or figure.higher_is_better is None:
            raise LogError(f"its task has no figure {name!r} that is published")
        if names.count(name) > 1:
            raise LogError(
                f"it contradicts itself: it has {name} {names.count(name)} times"
            )
        most, count = (
            float(UNITS[figure.unit][1]),
            entry.score_details.uncertainty.num_samples,
        )
        if not 0 <= score <= most or score == inf:
            raise LogError(
                f"{name} is {score:g}, but a {figure.unit} is from 0 to {most:g}"
            )
        scored, is_accuracy = (
            items_of(how, figure.part) or count,
            figure.averages == "acc",
        )
        if count > scored or (is_accuracy and count != scored):
            raise LogError(f"{name} has {count:,} items, but its task has {scored:,}")
        right = score * count if is_accuracy and figure.over == "questions" else 0
        if not isclose(right, round(right), abs_tol=1e-4):
            raise LogError(f"{name} is {score:g}, not a share of {count:,} items")
        yield name, published_estimate(score, count, figure)


# ---------------------------------------------------------------------- folders of results


def read_results(
    arguments: Sequence[str],
) -> tuple[Sequence[PublishedResult], Mapping[str, Sequence[str]]]:
    """Read records and logs, mixed freely.

    Args:
        arguments: Folders or files; `NAME=PATH` names the model of the logs in it.

    Returns:
        The results, and the files left out by reason, the most frequent first.

    Raises:
        LogError: A path does not exist.
        DataNotFound: The system refuses.
    """
    results, left_out = list[PublishedResult](), set[tuple[str, str]]()
    for given in arguments:
        name, root = argument(given)
        with on_disk(root):
            for source, one in _read(name, root):
                if isinstance(one, PublishedResult):
                    results.append(one)
                else:
                    left_out.add((source, " ".join(one.split())))
    # The log of a run counts, not the record of it.
    logs = {_run(result) for result in results if result.kind == "checked"}
    kept = [
        each for each in results if each.kind == "checked" or _run(each) not in logs
    ]
    kept.sort(key=lambda each: (each.model, each.key(), str(each.created), each.source))
    refused: dict[str, list[str]] = defaultdict(list)
    for source, why in sorted(left_out):
        refused[why].append(source)
    return kept, dict(sorted(refused.items(), key=lambda pair: -len(pair[1])))


def _read(name: str, root: Path) -> Iterator[tuple[str, PublishedResult | str]]:
    """Yield each file or run at a path with its result, or with the reason to leave it out."""
    folder = root if root.is_dir() else root.parent
    files = (
        [root]
        if root.is_file()
        else sorted(file for file in root.rglob("*") if file.is_file())
    )
    shown = {file: file.relative_to(folder).as_posix() for file in files}
    files = [file for file in files if "/." not in f"/{shown[file]}"]
    logs = {*logs_in(folder)}.intersection(files)
    # One run may have several logs in a folder, so a folder with logs is read as a whole.
    homes = {log.parent if root.is_dir() else log for log in logs}
    for home in sorted(home for home in homes if homes.isdisjoint(home.parents)):
        try:
            read = read_runs(f"{name}={home}" if name else str(home))
        except HKCantoError as error:
            yield home.relative_to(folder).as_posix(), str(error)
            continue
        clean, refused = sorted_out(read)
        left_out = ((run.sources[0], why) for run, why in refused)
        for log, why in [*read.skipped, *left_out]:
            yield shown.get(log, log.name), why
        for run in clean:
            source = shown.get(run.sources[0], run.sources[0].name)
            try:
                signature, how = described(run.signature.text)
            except HKCantoError as error:
                yield source, str(error)
                continue
            values = {
                name: value for name in run.figures if (value := value_of(run, name))
            }
            settings = {"harness": run.harness, **dict(run.settings)}
            settings |= {
                name: f"{run.generation[name]}" for name in sorted(run.generation)
            }
            made = run.created, "", "", source, settings
            yield (
                source,
                PublishedResult("checked", run.model, how, signature, values, *made),
            )
    for file in files:
        if file.suffix != ".json" or file in logs:
            continue
        try:
            yield shown[file], read_record(file.read_bytes(), shown[file])
        except UNREADABLE as error:
            yield shown[file], reason(error)


def _run(result: PublishedResult) -> Hashable:
    """Return a key that a record and the log of the same run share."""
    again = dict(result.signature.options).get("rescored")
    made = round(result.created.timestamp(), 3) if result.created else 0.0
    return result.model, result.settings["harness"], result.key(), again, made
