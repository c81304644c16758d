"""Write the task files of lm-eval from the catalogue: `python -m hkcanto_lm_eval.generate`.

They are kept in the repository, for `lm_eval ls tasks` and for people who look there; a test fails
when they are stale.
"""

from collections.abc import Iterator
from pathlib import Path

from hkcanto_lm_eval import task_path
from hkcanto_tasks.catalogue import Benchmark, NamedTask, Subject, benchmarks, named_tasks
from hkcanto_tasks.kinds import kinds

_HEAD = "# Made by `python -m hkcanto_lm_eval.generate` from the catalogue; do not edit.\n"
# lm-eval 0.4.11 finds a class only in a file beside the YAML.
_CLASS = (
    _HEAD
    + '''"""The class of the tasks in this folder."""

from hkcanto_lm_eval.task import CatalogueTask

__all__ = ["CatalogueTask"]
'''
)
_VERSION = "metadata:\n  version: 1.0\n"


def main() -> None:
    """Write all files anew; what the catalogue no longer has is removed."""
    folder = Path(task_path())
    for old in folder.glob("*/*"):
        if old.suffix in (".py", ".yaml"):
            old.unlink()
    for name, text in files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def files() -> dict[str, str]:
    """Return path below `tasks/` → text of every file."""
    made: dict[str, str] = {}
    for benchmark in benchmarks():
        made[f"{benchmark.name}/task.py"] = _CLASS
        if benchmark.averages:
            made[f"{benchmark.name}/{benchmark.name}.yaml"] = _whole(benchmark)
    for task in named_tasks().values():
        texts = _groups(task) if task.is_group else [(task.name, _task(task))]
        made |= {f"{task.benchmark.name}/{name}.yaml": text for name, text in texts}
    return made


def _task(task: NamedTask) -> str:
    kind = "multiple_choice" if task.variant.scoring == "loglikelihood" else "generate_until"
    return (
        f"{_HEAD}task: {task.name}\n"
        "class: !function task.CatalogueTask\n"
        f"output_type: {kind}\n{_VERSION}"
    )


def _groups(task: NamedTask) -> Iterator[tuple[str, str]]:
    """The group of a task, those of its categories, and those of its further sets."""
    sets: dict[str, list[Subject]] = {}
    for subject in task.subjects:
        for name in (subject.category, *subject.groups):
            if name:
                sets.setdefault(name, []).append(subject)
    categories = list(dict.fromkeys(s.category for s in task.subjects if s.category))
    by_subject = {"categories": "acc_category_macro", "subjects": "acc_macro"}
    headline = by_subject.get(task.entry.average)
    subsets = [f"acc_{name}" for name in sets if name not in categories]
    metrics = {
        **({headline: False} if headline else {}),
        "acc": True,
        "acc_macro": False,
        **dict.fromkeys([*subsets, "unparsed_rate"], True),
    }
    members = [_name(task, name) for name in categories] or _leaves(task, task.subjects)
    yield task.name, _group(task.name, members, metrics)
    for name, subjects in sets.items():
        leaves = _leaves(task, tuple(subjects))
        of_set = {"acc": True, "acc_macro": False, "unparsed_rate": True}
        yield _name(task, name), _group(_name(task, name), leaves, of_set)


def _whole(benchmark: Benchmark) -> str:
    tasks = named_tasks()
    in_averages = [
        name for average in benchmark.averages for column in average.columns for name in column
    ]
    others = [entry.name for entry in benchmark.tasks]
    members = [name for name in dict.fromkeys([*in_averages, *others]) if name in tasks]
    averages = {average.name: False for average in benchmark.averages}
    return _group(benchmark.name, members, {**averages, "unparsed_rate": True})


def _name(task: NamedTask, part: str) -> str:
    return "_".join(filter(None, (task.entry.name, part, task.variant.suffix)))


def _leaves(task: NamedTask, subjects: tuple[Subject, ...]) -> list[str]:
    return [_name(task, subject.name) for subject in subjects]


def _group(name: str, members: list[str], metrics: dict[str, bool]) -> str:
    """A group; each metric is averaged over questions, or else over the leaves."""
    listed = "".join(f"  - {member}\n" for member in members)
    aggregated = "".join(
        f"  - metric: {metric}\n    aggregation: mean\n    weight_by_size: {str(by_size).lower()}\n"
        for metric, by_size in metrics.items()
    )
    return f"{_HEAD}group: {name}\ntask:\n{listed}aggregate_metric_list:\n{aggregated}{_VERSION}"


if __name__ == "__main__":
    main()
    print(f"{len(files())} files in {task_path()} ({', '.join(kinds())})")  # noqa: T201
