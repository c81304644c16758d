"""HKCanto-Eval, HKMMLU and TMMLU+ for lm-evaluation-harness.

``hkcanto.pth`` imports this package each time an interpreter starts, so it must not import anything
else.
"""

# The --metadata of a run. `_autoload` puts it here, because lm-eval 0.4.11 does not pass it to our
# tasks.
run_metadata: "dict[str, object]" = {}


def task_path() -> str:
    """Return the folder of the task YAMLs, as for ``lm_eval --include_path``.

    Examples:
        >>> task_path().endswith("tasks")
        True
    """
    from pathlib import Path

    return str(Path(__file__).parent / "tasks")
