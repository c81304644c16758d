"""Read the rows of a task's subjects as items, and compare them with the published release."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from .data.checks import media_columns, refuse_odd
from .data.rows import ReleaseRows
from .data.tables import LeftOutRow, Table, UnreadableRow
from .declarations import Subject
from .errors import DataCorrupt
from .kinds.base import Kind
from .kinds.reading import read_samples, unread_columns
from .samples import Sample

# The share of the rows that may be unreadable; a file with more is not the release.
_BAD_SHARE = 0.01
_BAD_SHARE_OF_SUBJECT = 0.05
_ROWS_SHOWN = 5  # of those that cannot be read, in an error
_ROWS_OFF = 10
"""The number of rows by which a subject may differ from the paper's table if the total is right."""


@dataclass
class ScoredRows:
    """The scored rows of a task's subjects, as far as the data has them.

    Attributes:
        samples: Subject → its items, without those that are worked examples.
        counts: Subject → its number of rows.
        unreadable: The rows set aside.
        columns: The columns of the files.
    """

    samples: dict[Subject, list[Sample]] = field(default_factory=dict)
    counts: dict[Subject, int] = field(default_factory=dict)
    unreadable: list[UnreadableRow] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)


def scored_rows(kind: Kind, release: ReleaseRows) -> ScoredRows:
    """Return the scored rows of a task's subjects; a subject without rows is left out.

    Raises:
        DataCorrupt: The rows cannot all be from the release.
        UnreadableRow: A row of our own data cannot be read.
    """
    rows = ScoredRows()
    unreadable: dict[str, UnreadableRow] = {}  # files may be shared by subjects
    columns: dict[str, None] = {}
    for subject in kind.task.subjects:
        table, samples, own_unreadable = _read(
            kind,
            release,
            subject,
            "test",
        )
        for row in (*table.bad, *own_unreadable):
            if is_ours(release) and not isinstance(row, LeftOutRow):
                raise row
            unreadable[row.where] = row
        # A bad row of a shared file belongs to an unknown subject.
        if not release.subject_columns:
            own_unreadable = [*table.bad, *own_unreadable]
        if not table.rows and not own_unreadable:
            continue
        allowed = max(1, int(_BAD_SHARE_OF_SUBJECT * len(samples)))
        name = f"{kind.task.name} {subject.name}"
        _refuse_many(
            name,
            own_unreadable,
            len(samples),
            allowed,
        )
        if table.rows:
            columns |= dict.fromkeys(table.rows[0].cells)
            _refuse_media(kind, table)
        rows.counts[subject] = len(samples) + len(own_unreadable)
        if samples:
            rows.samples[subject] = samples[kind.definition.examples_from_test :]
    rows.unreadable = [*unreadable.values()]
    rows.columns = [*columns]
    return rows


def refuse_unreadable(kind: Kind, rows: ScoredRows) -> None:
    """Refuse data of which too many rows cannot be read.

    Raises:
        DataCorrupt: More than 1 % of the rows cannot be read.
    """
    readable = sum(map(len, rows.samples.values()))
    allowed = ceil(_BAD_SHARE * (len(rows.unreadable) + readable))
    _refuse_many(
        kind.task.name,
        rows.unreadable,
        readable,
        allowed,
    )


def example_rows(
    kind: Kind,
    release: ReleaseRows,
    subject: Subject,
) -> list[Sample]:
    """Return the items that are a subject's worked examples; none without a dev file.

    Raises:
        DataCorrupt: The rows cannot all be from the release.
        UnreadableRow: A worked example cannot be read.
    """
    from_test = kind.definition.examples_from_test
    split = "test" if from_test else "dev"
    _, samples, _ = _read(
        kind,
        release,
        subject,
        split,
    )
    return samples[: from_test or kind.definition.dev_rows]


def is_ours(release: ReleaseRows) -> bool:
    """Return whether data is not a published release: sample data, or a benchmark's own."""
    return release.folder.kind in ("sample", "own")


def differences(subjects: Sequence[Subject], rows: ScoredRows) -> list[str]:
    """Return how data differs from the published release, in sentences.

    Args:
        subjects: The requested subjects.
        rows: Their rows in the data.
    """
    sentences: list[str] = []
    missing = _missing(subjects, rows)
    if missing:
        names = ", ".join(subject.name for subject in missing)
        sentences.append(
            f"{len(missing)} of {len(subjects)} subjects are missing: {names}"
        )
    unpublished = _unpublished(rows)
    if unpublished:
        numbers = [
            f"{subject.name or subject.title} {count} (paper: {subject.rows})"
            for subject, count in unpublished.items()
        ]
        counted = (
            "1 subject" if len(unpublished) == 1 else f"{len(unpublished)} subjects"
        )
        what = f"unpublished numbers of items in {counted}"
        if _has_published_total(subjects, rows):
            what += " (the total is as published)"
        sentences.append(f"{what}: {', '.join(numbers)}")
    reasons = [f"{row.where}: {row.what}" for row in _faulty(rows.unreadable)]
    if reasons:
        sentences.append(
            f"{len(reasons)} unreadable rows were set aside: {'; '.join(reasons)}"
        )
    return sentences


def is_comparable(subjects: Sequence[Subject], rows: ScoredRows) -> bool:
    """Return whether scores on data are comparable with published ones, despite differences.

    They are if all subjects are there, with the published numbers of rows, or nearly these and the
    published total.
    """
    if _missing(subjects, rows):
        return False
    unpublished = _unpublished(rows)
    return not unpublished or (
        _has_published_total(subjects, rows)
        and all(
            abs(count - subject.rows) <= _ROWS_OFF
            for subject, count in unpublished.items()
        )
    )


def _missing(subjects: Sequence[Subject], rows: ScoredRows) -> list[Subject]:
    return [subject for subject in subjects if subject not in rows.counts]


def _unpublished(rows: ScoredRows) -> Mapping[Subject, int]:
    """Return the subjects whose number of rows is not the published one, and their numbers."""
    unpublished: dict[Subject, int] = {}
    for subject, count in rows.counts.items():
        if subject.rows and count != subject.rows:
            unpublished[subject] = count
    return unpublished


def _has_published_total(subjects: Sequence[Subject], rows: ScoredRows) -> bool:
    return sum(rows.counts.values()) == sum(subject.rows for subject in subjects)


def _read(
    kind: Kind,
    release: ReleaseRows,
    subject: Subject,
    split: str,
) -> tuple[Table, list[Sample], list[UnreadableRow]]:
    """Return a subject's rows of a split, their items, and those that the kind cannot read.

    Raises:
        DataCorrupt: The rows cannot all be from the release.
        UnreadableRow: A row of a dev file cannot be read; every worked example counts.
    """
    table = release.table(subject, split)
    samples, unreadable = read_samples(kind, table.rows, subject)
    if split == "dev":
        for row in (*table.bad, *unreadable):
            raise row
    files = ", ".join(release.files(subject, split)) or kind.definition.reader
    where = f"{release.folder.root}: {files}"
    kind.check(samples, where)
    refuse_odd(samples, kind.definition, where)
    return table, samples, unreadable


def _refuse_media(kind: Kind, table: Table) -> None:
    """Refuse rows whose question may need a picture or sound that no prompt shows.

    Raises:
        CatalogueError: A column holds them, and the task does not ignore it.
    """
    media = media_columns(table.rows, unread_columns(kind, table.columns))
    if media:
        raise kind.wrong(
            f"does not send the column {media[0]!r}, which holds an image, sound or bytes: models "
            "are sent texts only. If its questions need none, name it in `ignored`"
        )


def _faulty(rows: Sequence[UnreadableRow]) -> list[UnreadableRow]:
    return [row for row in rows if not isinstance(row, LeftOutRow)]


def left_out(rows: ScoredRows) -> str:
    """Return how many rows are left out since they cannot be scored, and why; empty if none.

    Examples:
        >>> row = LeftOutRow("a.jsonl, row 7", "the language 'hi'")
        >>> left_out(ScoredRows(unreadable=[row, row]))
        "2 rows are left out, which cannot be scored: the language 'hi' (2)"
    """
    reasons = Counter(
        row.what for row in rows.unreadable if isinstance(row, LeftOutRow)
    )
    if not reasons:
        return ""
    listed = ", ".join(f"{what} ({count})" for what, count in reasons.items())
    return f"{reasons.total()} rows are left out, which cannot be scored: {listed}"


def _refuse_many(
    name: str,
    unreadable: Sequence[UnreadableRow],
    readable: int,
    allowed: int,
) -> None:
    unreadable = _faulty(unreadable)
    if len(unreadable) <= allowed:
        return
    first = unreadable[:_ROWS_SHOWN]
    rows = "\n".join(f"  {row.where} has {row.what}" for row in first)
    total = len(unreadable) + readable
    many = f"{len(unreadable)} of {total} rows cannot be read, more than {allowed}"
    raise DataCorrupt(
        f"{name}: {many}:\n{rows}\nCorrect them, or fetch the data again."
    )
