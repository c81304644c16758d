"""Generate lm-eval's task files from the catalogue: `python -m hkcanto_lm_eval.generate`.

The files are kept in the repository, for `lm_eval ls tasks` and for people who look there; a test
fails when they are stale. Only our own benchmarks have files. Nothing from a user is written as
YAML, because lm-eval imports and calls the `!function` of a YAML file.
"""

from pathlib import Path

import yaml

from hkcanto_lm_eval import task_path
from hkcanto_tasks.catalogue import benchmarks
from hkcanto_tasks.tasks import task_as_run

from .config import Config, output_type
from .index import configurations, is_packaged

_HEAD = """\
# Made by `python -m hkcanto_lm_eval.generate` from the catalogue; do not edit.
"""
_TASK_HEAD = """\
# `hkcanto show {}` shows the prompt, the figures and the options.
class: !function hkcanto_lm_eval.task.CatalogueTask
"""
_GROUP_END = """\
metadata:
  version: !function hkcanto_lm_eval.group_versions.{}
"""


def main() -> None:
    """Rewrite the files of our own tasks; others are removed."""
    folder = Path(task_path())
    texts = files()
    for old in folder.glob("*/*.yaml"):
        old.unlink()
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def files() -> dict[str, str]:
    """Return path below `tasks/` → text, for the files that are kept in the repository."""
    texts: dict[str, str] = {}
    for benchmark in filter(is_packaged, benchmarks()):
        for name, config in configurations(benchmark).items():
            text = _group_text(config) if "group" in config else _task_text(config)
            texts[f"{benchmark.name}/{name}.yaml"] = text
    return texts


def _task_text(config: Config) -> str:
    """Return the file of a task. Its requests are only for the list of `lm_eval ls`."""
    name = config["task"]
    requests = output_type(task_as_run(name))
    text = _yaml({**config, "output_type": requests})
    return _HEAD + _TASK_HEAD.format(name) + text


def _group_text(config: Config) -> str:
    """Return the file of a group. lm-eval imports its version when it runs the group."""
    del config["metadata"]
    return _HEAD + _yaml(config) + _GROUP_END.format(config["group"])


def _yaml(config: Config) -> str:
    text: str = yaml.safe_dump(
        config,
        allow_unicode=True,
        sort_keys=False,
        width=1000,
    )
    return text


if __name__ == "__main__":
    main()
    print(f"{len(files())} files in {task_path()}")  # noqa: T201
