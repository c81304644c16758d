"""The lm-eval task: a `ConfigurableTask` whose configuration and data come from the catalogue.

A YAML file in `tasks/` names a task of the catalogue; any key that it adds overrides the
catalogue's, as in any lm-eval task. Prompts, scoring and data are those of the Inspect task of the
same name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import datasets
from lm_eval.api.task import ConfigurableTask

from hkcanto_metrics.rates import pool_rates
from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.kinds import kinds
from hkcanto_tasks.loading import LoadedTask, load_task
from hkcanto_tasks.scoring import judge


class CatalogueTask(ConfigurableTask):  # type: ignore[misc]
    """A task of the catalogue in lm-eval.

    Options, through `--metadata '{"examples": "release"}'` or `metadata:` in YAML:
        examples: `paper` (default) or `release`, see `hkcanto_tasks.load_task`.
        shots: Worked examples, as `--num_fewshot`, which goes before it.
    """

    loaded: LoadedTask

    def __init__(self, config: Mapping[str, Any]) -> None:
        given = {key: value for key, value in config.items() if key != "class"}
        name = given.setdefault("dataset_name", given["task"])
        super().__init__(config={**_catalogue_config(name), **_options(given), **given})

    def download(self, *_: Any, **__: Any) -> None:
        """Load the data; lm-eval calls this when it makes the task."""
        metadata = self.config.metadata or {}
        self.loaded = load_task(
            self.config.dataset_name, examples=metadata.get("examples", "paper")
        )
        if self.loaded.revision == "sample":
            self.config.task_alias = f"{self.config.task_alias or self.config.task} (sample data)"
        system = self.loaded.entry.prompt.system
        self.dataset = {
            "test": datasets.Dataset.from_list(
                [
                    {
                        "id": sample.id,
                        "task": self.loaded.entry.name,
                        "system": system,
                        "question": sample.question,
                        "target": sample.target,
                    }
                    for sample in self.loaded.samples
                ]
            ),
            "examples": [
                {"question": example.question, "target": example.answer}
                for example in self.loaded.examples
            ],
        }

    def process_results(self, doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
        """Score one response: metric name → value."""
        if "bypass" in self._metric_fn_list:  # --predict_only
            return {"bypass": 999}
        return dict(judge(doc["task"], results[0], doc["target"]).values)

    def dump_config(self) -> dict[str, Any]:
        """Return the configuration that lm-eval writes beside the results, with the signature."""
        config: dict[str, Any] = super().dump_config()
        signature = self.loaded.signature(shots=self.config.num_fewshot or 0)
        config["metadata"] = {**(config.get("metadata") or {}), "signature": signature}
        return config


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    metadata = given.get("metadata") or {}
    return {"num_fewshot": int(metadata["shots"])} if "shots" in metadata else {}


def _catalogue_config(name: str) -> dict[str, Any]:
    _, entry = find_task(name)
    return {
        "dataset_path": "hkcanto",
        "test_split": "test",
        "fewshot_split": "examples",
        "fewshot_config": {"sampler": "first_n"},
        "num_fewshot": entry.shots,
        "description": "system",
        "doc_to_text": "question",
        "doc_to_target": "target",
        "target_delimiter": entry.prompt.answer_separator,
        "fewshot_delimiter": entry.prompt.example_separator,
        "generation_kwargs": {
            "until": list(entry.stop),
            "max_gen_toks": entry.max_tokens,
            "do_sample": False,
        },
        # Any value keeps lm-eval from looking the metrics' names up on the hub.
        "process_results": "process_results",
        "metric_list": [
            {
                "metric": metric.name,
                "aggregation": pool_rates if metric.pooled else "mean",
                "higher_is_better": metric.higher_is_better,
            }
            for metric in kinds()[entry.kind].METRICS
        ],
    }
