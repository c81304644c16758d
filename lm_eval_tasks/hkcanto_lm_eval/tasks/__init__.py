"""The task files. lm-eval's proposed plugin reader scans the folder that our entry point is in."""

from hkcanto_lm_eval import task_path

__all__ = ["task_path"]
