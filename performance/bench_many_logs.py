"""Processor time of `hkcanto report` on many small logs: it should grow as their number does.

    python performance/bench_many_logs.py [LOGS] [--parts 4]

lm-eval writes the logs: one for each of twenty tasks on the sample data and each of LOGS / 20 models.
The report is made of a part of the models, and of all. Starting up and importing, which takes as long
for any number of logs, is measured with one model and subtracted.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from make_logs import Answers, lm_eval_logs
from measuring import arguments

TASKS = (
    *("hkcanto_g2p", "hkcanto_mmlu_yue", "hkcanto_mmlu_en", "hkcanto_dse_zh"),
    *("hkcanto_dse_en", "hkcanto_professional_zh", "hkcanto_professional_en"),
    *("hkcanto_law", "hkcanto_cultural", "hkcanto_phonology", "hkcanto_orthography"),
    *("hkcanto_translation_yue_en", "hkcanto_translation_en_yue"),
    *("hkcanto_translation_yue_zh", "hkcanto_sentiment", "hkcanto_fluency", "hkmmlu"),
    *("hkmmlu_cot", "hkmmlu_translation_yue_zh", "tmmluplus_gen"),
)
REPORT = "from hkcanto_tasks.cli import app; app()"


def report_seconds(folders: list[str], page: Path) -> float:
    """Return the processor time of a report."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", REPORT, "report", *folders, "-o", str(page)],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Make the logs, and report a part and all of them."""
    given = arguments(__doc__, {"logs": 1_000}, parts=4)
    os.environ |= {"HKCANTO_DATA": "sample", "HF_HUB_OFFLINE": "1"}
    os.environ.pop("HKCANTO_DATA_DIR", None)
    models = max(2, given.logs // len(TASKS))
    fewer = max(1, models // given.parts)
    with tempfile.TemporaryDirectory() as folder:
        logs, page = Path(folder) / "logs", Path(folder) / "report.html"
        runs = [Answers(number, models, seed=1234) for number in range(models)]
        lm_eval_logs(logs, runs, TASKS)
        folders = [str(logs / f"org__{answers.name}") for answers in runs]
        start = report_seconds(folders[:1], page)
        part = report_seconds(folders[:fewer], page)
        whole = report_seconds(folders, page)
    for count, seconds in ((1, start), (fewer, part), (models, whole)):
        print(f"{count * len(TASKS):5,} logs {seconds:6.2f} s")
    if fewer > 1:
        ratio = (whole - start) / (part - start)
        print(
            f"{(models - 1) / (fewer - 1):.1f} times as many logs more than one model's "
            f"take {ratio:.1f} times as long"
        )


if __name__ == "__main__":
    main()
