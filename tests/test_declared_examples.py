"""Every set that ships, and every example, runs on its sample data in both harnesses."""

import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import load_task, read_runs
from hkcanto_tasks.benchmark_files import read_benchmark
from hkcanto_tasks.catalogue import SETS
from hkcanto_tasks.cli import app
from hkcanto_tasks.data.releases import GitHubRelease
from hkcanto_tasks.results.statistics.estimates import value_of
from hkcanto_tasks.tasks import task_as_run

from .recording import recording
from .reports.harness_runs import AnsweringLM, answering_model, run_inspect, run_lm_eval

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
FILES = [*EXAMPLES.glob("*/benchmark.toml"), *SETS.glob("*/benchmark.toml")]
DECLARED = {path.parent.name: read_benchmark(path) for path in sorted(FILES)}
TASKS = {name: [task.name for task in each.tasks] for name, each in DECLARED.items()}

each = pytest.mark.parametrize("name", DECLARED)


@pytest.fixture(scope="module", autouse=True)
def examples() -> Iterator[None]:
    """Make them found like a user's, with sample data even before a test's own fixtures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HKCANTO_BENCHMARKS", str(EXAMPLES))
        patch.setenv("HKCANTO_DATA", "sample")
        yield


def hkcanto(*arguments: object, status: int | None = 0) -> str:
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert status is None or done.exit_code == status, done.output
    assert "Traceback" not in done.output
    return " ".join(done.output.split())


# ---------------------------------------------------------------------- declarations


def test_its_readme_says_what_a_user_must_know() -> None:
    for name, declared in DECLARED.items():
        pages = (EXAMPLES / "README.md", EXAMPLES / name / "README.md")
        text = "\n".join(page.read_text("utf-8") for page in pages if page.is_file())
        assert declared.terms, name
        for task in TASKS[name]:
            assert task in text, task
        if isinstance(declared.release, GitHubRelease):
            assert f"github.com/{declared.release.repository}" in text, name
            registry = declared.release.registry
            made = f"> docs/examples/{name}/{registry}"
            assert Path(declared.home, registry).exists() or made in text, name


def test_its_sample_loads_and_has_a_prompt() -> None:
    for task in [task for name in TASKS for task in TASKS[name]]:
        loaded = load_task(task)
        assert loaded.prompt(loaded.samples[0]).text().strip(), task


def test_show_prints_the_commands() -> None:
    for names in TASKS.values():
        said = hkcanto("show", names[0])
        assert f"--tasks {names[0]} " in said
        assert f"-T task={names[0]} " in said


def test_a_task_of_unknown_size_is_not_planned() -> None:
    said = hkcanto("plan", "canto_nlu_acceptability", "--discordance", 20, status=1)
    assert "0 declared items" in said


def test_macro_f1_is_not_planned_as_a_share_of_right_answers() -> None:
    assert "openrice_senti" not in hkcanto(
        "plan", "openrice_senti", "--discordance", 20
    )


# ---------------------------------------------------------------------- in both harnesses


@dataclass(frozen=True)
class Runs:
    """Logs of all tasks of one benchmark.

    Attributes:
        lm_eval: Folder of a model's logs in lm-eval.
        inspect: Folder of the same model's logs in Inspect.
        other: Folder of another model's logs in lm-eval.
        again: Folder of that model's logs in Inspect, for tasks that only Inspect judges.
    """

    lm_eval: Path
    inspect: Path
    other: Path
    again: Path


def answering(names: list[str], seed: int) -> Callable[[str], str]:
    """Return a model that is right, wrong or silent, depending on the prompt and the seed."""
    right = {}
    for loaded in map(load_task, names):
        for sample in loaded.samples:
            right[loaded.prompt(sample).text()] = loaded.kind.answer(sample)
    every = [*dict.fromkeys(right.values())]

    def answer(prompt: str) -> str:
        place, said = zlib.crc32(f"{seed}{prompt}".encode()), right[prompt]
        forms = (
            said,
            f"答案：{said}",
            said,
            every[place // 7 % len(every)],
            "唔知。",
            "",
        )
        return forms[place % len(forms)]

    return answer


def grader() -> Any:
    def respond(messages: list[Any], *_: Any) -> ModelOutput:
        code = re.findall(r"Level ([0-9a-f]{6}):", messages[0].text)[0]
        output = ModelOutput.from_content("grader", f"Fine.\nLevel {code}: 0")
        output.usage = ModelUsage(input_tokens=5, output_tokens=7, total_tokens=12)
        return output

    return get_model("mockllm/grader", custom_outputs=respond, memoize=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Runs]:
    """Return a function that runs each benchmark once."""
    done: dict[str, Runs] = {}

    def run(name: str) -> Runs:
        if name not in done:
            home, names = tmp_path_factory.mktemp(name), TASKS[name]
            done[name] = Runs(
                home / "lm_eval", home / "inspect", home / "other", home / "again"
            )
            for folder, seed in ((done[name].lm_eval, 1), (done[name].other, 2)):
                run_lm_eval(folder, *names, model=AnsweringLM(answering(names, seed)))
            for task in DECLARED[name].tasks:
                judged = task.kind == "judged"
                judge = {"model_roles": {"grader": grader()}} if judged else {}
                for folder, seed in ((done[name].inspect, 1), (done[name].again, 2))[
                    : 1 + judged
                ]:
                    model = answering_model(answering(names, seed))
                    run_inspect(folder, tasks.run(task=task.name), model, **judge)
        return done[name]

    return run


@pytest.mark.slow
@each
def test_both_harnesses_ask_and_judge_alike(
    name: str, runs: Callable[[str], Runs]
) -> None:
    logged = {}
    for file in runs(name).lm_eval.rglob("samples_*.jsonl"):
        for row in map(json.loads, file.read_text("utf-8").splitlines()):
            logged[row["doc"]["id"]] = row
    asked = 0
    for log in map(read_eval_log, map(str, runs(name).inspect.iterdir())):
        assert log.status == "success", log.error
        for sample in log.samples:
            row, score = logged[sample.id], sample.scores["judged"]
            prompt = row["arguments"]["gen_args_0"]["arg_0"]
            assert "".join(message.text for message in sample.input) == prompt
            if not log.eval.model_roles:  # lm-eval has no judge
                assert score.metadata["judgement"] == row["doc"]["judgement"]
            asked += 1
    assert (
        asked
        == len(logged)
        == sum(len(load_task(task).samples) for task in TASKS[name])
    )


@pytest.mark.slow
@each
def test_figures_are_equal_and_in_the_report(
    name: str, runs: Callable[[str], Runs]
) -> None:
    made, found = runs(name), dict[str, dict[str, float]]()
    for run in read_runs([made.lm_eval, made.inspect]):
        for figure in run.figures:
            if (value := value_of(run, figure)) is not None:
                found.setdefault(f"{run.task} {figure}", {})[run.harness] = value.value
    judged = {task.name for task in DECLARED[name].tasks if task.kind == "judged"}
    assert {key.split()[0] for key in found} == {*TASKS[name]}
    for key, values in found.items():
        if key.split()[0] not in judged:
            assert len(values) == 2, key
            assert len({*values.values()}) == 1, (key, values)
    said = hkcanto("report", made.lm_eval, made.inspect, "--format", "md")
    for task in DECLARED[name].tasks:
        assert task.title in said


@pytest.mark.slow
@each
def test_its_runs_are_compared_planned_and_published(
    name: str, runs: Callable[[str], Runs], tmp_path: Path
) -> None:
    made, declared = runs(name), DECLARED[name]
    second = (
        made.other
        if all(task.kind != "judged" for task in declared.tasks)
        else made.again
    )
    first = made.lm_eval if second is made.other else made.inspect
    # There is no verdict on so few answers if some are empty: exit status 2.
    compared = hkcanto("compare", f"a={first}", f"b={second}", status=None)
    assert "not read" not in compared
    assert "nothing to compare" not in compared
    figures = {task.name: task_as_run(task.name).headline for task in declared.tasks}
    known = [
        task.name
        for task in declared.tasks
        if all(each.rows for each in task.subjects)
        and (figures[task.name].unit, figures[task.name].form) == ("share", "mean")
    ]
    planned = hkcanto("plan", *known, "--discordance", 20, "--format", "md").replace(
        "\\", ""
    )
    assert all(f"| {task} |" in planned for task in known), planned
    whole = bool(declared.data)
    said = hkcanto(
        "publish", first, "--to", "card", "-o", tmp_path / "card", status=not whole
    )
    assert ("sample data" in said) is not whole


@pytest.mark.slow
@each
def test_a_server_is_sent_the_same_by_both_harnesses(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    judge = {"model_roles": {"grader": grader()}}
    with recording() as server:
        run_lm_eval(
            tmp_path,
            *TASKS[name],
            model="local-chat-completions",
            model_args=f"model=sentence,base_url={server.url}/chat/completions",
            apply_chat_template=True,
        )
        by_lm_eval = sorted(json.dumps(each["messages"]) for each in server.requests)
        server.requests.clear()
        for task in DECLARED[name].tasks:
            run_inspect(
                tmp_path,
                tasks.run(task=task.name),
                "openai-api/local/sentence",
                model_base_url=server.url,
                **(judge if task.kind == "judged" else {}),
            )
        by_inspect = sorted(json.dumps(each["messages"]) for each in server.requests)
    assert len(by_lm_eval) == sum(len(load_task(task).samples) for task in TASKS[name])
    assert by_inspect == by_lm_eval
