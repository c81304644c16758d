"""The command `hkcanto autoload`."""

import sysconfig
from importlib.metadata import distributions
from pathlib import Path
from typing import Annotated, Literal

from ..errors import OptionError, on_disk
from .console import echo
from .output import argument, write_files

DISTRIBUTION = "hkcanto-lm-eval"
_MODULE = '''\
"""Lets lm-eval find the tasks of hkcanto, if that is installed, when Python starts."""


def start() -> None:
    """Register the tasks with lm-eval as soon as it is imported."""
    try:
        from hkcanto_lm_eval._autoload import install
    except ImportError:  # hkcanto was uninstalled
        return
    install()
'''
FILES = {
    "hkcanto_lm_eval_hook.py": _MODULE,
    "hkcanto_lm_eval.pth": "import hkcanto_lm_eval_hook; hkcanto_lm_eval_hook.start()\n",
    "hkcanto_lm_eval.start": "hkcanto_lm_eval_hook:start\n",
}
"""The files of the distribution by name, the same as in lm_eval_tasks/hook."""


def autoload(
    switch: Annotated[Literal["on", "off"], argument("on or off.", "SWITCH")],
) -> None:
    """Let lm_eval find our tasks by name, or no longer.

    It writes or removes a .pth file of this environment, which Python
    runs when it starts. Without it: python -m hkcanto_lm_eval … instead
    of lm_eval …, or lm_eval --include_path "$(hkcanto path)".
    """
    folder = Path(sysconfig.get_path("purelib"))
    if any(distributions(name=DISTRIBUTION, path=[str(folder)])):
        if switch == "off":
            raise OptionError(f"it is installed: pip uninstall {DISTRIBUTION}")
        echo(f"{DISTRIBUTION} is installed already.")
        return
    if switch == "on":
        write_files(FILES, folder)
        echo(f"Written into {folder}: {', '.join(FILES)}")
        return
    with on_disk(folder, "changed", "Give yourself the right to write there."):
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
    echo(f"Removed from {folder}: {', '.join(FILES)}")
