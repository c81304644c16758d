"""Generate the files that describe our tasks to inspect_evals and to the Hugging Face hub.

    python docs/register.py            write `inspect_evals/hkcanto/eval.yaml` and the files of
                                       `docs/examples/hub`; a test fails when one is stale
    python docs/register.py COMMIT     print the entries that point to a commit (full id)

The register's form asks for a paper and a link to a task; the link is printed above each entry.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import hkcanto
from hkcanto import tasks
from hkcanto_tasks.catalogue import (
    BENCHMARKS,
    benchmarks,
    find_benchmark,
    find_task,
    named_tasks,
)
from hkcanto_tasks.data.releases import GitHubRelease, HubDataset
from hkcanto_tasks.describing import describe, items_of_run

REPOSITORY = Path(__file__).parents[1]
FILE = REPOSITORY / "inspect_evals" / "hkcanto" / "eval.yaml"
HUB = REPOSITORY / "docs" / "examples" / "hub"
HOME = "https://github.com/hkcanto/hkcanto"
HEAD = "# Made by `python docs/register.py` from the catalogue; do not edit.\n"
PAPERS = {"hkcanto": "2503.12440", "hkmmlu": "2505.02177", "tmmluplus": "2403.01858"}


def evaluation() -> dict[str, Any]:
    """Return the contents of `eval.yaml`, which describes our tasks to inspect_evals."""
    return {
        "title": "HKCanto-Eval, HKMMLU and TMMLU+",
        "description": "Benchmarks for Cantonese and Hong Kong: exams, law, culture, sounds and "
        "characters, Jyutping, translation, summaries, sentiment and everyday answers. Metrics "
        "made for Cantonese give the same scores as in lm-evaluation-harness.",
        "arxiv": _arxiv("hkcanto"),
        "group": "Knowledge",
        "contributors": ["hkcanto"],
        "tasks": [_task(name) for name in hkcanto.__all__ if name != "run"],
        "external_assets": [*_assets()],
        "tags": ["Cantonese", "Chinese", "Hong Kong", "Taiwan"],
    }


def entries(commit: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield, for each paper, the link to its task at a commit and its entry in the register.

    Examples:
        >>> [entry["tasks"][0]["name"] for _, entry in entries("0" * 40)]
        ['hkcanto', 'hkmmlu', 'tmmluplus']
    """
    path = (FILE.parent / "tasks.py").relative_to(REPOSITORY).as_posix()
    for name in PAPERS:
        benchmark, function = find_benchmark(name), inspect.unwrap(getattr(tasks, name))
        yield (
            f"{HOME}/blob/{commit}/{path}#L{inspect.getsourcelines(function)[1]}",
            {
                "full_title": benchmark.paper.rpartition(" (")[0],
                "common_title": benchmark.title,
                "paper_title": benchmark.paper.rpartition(" (")[0],
                "description": (inspect.getdoc(function) or "").splitlines()[0],
                "contributors": ["hkcanto"],
                "arxiv": _arxiv(name),
                "tasks": [{**_task(name), "task_path": path}],
                "source": {"repository_url": HOME, "repository_commit": commit},
            },
        )


def leaderboards() -> dict[Path, str]:
    """Return the `eval.yaml` of each data set on the hub, by its path here.

    Its tasks are those of `hkcanto publish --to hf`, a leaderboard each:
    https://huggingface.co/docs/hub/eval-results
    """
    files = {}
    for name in PAPERS:
        benchmark = find_benchmark(name)
        if not benchmark.hub:
            continue
        own = [task for task in named_tasks().values() if task.benchmark.name == name]
        contents = {
            "name": benchmark.title,
            "description": (inspect.getdoc(getattr(tasks, name)) or "").splitlines()[0],
            "evaluation_framework": "hkcanto",
            "tasks": [{"id": task.name} for task in own if task.scope == "task"],
        }
        files[HUB / name / "eval.yaml"] = HEAD + _dump(contents)
    return files


def _task(name: str) -> dict[str, Any]:
    """Return a task's entry, as `inspect eval` runs it without options."""
    if name in PAPERS and (averages := find_benchmark(name).averages):
        parts = {part for of in averages for column in of.columns for part in column}
        samples = sum(items_of_run(find_task(part)) for part in parts)
    else:
        if name not in {task.inspect for each in benchmarks() for task in each.tasks}:
            return {"name": name, "kind": "maintenance"}  # scores judges, not models
        size = inspect.signature(getattr(tasks, name)).parameters.get("size")
        samples = items_of_run(describe(f"hkcanto/{name}").task)
        samples = min(samples, size.default) if size else samples
    return {"name": name, "dataset_samples": samples}


def _assets() -> Iterator[dict[str, str]]:
    for benchmark in benchmarks():
        if Path(benchmark.home).parent != BENCHMARKS:
            continue
        for release in filter(None, (benchmark.release, benchmark.reasoning)):
            if isinstance(release, GitHubRelease):
                yield {
                    "type": "direct_url",
                    "source": f"https://github.com/{release.repository}/tree/{release.commit}",
                    "fetch_method": "download_and_verify",
                    "state": "pinned",
                }
            elif isinstance(release, HubDataset):
                recorded = "The commit of the first download is recorded and used from then on."
                yield {
                    "type": "huggingface",
                    "source": release.repo_id,
                    "fetch_method": "download_and_verify",
                    "state": "pinned" if release.revision else "floating",
                    **({} if release.revision else {"comment": recorded}),
                }


def _arxiv(name: str) -> str:
    return f"https://arxiv.org/abs/{PAPERS[name]}"


def _dump(mapping: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(mapping, sort_keys=False, allow_unicode=True, width=1000)
    return text


def text() -> str:
    """Return the text of `eval.yaml`."""
    return HEAD + _dump(evaluation())


if __name__ == "__main__":
    if commit := "".join(sys.argv[1:]):
        if not re.fullmatch(r"[0-9a-f]{40}", commit):
            sys.exit(
                f"{commit} is not a full commit id; `git rev-parse v0.2.0` prints one"
            )
        print(
            *(f"# {link}\n{_dump(entry)}" for link, entry in entries(commit)),
            sep="---\n",
        )
    else:
        for file, contents in {FILE: text(), **leaderboards()}.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(contents, encoding="utf-8")
            print(file)
