"""A model of a release: it can be written in any layout, and knows the rows a reader may return.

A `Release` is made from a seed, changed by mutations, and written. The permitted contents of its
rows are known from this model, not from the package's reader; the fuzz compares with them.
"""

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

LETTERS = "ABCDEFGHIJ"
WRAPS = (
    *("rows", "subject", "split", "both", "data", "questions", "columns", "index", "hub"),
    *("table", "matrix", "lines", "pretty lines", "texts"),
)
FORMATS = ("csv", "tsv", "semicolon", "json", "jsonl", "parquet")
ANSWERS = (
    *("letter", "index", "number", "text", "lower", "dotted", "brackets", "full", "wide"),
    *("float index", "padded"),
)
OPTIONS = ("columns", "list", "mapping", "labelled", "records", "pairs", "marked", "JSON list")

Content = tuple[str, tuple[str, ...], str]
"""A question or source, its options (blank where there is none), and the target."""


@cache
def simplified(text: str) -> str:
    """Convert a text as `script=sc` is documented to: OpenCC hk2s."""
    return _converter()(text)


@cache
def _converter() -> Callable[[str], str]:
    import opencc

    convert: Callable[[str], str] = opencc.OpenCC("hk2s").convert
    return convert


@dataclass
class Row:
    """A row as it was released.

    Attributes:
        subject: The stem of its subject.
        split: `test` or `dev`.
        cells: `question`, `A` …, `answer` (a letter); or `source`, `target`, `number`.
        blank: The cells that a mutation blanked.
        may_lack: Whether a mutation cut it off, and a reader cannot notice that it is missing.
        cut: The rest of the cell that a mutation cut through, if that can still be read.
        spoiled: A text in place of its answer that is not an answer.
    """

    subject: str
    split: str
    cells: dict[str, str]
    blank: set[str] = field(default_factory=set)
    may_lack: bool = False
    cut: dict[str, str] = field(default_factory=dict)
    spoiled: str = ""

    def copied(self) -> "Row":
        """Return an equal row."""
        return replace(self, cells={**self.cells}, blank={*self.blank}, cut={**self.cut})

    @property
    def letters(self) -> str:
        """The letters of its options."""
        return "".join(letter for letter in LETTERS if letter in self.cells)

    def contents(self, *, dropped: Iterable[str], in_simplified: bool) -> list[Content]:
        """Return the contents that it may be read as; none if it must be set aside.

        Args:
            dropped: The columns that the file lacks.
            in_simplified: Whether its text is, or is to be, in Simplified script.
        """
        convert: Callable[[str], str] = simplified if in_simplified else str
        gone = {*dropped} | self.blank | ({"answer"} if self.spoiled else set())
        found = []
        for cells in (self.cells, {**self.cells, **self.cut}):
            if "question" not in cells:
                if not gone & {"source", "target"}:
                    source, target = cells["source"], cells.get("target", "")
                    found.append((source.strip(), (), target.strip()))
                continue
            if gone & {"question", "answer"}:
                continue
            left = [letter for letter in self.letters if letter not in dropped]
            if cells["answer"] in dropped or "".join(left) != self.letters[: len(left)]:
                continue
            choices = [convert("" if each in gone else cells[each]).strip() for each in left]
            found.append((convert(cells["question"]).strip(), _short(choices), cells["answer"]))
        return found


def _short(choices: Iterable[str | None]) -> tuple[str, ...]:
    kept = [(each or "").strip() for each in choices]
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def content_of(sample: Any) -> Content:
    """Return the content of an item that was loaded."""
    return (sample.question or sample.source).strip(), _short(sample.choices), sample.target.strip()


@dataclass
class File:
    """A file of rows.

    Attributes:
        path: Its path in the release.
        rows: Its rows, in order.
        names: Role → the name of its column, in the order of a CSV file.
        source: The files with the same source are shards of it; others are copies, or candidates.
        trust: `own`; `neutral` for another candidate with a name that a release may have; `model`
            for a candidate with a name like that of a model's answers.
        moved: Whether a mutation changed its name.
        extra: Additional columns → a text for all rows, or one for each.
        dropped: Roles whose column a mutation dropped.
        in_simplified: Whether a mutation converted its text.
        null: Whether blank cells are null where the format has that.
        shift: The number of rows that row numbers may be off by, because of a second header.
    """

    path: str
    rows: list[Row]
    names: dict[str, str]
    source: int = 0
    trust: str = "own"
    moved: bool = False
    extra: dict[str, str | list[str]] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    in_simplified: bool = False
    null: bool = False
    shift: int = 0
    format: str = "csv"
    wrap: str = "rows"
    options: str = "columns"
    order: Sequence[int] = ()
    labels: str = LETTERS
    answer: str = "letter"
    header: bool = True
    second_header: bool = False
    blank_lines: bool = False
    encoding: str = "utf-8"
    newline: str = "\r\n"
    final_newline: bool = True
    quoted: bool = False
    pack: str = ""
    cut: float | None = None
    cut_packed: float | None = None

    def copied(self, **changes: Any) -> "File":
        """Return a copy that can be changed alone."""
        own: dict[str, Any] = {
            "rows": [row.copied() for row in self.rows],
            "names": {**self.names},
            "extra": {**self.extra},
            "dropped": {*self.dropped},
        }
        return replace(self, **{**own, **changes})

    # ------------------------------------------------------------------ cells

    def _shown(self, text: str) -> str:
        return simplified(text) if self.in_simplified else text

    def _options(self, row: Row) -> dict[str, Any]:
        texts = {x: "" if x in row.blank else self._shown(row.cells[x]) for x in row.letters}
        labelled = [(self.labels[LETTERS.index(letter)], text) for letter, text in texts.items()]
        if len(self.order) == len(labelled) and self.options not in ("list", "JSON list"):
            labelled = [labelled[place] for place in self.order]
        own, value = [label for label, _ in labelled], [*texts.values()]
        shapes: dict[str, Any] = {
            "list": value,
            "JSON list": json.dumps(value, ensure_ascii=False),
            "mapping": dict(labelled),
            "labelled": {"label": own, "text": [text for _, text in labelled]},
            "records": [{"label": label, "text": text} for label, text in labelled],
            "pairs": [{label: text} for label, text in labelled],
            "marked": [f"{label}. {text}" for label, text in labelled],
        }
        return {"options": shapes[self.options]} if self.options != "columns" else texts

    def _answer(self, row: Row) -> Any:
        letter = row.cells["answer"]
        place = LETTERS.index(letter)
        forms: dict[str, Any] = {
            "letter": self.labels[place],
            "index": place,
            "number": place + 1,
            "float index": float(place),
            "text": self._shown(row.cells[letter]),
            "lower": letter.lower(),
            "dotted": f"{letter}.",
            "brackets": f"({letter})",
            "full": f"{letter}. {self._shown(row.cells[letter])}",
            "wide": chr(ord(letter) + 0xFEE0),
            "padded": f" {letter} ",
        }
        return "" if "answer" in row.blank else row.spoiled or forms[self.answer]

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as columns and cells."""
        made = []
        for number, row in enumerate(self.rows):
            cells: dict[str, Any] = {}
            for role, text in row.cells.items():
                shown = "" if role in row.blank else self._shown(text)
                cells[role] = int(shown) if role == "number" and shown else shown
            if "question" in cells:
                cells = {"question": cells["question"], **self._options(row)}
                cells["answer"] = self._answer(row)
            named = {name: cells[role] for role, name in self.names.items() if role in cells}
            for name, value in self.extra.items():
                named[name] = value if isinstance(value, str) else value[number % len(value)]
            if self.null and self.format in ("json", "jsonl", "parquet"):
                named = {name: None if cell == "" else cell for name, cell in named.items()}
            made.append(named)
        return made

    # ------------------------------------------------------------------ bytes

    def content(self) -> bytes:
        """Return the file's bytes, and mark the rows that a cut affects."""
        mark = {"utf-16": "\ufeff".encode("utf-16-le"), "utf-8-sig": b"\xef\xbb\xbf"}
        code = {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(self.encoding, self.encoding)
        chunks = [each.encode(code, "replace") for each in self._chunks()]
        if chunks and self.format != "parquet":
            chunks[0] = mark.get(self.encoding, b"") + chunks[0]
        whole = b"".join(chunks)
        if self.cut is not None:
            at = int(self.cut * len(whole))
            self._note(chunks, at)
            whole = whole[:at]
        if self.pack == "gz":
            whole = gzip.compress(whole, 1, mtime=0)
        return whole

    def _note(self, chunks: Sequence[bytes], at: int) -> None:
        """Mark the rows that a cut removes without a trace for a reader."""
        if self.format in ("json", "parquet") or self.encoding.startswith("utf-16"):
            return
        head = len(chunks) - len(self.rows)
        end = sum(map(len, chunks[:head]))
        for row, chunk in zip(self.rows, chunks[head:], strict=True):
            start, end = end, end + len(chunk)
            if end <= at:
                continue
            row.may_lack = end - at > len(self.newline)
            last = [*self.names][-1] if self.names else ""
            left = chunk[: max(0, at - start)].decode(self.encoding, "ignore")
            if row.may_lack and left and not self.extra and self.format != "jsonl":
                cells = next(csv.reader([left], delimiter=self._delimiter), [])
                if len(cells) == len(self.names) and last in row.cells and last != "answer":
                    row.cut = {last: cells[-1]}

    @property
    def _delimiter(self) -> str:
        return {"tsv": "\t", "semicolon": ";"}.get(self.format, ",")

    def _chunks(self) -> Iterator[Any]:
        """Yield the text in pieces: those before the rows, then one for each row."""
        records = self.records()
        if self.format == "parquet":
            yield _Bytes(_parquet(records))
        elif self.format in ("csv", "tsv", "semicolon"):
            yield from self._csv(records)
        elif self.format == "jsonl":
            for place, record in enumerate(records, start=1):
                end = "\n" if self.final_newline or place < len(records) else ""
                yield json.dumps(record, ensure_ascii=False) + end
        else:
            yield _wrapped(self.wrap, records, self.rows)

    def _csv(self, records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        columns = dict.fromkeys(name for record in records for name in record)
        if self.header:
            yield self._line(columns)
        if self.second_header:
            yield self._line(columns)
        if self.blank_lines:
            yield self.newline + self._line("" for _ in columns)
        for place, record in enumerate(records, start=1):
            line = self._line(record.get(name, "") for name in columns)
            last = place == len(records) and not self.final_newline
            yield line.removesuffix(self.newline) if last else line

    def _line(self, cells: Iterable[Any]) -> str:
        text = io.StringIO(newline="")
        cells = [*cells]
        several = any({*"\r\n"} & {*str(cell)} for cell in cells)  # which the writer may leave bare
        how: Any = csv.QUOTE_ALL if self.quoted or several else csv.QUOTE_MINIMAL
        csv.writer(
            text, delimiter=self._delimiter, lineterminator=self.newline, quoting=how
        ).writerow(
            json.dumps(cell, ensure_ascii=False) if isinstance(cell, list | dict) else cell
            for cell in cells
        )
        return text.getvalue()


class _Bytes(bytes):
    """Bytes among texts that are to be encoded."""

    def encode(self, *_: object) -> bytes:
        """Return itself."""
        return self


def _parquet(records: Sequence[Mapping[str, Any]]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    file = io.BytesIO()
    try:
        table = pyarrow.Table.from_pylist([*records])
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):  # a blank among numbers
        texts = [
            {k: v if isinstance(v, list | dict) else str(v) for k, v in record.items()}
            for record in records
        ]
        table = pyarrow.Table.from_pylist(texts)
    pyarrow.parquet.write_table(table, file)
    return file.getvalue()


def _wrapped(wrap: str, records: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> str:
    columns = [*dict.fromkeys(name for record in records for name in record)]
    by: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    subjects: dict[str, list[Mapping[str, Any]]] = {}
    splits: dict[str, list[Mapping[str, Any]]] = {}
    for row, record in zip(rows, records, strict=True):
        by.setdefault(row.split, {}).setdefault(row.subject, []).append(record)
        subjects.setdefault(row.subject, []).append(record)
        splits.setdefault(row.split, []).append(record)
    cells = [[record.get(name) for name in columns] for record in records]
    if wrap == "lines":
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    if wrap == "pretty lines":
        return "\n".join(json.dumps(each, ensure_ascii=False, indent=1) for each in records)
    wrapped: dict[str, Any] = {
        "rows": records,
        "subject": subjects,
        "split": splits,
        "both": by,
        "data": {"data": records},
        "questions": {"version": "1.0", "questions": records},
        "columns": {name: [record.get(name) for record in records] for name in columns},
        "index": {str(place): record for place, record in enumerate(records)},
        "hub": {"rows": [{"row_idx": n, "row": each} for n, each in enumerate(records)]},
        "table": {"columns": columns, "data": cells},
        "matrix": cells,
        "texts": [next(iter(record.values()), "") for record in records],
    }
    return json.dumps(wrapped[wrap], ensure_ascii=False, indent=1)


@dataclass
class Release:
    """A release, the task that reads it, and the permitted results.

    Attributes:
        seed: The seed that it was made from.
        task: The task that is loaded.
        folder: The release's folder in the data folder.
        subjects: Stem → the subject's name.
        files: The files of rows.
        strays: Path → content of other files.
        asked: The options of `load_task`.
        declared: The benchmark's own benchmark.toml, for one from outside.
        lines: Changes to its text: (change, place, new text).
        in_folder: Whether its data is in the benchmark's folder.
        tells_script: Whether the task has a variant in Simplified script, so that a release in the
            other script is refused.
        is_harmless: Whether it is changed only in ways that leave it readable.
        skipped: How many rows of each subject are worked examples.
        unknown: Keys of the benchmark.toml that no benchmark has.
        mutations: Descriptions of its mutations.
    """

    seed: str
    task: str
    folder: str
    subjects: dict[str, str]
    files: list[File]
    strays: dict[str, bytes] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)
    declared: dict[str, Any] | None = None
    lines: list[tuple[str, float, str]] = field(default_factory=list)
    in_folder: bool = False
    tells_script: bool = False
    is_harmless: bool = False
    skipped: int = 0
    unknown: list[str] = field(default_factory=list)
    mutations: list[str] = field(default_factory=list)

    @property
    def is_free(self) -> bool:
        """Whether the names of its files are not declared."""
        declared = self.declared["tasks"][0] if self.declared else {}
        return (
            "files" not in declared
            and self.seed.startswith(("hkmmlu", "tmm", "outside"))
            and ("translation" not in self.seed)
        )

    def write(self, place: Path) -> Path:
        """Write it below an empty folder; return the release's own folder."""
        root = place / self.folder
        root.mkdir(parents=True, exist_ok=True)
        archives: dict[str, list[tuple[str, File, bytes]]] = {}
        for file in self.files:
            content = file.content()
            if file.pack.startswith("zip"):
                archive, member = _member(file)
                archives.setdefault(archive, []).append((member, file, content))
                continue
            path = root / (file.path + ".gz" * (file.pack == "gz"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_cut(content, file.cut_packed))
        for archive, members in archives.items():
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as opened:
                for member, _, content in members:
                    opened.writestr(member, content)
            path = root / archive
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_cut(packed.getvalue(), members[0][1].cut_packed))
        for name, content in self.strays.items():
            path = root / name
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        if self.declared is not None:
            (root if self.in_folder else place / "declared").mkdir(exist_ok=True)
            own = (root if self.in_folder else place / "declared") / "benchmark.toml"
            own.write_text(self._toml(), "utf-8")
        return root

    def _toml(self) -> str:
        text = to_toml(self.declared or {})
        for what, where, more in self.lines:
            lines = text.split("\n")
            at, place = int(where * len(lines)), int(where * len(text))
            match what:
                case "delete line":
                    del lines[at]
                case "repeat line":
                    lines.insert(at, lines[at])
                case "insert":
                    lines = [text[:place] + more + text[place:]]
                case "cut":
                    lines = [text[:place]]
            text = "\n".join(lines)
        return text

    @property
    def has_unknown_key(self) -> bool:
        """Whether its benchmark.toml still has one after all mutations."""
        text = to_toml(self.declared or {})
        return not self.lines and any(re.search(rf"\b{key} = ", text) for key in self.unknown)

    # ------------------------------------------------------------------ permitted results

    def sources(self, subject: str, split: str) -> list[list[tuple[Row, set[str], list[Content]]]]:
        """Return the sources that a subject's rows may be read from.

        Returns:
            For each source its rows, with the ids that each may have and its possible contents.
        """
        by_source: dict[int, list[File]] = {}
        for file in self.files:
            by_source.setdefault(file.source, []).append(file)
        own_moved = any(
            file.moved
            for file in self.files
            if file.trust == "own" and any(row.subject == subject for row in file.rows)
        )
        found = []
        for files in by_source.values():
            if files[0].trust == "model" or (files[0].trust == "neutral" and not own_moved):
                continue
            rows, first = [], 0
            for file in files:
                asked_simplified = self.asked.get("script") == "sc" and split == "test"
                converted = file.in_simplified or asked_simplified
                refused = (
                    file.in_simplified
                    and self.tells_script
                    and split == "test"
                    and not asked_simplified
                    and _differing(file) >= 3
                )
                for number, row in enumerate(file.rows, start=first + 1):
                    if (row.subject, row.split) == (subject, split):
                        ids = {str(number + shift) for shift in range(file.shift + 1)}
                        if "number" in row.cells:
                            ids.add(row.cells["number"])
                        may_be = row.contents(dropped=file.dropped, in_simplified=converted)
                        rows.append((row, ids, [] if refused else may_be))
                first += len(file.rows)
            if rows:
                found.append(rows)
        return found


def _member(file: File) -> tuple[str, str]:
    path = PurePosixPath(file.path)
    if file.pack == "zip all":
        return "data.zip", file.path
    return f"{path.with_suffix('')}.zip", path.name


def _cut(content: bytes, share: float | None) -> bytes:
    return content if share is None else content[: int(share * len(content))]


def _differing(file: File) -> int:
    texts = "".join(text for row in file.rows for text in row.cells.values())
    return sum(a != b for a, b in zip(texts, simplified(texts), strict=False))


def to_toml(declared: Mapping[str, Any]) -> str:
    """Write what a benchmark declares as TOML."""
    lines = [f"{key} = {_inline(v)}" for key, v in declared.items() if not _is_table(key, v)]
    for key, value in declared.items():
        if key == "tasks" and isinstance(value, list):
            for task in value:
                lines += ["", "[[tasks]]", *(f"{name} = {_inline(v)}" for name, v in task.items())]
        elif key == "prompts" and isinstance(value, dict):
            for name, prompt in value.items():
                lines += ["", f"[prompts.{name}]"]
                lines += [f"{name} = {_inline(v)}" for name, v in prompt.items()]
        elif _is_table(key, value):
            lines += ["", f"[{key}]", *(f"{name} = {_inline(v)}" for name, v in value.items())]
    return "\n".join(lines) + "\n"


def _is_table(key: str, value: object) -> bool:
    return isinstance(value, dict) or (key == "tasks" and isinstance(value, list))


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_inline(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_inline, value))}]"
    return json.dumps(value, ensure_ascii=False)
