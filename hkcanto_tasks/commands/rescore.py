"""The command `hkcanto rescore`."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .console import err, print_line
from .output import argument, option, progress, write_files

if TYPE_CHECKING:
    from ..figures import Figure
    from ..results.rescoring.runs import RescoredRun

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
    from ..results.rescoring.asking import grade, reread
    from ..results.rescoring.writing import log_files

    declared = columns_of(columns)
    with progress("Scoring") as advance:
        runs, skipped = rescoring.rescore(paths, task, model, declared, advance)
    if reader:
        reread(runs, reader)
    if grader:
        grade(runs, grader)
    files = log_files(runs, output)
    write_files(files, output)
    for run in runs:
        print_line(_summary(run))
        for remark in run.remarks:
            print_line(f"  {remark}")
    for log in skipped:
        err.print(f"Left out: {log.path}: {log.reason}", highlight=False, markup=False)
    print_line(f"Wrote {len(files)} files. Next: hkcanto report {output}")


def _summary(rescored: "RescoredRun") -> str:
    """Return a run's number of answers, and its headline before and after."""
    figure = rescored.kind.headline
    before = rescored.headline_before
    headline = _shown(rescored.headline, figure)
    if not isnan(before):
        changed = sum(scored.is_changed for scored in rescored.scored)
        headline = f"{_shown(before, figure)} → {headline}, {changed:,} read otherwise"
    run = rescored.run
    answers = f"{len(rescored.scored):,} answers"
    return f"{run.model}, {run.task}: {answers}, {figure.title} {headline}"


def _shown(value: float, figure: "Figure") -> str:
    if isnan(value):
        return "–"
    if figure.unit in ("share", "rate"):
        return f"{100 * value:.2f} %"
    return f"{value:.2f}"
