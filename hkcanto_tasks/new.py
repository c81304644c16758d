"""Write a first benchmark.toml: what a file states is filled in, and the rest is asked.

A column is filled in only where its name is exactly one of `COLUMN_NAMES`. Every other question is
a line with `"?"`, which the catalogue refuses until somebody answers it.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .data.tables import ENDINGS, read_table
from .errors import DataNotFound, OptionError, on_disk
from .kinds import find_kind
from .printable import one_line

COLUMN_NAMES = {
    "question": ("question", "問題", "題目"),
    "answer": ("answer", "答案"),
    "number": ("number", "#"),
}
"""Role of a cell → the names of columns that are filled in for it, in upper or lower case; by
default the role's own name."""

_OPTIONAL = ("id", "category", "number", "explanation")
_LISTS = ("options", "choices")
_MOST_LABELS = 12

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
_RUBRIC = """
# The judge's prompt, and what its levels mean.
[tasks.rubric]
prompt = "?"  # with {prompt}, {answer}, {levels}, and a last line in the form "Level: 2"
levels = [
  { number = 0, name = "?", meaning = "?" },
  { number = 1, name = "?", meaning = "?" },
]
passes = [1]
higher_is_better = true
"""


def draft(
    name: str, kind: str, source: Path | None, into: Path, *, force: bool = False
) -> tuple[list[str], list[str]]:
    """Write the folder of a new benchmark with one task.

    Args:
        name: The name of the benchmark and its task.
        kind: The kind of task.
        source: A file of rows, which is copied into the folder; None for a template without one.
        into: The folder to make it in.
        force: Replace a `benchmark.toml` that is there.

    Returns:
        The columns of the file, in lower case, and the open questions, in the file's order.

    Raises:
        CatalogueError: The kind is unknown.
        OptionError: The folder has a `benchmark.toml` already.
        DataNotFound: The file cannot be read or copied.
        DataCorrupt: The file is not a table.
    """
    roles, folder = [*find_kind(kind).COLUMNS], into / name
    file = folder / "benchmark.toml"
    if file.exists() and not force:
        raise OptionError(f"{file} exists. Name another benchmark, or replace it with --force.")
    values: dict[str, list[str]] = {}
    if source is not None:
        if not source.name.lower().endswith(ENDINGS):
            why = f"{source} has none of the endings {', '.join(ENDINGS)}"
            raise DataNotFound(
                f"{why}. Make the template without --from, and write a reader in it."
            )
        for row in read_table(source).rows:
            for column, cell in row.cells.items():
                listed = values.setdefault(column, [])
                if len(listed) <= _MOST_LABELS and str(cell) not in listed:
                    listed.append(str(cell))
    text = _TEMPLATE.format(
        name=name,
        title=name.replace("_", " ").capitalize(),
        columns=f"# Columns of {source.name}: {one_line(', '.join(values))}.\n" if source else "",
        question=_PROMPTS.get(kind, "{prompt}"),
        kind=kind,
        lines="\n".join(_task_lines(kind, roles, values, source.name if source else "?")),
        rubric=_RUBRIC if kind == "judged" else "",
    )
    with on_disk(folder, done="written", remedy="Choose another folder with --into."):
        (folder / "data").mkdir(parents=True, exist_ok=True)
        copy = folder / "data" / source.name if source else folder
        if source and source.resolve() != copy.resolve():
            shutil.copyfile(source, copy)
        file.write_text(text, "utf-8")
    lines = map(str.strip, text.splitlines())
    return [*values], [line for line in lines if '"?"' in line and not line.startswith("#")]


_TEMPLATE = """\
# Every "?" is an open question: the benchmark loads when they are answered.
# docs/benchmark_toml.md has all keys.
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
{rubric}"""


def _task_lines(
    kind: str, roles: Sequence[str], values: Mapping[str, Sequence[str]], file: str
) -> Iterator[str]:
    """Yield the lines of the task's entry that depend on its kind and its file."""
    yield f"files = {{ test = {json.dumps(file, ensure_ascii=False)} }}"
    declared: dict[str, str] = {}
    for role in roles:
        names = [name for name in COLUMN_NAMES.get(role, (role,)) if name in values]
        if len(names) != 1 and role not in (*_OPTIONAL, "options"):
            declared[role] = "?"
        elif len(names) == 1 and names != [role]:
            declared[role] = names[0]
    if "options" in roles:
        letters = "".join(letter for letter in "abcdefghij" if letter in values)
        listed = [name for name in _LISTS if name in values]
        if len(letters) < 2 or not "abcdefghij".startswith(letters):
            declared["options"] = listed[0] if len(listed) == 1 and not letters else "?"
        elif len(letters) != 4:
            yield f'letters = "{letters.upper()}"'
    if declared:
        entries = ", ".join(f'{role} = "{name}"' for role, name in declared.items())
        yield f"columns = {{ {entries} }}"
    if "options" in roles:
        yield "# How does an answer name its option? letter, index (from 0), number (from 1), text"
        yield 'answer = "?"'
    if kind == "label":
        labels = values.get("label", [])
        if 0 < len(labels) <= _MOST_LABELS:
            yield f"# The values of label: {one_line(', '.join(labels))}."
        yield "# Each label, its value in the data, and other words that a model may write for it."
        yield 'labels = { "?" = { data = "?", words = [] } }'
    if kind == "translation":
        yield 'language = "?"  # of the target: en, zh or yue'
