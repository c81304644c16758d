"""The command `hkcanto new`, which declares a benchmark from a file with its rows.

A column needs no declaration if it has the name that the kind looks for. Every other question is a
line with `"?"`, which the catalogue refuses until somebody answers it.
"""

import json
import os
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from ..errors import DOCS, OptionError, on_disk
from ..printable import one_line
from .console import print_line, print_row
from .output import argument, option

if TYPE_CHECKING:
    from ..data.tables import Row

_SHOWN = 8  # keys of an object
_MEDIA = (
    "The column {} holds an image, sound or bytes, which no prompt shows: the benchmark loads if it is "
    "in `ignored`"
)
_LETTERS = "abcdefghij"
_DEFAULT_LETTERS = "abcd"

_PROMPTS = {
    "multiple_choice": "{question}\\n{options}\\n答案：",
    "multi_answer": "{all_that_apply}\\n{question}\\n{options}\\n答案：",
    "number": "{question}\\n請逐步計算，喺最後一行寫「答案：」同埋個數字。\\n",
    "math": "{question}\\n請逐步計算，喺最後寫 \\\\boxed{…}。\\n",
    "short_answer": "{question}\\n答案：",
    "label": "{source}\\n答案：",
    "translation": "將以下句子翻譯做英文，淨係寫譯文。\\n{source}\\n",
    "translation_to_cantonese": "將以下句子翻譯做廣東話，淨係寫譯文。\\n{source}\\n",
    "g2p": "寫低呢句嘅粵拼：\\n{sentence}\\n",
    "summarization": "用廣東話概括以下文本：\\n{source}\\n",
    "fluency": "{source}",
}
_ANSWER_LINE = (
    'answer = "?"  # the letter, index (from 0), number (from 1), text or label of the option; or '
    "flags"
)
_FURTHER_LINES = {
    "label": """\
# Each label, its value in the data, and other words that a model may write for it.
labels = { "?" = { data = "?", words = [] } }""",
    "judged": 'rubric = "?"  # a table with prompt, levels, passes and higher_is_better',
    "translation": 'language = "?"  # of the target: en, zh or yue',
}
"""Kind → the further lines of a task's entry."""

_TEMPLATE = """\
# Every "?" is an open question: the benchmark loads when they are answered.
# {docs}/reference/benchmark_toml.md has all keys.
{columns}
name = "{name}"
title = "{title}"

[data]
path = "data"

[prompts.plain]
question = "{question}"

[[tasks]]
name = "{name}"
title = "{title}"
kind = "{kind}"
{lines}
# Several subjects: {{stem}} in files, or columns.subject, and
# subjects = [{{ name = "law", title = "Law", chinese = "法律" }}]
"""

_KIND = option(
    "The kind of task, such as multiple_choice; --kind --help names all.",
    "--kind",
    metavar="KIND",
)
_FROM = option("A file with the rows, which is copied.", "--from", metavar="FILE")
_INTO = option("Make the benchmark's folder in this one.", "--into", metavar="FOLDER")


def new(
    name: Annotated[
        str, argument("The benchmark's name: a to z, digits and _.", "NAME")
    ],
    kind: Annotated[str, _KIND],
    source: Annotated[Path | None, _FROM] = None,
    into: Annotated[Path, _INTO] = Path(),
    force: Annotated[
        bool, option("Replace a benchmark.toml that is there.", "--force")
    ] = False,
) -> None:
    """Write a commented benchmark.toml, with "?" for everything that the file does not state."""
    from ..kinds import find_kind

    kind_class = find_kind(kind)
    roles = kind_class.COLUMNS
    folder = into / name
    file = folder / "benchmark.toml"
    if file.exists() and not force:
        raise OptionError(
            f"{file} exists. Name another benchmark, or replace it with --force."
        )
    content = _Content()
    if source:
        names = {*chain.from_iterable(roles.values())}
        content = _content(source, names)
    needed = {role: roles[role] for role in roles if role not in kind_class.OPTIONAL}
    file_name = source.name if source else "?"
    lines = _task_lines(
        kind,
        needed,
        content.columns,
        file_name,
    )
    text = _TEMPLATE.format(
        docs=DOCS,
        name=name,
        title=name.replace("_", " ").capitalize(),
        columns=_columns_comment(source, content),
        question=_PROMPTS.get(kind, "{prompt}"),
        kind=kind,
        lines="\n".join([*lines, *content.questions]),
    )
    _write(file, text, source)
    for remark in content.remarks:
        print_row(Text("! ", style="yellow"), remark)
    _print_open_questions(text)
    _print_next_commands(name, folder)


# ---------------------------------------------------------------------- benchmark.toml


@dataclass(frozen=True)
class _Content:
    """The content of a file, as far as it is certain.

    Attributes:
        columns: The names of its columns.
        paths: The names, with the paths into nested cells.
        questions: Lines for what the file does not state of its own form.
        remarks: What an author should know.
    """

    columns: Sequence[str] = ()
    paths: Sequence[str] = ()
    questions: Sequence[str] = ()
    remarks: list[str] = field(default_factory=list)


def _content(source: Path, names: set[str]) -> _Content:
    """Read a file.

    Args:
        source: The file.
        names: The names of columns that the kind knows, by which a header row is recognised.
    """
    from msgspec.structs import replace

    from ..data.tables import PLAIN, keys_above_rows, read_table

    keys = keys_above_rows(source)
    if keys:
        known = one_line(", ".join(keys[:_SHOWN]))
        question = f'rows = "?"  # the path to the rows; "*" if each entry is one. Keys: {known}'
        return _Content(questions=[question])
    is_csv = source.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))
    form = replace(PLAIN, header=False) if is_csv else PLAIN
    table = read_table(source, form=form)
    content = _csv_content(table.rows, names) if is_csv else _json_content(table.rows)
    if table.bad:
        bad = f"{len(table.bad)} rows cannot be read, the first: {table.bad[0]}"
        content.remarks.insert(0, bad)
    return content


def _json_content(rows: Sequence["Row"]) -> _Content:
    """Return the content of a JSON or Parquet file with these rows."""
    columns: dict[str, None] = {}
    for row in rows:
        for name, cell in row.cells.items():
            # A role is open if its column only has objects, or nothing.
            if cell is not None and not isinstance(cell, Mapping):
                columns[name] = None
    paths = dict.fromkeys(path for row in rows for path in _paths("", row.cells))
    return _Content([*columns], [*paths], remarks=[*_remarks(rows)])


def _csv_content(rows: Sequence["Row"], names: set[str]) -> _Content:
    """Return the content of a CSV file with these rows, the first of which may be a header."""
    from ..data.checks import media_columns

    cells = rows[0].cells if rows else {}
    first = [str(cell).strip() for cell in cells.values()]
    columns = [cell.lower() for cell in first]
    remarks = []
    # A picture's name may be in any column, whatever that is called.
    for number in media_columns(rows, [*cells]):
        column = columns[int(number) - 1]
        remarks.append(_MEDIA.format(column or number))
    return _Content(
        columns,
        first,
        [*_csv_questions(columns, names)],
        remarks,
    )


def _csv_questions(columns: Sequence[str], names: set[str]) -> Iterator[str]:
    """Yield the lines for the delimiter and header row of a CSV file that are not certain."""
    if len(columns) == 1 and any(sign in columns[0] for sign in ";\t|"):
        yield 'delimiter = "?"  # each row is one cell'
    # A single letter may be the answer in a row without a header.
    known = [column for column in columns if column in names]
    if max(map(len, known), default=0) < 2 and len(known) < 3:
        yield (
            'header = "?"  # true if the first row has the names of the columns; false if it is an '
            "item, and columns are called 1, 2, …"
        )


def _paths(name: str, cell: object) -> Iterator[str]:
    """Yield the paths to what a cell of this name holds; without a name, those of a row."""
    record = cell[0] if isinstance(cell, list) and cell else cell
    if isinstance(record, Mapping):
        for key, entry in islice(record.items(), _SHOWN if name else None):
            yield from _paths(f"{name}.{key}" if name else key, entry)
    else:
        yield f"{name} (a list)" if isinstance(cell, list) else name


def _remarks(rows: Sequence["Row"]) -> Iterator[str]:
    """Yield what may be overlooked in the rows of a JSON or Parquet file."""
    from ..data.checks import media_columns

    counts = Counter(name for row in rows for name in row.cells)
    for name in media_columns(rows, counts):
        yield _MEDIA.format(name)
    for name, count in counts.items():
        if count < len(rows):
            yield f"Only {count} of {len(rows)} rows have the column {one_line(name)}"


def _columns_comment(source: Path | None, content: _Content) -> str:
    if source is None or not content.paths:
        return ""
    return f"# Columns of {source.name}: {one_line(', '.join(content.paths))}.\n"


def _task_lines(
    kind: str,
    roles: Mapping[str, Sequence[str]],
    columns: Sequence[str],
    file_name: str,
) -> list[str]:
    """Return the lines of a task's entry that depend on the kind and the file.

    Args:
        kind: The name of the kind.
        roles: Role of a needed cell → the names of its column, which need no declaration.
        columns: The columns of the file.
        file_name: The name of the file.
    """
    lines = [f"files = {{ test = {json.dumps(file_name, ensure_ascii=False)} }}"]
    has_options = "options" in roles
    open_roles = _missing_roles(roles, columns)
    if has_options:
        letters = "".join(letter for letter in roles["options"] if letter in columns)
        if len(letters) < 2 or not _LETTERS.startswith(letters):
            open_roles.append("options")
        elif letters != _DEFAULT_LETTERS:
            lines.append(f'letters = "{letters.upper()}"')
    if open_roles:
        entries = ", ".join(f'{role} = "?"' for role in open_roles)
        lines.append(f"columns = {{ {entries} }}")
    if has_options:
        lines.append(_ANSWER_LINE)
    elif kind in _FURTHER_LINES:
        lines.append(_FURTHER_LINES[kind])
    return lines


def _missing_roles(
    roles: Mapping[str, Sequence[str]], columns: Sequence[str]
) -> list[str]:
    """Return the roles that a kind needs and that no column has by its name."""
    return [
        role
        for role, names in roles.items()
        if role != "options" and {*names}.isdisjoint(columns)
    ]


def _write(
    file: Path,
    text: str,
    source: Path | None,
) -> None:
    """Write a benchmark.toml, and copy the rows beside it."""
    folder = file.parent
    with on_disk(folder, done="written", remedy="Choose another folder with --into."):
        data = folder / "data"
        data.mkdir(parents=True, exist_ok=True)
        if source and source.resolve() != (data / source.name).resolve():
            shutil.copyfile(source, data / source.name)
        file.write_text(text, "utf-8")
    print_line(Text(f"Written: {file}", style="bold"))


# ---------------------------------------------------------------------- what to do next


def _print_open_questions(text: str) -> None:
    questions = []
    for line in text.splitlines():
        if '"?"' in line and not line.startswith("#"):
            questions.append(line.strip())
    for question in questions:
        print_row(Text("? ", style="yellow"), question)
    print_line()
    print_line(Text("Answer these, then type" if questions else "Next", style="bold"))


def _print_next_commands(name: str, folder: Path) -> None:
    path = shlex.quote(str(folder.resolve()))
    if os.environ.get("HKCANTO_BENCHMARKS"):
        path += f"{os.pathsep}$HKCANTO_BENCHMARKS"
    print_line(f"export HKCANTO_BENCHMARKS={path}")
    print_line(f"hkcanto show {name}")
    print_line(f"lm_eval --model dummy --tasks {name} --limit 3")
    print_line(
        f"inspect eval hkcanto/run -T task={name} --model mockllm/model --limit 3"
    )
