"""A setup as lm-eval's configuration: what its task runs with, and what its YAML file shows."""

from typing import Any

from hkcanto_tasks.figures import Figure
from hkcanto_tasks.setup import Setup


def configuration(how: Setup) -> dict[str, Any]:
    """Return what lm-eval's `ConfigurableTask` is made with."""
    template = how.template
    config: dict[str, Any] = {
        "dataset_path": "hkcanto",
        "test_split": "test",
        "fewshot_split": "examples",
        "fewshot_config": {"sampler": "first_n"},
        "num_fewshot": _shots(how),
        "description": "system",
        "doc_to_text": "text",
        "doc_to_target": "target",
        "target_delimiter": template.answer_separator,
        "fewshot_delimiter": template.example_separator,
        # Any value keeps lm-eval from looking the metrics' names up on the hub.
        "process_results": "process_results",
        "metric_list": [
            {
                "metric": figure.name,
                "aggregation": "mean",  # the task's own take its place
                "higher_is_better": figure.higher_is_better,
            }
            for figure in how.table
        ],
        "output_type": _output_type(how),
    }
    if not how.is_generative:
        return config | {"doc_to_choice": "letters"}
    return config | {"generation_kwargs": _generation(how)}


def shown(how: Setup) -> dict[str, Any]:
    """Return what the YAML file of a task shows, in the keys that lm-eval people know.

    Examples:
        >>> from hkcanto_tasks.setup import setup
        >>> shown(setup("hkcanto_cultural_0shot"))["num_fewshot"]
        0
    """
    template, options = how.template, how.options
    system = template.system
    if getattr(options, "cot", False) and template.system_cot is not None:
        system = template.system_cot
    elif not how.task.shots and template.zero_shot and "{zero}" not in system:
        system = template.zero_shot
    shows: dict[str, Any] = {
        "output_type": _output_type(how),
        "description": system,
        "num_fewshot": how.task.shots,
    }
    if how.is_generative:
        shows["generation_kwargs"] = _generation(how)
    shows["metric_list"] = [
        {
            "metric": figure.name,
            "aggregation": aggregation_name(figure),
            "higher_is_better": figure.higher_is_better,
        }
        for figure in how.table
    ]
    return shows


def aggregation_name(figure: Figure) -> str:
    """Say in a word how items become a figure.

    Examples:
        >>> from hkcanto_tasks.setup import setup
        >>> aggregation_name(setup("tmmluplus_gen").table[0])
        'mean_over_categories'
    """
    if figure.form != "mean":
        return {"corpus": "corpus", "rate": "pooled"}[figure.form]
    over = "mean" if figure.over == "questions" else f"mean_over_{figure.over}"
    return f"{over}_of_{figure.part}" if figure.part else over


def _output_type(how: Setup) -> str:
    return "generate_until" if how.is_generative else "multiple_choice"


def _shots(how: Setup) -> int | None:
    # lm-eval lets --num_fewshot change any number but an explicit 0.
    return how.task.shots if how.task.variant.shots == 0 else how.task.shots or None


def _generation(how: Setup) -> dict[str, Any]:
    until = list(how.sent_stop(chat=False))
    return {"until": until, "max_gen_toks": how.max_tokens, "do_sample": False}
