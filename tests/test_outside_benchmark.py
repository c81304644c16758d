"""Benchmarks from outside the package: the set yue_benchmark like a user's, and made-up ones.

They are found by `HKCANTO_BENCHMARKS`, as for a user; nothing in the package names them.
"""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from lm_eval.api.instance import Instance
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import catalogue
from hkcanto_tasks.catalogue import find_benchmark
from hkcanto_tasks.cli import app
from hkcanto_tasks.data.locating import locate
from hkcanto_tasks.errors import DataCorrupt, HKCantoError, OptionError
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import load_task

from .answering import AnsweringLM, answer
from .lm_eval.evaluating import evaluate
from .tasks.declaring import QUIZ
from .unwatched import UNWATCHED

EXAMPLES = Path(__file__).parents[1] / "hkcanto_tasks" / "sets"
SIZES = {
    "yue_benchmark_mmlu": 3721,
    "yue_benchmark_arc_c": 1171,
    "yue_benchmark_gsm8k": 1319,
}
OTHERS = {
    "yue_benchmark_trans_en_yue": 200,
    "yue_benchmark_trans_zh_yue": 200,
    "yue_benchmark_truthfulqa": 817,
}
YUE = tuple(SIZES)

# Inspect's own mock model reports no usage, and then needs a download to count tokens.
PROVIDER = """
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi

@modelapi(name="letters")
class Letters(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        output = ModelOutput.from_content(self.model_name, self.model_name.upper())
        output.usage = ModelUsage()
        return output
"""


def respond(prompt: str) -> str:
    """Answer with a letter, or to a sum always with the same calculation of 31."""
    return "100-69=31\n答案：31" if "逐步計算" in prompt else answer(prompt)


class RespondingLM(AnsweringLM):
    def generate_until(
        self, requests: list[Instance], disable_tqdm: bool = False
    ) -> list[str]:
        del disable_tqdm
        return [respond(request.args[0]) for request in requests]


def responding_model() -> Any:
    def reply(messages: list[Any], *_: Any) -> ModelOutput:
        output = ModelOutput.from_content(
            "mockllm", respond("".join(message.text for message in messages))
        )
        output.usage = ModelUsage()  # without it, Inspect counts tokens with a download
        return output

    return get_model("mockllm/model", custom_outputs=reply)


def in_inspect(task: str, folder: Path, **options: Any) -> Any:
    (log,) = inspect_eval(
        tasks.run(task=task),
        model=responding_model(),
        log_dir=str(folder),
        **UNWATCHED,
        **options,
    )
    assert log.status == "success", log.error
    return log


def in_lm_eval(*names: str, **options: Any) -> dict[str, Any]:
    return evaluate(*names, model=RespondingLM(), **options)


def install(folder: Path, module: str, text: str, **entry_points: str) -> None:
    """Put a module with entry points into a folder, as pip would."""
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    made = folder / f"{module}-1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n"
    )
    lines = [f"[{group}]\n{line}\n" for group, line in entry_points.items()]
    (made / "entry_points.txt").write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def letters(tmp_path: Path) -> str:
    """A folder for PYTHONPATH that adds a model `letters/b` to Inspect, which says B."""
    folder = tmp_path / "packages"
    folder.mkdir()
    install(folder, "letters_model", PROVIDER, inspect_ai="letters = letters_model")
    return str(folder)


@pytest.fixture
def yue(monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark of the example."""
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(EXAMPLES))


# ---------------------------------------------------------------------- on the command lines


def test_lm_eval_finds_it_by_name(
    lm_eval_cli: Callable[..., Any], tmp_path: Path
) -> None:
    run = lm_eval_cli(
        *("--model", "dummy"),
        task=",".join(YUE),
        HKCANTO_BENCHMARKS=str(EXAMPLES),
        HKCANTO_CACHE=str(tmp_path),
    )
    for task in YUE:
        assert f"|{task} (" in run.table
        assert run.results["results"][task]["acc,none"] == 0
        signature = run.results["configs"][task]["metadata"]["signature"]
        assert signature.startswith(f"{task.replace('_', '-')}|shots:0|")
        assert "|data:sample|" in signature


def test_inspect_runs_it_by_the_name_of_the_task(
    inspect_cli: Callable[..., Any], letters: str
) -> None:
    run = inspect_cli(
        *("--model", "letters/b", "-T", "task=yue_benchmark_mmlu"),
        task="hkcanto/run",
        HKCANTO_BENCHMARKS=str(EXAMPLES),
        PYTHONPATH=letters,
    )
    assert run.log.status == "success"
    assert len(run.log.samples) == 7
    assert run.log.results.scores[0].metrics["acc"].value == pytest.approx(2 / 7)
    assert run.log.eval.metadata["benchmark"] == "Yue-Benchmark"


@pytest.mark.usefixtures("yue")
def test_the_command_lists_and_shows_it() -> None:
    listed = CliRunner().invoke(app, ["list", "yue"]).output
    for task in YUE:
        assert f"hkcanto/run -T task={task}" in listed
    shown = CliRunner().invoke(app, ["show", "yue_benchmark_mmlu"]).output
    assert "單項選擇題" in shown
    assert "lm_eval --model … --tasks yue_benchmark_mmlu" in shown


ENDS = [
    "raise SystemExit(0)",
    "raise BaseException('odd')",
    "1 / 0",
    "FOLDER = '/no/such'",
    "",
]


@pytest.mark.slow
@pytest.mark.parametrize("text", ENDS)
@pytest.mark.parametrize("group", ["hkcanto.benchmarks", "hkcanto.kinds"])
def test_a_package_that_fails_stops_only_its_own(
    group: str, text: str, tmp_path: Path
) -> None:
    """It must not make a command exit, especially not with status 0."""
    for folder, kind in (("odd", "odd"), ("sound", "multiple_choice")):
        (tmp_path / folder).mkdir()
        quiz = QUIZ.replace("quiz", folder).replace("multiple_choice", kind)
        quiz += 'files = { test = "test.csv" }\n'
        (tmp_path / folder / "benchmark.toml").write_text(quiz, encoding="utf-8")
    install(tmp_path, "odd_package", text, **{group: "odd = odd_package:FOLDER"})
    environment = {
        **os.environ,
        "HKCANTO_BENCHMARKS": str(tmp_path),
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                sys.executable,
                "-c",
                "from hkcanto_tasks.cli import app; app()",
                *arguments,
            ],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    listed, asked = run("list"), run("show", "odd")
    assert listed.returncode == 0
    assert "\nsound\t" in listed.stdout
    assert "\nhkmmlu\t" in listed.stdout
    assert "A benchmark is left out: " in listed.stderr
    assert "odd_package:FOLDER" in listed.stderr or "/no/such" in listed.stderr
    assert asked.returncode == 1
    assert "no task 'odd'" in asked.stderr
    assert "Traceback" not in listed.stderr + asked.stderr


@pytest.mark.slow
def test_a_kind_of_ours_cannot_be_replaced(tmp_path: Path) -> None:
    install(tmp_path, "odd", "FOLDER = 1", **{"hkcanto.kinds": "g2p = odd:FOLDER"})
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from hkcanto_tasks.tasks import task_as_run; task_as_run('hkcanto_g2p')",
        ],
        env={
            **os.environ,
            "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert "The kind g2p = odd:FOLDER is left out" in done.stderr


# ---------------------------------------------------------------------- scores


@pytest.mark.usefixtures("yue")
@pytest.mark.parametrize("task", YUE)
def test_both_harnesses_score_it_alike(task: str, tmp_path: Path) -> None:
    results = in_lm_eval(task)
    by_id = {sample["doc"]["id"]: sample for sample in results["samples"][task]}
    log = in_inspect(task, tmp_path)
    assert {sample.id for sample in log.samples} == by_id.keys()
    for sample in log.samples:
        assert sample.scores["judged"].value["acc"] == by_id[sample.id]["acc"]
        prompt = by_id[sample.id]["arguments"][0][0]
        assert "".join(message.text for message in sample.input) == prompt
    expected = sum(sample["acc"] for sample in by_id.values()) / len(by_id)
    assert results["results"][task]["acc,none"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.usefixtures("yue")
def test_a_number_is_read_from_the_answer_and_the_solution() -> None:
    results = in_lm_eval("yue_benchmark_gsm8k")
    judged = {
        sample["doc"]["target"]: sample["acc"]
        for sample in results["samples"]["yue_benchmark_gsm8k"]
    }
    assert judged == {"31": 1.0, "10": 0.0, "7,500": 0.0}


@pytest.mark.usefixtures("yue")
def test_an_answer_may_be_the_number_of_its_option() -> None:
    targets = {
        sample.id: sample.target for sample in load_task("yue_benchmark_arc_c").samples
    }
    assert targets == {
        "yue_benchmark_arc_c/1": "B",
        "yue_benchmark_arc_c/2": "A",
        "yue_benchmark_arc_c/3": "C",
    }


@pytest.mark.usefixtures("yue")
def test_worked_examples_are_refused_in_plain_words() -> None:
    expected = (
        "shots=5, but there are no worked examples: the data has no dev file for it"
    )
    with pytest.raises(OptionError, match=expected):
        in_lm_eval("yue_benchmark_mmlu", num_fewshot=5)
    with pytest.raises(OptionError, match=expected):
        tasks.run(task="yue_benchmark_mmlu", shots=5)
    output = (
        CliRunner().invoke(app, ["show", "yue_benchmark_gsm8k", "--shots", "5"]).output
    )
    assert expected in " ".join(output.split())


# ---------------------------------------------------------------------- the real data


@pytest.mark.realdata
@pytest.mark.usefixtures("yue")
def test_the_real_files_are_the_recorded_ones() -> None:
    folder = locate(find_benchmark("yue_benchmark"))
    assert len(folder.recorded) == 27
    assert [problem for problem in folder.verify() if problem.kind != "extra"] == []


@pytest.mark.realdata
@pytest.mark.usefixtures("yue")
@pytest.mark.parametrize(("task", "size"), list(SIZES.items()))
def test_the_real_data_runs_in_both_harnesses(
    task: str, size: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "hkcanto"):
        results = in_lm_eval(task)
    assert [record for record in caplog.records if record.name == "hkcanto"] == []
    samples = {
        sample["doc"]["id"]: sample["acc"] for sample in results["samples"][task]
    }
    assert len(samples) == size
    expected = sum(samples.values()) / size
    assert results["results"][task]["acc,none"] == pytest.approx(expected, abs=1e-12)
    assert "|data:675254d|" in results["configs"][task]["metadata"]["signature"]
    for sample in in_inspect(task, tmp_path, limit=100).samples:
        assert sample.scores["judged"].value["acc"] == samples[sample.id]


@pytest.mark.realdata
@pytest.mark.usefixtures("yue")
def test_all_five_parts_load_from_the_real_files() -> None:
    sizes = {task: len(load_task(task).samples) for task in SIZES | OTHERS}
    assert sizes == SIZES | OTHERS


@pytest.mark.realdata
def test_no_question_of_the_benchmark_is_in_the_sample() -> None:
    from rapidfuzz import fuzz, process

    def questions(folder: Path) -> list[str]:
        rows = [
            row
            for file in folder.glob("*/*.json")
            for row in json.loads(file.read_bytes())
        ]
        return [row.get("question", row.get("en")) for row in rows]

    real = questions(Path(os.environ["HKCANTO_DATA_DIR"], "yue_benchmark"))
    ours = questions(EXAMPLES / "yue_benchmark" / "sample")
    assert len(ours) == 31
    for question in ours:
        (nearest,) = process.extract(question, real, scorer=fuzz.ratio, limit=1)
        assert nearest[1] < 65, (question, nearest)


# ---------------------------------------------------------------------- forms of data


@pytest.fixture
def quiz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return a function that declares a benchmark `quiz` with some files."""

    def declare(more: str, **files: str | bytes) -> Path:
        folder = tmp_path / "quiz"
        folder.mkdir(exist_ok=True)
        (folder / "benchmark.toml").write_text(QUIZ + more, encoding="utf-8")
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            (folder / name.replace("__", ".")).write_bytes(data)
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
        return folder

    return declare


def parquet(rows: list[dict[str, Any]]) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as files

    sink = pyarrow.BufferOutputStream()
    files.write_table(pyarrow.Table.from_pylist(rows), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def lettered(row: dict[str, Any]) -> dict[str, str]:
    return dict(zip("ABC", row["choices"], strict=False))


ROWS: list[dict[str, Any]] = [
    {"q": "邊度有電車？", "choices": ["大澳", "中環"], "label": 1},
    {"q": "邊個係島？", "choices": ["長洲", "旺角", "沙田"], "label": 0},
]


@pytest.mark.parametrize(
    ("declared", "file", "content"),
    [
        (
            "",
            "test__csv",
            "question,A,B,C,answer\n邊度有電車？,大澳,中環,,B\n邊個係島？,長洲,旺角,沙田,a\n",
        ),
        (
            "header = false",
            "test__csv",
            "邊度有電車？,大澳,中環,,B\n邊個係島？,長洲,旺角,沙田,A\n",
        ),
        (
            'columns = { question = "q", options = "choices", answer = "label" }\nanswer = "index"',
            "test__json",
            json.dumps(ROWS),
        ),
        (
            'columns = { question = ["frage", "Q"], options = "choices", answer = "label" }\n'
            'answer = "number"',
            "test__jsonl",
            "\n".join(json.dumps({**row, "label": row["label"] + 1}) for row in ROWS),
        ),
        (
            'columns = { question = "q", options = "choices", answer = "label" }\nanswer = "text"',
            "test__parquet",
            parquet([{**row, "label": row["choices"][row["label"]]} for row in ROWS]),
        ),
        (
            'columns = { question = "q", options = "choices", answer = "label" }\nanswer = "index"',
            "test__json",
            json.dumps([{**row, "choices": lettered(row)} for row in ROWS]),
        ),
        (
            'columns = { question = "q", answer = "label" }\nanswer = "index"',
            "test__json",
            json.dumps([{**row, **lettered(row)} for row in ROWS]),
        ),
    ],
    ids=["csv", "no-header", "list", "jsonl", "parquet", "mapping", "absent-column"],
)
def test_data_in_many_forms_are_the_same_questions(
    quiz: Callable[..., Path], declared: str, file: str, content: str | bytes
) -> None:
    test = f'files = {{ test = "{file.replace("__", ".")}" }}'
    quiz(
        f'{declared}\n{test}\nletters = "ABC"\nblank_options = "absent"\n',
        **{file: content},
    )
    loaded = load_task("quiz")
    samples = sorted(loaded.samples, key=lambda sample: sample.id)
    assert [(sample.choices, sample.target) for sample in samples] == [
        (("大澳", "中環", None), "B"),
        (("長洲", "旺角", "沙田"), "A"),
    ]
    assert (
        loaded.at(shots=0).prompt(samples[0]).text()
        == "邊度有電車？\nA. 大澳\nB. 中環\n答案："
    )
    assert len(loaded.revision) == 7


def test_a_column_names_the_subject(quiz: Callable[..., Path]) -> None:
    quiz(
        'files = { test = "test.csv" }\ncolumns = { subject = "topic" }\n'
        'subjects = [{ name = "food" }, { name = "law", stem = "Hong Kong law" }]\n',
        test__csv="topic,question,A,B,C,D,answer\nfood,一,a,b,c,d,A\n"
        "Hong Kong law,二,a,b,c,d,B\nfood,三,a,b,c,d,C\n",
    )
    food = {each.id: each.target for each in load_task("quiz_food").samples}
    assert food == {"quiz/food/1": "A", "quiz/food/3": "C"}
    assert [each.target for each in load_task("quiz_law").samples] == ["B"]


def test_ten_options_are_scored_in_both_harnesses(
    quiz: Callable[..., Path], tmp_path: Path
) -> None:
    letters = "ABCDEFGHIJ"
    rows = [
        {
            "question": f"第{n}題",
            "options": [f"選項{n}{k}" for k in range(10)],
            "answer": letter,
        }
        for n, letter in enumerate(letters)
    ]
    quiz(
        f'letters = "{letters}"\ncolumns = {{ options = "options" }}\n'
        'files = { test = "test.json" }\n',
        test__json=json.dumps(rows),
    )
    results = in_lm_eval("quiz")
    assert len(results["samples"]["quiz"]) == 10
    for sample in results["samples"]["quiz"]:
        assert sample["arguments"][0][0].count("選項") == 10
        assert (
            sample["doc"]["target"] == rows[int(sample["doc"]["question"][1])]["answer"]
        )
    loaded = load_task("quiz")
    last = next(sample for sample in loaded.samples if sample.target == "J")
    assert (
        loaded.kind.judge(
            "J", Sample(id="", target="J", choices=tuple(last.choices))
        ).values["acc"]
        == 1.0
    )
    log = in_inspect("quiz", tmp_path / "logs")
    assert log.results.total_samples == 10


def test_worked_examples_come_from_a_dev_file(quiz: Callable[..., Path]) -> None:
    quiz(
        'files = { dev = "dev.csv", test = "test.csv" }\nshots = 1\n',
        dev__csv="question,A,B,C,D,answer\n例,a,b,c,d,D\n",
        test__csv="question,A,B,C,D,answer\n題,a,b,c,d,A\n",
    )
    prompt = in_lm_eval("quiz")["samples"]["quiz"][0]["arguments"][0][0]
    assert prompt.startswith("例\nA. a\nB. b\nC. c\nD. d\n答案：D\n\n題\n")
    with pytest.raises(
        OptionError, match=r"there are 1 worked examples\. Ask for 0 to 1"
    ):
        tasks.run(task="quiz", shots=2)


def test_a_wrong_row_is_an_error_that_names_it(quiz: Callable[..., Path]) -> None:
    for more, content, message in (
        (
            "",
            "question,A,B,C,D,answer\n題,a,b,c,d,E\n",
            "row 2 has an answer 'E' that names none of A, B, C, D",
        ),
        ("", "question,A,B,C,D,E,answer\n題,a,b,c,d\n", "row 2 has 5 cells"),
        (
            "",
            "question,A,B,C,answer\n題,a,b,c,A\n",
            "no text for its option 4 in a, b, c, d; found the columns question",
        ),
        (
            'blank_options = "absent"',
            "question,A,answer\n題,a,A\n",
            "fewer than two options",
        ),
        (
            'columns = { options = "o" }',
            "question,o,answer\n題,a,A\n",
            "neither a list of options",
        ),
    ):
        catalogue._catalogue.cache_clear()
        quiz(f'files = {{ test = "test.csv" }}\n{more}\n', test__csv=content)
        with pytest.raises(DataCorrupt, match=message):
            load_task("quiz")


# ---------------------------------------------------------------------- sets on the hub

PIQA = [
    {
        "prompt": "想熱返碗飯，",
        "solution0": "放入微波爐",
        "solution1": "放入雪櫃",
        "label": 0,
    },
    {
        "prompt": "落大雨出街，",
        "solution0": "戴太陽眼鏡",
        "solution1": "擔遮",
        "label": 1,
    },
]
SUM = {"question": "三加五？", "answer": "3 + 5 = <<3+5=8>>8\n#### 8"}


@pytest.mark.parametrize(
    ("task", "files", "targets"),
    [
        (
            "global_piqa_yue",
            {
                "README.md": "---\nconfigs:\n"
                + "".join(
                    f"- config_name: {name}\n  data_files:\n"
                    f"  - split: test\n    path: data/{name}.tsv\n"
                    for name in ("cmn_hant", "yue_hant")
                )
                + "---\n",
                "data/yue_hant.tsv": "\n".join(
                    "\t".join(map(str, row))
                    for row in [[*PIQA[0]], *(r.values() for r in PIQA)]
                ),
                "data/cmn_hant.tsv": "prompt\tsolution0\tsolution1\tlabel\n甲\t乙\t丙\t0\n",
            },
            ["A", "B"],
        ),
        ("gsm8k_cantonese", {"data/test-00000-of-00001.parquet": [SUM]}, ["8"]),
    ],
)
def test_sets_on_the_hub_load_by_their_documented_layout(
    task: str,
    files: dict[str, Any],
    targets: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(EXAMPLES))
    monkeypatch.delenv("HKCANTO_DATA", raising=False)
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    for name, content in files.items():
        path = tmp_path / task / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            content.encode() if isinstance(content, str) else parquet(content)
        )
    assert sorted(each.target for each in load_task(task).samples) == targets


def test_a_split_that_a_hub_set_lacks_is_not_replaced_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(EXAMPLES))
    monkeypatch.delenv("HKCANTO_DATA", raising=False)
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    (tmp_path / "gsm8k_cantonese").mkdir()
    (tmp_path / "gsm8k_cantonese" / "train.parquet").write_bytes(parquet([SUM]))
    with pytest.raises(HKCantoError, match=r"no split 'test'.*train"):
        load_task("gsm8k_cantonese")


def test_a_kind_whose_overrides_nobody_would_call_is_refused() -> None:
    from hkcanto_tasks.kinds.number import Number

    with pytest.raises(
        TypeError, match=r"Mine\.system is not called: override `texts`"
    ):
        type("Mine", (Number,), {"system": lambda *_: ""})


def test_a_kind_that_reads_no_text_or_wants_the_subject_does_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from hkcanto_tasks.kinds.base import Kind
    from hkcanto_tasks.kinds.number import Number

    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(EXAMPLES))
    monkeypatch.setenv("HKCANTO_DATA", "sample")
    monkeypatch.setattr(Number, "row", Kind.row)
    with pytest.raises(AttributeError, match="has no attribute 'TEXTS'"):
        load_task("gsm8k_cantonese")
    monkeypatch.undo()

    def scored(self: Any, rows: Any, subject: Any) -> Any: ...

    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(EXAMPLES))
    monkeypatch.setenv("HKCANTO_DATA", "sample")
    monkeypatch.setattr(Number, "scored", scored)
    with pytest.raises(TypeError, match=r"scored\(\) missing 1 .* argument: 'subject'"):
        load_task("gsm8k_cantonese")
