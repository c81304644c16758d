"""Make `docs/tasks`, `docs/figures.md`, `docs/constraints.md`, and tables in two other pages.

    python docs/generate.py [BENCHMARK …]

A test fails when they are stale.
"""

import dataclasses
import json
import re
import sys
import tomllib
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from hkcanto_metrics import constraints, rewards
from hkcanto_metrics.error_spans import ERROR_CATEGORIES
from hkcanto_tasks.catalogue import (
    BENCHMARKS,
    Average,
    Benchmark,
    PromptTemplate,
    Subject,
    TaskDefinition,
    Variant,
    benchmarks,
    find_benchmark,
)
from hkcanto_tasks.data.releases import FolderData, GitHubRelease, HubDataset
from hkcanto_tasks.describing import (
    UNITS,
    WAYS,
    Description,
    attributes,
    describe,
    inspect_name,
    plain,
)
from hkcanto_tasks.figures import Figure, with_reasoning
from hkcanto_tasks.published import PublishedColumn
from hkcanto_tasks.reports.analyses.writing import JUDGED
from hkcanto_tasks.setup import find_kind, setup


def main(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write the pages of some benchmarks, and what is made beside them.

    Args:
        folder: For the pages, such as `docs/tasks`.
        names: The benchmarks; ours without any.

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
        made[guide] = with_fields(guide.read_text(encoding="utf-8"))
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


def page(benchmark: Benchmark) -> str:
    """Return a benchmark's page, in Markdown: every task, the same on every machine.

    Examples:
        >>> page(find_benchmark("hkcanto_fluency")).splitlines()[2]
        '# Cantonese fluency'
    """
    described = [describe(task.name) for task in benchmark.tasks]
    blocks = [
        _MADE,
        f"# {benchmark.title}",
        " ".join(f"{text.rstrip('.')}." for text in (benchmark.paper, benchmark.terms) if text),
        "Prompts are shown as one text. In a signature, `data:…` stands for the data of a run, "
        "`sent:…` and `read:…` for hashes of what is sent and of how answers are read, and `pkg:…` "
        "for the package's version.",
        _rows(
            ("task", "Inspect", "questions", "shots", "title"),
            (
                (
                    f"[`{each.task.name}`](#{each.task.name})",
                    f"`{inspect_name(each.task)}`",
                    each.facts.get("questions", ""),
                    str(each.setup.shots),
                    each.title,
                )
                for each in described
            ),
        ),
        *(block for description in described for block in _section(description)),
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _section(of: Description) -> Iterator[str]:
    yield f"## {of.task.name}"
    yield ". ".join(filter(None, (of.title, of.task.definition.specified))).rstrip(".") + "."
    yield _facts(of)
    yield _prompt(of)
    yield _rows(
        ("figure", "title", "values", "good", "what it is"),
        (
            (
                f"`{figure.name}`" + " (headline)" * (figure is of.figures[0]),
                figure.title,
                UNITS[figure.unit],
                WAYS[figure.higher_is_better],
                figure.help,
            )
            for figure in of.figures
        ),
    )
    yield _rows(
        ("option", "values", "default", "what it does"),
        ((f"`{name}`", *rest) for name, *rest in of.options),
    )
    if len(of.task.subjects) > 1:
        listed = ", ".join(
            f"`{subject.name}` {subject.chinese or subject.title}"
            + (f" ({subject.rows:,})" if subject.rows else "")
            for subject in of.task.subjects
        )
        yield f"Subjects, each also a task `{of.task.name}_<subject>`: {listed}."
    for name in of.facts.get("variants", "").split():
        other = describe(name)
        yield f"### {name}"
        yield _facts(other)
        if other.prompt != of.prompt:
            yield _prompt(other)


def _facts(of: Description) -> str:
    signature = re.sub(r"\b(sent|read|pkg):[^|]+", r"\1:…", of.facts["signature"])
    facts = [
        *(
            f"{harness}: `{command}`" if command else f"{harness}: {of.facts[harness]}"
            for harness, command in of.commands.items()
        ),
        f"signature: `{signature}`",
        of.facts["scoring"],
    ]
    if ends := of.facts.get("response"):
        ends = re.sub(r'("(?:[^"\\]|\\.)*")', r"`\1`", ends)
        facts.append(f"a response {ends}")
    if of.task.definition.printed:
        facts.append(f"the headline's row in lm-eval's table: {of.task.definition.printed}")
    return "\n".join(f"* {fact}" for fact in facts)


def _prompt(of: Description) -> str:
    prompt = of.prompt
    if not prompt:
        return of.origin
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in re.findall("`+", prompt)), 3)
    return f"The prompt, {of.origin}:\n\n{fence}text\n{prompt}\n{fence}"


def _rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    made = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cells = (cell.replace("|", r"\|") for cell in row)
        made.append(f"| {' | '.join(cells)} |")
    return "\n".join(made)


# ---------------------------------------------------------------------- figures


_SECTIONS = {
    "Right or wrong": ("multiple_choice", "multi_answer", "sentiment", "number"),
    "Jyutping": ("g2p",),
    "Writing": ("translation_to_cantonese", "translation", "summarization", "fluency"),
    "Instructions": ("constraints",),
}


def figures_page() -> str:
    """Return the page of every figure that there is, each once, in Markdown.

    Examples:
        >>> "| `unparsed_rate` | ↓ 0 to 1 | Unparsed. Share " in figures_page()
        True
    """
    sections = {title: _figures_of(kinds) for title, kinds in _SECTIONS.items()}
    homes = Counter(name for figures in sections.values() for name in figures)
    everywhere = {name for name, count in homes.items() if count == len(sections)}
    first = next(iter(sections.values()))
    sections["Any answer"] = {name: first[name] for name in first if name in everywhere}
    blocks = [
        _MADE,
        "# Every figure",
        "One name in both harnesses, in logs and in reports. ↑ higher is better, ↓ lower is "
        "better, – neither. `hkcanto show TASK` lists the figures of a task, and "
        "[Read the result](results.md) says how to read them.",
    ]
    for title, figures in sections.items():
        if title != "Any answer":
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
        if parts := [f"`{name}` {of.title}" for name, (of, _) in figures.items() if of.part]:
            blocks.append(f"The same on a part of the questions: {', '.join(parts)}.")
    averages = [of for benchmark in _ours() for of in benchmark.averages]
    blocks += [
        "## Averages over tasks",
        "Of the headlines, in lm-eval's groups and, those of Table 1, in `hkcanto/hkcanto`. Tasks "
        "joined by + are one column of the paper's table, in which every question counts once.",
        _rows(
            ("figure", "title", "mean of"),
            ((f"`{of.name}`", of.title, ", ".join(map(_column, of.columns))) for of in averages),
        ),
        "## A judge's",
        "With `-T judge=true` in Inspect, and in reports: "
        "[what the papers used](results.md#translation-summaries-fluency).",
        _rows(
            ("figure", "title", "what it is"),
            (
                (f"`{name}`", figure.title, figure.help)
                for name, figure in JUDGED.items()
                if name not in ERROR_CATEGORIES
            ),
        ),
        f"In reports also the errors for each judgement: {', '.join(ERROR_CATEGORIES)}.",
    ]
    return "\n\n".join(blocks) + "\n"


def _figures_of(kinds: Sequence[str]) -> dict[str, tuple[Figure, str]]:
    """Return the figures of some kinds with what they are, of our tasks and by themselves."""
    tasks = [task for benchmark in _ours() for task in benchmark.tasks if task.kind in kinds]
    setups = [setup(task.name) for task in tasks]
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
            + " Pooled over items, not averaged per item." * (figure.form == "rate")
            + " A headline." * (figure.name in headlines)
            + " In reports alone." * (figure.name not in shown),
        )
        for figure in every
    }


def _column(tasks: Sequence[str]) -> str:
    return " + ".join(f"`{task}`" for task in tasks)


# ---------------------------------------------------------------------- constraints


_CONSTRAINTS = """# Constraints that a program can check

A constraint is a verifier's name and its arguments, such as
`{"name": "occurrences", "args": {"word": "奶茶", "exactly": 1}}`.
[Metrics](metrics.md#instructions) shows how to check a response, [Rewards](rewards.md) how to train
on them, [an example](examples/constraints/README.md) how to evaluate on prompts of yours, and the
[reference](reference.md#constraints) what each verifier counts and what not. An
unknown name or argument, a wrong type, and bounds that no answer can meet are errors when the
constraint is made.

*Counts* take `exactly`, or `at_least` and `at_most`; without a bound they are errors. Those from 1
are never followed by an answer that has none: no list is not a list of at most three. *Conditions*
hold or not.

A response is read without its reasoning, and an empty one follows nothing. *Strict* figures are of
the answer as it is. *Loose* ones, as in [IFEval](https://arxiv.org/abs/2311.07911) (section 2.2),
are also of the seven variants without the first line, the last line, every `*`, or several of
these; white space around the answer is removed first. They are upper bounds: a line that breaks a
rule may be the one left out."""


def constraints_page() -> str:
    """Return the page of every verifier, in Markdown.

    Examples:
        >>> constraints_page().splitlines()[2]
        '# Constraints that a program can check'
    """
    blocks = [_MADE.replace("the catalogue", "the verifiers"), _CONSTRAINTS]
    for title, module in constraints.TOPICS.items():
        _, _, policy = (module.__doc__ or "").partition("\n")
        own = [
            each
            for each in constraints.VERIFIERS.values()
            if each.function.__module__ == module.__name__
        ]
        rows = [
            (
                f"`{each.name}`",
                "condition" if each.least is None else f"count from {each.least}",
                "; ".join(f"`{name}`: {kind}" for name, kind in each.arguments.items()),
                each.description,
            )
            for each in own
        ]
        table = _rows(("name", "what it is", "arguments", "what it asks for or counts"), rows)
        blocks += [f"## {title}", policy.strip(), table]
    return "\n\n".join(filter(None, blocks)) + "\n"


# ---------------------------------------------------------------------- fields


def field_records() -> dict[str, type[Any]]:
    """Return what each table that people declare is read as.

    Examples:
        >>> [*field_records()][:4]
        ['benchmark', 'github', 'hub', 'data']
    """
    return {
        "benchmark": Benchmark,
        "github": GitHubRelease,
        "hub": HubDataset,
        "data": FolderData,
        "prompts": PromptTemplate,
        "tasks": TaskDefinition,
        "subjects": Subject,
        "variants": Variant,
        "averages": Average,
        "columns": PublishedColumn,
    }


def with_fields(guide: str) -> str:
    """Return the guide with its tables of fields made anew.

    Args:
        guide: Its text. A table is between `<!-- fields: NAME -->` and `<!-- end -->`.
    """

    records = field_records()

    def made(place: re.Match[str]) -> str:
        return f"{place[1]}\n{field_table(records[place[2]])}\n<!-- end -->"

    return re.sub(r"(<!-- fields: (\w+) -->)\n.*?<!-- end -->", made, guide, flags=re.DOTALL)


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
    """Return the completions of `docs/reward_games.toml`, and what each earns."""
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
    """Return the page of rewards with its table of games made anew.

    Args:
        guide: Its text. The table is between `<!-- games -->` and `<!-- end -->`.
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
            shown(game),
            f"`{game['reward']}`".replace("_x_", "` × `"),
            f"{game['earned']:.2g}",
            f"{earns:.2g}",
            game.get("note", ""),
        )
        for game, earns in games()
    ]
    table = _rows(("completion", "reward", "earned", "earns", "why"), rows)
    place = r"(<!-- games -->)\n.*?<!-- end -->"
    return re.sub(place, lambda found: f"{found[1]}\n{table}\n<!-- end -->", guide, flags=re.DOTALL)


PROMPTS = Path(__file__).parent / "examples" / "hkcanto_if" / "data" / "prompts.jsonl"


def with_prompts(guide: str) -> str:
    """Return the README of HKCanto-IF with its counts made anew.

    Args:
        guide: Its text. The counts are between `<!-- counts -->` and `<!-- end -->`.
    """
    prompts = [json.loads(line) for line in PROMPTS.read_text(encoding="utf-8").splitlines()]

    def table(head: str, keys: Callable[[Any], Iterable[str]]) -> str:
        """Count the prompts of each key, by language."""
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


def field_table(record: type[Any]) -> str:
    """Return the fields of a declared table, as a table in Markdown.

    Examples:
        >>> print(field_table(FolderData).splitlines()[2])
        | `path` | text | `.` | Their folder, below the benchmark's. |
    """
    hints, helps = get_type_hints(record, include_extras=True), attributes(record)
    rows = [
        (f"`{name}`", in_words(hints[name]), default, helps[name])
        for name, default in _defaults(record)
        if name != "home"  # not declared
    ]
    return _rows(("field", "value", "default", "what it is"), rows)


def in_words(kind: Any) -> str:
    """Say what values a field can have.

    Examples:
        >>> in_words(tuple[str, ...]), in_words(Literal["tc", "sc"]), in_words(bool)
        ('list of text', '`tc`, `sc`', '`true`, `false`')
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return in_words(arguments[0])
    if origin in (Union, types.UnionType):
        return " or ".join(in_words(each) for each in arguments if each is not type(None))
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in arguments)
    if origin is tuple:
        return f"list of {in_words(arguments[0])}"
    if origin is dict:
        return f"table: name → {in_words(arguments[1])}"
    if kind is bool:
        return "`true`, `false`"
    return {str: "text", int: "number", float: "number"}.get(kind, "table")


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
