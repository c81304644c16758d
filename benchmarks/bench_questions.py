"""Our share of a multiple-choice run: loading, rendering and scoring, apart from the harness.

    HKCANTO_DATA_DIR=… python benchmarks/bench_questions.py            # lm-eval's dummy answers
    HKCANTO_DATA_DIR=… python benchmarks/bench_questions.py --answers letters|sentences
    HKCANTO_DATA_DIR=… python benchmarks/bench_questions.py --profile  # where the time goes
    HKCANTO_DATA_DIR=… python benchmarks/bench_questions.py --lm-eval  # with lm-eval's dummy model

The target is 0.25 ms a question and 300 MB for the 31,000 questions of HKCanto-Eval.
"""

import argparse
import cProfile
import os
import pstats
import resource
from time import perf_counter

from hkcanto_tasks.catalogue import find_benchmark
from hkcanto_tasks.loading import LoadedTask, load_task

ANSWERS = {
    "letters": ("B", " C", "D."),
    "dummy": ("lol",),
    "sentences": ("答案：C。", "A. 因為題目問嘅係第一座發電廠", "The answer is D.", "我唔知道"),
}


def memory() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(names: list[str], answers: tuple[str, ...]) -> None:
    """Print a row per task: milliseconds a question for each step."""
    before, total = memory(), [0.0, 0.0, 0.0]
    count = 0
    print(f"{'task':26}{'questions':>10}{'load ms':>9}{'render ms':>11}{'score ms':>10}")
    for name in names:
        start = perf_counter()
        task = load_task(name)
        loaded = perf_counter()
        render(task)
        rendered = perf_counter()
        for number, sample in enumerate(task.samples):
            answer = answers[number % len(answers)]
            task.values(sample.groups, task.condition.judge(answer, sample.target, sample.choices))
        steps = [loaded - start, rendered - loaded, perf_counter() - rendered]
        questions = len(task.samples)
        each = [step / questions * 1000 for step in steps]
        print(f"{name:26}{questions:10,}{each[0]:9.3f}{each[1]:11.3f}{each[2]:10.3f}")
        total = [a + b for a, b in zip(total, steps, strict=True)]
        count += questions
    each = [step / count * 1000 for step in total]
    print(f"{'all':26}{count:10,}{each[0]:9.3f}{each[1]:11.3f}{each[2]:10.3f}")
    print(f"together {sum(each):.3f} ms a question; memory grew by {memory() - before:.0f} MB")


def render(task: LoadedTask) -> None:
    """Render every prompt with the task's default shots."""
    for sample in task.samples:
        task.prompt(sample, min(task.task.shots, len(task.examples[sample.subject]))).text()


def with_lm_eval(name: str) -> None:
    """Run lm-eval's dummy model over a group and say how much of the time is ours."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    from hkcanto_lm_eval import task_path

    start = perf_counter()
    manager = TaskManager(include_path=[task_path()], include_defaults=False)
    indexed = perf_counter()
    profile = cProfile.Profile()
    profile.enable()
    results = simple_evaluate(
        model="dummy", tasks=[name], task_manager=manager, bootstrap_iters=0, log_samples=True
    )
    profile.disable()
    assert results is not None
    questions = sum(len(samples) for samples in results["samples"].values())
    whole = perf_counter() - indexed
    print(
        f"{name}: {questions:,} questions; indexing our files {indexed - start:.2f} s; run "
        f"{whole:.1f} s under the profiler"
    )
    pstats.Stats(profile).sort_stats("cumulative").print_stats("hkcanto", 25)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--answers", choices=ANSWERS, default="dummy")
    parser.add_argument("--lm-eval", metavar="GROUP", nargs="?", const="hkcanto")
    arguments = parser.parse_args()
    if arguments.lm_eval:
        with_lm_eval(arguments.lm_eval)
        return
    names = [
        task.name
        for benchmark in ("hkcanto", "hkmmlu", "tmmluplus")
        for task in find_benchmark(benchmark).tasks
        if task.kind == "multiple_choice"
    ]
    if not os.environ.get("HKCANTO_DATA_DIR"):
        os.environ["HKCANTO_DATA"] = "sample"
    profile = cProfile.Profile()
    if arguments.profile:
        profile.enable()
    measure(names, ANSWERS[arguments.answers])
    if arguments.profile:
        profile.disable()
        pstats.Stats(profile).sort_stats("tottime").print_stats(15)


if __name__ == "__main__":
    main()
