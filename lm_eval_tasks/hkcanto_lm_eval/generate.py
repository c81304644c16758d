"""Write the task files of lm-eval from the catalogue: `python -m hkcanto_lm_eval.generate`.

Those of our own tasks are kept in the repository, for `lm_eval ls tasks` and for people who look
there; a test fails when they are stale. Those of benchmarks from outside are written when lm-eval
starts.
"""

import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from hkcanto_lm_eval import task_path
from hkcanto_tasks import __version__
from hkcanto_tasks.catalogue import BENCHMARKS, Benchmark, TaskVariant, benchmarks, named_tasks
from hkcanto_tasks.errors import HKCantoError
from hkcanto_tasks.loading import load_task
from hkcanto_tasks.setup import setup

from .config import shown

_HEAD = "# Made by `python -m hkcanto_lm_eval.generate` from the catalogue; do not edit.\n"
# lm-eval 0.4.11 finds a class only in a file beside the YAML.
_CLASS = (
    _HEAD
    + '''"""The class of the tasks in this folder."""

from hkcanto_lm_eval.task import CatalogueTask

__all__ = ["CatalogueTask"]
'''
)


def main() -> None:
    """Write the files of our own tasks anew; what the catalogue no longer has is removed."""
    folder = Path(task_path())
    made = files()
    for old in folder.glob("*/*"):
        if old.suffix in (".py", ".yaml") and old.relative_to(folder).as_posix() not in made:
            old.unlink()
    _write(folder, made)


def files() -> dict[str, str]:
    """Return path below `tasks/` → text, for the files that are kept in the repository."""
    return _files(written=False)


def write_others() -> Path:
    """Write the files of the tasks that the repository has none for, and return their folder.

    It is in the user's cache, under a name made of what is in it: where it exists, nothing is done.

    Raises:
        CatalogueError: A benchmark from outside is wrong.
    """
    own = {Path(benchmark.home) for benchmark in benchmarks()}
    made = _files(written=True)
    key = hashlib.sha256(repr((__version__, sorted(own), made)).encode()).hexdigest()[:12]
    from hkcanto_tasks.data.downloads import cache_folder

    for parent in (cache_folder(), Path(tempfile.gettempdir()) / f"hkcanto-{os.getuid()}"):
        folder = parent / "lm_eval_tasks" / key
        if folder.is_dir():
            return folder
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            staging = Path(tempfile.mkdtemp(dir=folder.parent))
            _write(staging, made)
            staging.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                continue
        return folder
    raise HKCantoError(
        f"no folder for lm-eval's task files: neither {cache_folder()} nor {tempfile.gettempdir()} "
        "can be written to. Set HKCANTO_CACHE to one that can."
    )


def _write(folder: Path, made: Mapping[str, str]) -> None:
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _files(*, written: bool) -> dict[str, str]:
    """The files that are kept in the repository, or that are written at start."""
    texts: dict[tuple[str, str], str] = {}
    for task in named_tasks().values():
        main, of = task.scope == "task", task.benchmark.name
        outside = _is_outside(task.benchmark)
        kept = not outside and (task.scope != "subject" or task.definition.subject_files)
        # Variants of a single subject or part are `subjects` of the variant's main task.
        if kept != written and (main or not task.variant.suffix):
            texts[of, task.name] = _task(task)
        if main and not task.variant.suffix and len(task.subjects) > 1 and outside == written:
            members = [f"{task.definition.name}_{subject.name}" for subject in task.subjects]
            name, metrics = f"{task.name}_by_subject", {"acc": True, "unparsed_rate": True}
            texts[of, name] = _group(name, members, metrics, task.definition.version)
    for benchmark in benchmarks():
        if benchmark.averages and _is_outside(benchmark) == written:
            groups = _groups(benchmark)
            texts |= {(benchmark.name, name): text for name, text in groups.items()}
    made = {f"{folder}/{name}.yaml": text for (folder, name), text in texts.items()}
    return {f"{folder}/task.py": _CLASS for folder, _ in texts} | made


def _is_outside(benchmark: Benchmark) -> bool:
    return Path(benchmark.home).parent != BENCHMARKS


def _task(task: TaskVariant) -> str:
    """A task: all that its file shows, or of a part its output type, for `lm_eval ls tasks`."""
    shows, prompt = shown(setup(task.name)), ""
    if task.scope == "task":
        prompt = _sample_prompt(task)
    else:
        shows = {"output_type": shows["output_type"]}
    named = f"task: {task.name}\nclass: !function task.CatalogueTask\n"
    version = {"metadata": {"version": task.definition.version}}
    return _HEAD + named + _dump({**shows, **version}) + prompt


def _sample_prompt(task: TaskVariant) -> str:
    """The prompt of one item of the sample data, as comments."""
    with patch.dict(os.environ, HKCANTO_DATA="sample"):
        try:
            loaded = load_task(task.name)
            prompt = loaded.prompt(loaded.samples[0]).text()
        except HKCantoError:  # a benchmark from outside may have no sample
            return ""
    lines = "".join(f"#   {line}".rstrip() + "\n" for line in prompt.split("\n"))
    item = loaded.samples[0].id
    return f"# One prompt, on the item {item} of the sample data, which is ours:\n#\n{lines}"


def _groups(benchmark: Benchmark) -> dict[str, str]:
    """The group of all tasks of a benchmark with its averages, and one for each pooled column."""
    found: dict[str, str] = {}
    version = max(entry.version for entry in benchmark.tasks)
    averages = [of for of in benchmark.averages if len(of.columns) > 1]
    averaged = [name for of in averages for column in of.columns for name in column]

    def part(name: str) -> dict[str, Any]:
        return {"task": name, "metadata": {"part_of": benchmark.name}}

    pooled: dict[str, str] = {}
    for of in benchmark.averages:
        if len(of.columns) == 1:
            own = [part(name) for name in of.columns[0]]
            found[of.name] = _group(of.name, own, {"acc": True}, version)
            pooled |= dict.fromkeys(of.columns[0], of.name)
    members: dict[str, Any] = {}
    for name in [*averaged, *(entry.name for entry in benchmark.tasks)]:
        alone = part(name) if name in averaged else name
        members[pooled.get(name, name)] = pooled.get(name, alone)
    metrics = {of.name: False for of in averages}
    found[benchmark.name] = _group(benchmark.name, [*members.values()], metrics, version)
    return found


def _group(name: str, tasks: Sequence[Any], metrics: Mapping[str, bool], version: int) -> str:
    """A group; each metric is averaged over questions, or else over its tasks."""
    aggregated = [
        {"metric": metric, "aggregation": "mean", "weight_by_size": by_size}
        for metric, by_size in metrics.items()
    ]
    more = {"aggregate_metric_list": aggregated, "metadata": {"version": version}}
    return _HEAD + _dump({"group": name, "task": tasks, **more})


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Texts of several lines as blocks, and lists indented."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:  # noqa: ARG002
        return super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text.strip() else '"' if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def _dump(mapping: Mapping[str, Any]) -> str:
    text: str = yaml.dump(
        dict(mapping), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=1000
    )
    return text


if __name__ == "__main__":
    main()
    print(f"{len(files())} files in {task_path()}")  # noqa: T201
