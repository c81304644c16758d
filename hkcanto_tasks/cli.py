"""The `hkcanto` command line. Each command is a module in `commands`."""

import platform
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import typer

from . import __version__
from .commands.agreement import agreement
from .commands.board import board
from .commands.compare import compare
from .commands.contamination import contamination
from .commands.data import data
from .commands.doctor import doctor
from .commands.estimate import estimate
from .commands.list import list_
from .commands.new import new
from .commands.path import path
from .commands.plan import plan
from .commands.publish import publish
from .commands.report import report
from .commands.rescore import rescore
from .commands.show import show
from .console import Command, Group

_PANELS: Mapping[str, Sequence[Callable[..., None]]] = {
    "Find tasks and data": (list_, show, new, doctor, path),
    "Plan a run": (estimate, plan, contamination),
    "Read results": (report, compare, rescore, agreement),
    "Publish results": (publish, board),
}


app = typer.Typer(
    cls=Group,
    help="HKCanto-Eval, HKMMLU and TMMLU+ for lm-evaluation-harness and Inspect.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    epilog="The evaluations run in the harnesses: lm_eval --tasks hkcanto_g2p, "
    "inspect eval hkcanto/g2p.",
)
for _panel, _commands in _PANELS.items():
    for _command in _commands:
        app.command(_command.__name__.strip("_"), cls=Command, rich_help_panel=_panel)(_command)
app.add_typer(data, name="data", cls=Group, rich_help_panel="Find tasks and data")


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"hkcanto {__version__} (Python {platform.python_version()})")
        raise typer.Exit
