"""The documents are true: generated pages are fresh, and commands print the shown output."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
import typer
import yaml
from inspect_ai.log import read_eval_log
from markdown_it import MarkdownIt
from typer.testing import CliRunner

import hkcanto
import hkcanto_metrics
from hkcanto_metrics.constraints import VERIFIERS
from hkcanto_tasks import load_task
from hkcanto_tasks.benchmark_files import read_benchmark
from hkcanto_tasks.catalogue import named_tasks
from hkcanto_tasks.cli import app
from hkcanto_tasks.data.releases import FolderData, GitHubRelease, HubDataset
from hkcanto_tasks.declarations import (
    DEFINITIONS,
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
    Variant,
)
from hkcanto_tasks.describing import describe
from hkcanto_tasks.kinds import find_kind
from hkcanto_tasks.results import published
from hkcanto_tasks.results.published import PublishedColumn, PublishedTable
from hkcanto_tasks.tasks import task_as_run

from .reports.harness_runs import run_inspect
from .scripts import REPOSITORY, load_script
from .test_outside_benchmark import PROVIDER, install

generate = load_script("docs/generate.py")
assistants = load_script("docs/assistants.py")
DOCS = REPOSITORY / "docs"
PAGES = DOCS / "tasks"
TASK_FILES = REPOSITORY / "lm_eval_tasks" / "hkcanto_lm_eval" / "tasks"
GUIDE = DOCS / "adding_a_benchmark.md"
REFERENCE = DOCS / "reference"
FIELDS = REFERENCE / "benchmark_toml.md"
KIND = DOCS / "adding_a_kind.md"
MAP = REPOSITORY / ".github" / "CONTRIBUTING.md"
FIGURES = REFERENCE / "figures.md"
NOTEBOOK = DOCS / "reports.md"
README = REPOSITORY / "README.md"
SITE = REPOSITORY / ".ci" / "mkdocs.yml"
TEXTS = [README, REPOSITORY / "README.zh-Hant.md", *sorted(DOCS.rglob("*.md"))]
AGAIN = "run `python docs/generate.py`"


def blocks(language: str, page: Path = GUIDE) -> list[str]:
    """The code blocks of the guide or of another page."""
    return re.findall(
        rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S
    )


def shell(script: str, folder: Path, **env: str) -> str:
    """Run a pasted command, with this environment's commands on the path."""
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HKCANTO_CACHE": str(folder / "cache"),
            **env,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


# ---------------------------------------------------------------------- README and site

each_text = pytest.mark.parametrize(
    "text", TEXTS, ids=[str(text.relative_to(REPOSITORY)) for text in TEXTS]
)


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").split()) <= 1300


def test_the_pages_are_short() -> None:
    """What can be generated belongs into `docs/reference`; a fact is said once."""
    assert (
        sum(len(page.read_text("utf-8").split()) for page in DOCS.glob("*.md"))
        <= 18_000
    )


IN_TWO_LANGUAGES = [
    (README, REPOSITORY / "README.zh-Hant.md"),
    (DOCS / "quickstart.md", DOCS / "quickstart.zh-Hant.md"),
]


@pytest.mark.parametrize(("english", "chinese"), IN_TWO_LANGUAGES)
def test_both_languages_have_the_same_commands_and_figures(
    english: Path, chinese: Path
) -> None:
    texts = [path.read_text("utf-8") for path in (english, chinese)]
    code = [
        [
            re.sub(r" +#.*", "", block)
            for block in re.findall(r"```\w+\n(.*?)```", text, re.S)
        ]
        for text in texts
    ]
    assert code[0] == code[1]
    assert len(code[0]) > 3
    prose = [re.sub(r"```.*?```|\]\([^)]*\)", "", text, flags=re.S) for text in texts]
    numbers = [
        Counter(
            each for each in re.findall(r"(?<![\w.])\d[\d,.]*\d|(?<![\w.])\d", text)
        )
        for text in prose
    ]
    assert numbers[0] == numbers[1]


@each_text
def test_every_relative_link_leads_somewhere(text: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", text.read_text("utf-8")):
        if not re.match(r"https?:|#", target):
            path = text.parent / target.partition("#")[0]
            assert path.resolve().is_relative_to(REPOSITORY), target
            assert path.exists(), target


def commands(text: str) -> Iterator[list[str]]:
    """Return the words of each `hkcanto` command in code."""
    fenced = re.findall(r"^ *```(?:ba)?sh\n(.*?)^ *```", text, re.M | re.S)
    inline = re.findall(
        r"(?<!`)`([^`]+)`(?!`)", re.sub(r"```.*?```", "", text, flags=re.S)
    )
    for code in (*fenced, *inline):
        lines = code.replace("\\\n", " ") if code in fenced else " ".join(code.split())
        for found in re.findall(
            r"(?:^ *|[&;|] *|\$\(|=\S+ +|/bin/)hkcanto +([^#&;|)\n]+)", lines, re.M
        ):
            yield found.split()


@each_text
def test_every_command_exists_with_its_options(text: Path) -> None:
    for words in commands(text.read_text("utf-8")):
        command: Any = typer.main.get_command(app)
        while inner := getattr(command, "commands", {}):
            assert words, "which of them?"
            assert words[0] in inner
            command = inner[words.pop(0)]
        known = {option for each in command.params for option in each.opts} | {"--help"}
        for word in words:
            if re.fullmatch(r"--?[A-Za-z][\w-]*", word):
                assert word in known, (command.name, word)


def test_every_page_is_in_the_navigation() -> None:
    site = yaml.safe_load(SITE.read_text("utf-8"))
    listed = re.findall(r"[\w/.-]+\.md", str([site["nav"], site["not_in_nav"]]))
    assert sorted(name.lstrip("/") for name in listed) == sorted(
        p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md")
    )


@pytest.mark.slow
def test_the_demo_prints_what_is_shown(tmp_path: Path) -> None:
    text = README.read_text("utf-8")
    command = text.partition("<!-- demo command -->\n```bash\n")[2].partition("```")[0]
    install, run = command.split(" &&\n", 1)
    assert "pip install" in install  # already installed here
    shown = text.partition(command)[2].partition("```text\n")[2].partition("```")[0]
    printed = shell(run, tmp_path, COLUMNS="80")
    assert " ".join(shown.split()) in " ".join(printed.split())


@pytest.mark.slow
def test_the_quick_start_prints_what_is_shown(tmp_path: Path, lean_path: str) -> None:
    """Every figure and column, through both harnesses; only white space may differ."""
    step = (
        (DOCS / "quickstart.md")
        .read_text("utf-8")
        .partition("## 1.")[2]
        .partition("## 2.")[0]
    )
    ways, start, then = step.partition("```bash\nhkcanto report")
    _, *parts = re.split(r"^#### (.+)$", ways, flags=re.M)
    assert parts[::2] == ["lm-eval", "Inspect"]
    for name, way in zip(parts[::2], parts[1::2], strict=True):
        text = way + start + then
        shown = re.findall(r"^```text\n(.*?)^```$", text, re.M | re.S)
        assert len(shown) == 3, name
        (tmp_path / name).mkdir()
        run = "".join(re.findall(r"^```bash\n(.*?)^```$", text, re.M | re.S))
        printed = shell(run, tmp_path / name, COLUMNS="80", PYTHONPATH=lean_path)
        for block in shown:
            assert " ".join(block.split()) in " ".join(printed.split()), name


@each_text
def test_a_page_is_plain_markdown(text: Path) -> None:
    """A page reads the same on the site, on GitHub and on an index: no tabs, no notes."""
    if "\n::: " in text.read_text("utf-8"):
        pytest.skip("made of docstrings, by the site alone")
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(
        text.read_text("utf-8")
    ):
        assert token.type != "code_block", f"indented text: {token.content}"
        if token.type == "inline":
            assert not re.match(r"={3}|[!?]{3}|:{3}", token.content), token.content


def test_the_published_scores_are_counted() -> None:
    tables = published.published_tables()
    rows = [row for table in tables for row in table.rows]
    scores = sum(value is not None for row in rows for value in row.values.values())
    for readme in (README, README.with_name("README.zh-Hant.md")):
        text = readme.read_text("utf-8")
        for number in (scores, len(rows), len(tables)):
            assert re.search(rf"(?<![\d,]){number:,}(?![\d,])", text), (
                readme.name,
                number,
            )


def test_every_metric_is_on_the_page_and_has_an_example() -> None:
    page = (DOCS / "metrics.md").read_text("utf-8")
    for name in hkcanto_metrics.__all__:
        metric = getattr(hkcanto_metrics, name)
        if name.islower():
            assert re.search(rf">>> .*\b{name}\b", metric.__doc__), name
            assert f"`{name}`" in page or metric.__module__.endswith("rewards"), name


# ---------------------------------------------------------------------- generated pages


def test_the_pages_are_fresh() -> None:
    kept = {path.name: path.read_text("utf-8") for path in PAGES.iterdir()}
    assert kept == generate.task_pages(), AGAIN


def test_the_reference_is_fresh() -> None:
    for name, text in generate.reference_pages().items():
        assert (REFERENCE / name).read_text("utf-8") == text, AGAIN


def test_the_files_for_assistants_are_fresh() -> None:
    again = "run `python docs/assistants.py`"
    assert (DOCS / "AGENTS.md").read_text("utf-8") == assistants.agents_page(), again
    assert (DOCS / "llms.txt").read_text("utf-8") == assistants.llms_text(), again


def test_the_page_for_agents_is_short_and_names_tasks_commands_and_statuses() -> None:
    text = (DOCS / "AGENTS.md").read_text("utf-8")
    assert len(text.splitlines()) <= 60
    for name in ("hkcanto_g2p", "hkmmlu", "tmmluplus_gen", "report", "compare"):
        assert f"`{name}`" in text
    assert "0 passed, 1 worse, 2 incomplete, 3 undecided" in text


def test_llms_txt_has_the_form_of_llmstxt_org() -> None:
    """A heading, a quotation, then sections of links: https://llmstxt.org."""
    title, blank, quotation, *rest = (DOCS / "llms.txt").read_text("utf-8").splitlines()
    assert (title, blank, quotation[:2]) == ("# hkcanto", "", "> ")
    sections = "\n".join(rest).partition("\n## ")[2].splitlines()[1:]
    for line in sections:
        link = re.fullmatch(r"- \[([^]]+)\]\((\S+)\)(: .+)?", line)
        assert link or not line or line.startswith("## "), line
        if link:
            page = link[2].removeprefix("https://github.com/hkcanto/hkcanto/blob/main/")
            assert (REPOSITORY / page).is_file(), page


def test_every_verifier_is_in_the_reference() -> None:
    text = (REFERENCE / "constraints.md").read_text("utf-8")
    for name in VERIFIERS:
        assert f"| `{name}` |" in text


def test_the_counts_of_hkcanto_if_are_fresh() -> None:
    text = (DOCS / "examples" / "hkcanto_if" / "README.md").read_text("utf-8")
    assert generate.with_prompts(text) == text, AGAIN
    assert "| all prompts | 100 | 50 | 150 |" in text


def test_every_figure_is_on_its_page() -> None:
    text = FIGURES.read_text("utf-8")
    for task in named_tasks().values():
        for figure in task_as_run(task.name).figures:
            assert f"`{figure.name}`" in text, figure.name


def test_the_pages_are_the_same_on_every_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HKCANTO_DATA", "release")
    monkeypatch.setenv("HKCANTO_DATA_DIR", "/nowhere")
    for name, text in generate.task_pages().items():
        assert text == (PAGES / name).read_text("utf-8")
        assert str(REPOSITORY) not in text
        assert not re.search(r"pkg:\d|data:\w", text)


def test_every_task_and_variant_has_its_place() -> None:
    for task in named_tasks().values():
        if task.scope == "task":
            page = PAGES / f"{task.definition.name}.md"
            text = page.read_text("utf-8")
            assert re.search(rf"^##? {task.name}$", text, re.M), task.name
            assert f"--tasks {task.name}`" in text
            assert f"]({page.name})" in (PAGES / "README.md").read_text("utf-8")


def test_inspect_sends_no_stop_texts_as_the_pages_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HKCANTO_DATA", "sample")
    for name in ("law", "g2p", "hkmmlu"):
        assert getattr(hkcanto, name)().config.stop_seqs is None, name


def test_a_prompt_is_folded() -> None:
    for path in {*PAGES.iterdir()} - {PAGES / "README.md"}:
        text = path.read_text("utf-8")
        folded = re.findall(r"<details.*?</details>", text, re.S)
        assert "```" in "".join(folded)
        assert "```" not in re.sub(r"<details.*?</details>", "", text, flags=re.S), (
            path.name
        )


def test_no_right_answer_is_told() -> None:
    for name in (task.name for task in named_tasks().values() if task.scope == "task"):
        described = describe(name)
        loaded = load_task(name)
        sample = loaded.samples[0]
        question = loaded.prompt(sample).question
        assert described.prompt.rstrip().endswith(question.rstrip()), name
        assert described.answer == "", name
        if (
            len(sample.target) > 1 and loaded.task.definition.kind != "label"
        ):  # it names its labels
            assert sample.target not in described.prompt, name


# ---------------------------------------------------------------------- the notebook


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `runs/` of two training steps."""
    folder = tmp_path_factory.mktemp("notebook")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HKCANTO_DATA", "sample")
        for step, engine in ((100, "pycantonese"), (200, "tojyutping")):
            own = folder / "runs" / f"checkpoint-{step}"
            run_inspect(own, "hkcanto/g2p", f"hkcanto/{engine}", limit=6)
    return folder


def notebook() -> list[tuple[str, str]]:
    """The notebook's code blocks, each with the package that it needs besides pandas."""
    text = NOTEBOOK.read_text("utf-8").partition("## In a notebook")[2]
    found = re.findall(
        r"(?:^<!-- needs: (\w+) -->\n)?^```python\n(.*?)^```$", text, re.M | re.S
    )
    assert {needs for needs, _ in found} == {"", "matplotlib", "tiktoken", "wandb"}
    return found


@pytest.mark.slow
def test_the_code_of_the_notebook_runs_on_logs(
    checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkpoints)
    made = CliRunner().invoke(app, ["report", "runs", "-o", "figures.csv"])
    assert made.exit_code == 0, made.output
    there: dict[str, Any] = {}
    drawn = []
    for needs, block in notebook():
        code = compile(block, NOTEBOOK.name, "exec")
        if not needs or (needs == "matplotlib" and find_spec(needs)):
            exec(code, there)  # as for a reader
        if needs == "matplotlib" and find_spec(needs):  # not in any of our extras
            axes = import_module("matplotlib.pyplot").gcf().axes[-1]
            drawn.append([bar.get_width() for bar in axes.patches])
    figures, items, headlines = there["figures"], there["items"], there["headlines"]
    text = NOTEBOOK.read_text("utf-8").partition("## In a notebook")[2]
    listed = text.partition("The columns are ")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", listed, flags=re.S))
    assert [*figures.columns] == named
    assert headlines.figure.tolist() == ["cer_published", "cer_published"]
    assert headlines.model.tolist() == ["pycantonese", "tojyutping"]
    # Every sentence has weight 1, so the headline is the mean of the items' values.
    means = items[items.figure == "cer_published"].groupby("model").value.mean()
    assert means.tolist() == pytest.approx(headlines.value.tolist())
    assert headlines.n.tolist() == [6, 6]
    assert items.id.nunique() == 6
    assert there["effect"].difference.value == pytest.approx(
        means.iloc[1] - means.iloc[0]
    )
    for widths in drawn:
        assert widths == pytest.approx(means.tolist())
    assert there["steps"].squeeze().to_dict() == pytest.approx(
        {100: means.iloc[0], 200: means.iloc[1]}
    )


@pytest.mark.slow
@pytest.mark.parametrize("tracker", ["wandb", "trackio"])
def test_the_recipes_of_the_notebook_log_each_step(
    tracker: str, checkpoints: Path, tmp_path: Path
) -> None:
    pytest.importorskip(tracker)
    blocks = notebook()
    (recipe,) = [block for needs, block in blocks if needs == "wandb"]
    recipe = recipe.replace("import wandb\n", f"import {tracker} as wandb\n")
    before = [block for needs, block in blocks if not needs and "compare" not in block]
    script = tmp_path / "recipe.py"
    script.write_text("\n".join([*before, recipe]), "utf-8")
    places = {
        "TRACKIO_DIR": str(tmp_path),
        "WANDB_DIR": str(tmp_path),
        "WANDB_MODE": "offline",
    }
    shell(f"cd {checkpoints} && {sys.executable} {script}", tmp_path, **places)
    expected = {}
    for log in checkpoints.glob("runs/*/*.eval"):
        (judged,) = read_eval_log(str(log), header_only=True).results.scores
        step = int(log.parent.name.partition("-")[2])
        expected[step] = judged.metrics["cer_published"].value
    name = "hkcanto_g2p/5-shot/cer_published"
    if tracker == "trackio":
        with closing(sqlite3.connect(tmp_path / "hkcanto.db")) as database:
            logged = database.execute("select step, metrics from metrics").fetchall()
        assert {step: json.loads(own)[name] for step, own in logged} == pytest.approx(
            expected
        )
    else:
        (record,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
        written = record.read_bytes()
        assert name.encode() in written
        for value in expected.values():
            assert f"{value:.12f}"[:14].encode() in written


# ---------------------------------------------------------------------- the guide


def test_the_guide_is_a_page() -> None:
    text = re.sub(r"```.*?```", "", GUIDE.read_text("utf-8"), flags=re.S)
    assert len([word for word in text.split() if re.search(r"\w", word)]) <= 1500


def test_every_field_is_in_the_reference_under_its_heading() -> None:
    """Every record that a `benchmark.toml` can contain has a table, including new ones."""
    text = FIELDS.read_text("utf-8")
    tables = dict(re.findall(r"^##+ ([^\n]+)\n(.*?)(?=^##|\Z)", text, re.M | re.S))
    homes = {
        Benchmark: "Top of the file",
        GitHubRelease: "`[github]`",
        HubDataset: "`[hub]`",
        FolderData: "`[data]`",
        PublishedTable: "`[[tables]]`",
        PublishedColumn: "`columns` of a table",
        published.OtherReading: "`other` of a column",
        published.PublishedNote: "`notes` of a table",
        PromptTemplate: "`[prompts.<name>]`",
        TaskDefinition: "`[[tasks]]`",
        ChoiceDefinition: "`[[tasks]]` of `multiple_choice` and `multi_answer`",
        JyutpingDefinition: "`[[tasks]]` of `g2p`",
        LabelDefinition: "`[[tasks]]` of `label`",
        ShortAnswerDefinition: "`[[tasks]]` of `short_answer`",
        JudgedDefinition: "`[[tasks]]` of `judged`",
        DeclaredLabel: "`labels` of a task",
        Subject: "`[[tasks.subjects]]`",
        Variant: "`[[tasks.variants]]`",
        Rubric: "`[tasks.rubric]`",
        Level: "`[[tasks.rubric.levels]]`",
        Average: "`[[averages]]`",
        published._File: "Published tables",
    }
    found: set[Any] = set()
    new: set[Any] = {Benchmark, published._File, *DEFINITIONS.values()}
    while new:
        found |= new
        hints = [hint for each in new for hint in get_type_hints(each).values()]
        parts = {part for hint in hints for part in of(hint)}
        new = {each for each in parts if each not in found}
    assert found == {*homes}
    filled_in = {(Benchmark, "home")} | {  # known from the file's place
        (PublishedTable, name) for name in ("name", "benchmark", "rows")
    }
    common = TaskDefinition.__struct_fields__
    for record in {*DEFINITIONS.values()} - {TaskDefinition}:
        filled_in |= {(record, name) for name in common}  # in the table of all kinds
    for record, heading in homes.items():
        for field in msgspec.structs.fields(record):
            rows = [
                row
                for row in tables[heading].splitlines()
                if f"| `{field.name}` | " in row
            ]
            assert len(rows) == ((record, field.name) not in filled_in), (
                record,
                field.name,
            )
            assert all(("| required |" in row) == field.required for row in rows), rows


def of(hint: Any) -> Iterator[Any]:
    """The record types in a type annotation."""
    if hasattr(hint, "__struct_fields__"):
        yield hint
    for part in get_args(hint):
        yield from of(part)


def test_every_kind_is_in_the_guide_and_the_reference() -> None:
    guide, reference = GUIDE.read_text("utf-8"), FIELDS.read_text("utf-8")
    kinds = guide.partition("## Kinds")[2].partition("\n\n`kind")[0]
    listed = re.findall(r"`(\w+)`", kinds)
    for entry in entry_points(group="hkcanto.kinds"):
        assert entry.name in listed
        section = (
            reference.partition("## Kinds")[2]
            .partition(f"\n| `{entry.name}` | ")[2]
            .partition("\n")[0]
        )
        for role in find_kind(entry.name).COLUMNS:
            assert f"{role} (`" in section
        for figure in find_kind(entry.name).FIGURES:
            assert figure.part or f"`{figure.name}`" in section


def test_every_place_on_the_map_exists() -> None:
    table = (
        MAP.read_text("utf-8").partition("| question | where |")[2].partition("\n\n")[0]
    )
    assert table
    packages = ("hkcanto_tasks", "metrics", "lm_eval_tasks", "inspect_evals")
    roots = [REPOSITORY / name for name in packages]
    for name in re.findall(r"`([\w/.*]+(?:/|\.py|\.toml))`", table):
        there = [
            *REPOSITORY.glob(name),
            *(found for root in roots for found in root.rglob(name)),
        ]
        assert there, name


def test_declarations_and_readers_of_the_guide_are_read(tmp_path: Path) -> None:
    declared, labels = map(tomllib.loads, blocks("toml"))
    (tmp_path / "benchmark.toml").write_text(blocks("toml")[0], "utf-8")
    (task,) = read_benchmark(tmp_path / "benchmark.toml").tasks
    assert task.subjects[1].stems == ("hk_law_2025", "hk_law")
    common = TaskDefinition.__struct_fields__
    keys = {key: value for key, value in declared["tasks"][0].items() if key in common}
    definition = msgspec.convert({**keys, **labels}, LabelDefinition)
    assert [*definition.labels] == ["蘊含", "唔蘊含"]
    (source,) = blocks("python")
    article = {"questions": ["邊個？"], "options": [["甲", "乙"]], "answers": ["B"]}
    (tmp_path / "test.json").write_text(json.dumps([article]), "utf-8")
    made: dict[str, Any] = {}
    exec(source, made)
    assert [*made["rows"](tmp_path, "test")] == [
        {"question": "邊個？", "choices": ["甲", "乙"], "answer": "B"}
    ]


@pytest.mark.slow
def test_what_a_stranger_pastes_runs_once_the_question_is_answered(
    tmp_path: Path, lean_path: str
) -> None:
    commands = blocks("sh")[0].splitlines()
    rows = "question,A,B,C,D,answer\n邊度有電車？,大澳,中環,青衣,西貢,B\n"
    (tmp_path / "questions.csv").write_text(rows, "utf-8")
    asked = shell(commands[0], tmp_path)
    assert '? answer = "?"' in asked
    file = tmp_path / "my_quiz/benchmark.toml"
    file.write_text(
        file.read_text("utf-8").replace('answer = "?"', 'answer = "letter"'), "utf-8"
    )
    install(tmp_path, "letters_model", PROVIDER, inspect_ai="letters = letters_model")
    # Inspect's mock model would download a tokenizer.
    run = "\n".join(commands[1:]).replace("mockllm/model", "letters/b --display plain")
    printed = shell(run, tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{lean_path}")
    assert "邊度有電車？" in printed
    assert "|my_quiz" in printed
    assert re.search(r"acc +1\.0", printed)


@pytest.mark.slow
def test_a_package_brings_a_kind_and_a_benchmark(
    tmp_path: Path, lean_path: str
) -> None:
    kind, package = blocks("python", KIND)
    (declared,) = blocks("toml", KIND)
    groups = tomllib.loads(declared)["project"]["entry-points"]
    folder = tmp_path / "my_benchmarks"
    (folder / "capitals").mkdir(parents=True)
    (folder / "__init__.py").write_text(package, encoding="utf-8")
    (folder / "word.py").write_text(kind, encoding="utf-8")
    (folder / "capitals" / "benchmark.toml").write_text(
        'name = "capitals"\ntitle = "Capitals"\n[data]\n[prompts.plain]\n'
        'question = "{question}"\n[[tasks]]\nname = "capitals"\ntitle = "Capitals"\n'
        'kind = "word"\nfiles = { test = "{stem}.csv" }\n'
        'subjects = [{ name = "europe" }, { name = "asia" }]\n',
        encoding="utf-8",
    )
    for name, row in {
        "europe": "法國嘅首都？,巴黎",
        "asia": "日本嘅首都？,東京",
    }.items():
        (folder / "capitals" / f"{name}.csv").write_text(
            f"question,answer\n{row}\n", "utf-8"
        )
    lines = {
        group: "\n".join(f"{name} = {value}" for name, value in entries.items())
        for group, entries in groups.items()
    }
    install(tmp_path, "my_package", "", **lines)
    code = (
        "from hkcanto_tasks import load_task\n"
        "task = load_task('capitals')\n"
        "print(sorted((s.question, task.kind.judge('東京。', s).values['acc'])"
        " for s in task.samples))"
    )
    # Without HKCANTO_BENCHMARKS: installing the package is enough.
    printed = shell(f'python -c "{code}"', tmp_path, PYTHONPATH=str(tmp_path))
    assert printed.strip() == "[('日本嘅首都？', 1.0), ('法國嘅首都？', 0.0)]"
    printed = shell(
        "lm_eval --model dummy --tasks capitals; hkcanto list capitals",
        tmp_path,
        PYTHONPATH=f"{tmp_path}{os.pathsep}{lean_path}",
    )
    assert re.search(r"\|capitals *\| +1\|none +\| +0\|acc +\|↑ +\| +0\|", printed)
    assert re.search(r"\|acc_asia +\|↑ +\| +0\|", printed)
    assert "hkcanto/run -T task=capitals" in printed
