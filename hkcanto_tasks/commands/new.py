"""The command `hkcanto new`: what a file states is filled in, and the rest is asked.

A column is filled in only where its name is exactly one of `COLUMN_NAMES`. Every other question is
a line with `"?"`, which the catalogue refuses until somebody answers it.
"""

import json
import os
import shlex
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from rich.text import Text

from ..console import print_line, print_row
from ..data.tables import read_table
from ..errors import OptionError, on_disk
from ..printable import one_line
from .output import argument, option

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

_KIND = option("The kind of task, such as multiple_choice.", "--kind", metavar="KIND")
_FROM = option("A file with the rows, which is copied.", "--from", metavar="FILE")
_INTO = option("Make the benchmark's folder in this one.", "--into", metavar="FOLDER")


def new(
    name: Annotated[str, argument("The benchmark's name: a to z, digits and _.", "NAME")],
    kind: Annotated[str, _KIND],
    source: Annotated[Path | None, _FROM] = None,
    into: Annotated[Path, _INTO] = Path(),
    force: Annotated[bool, option("Replace a benchmark.toml that is there.", "--force")] = False,
) -> None:
    """Write a commented benchmark.toml, with "?" for everything that the file does not state."""
    from ..kinds import find_kind

    roles, folder = [*find_kind(kind).COLUMNS], into / name
    file = folder / "benchmark.toml"
    if file.exists() and not force:
        raise OptionError(f"{file} exists. Name another benchmark, or replace it with --force.")
    values: dict[str, dict[str, None]] = {}  # column → its values, in their order
    for row in read_table(source).rows if source else ():
        for column, cell in row.cells.items():
            values.setdefault(column, {})[str(cell)] = None
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
        if source and source.resolve() != (folder / "data" / source.name).resolve():
            shutil.copyfile(source, folder / "data" / source.name)
        file.write_text(text, "utf-8")
    print_line(Text(f"Written: {file}", style="bold"))
    if values:
        print_line(f"The file's columns: {', '.join(values)}")
    lines = map(str.strip, text.splitlines())
    questions = [line for line in lines if '"?"' in line and not line.startswith("#")]
    for question in questions:
        print_row(Text("? ", style="yellow"), question)
    print_line()
    print_line(Text("Answer these, then type" if questions else "Next", style="bold"))
    there = os.environ.get("HKCANTO_BENCHMARKS", "")
    known = {Path(place).expanduser().resolve() for place in there.split(os.pathsep) if place}
    if known.isdisjoint((folder.resolve(), folder.resolve().parent)):
        more = f"{os.pathsep}$HKCANTO_BENCHMARKS" if there else ""
        print_line(f"export HKCANTO_BENCHMARKS={shlex.quote(str(folder.resolve()))}{more}")
    print_line(f"hkcanto show {name}")
    print_line(f"lm_eval --model dummy --tasks {name} --limit 3")
    print_line(f"inspect eval hkcanto/run -T task={name} --model mockllm/model --limit 3")


def _task_lines(
    kind: str, roles: Sequence[str], values: Mapping[str, Collection[str]], file: str
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
        labels = values.get("label", ())
        if 0 < len(labels) <= _MOST_LABELS:
            yield f"# The values of label: {one_line(', '.join(labels))}."
        yield "# Each label, its value in the data, and other words that a model may write for it."
        yield 'labels = { "?" = { data = "?", words = [] } }'
    if kind == "translation":
        yield 'language = "?"  # of the target: en, zh or yue'
