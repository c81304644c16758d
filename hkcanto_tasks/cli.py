"""The `hkcanto` command line. Each command is a module in `commands`."""

import platform
from importlib import import_module
from typing import Annotated

import typer

from . import __version__
from .commands.console import Command, Group
from .commands.data import data
from .commands.output import option

_PANELS = {
    "Find tasks and data": ("list_", "show", "new", "doctor", "path", "autoload"),
    "Plan a run": ("estimate", "plan", "contamination"),
    "Read results": ("report", "compare", "rescore", "agreement"),
    "Publish results": ("publish", "board"),
}
"""Panel of the help → functions, each in the module of its name."""

app = typer.Typer(
    cls=Group,
    help="HKCanto-Eval, HKMMLU and TMMLU+ for lm-evaluation-harness and Inspect.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    epilog="The evaluations run in the harnesses: lm_eval --tasks hkcanto_g2p, "
    "inspect eval hkcanto/g2p.",
)
for _panel, _functions in _PANELS.items():
    for _function in _functions:
        _name = _function.strip("_")
        _module = import_module(f".commands.{_name}", __package__)
        _register = app.command(_name, cls=Command, rich_help_panel=_panel)
        _register(getattr(_module, _function))
app.add_typer(
    data,
    name="data",
    cls=Group,
    rich_help_panel="Find tasks and data",
)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, option("Print the version.", "--version")] = False,
) -> None:
    if version:
        typer.echo(f"hkcanto {__version__} (Python {platform.python_version()})")
        raise typer.Exit
