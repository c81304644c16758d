"""Our share of the run time of HKMMLU at full size in lm-eval, with a model that answers at once.

    HKCANTO_DATA_DIR=… python performance/bench_full_size.py              # 26,368 questions
    HKCANTO_DATA_DIR=… python performance/bench_full_size.py --times 4    # 105,472 of them
    HKCANTO_DATA_DIR=… python performance/bench_full_size.py --shots 5

The questions come from HKCANTO_DATA_DIR, or else from the sample data, repeated to the published
number in each of the 66 subjects. Our share is the time in our code when lm-eval calls it, without
lm-eval's code that ours calls. Targets: 0.2 ms a question, 200 MB, 4 s to the first request in
addition to lm-eval's own index, and growth in proportion to the number of questions.
"""

import csv
import itertools
import os
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from time import perf_counter
from typing import Any

from measuring import arguments, memory

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.data.locating import locate


def make(folder: Path, times: int) -> None:
    """Write a release of the full size, `times` over."""
    task = find_task("hkmmlu")
    source = locate(task.benchmark).root
    for split in ("dev", "test"):
        (folder / "hkmmlu" / split).mkdir(parents=True)
        rows: list[list[str]] = []
        for file in sorted((source / split).glob("*.csv")):
            with file.open(encoding="utf-8-sig", newline="") as opened:
                header, *of_file = csv.reader(opened)
            rows += of_file
        asked = header.index("Question")
        endless = (  # a row that repeats another is refused
            [*row[:asked], f"{row[asked]}（第{number}題）", *row[asked + 1 :]]
            for number, row in enumerate(itertools.cycle(rows))
        )
        for subject in task.subjects:
            count = subject.rows * times if split == "test" else 5
            with (folder / "hkmmlu" / split / f"{subject.stem}.csv").open(
                "w", encoding="utf-8", newline=""
            ) as opened:
                csv.writer(opened).writerows(
                    [header, *itertools.islice(endless, count)]
                )


class Clock:
    """The time in our functions, without the time in lm-eval's that they call."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._open: list[float] = []

    def time(self, owner: Any, name: str, *, ours: bool = True) -> None:
        """Time a method from now on; time in lm-eval's code is subtracted from its caller's."""
        function: Callable[..., Any] = getattr(owner, name)

        @wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            self._open.append(0.0)
            start = perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                spent = perf_counter() - start
                inner = self._open.pop()
                if ours:
                    self.seconds[name] = self.seconds.get(name, 0.0) + spent - inner
                if self._open:
                    self._open[-1] += spent

        setattr(owner, name, timed)


def main() -> None:
    """Measure and print."""
    given = arguments(__doc__, times=1, shots=0)
    if not os.environ.get("HKCANTO_DATA_DIR"):
        os.environ["HKCANTO_DATA"] = "sample"
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), given.times)
        os.environ |= {
            "HKCANTO_DATA": "",
            "HKCANTO_DATA_DIR": folder,
            "HF_HUB_OFFLINE": "1",
        }
        measure(given.shots)


def measure(shots: int) -> None:
    """Run the task, and print its times and memory."""
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks import TaskManager

    from hkcanto_lm_eval import task_path
    from hkcanto_lm_eval.task import CatalogueTask

    first_request: list[float] = []

    class AtOnce(LM):  # type: ignore[misc]
        tokenizer_name = "at-once"

        def generate_until(
            self, requests: list[Any], disable_tqdm: bool = False
        ) -> list[str]:
            del disable_tqdm
            first_request.append(perf_counter())
            return ["ABCD"[number % 4] for number, _ in enumerate(requests)]

        def loglikelihood(self, *_: Any, **__: Any) -> list[tuple[float, bool]]:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    clock = Clock()
    for name in ("__init__", "fewshot_context", "process_results"):
        clock.time(ConfigurableTask, name, ours=False)
    for name in (
        "__init__",
        "download",
        "fewshot_context",
        "process_results",
        "aggregation",
    ):
        clock.time(CatalogueTask, name)
    before = memory()
    start = perf_counter()
    manager = TaskManager(include_path=[task_path()], include_defaults=False)
    indexed = perf_counter()
    results = simple_evaluate(
        model=AtOnce(),
        tasks=["hkmmlu"],
        num_fewshot=shots or None,
        task_manager=manager,
        bootstrap_iters=0,
        log_samples=True,
    )
    end = perf_counter()
    assert results is not None
    count = sum(len(samples) for samples in results["samples"].values())
    print(f"{count:,} questions, {shots} shots")
    print(f"index of our files   {indexed - start:8.2f} s")
    print(f"to the first request {first_request[0] - indexed:8.2f} s")
    print(f"whole run            {end - indexed:8.2f} s")
    print(
        f"memory grew by       {memory() - before:8.0f} MB (with lm-eval's own samples)"
    )
    for name, seconds in clock.seconds.items():
        print(f"  ours: {name:16} {seconds:8.2f} s")
    ours = sum(clock.seconds.values())
    print(
        f"ours together        {ours:8.2f} s, {ours / count * 1000:.3f} ms a question"
    )


if __name__ == "__main__":
    main()
