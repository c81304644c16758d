"""The command `hkcanto rescore`."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import err, errors_without_traceback, print_line
from ..errors import on_disk
from .output import option, progress

if TYPE_CHECKING:
    from ..rescoring.rescore import Rescored

_PATHS = typer.Argument(
    help="Logs of lm-eval (with --log_samples) and of Inspect, .jsonl files with answers, "
    "twinkle-eval's eval_results_….jsonl, or folders of these.",
    show_default=False,
)
_COLUMNS = (
    "What is in which column of a .jsonl: id, question, choices, response, reasoning, task, model. "
    "A dot leads into a value: response=response.body.choices.0.message.content"
)

_READER = (
    "A model of Inspect, as openai/gpt-4o, that reads the letters which the rules leave unread. "
    "Figures of its own: forced, acc_reread; the headline stays that of the rules."
)

_GRADER = (
    "A model of Inspect, as openai/gpt-4o, that judges the answers of tasks with a rubric, such as "
    "those of lm-eval, which has no judge."
)


def rescore(
    paths: Annotated[list[Path], _PATHS],
    output: Annotated[Path, option("Folder to write logs into.", "-o", "--output")],
    task: Annotated[str, option("Of a .jsonl that does not name it, as hkmmlu.")] = "",
    model: Annotated[str, option("The model of a .jsonl; else the file's name.")] = "",
    columns: Annotated[str, option(_COLUMNS, metavar="WHAT=NAME[,…]")] = "",
    reader: Annotated[str, option(_READER, metavar="MODEL")] = "",
    grader: Annotated[str, option(_GRADER, metavar="MODEL")] = "",
) -> None:
    """Score answers again without a model: those of logs, of other tools, of batch APIs.

    hkcanto rescore runs/ -o rescored
    hkcanto rescore answers.jsonl --task hkmmlu --columns response=output -o rescored

    The logs that it writes are for hkcanto report, compare and publish.
    """
    with errors_without_traceback():
        from ..publishing.writing import write
        from ..rescoring.answers import columns_of
        from ..rescoring.rescore import files_of
        from ..rescoring.rescore import rescore as score_again

        declared = columns_of(columns)
        with progress("Scoring") as advance:
            runs, skipped = score_again(
                paths, task=task, model=model, columns=declared, progress=advance
            )
        if reader:
            from ..rescoring.second_look import reread

            runs = reread(runs, reader)
        if grader:
            from ..rescoring.grading import grade

            runs = grade(runs, grader)
        files = files_of(runs, output)
        with on_disk(output, "written", "Make room, or give another place."):
            write(files, output)
        for run in runs:
            _say(run)
        for each in skipped:
            err.print(f"Left out: {each.path}: {each.reason}", highlight=False, markup=False)
        print_line(f"Written: {len(files)} files. Look at them: hkcanto report {output}")


def _say(run: "Rescored") -> None:
    """Print what came of a run."""
    figure, (then, now) = run.setup.headline, run.headlines
    factor, sign = (100, " %") if figure.unit in ("share", "rate") else (1, "")
    shown = "–" if isnan(now) else f"{factor * now:.2f}{sign}"
    if not isnan(then):
        shown = f"{factor * then:.2f}{sign} → {shown}, {run.changed:,} read otherwise"
    said = f"{run.origin.model}, {run.signature.task}: {len(run.scored):,} answers, "
    print_line(f"{said}{figure.title} {shown}")
    for remark in run.remarks:
        print_line(f"  {remark}")
