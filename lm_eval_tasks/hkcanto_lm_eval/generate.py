"""Generate lm-eval's task files from the catalogue: `python -m hkcanto_lm_eval.generate`.

The files are kept in the repository, for `lm_eval ls tasks` and for people who look there; a test
fails when they are stale. Only our own benchmarks have files. Nothing from a user is written as
YAML, because lm-eval imports and calls the `!function` of a YAML file.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from hkcanto_lm_eval import task_path
from hkcanto_tasks.catalogue import benchmarks, named_tasks
from hkcanto_tasks.declarations import TaskVariant
from hkcanto_tasks.tasks import load_task, task_as_run

from .config import shown
from .index import configurations, is_packaged

_HEAD = "# Made by `python -m hkcanto_lm_eval.generate` from the catalogue; do not edit.\n"


def main() -> None:
    """Rewrite the files of our own tasks, and remove files that the catalogue no longer has."""
    folder, made = Path(task_path()), files()
    for old in folder.glob("*/*"):
        if old.suffix in (".py", ".yaml") and old.relative_to(folder).as_posix() not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def files() -> dict[str, str]:
    """Return path below `tasks/` → text, for the files that are kept in the repository."""
    made: dict[str, str] = {}
    for benchmark in benchmarks():
        for name, config in configurations(benchmark).items() if is_packaged(benchmark) else ():
            task = named_tasks().get(name)
            text = _task(task, config["metadata"]) if task else _dump(config)
            made[f"{benchmark.name}/{name}.yaml"] = _HEAD + text
    return made


def _task(task: TaskVariant, metadata: Mapping[str, Any]) -> str:
    """The file of a task: its whole setup, or for a part only the output type for `lm_eval ls`."""
    shows, prompt = shown(task_as_run(task.name)), ""
    if task.scope == "task":
        prompt = _sample_prompt(task)
    else:
        shows = {"output_type": shows["output_type"]}
    named = _dump({"task": task.name}) + "class: !function hkcanto_lm_eval.task.CatalogueTask\n"
    return named + _dump({**shows, "metadata": metadata}) + prompt


def _sample_prompt(task: TaskVariant) -> str:
    """The prompt for one item of the sample data, as YAML comments."""
    with patch.dict(os.environ, HKCANTO_DATA="sample"):
        loaded = load_task(task.name)
        sample = loaded.samples[0]
        prompt = loaded.prompt(sample).text()
    head = f"One prompt, on the item {sample.id} of the sample data, which is ours:"
    # Every character that ends a line in YAML also ends one for `splitlines`.
    lines = ("", *(f"  {line}" for line in f"{prompt}\n".splitlines()))
    return "".join(f"# {line}".rstrip() + "\n" for line in (head, *lines))


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Dumps multi-line texts as blocks, and indents lists."""

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
