"""Processor time of our task in Inspect, as a multiple of a plain Inspect task on the same items.

    python performance/bench_inspect.py [ITEMS] [--repeats 5]

A plain task has the same messages and targets, and Inspect's own `generate()` and `match()`: once
without metadata, and once with the metadata that our items have, such as the question. (Inspect
shortens each text of the metadata for its summaries, which takes as long as our scorer.) The time of
our task includes loading its data. A mock model answers at once, in several sentences. The items are
made-up multiple-choice questions with a passage of several lengths. The tasks run in turn, so that
other work on the machine affects all; the figures are the best of the repeats.
"""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import arguments, seconds

from hkcanto_tasks import catalogue

LENGTHS = (200, 2_000, 20_000)  # characters of a passage
SENTENCE = "呢間公司喺舊年嘅財政年度賺咗錢，董事會決定將部分盈利派俾股東。"
DECLARED = """
name = "passages"
title = "Passages"
[data]
path = "data"
[prompts.plain]
question = "{question}\\n{options}\\n答案："
[[tasks]]
name = "passages"
title = "Passages"
kind = "multiple_choice"
files = { test = "test.json" }
"""


def declare(folder: Path, items: int, length: int) -> None:
    """Write a benchmark of questions on passages of a length."""
    passage = (SENTENCE * (length // len(SENTENCE) + 1))[:length]
    rows = [
        {
            "question": f"{passage}\n第{number}題：呢段文字講咩？",
            **{letter: f"第{number}題嘅選項{letter}" for letter in "ABCD"},
            "answer": "ABCD"[number % 4],
        }
        for number in range(items)
    ]
    (folder / "data").mkdir(parents=True)
    (folder / "benchmark.toml").write_text(DECLARED, encoding="utf-8")
    (folder / "data" / "test.json").write_text(json.dumps(rows), encoding="utf-8")
    os.environ["HKCANTO_BENCHMARKS"] = str(folder)
    catalogue._catalogue.cache_clear()


def run(task: Callable[[], Any], logs: Path) -> None:
    """Make a task, and run it with a model that answers at once."""
    from inspect_ai import eval as inspect_eval
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def respond(*_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm", f"{SENTENCE * 3}答案係B。")
        output.usage = ModelUsage()
        return output

    (log,) = inspect_eval(
        task(),
        model=get_model("mockllm/model", custom_outputs=respond),
        log_dir=str(logs),
        display="none",
        log_realtime=False,
    )
    assert log.status == "success", log.error and log.error.message


def ours() -> Any:
    """Return our task."""
    from hkcanto.building import make

    return make("passages")


def plain_of(task: Any, *, with_metadata: bool) -> Callable[[], Any]:
    """Return a function that makes a plain task on the items of a task."""
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate

    def plain() -> Any:
        samples = [
            Sample(
                id=sample.id,
                input=sample.input,
                target=sample.target,
                metadata=sample.metadata if with_metadata else None,
            )
            for sample in task.dataset
        ]
        dataset = MemoryDataset(samples, name="plain")
        return Task(dataset=dataset, solver=generate(), scorer=match())

    return plain


def measure(items: int, length: int, repeats: int) -> None:
    """Print the times of the three tasks on passages of a length."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "logs"
        declare(Path(folder) / "passages", items, length)
        task = ours()
        makers = {
            "plain": plain_of(task, with_metadata=False),
            "with metadata": plain_of(task, with_metadata=True),
            "ours": ours,
        }
        times: dict[str, list[float]] = {name: [] for name in makers}
        for repeat in range(repeats + 1):
            for name, make in makers.items():
                took = seconds(run, make, logs)
                if repeat:  # the first run imports, and fills caches
                    times[name].append(took / items * 1000)
    best = {name: min(values) for name, values in times.items()}
    listed = ", ".join(f"{name} {value:.2f} ms" for name, value in best.items())
    print(
        f"passages of {length:,} characters: {listed} an item; ours is "
        f"{best['ours'] / best['plain']:.2f} × plain, "
        f"{best['ours'] / best['with metadata']:.2f} × with metadata"
    )


def main() -> None:
    """Measure and print."""
    given = arguments(__doc__, {"items": 500}, repeats=5)
    for length in LENGTHS:
        measure(given.items, length, given.repeats)


if __name__ == "__main__":
    main()
