"""Declare temporary benchmarks: folders with a `benchmark.toml`, like a user's."""

from pathlib import Path

from hkcanto_tasks.benchmark_files import read_benchmark
from hkcanto_tasks.data.fetch import DataFolder
from hkcanto_tasks.data.releases import GitHubRelease, HubDataset
from hkcanto_tasks.declarations import Benchmark

QUIZ = """
name = "quiz"
title = "Quiz"
[data]
[prompts.plain]
question = "{question}\\n{options}\\n答案："
[[tasks]]
name = "quiz"
title = "Quiz"
kind = "multiple_choice"
"""
"""The benchmark.toml of one task, up to the declaration of its files."""

OWN = """
name = "own"
title = "Own data"
[data]
path = PATH
[prompts.plain]
question = "{question}\\n{options}"
[[tasks]]
name = "own"
title = "Own data"
kind = "multiple_choice"
files = { test = "test.csv" }
"""
"""A benchmark with data in its own folder, at a path to be filled in."""

_REST = """
[prompts.plain]
question = "{question}\\n{options}"

[[tasks]]
name = "release_questions"
title = "Questions"
kind = "multiple_choice"
files = { test = "test/x.csv" }
"""


def declare(
    home: Path,
    release: GitHubRelease | HubDataset,
    *,
    folder: str = "release",
    checksums: str = "",
) -> Benchmark:
    """Write a benchmark whose data is published in a given way, and read it.

    Args:
        home: Its own folder.
        release: Where its data is published.
        folder: The name of its data folder.
        checksums: The text of its registry.
    """
    home.mkdir(parents=True, exist_ok=True)
    if isinstance(release, GitHubRelease):
        (home / release.registry).write_text(checksums, encoding="utf-8")
        where = (
            f'[github]\nrepository = "{release.repository}"\ncommit = "{release.commit}"\n'
            f'registry = "{release.registry}"\nprefix = "{release.prefix}"\n'
        )
    else:
        revision = f'revision = "{release.revision}"\n' if release.revision else ""
        where = f'[hub]\nrepo_id = "{release.repo_id}"\n{revision}allow = {[*release.allow]}\n'
    head = f'name = "release"\ntitle = "A release"\nfolder = "{folder}"\n'
    (home / "benchmark.toml").write_text(head + where + _REST, encoding="utf-8")
    return read_benchmark(home / "benchmark.toml")


def fetched(folder: DataFolder, file: str) -> Path:
    """Download a file if necessary, and return its path."""
    folder.fetch([file])
    return folder.root / file
