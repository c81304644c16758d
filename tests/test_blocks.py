"""Every fenced block of `docs/*.md` runs in a test, or a comment before it says why it does not.

The comments are `<!-- run by: TEST -->`, for a block that another test runs; `<!-- needs: PACKAGE
-->`, for code that needs a package which the tests may lack; and `<!-- not run: WHY -->`. Python and
`hkcanto` commands without a comment run here. The commands of both harnesses are parsed by them.
"""

import doctest
import gzip
import hashlib
import inspect
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import lm_eval.models  # noqa: F401  (registers its models)
import pytest
import typer
import yaml
from inspect_ai._cli.main import inspect as inspect_command
from inspect_ai._util.registry import registry_info
from inspect_ai.model._providers import providers
from lm_eval._cli.harness import HarnessCLI
from lm_eval.api.registry import model_registry
from typer.testing import CliRunner

import hkcanto
from hkcanto_lm_eval.models import RuleBasedG2P
from hkcanto_tasks.catalogue import benchmarks, named_tasks
from hkcanto_tasks.cli import app
from hkcanto_tasks.signatures import parse_signature

from .reports.harness_runs import run_inspect
from .scripts import REPOSITORY

DOCS = REPOSITORY / "docs"
TRANSLATED = (
    DOCS / "quickstart.zh-Hant.md"
)  # a test compares its blocks with the English
PAGES = sorted({*DOCS.glob("*.md")} - {TRANSLATED})
PLACEHOLDERS = re.compile(r"[…$]")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        page: The page's file.
        language: The language that the fence names.
        comment: The comment before the fence; empty if there is none.
        code: The text between the fences.
    """

    page: Path
    language: str
    comment: str
    code: str

    def __str__(self) -> str:
        return f"{self.page.name}: {self.code.splitlines()[0][:40]}"


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    fence = r"^(?:<!-- ([^\n]*) -->\n)?```(\w*)\n(.*?)^```$"
    found = re.findall(fence, page.read_text("utf-8"), re.M | re.S)
    return [Block(page, language, comment, code) for comment, language, code in found]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
SHELL = [block for block in BLOCKS if block.language in ("bash", "sh")]


def test_every_fence_is_found() -> None:
    for page in PAGES:
        fences = re.findall(r"^```", page.read_text("utf-8"), re.M)
        assert len(fences) == 2 * len(blocks_of(page)), page.name


def test_the_blocks_that_no_test_runs_are_counted() -> None:
    """Add a reason here only for what no test on a machine like CI's can have."""
    reasons = Counter(
        block.comment for block in BLOCKS if block.comment.startswith("not run: ")
    )
    assert reasons == {
        "not run: a model": 4,
        "not run: an API": 3,
        "not run: installs packages": 3,
        "not run: GPUs": 1,
        "not run: a cluster": 1,
        "not run: a tokenizer of the hub": 1,
    }


def test_a_comment_says_who_runs_a_block_or_why_nobody_does() -> None:
    for block in BLOCKS:
        what, _, rest = block.comment.partition(": ")
        assert what in ("", "run by", "needs", "not run"), str(block)
        if what == "run by":
            (test,) = (REPOSITORY / "tests").rglob(f"{rest}.py")
            assert block.page.name in test.read_text("utf-8"), str(block)


def test_every_kind_of_block_has_a_test() -> None:
    """Text is the output of the block before, which a named test runs and compares."""
    for page in PAGES:
        before = ""
        for block in blocks_of(page):
            if block.language == "text":
                comment = block.comment or before
                assert comment.startswith("run by: "), str(block)
            elif block.language == "pycon":
                assert page.name == "metrics.md", "no test runs its doctests"
            else:
                assert block.language in ("bash", "sh", "python", "toml"), str(block)
                before = block.comment


def test_toml_is_toml() -> None:
    for block in BLOCKS:
        if block.language == "toml":
            assert tomllib.loads(block.code), str(block)


# ---------------------------------------------------------------------- commands are parsed


def commands_of(code: str) -> Iterator[list[str]]:
    """Yield the words of each command of a shell script."""
    joined = re.sub(r"\w+=\(.*?\)", "", code.replace("\\\n", " "))  # without arrays
    for line in joined.splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars=";&|()")
        words.whitespace_split = True
        command: list[str] = []
        for word in [*words, ";"]:
            if not re.fullmatch(r"[;&|()]+", word):
                command.append(word)
                continue
            yield from without_prefix(command)
            command = []


def without_prefix(words: list[str]) -> Iterator[list[str]]:
    """Yield a command without keywords and assignments before it, if one is left."""
    while words and re.fullmatch(r"do|then|\w+=.*", words[0]):
        words = words[1:]
    if words:
        yield words


def inline_commands(page: Path) -> Iterator[list[str]]:
    """Yield the commands of both harnesses in a page's running text."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    for code in re.findall(r"(?<!`)`((?:lm_eval|inspect eval) [^`]+)`(?!`)", text):
        yield shlex.split(code)


def parse(command: Any, words: list[str]) -> dict[str, Any]:
    """Parse the words of a command line as Click does; return option → value."""
    while inner := getattr(command, "commands", {}):
        assert words, "which command?"
        assert words[0] in inner, words[0]
        command, words = inner[words[0]], words[1:]
    context = command.context_class(command)
    options, rest, _ = command.make_parser(context).parse_args([*words])
    assert not rest, rest
    return dict(options)


def check_lm_eval(words: list[str]) -> None:
    parser = HarnessCLI()._subparsers.choices["run"]
    try:
        given = parser.parse_args(words)
    except SystemExit as error:
        raise AssertionError(words) from error
    check_model_of_lm_eval(given.model, given.model_args)
    known = {*named_tasks(), *(benchmark.name for benchmark in benchmarks()), "my_quiz"}
    for task in given.tasks or ():
        for name in str(task).split(","):
            is_ours = name in known or name.removesuffix("_by_subject") in known
            assert is_ours or PLACEHOLDERS.search(name), name


def check_model_of_lm_eval(name: str | None, arguments: Any) -> None:
    if not name or PLACEHOLDERS.search(name):
        return
    assert name == "hkcanto-g2p" or name in model_registry, name
    try:
        model = RuleBasedG2P if name == "hkcanto-g2p" else model_registry.get(name)
    except ModuleNotFoundError:
        return  # torch or vllm
    parameters = {
        parameter
        for base in model.__mro__
        if base is not object
        for parameter in inspect.signature(base.__init__).parameters
    }
    for key in dict(arguments or {}):
        assert key in parameters or PLACEHOLDERS.search(key), (name, key)


def check_inspect(words: list[str]) -> None:
    given = parse(inspect_command, words)
    model = str(given.get("model", ""))
    if model and not PLACEHOLDERS.search(model.partition("/")[0]):
        engines = {name for name, _ in inspect_providers()} | {"hkcanto"}
        assert model.partition("/")[0] in engines, model
    for task in given.get("tasks") or ():
        package, _, name = task.partition("/")
        if words[0] == "eval" and task != "…":
            assert package == "hkcanto", task
            assert name in hkcanto.__all__, task
            pairs = (option.partition("=") for option in given.get("t") or ())
            options = {key: yaml.safe_load(value) for key, _, value in pairs}
            if options.get("task") != "my_quiz":
                getattr(hkcanto, name)(**options)  # refuses an unknown option


def inspect_providers() -> Iterator[tuple[str, Any]]:
    """Yield the names of Inspect's engines."""
    for value in vars(providers).values():
        if callable(value) and hasattr(value, "__registry_info__"):
            yield registry_info(value).name.removeprefix("inspect_ai/"), value


CHECKED = {
    "hkcanto": lambda words: parse(typer.main.get_command(app), words),
    "lm_eval": check_lm_eval,
    "inspect": check_inspect,
}
UNCHECKED = {"for", "done", "wait", "export", "unset", "source", "pip", "python3"}
UNCHECKED |= {"cd", "find", "echo", "sha256sum", "cut", ">"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_exists(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HKCANTO_DATA", "sample")
    for block in blocks_of(page):
        if block in SHELL:
            for program, *words in commands_of(block.code):
                assert program in CHECKED or program in UNCHECKED, (program, words)
                CHECKED.get(program, lambda _: None)(words)
    for program, *words in inline_commands(page):
        CHECKED[program](words)


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("hkcanto report runs --fast", "--fast"),
        ("hkcanto raport runs", "raport"),
        ("lm_eval --model hf --tasks hkmmlu --no-such-option 1", "no-such-option"),
        ("lm_eval --model hf --tasks hkmmlo", "hkmmlo"),
        ("lm_eval --model gpt --tasks hkmmlu", "gpt"),
        ("lm_eval --model local-completions --model_args base=x", "base"),
        ("inspect eval hkcanto/hkmmlu --no-such-option", "no-such-option"),
        ("inspect eval hkcanto/hkmmlo", "hkmmlo"),
        ("inspect eval hkcanto/hkmmlu -T subject=stem", "subject"),
        ("inspect eval hkcanto/hkmmlu --model gpt/4", "gpt"),
    ],
)
def test_a_command_with_a_mistake_is_noticed(
    command: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HKCANTO_DATA", "sample")
    (words,) = commands_of(command)
    with pytest.raises(Exception, match=wrong):
        CHECKED[words[0]](words[1:])


# ---------------------------------------------------------------------- blocks are run


@pytest.fixture(scope="module")
def two_logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The logs of two rule-based engines on our sample data."""
    folder = tmp_path_factory.mktemp("logs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HKCANTO_DATA", "sample")
        return [
            run_inspect(folder / engine, "hkcanto/g2p", f"hkcanto/{engine}", limit=6)
            for engine in ("pycantonese", "tojyutping")
        ]


@pytest.fixture
def world(
    two_logs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The current folder, with the files that the pages name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HKCANTO_DATA", "sample")
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path / "cache"))
    for place, log in zip(("base", "tuned"), two_logs, strict=True):
        (tmp_path / "runs" / place).mkdir(parents=True)
        shutil.copy(log, tmp_path / "runs" / place)
    shutil.copytree(tmp_path / "runs", tmp_path / "results")
    (tmp_path / "sft.jsonl").write_text(json.dumps({"text": "搭電車"}), "utf-8")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/a.txt.gz").write_bytes(gzip.compress("搭電車".encode()))
    return tmp_path


RUN_HERE = [
    block
    for block in SHELL
    if not block.comment
    and all(words[0] == "hkcanto" for words in commands_of(block.code))
]
ANSWERS = (
    0,
    1,
    3,
)  # done; an answer such as "refused" or "worse"; too few items to tell


def test_a_shell_block_is_run_or_has_a_comment() -> None:
    assert [block for block in SHELL if not block.comment] == RUN_HERE
    assert len(RUN_HERE) > 4


@pytest.mark.slow
@pytest.mark.parametrize("block", RUN_HERE, ids=str)
def test_the_commands_of_a_block_run(block: Block, world: Path) -> None:
    for _, *words in commands_of(block.code):
        expanded: list[str] = []
        for word in words:
            found = sorted(map(str, world.glob(word))) if "*" in word else [word]
            expanded += [str(Path(each)) if "*" in word else each for each in found]
        done = CliRunner().invoke(app, expanded)
        is_bug = done.exception and not isinstance(done.exception, SystemExit)
        assert not is_bug, (words, done.exception)
        assert done.exit_code in ANSWERS, (words, done.output)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs(page: Path, world: Path) -> None:
    for step, place in ((100, "base"), (200, "tuned")):
        (world / "runs" / place).rename(world / "runs" / f"checkpoint-{step}")
    names: dict[str, Any] = {"__name__": "pasted", "__file__": str(world / "pasted.py")}
    for block in blocks_of(page):
        if block.language == "python":
            code = compile(block.code, page.name, "exec")
            if not block.comment:
                exec(code, names)  # as a reader would, from top to bottom


def test_the_doctests_of_the_metrics_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HKCANTO_DATA", "sample")  # an example sets it; this restores it
    failed, tried = doctest.testfile(str(DOCS / "metrics.md"), module_relative=False)
    assert (failed, tried > 15) == (0, True)


def test_the_registry_of_a_benchmark_is_made_as_shown(tmp_path: Path) -> None:
    """In adding_a_benchmark.md."""
    (block,) = [
        each
        for each in blocks_of(DOCS / "adding_a_benchmark.md")
        if each.comment == "run by: test_blocks"
    ]
    (tmp_path / "data/test").mkdir(parents=True)
    (tmp_path / "data/test/food.csv").write_bytes(b"a,b\n")
    subprocess.run(["bash", "-e", "-c", block.code], cwd=tmp_path, check=True)
    digest = hashlib.sha256(b"a,b\n").hexdigest()
    registry = (tmp_path / "checksums.sha256").read_text("utf-8")
    assert registry == f"test/food.csv {digest}\n"


def test_the_signatures_on_the_page_are_signatures() -> None:
    """In results.md."""
    (block,) = [
        each
        for each in blocks_of(DOCS / "results.md")
        if each.comment == "run by: test_blocks"
    ]
    texts = re.sub(r"\|\n +", "|", block.code).split("\n\n")
    jyutping, hkmmlu = (parse_signature(text.strip()) for text in texts)
    assert (jyutping.task, jyutping.data) == ("hkcanto_g2p", "b047f9f")
    assert dict(hkmmlu.options)["cot"] == "yes"


def test_what_needs_a_package_is_code() -> None:
    needed = {
        block.comment.partition(": ")[2]: block.language
        for block in BLOCKS
        if block.comment.startswith("needs: ")
    }
    assert needed == dict.fromkeys(
        ("matplotlib", "tiktoken", "wandb", "trl", "verifiers"), "python"
    )
    assert find_spec("pandas")
