"""Overhead of the hook for lm-eval for each interpreter start and each import.

    python performance/bench_startup.py [PAIRS]

Starts two environments of this interpreter alternately, one with the hook and one without, so that
other load on the machine affects both. The cost is the median difference of a pair. A third
environment, also without the hook, is the control: it shows the noise of this measurement.
"""

import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path

from measuring import arguments, seconds

SOURCES = Path(__file__).parents[1] / "lm_eval_tasks"


def create(folder: Path, *, hook: bool) -> Path:
    """Create an environment with our package, with or without the hook; return its interpreter."""
    venv.create(folder, with_pip=False)
    paths = {"base": str(folder), "platbase": str(folder)}
    site_packages = Path(sysconfig.get_path("purelib", "venv", paths))
    shutil.copytree(SOURCES / "hkcanto_lm_eval", site_packages / "hkcanto_lm_eval")
    if hook:
        for file in (SOURCES / "hook").glob("hkcanto_lm_eval*"):
            shutil.copy(file, site_packages)
    return Path(sysconfig.get_path("scripts", "venv", paths)) / "python"


def seconds_to_start(python: Path) -> float:
    """Start and stop an interpreter."""
    command = [python, "-c", "pass"]
    return seconds(lambda: subprocess.run(command, check=True), clock=time.perf_counter)


def describe(name: str, differences: Sequence[float]) -> str:
    """Return median and its 95 % interval (order statistics), in milliseconds."""
    ordered, n = sorted(differences), len(differences)
    reach = round(0.98 * n**0.5)
    low, high = ordered[max(n // 2 - reach, 0)], ordered[min(n // 2 + reach, n - 1)]
    median = statistics.median(ordered)
    return (
        f"{name}: {median * 1e3:+.3f} ms (95 % {low * 1e3:+.3f} to {high * 1e3:+.3f})"
    )


def import_times(python: Path) -> dict[str, list[int]]:
    """Return microseconds that ``-X importtime`` gives for our modules, in 51 starts."""
    times: dict[str, list[int]] = {}
    for _ in range(51):
        done = subprocess.run(
            [python, "-X", "importtime", "-c", "pass"],
            check=True,
            capture_output=True,
            text=True,
        )
        for own, module in re.findall(r"(\d+) \| +\d+ \| +(hkcanto\S+)", done.stderr):
            times.setdefault(module, []).append(int(own))
    return times


def main(pairs: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        plain = create(Path(folder) / "plain", hook=False)
        twin = create(Path(folder) / "twin", hook=False)
        hooked = create(Path(folder) / "hooked", hook=True)
        for python in (plain, twin, hooked):
            seconds_to_start(python)  # writes the bytecode, fills the disk cache
        rows = [
            [seconds_to_start(p) for p in (plain, hooked, twin)] for _ in range(pairs)
        ]
        start = statistics.median(row[0] for row in rows) * 1e3
        print(
            f"Python {sys.version.split()[0]}, {pairs} pairs, a start takes {start:.2f} ms"
        )
        print(describe("with the hook   ", [row[1] - row[0] for row in rows]))
        print(describe("control, no hook", [row[2] - row[0] for row in rows]))
        for module, times in import_times(hooked).items():
            print(f"importing {module}: {statistics.median(times):.0f} µs")
        code = "import sys, timeit; f = sys.meta_path[0].find_spec; assert f('json') is None; "
        code += "print(min(timeit.repeat(lambda: f('json', None, None), number=10**5)) * 1e4)"
        done = subprocess.run(
            [hooked, "-c", code], check=True, capture_output=True, text=True
        )
        print(f"each import of a new module: {float(done.stdout):.0f} ns more")


if __name__ == "__main__":
    main(arguments(__doc__, {"pairs": 400}).pairs)
