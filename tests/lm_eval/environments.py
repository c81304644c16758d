"""Virtual environments with our package and different releases of lm-eval."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from filelock import FileLock

REPOSITORY = Path(__file__).parents[2]

INDEX_TASKS = """
import json, logging, sys
logging.basicConfig(level=logging.WARNING)
from lm_eval.tasks import TaskManager
manager = TaskManager(**json.loads(sys.argv[1]))
def yaml_path(entry):
    return str(entry["yaml_path"] if isinstance(entry, dict) else entry.yaml_path)
index = manager.task_index if hasattr(manager, "task_index") else manager._task_index  # 0.5
print(json.dumps({
    "yaml": {name: yaml_path(entry) for name, entry in index.items()},
    "include_path": manager.include_path,
}))
"""


@dataclass(frozen=True)
class Index:
    """The index of a `TaskManager`: each name's YAML, the `include_path`, and the log."""

    yaml: dict[str, str]
    include_path: Any
    log: str

    @property
    def overridden(self) -> list[str]:
        """The names that lm-eval found in two folders, with a warning."""
        return re.findall(r"Task '(\S+)' from \S+ overrides existing task", self.log)


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and the folder of the lm-eval that its interpreter imports."""

    folder: Path
    lm_eval: Path | None = None

    @property
    def site_packages(self) -> Path:
        """The folder with packages and `.pth` files."""
        return self._path("purelib")

    def _path(self, kind: str) -> Path:
        base = str(self.folder)
        return Path(sysconfig.get_path(kind, "venv", {"base": base, "platbase": base}))

    def using(self, lm_eval: Path) -> "Environment":
        """Return this environment with another lm-eval."""
        return replace(self, lm_eval=lm_eval)

    def start(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run the interpreter outside the repository, without our environment variables."""
        clean = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("HKCANTO_", "PYTHON"))
        }
        first = {"PYTHONPATH": str(self.lm_eval)} if self.lm_eval else {}
        return subprocess.run(
            [self._path("scripts") / "python", *arguments],
            cwd=self.folder,
            env={**clean, **first, **env},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def run(self, code: str, *arguments: str, **env: str) -> str:
        """Run Python code that must succeed; return its output."""
        done = self.start("-c", code, *arguments, **env)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def index(
        self, *, first: str = "", env: dict[str, str] | None = None, **options: Any
    ) -> Index:
        """Run the code `first`, then let `TaskManager(**options)` index the tasks."""
        done = self.start("-c", first + INDEX_TASKS, json.dumps(options), **(env or {}))
        assert done.returncode == 0, done.stderr
        return Index(**json.loads(done.stdout.splitlines()[-1]), log=done.stderr)


def create_environment(folder: Path, *, dependencies: bool = False) -> Environment:
    """Create an empty environment, or one that can import the test interpreter's packages.

    `--system-site-packages` would not do if the tests themselves run in an environment.
    """
    venv.create(folder, with_pip=False)
    environment = Environment(folder)
    if dependencies:
        installed = [
            p for p in sys.path if Path(p).name in {"site-packages", "dist-packages"}
        ]
        (environment.site_packages / "installed.pth").write_text(
            "\n".join(installed) + "\n"
        )
    return environment


HOOK = REPOSITORY / "lm_eval_tasks/hook"


def build_wheels(folder: Path) -> list[Path]:
    """Build our wheel and that of the hook from the repository."""
    pip("wheel", "-q", "--no-deps", *built_with(), "-w", folder, REPOSITORY, HOOK)
    return sorted(folder.glob("*.whl"))


def install(environment: Environment, *wheels: Path) -> Environment:
    """Install wheels without their dependencies; return the environment."""
    options = ("-q", "--no-deps", "--no-index", "--ignore-installed")
    pip("--python", environment.folder, "install", *options, *wheels)
    return environment


def install_editable(environment: Environment) -> Environment:
    """Install the repository as editable, with the hook; return the environment."""
    options = ("-q", "--no-deps", "--ignore-installed", *built_with("editables"))
    pip("--python", environment.folder, "install", *options, "-e", REPOSITORY, HOOK)
    return environment


def uninstall(environment: Environment, *names: str) -> None:
    """Uninstall our packages."""
    pip("--python", environment.folder, "uninstall", "-q", "-y", *names)


def built_with(*more: str) -> tuple[str, ...]:
    """Return pip's options to use an installed build backend; pip downloads a missing one."""
    backend = ("hatchling", "hatch_fancy_pypi_readme", *more)
    return (
        ("--no-index", "--no-build-isolation") if all(map(find_spec, backend)) else ()
    )


def pip(*arguments: str | Path) -> None:
    """Run the test interpreter's pip; skip the test if pip cannot reach a package index."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--retries=1",
            *arguments,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = done.stdout + done.stderr
        if "(from versions: none)" in said:
            pytest.skip(
                f"pip can reach no package index for: pip {' '.join(map(str, arguments))}"
            )
        raise RuntimeError(f"pip {arguments} failed:\n{said}")


def unpack_lm_eval(version: str, folder: Path, *, tasks: str = "") -> Path:
    """Unpack a release with only the task folders whose names start with `tasks`."""
    with zipfile.ZipFile(lm_eval_wheel(version)) as archive:
        for name in archive.namelist():
            parts = name.split("/")
            in_a_task_folder = parts[:2] == ["lm_eval", "tasks"] and len(parts) > 3
            if not in_a_task_folder or parts[2].startswith(tasks):
                archive.extract(name, folder)
    return folder


def lm_eval_wheel(version: str) -> Path:
    """Return a release of lm-eval from HKCANTO_TEST_CACHE or the user's cache, or download it."""
    cache = Path(
        os.environ.get("HKCANTO_TEST_CACHE")
        or platformdirs.user_cache_path("hkcanto") / "tests"
    )
    cache.mkdir(parents=True, exist_ok=True)
    wheel = cache / f"lm_eval-{version}-py3-none-any.whl"
    with FileLock(cache / "lock"):
        if not wheel.exists():
            options = ("-q", "--no-deps", "--only-binary=:all:")
            pip("download", *options, "-d", cache, f"lm-eval=={version}")
    return wheel
