"""lm-eval's evaluator in this process, without the scan of its own 14,000 task files."""

from typing import Any

from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from hkcanto_lm_eval import task_path


def evaluate(*tasks: str, **options: Any) -> dict[str, Any]:
    """Run tasks; `model`, `metadata` and `include_path` are optional. Returns lm-eval's results."""
    manager = TaskManager(
        include_path=[task_path(), *options.pop("include_path", [])],
        include_defaults=False,
        metadata=options.pop("metadata", None),
    )
    results = simple_evaluate(
        model=options.pop("model", "hkcanto-g2p"),
        tasks=list(tasks),
        task_manager=manager,
        bootstrap_iters=options.pop("bootstrap_iters", 100),
        **options,
    )
    assert isinstance(results, dict)
    return results


def first_prompt(results: dict[str, Any], task: str) -> str:
    """Return the first prompt that was sent for a task."""
    prompt = results["samples"][task][0]["arguments"][0][0]
    assert isinstance(prompt, str)
    return prompt
