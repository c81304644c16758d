"""The command `hkcanto new`: what a file states is filled in, and the rest is asked.

A column needs no declaration if it has the name that the kind looks for. Every other question is a
line with `"?"`, which the catalogue refuses until somebody answers it.
"""

import json
import os
import shlex
import shutil
from pathlib import Path
from typing import Annotated

from rich.text import Text

from ..data.tables import read_table
from ..errors import OptionError, on_disk
from ..printable import one_line
from .console import print_line, print_row
from .output import argument, option

_OPTIONAL = (
    "id",
    "category",
    "number",
    "explanation",
    "options",
)  # the last is asked apart

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
_OPTIONS = """
answer = "?"  # the letter, index (from 0), number (from 1) or text of the option"""
_LINES = {
    "label": """
# Each label, its value in the data, and other words that a model may write for it.
labels = { "?" = { data = "?", words = [] } }""",
    "judged": '\nrubric = "?"  # a table with prompt, levels, passes and higher_is_better',
    "translation": '\nlanguage = "?"  # of the target: en, zh or yue',
}
"""Kind → the further lines of a task's entry."""

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
"""

_KIND = option("The kind of task, such as multiple_choice.", "--kind", metavar="KIND")
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

    roles, folder = find_kind(kind).COLUMNS, into / name
    file = folder / "benchmark.toml"
    if file.exists() and not force:
        raise OptionError(
            f"{file} exists. Name another benchmark, or replace it with --force."
        )
    rows = read_table(source).rows if source else ()
    columns = list(dict.fromkeys(column for row in rows for column in row.cells))
    file_name = json.dumps(source.name if source else "?", ensure_ascii=False)
    lines = f"files = {{ test = {file_name} }}"
    absent = [role for role, names in roles.items() if not {*names} & {*columns}]
    asked = [role for role in absent if role not in _OPTIONAL]
    if "options" in roles:
        letters = "".join(letter for letter in roles["options"] if letter in columns)
        if len(letters) < 2 or not "abcdefghij".startswith(letters):
            asked.append("options")
        elif len(letters) != 4:
            lines += f'\nletters = "{letters.upper()}"'
    if asked:
        entries = ", ".join(f'{role} = "?"' for role in asked)
        lines += f"\ncolumns = {{ {entries} }}"
    text = _TEMPLATE.format(
        name=name,
        title=name.replace("_", " ").capitalize(),
        columns=f"# Columns of {source.name}: {one_line(', '.join(columns))}.\n"
        if source
        else "",
        question=_PROMPTS.get(kind, "{prompt}"),
        kind=kind,
        lines=lines + (_OPTIONS if "options" in roles else _LINES.get(kind, "")),
    )
    with on_disk(folder, done="written", remedy="Choose another folder with --into."):
        (folder / "data").mkdir(parents=True, exist_ok=True)
        if source and source.resolve() != (folder / "data" / source.name).resolve():
            shutil.copyfile(source, folder / "data" / source.name)
        file.write_text(text, "utf-8")
    print_line(Text(f"Written: {file}", style="bold"))
    entered = (line.strip() for line in text.splitlines() if not line.startswith("#"))
    questions = [line for line in entered if '"?"' in line]
    for question in questions:
        print_row(Text("? ", style="yellow"), question)
    print_line()
    print_line(Text("Answer these, then type" if questions else "Next", style="bold"))
    others = (
        f"{os.pathsep}$HKCANTO_BENCHMARKS"
        if os.environ.get("HKCANTO_BENCHMARKS")
        else ""
    )
    print_line(
        f"export HKCANTO_BENCHMARKS={shlex.quote(str(folder.resolve()))}{others}"
    )
    print_line(f"hkcanto show {name}")
    print_line(f"lm_eval --model dummy --tasks {name} --limit 3")
    print_line(
        f"inspect eval hkcanto/run -T task={name} --model mockllm/model --limit 3"
    )
