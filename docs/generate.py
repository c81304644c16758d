"""Generate the pages in `docs/tasks`, six in `docs/reference`, the counts of HKCanto-IF, and the
compiled messages of `hkcanto_tasks/languages`.

    python docs/generate.py

A test fails when they are stale.
"""

import dataclasses
import inspect
import json
import re
import tomllib
import types
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from hkcanto_metrics import constraints, rewards
from hkcanto_metrics.choice_rules import LETTER_RULES
from hkcanto_metrics.choice_set_rules import SET_RULES
from hkcanto_metrics.choice_statements import STANCE_RULES
from hkcanto_metrics.error_spans import ERROR_CATEGORIES
from hkcanto_metrics.number_rules import NUMBER_RULES
from hkcanto_tasks.catalogue import BENCHMARKS, benchmarks, named_tasks
from hkcanto_tasks.data.releases import FolderData, GitHubRelease, HubDataset
from hkcanto_tasks.declarations import (
    Average,
    Benchmark,
    ChoiceDefinition,
    DeclaredLabel,
    JudgedDefinition,
    JyutpingDefinition,
    LabelDefinition,
    Level,
    PromptTemplate,
    Rubric,
    ShortAnswerDefinition,
    Subject,
    TaskDefinition,
    TaskVariant,
    Variant,
    own_keys,
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
from hkcanto_tasks.figures import OF_REASONING, Figure, figures
from hkcanto_tasks.kinds import find_kind
from hkcanto_tasks.kinds.base import REASONING_TOKENS, Kind
from hkcanto_tasks.results.frames import JUDGED
from hkcanto_tasks.results.published import (
    OtherReading,
    PublishedColumn,
    PublishedNote,
    PublishedTable,
)
from hkcanto_tasks.tasks import task_as_run


def main(docs: Path) -> list[Path]:
    """Write the generated pages and tables.

    Args:
        docs: The folder `docs`.

    Returns:
        The files written.
    """
    made = {docs / "tasks" / name: text for name, text in task_pages().items()}
    for name, text in reference_pages().items():
        made[docs / "reference" / name] = text
    readme = Path(__file__).parent / "examples" / "hkcanto_if" / "README.md"
    made[readme] = with_prompts(readme.read_text(encoding="utf-8"))
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    catalogues = compiled_catalogues(docs.parent / "hkcanto_tasks" / "languages")
    for path, compiled in catalogues.items():
        path.write_bytes(compiled)
    return [*made, *catalogues]


def compiled_catalogues(languages: Path) -> dict[Path, bytes]:
    """Return the compiled catalogue of messages of each language: path → content."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    made = dict[Path, bytes]()
    for source in languages.rglob("*.po"):
        compiled = BytesIO()
        write_mo(compiled, read_po(BytesIO(source.read_bytes())))
        made[source.with_suffix(".mo")] = compiled.getvalue()
    return made


def reference_pages() -> dict[str, str]:
    """Return file name → page, for the pages of the reference that no docstring makes."""
    return {
        "benchmark_toml.md": toml_page(),
        "constraints.md": constraints_page(),
        "figures.md": figures_page(),
        "options.md": options_page(),
        "reading_rules.md": rules_page(),
        "reward_games.md": games_page(),
    }


def _ours() -> list[Benchmark]:
    return [each for each in benchmarks() if Path(each.home).parent == BENCHMARKS]


_MADE = "<!-- Made by `python docs/generate.py` from the catalogue; do not edit. -->"


_INTRODUCTION = (
    "The answer to a *generative* task is read from the model's response; the answer to a "
    "*log-likelihood* task is the letter to which the model gives the highest likelihood. A *stop "
    "text* ends a response. Only lm-eval sends the stop texts with a request, but both harnesses "
    "cut the response at the same place before they score it. With `reasoning=true`, the token "
    f"limit is {REASONING_TOKENS:,}, and there are no stop texts.",
    "A task's page shows its prompt for one item, as a single text. The items of the *sample data* "
    "are our own, not the release's. The `…` in a [signature](../results.md#signatures) replaces "
    "values that differ between runs: the revision of the data, two hashes (of what is sent, and "
    "of how answers are read) and the package's version. [Options](../reference/options.md) and "
    "[figures](../reference/figures.md) are explained once for all tasks; reports also have the "
    "[figures of reasoning](../results.md#the-language-of-reasoning).",
)


def task_pages() -> dict[str, str]:
    """Return file name → page, in Markdown: an overview, and a page for each task.

    Examples:
        >>> task_pages()["hkcanto_fluency.md"].splitlines()[2]
        '# hkcanto_fluency'
    """
    pages, overview = {}, [_MADE, "# Tasks", *_INTRODUCTION]
    for benchmark in _ours():
        described = [describe(task.name) for task in benchmark.tasks]
        terms = (benchmark.paper, benchmark.terms)
        overview += [
            f"## {benchmark.title}",
            " ".join(f"{text.rstrip('.')}." for text in terms if text),
            _rows(
                ("task", "title", "Inspect", "items", "shots", "headline"),
                (
                    (
                        f"[`{each.task.name}`]({each.task.name}.md)",
                        each.title,
                        f"`{_in_inspect(each)}`",
                        _items(each),
                        str(each.kind.shots),
                        f"`{each.figures[0].name}`",
                    )
                    for each in described
                ),
            ),
        ]
        for each in described:
            pages[f"{each.task.name}.md"] = _joined(_MADE, *_section(each))
    return {"README.md": _joined(*overview), **pages}


def _joined(*blocks: str) -> str:
    return "\n\n".join(filter(None, blocks)) + "\n"


def _in_inspect(of: Description) -> str:
    """Return a task's name in Inspect, with the options that select it."""
    command = of.commands["Inspect"].removeprefix("inspect eval ")
    return command.removesuffix(" --model …")


def _items(of: Description) -> str:
    """Return how many items are published, and how many of them run by default."""
    size = int(getattr(of.kind.options, "size", 0))
    published = published_items(of.task)
    run = f" ({size:,} by default)" if 0 < size < published else ""
    return f"{published:,}{run}" if published else ""


def _section(of: Description) -> Iterator[str]:
    yield f"# {of.task.name}"
    paper = "Paper: " if of.task.benchmark.paper else ""
    where = of.task.definition.specified and f"{paper}{of.task.definition.specified}"
    yield ". ".join(filter(None, (of.title, where))).rstrip(".") + "."
    yield _facts(of)
    yield _figures(of)
    if len(of.task.subjects) > 1:
        listed = ", ".join(
            f"`{subject.name}` {subject.chinese or subject.title}"
            + (f" ({rows:,})" if (rows := of.task.scored_rows(subject)) else "")
            for subject in of.task.subjects
        )
        each = f"Each is also a task, `{of.task.name}_<subject>` (in brackets, its number of items):"
        yield _folded(f"{len(of.task.subjects)} subjects", f"{each} {listed}.")
    options = (
        f"`{name}` ({default})" if default else f"`{name}`"
        for name, _, default, _ in of.options
    )
    yield f"Options and their defaults: {', '.join(options)}."
    yield _prompt(of)
    for name in of.facts.get("variants", "").split():
        other = describe(name)
        yield f"## {name}"
        yield _facts(other)
        yield _prompt(other, shown=of.prompt)


def _facts(of: Description) -> str:
    facts = [
        *(
            f"{harness}: `{command}`"
            for harness, command in of.commands.items()
            if command
        ),
        f"generative: {_limits(of.kind)}"
        if of.kind.is_generative
        else "log-likelihood, which Inspect does not support",
    ]
    if of.task.definition.printed:
        facts.append(
            f"lm-eval's table repeats the headline as `{of.kind.printed_name}`"
        )
    return "\n".join(f"* {fact}" for fact in facts)


def _limits(of: Kind) -> str:
    """Return the token limit and the stop texts that are sent."""

    def texts(chat: bool) -> str:
        sent = of.sent_stop(chat=chat)
        return (
            " or ".join(f"`{json.dumps(text, ensure_ascii=False)}`" for text in sent)
            or "none"
        )

    written, in_chat = texts(False), texts(True)
    other = f"; with a chat template {in_chat} instead" * (in_chat != written)
    return f"at most {of.max_tokens:,} tokens; stop texts: {written}{other}"


def _figures(of: Description) -> str:
    """Return the names of a task's figures, without those of reasoning, which all tasks have."""
    own = [figure for figure in of.kind.figures if "reasoning" not in figure.name]
    in_table = {figure.name for figure in of.kind.table}
    shown = [f"`{figure.name}`" for figure in own[1:] if figure.name in in_table]
    others = [f"`{figure.name}`" for figure in own[1:] if figure.name not in in_table]
    facts = (
        f"Headline: `{own[0].name}` ({WAYS[own[0].higher_is_better]} {UNITS[own[0].unit]})",
        shown and f"Other figures: {', '.join(shown)}",
        others and f"In reports only: {', '.join(others)}",
    )
    return "\n".join(f"* {fact}" for fact in facts if fact)


def _prompt(of: Description, shown: str = "") -> str:
    """Return the prompt, unless it is the one already shown, and the signature, folded."""
    signature = re.sub(r"\b(sent|read|pkg):[^|]+", r"\1:…", of.facts["signature"])
    signature = f"Signature: `{signature}`"
    if not of.prompt:
        return f"{of.origin}\n\n{_folded('Signature', signature)}"
    if of.prompt == shown:
        return _folded("Signature", signature)
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in re.findall("`+", of.prompt)), 3)
    text = (
        f"{of.origin[0].upper()}{of.origin[1:]}:\n\n{fence}text\n{of.prompt}\n{fence}"
    )
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
    "questions": ("multiple_choice", "multi_answer", "label", "number", "math"),
    "short answers": ("short_answer",),
    "Jyutping": ("g2p",),
    "texts": (
        "translation_to_cantonese",
        "translation",
        "summarization",
        "fluency",
    ),
    "instructions": ("constraints",),
    "by a rubric": ("judged",),
}


_ONE_SCRIPT = (
    "As without `_normalized`, but output and reference are first mapped to one script, character "
    "by character."
)


_FIGURES = """# Every figure

↑: higher is better; ↓: lower is better; –: neither. *A headline*: the figure to read first, for at
least one of our tasks. *In reports only*: the harnesses' own tables do not show the figure.
*Pooled over items*: numerators and denominators are summed over all items and then divided, so
longer items count more. [Which figure to report](../results.md#which-figure-should-i-report)."""


def figures_page() -> str:
    """Return the page that explains every figure, in Markdown.

    Examples:
        >>> "| questions | `acc` | ↑ 0 to 1 | Accuracy." in figures_page()
        True
    """
    homes: dict[tuple[str, str, str, str], list[str]] = {}
    parts: dict[str, None] = {}
    for section, kinds in _SECTIONS.items():
        for name, (of, help_) in _figures_of(kinds).items():
            if of.part:
                parts[f"`{name}` ({of.title})"] = None
            else:
                homes.setdefault((name, _values(of), of.title, help_), []).append(
                    section
                )
    for name, of in JUDGED.items():
        if name not in ERROR_CATEGORIES:
            homes[name, _values(of), of.title, of.help] = ["by a judge"]
    alike: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for (name, values, title, help_), sections in homes.items():
        of_all = ", ".join(sections) if len(sections) < len(_SECTIONS) else "all"
        alike.setdefault((of_all, values, help_), []).append((f"`{name}`", title))
    rows = (
        (
            sections,
            ", ".join(name for name, _ in named),
            values,
            f"{'; '.join(title for _, title in named)}. {help_}",
        )
        for (sections, values, help_), named in alike.items()
    )
    averages = (
        f"`{of.name}` ({of.title}) of {', '.join(map(_column, of.columns))}"
        for benchmark in _ours()
        for of in benchmark.averages
    )
    return _joined(
        _MADE,
        _FIGURES,
        _rows(("of", "figure", "values", "what it is"), rows),
        f"Accuracy on some of the items: {', '.join(parts)}.",
        f"Averages of tasks' headlines: {'; '.join(averages)}. Tasks joined by + are one column of "
        "the paper's table: their items are pooled. lm-eval shows averages for its groups; in "
        "Inspect, `hkcanto/hkcanto` shows those of Table 1.",
        f"Errors per judgement, in reports only, by category: {', '.join(ERROR_CATEGORIES)}.",
    )


def _values(of: Figure) -> str:
    return f"{WAYS[of.higher_is_better]} {UNITS[of.unit]}"


def _between(place: str, text: str, guide: str) -> str:
    """Return a page with a fresh text between `<!-- PLACE -->` and `<!-- end -->`."""
    start, end = f"<!-- {place} -->\n", "\n<!-- end -->"
    before, _, rest = guide.partition(start)
    return f"{before}{start}{text}{end}{rest.partition('<!-- end -->')[2]}"


def _figures_of(kinds: Sequence[str]) -> dict[str, tuple[Figure, str]]:
    """Return name → figure and its help, for kinds of task and for our tasks of those kinds."""
    ours = {benchmark.name for benchmark in _ours()}
    tasks = [
        task
        for task in named_tasks().values()
        if task.scope == "task"
        and task.benchmark.name in ours
        and task.definition.kind in kinds
    ]
    setups = [task_as_run(task.name) for task in tasks]
    shown = {figure.name for each in setups for figure in each.table}
    headlines = {each.headline.name for each in setups}
    without = {*kinds} - {task.definition.kind for task in tasks}
    for declared in (find_kind(kind).FIGURES for kind in without):
        shown |= {figure.name for figure in declared if not figure.diagnostic}
        headlines.add(declared[0].name)
    every = [figure for kind in kinds for figure in find_kind(kind).FIGURES]
    every += [figure for each in setups for figure in each.figures]
    every += figures(*OF_REASONING)
    return {
        figure.name: (
            figure,
            (_ONE_SCRIPT if figure.name.endswith("_normalized") else figure.help)
            + " Pooled over items." * (figure.form == "rate")
            + " A headline." * (figure.name in headlines)
            + " In reports only." * (figure.name not in shown),
        )
        for figure in every
    }


def _column(tasks: Sequence[str]) -> str:
    return " + ".join(f"`{task}`" for task in tasks)


# ---------------------------------------------------------------------- options


_OPTIONS = """# Every option

How to [set options](../running.md#options). A [task's page](../tasks/README.md) lists its options with
their defaults. In lm-eval, `multiturn` is also `--fewshot_as_multiturn true`. Without it, all worked
examples are in one turn, whatever lm-eval's default is."""

_MULTITURN = (
    "`multiturn`",
    "true or false",
    "all with worked examples",
    "Make each worked example a turn of its own, instead of one user message for all.",
)


def options_page() -> str:
    """Return the page that explains every option, in Markdown.

    Examples:
        >>> "| `cot` | true or false | `hkmmlu`, `tmmluplus_gen` | Ask" in options_page()
        True
    """
    described = [
        describe(task.name) for benchmark in _ours() for task in benchmark.tasks
    ]
    tasks: dict[tuple[str, str, str], list[str]] = {}
    for each in described:
        for name, values, _, effect in each.options:
            tasks.setdefault((name, values, effect), []).append(each.task.name)
    order = [*dict.fromkeys(name for name, _, _ in tasks)]
    rows = []
    for key in sorted(tasks, key=lambda key: order.index(key[0])):
        name, values, effect = key
        having = _tasks_in_words(tasks[key], len(described))
        rows.append((f"`{name}`", values, having, effect))
    table = _rows(("option", "values", "tasks", "effect"), [*rows, _MULTITURN])
    return _joined(_MADE, _OPTIONS, table)


_MOST_NAMES = 4


def _tasks_in_words(names: Sequence[str], count: int) -> str:
    """Name some tasks, or say how many there are."""
    if len(names) == count:
        return "all"
    if len(names) > _MOST_NAMES:
        return f"{len(names)} of {count}"
    return ", ".join(f"`{name}`" for name in names)


# ---------------------------------------------------------------------- constraints


_CONSTRAINTS = """# Constraints that a program can check

A *verifier* is a check that a program can make of an answer. A *constraint* is a verifier's name
with arguments, such as `{"name": "occurrences", "args": {"word": "奶茶", "exactly": 1}}`. An
unknown name or argument, a wrong type, or bounds that no answer can meet are errors. You
can [check a response](../metrics.md#instructions), [train on constraints](../rewards.md) and
[evaluate on your own prompts](../examples/README.md#constraints). [Below](#in-python) is what each
verifier counts and does not count.

Files in IFEval's form load as they are: its columns `instruction_id_list` and `kwargs` take the
place of `constraints`, in a benchmark, in `constraint_reward` and in `read_ifeval`. All its 25
instructions are known; an unknown one is an error.

There are two types of verifiers. A *condition* holds or does not. A *count* needs a bound:
`exactly`, `about` (10 % more or less), `at_least`, `at_most`, or both of the last two. With a
count *from 1*, an answer needs at least one: without a list, it fails "a list of at most three".

Reasoning and outer white space are removed before an answer is checked. An empty answer follows
nothing. *Strict* figures check the answer as it is. *Loose* figures, as in
[IFEval](https://arxiv.org/abs/2311.07911) (section 2.2), also accept an answer if one of its seven
variants follows the constraint. A variant lacks the first line, the last line, every `*`, or
several of these. Loose figures are upper bounds, because the line that a variant lacks may be the
one that breaks a rule.

## Definitions

* **Text**: before any check, letters and digits in full width, mathematical type or superscript
  become plain ones (NFKC), radicals become characters, and characters that nobody sees, such as
  zero-width spaces, are removed. Punctuation, emoji and numbers in circles stay as they are.
  Cyrillic and Greek letters that look like Latin ones count as Latin in words of no other letters
  than these and Latin ones.
* **Sentence**: it ends in 。！？ or at the end of a line, an English one in a full stop, but not
  that of Mr. or P.S. …… does not end a sentence. Quotations and parentheses are part of the
  sentence around them. A quotation ends a sentence if another quotation or the end of the line
  follows.
* **Number**: digits in any width, or a Chinese number: two numerals or more, as in 二十, or
  one before a measure, as in 三天, 九折 and 百元. 一齊, 統一, 第二 and idioms have none.
* **Line**: a line with a letter or a digit, without marks of Markdown around it.
* **Verse**: Chinese between punctuation marks or line ends.
* **Word**: matched in the script in which it is written (電車 does not match 电车), ignoring width
  and case. A word that begins or ends in a Latin letter or a digit matches only as a whole word:
  AI is not in RAIN. Chinese has no word boundaries: 的 is in 的士, unless `not_in` lists 的士.
* **Sound**: a character fits if one of its readings fits: the reading that PyCantonese gives it in
  its word and line, and every reading that it has in at least a tenth of its words in
  rime-cantonese's list. 聽 can be teng1, ting1 or ting3. A character without a reading fits none.

## Verifiers"""


_CONSTRAINT_MODULES = (
    "declaring",
    "ifeval",
    "length",
    "words",
    "form",
    "language",
    "sound",
)


def constraints_page() -> str:
    """Return the page that lists every verifier, in Markdown.

    Examples:
        >>> constraints_page().splitlines()[2]
        '# Constraints that a program can check'
    """
    rows = (
        (
            f"`{each.name}`",
            each.topic,
            "condition" if each.least is None else f"count from {each.least}",
            "; ".join(f"`{name}`: {kind}" for name, kind in each.arguments.items()),
            each.description,
        )
        for each in constraints.VERIFIERS.values()
    )
    head = ("verifier", "topic", "type", "arguments", "what it requires or counts")
    modules = (
        f"::: hkcanto_metrics.constraints.{name}" for name in _CONSTRAINT_MODULES
    )
    made = _MADE.replace("the catalogue", "the verifiers")
    return _joined(made, _CONSTRAINTS, _rows(head, rows), "## In Python", *modules)


# ---------------------------------------------------------------------- benchmark.toml


_REFERENCE = """# Reference of benchmark.toml

Every key of a `benchmark.toml` ([how to write one](../adding_a_benchmark.md)). `[data]` is a TOML
table, `[[tasks]]` a table that may be repeated, and `<name>` a name that you choose. `A → B` is a
table with A as keys and B as values. A key without a default is empty if you leave it out. An
unknown key is an error that suggests the nearest one."""

# Heading, which is the place in the file → its explanation, and its record.
_TABLES: dict[str, tuple[str, type[Any]]] = {
    "Top of the file": ("", Benchmark),
    "`[github]`": (
        "A benchmark has exactly one of `[github]`, `[hub]` and `[data]`. The "
        "checksums are in a file beside `benchmark.toml`, the *registry*: a line `<file> <sha256>` "
        "for each file below `prefix`. A line has a third column, `<commit>:<path>`, if its file "
        "is from elsewhere. A first line `# 390 files` gives the number of files, so that a "
        "truncated list is noticed.",
        GitHubRelease,
    ),
    "`[hub]`": ("`[reasoning]` has the same keys.", HubDataset),
    "`[data]`": ("", FolderData),
    "`[prompts.<name>]`": (
        "The texts may have placeholders:\n\n"
        "* A placeholder is filled by the [kind](#kinds), like `{question}`, or from the column "
        "with its name, like `{passage}`. A path leads into a cell: `{about.place.0}`.\n"
        "* Every kind fills `{subject}`, `{title}` and `{chinese}` with the subject's names. In "
        "worked examples, it also fills `{number}`, `{reasoning}` and `{answer}`.\n"
        "* If nothing can fill a placeholder, that is an error. It is also an error if the kind "
        "fills it, and a column with the same name, which the kind does not read, has texts.\n"
        "* Write `{{x}}` for the characters `{x}`, `{{}}` for `{}`, and `{{{x}}}` for a value in "
        "braces (`\\boxed{{{answer}}}`). Other braces stay as they are.",
        PromptTemplate,
    ),
    "`[[tasks]]`": (
        "These keys are for every kind. The keys of some [kinds](#kinds) follow.",
        TaskDefinition,
    ),
    "`[[tasks]]` of `multiple_choice` and `multi_answer`": ("", ChoiceDefinition),
    "`[[tasks]]` of `g2p`": ("", JyutpingDefinition),
    "`[[tasks]]` of `label`": ("", LabelDefinition),
    "`[[tasks]]` of `short_answer`": ("", ShortAnswerDefinition),
    "`[[tasks]]` of `judged`": ("", JudgedDefinition),
    "`labels` of a task": (
        'An entry may be a table: `{ "蘊含" = { data = 1 } }`.',
        DeclaredLabel,
    ),
    "`[[tasks.subjects]]`": (
        "Without any, the task has one file and no subjects.",
        Subject,
    ),
    "`[[tasks.variants]]`": ("", Variant),
    "`[tasks.rubric]`": (
        "For the [kind](#kinds) `judged`.\n\n"
        "* **Answers.** The judge is shown the answer without its reasoning. An answer cut off at "
        "the token limit is judged as it is, and the log says that it was cut off. An "
        "empty answer, or one whose reasoning was cut off, is not judged; if `empty` is declared, "
        "an empty answer has that level.\n"
        "* **Levels.** The package writes a code after the marker in the judge's prompt "
        "(`Level 3fa9c1: …`), another one for each answer. The level is read from the last line "
        "that begins with marker, code and colon, so an answer's own `Level: 2`, quoted by the "
        "judge, does not count. The line must have exactly one number, which must be on the scale. "
        "The reply is unread if the name of another level follows the number, or if an earlier "
        "such line has another level. After an unread reply, the judge is asked once more.\n"
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
    "`[[tasks.rubric.levels]]`": ("", Level),
    "`[[averages]]`": (
        "If a benchmark has averages, lm-eval has a group with the benchmark's name and all of its "
        "tasks.",
        Average,
    ),
}


def toml_page() -> str:
    """Return the reference of `benchmark.toml`, in Markdown.

    Examples:
        >>> "## `[[tasks.variants]]`\\n\\n| field |" in toml_page()
        True
    """
    blocks = [_MADE, _REFERENCE]
    for title, (place, record) in _TABLES.items():
        without: Collection[str] = ("home",)
        if issubclass(record, TaskDefinition) and record is not TaskDefinition:
            without = TaskDefinition.__struct_fields__
        blocks += [f"## {title}", place, field_table(record, without)]
    blocks += [
        "## Kinds",
        "`kind` of a task. *Columns* lists the roles of the cells that the kind reads. The names "
        "in brackets are the columns' names, in upper or lower case, unless `columns` declares "
        "others; the first that exists is used. *Placeholders* lists what the kind fills in a "
        "prompt. [Every figure](figures.md) explains the figures.",
        _rows(
            ("kind", "what it is", "columns", "placeholders", "keys", "figures"),
            map(_kind, _KINDS),
        ),
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
        "### `[[tables]]`",
        field_table(PublishedTable, without=("name", "benchmark", "rows")),
        "### `columns` of a table",
        field_table(PublishedColumn),
        "### `other` of a column",
        field_table(OtherReading),
        "### `notes` of a table",
        field_table(PublishedNote),
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


def _kind(name: str) -> tuple[str, ...]:
    """Describe a kind by its docstring, columns, placeholders, keys and figures."""
    kind = find_kind(name)
    columns = (
        f"{role} ({', '.join(f'`{each}`' for each in names)})"
        for role, names in kind.COLUMNS.items()
    )
    described = re.split(
        r"\n\n(?:Attributes|Examples):", inspect.cleandoc(kind.__doc__ or "")
    )[0]
    return (
        f"`{name}`",
        " ".join(described.split()),
        "; ".join(columns),
        ", ".join(f"`{{{place}}}`" for place in _places(name)),
        ", ".join(f"`{key}`" for key in own_keys(kind.Definition)),
        ", ".join(f"`{figure.name}`" for figure in kind.FIGURES if not figure.part),
    )


def _places(name: str) -> list[str]:
    """Return the placeholders that a kind fills for a scored item, without those of all kinds."""
    kind = find_kind(name)
    task = kind.Definition(
        name="t", title="T", kind=name, prompts={"paper": "p"}, **_NEEDED.get(name, {})
    )
    prompts = {"p": PromptTemplate(question="", example="")}
    own = Benchmark(
        name="t", title="T", tasks=(task,), prompts=prompts, data=FolderData()
    )
    made = kind(TaskVariant("t", own, task, Variant(), task.subjects), kind.Options())
    named = [*made.values(made.made_up()), *made.names(task.subjects[0])]
    return [each for each in named if each not in ("subject", "title", "chinese")]


_GAMES = Path(__file__).with_name("reward_games.toml")
_LONGEST_GAME, _HALF = 110, 0.5
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
        (earns,) = _REWARDS[game["reward"]](
            [game["text"] * game.get("times", 1)], **columns
        )
        made.append((game, earns or 0.0))
    return made


_GAMES_PAGE = """# Attempts to game the rewards

`docs/reward_games.toml` has 140 completions that try to earn a [reward](../rewards.md) without a real
answer to 電車公司嘅綽號係咩？ (A. 叮叮, B. 豬籠車, C. 水翼船, D. 纜車). These earn more than 0.5. No
reward checks whether an explanation is true; use a judge for that."""


def games_page() -> str:
    """Return the page that lists the attempts to game the rewards that succeed, in Markdown."""

    def shorten(text: str) -> str:
        return f"{text[:_LONGEST_GAME]}…" if len(text) > _LONGEST_GAME else text

    def shown(game: Mapping[str, Any]) -> str:
        text = shorten(game["text"].replace("\n", "↵") or " ")
        own = (
            f"{name} `{game[name]}`" for name in ("jyutping", "script") if name in game
        )
        times = f" × {game['times']}" if "times" in game else ""
        return ", ".join((f"`` {text} ``{times}", *own))

    rows = [
        (
            f"`{game['reward']}`".replace("_x_", "` × `"),
            shown(game),
            f"{earns:.2g}",
            game.get("note", ""),
        )
        for game, earns in games()
        if earns > _HALF
    ]
    table = _rows(("reward", "completion", "earns", "why"), rows)
    return _joined(_MADE.replace("the catalogue", "the rewards"), _GAMES_PAGE, table)


_RULES = """# Rules for reading answers

Each rule is a function, in this order; the first that applies decides. A test shows what each rule is
for by switching it off. [How answers are read](../extraction.md) explains the mechanism. The rules for
numbers up to `is_aside` find the sentence that counts; those from `settled` on tell its number.
⏎ is a line break. The examples of letters are about four islands: A 大嶼山, B 南丫島, C 長洲, D 坪洲."""


_RULE_TABLES = (
    ("Words around a mention of an option", STANCE_RULES),
    ("One answer", LETTER_RULES),
    ("All that apply", SET_RULES),
    ("Numbers", NUMBER_RULES),
)


def rules_page() -> str:
    """Return the page that lists the rules for letters, sets and numbers, in Markdown.

    Examples:
        >>> "## Numbers\\n\\nIn `hkcanto_metrics.number_text`, " in rules_page()
        True
    """
    blocks = [_MADE.replace("the catalogue", "the rules"), _RULES]
    for title, rules in _RULE_TABLES:
        modules = dict.fromkeys(f"`{rule.__module__}`" for rule in rules)
        rows = [
            (
                f"`{rule.__name__.strip('_')}`",
                *_parts_of_rule(inspect.getdoc(rule) or ""),
            )
            for rule in rules
        ]
        table = _rows(("rule", "what it reads", "examples"), rows)
        blocks += [f"## {title}", f"In {', '.join(modules)}.", table]
    return _joined(*blocks)


def _parts_of_rule(documentation: str) -> tuple[str, str]:
    """Return what a rule reads, and its examples."""
    words, _, examples = documentation.partition("Examples:")
    lines = [line.strip().rpartition(" → ") for line in examples.splitlines()]
    shown = [f"`` {text} `` → {answer}" for text, _, answer in lines if text]
    return " ".join(words.split()), "<br>".join(shown)


PROMPTS = Path(__file__).parents[1] / "hkcanto_tasks/sets/hkcanto_if/data/prompts.jsonl"


def with_prompts(guide: str) -> str:
    """Return the README of HKCanto-IF with fresh counts.

    Args:
        guide: The README's text. The counts are between `<!-- counts -->` and `<!-- end -->`.
    """
    prompts = [
        json.loads(line) for line in PROMPTS.read_text(encoding="utf-8").splitlines()
    ]

    def table(head: str, keys: Callable[[Any], Iterable[str]]) -> str:
        """Return a table that counts prompts by key and language."""
        found: dict[str, Counter[str]] = {}
        for prompt in prompts:
            for key in {*keys(prompt), "all prompts"}:
                found.setdefault(key, Counter())[prompt["language"]] += 1
        rows = [
            (
                key,
                str(found[key]["yue"]),
                str(found[key]["zh"]),
                str(found[key].total()),
            )
            for key in sorted(found, key=lambda key: (key == "all prompts", key))
        ]
        return _rows((head, "Cantonese", "Written Chinese", "all"), rows)

    tables = (
        table("topic", lambda prompt: [prompt["topic"]]),
        table("constraints", lambda prompt: [str(len(prompt["constraints"]))]),
        table(
            "verifier",
            lambda prompt: [f"`{each['name']}`" for each in prompt["constraints"]],
        ),
    )
    return _between("counts", "\n\n".join(tables), guide)


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


def in_words(kind: Any) -> str:
    """Name the values that a field can have.

    Examples:
        >>> in_words(tuple[str, ...]), in_words(Literal["tc", "sc"]), in_words(bool)
        ('list of texts', '`tc`, `sc`', '`true`, `false`')
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return in_words(arguments[0])
    if origin in (Union, types.UnionType):
        return " or ".join(
            in_words(each) for each in arguments if each is not type(None)
        )
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in arguments)
    if origin is tuple:
        kinds, colon, values = in_words(arguments[0]).partition(":")
        several = re.sub(r"\b(?:text|number|table|list)\b", r"\g<0>s", kinds)
        return f"list of {several}{colon}{values}"
    if origin is dict:
        values = in_words(arguments[1])
        return f"table: name → {f'({values})' if ' or ' in values else values}"
    if kind is bool:
        return "`true`, `false`"
    return {str: "text", int: "number", float: "number"}.get(kind, "table")


def _defaults(record: type[Any]) -> Iterator[tuple[str, str]]:
    if dataclasses.is_dataclass(record):
        for field in dataclasses.fields(record):
            required = field.default is dataclasses.MISSING
            yield (
                field.name,
                "required" if required else _default_in_words(field.default),
            )
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
    for written in main(Path(__file__).parent):
        print(written)
