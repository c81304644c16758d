"""Facts that the repository states about itself are true: version, tasks and their places."""

import ast
import re
import tomllib

import yaml

import hkcanto
from hkcanto import tasks
from hkcanto_tasks import __version__

from .scripts import REPOSITORY, load_script

register = load_script("docs/register.py")


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    assert project["version"] == str(cited["version"]) == __version__
    changes = (REPOSITORY / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## \[(\d.*?)\]", changes, re.M)[0] == __version__


def test_eval_yaml_is_fresh() -> None:
    assert register.FILE.read_text("utf-8") == register.text(), (
        "run `python docs/register.py`"
    )


def test_files_for_leaderboards_of_the_hub_are_fresh_and_have_the_hubs_fields() -> None:
    """The fields are those of https://huggingface.co/docs/hub/eval-results."""
    files = register.leaderboards()
    assert {path.parent.name for path in files} == {"hkmmlu", "tmmluplus"}
    for path, text in files.items():
        assert path.read_text("utf-8") == text, "run `python docs/register.py`"
        described = yaml.safe_load(text)
        assert [*described] == ["name", "description", "evaluation_framework", "tasks"]
        assert all(described.values())
        ids = [task["id"] for task in described["tasks"]]
        assert len(ids) == len({*ids}) > 3


def test_eval_yaml_has_every_task_with_the_number_that_its_paper_prints() -> None:
    listed = {
        each["name"]: each.get("dataset_samples")
        for each in register.evaluation()["tasks"]
    }
    assert listed.keys() == {*hkcanto.__all__} - {"run"}
    assert (listed["hkmmlu"], listed["tmmluplus"], listed["g2p"]) == (26368, 20118, 145)
    assert listed["hkmmlu_translation"] == 2000


def test_an_entry_in_the_register_links_to_its_task() -> None:
    lines = (
        (REPOSITORY / "inspect_evals/hkcanto/tasks.py").read_text("utf-8").splitlines()
    )
    for link, entry in register.entries("0" * 40):
        (task,) = entry["tasks"]
        line = int(link.partition("#L")[2])
        assert lines[line - 1] == "@task"
        assert lines[line].startswith(f"def {task['name']}(")
        assert task["task_path"] in link


def test_every_task_of_inspect_is_exported() -> None:
    tree = ast.parse((REPOSITORY / "inspect_evals/hkcanto/tasks.py").read_text("utf-8"))
    functions = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and "task" in map(ast.unparse, node.decorator_list)
    ]
    assert sorted(functions) == hkcanto.__all__
    for name in functions:
        assert getattr(hkcanto, name) is getattr(tasks, name)
