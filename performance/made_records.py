"""Make up records for boards, in the form that `hkcanto publish --to eee` writes.

python performance/made_records.py DIR --models 40
"""

import argparse
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hkcanto_tasks.catalogue import find_task, named_tasks
from hkcanto_tasks.figures import Figure
from hkcanto_tasks.kinds.base import Kind
from hkcanto_tasks.results.publishing.eee import UNITS
from hkcanto_tasks.signing import signature_of
from hkcanto_tasks.tasks import task_as_run

START = 1_767_225_600  # 2026-01-01
DAY = 86_400


def names(count: int) -> list[str]:
    """Return model names in several sizes; every fifth is a checkpoint of one training run."""
    sizes = ("270m", "1.5b", "7b", "14b", "72b")
    return [
        f"org/tuned-7b@step{place // 5 * 1000 + 1000}"
        if place % 5 == 4
        else f"org/model-{place}-{sizes[place % 5]}"
        for place in range(count)
    ]


def records(
    models: int, tasks: tuple[str, ...] = (), seed: int = 1
) -> Iterator[tuple[str, str]]:
    """Yield made-up records: path → JSON.

    Args:
        models: Number of models.
        tasks: The tasks; by default all tasks and variants.
        seed: Seed of the figures.
    """
    whole = [name for name in named_tasks() if find_task(name).scope == "task"]
    for place, model in enumerate(names(models)):
        luck = random.Random(f"{seed}/{model}")
        skill = 0.3 + 0.5 * luck.random()
        for name in tasks or whole:
            text = json.dumps(
                record(task_as_run(name), model, skill, place, luck), indent=2
            )
            yield f"data/{name}/{model.replace('@', '_')}/{place}.json", text + "\n"


def record(
    how: Kind, model: str, skill: float, day: int = 0, luck: random.Random | None = None
) -> dict[str, Any]:
    """Return a record whose averages are those of its parts."""
    luck = luck or random.Random(1)
    most = getattr(how.options, "size", 0) or 10**9
    scored = {
        each.name: min(most, each.rows - how.task.definition.examples_from_test)
        for each in how.task.subjects
    }
    right = {
        name: round(rows * min(1.0, max(0.0, skill + luck.gauss(0, 0.05))))
        for name, rows in scored.items()
    }
    found = {
        figure.name: (figure, *_value(figure, how, scored, right, luck))
        for figure in how.figures
        if figure.higher_is_better is not None
    }
    made = f"{START + day * DAY}.000"
    signature = signature_of(how, "ba2a58b").text
    items = sum(scored.values())
    whole = {"items": f"{items}", "items_expected": f"{items}"}
    return {
        "schema_version": "0.3.0",
        "evaluation_id": f"{how.task.name}/{model}/{made}",
        "evaluation_timestamp": made,
        "retrieved_timestamp": made,
        "source_metadata": {
            "source_name": "hkcanto",
            "source_type": "evaluation_run",
            "source_organization_name": "Made-up results",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "lm_eval", "version": "0.4.13"},
        "model_info": {
            "name": model,
            "id": model,
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": ("open_weights", "closed_weights")[day % 2],
                "backend": "vllm",
                "dtype": "bfloat16",
            },
        },
        "evaluation_results": [
            _entry(figure, figure == how.headline, signature, value, reach, of, whole)
            for figure, value, reach, of in found.values()
        ],
    }


def _value(
    figure: Figure,
    how: Kind,
    scored: Mapping[str, int],
    right: Mapping[str, int],
    luck: random.Random,
) -> tuple[float, float, int]:
    """Return a figure, half the width of its interval, and its number of items."""
    groups = {each.name: each.category for each in how.task.subjects}
    items = sum(scored.values())
    if figure.averages != "acc" or figure.form != "mean":
        most = float(UNITS[figure.unit][1]) if figure.unit == "score" else 1.0
        share = luck.random() * (0.05 if figure.higher_is_better is False else 1)
        return round(share * most, 6), 0.03 * most, items
    own = [
        each.name
        for each in how.task.subjects
        if figure.part in ("", each.name, each.category, *each.sets)
    ] or [*scored]
    of, known = sum(scored[name] for name in own), sum(right[name] for name in own)
    if figure.over == "questions" or len(own) == 1:
        value = known / of
    else:
        parts: dict[str, list[float]] = {}
        for name in own:
            category = groups[name] if figure.over == "categories" else ""
            parts.setdefault(category, []).append(right[name] / scored[name])
        value = sum(sum(each) / len(each) for each in parts.values()) / len(parts)
    return round(value, 10), (value * (1 - value) / of) ** 0.5 * 1.96, of


def _entry(
    figure: Figure,
    is_headline: bool,
    signature: str,
    value: float,
    reach: float,
    items: int,
    whole: Mapping[str, str],
) -> dict[str, Any]:
    unit, most = UNITS[figure.unit]
    ends = {"lower": max(0.0, value - reach), "upper": min(float(most), value + reach)}
    headline = "yes" if is_headline else "no"
    return {
        "evaluation_name": figure.name,
        "source_data": {
            "dataset_name": "made up",
            "source_type": "other",
            "additional_details": {**whole},
        },
        "metric_config": {
            "lower_is_better": not figure.higher_is_better,
            "metric_unit": unit,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": most,
            "additional_details": {
                "name": figure.name,
                "signature": signature,
                "headline": headline,
            },
        },
        "score_details": {
            "score": value,
            "uncertainty": {
                "num_samples": items,
                "confidence_interval": {**ends, "confidence_level": 0.95},
            },
        },
        "generation_config": {"generation_args": {"temperature": 0.0}},
    }


def write(folder: Path, models: int, tasks: tuple[str, ...] = ()) -> int:
    """Write records into a folder; returns how many."""
    count = 0
    for path, text in records(models, tasks):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        count += 1
    return count


def main() -> None:
    """Write the records."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=int, default=40)
    given = parser.parse_args()
    print(f"{write(given.folder, given.models)} records in {given.folder}")


if __name__ == "__main__":
    main()
