"""HKCanto-Eval, HKMMLU and TMMLU+ for lm-evaluation-harness.

``hkcanto.pth`` imports this package each time an interpreter starts: nothing is imported here.
"""

# The --metadata of a run, put here by `_autoload`: lm-eval 0.4.11 does not hand it to our tasks.
run_metadata: "dict[str, object]" = {}


def task_path() -> str:
    """Return the folder of the task YAMLs, as for ``lm_eval --include_path``.

    Examples:
        >>> task_path().endswith("tasks")
        True
    """
    from pathlib import Path

    return str(Path(__file__).parent / "tasks")
