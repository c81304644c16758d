"""Import the repository's scripts that are not in a package, and run code by itself."""

import json
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

REPOSITORY = Path(__file__).parents[1]


def load_script(path: str) -> ModuleType:
    """Load a script by its path in the repository, such as `docs/generate.py`."""
    spec = spec_from_file_location(Path(path).stem, REPOSITORY / path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed_figures(code: str, folder: Path) -> dict[str, Any]:
    """Return the JSON that code prints in another process, which has our metrics and no network."""
    source_root = str(REPOSITORY / "metrics")
    paths = [source_root, os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={
            **os.environ,
            "HF_HOME": str(folder / "hf"),
            "HF_HUB_OFFLINE": "1",
            "PYTHONPATH": os.pathsep.join(paths),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures
