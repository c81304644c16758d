"""What Inspect finds through our entry point: it knows whatever these modules register."""

from hkcanto_tasks.errors import without_traceback

from . import metrics, models, scorers, solvers, tasks

__all__ = ["metrics", "models", "scorers", "solvers", "tasks"]

without_traceback()
