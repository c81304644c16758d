"""Logs of rescored runs, in lm-eval's form."""

import re
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import msgspec

from ...errors import OptionError
from ...samples import Sample
from ..logs.items import LoggedItem
from ..logs.lm_eval import Origin
from .runs import RescoredRun


def log_files(runs: Sequence[RescoredRun], folder: Path) -> dict[str, str]:
    """Return the logs of runs by their paths in a folder.

    Raises:
        OptionError: A new log would replace one that was read.
    """
    files: dict[str, str] = {}
    for number, rescored in enumerate(runs, 1):
        run = rescored.run
        home = re.sub(r"[^\w.@+-]+", "__", run.model).strip("._") or "model"
        stem = f"{run.created:%Y-%m-%dT%H-%M-%S.%f}-rescored{number}"
        files[f"{home}/results_{stem}.json"] = _results_text(rescored)
        samples = f"{home}/samples_{run.signature.task}_{stem}.jsonl"
        files[samples] = _samples_text(rescored)
    _refuse_to_replace(runs, files, folder)
    return files


def _refuse_to_replace(
    runs: Sequence[RescoredRun],
    files: Mapping[str, str],
    folder: Path,
) -> None:
    written = {(folder / path).resolve() for path in files}
    for rescored in runs:
        for source in rescored.run.sources:
            if source.resolve() in written:
                raise OptionError(
                    f"{source} would be replaced by its new log: give another -o."
                )


def _results_text(rescored: RescoredRun) -> str:
    """Return the text of a `results_….json`."""
    run = rescored.run
    task = run.signature.task
    values = {}
    for figure in rescored.kind.table:
        value = rescored.figure(figure)
        if not isnan(value):
            values[f"{figure.name},none"] = value
    origin = {name: getattr(run, name) for name in Origin.__struct_fields__}
    origin["notes"] = [*dict.fromkeys([*run.notes, *rescored.remarks])]
    config = {
        "task": task,
        "dataset_path": "hkcanto",
        "metadata": {"signature": run.signature.text},
    }
    count = len(rescored.scored)
    results = {
        "results": {task: values},
        "configs": {task: config},
        "n-samples": {task: {"original": count, "effective": count}},
        "date": run.created.timestamp(),
        "model_name": run.model,
        "rescored": origin,
    }
    return msgspec.json.format(msgspec.json.encode(results)).decode()


def _samples_text(rescored: RescoredRun) -> str:
    """Return the text of a `samples_….jsonl`."""
    lines = []
    for number, scored in enumerate(rescored.scored):
        item = scored.item
        sample = item.sample
        doc = {name: getattr(sample, name) for name in Sample.__struct_fields__}
        doc["judgement"] = scored.judgement.logged()
        line = {
            "doc_id": number,
            "doc": doc,
            **_answer(item),
            "reasoning": item.reasoning,
            "further": item.further,
            "output_tokens": item.output_tokens,
            "truncated": item.truncated,
            "requested": item.requested,
        }
        lines.append(line)
    return msgspec.json.Encoder().encode_lines(lines).decode()


def _answer(item: LoggedItem) -> dict[str, list[Any]]:
    """Return the requests of an item and their response, or their log-likelihoods."""
    evidence = item.evidence
    if not evidence.likelihoods:
        return {"arguments": [[item.prompt]], "filtered_resps": [item.response]}
    requests = []
    for request in evidence.requests:
        requests.append([request.messages[0][1], request.continuation])
    likelihoods = [[str(value), "False"] for value in evidence.likelihoods]
    return {
        "arguments": requests,
        "filtered_resps": likelihoods,
        "resps": [[pair] for pair in likelihoods],
    }
