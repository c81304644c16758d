"""The command `hkcanto rescore`."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import err, print_line
from .output import (
    argument,
    check_folder,
    format_of,
    option,
    progress,
    write,
    write_files,
)

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
_OUTPUT = "Folder for the new logs; with --any, a file for the report."
_ANY = "The logs are of any multiple-choice tasks: report scores as logged and as we read them."
_CHOICES = (
    "With --any: lm-eval's column of choices, or several: choice1,choice2,choice3."
)
_ANSWER = "With --any: lm-eval's column of the right letter, text or number from 0."
_SHOW = "With --any: responses to show whose score differs or is lost."
_MODEL = "Model of a .jsonl; by default the file's name."


def rescore(
    paths: Annotated[list[Path], argument(_PATHS, "PATHS", exists=True)],
    output: Annotated[
        Path | None,
        option(
            _OUTPUT,
            "-o",
            "--output",
            metavar="DIR",
        ),
    ] = None,
    task: Annotated[str, option("Task of a .jsonl.", metavar="TASK")] = "",
    model: Annotated[str, option(_MODEL, metavar="NAME")] = "",
    columns: Annotated[str, option(_COLUMNS, metavar="FIELD=COLUMN,…")] = "",
    encoding: Annotated[str, option("Encoding of a .jsonl.", metavar="NAME")] = "utf-8",
    reader: Annotated[str, option(_READER, metavar="MODEL")] = "",
    grader: Annotated[str, option(_GRADER, metavar="MODEL")] = "",
    any_task: Annotated[bool, option(_ANY, "--any")] = False,
    choices: Annotated[str, option(_CHOICES, metavar="COLUMN")] = "",
    answer: Annotated[str, option(_ANSWER, metavar="COLUMN")] = "",
    show: Annotated[int, option(_SHOW, metavar="N", min=0)] = 0,
) -> None:
    """Score saved answers again, from logs, other tools or batch APIs.

    hkcanto rescore runs/ -o rescored
    hkcanto rescore answers.jsonl --task hkmmlu -o rescored
    hkcanto rescore runs/ --any --show 20

    It writes logs that hkcanto report, compare and publish read. With
    --any it reports what our reader makes of any multiple-choice log.
    """
    if any_task:
        from ..results.reports.any_rescored import rescore_any

        form = format_of(output, None)
        with progress():
            report = rescore_any(
                paths,
                show,
                choices,
                answer,
            )
        write(report, output, form)
        return
    if output is None:
        raise typer.BadParameter("Give a folder for the new logs: -o DIR.")
    check_folder(output)
    from ..results.rescoring import rescore as rescoring
    from ..results.rescoring.answers import columns_of
    from ..results.rescoring.asking import grade, reread
    from ..results.rescoring.writing import log_files

    declared = columns_of(columns)
    with progress("Scoring") as advance:
        runs, skipped = rescoring.rescore(
            paths, task, model, declared, advance, encoding
        )
    if reader:
        with progress(f"Asking {reader}") as advance:
            reread(runs, reader, advance)
    if grader:
        with progress(f"Asking {grader}") as advance:
            grade(runs, grader, advance)
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
