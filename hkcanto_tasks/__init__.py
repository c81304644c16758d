"""Tasks, their results and the commands of hkcanto, independent of any harness.

* The plugin: `catalogue.py` and `benchmarks/` (which tasks there are), `data/` and `loading.py`
  (their rows as `samples.py` has them), `kinds/` (prompts and judging, with `prompts.py` and
  `judgements.py`), `figures.py` (figures over items), `tasks.py` (`load_task` brings these together).
* From a name to a task that runs: a `TaskDefinition` is what `benchmark.toml` declares, a
  `TaskVariant` one of its names, a `Kind` that name under chosen options, a `LoadedTask` the same
  with its samples.
* The workbench: `results/` reads the harnesses' logs, for reports, comparisons and boards.
* The command line: `commands/`, with `describing.py` for `hkcanto list` and `hkcanto show`.
* The adapters of the harnesses are packages of their own: `hkcanto_lm_eval` and `hkcanto` (for
  Inspect); `adapters/` has what both use.
* The metrics that judge answers are the package `hkcanto_metrics`.
* What the words mean (kind, judge, figure, part, gate) is listed in `.github/CONTRIBUTING.md`.

    Examples:
        >>> from hkcanto_tasks import load_task
        >>> load_task("hkcanto_g2p").kind.shots
        5
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .describing import describe as describe
    from .describing import list_tasks as list_tasks
    from .results.logs import read_runs as read_runs
    from .results.runs import Run as Run
    from .results.statistics.intervals import NonInferiority as NonInferiority
    from .results.statistics.intervals import non_inferiority as non_inferiority
    from .results.statistics.paired import compare as compare
    from .samples import Sample as Sample
    from .tasks import LoadedTask as LoadedTask
    from .tasks import load_task as load_task

__version__ = "0.2.0"

_MODULE_OF = {
    "LoadedTask": "tasks",
    "NonInferiority": "results.statistics.intervals",
    "Run": "results.runs",
    "Sample": "samples",
    "compare": "results.statistics.paired",
    "describe": "describing",
    "list_tasks": "describing",
    "load_task": "tasks",
    "non_inferiority": "results.statistics.intervals",
    "read_runs": "results.logs",
}
__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    # Lazy imports keep `import hkcanto_tasks` cheap at harness start-up.
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
