"""Records of Every Eval Ever (github.com/evaleval/every_eval_ever, schema 0.3.0), one per run.

Each figure has an entry with its name, unit, range, direction, interval and signature. Values of
items are a second file, if asked for. Its schema has fields for each question's text and gold
answer; they are left empty, because they would leak the benchmarks.
"""

import json
import time
from collections.abc import Sequence
from hashlib import sha256
from math import inf
from typing import Any
from uuid import UUID

import numpy as np

from ...data.releases import GitHubRelease, HubDataset
from ...figures import Figure, Unit
from ..reports.presentation import figure_title, short_name
from ..runs import Run
from ..statistics.estimates import value_of
from ..statistics.intervals import Estimate
from .runs import (
    DEPARTURE,
    NotPublishable,
    Publication,
    Publisher,
    folder_of,
    unusual_decoding,
)

LIBRARIES = {"lm-eval": "lm_eval", "inspect": "inspect_ai"}
_ENGINES = {
    "hf": "transformers",
    "vllm": "vllm",
    "sglang": "sglang",
    "gguf": "llama.cpp",
}
# Name and largest value of a unit.
UNITS: dict[Unit, tuple[str, int | str]] = {
    "share": ("proportion", 1),
    "rate": ("rate", "Infinity"),
    "score": ("points", 100),
    "count": ("count", "Infinity"),
    "number": ("number", "Infinity"),
}
VERSION = "0.3.0"
_WITHHELD = (
    "(withheld to keep it out of training data; sample_id names it in the data set)"
)
_NO_PUBLISHER = (
    "a record says who ran the model: give --by NAME, and your relationship to its "
    "developer by --relationship first_party, third_party, collaborative or other."
)
# sacreBLEU's 100 is 100.00000000000004.
_DIGITS = 10


def publication(
    runs: Sequence[Run],
    by: Publisher,
    *,
    items: bool = False,
) -> Publication:
    """Return the records, by their paths in the datastore.

    Args:
        runs: Runs in publishable form.
        by: The publisher.
        items: Whether to write the values of items, too, for headlines that are shares of items.

    Raises:
        NotPublishable: A model or the publisher has no name, or a figure is out of range.
    """
    if not by.name or not by.relationship:
        raise NotPublishable(_NO_PUBLISHER)
    files = {}
    for run in runs:
        record = _record(run, by)
        path = _path(run, record["evaluation_id"])
        if items and run.headline.unit == "share" and run.headline.form == "mean":
            items_path = f"{path}_samples.jsonl"
            text = _items(run, record)
            files[items_path] = text
            record["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": items_path,
                "hash_algorithm": "sha256",
                "checksum": sha256(text.encode()).hexdigest(),
                "total_rows": text.count("\n"),
            }
        files[f"{path}.json"] = json.dumps(record, ensure_ascii=False, indent=2) + "\n"
    check = "(cd {folder} && every_eval_ever validate 'data/*/*/*/*.json*')"
    upload = "hf upload evaleval/EEE_datastore {folder}/data data --repo-type dataset --create-pr"
    return Publication(files, (check, upload))


def _path(run: Run, evaluation_id: str) -> str:
    """Return the path of a run's record, without its ending."""
    name = UUID(bytes=sha256(evaluation_id.encode()).digest()[:16], version=4)
    return f"data/{run.kind.task.benchmark.name}/{folder_of(run.model)}/{name}"


# ---------------------------------------------------------------------- the parts of a record


def _record(run: Run, by: Publisher) -> dict[str, Any]:
    created = f"{run.created.timestamp():.3f}"
    # This names the run, not the record, so that a record made again replaces the old one.
    identity = (
        f"{short_name(run.task, run.condition, run.harness)}/{run.model}/{created}"
    )
    evaluations = []
    for name, figure in run.figures.items():
        value = value_of(run, name)
        # The schema does not allow figures without a direction.
        if value and figure.higher_is_better is not None:
            evaluations.append(
                _evaluation(
                    run,
                    figure,
                    value,
                    identity,
                )
            )
    return {
        "schema_version": VERSION,
        "evaluation_id": identity,
        "evaluation_timestamp": created,
        "retrieved_timestamp": f"{time.time():.3f}",
        "source_metadata": {
            "source_name": "hkcanto",
            "source_type": "evaluation_run",
            "source_organization_name": by.name,
            "evaluator_relationship": by.relationship,
            "additional_details": {"logs": by.url} if by.url else {},
        },
        "eval_library": _library(run),
        "model_info": _model(run),
        "evaluation_results": evaluations,
    }


def _library(run: Run) -> dict[str, object]:
    # The schema has tokens and latency only in records of items.
    usage = {name: str(value) for name, value in run.usage.known.items()}
    return {
        "name": LIBRARIES[run.harness],
        "version": run.version_of_harness,
        "additional_details": {"plugin": f"hkcanto {run.signature.package}", **usage},
    }


def _model(run: Run) -> dict[str, object]:
    engine = _ENGINES.get(run.backend)
    model: dict[str, object] = {
        "name": run.model,
        "id": run.model,
        "developer": run.model.partition("/")[0],
    }
    if engine:
        model["inference_engine"] = {"name": engine}
    settings = {name.replace(" ", "_"): value for name, value in run.settings}
    model["additional_details"] = {
        "deployment_type": "self_deployed" if engine else "unknown",
        "model_availability": "unknown",
        "backend": run.backend,
        **settings,
    }
    return model


def _evaluation(
    run: Run,
    figure: Figure,
    estimate: Estimate,
    identity: str,
) -> dict[str, object]:
    """Return the entry of a figure.

    Raises:
        NotPublishable: It is out of range.
    """
    return {
        "evaluation_name": ".".join(filter(None, (run.task, figure.part))),
        "evaluation_result_id": f"{identity}/{figure.name}",
        "source_data": _source(run),
        "metric_config": _metric(run, figure),
        "score_details": _score(figure, estimate),
        "generation_config": _generation(run),
    }


def _source(run: Run) -> dict[str, object]:
    """Return where the data of a run is from."""
    benchmark = run.kind.task.benchmark
    source: dict[str, object] = {"dataset_name": benchmark.title}
    match benchmark.release:
        case HubDataset(repo_id=repository):
            source["source_type"] = "hf_dataset"
            source["hf_repo"] = repository
            source["hf_split"] = "test"
        case GitHubRelease(repository=repository, commit=commit):
            source["source_type"] = "url"
            source["url"] = [f"https://github.com/{repository}/tree/{commit}"]
        case _:
            source["source_type"] = "other"
    source["additional_details"] = {
        "revision": run.data,
        "paper": benchmark.paper,
        "terms": benchmark.terms,
        # The number of items shows a reader without items that the run is complete.
        "items": str(len({*run.items.ids})),
        "items_expected": str(run.expected),
        "compared_with_release": "compared" if run.compared else "not compared",
    }
    return source


def _metric(run: Run, figure: Figure) -> dict[str, object]:
    unit, largest = UNITS[figure.unit]
    is_accuracy = figure.averages == "acc"
    is_plain = is_accuracy and figure.over == "questions"
    return {
        "evaluation_description": figure.help,
        "metric_id": "accuracy" if is_plain else f"hkcanto.{figure.name}",
        "metric_name": figure_title(run, figure),
        "metric_kind": "accuracy" if is_accuracy else figure.averages,
        "metric_unit": unit,
        "lower_is_better": not figure.higher_is_better,
        "score_type": "continuous",
        "min_score": 0,
        "max_score": largest,
        "additional_details": {
            "name": figure.name,
            "signature": run.signature.text,
            "averages_over": figure.over,
            "headline": "yes" if figure == run.headline else "no",
        },
    }


def _score(figure: Figure, estimate: Estimate) -> dict[str, object]:
    """Return a figure's value and interval.

    Raises:
        NotPublishable: It is out of range.
    """
    value = round(estimate.value, _DIGITS)
    largest = float(UNITS[figure.unit][1])
    if not 0 <= value <= largest or value == inf:
        raise NotPublishable(
            f"{figure.name} is {estimate.value}, but a {figure.unit} is from 0 to {largest:g}. "
            "Read the log with `hkcanto report`, and report this to us."
        )
    uncertainty: dict[str, object] = {"num_samples": estimate.items}
    if estimate.low is not None and estimate.high is not None:
        uncertainty["confidence_interval"] = {
            "lower": round(estimate.low, _DIGITS),
            "upper": round(estimate.high, _DIGITS),
            "confidence_level": 0.95,
        }
    score: dict[str, object] = {"score": value, "uncertainty": uncertainty}
    if estimate.note:
        score["details"] = {"note": estimate.note}
    return score


def _generation(run: Run) -> dict[str, object]:
    arguments: dict[str, object] = {**run.generation}
    if run.kind.task.variant.cot or "reasoning" in run.options:
        arguments["reasoning"] = True
    details = {"shots": str(run.shots), **run.options}
    if departure := unusual_decoding(run):
        details[DEPARTURE] = departure
    return {"generation_args": arguments, "additional_details": details}


def _items(run: Run, record: dict[str, Any]) -> str:
    """Return a line of JSON for each item (and epoch), with its value and without its texts."""
    headline = record["evaluation_results"][0]
    values = run.items.values[run.headline.averages]
    lines = []
    for name, position in run.items.positions.items():
        value = values[position]
        if np.isnan(value):
            continue
        line = {
            "schema_version": VERSION,
            "evaluation_id": record["evaluation_id"],
            "model_id": run.model,
            "evaluation_name": headline["evaluation_name"],
            "evaluation_result_id": headline["evaluation_result_id"],
            "sample_id": name,
            "interaction_type": "single_turn",
            "input": {"raw": _WITHHELD, "reference": []},
            "output": {"raw": []},
            "answer_attribution": [],
            "evaluation": {"score": float(value), "is_correct": bool(value == 1)},
            "metadata": {"subject": run.items.subjects[position]},
        }
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(lines)
