"""HKCanto-Eval, HKMMLU and TMMLU+ for lm-evaluation-harness.

``hkcanto_lm_eval.pth`` imports this package each time an interpreter starts, so it must not import
anything else.
"""


def task_path() -> str:
    """Return the folder of the task YAMLs, as for ``lm_eval --include_path``.

    Examples:
        >>> task_path().endswith("tasks")
        True
    """
    from pathlib import Path

    return str(Path(__file__).parent / "tasks")
