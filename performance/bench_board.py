"""Time and memory of `hkcanto board` on many models, from records and from logs.

    python performance/bench_board.py [--models 40] [--logs 2]

The records are made up, in the form of `hkcanto publish --to eee`, for every task and variant; they
summarise over ten million items. The logs are made by make_logs.py, for HKMMLU at its full size;
the time grows linearly with the number of models. The targets are 10 s for the records of 40
models, and 1.5 GB.
"""

import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from made_records import write
from measuring import arguments, memory


def built(results: Path, site: Path) -> None:
    """Build a board, and print its time, memory and largest page."""
    command = [sys.executable, "-c", "from hkcanto_tasks.cli import app; app()"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run(
        [*command, "board", str(results), "-o", str(site)],
        check=True,
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    largest = max(file.stat().st_size for file in site.rglob("*.html"))
    print(
        f"  {seconds:6.1f} s of the processor, {time.time() - start:6.1f} s, at most "
        f"{memory(resource.RUSAGE_CHILDREN):5.0f} MB; largest page {largest / 1000:.0f} kB"
    )
    print(f"  {done.stdout.strip().partition(':')[0]}")


def main() -> None:
    """Make records and logs, and build boards of them."""
    given = arguments(__doc__, models=40, logs=2)
    with tempfile.TemporaryDirectory() as folder:
        results, site = Path(folder) / "results", Path(folder) / "site"
        print(f"{write(results, given.models)} records of {given.models} models")
        built(results, site)
        if not given.logs:
            return
        logs, site = Path(folder) / "logs", Path(folder) / "site-of-logs"
        maker = str(Path(__file__).with_name("make_logs.py"))
        made = [
            sys.executable,
            maker,
            str(logs),
            "--models",
            str(given.logs),
            "--seed",
            "1",
        ]
        print(f"logs of {given.logs} models on 26,368 questions")
        subprocess.run(made, check=True, capture_output=True)
        for file in logs.rglob("results_*.json"):  # A board leaves out unknown data.
            text = re.sub(r"data:[^|\"]+", "data:ba2a58b", file.read_text("utf-8"))
            file.write_text(text, encoding="utf-8")
        built(logs, site)


if __name__ == "__main__":
    main()
