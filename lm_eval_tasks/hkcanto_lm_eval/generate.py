"""Generate lm-eval's task files from the catalogue: `python -m hkcanto_lm_eval.generate`.

The files are kept in the repository, for `lm_eval ls tasks` and for people who look there; a test
fails when they are stale. Only our own benchmarks have files. Nothing from a user is written as
YAML, because lm-eval imports and calls the `!function` of a YAML file.
"""

from pathlib import Path

import yaml

from hkcanto_lm_eval import task_path
from hkcanto_tasks.catalogue import benchmarks, named_tasks
from hkcanto_tasks.tasks import task_as_run

from .config import output_type
from .index import configurations, is_packaged

_HEAD = """\
# Made by `python -m hkcanto_lm_eval.generate` from the catalogue; do not edit.
# `hkcanto show {}` shows the prompt, the figures and the options.
"""
_CLASS = "class: !function hkcanto_lm_eval.task.CatalogueTask\n"


def main() -> None:
    """Rewrite the files of our own tasks; others are removed."""
    folder, made = Path(task_path()), files()
    for old in folder.glob("*/*.yaml"):
        old.unlink()
    for name, text in made.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def files() -> dict[str, str]:
    """Return path below `tasks/` → text, for the files that are kept in the repository."""
    made: dict[str, str] = {}
    for benchmark in filter(is_packaged, benchmarks()):
        for name, config in configurations(benchmark).items():
            head = _HEAD.partition("# `")[0]
            if name in named_tasks():
                head = _HEAD.format(name) + _CLASS
                config = {**config, "output_type": output_type(task_as_run(name))}
            text = yaml.safe_dump(
                config, allow_unicode=True, sort_keys=False, width=1000
            )
            made[f"{benchmark.name}/{name}.yaml"] = head + text
    return made


if __name__ == "__main__":
    main()
    print(f"{len(files())} files in {task_path()}")  # noqa: T201
