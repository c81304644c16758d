"""Generate the pages in `docs/tasks`, three other pages, and the tables in two more.

    python docs/generate.py [BENCHMARK …]

A test fails when they are stale.
"""

import dataclasses
import inspect
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from itertools import chain
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from hkcanto_metrics import constraints, rewards
from hkcanto_metrics.error_spans import ERROR_CATEGORIES
from hkcanto_tasks.catalogue import BENCHMARKS, benchmarks, find_benchmark, in_words
from hkcanto_tasks.data.releases import FolderData, GitHubRelease, HubDataset
from hkcanto_tasks.declarations import (
    Average,
    Benchmark,
    DeclaredLabel,
    Level,
    PromptTemplate,
    Rubric,
    Subject,
    TaskDefinition,
    TaskVariant,
    Variant,
)
from hkcanto_tasks.describing import (
    UNITS,
    WAYS,
    Description,
    attributes,
    describe,
    plain,
    published_items,
)
from hkcanto_tasks.figures import Figure, with_reasoning
from hkcanto_tasks.kinds import find_kind
from hkcanto_tasks.kinds.base import REASONING_TOKENS, Kind
from hkcanto_tasks.results.published import PublishedColumn, PublishedTable
from hkcanto_tasks.results.reports.frames import JUDGED
from hkcanto_tasks.tasks import task_as_run


def main(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write the pages of benchmarks and, inside `docs`, the other generated pages and tables.

    Args:
        folder: The folder for the benchmarks' pages, such as `docs/tasks`.
        names: The benchmarks' names; empty for all of ours.

    Returns:
        The files written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = {
        folder / f"{benchmark.name}.md": page(benchmark)
        for benchmark in ([find_benchmark(name) for name in names] or _ours())
    }
    guide = folder.parent / "adding_a_benchmark.md"
    if guide.is_file():
        made[folder.parent / "benchmark_toml.md"] = toml_page()
        made[folder.parent / "figures.md"] = figures_page()
        made[folder.parent / "constraints.md"] = constraints_page()
        guide = folder.parent / "rewards.md"
        made[guide] = with_games(guide.read_text(encoding="utf-8"))
        guide = PROMPTS.parents[1] / "README.md"
        made[guide] = with_prompts(guide.read_text(encoding="utf-8"))
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    return list(made)


def _ours() -> list[Benchmark]:
    return [each for each in benchmarks() if Path(each.home).parent == BENCHMARKS]


_MADE = "<!-- Made by `python docs/generate.py` from the catalogue; do not edit. -->"


_INTRODUCTION = (
    "In a *generative* task, the model writes a response, and the answer is read from it. In a "
    "*log-likelihood* task, the answer is the letter to which the model gives the highest "
    "likelihood. A *stop text* ends a response. lm-eval sends the stop texts with a request, and "
    "Inspect does not. Both harnesses cut the response at the same place before they score it. "
    f"With `reasoning=true`, the token limit is {REASONING_TOKENS:,}, and there are no stop texts.",
    "Each prompt is shown for one item, as a single text. The items of the *sample data* are "
    "our own, not the release's. In the [signatures](../results.md#signatures), `…` stands for "
    "values that differ between runs: the revision of the data, two hashes (of what is sent, and "
    "of how answers are read) and the package's version. Reports of generative tasks also have "
    "the [figures of reasoning](../reasoning.md).",
)


def page(benchmark: Benchmark) -> str:
    """Return a benchmark's page with all its tasks, in Markdown; the same on every machine.

    Examples:
        >>> page(find_benchmark("hkcanto_fluency")).splitlines()[2]
        '# Cantonese fluency'
    """
    described = [describe(task.name) for task in benchmark.tasks]
    blocks = [
        _MADE,
        f"# {benchmark.title}",
        " ".join(f"{text.rstrip('.')}." for text in (benchmark.paper, benchmark.terms) if text),
        *_INTRODUCTION,
        _rows(
            ("task", "title", "items", "shots", "headline"),
            (
                (
                    f"[`{each.task.name}`](#{each.task.name})",
                    each.title,
                    _items(each),
                    str(each.setup.shots),
                    f"`{each.figures[0].name}`",
                )
                for each in described
            ),
        ),
        *(block for description in described for block in _section(description)),
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _items(of: Description) -> str:
    """Return how many items are published, and how many of them run by default."""
    size = int(getattr(of.setup.options, "size", 0))
    published = published_items(of.task)
    run = f" ({size:,} by default)" if 0 < size < published else ""
    return f"{published:,}{run}" if published else ""


def _section(of: Description) -> Iterator[str]:
    yield f"## {of.task.name}"
    of_paper = "In the paper: " * bool(of.task.benchmark.paper)
    where = of.task.definition.specified and f"{of_paper}{of.task.definition.specified}"
    yield ". ".join(filter(None, (of.title, where))).rstrip(".") + "."
    yield _facts(of)
    yield _figures(of)
    if len(of.task.subjects) > 1:
        listed = ", ".join(
            f"`{subject.name}` {subject.chinese or subject.title}"
            + (f" ({rows:,})" if (rows := of.task.scored_rows(subject)) else "")
            for subject in of.task.subjects
        )
        each = (
            f"Each is also a task, `{of.task.name}_<subject>` (in brackets, its number of items):"
        )
        yield _folded(f"{len(of.task.subjects)} subjects", f"{each} {listed}.")
    yield _folded(
        f"Options: {', '.join(f'<code>{name}</code>' for name, *_ in of.options)}",
        _rows(
            ("option", "values", "default", "what it does"),
            ((f"`{name}`", *rest) for name, *rest in of.options),
        ),
    )
    yield _prompt(of)
    for name in of.facts.get("variants", "").split():
        other = describe(name)
        yield f"### {name}"
        yield _facts(other)
        yield _prompt(other, shown=of.prompt)


def _facts(of: Description) -> str:
    facts = [
        *(
            f"{harness}: `{command}`" if command else f"{harness}: {of.facts[harness]}"
            for harness, command in of.commands.items()
        ),
        f"generative: {_limits(of.setup)}" if of.setup.is_generative else "log-likelihood",
    ]
    if of.task.definition.printed:
        facts.append(f"lm-eval's table repeats the headline as `{of.task.definition.printed}`")
    return "\n".join(f"* {fact}" for fact in facts)


def _limits(of: Kind) -> str:
    """Return the token limit and the stop texts that are sent."""

    def texts(chat: bool) -> str:
        sent = of.sent_stop(chat=chat)
        return " or ".join(f"`{json.dumps(text, ensure_ascii=False)}`" for text in sent) or "none"

    written, in_chat = texts(False), texts(True)
    other = f"; with a chat template {in_chat} instead" * (in_chat != written)
    return f"at most {of.max_tokens:,} tokens; stop texts: {written}{other}"


def _figures(of: Description) -> str:
    """Return the table of a task's figures, without those of reasoning, which all tasks have."""
    own = [figure for figure in of.setup.figures if "reasoning" not in figure.name]
    in_table = {figure.name for figure in of.setup.table}
    table = _rows(
        ("figure", "values", "what it is"),
        (
            (
                f"`{figure.name}`" + " (headline)" * (figure is own[0]),
                f"{WAYS[figure.higher_is_better]} {UNITS[figure.unit]}",
                f"{figure.title}. {figure.help}"
                + " In reports only." * (figure.name not in in_table),
            )
            for figure in own
            if not figure.part
        ),
    )
    parts = ", ".join(f"`{figure.name}` ({figure.title})" for figure in own if figure.part)
    return f"{table}\n\nAccuracy on a part of the items: {parts}." if parts else table


def _prompt(of: Description, shown: str = "") -> str:
    """Return the prompt, unless it is the one already shown, and the signature, folded."""
    signature = re.sub(r"\b(sent|read|pkg):[^|]+", r"\1:…", of.facts["signature"])
    signature = f"Signature: `{signature}`"
    if not of.prompt:
        return f"{of.origin}\n\n{_folded('Signature', signature)}"
    if of.prompt == shown:
        return _folded("Signature", signature)
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in re.findall("`+", of.prompt)), 3)
    text = f"{of.origin[0].upper()}{of.origin[1:]}:\n\n{fence}text\n{of.prompt}\n{fence}"
    return _folded("Prompt and signature", text, signature)


def _folded(summary: str, *blocks: str) -> str:
    """Fold blocks under a summary line, for both GitHub and MkDocs."""
    inside = "\n\n".join(blocks)
    return f'<details markdown="1">\n<summary>{summary}</summary>\n\n{inside}\n\n</details>'


def _rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    made = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cells = (cell.replace("|", r"\|") for cell in row)
        made.append(f"| {' | '.join(cells)} |")
    return "\n".join(made)


# ---------------------------------------------------------------------- figures


_SECTIONS = {
    "Accuracy": ("multiple_choice", "multi_answer", "label", "number", "math"),
    "Short answers": ("short_answer",),
    "Jyutping": ("g2p",),
    "Translations, summaries, fluency": (
        "translation_to_cantonese",
        "translation",
        "summarization",
        "fluency",
    ),
    "Instruction following": ("constraints",),
    "By a rubric": ("judged",),
}
_EVERY_TASK = "Reasoning, for every task"


def figures_page() -> str:
    """Return the page that lists every figure once, in Markdown.

    Examples:
        >>> "| `unparsed_rate` | ↓ 0 to 1 | Unparsed. Share " in figures_page()
        True
    """
    sections = {title: _figures_of(kinds) for title, kinds in _SECTIONS.items()}
    homes = Counter(name for figures in sections.values() for name in figures)
    everywhere = {name for name, count in homes.items() if count == len(sections)}
    first = next(iter(sections.values()))
    sections[_EVERY_TASK] = {name: first[name] for name in first if name in everywhere}
    blocks = [
        _MADE,
        "# Every figure",
        "A figure has the same name in both harnesses, in logs and in reports. `hkcanto show TASK` "
        "lists the figures of a task; [Read the result](results.md) explains how to read them.\n\n"
        "* ↑: higher is better; ↓: lower is better; –: neither.\n"
        "* *A headline*: the figure to read first, for at least one of our tasks.\n"
        "* *In reports only*: the harnesses' own tables do not show the figure.\n"
        "* *Pooled over items*: numerators and denominators are summed over all items and then "
        "divided, so longer items count more.",
    ]
    for title, figures in sections.items():
        if title != _EVERY_TASK:
            figures = {name: of for name, of in figures.items() if name not in everywhere}
        blocks += [
            f"## {title}",
            _rows(
                ("figure", "values", "what it is"),
                (
                    (
                        f"`{name}`",
                        f"{WAYS[each.higher_is_better]} {UNITS[each.unit]}",
                        f"{each.title}. {help_}",
                    )
                    for name, (each, help_) in figures.items()
                    if not each.part
                ),
            ),
        ]
        if parts := [f"`{name}` ({of.title})" for name, (of, _) in figures.items() if of.part]:
            blocks.append(f"Accuracy on some of the items: {', '.join(parts)}.")
    averages = [of for benchmark in _ours() for of in benchmark.averages]
    blocks += [
        "## Averages over tasks",
        "Each average is a mean of several tasks' headlines. lm-eval shows averages for its "
        "groups; in Inspect, `hkcanto/hkcanto` shows those of Table 1. Tasks joined by + are one "
        "column of the paper's table: their items are pooled, and every item counts once.",
        _rows(
            ("figure", "title", "mean of"),
            ((f"`{of.name}`", of.title, ", ".join(map(_column, of.columns))) for of in averages),
        ),
        "## Scores by a judge",
        "For translations and summaries, Inspect computes these figures with `-T judge=true`, and "
        "reports show them. See "
        "[Judged scores](results.md#judged-scores).",
        _rows(
            ("figure", "title", "what it is"),
            (
                (f"`{name}`", figure.title, figure.help)
                for name, figure in JUDGED.items()
                if name not in ERROR_CATEGORIES
            ),
        ),
        f"Reports also show the errors per judgement, by category: {', '.join(ERROR_CATEGORIES)}.",
    ]
    return "\n\n".join(blocks) + "\n"


def _figures_of(kinds: Sequence[str]) -> dict[str, tuple[Figure, str]]:
    """Return name → figure and its help, for kinds of task and for our tasks of those kinds."""
    tasks = [task for benchmark in _ours() for task in benchmark.tasks if task.kind in kinds]
    setups = [task_as_run(task.name) for task in tasks]
    shown = {figure.name for each in setups for figure in each.table}
    headlines = {each.headline.name for each in setups}
    without = {*kinds} - {task.kind for task in tasks}
    for declared in (find_kind(kind).FIGURES for kind in without):
        shown |= {figure.name for figure in declared if not figure.diagnostic}
        headlines.add(declared[0].name)
    every = [figure for kind in kinds for figure in find_kind(kind).FIGURES]
    every += [figure for each in setups for figure in each.figures]
    every += with_reasoning(())
    return {
        figure.name: (
            figure,
            figure.help
            + " Pooled over items." * (figure.form == "rate")
            + " A headline." * (figure.name in headlines)
            + " In reports only." * (figure.name not in shown),
        )
        for figure in every
    }


def _column(tasks: Sequence[str]) -> str:
    return " + ".join(f"`{task}`" for task in tasks)


# ---------------------------------------------------------------------- constraints


_CONSTRAINTS = """# Constraints that a program can check

A *verifier* is a check that a program can make of an answer. A *constraint* is a verifier's name
with arguments, such as `{"name": "occurrences", "args": {"word": "奶茶", "exactly": 1}}`. An
unknown name or argument, a wrong type, or bounds that no answer can meet are errors. Other pages
show how to

* [check a response](metrics.md#instructions);
* [train on constraints](rewards.md);
* [evaluate on your own prompts](examples/constraints/README.md);
* look up [what each verifier counts and does not count](reference.md#constraints).

Files in IFEval's form load as they are: its columns `instruction_id_list` and `kwargs` take the
place of `constraints`, in a benchmark, in `constraint_reward` and in `read_ifeval`. All its 25
instructions are known; an unknown one is an error.

There are two types of verifiers. A *condition* holds or does not. A *count* needs a bound:
`exactly`, `about` (10 % more or less), `at_least`, `at_most`, or both of the last two. With a
count *from 1*, an answer that has none never follows the constraint: an answer without a list fails
"a list of at most three".

Reasoning and outer white space are removed before an answer is checked. An empty answer follows
nothing. *Strict* figures check the answer as it is. *Loose* figures, as in
[IFEval](https://arxiv.org/abs/2311.07911) (section 2.2), also accept an answer if one of its seven
variants follows the constraint. A variant lacks the first line, the last line, every `*`, or
several of these. Loose figures are upper bounds, because the line that a variant lacks may be the
one that breaks a rule.

## Definitions

* **Text**: before any check, letters and digits in full width, mathematical type or superscript
  become plain ones (NFKC), radicals become characters, and characters that nobody sees, such as
  zero-width spaces, are removed. Punctuation, emoji and numbers in circles stay as they are. In
  words, Cyrillic and Greek letters that look like Latin ones count as Latin.
* **Sentence**: it ends in 。！？ or at the end of a line, an English one in a full stop, but not
  that of Mr. or P.S. …… does not end a sentence. Quotations and parentheses are part of the
  sentence around them. A quotation ends a sentence if another quotation or the end of the line
  follows.
* **Number**: digits in any width, or a Chinese number: two numerals or more, as in 二十, or
  one before a measure, as in 三天, 九折 and 百元. 一齊, 統一, 第二 and idioms have none.
* **Line**: a line with a letter or a digit, without marks of Markdown around it.
* **Verse**: Chinese between punctuation marks or line ends."""

_TOPICS = {
    "Words": """\
Words are matched as they are written: 電車 does not match 电车. The width and case of letters do
not matter. A word that begins or ends in a Latin letter or a digit matches only as a whole word: AI
is not in RAIN. Chinese has no word boundaries: 的 is in 的士, unless `not_in` lists 的士.""",
    "Sound": """\
A character may have several readings. The reading that PyCantonese gives it in its word and line
counts. So does every reading that it has in at least a tenth of its words in rime-cantonese's list:
聽 can be teng1, ting1 or ting3, and 女 can be neoi5 or neoi2. A character fits if one of its
readings fits. A character without a reading fits nothing.""",
}


def constraints_page() -> str:
    """Return the page that lists every verifier, in Markdown.

    Examples:
        >>> constraints_page().splitlines()[2]
        '# Constraints that a program can check'
    """
    blocks = [_MADE.replace("the catalogue", "the verifiers"), _CONSTRAINTS]
    topics = dict.fromkeys(each.topic for each in constraints.VERIFIERS.values())
    for topic in topics:
        own = [each for each in constraints.VERIFIERS.values() if each.topic == topic]
        rows = [
            (
                f"`{each.name}`",
                "condition" if each.least is None else f"count from {each.least}",
                "; ".join(f"`{name}`: {kind}" for name, kind in each.arguments.items()),
                each.description,
            )
            for each in own
        ]
        table = _rows(("verifier", "type", "arguments", "what it requires or counts"), rows)
        blocks += [f"## {topic}", _TOPICS.get(topic, ""), table]
    return "\n\n".join(filter(None, blocks)) + "\n"


# ---------------------------------------------------------------------- benchmark.toml


_REFERENCE = """# Reference of benchmark.toml

This page lists every key that a `benchmark.toml` can have;
[Add a benchmark](adding_a_benchmark.md) explains how to write one. `[data]` is a TOML table,
`[[tasks]]` a table that may be repeated, and `<name>` a name that you choose. `A → B` describes a
table with A as keys and B as values. A key without a default is empty if you leave it out. An
unknown key is an error that suggests the nearest one.

| to declare | see |
|---|---|
| what a benchmark is | [top of the file](#top-of-the-file), [averages](#averages) |
| where its data is | [github](#github), [hub](#hub), [data](#data) |
| what a model is asked | [prompts](#prompts) |
| a task, its rows and its items | [tasks](#tasks), [subjects](#subjects), [variants](#variants) |
| labels, and a judge's scale | [labels](#labels), [rubric](#rubric), [levels](#levels) |
| which columns a kind reads, and which figures it computes | [kinds](#kinds) |
| the scores of a paper | [published tables](#published-tables) |"""

# Heading → its place in the file, and its record.
_TABLES: dict[str, tuple[str, type[Any]]] = {
    "Top of the file": ("", Benchmark),
    "github": (
        "`[github]`. A benchmark has exactly one of `[github]`, `[hub]` and `[data]`. The "
        "checksums are in a file beside `benchmark.toml`, the *registry*: a line `<file> <sha256>` "
        "for each file below `prefix`. A line has a third column, `<commit>:<path>`, if its file "
        "is from elsewhere. A first line `# 390 files` gives the number of files, so that a "
        "truncated list is noticed.",
        GitHubRelease,
    ),
    "hub": ("`[hub]`. `[reasoning]` has the same keys.", HubDataset),
    "data": ("`[data]`.", FolderData),
    "prompts": (
        "`[prompts.<name>]`. The texts may have placeholders:\n\n"
        "* A placeholder is filled by the [kind](#kinds), like `{question}`, or from the column "
        "with its name, like `{passage}`. A path leads into a cell: `{about.place.0}`.\n"
        "* Every kind fills `{subject}`, `{title}` and `{chinese}` with the subject's names. In "
        "worked examples, it also fills `{number}`, `{reasoning}` and `{answer}`.\n"
        "* If nothing can fill a placeholder, that is an error. It is also an error if the kind "
        "fills it, and a column with the same name, which the kind does not read, has texts.\n"
        "* Write `{{x}}` for the characters `{x}`. Other braces stay as they are.",
        PromptTemplate,
    ),
    "tasks": ("`[[tasks]]`. Some keys are only for some [kinds](#kinds).", TaskDefinition),
    "labels": ('A table in `labels` of a task: `{ "蘊含" = { data = 1 } }`.', DeclaredLabel),
    "subjects": (
        "`subjects` of a task, `[[tasks.subjects]]`. Without any, the task has one file and no "
        "subjects.",
        Subject,
    ),
    "variants": ("`variants` of a task, `[[tasks.variants]]`.", Variant),
    "rubric": (
        "`[tasks.rubric]`, for the kind [`judged`](#judged).\n\n"
        "* **Answers.** The judge is shown the answer without its reasoning. An answer cut off at "
        "the token limit is judged as it is, and the log says that it was cut off. The judge is "
        "not shown an empty answer, or one whose reasoning was cut off; such an answer has no "
        "level. If `empty` is declared, an empty answer has that level.\n"
        "* **Levels.** The level is read from the last line that begins with the marker and a "
        "colon. The line must have exactly one number, which must be on the scale. The reply is "
        "unread if the name of another level follows the number, or if an earlier such line has "
        "another level. After an unread reply, the judge is asked once more.\n"
        "* **Figures.** `pass_rate` and `mean_level` cover the answers that have a level. The "
        "others count in `unjudged_rate`, and a report warns if they are more than 2 %. If several "
        "models are judges, their mean counts. The rubric's hash and the judges are in the "
        "signature.\n"
        "* **Judge.** Without a judge, Inspect stops before anything is sent. "
        "`--model-role 'grader={model: openai/gpt-4o, temperature: 0}'` sets how the judge "
        "decodes. `hkcanto agreement LOG people.csv`, with the columns `id` and `level`, compares "
        "the judge with people.",
        Rubric,
    ),
    "levels": ("`levels` of a rubric, `[[tasks.rubric.levels]]`.", Level),
    "averages": (
        "`[[averages]]`. If a benchmark has averages, lm-eval has a group with the benchmark's "
        "name and all of its tasks.",
        Average,
    ),
}


def toml_page() -> str:
    """Return the reference of `benchmark.toml`, in Markdown.

    Examples:
        >>> "## variants\\n\\n`variants` of a task" in toml_page()
        True
    """
    blocks = [_MADE, _REFERENCE]
    for title, (place, record) in _TABLES.items():
        blocks += [f"## {title}", place, field_table(record)]
    blocks += [
        "## Kinds",
        "`kind` of a task. *Columns* lists the roles of the cells that the kind reads. The names "
        "in brackets are the columns' names, in upper or lower case, unless `columns` declares "
        "others; the first that exists is used. *Placeholders* lists what the kind fills in a "
        "prompt. [Every figure](figures.md) explains the figures.",
        *chain.from_iterable(map(_kind, sorted(_KINDS))),
        "## Published tables",
        "`published/tables.toml` declares the paper's scores, which reports show beside runs. Each "
        "table has a CSV file in the same folder, `<number>.csv` or `<number>_<part>.csv`, with a "
        "row for each model. Cells are as printed, and empty if the paper has no value.",
        _rows(
            ("field", "value", "default", "what it is"),
            (
                ("`benchmark`", "text", "required", "The benchmark's name."),
                ("`paper`", "text", "required", "Short citation of the paper."),
                ("`tables`", "list of tables", "required", "The tables."),
            ),
        ),
        "### tables",
        field_table(PublishedTable, without=("name", "benchmark", "source", "rows")),
        "### columns",
        "`columns` of a table.",
        field_table(PublishedColumn),
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


_KINDS = sorted(
    each.name
    for each in entry_points(group="hkcanto.kinds")
    if each.value.startswith("hkcanto_tasks.kinds.")
)
_NEEDED: dict[str, Any] = {  # by a task of some kinds
    "label": {"labels": ("A", "B")},
    "judged": {
        "rubric": Rubric(
            prompt="{answer} {levels} {code} Level: …",
            levels=(Level(number=1, name="A"), Level(number=2, name="B")),
            passes=(2,),
            higher_is_better=True,
        )
    },
}


def _kind(name: str) -> Iterator[str]:
    """Describe a kind by its docstring, columns, placeholders, keys and figures."""
    kind = find_kind(name)
    yield f"### {name}"
    yield inspect.cleandoc(kind.__doc__ or "").partition("\n\nExamples:")[0]
    columns = (
        f"{role} ({', '.join(f'`{each}`' for each in names)})"
        for role, names in kind.COLUMNS.items()
    )
    facts = {
        "Columns": "; ".join(columns),
        "Placeholders": ", ".join(f"`{{{place}}}`" for place in _places(name)),
        "Keys for this kind": ", ".join(f"`{key}`" for key in kind.USES),
        "Figures": ", ".join(f"`{figure.name}`" for figure in kind.FIGURES if not figure.part),
    }
    yield "\n".join(f"* {what}: {said}" for what, said in facts.items() if said)


def _places(name: str) -> list[str]:
    """Return the placeholders that a kind fills for a scored item, without those of all kinds."""
    task = TaskDefinition(
        name="t", title="T", kind=name, prompts={"paper": "p"}, **_NEEDED.get(name, {})
    )
    prompts = {"p": PromptTemplate(question="", example="")}
    own = Benchmark(name="t", title="T", tasks=(task,), prompts=prompts, data=FolderData())
    kind = find_kind(name)
    made = kind(TaskVariant("t", own, task, Variant(), task.subjects), kind.Options())
    named = [*made.values(made.made_up()), *made.names(task.subjects[0])]
    return [each for each in named if each not in ("subject", "title", "chinese")]


_GAMES = Path(__file__).with_name("reward_games.toml")
_LONGEST_GAME = 110
_REWARDS = {
    each.__name__: each
    for each in (
        rewards.cantonese_reward,
        rewards.multiply_rewards(rewards.choice_reward, rewards.cantonese_reward),
        rewards.reasoning_language_reward,
        rewards.jyutping_reward,
        rewards.format_reward,
    )
}


def games() -> list[tuple[dict[str, Any], float]]:
    """Return the completions in `docs/reward_games.toml`, with their present rewards."""
    told = tomllib.loads(_GAMES.read_text(encoding="utf-8"))
    shared = {name: [told[name]] for name in ("question", "options", "answer")}
    made = []
    for game in told["games"]:
        own = {name: game[name] for name in ("script",) if name in game}
        columns = {**shared, "jyutping": [game.get("jyutping")], **own}
        (earns,) = _REWARDS[game["reward"]]([game["text"] * game.get("times", 1)], **columns)
        made.append((game, earns or 0.0))
    return made


def with_games(guide: str) -> str:
    """Return the page on rewards with a fresh table of attempts to game them.

    Args:
        guide: The page's text. The table is between `<!-- games -->` and `<!-- end -->`.
    """

    def shorten(text: str) -> str:
        return f"{text[:_LONGEST_GAME]}…" if len(text) > _LONGEST_GAME else text

    def shown(game: Mapping[str, Any]) -> str:
        text = shorten(game["text"].replace("\n", "↵") or " ")
        own = (f"{name} `{game[name]}`" for name in ("jyutping", "script") if name in game)
        times = f" × {game['times']}" if "times" in game else ""
        return ", ".join((f"`` {text} ``{times}", *own))

    rows = [
        (
            f"`{game['reward']}`".replace("_x_", "` × `"),
            shown(game),
            f"{game['earned']:.2g}",
            f"{earns:.2g}",
            game.get("note", ""),
        )
        for game, earns in games()
    ]
    table = _rows(("reward", "completion", "then", "now", "why it still earns"), rows)
    place = r"(<!-- games -->)\n.*?<!-- end -->"
    return re.sub(place, lambda found: f"{found[1]}\n{table}\n<!-- end -->", guide, flags=re.DOTALL)


PROMPTS = Path(__file__).parent / "examples" / "hkcanto_if" / "data" / "prompts.jsonl"


def with_prompts(guide: str) -> str:
    """Return the README of HKCanto-IF with fresh counts.

    Args:
        guide: The README's text. The counts are between `<!-- counts -->` and `<!-- end -->`.
    """
    prompts = [json.loads(line) for line in PROMPTS.read_text(encoding="utf-8").splitlines()]

    def table(head: str, keys: Callable[[Any], Iterable[str]]) -> str:
        """Return a table that counts prompts by key and language."""
        found: dict[str, Counter[str]] = {}
        for prompt in prompts:
            for key in {*keys(prompt), "all prompts"}:
                found.setdefault(key, Counter())[prompt["language"]] += 1
        rows = [
            (key, str(found[key]["yue"]), str(found[key]["zh"]), str(found[key].total()))
            for key in sorted(found, key=lambda key: (key == "all prompts", key))
        ]
        return _rows((head, "Cantonese", "Written Chinese", "all"), rows)

    tables = (
        table("topic", lambda prompt: [prompt["topic"]]),
        table("constraints", lambda prompt: [str(len(prompt["constraints"]))]),
        table("verifier", lambda prompt: [f"`{each['name']}`" for each in prompt["constraints"]]),
    )
    made = "\n\n".join(tables)
    place = r"(<!-- counts -->)\n.*?<!-- end -->"
    return re.sub(place, lambda found: f"{found[1]}\n{made}\n<!-- end -->", guide, flags=re.DOTALL)


def field_table(record: type[Any], without: Collection[str] = ("home",)) -> str:
    """Return the fields of a record as a table in Markdown, without some that no file declares.

    Examples:
        >>> print(field_table(FolderData).splitlines()[2])
        | `path` | text | `.` | Folder of the data, inside the benchmark's folder. |
    """
    hints, helps = get_type_hints(record, include_extras=True), attributes(record)
    rows = [
        (f"`{name}`", in_words(hints[name]), default, helps[name])
        for name, default in _defaults(record)
        if name not in without
    ]
    return _rows(("field", "value", "default", "what it is"), rows)


def _defaults(record: type[Any]) -> Iterator[tuple[str, str]]:
    if dataclasses.is_dataclass(record):
        for field in dataclasses.fields(record):
            required = field.default is dataclasses.MISSING
            yield field.name, "required" if required else _default_in_words(field.default)
        return
    for each in msgspec.structs.fields(record):
        if each.required:
            yield each.name, "required"
        else:
            made = each.default_factory is not msgspec.NODEFAULT
            yield each.name, "" if made else _default_in_words(each.default)


def _default_in_words(value: object) -> str:
    if value in (None, "", (), {}):
        return ""
    return f"`{_toml(value)}`"


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return json.dumps(value)
    if isinstance(value, str) and value != value.strip():
        return json.dumps(value)
    return plain(value)


if __name__ == "__main__":
    for written in main(Path(__file__).parent / "tasks", sys.argv[1:]):
        print(written)
