"""The example report: two rule-based engines on the sample data, run through the harnesses."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import OptionError

_ENGINES = {"pycantonese": "pycantonese", "tojyutping": "ToJyutping"}


def run_example(say: Callable[[str], None] = print) -> Path:
    """Run two rule-based engines on the sample data and return the folder with their logs.

    PyCantonese runs in lm-eval and ToJyutping in Inspect; if only one harness is installed, it runs
    both. Nothing in the current folder is imported or read: the harnesses run in the new folder,
    which is not on Python's path.

    Args:
        say: Called with each command before it is run.

    Raises:
        OptionError: No harness is installed, an engine is missing, or a run failed.
    """
    missing = [name for name, module in _ENGINES.items() if not importlib.util.find_spec(module)]
    harnesses = [name for name in ("lm_eval", "inspect_ai") if importlib.util.find_spec(name)]
    if missing or not harnesses:
        how = 'pip install "hkcanto[lm-eval,inspect,g2p,report]"'
        raise OptionError(f"the example needs {', '.join(missing) or 'a harness'}: {how}.")
    folder = Path(tempfile.mkdtemp(prefix="hkcanto-example-"))
    (folder / ".env").touch()  # otherwise Inspect searches the folders above for one
    env = {"HKCANTO_DATA": "sample", "HKCANTO_BENCHMARKS": "", "HF_HUB_OFFLINE": "1"}
    env = {**os.environ, **env, "PYTHONSAFEPATH": "1"}
    for place, engine in enumerate(_ENGINES):
        command = f"inspect_ai eval hkcanto/g2p --model hkcanto/{engine} --display none --log-dir"
        if harnesses[place % len(harnesses)] == "lm_eval":
            command = f"lm_eval --model hkcanto-g2p --model_args engine={engine}"
            command += " --tasks hkcanto_g2p --log_samples --output_path"
        parts = ["-m", *command.split(), str(folder / engine)]
        shown = " ".join(["python", *parts])
        say(f"Running {engine}: {shown}")
        captured: dict[str, Any] = {"cwd": folder, "env": env, "capture_output": True, "text": True}
        done = subprocess.run([sys.executable, *parts], check=False, **captured)
        if done.returncode:
            raise OptionError(f"{shown} failed:\n{done.stderr[-2000:]}")
    return folder
