"""The command `hkcanto rescore`."""

from math import isnan
from pathlib import Path
from typing import Annotated

from .console import err, print_line
from .output import argument, option, progress, write_files

_PATHS = "Logs of lm-eval (with --log_samples) and Inspect, folders of these, or .jsonl of answers."
_COLUMNS = (
    "Columns of a .jsonl for id, question, choices, response and reasoning, if they have other "
    "names. Dots reach into a value: response=body.choices.0.message"
)
_READER = (
    "An Inspect model, such as openai/gpt-4o, that reads the letters that the rules could not. "
    "It adds the figures forced and acc_reread; the headline does not change."
)
_GRADER = "An Inspect model, such as openai/gpt-4o, that judges the answers to tasks with a rubric."
_MODEL = "Model of a .jsonl; by default the file's name."


def rescore(
    paths: Annotated[list[Path], argument(_PATHS, "PATHS")],
    output: Annotated[
        Path, option("Folder for the new logs.", "-o", "--output", metavar="DIR")
    ],
    task: Annotated[str, option("Task of a .jsonl.", metavar="TASK")] = "",
    model: Annotated[str, option(_MODEL, metavar="NAME")] = "",
    columns: Annotated[str, option(_COLUMNS, metavar="FIELD=COLUMN,…")] = "",
    reader: Annotated[str, option(_READER, metavar="MODEL")] = "",
    grader: Annotated[str, option(_GRADER, metavar="MODEL")] = "",
) -> None:
    """Score saved answers again, from logs, other tools or batch APIs.

    hkcanto rescore runs/ -o rescored
    hkcanto rescore answers.jsonl --task hkmmlu -o rescored

    It writes logs that hkcanto report, compare and publish read.
    """
    from ..results.rescoring import rescore as rescoring
    from ..results.rescoring.answers import columns_of

    declared = columns_of(columns)
    with progress("Scoring") as advance:
        runs, skipped = rescoring.rescore(paths, task, model, declared, advance)
    if reader:
        rescoring.reread(runs, reader)
    if grader:
        rescoring.grade(runs, grader)
    files = rescoring.files_of(runs, output)
    write_files(files, output)
    for run in runs:
        figure, (then, now) = run.kind.headline, run.headlines
        factor, sign = (100, " %") if figure.unit in ("share", "rate") else (1, "")
        shown = "–" if isnan(now) else f"{factor * now:.2f}{sign}"
        if not isnan(then):
            changed = sum(scored.is_changed for scored in run.scored)
            shown = f"{factor * then:.2f}{sign} → {shown}, {changed:,} read otherwise"
        run_title = (
            f"{run.run.model}, {run.run.signature.task}: {len(run.scored):,} answers, "
        )
        print_line(f"{run_title}{figure.title} {shown}")
        for remark in run.remarks:
            print_line(f"  {remark}")
    for log in skipped:
        err.print(f"Left out: {log.path}: {log.reason}", highlight=False, markup=False)
    print_line(f"Wrote {len(files)} files. Next: hkcanto report {output}")
