"""Processor time and memory of `hkcanto report` and `hkcanto compare` on runs of HKMMLU's size.

    python performance/bench_report.py [--models 8] [--harness lm-eval|inspect]

The logs are made in the harness's own form by make_logs.py, in a temporary folder. The target is
8 s for the report of eight models on 26,368 questions each.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import arguments, memory


def measured(*command: str) -> tuple[float, float]:
    """Run a command; return its seconds and the peak memory of all children so far in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, memory(resource.RUSAGE_CHILDREN)


def main() -> None:
    """Make the logs, and run both commands."""
    given = arguments(__doc__, models=8, harness=("lm-eval", "inspect"))
    hkcanto = [sys.executable, "-c", "from hkcanto_tasks.cli import app; app()"]
    maker = str(Path(__file__).with_name("make_logs.py"))
    with tempfile.TemporaryDirectory() as folder:
        logs, page = Path(folder) / "logs", Path(folder) / "report.html"
        measured(
            *(sys.executable, maker, str(logs), "--models", str(given.models)),
            *("--harness", given.harness),
        )
        size = sum(file.stat().st_size for file in logs.rglob("*") if file.is_file())
        print(f"{given.models} models, {given.harness}: {size / 1e6:.0f} MB")
        children = sorted(path for path in logs.iterdir())
        for name, command in {
            "compare": [*hkcanto, "compare", *map(str, children[:2])],
            "report": [*hkcanto, "report", str(logs), "-o", str(page)],
        }.items():
            seconds, peak = measured(*command)
            print(f"{name:8} {seconds:6.1f} s, at most {peak:5.0f} MB")
        print(f"page     {page.stat().st_size / 1e6:6.2f} MB")


if __name__ == "__main__":
    main()
