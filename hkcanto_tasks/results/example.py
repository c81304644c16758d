"""The example report: two rule-based engines on the sample data, run through the harnesses."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..errors import OptionError

_MODULES = ("pycantonese", "ToJyutping", "lm_eval", "inspect_ai")
_COMMANDS = {
    "pycantonese": "lm_eval --model hkcanto-g2p --model_args engine=pycantonese "
    "--tasks hkcanto_g2p --log_samples --output_path",
    "tojyutping": "inspect_ai eval hkcanto/g2p --model hkcanto/tojyutping --display none --log-dir",
}


def run_example(say: Callable[[str], None] = print) -> Path:
    """Run two rule-based engines on the sample data and return the folder with their logs.

    PyCantonese runs in lm-eval and ToJyutping in Inspect. Nothing in the current folder is imported
    or read: the harnesses run in the new folder, which is not on Python's path.

    Args:
        say: Called with each command before it is run.

    Raises:
        OptionError: A harness or an engine is missing, or a run failed.
    """
    if missing := [name for name in _MODULES if not importlib.util.find_spec(name)]:
        advice = 'pip install "hkcanto[lm-eval,inspect,g2p,report]"'
        raise OptionError(f"the example needs {', '.join(missing)}: {advice}.")
    folder = Path(tempfile.mkdtemp(prefix="hkcanto-example-"))
    (folder / ".env").touch()  # otherwise Inspect searches the folders above for one
    environment = {
        **os.environ,
        "HKCANTO_DATA": "sample",
        "HKCANTO_BENCHMARKS": "",
        "HF_HUB_OFFLINE": "1",
        "PYTHONSAFEPATH": "1",
    }
    for engine, command in _COMMANDS.items():
        arguments = ["-m", *command.split(), str(folder / engine)]
        shown = " ".join(["python", *arguments])
        say(f"Running {engine}: {shown}")
        done = subprocess.run(
            [sys.executable, *arguments],
            check=False,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise OptionError(f"{shown} failed:\n{done.stderr[-2000:]}")
    return folder
