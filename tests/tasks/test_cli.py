"""The `hkcanto` command as a user types it."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import sysconfig
import termios
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_lm_eval import task_path
from hkcanto_tasks.catalogue import find_benchmark, named_tasks
from hkcanto_tasks.cli import app
from hkcanto_tasks.commands import doctor
from hkcanto_tasks.commands.autoload import FILES
from hkcanto_tasks.commands.findings import (
    Finding,
    _finding_of_loaded,
    print_findings,
)
from hkcanto_tasks.data.releases import HubDataset
from hkcanto_tasks.describing import describe, inspect_name, origin
from hkcanto_tasks.samples import Sample

from .declaring import QUIZ


def hkcanto(*arguments: str, status: int = 0) -> str:
    """Run the command on a wide terminal; return its output."""
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
    assert result.exit_code == status, result.output
    return result.output


REALLY = doctor.why_not


@pytest.fixture(autouse=True)
def import_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not import the harnesses in another interpreter, because this takes seconds."""
    monkeypatch.setattr(doctor, "why_not", lambda _: "")


def test_without_arguments_it_explains_itself() -> None:
    output = CliRunner().invoke(app, []).output
    for command in ("list", "show", "doctor", "data", "path"):
        assert command in output


COMMANDS = [
    each.name or each.callback.__name__
    for each in app.registered_commands
    if each.callback
]
MAIN = [task for task in named_tasks().values() if task.name == task.definition.name]


def in_terminal(columns: int, *arguments: str, status: int = 0) -> list[str]:
    """Run the command in a terminal of some width; returns its lines, without what it erased."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (50, columns))
    command = [
        sys.executable,
        "-c",
        "from hkcanto_tasks.cli import app; app()",
        *arguments,
    ]
    env = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=env
    ) as running:
        os.close(theirs)
        printed = b""
        try:
            while read := os.read(ours, 65536):
                printed += read
        except OSError:  # on Linux, this means that the other end is closed
            pass
    os.close(ours)
    assert running.returncode == status, printed
    text = re.sub(r"\x1b\[([0-9;]*m|\?25[lh]|1A)", "", printed.decode())
    return re.sub(r"[^\n]*\x1b\[2K", "", text.replace("\r", "")).splitlines()


def test_list_has_each_task_by_both_names_and_fits_the_terminal() -> None:
    lines = in_terminal(80, "list")
    assert max(map(cell_len, lines)) <= 80
    for task in MAIN:
        (at,) = [n for n, line in enumerate(lines) if line.startswith(f"{task.name} ")]
        items, shots, *title = lines[at].removeprefix(task.name).split()
        rows = (
            1597
            if task.name == "hkcanto_sentiment"
            else sum(s.rows for s in task.subjects)
        )
        drawn = 2000 if task.name.startswith("hkmmlu_translation") else rows
        assert (int(items), int(shots)) == (drawn, task.shots)
        assert title[0] == task.definition.title.split()[0]
        assert lines[at + 1].startswith(f"  {inspect_name(task)}"), task.name
    words = {word for line in lines for word in line.split()}
    assert {
        task.name for task in named_tasks().values() if task.scope == "task"
    } <= words


def test_list_is_a_task_a_line_with_tabs_when_it_is_piped() -> None:
    rows = [line.split("\t") for line in hkcanto("list").splitlines()]
    assert [row[0] for row in rows] == [task.name for task in MAIN]
    for task, row in zip(MAIN, rows, strict=True):
        assert row[1:2] + row[3:4] == [inspect_name(task), str(task.shots)]
        assert row[4] == f"{task.definition.title} {task.definition.chinese}".strip()


def test_list_is_filtered_by_name_title_or_benchmark() -> None:
    for text, names in {
        "jyutping": ["hkcanto_g2p"],
        "hkmmlu_cot": ["hkmmlu"],
        "粵譯": ["hkcanto_translation_yue_en", "hkcanto_translation_yue_zh"],
        "TMMLU+": ["tmmluplus_gen"],
        "language=en": ["hkcanto_mmlu_en", "hkcanto_dse_en", "hkcanto_professional_en"],
        "Dentistry": ["hkmmlu_dentistry", "tmmluplus_gen_dentistry"],
    }.items():
        listed = [line.split("\t")[0] for line in hkcanto("list", text).splitlines()]
        assert [name for name in names if name not in listed] == [], text
        assert len(listed) == len(names) or text == "粵譯", text


def test_list_and_show_have_the_same_of_a_task_for_scripts() -> None:
    listed = {each["name"]: each for each in json.loads(hkcanto("list", "--json"))}
    assert [*listed] == [task.name for task in MAIN]
    (found,) = json.loads(hkcanto("list", "粵拼", "--json"))
    assert found == listed["hkcanto_g2p"]
    shown = json.loads(hkcanto("show", "hkcanto/mmlu", "-T", "language=en", "--json"))
    of_list = listed["hkcanto_mmlu_en"]
    assert {key: shown[key] for key in of_list} == of_list
    assert of_list["variants"] == ["hkcanto_mmlu_en_mc"]
    assert (
        shown["inspect_command"] == "inspect eval hkcanto/mmlu -T language=en --model …"
    )
    assert shown["signature"].startswith("hkcanto-mmlu-en|shots:5|")
    assert (shown["stop"], shown["max_tokens"]) == (["\n"], 32)
    assert shown["figures"][0]["name"] == "acc"
    assert "abstract_algebra" in shown["subjects"]
    assert {option["name"] for option in shown["options"]} >= {"shots", "prompt"}


def test_a_filter_without_a_match_says_so() -> None:
    output = hkcanto("list", "klingon", status=1)
    assert "no task has 'klingon' in its names" in output
    assert "Did you mean" not in output
    assert "Did you mean hkmmlu" in hkcanto("list", "hkmlu", status=1)


def test_help_names_no_python_type() -> None:
    for command in ([], *([name] for name in COMMANDS), ["data", "fetch"]):
        shown = (
            CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "80"}).output
        )
        assert not re.search(r"<(bool|str|int|path|list|float)\b", shown), command


def test_show_tells_all_of_a_task() -> None:
    output = hkcanto("show", "hkmmlu")
    for text in (
        *(
            "香港大規模多任務語言理解",
            "Cao et al., 2025",
            "lm_eval --model … --tasks hkmmlu\n",
        ),
        *(
            "inspect eval hkcanto/hkmmlu --model …",
            "hkmmlu|shots:0|turns:single|prompt:paper|",
            "data:…",
        ),
        *(
            "of the sample data, 0-shot",
            "│ 請回答以下問題:",
            'at most 32 tokens; stop texts: "\\n\\n問題: "; in a chat: "\\n\\n問題: "',
        ),
        *(
            "acc_hk_specific",
            "↓ 0 to 1",
            "Share of questions answered correctly.",
            "hkmmlu_cot_1shot",
        ),
        *("shuffle_choices", "default paper", "+scaffold", "hk_transportation"),
    ):
        assert text in output, text
    figures = output.partition("Figures, the headline first\n")[2]
    assert figures.startswith("acc ")


def test_show_says_what_specifies_a_task_and_which_revision_its_data_is() -> None:
    shown = " ".join(hkcanto("show", "cantonmt_yue_en").split())
    assert "processed_data/test/en.txt and yue.txt; prompt by hkcanto." in shown
    assert "github.com/kenrickkung/CantoneseTranslation, e0ab287 " in shown
    revision = "0123456789abcdef0123456789abcdef01234567"
    pinned = HubDataset("someone/quiz", revision=revision)
    benchmark = msgspec.structs.replace(find_benchmark("gsm8k_cantonese"), hub=pinned)
    published = origin(benchmark)["published"]
    assert published == "huggingface.co/datasets/someone/quiz, 0123456"


def test_show_takes_names_of_inspect() -> None:
    output = hkcanto("show", "hkcanto/mmlu", "-T", "language=en")
    assert output.startswith("hkcanto_mmlu_en\n")
    assert "inspect eval hkcanto/mmlu -T language=en --model …" in output
    output = hkcanto("show", "hkmmlu_mc")
    assert "none: Inspect does not support log-likelihoods" in output
    output = hkcanto(
        "show", "hkcanto/hkmmlu", "-T", "cot=true", "-T", "shots=1", "-T", "prompt=yue"
    )
    assert output.startswith("hkmmlu_cot_1shot\n")
    assert "hkmmlu-cot-1shot|shots:1|turns:single|prompt:yue|cot:yes|" in output
    assert "-T task=hkmmlu_cot_1shot -T prompt=yue --model" in output


def test_show_finds_the_task_that_inspect_runs_by_default() -> None:
    for name in sorted({task.definition.inspect or "" for task in MAIN} - {""}):
        signature = getattr(tasks, name)().metadata["signature"].split("|")[0]
        assert describe(f"hkcanto/{name}").task.name == signature.replace("-", "_")


def test_show_of_a_subject_and_of_a_subject_in_a_variant() -> None:
    output = hkcanto("show", "hkmmlu_dentistry")
    assert "HKMMLU 香港大規模多任務語言理解: Dentistry 牙醫學" in output
    assert "--tasks hkmmlu_dentistry\n" in output
    assert "signature  hkmmlu|shots:0|turns:single|subjects:dentistry|" in output
    assert "牙醫學的專家" in output
    output = hkcanto("show", "hkmmlu_dentistry_cot")
    assert (
        """lm_eval --model … --tasks hkmmlu_cot --metadata '{"subjects": "dentistry"}'"""
        in output
    )


def test_show_says_where_a_response_ends() -> None:
    """In a chat, and without worked examples, a letter may come after line breaks."""
    another = '"\\n\\nThe following are multiple choice"'
    output = hkcanto("show", "hkcanto_mmlu_en")
    assert f'at most 32 tokens; stop texts: "\\n"; in a chat: {another}\n' in output
    output = hkcanto("show", "hkcanto_mmlu_en", "--shots", "0")
    assert f"at most 32 tokens; stop texts: {another}; in a chat: {another}\n" in output
    output = hkcanto("show", "hkmmlu", "-T", "reasoning=true")
    assert "at most 32768 tokens; stop texts: none; in a chat: none\n" in output


def test_show_takes_turns_as_an_option() -> None:
    output = hkcanto("show", "hkcanto_g2p", "-T", "multiturn=true")
    assert "hkcanto-g2p|shots:5|turns:multi|" in output
    assert "inspect eval hkcanto/g2p -T multiturn=true --model …" in output


def test_show_with_other_shots() -> None:
    output = hkcanto("show", "hkcanto_g2p", "--shots", "1")
    assert (
        """lm_eval --model … --tasks hkcanto_g2p --metadata '{"shots": 1}'\n"""
        in output
    )
    assert "|shots:1|" in output
    assert "Example 2" not in output
    output = hkcanto("show", "hkcanto_cultural_0shot", "--shots", "2")
    assert """--tasks hkcanto_cultural --metadata '{"shots": 2}'\n""" in output


def test_show_says_what_is_wrong() -> None:
    for arguments, message in (
        (["hkcanto_g2p", "--shots", "6"], "shots=6, but there are 5 worked examples"),
        (["hkcanto/mmlu", "-T", "langage=en"], "no option 'langage'"),
        (
            ["hkcanto/mmlu", "-T", "language=fr"],
            "Choose one with -T language=yue or -T language=en",
        ),
        (
            ["hkcanto/mmmlu"],
            "no task 'hkcanto/mmmlu' in the catalogue. Did you mean hkcanto_mmlu",
        ),
        (["hkmmlu_denistry"], "Did you mean hkmmlu_dentistry"),
        (["hkmmlu", "-T", "prompt"], "an option is given as name=value"),
        (["hkmmlu", "-T", "shots=many"], "shots='many' is not a number from 0"),
        (["hkmmlu", "-T", "script=simplified"], "script"),
    ):
        output = hkcanto("show", *arguments, status=1)
        assert message in " ".join(output.split())
        assert "Traceback" not in output


def test_names_of_inspect_work_for_every_command() -> None:
    for name in ("dse", "hkcanto/dse"):
        assert hkcanto("show", name).startswith("hkcanto_dse_zh\n")
        assert "hkcanto_dse_zh" in hkcanto(
            "plan", name, "--discordance", "20", "--full"
        )
        assert "hkcanto_dse_zh" in hkcanto("estimate", name)
    assert hkcanto("show", "dse", "-T", "language=en").startswith("hkcanto_dse_en\n")
    assert "Choose one with" in hkcanto("show", "dse", "-T", "language=fr", status=1)


@pytest.mark.slow
def test_what_is_printed_fits_the_terminal() -> None:
    for arguments in (("show", "hkcanto_mmlu_yue"), ("doctor",), ("data", "verify")):
        lines = in_terminal(80, *arguments)
        assert max(map(cell_len, lines)) <= 80, arguments
        if arguments[0] == "show":
            (command,) = [line for line in lines if "inspect eval " in line]
            assert command.endswith("--model …"), (
                "a command that is folded cannot be copied"
            )
            figures = lines[lines.index("Figures, the headline first") + 1 :]
            assert figures[0].split()[0] == "acc"


def test_what_is_piped_is_not_folded() -> None:
    """Each entry is on one line of any length, for searching with grep."""
    result = CliRunner().invoke(app, ["show", "hkcanto_g2p"], env={"COLUMNS": "40"})
    (signature,) = [line for line in result.output.splitlines() if "|shots:" in line]
    assert "|pkg:" in signature
    assert "\x1b" not in result.output


def test_show_never_prints_a_question_of_a_release(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "benchmark.toml").write_text(
        'name = "mine"\ntitle = "Mine"\n[hub]\nrepo_id = "me/mine"\n'
        '[prompts.plain]\nquestion = "{question}"\n[[tasks]]\nname = "mine"\ntitle = "Mine"\n'
        'kind = "number"\nfiles = { test = "test.csv" }\n',
        encoding="utf-8",
    )
    (tmp_path / "data" / "mine").mkdir(parents=True)
    (tmp_path / "data" / "mine" / "test.csv").write_text(
        "question,answer\n秘密,7\n", "utf-8"
    )
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("HKCANTO_DATA")
    output = hkcanto("show", "mine")
    assert "No prompt: the sample data of Mine has no mine." in output
    assert "秘密" not in output
    assert "mine|shots:0|turns:single|data:…|" in output


def test_path_is_what_include_path_wants() -> None:
    assert hkcanto("path").strip() == task_path()
    assert Path(hkcanto("path", "evaluate").strip(), "hkcanto_jyutping").is_dir()
    assert "evaluate" in hkcanto("path", "lmeval", status=2)


@pytest.mark.slow
def test_doctor_finds_harnesses_registration_and_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "why_not", REALLY)
    output = hkcanto("doctor")
    for text in (
        "lm-eval 0.4",
        "inspect-ai 0.3",
        "lm-eval finds",
        "inspect-ai finds",
        "sample",
    ):
        assert text in output
    assert len(output.splitlines()) <= 20


def test_doctor_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HKCANTO_DATA")
    for path, says in {
        "/does/not/exist": "/does/not/exist is not a folder",
        "/x" * 3000: "cannot be read: File name too long",
        "/" + "x" * 300: "cannot be read: File name too long",
    }.items():
        monkeypatch.setenv("HKCANTO_DATA_DIR", path)
        output = hkcanto("doctor", status=1)
        assert says in output
        assert "Traceback" not in output


def test_doctor_tells_scripts_what_it_tells_people(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = json.loads(hkcanto("doctor", "hkmmlu", "--json"))
    assert told["versions"].keys() >= {"hkcanto", "Python", "lm-eval", "inspect-ai"}
    assert [each["good"] for each in told["findings"]] == [True, True, True]
    assert told["findings"][-1]["text"] in hkcanto("doctor")
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", "/does/not/exist")
    told = json.loads(hkcanto("doctor", "hkmmlu", "--json", status=1))
    assert told["findings"][-1]["good"] is False


def test_doctor_says_why_a_harness_does_not_find_our_tasks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def findings(status: int) -> dict[str, tuple[bool | None, str]]:
        told = json.loads(hkcanto("doctor", "hkmmlu", "--json", status=status))
        return {
            each["text"]: (each["good"], each["command"]) for each in told["findings"]
        }

    monkeypatch.delenv("HKCANTO_AUTOLOAD", raising=False)
    monkeypatch.setattr(doctor, "_is_registered", lambda _: False)
    missing = "lm-eval does not find our tasks by name"
    found = findings(1)
    assert found[missing] == (None, "hkcanto autoload on")
    assert found[
        "inspect-ai does not find our tasks by name: install hkcanto again"
    ] == (False, "pip install --upgrade 'hkcanto[inspect]'")
    monkeypatch.setenv("HKCANTO_AUTOLOAD", "0")
    assert findings(1)[f"{missing}: HKCANTO_AUTOLOAD switches this off"] == (
        None,
        'lm_eval --include_path "$(hkcanto path)"',
    )
    monkeypatch.setattr(doctor, "_is_registered", lambda _: True)
    found = findings(0)
    assert found["lm-eval finds our tasks by name"] == (True, "")
    monkeypatch.setattr(doctor, "why_not", lambda code: "no GPU" * ("lm_eval" in code))
    (failed,) = [text for text in findings(1) if "cannot run our tasks" in text]
    assert failed == (
        f"lm-eval {version('lm-eval')} cannot run our tasks: an import fails: no GPU"
    )


def test_doctor_keeps_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hkcanto_tasks.commands.doctor._version", lambda _: None)
    assert "pip install --upgrade 'hkcanto[inspect]'" in hkcanto("doctor")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "text", "says"),
    [
        (
            "inspect_ai",
            "",
            "inspect-ai {inspect} cannot run our tasks: an import fails: ",
        ),
        (
            "inspect_ai",
            "import sys; sys.exit(0)",
            "it ends the interpreter with status 0",
        ),
        (
            "inspect_ai",
            "import os; os.abort()",
            "it ends the interpreter with status -6",
        ),
        ("inspect_ai", "import sys; sys.exit('no GPU')", "import fails: no GPU"),
        (
            "lm_eval",
            "raise ValueError('odd')",
            "lm-eval {lm} cannot run our tasks: an import fails",
        ),
    ],
)
def test_doctor_imports_the_harnesses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, text: str, says: str
) -> None:
    """Inspect 0.3.260 is found, but lacks a name that our package imports from it."""
    monkeypatch.setattr("hkcanto_tasks.commands.doctor.why_not", REALLY)
    (tmp_path / module).mkdir()
    (tmp_path / module / "__init__.py").write_text(text, encoding="utf-8")
    first = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(first))
    output = hkcanto("doctor", status=1)
    versions = {"inspect": version("inspect-ai"), "lm": version("lm-eval")}
    (line,) = [each for each in output.splitlines() if each.startswith("✗")]
    assert says.format(**versions) in line
    assert "next: pip install --upgrade 'hkcanto[" in output


def test_doctor_does_not_look_into_the_current_folder_for_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hkcanto_of_mine.py").touch()
    monkeypatch.chdir(tmp_path)
    assert "No module named" in REALLY("import hkcanto_of_mine")


@pytest.mark.parametrize("command", [["doctor"], ["data", "verify"]])
def test_what_is_missing_is_said_in_twenty_lines(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HKCANTO_DATA")
    for name in ("hkeval2025", "tmmluplus", "hkmmlu/test"):
        (tmp_path / name).mkdir(parents=True)
    rows = "Question,A,B,C,D,Answer\n題,甲,乙,丙,丁,A\n"
    (tmp_path / "hkmmlu/test/hk_law.csv").write_text(rows, encoding="utf-8")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    output = hkcanto(*command, status=1)
    assert len(output.splitlines()) <= 20
    assert "next: unset HKCANTO_DATA_DIR; hkcanto data fetch hkcanto" in output
    if command == ["doctor"]:
        assert "HKMMLU: 1 items, 1 of 66 subjects" in output
        assert "basic_medical_science" in output
        whole = hkcanto("doctor", "hkmmlu", status=1)
        assert "social_commonsense" in whole
        assert "hk_law 1 (paper: 407)" in whole
    else:
        assert "390 missing" in output


@pytest.mark.realdata
def test_doctor_names_a_subject_that_the_release_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hkeval2025: Path
) -> None:
    assert "✓ HKCanto-Eval: " in hkcanto("doctor", "hkcanto")
    shutil.copytree(hkeval2025, tmp_path / "hkeval2025", symlinks=True)
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    (tmp_path / "hkeval2025" / "mmlu" / "test" / "anatomy_test.csv").unlink()
    output = hkcanto("doctor", "hkcanto", status=1)
    assert "hkcanto_mmlu_en: 1 of 57 subjects are missing: anatomy" in output


def test_doctor_names_what_is_not_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    output = hkcanto("doctor")  # right after installing, nothing is wrong
    assert "· HKMMLU: not downloaded yet" in output
    assert "next: hkcanto data fetch hkmmlu" in output
    monkeypatch.setenv("HKCANTO_OFFLINE", "1")
    assert "✗ HKMMLU: not downloaded yet" in hkcanto("doctor", status=1)


def test_a_broken_benchmark_is_named_by_every_command_and_stops_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    for command, status, says in (
        (["list"], 0, "hkmmlu"),
        (["show", "hkmmlu"], 0, "hkmmlu|"),
        (["show", "mine"], 1, "Or it is in a benchmark that is left out:"),
        (["doctor"], 1, "✗ A benchmark is left out: "),
        (["doctor", "mine"], 1, "Or it is in a benchmark that is left out:"),
        (["data", "path"], 0, "tmmluplus"),
        (["data", "verify", "hkmmlu"], 0, "HKMMLU"),
    ):
        output = hkcanto(*command, status=status)
        assert says in output, command
        assert "Traceback" not in output
    (warning,) = [each for each in caplog.messages if "has no benchmark.toml" in each]
    assert str(tmp_path) in warning


@pytest.mark.slow
def test_it_is_said_on_stderr() -> None:
    command = [
        sys.executable,
        "-c",
        "from hkcanto_tasks.cli import app; app()",
        "list",
        "--json",
    ]
    done = subprocess.run(
        command,
        env={**os.environ, "HKCANTO_BENCHMARKS": "/does/not/exist"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.count("/does/not/exist has no benchmark.toml") == 1
    assert len(json.loads(done.stdout)) > 20


def test_data_of_one_benchmark_that_is_not_there_stops_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    text = f'{QUIZ}files = {{ test = "test.csv" }}\n'.replace(
        "[data]", '[data]\npath = "x"'
    )
    (tmp_path / "mine" / "benchmark.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    for command in ("path", "fetch", "verify"):
        output = hkcanto("data", command, status=1)
        assert "mine/x, the data of quiz, is not a folder" in output
        assert "hkmmlu/sample" in output


def test_paths_are_printed_of_all_data_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    (tmp_path / "tmmluplus").mkdir()
    output = hkcanto("data", "path", status=1)
    assert str(tmp_path / "tmmluplus") in output.splitlines()
    assert "has no folder 'hkeval2025'" in output


def test_data_path_and_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    (tmp_path / "hkeval2025/mmlu/dev").mkdir(parents=True)
    (tmp_path / "hkeval2025/mmlu/dev/anatomy_dev.csv").write_text(
        "version https://git-lfs.github.com/spec/v1\n", encoding="utf-8"
    )
    assert hkcanto("data", "path", "hkcanto").strip() == str(tmp_path / "hkeval2025")
    output = " ".join(hkcanto("data", "verify", "hkcanto", status=1).split())
    assert "missing" in output
    assert "Git LFS pointer" in output


def test_fetching_without_a_network_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path))
    monkeypatch.setenv("HKCANTO_OFFLINE", "1")
    output = hkcanto("data", "fetch", "hkcanto", status=1)
    assert "NetworkUnavailable" in output
    assert "HKCANTO_DATA_DIR" in output
    assert "Traceback" not in output


def test_an_unknown_benchmark_lists_the_known_ones() -> None:
    assert "hkmmlu" in hkcanto("data", "path", "hkmlu", status=1)


def test_a_log_that_is_not_there_is_named_without_a_traceback() -> None:
    output = hkcanto("agreement", "nowhere.eval", "people.csv", status=2)
    assert "nowhere.eval" in output
    assert "Traceback" not in output


@pytest.mark.realdata
def test_the_real_release_verifies() -> None:
    assert "files are as recorded" in hkcanto("data", "verify", "hkcanto")


def test_findings_show_one_detail_or_all_and_a_command_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    findings = [
        Finding(False, "Two files are missing.", ["a.csv", "b.csv", "c.csv"], "fetch"),
        Finding(True, "Rows are as published.", ["3 rows"], "fetch"),
    ]
    print_findings(findings, full=False)
    shown = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert shown[1:3] == ["a.csv", "… and 2 more"]
    assert shown[4:] == ["3 rows", "next: fetch"]
    print_findings(findings, full=True)
    shown = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert shown[1:4] == ["a.csv", "b.csv", "c.csv"]
    assert shown[5:] == ["3 rows", "next: fetch"]


def test_autoload_writes_files_and_removes_them_unless_they_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    for switch, does, files in (
        ("on", "Written into", FILES),
        ("on", "Written into", FILES),
        ("off", "Removed from", {}),
        ("off", "Removed from", {}),
    ):
        assert does in hkcanto("autoload", switch)
        written = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
        assert written == files
    installed = tmp_path / "hkcanto_lm_eval-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(
        "Name: hkcanto-lm-eval\nVersion: 1.0\n", "utf-8"
    )
    assert "is installed already" in hkcanto("autoload", "on")
    refused = hkcanto("autoload", "off", status=1)
    assert "pip uninstall hkcanto-lm-eval" in refused
    assert [*tmp_path.iterdir()] == [installed]


def loaded(name: str, asked: str, present: str, *differences: str) -> Any:
    """A loaded task: the subjects asked for and those of its items, a letter each."""
    definition = SimpleNamespace(name=name)
    return SimpleNamespace(
        task=SimpleNamespace(definition=definition),
        asked=[*asked],
        samples=[Sample(id=subject, subject=subject) for subject in present],
        differences=differences,
    )


def test_the_doctor_counts_items_and_subjects_and_names_what_differs() -> None:
    benchmark: Any = find_benchmark("hkmmlu")
    folder: Any = SimpleNamespace(kind="cached", root=Path("/data"))
    whole, part = loaded("a", "xy", "xyy"), loaded("b", "xyz", "xx")
    single = loaded("c", "x", "xxxx", "1 row is new")
    found = _finding_of_loaded(benchmark, folder, [whole])
    assert (found.good, found.command, found.details) == (True, "", [])
    assert found.text == f"{benchmark.title}: 3 items, in /data (cached)"
    found = _finding_of_loaded(benchmark, folder, [whole, part, single])
    assert (found.good, found.command) == (False, "hkcanto data fetch hkmmlu")
    assert "9 items, 3 of 5 subjects, in /data" in found.text
    assert found.details == ["c: 1 row is new"]
    found = _finding_of_loaded(benchmark, folder, [single])
    assert (found.good, found.command) == (False, "")  # complete, but it differs
    sample: Any = SimpleNamespace(kind="sample", root=Path("/data"))
    assert _finding_of_loaded(benchmark, sample, [part]).good
    local: Any = SimpleNamespace(kind="local", root=Path("/data"))
    fetch = _finding_of_loaded(benchmark, local, [part]).command
    assert fetch == "unset HKCANTO_DATA_DIR; hkcanto data fetch hkmmlu"


def test_json_has_chinese_as_it_is_written() -> None:
    assert '"hkcanto_g2p"' in hkcanto("list", "--json")
    assert "粵拼" in hkcanto("list", "粵拼", "--json")
    assert "\\u" not in hkcanto("list", "--json")
