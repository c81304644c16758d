"""The lm-eval task: a `ConfigurableTask` whose configuration and data come from the catalogue.

A YAML file in `tasks/` names a task of the catalogue; any key that it adds overrides the
catalogue's, as in any lm-eval task. Prompts, scoring and data are those of the Inspect task of the
same name.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import datasets
from lm_eval.api.metrics import mean
from lm_eval.api.task import ConfigurableTask

from hkcanto_metrics.rates import pool_rates
from hkcanto_tasks.catalogue import NamedTask, find_task
from hkcanto_tasks.corpus import corpus_scores, language_of, metric_signatures, pair_of
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.kinds import kinds
from hkcanto_tasks.loading import Condition, LoadedTask, condition, load_task
from hkcanto_tasks.records import Metric

_OPENED_REASONING = re.compile(r"<(?:think|thinking|thought|reasoning)>\s*$")


class CatalogueTask(ConfigurableTask):  # type: ignore[misc]
    """A task of the catalogue in lm-eval.

    `--metadata '{"…": …}'`, or `metadata:` in YAML, sets the options of its kind (see
    `hkcanto_tasks.kinds`), such as `examples` and `prompt`, and `shots`, which is `--num_fewshot`
    for those who keep all options in one place.
    """

    loaded: LoadedTask

    def __init__(self, config: Mapping[str, Any]) -> None:
        given = {key: value for key, value in config.items() if key != "class"}
        name = given.setdefault("dataset_name", given["task"])
        metadata = given.get("metadata") or {}
        how = condition(name, **_options(name, metadata))
        shots = {"num_fewshot": int(metadata["shots"])} if "shots" in metadata else {}
        super().__init__(config={**_catalogue_config(how), **shots, **given})
        self._system = cache(self.loaded.system)
        if not self.loaded.samples:
            self.dataset["test"] = self.dataset["test"].select([])

    def download(self, *_: Any, **__: Any) -> None:
        """Load the data; lm-eval calls this when it makes the task."""
        name, metadata = self.config.dataset_name, self.config.metadata or {}
        self.loaded = load_task(name, allow_absent=True, **_options(name, metadata))
        if self.loaded.revision == "sample":
            self.config.task_alias = f"{self.config.task_alias or self.config.task} (sample data)"
        letters = self.loaded.task.entry.letters
        rows: list[dict[str, Any]] = [
            {
                "id": sample.id,
                "question": sample.question,
                "choices": list(sample.choices),
                "letters": [
                    letter
                    for letter, choice in zip(letters, sample.choices, strict=False)
                    if choice is not None
                ],
                "groups": list(sample.groups),
                "target": sample.target,
            }
            for sample in self.loaded.samples
        ]
        examples = [
            {"question": example.question, "target": example.answer, "letters": list(letters)}
            for of_subject in self.loaded.examples.values()
            for example in of_subject
        ]
        # Making a task, lm-eval looks at its first row, even if the data lacks the subject.
        self.dataset = {"test": datasets.Dataset.from_list(rows or [_NO_ROW]), "examples": examples}

    def fewshot_context(
        self, doc: Mapping[str, Any], num_fewshot: int, *args: Any, **kwargs: Any
    ) -> Any:
        """Build the prompt; its first sentence may depend on the number of worked examples.

        Raises:
            OptionError: Log-likelihood of letters behind a chat template that opens a reasoning
                block would score the block's first words.
        """
        system = self._system(self.loaded.task.subjects[0].name, num_fewshot)
        context = super().fewshot_context({**doc, "system": system}, num_fewshot, *args, **kwargs)
        if self.OUTPUT_TYPE == "multiple_choice" and _OPENED_REASONING.search(context):
            raise OptionError(
                f"{self.task_name} compares the log-likelihoods of the letters, but the chat "
                f"template ends the prompt in an open reasoning block ({context[-20:]!r}): the "
                "model would be scored on how it begins to think. Run the generative task "
                f"{self.loaded.task.entry.name} with --metadata '{{\"reasoning\": true}}', or "
                "switch thinking off in the template (--model_args enable_thinking=False)."
            )
        return context

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build the requests; none for a subject that the data lacks."""
        if self.loaded.samples:
            super().build_all_requests(**kwargs)
        else:
            self._instances = _NoInstances()

    def apply_filters(self) -> Any:
        """Apply the filters to the responses, if there are any."""
        return super().apply_filters() if self._instances else None

    def process_results(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """Score one response: metric name → value, or for a corpus figure the pair of texts."""
        if "bypass" in self._metric_fn_list:  # --predict_only
            return {"bypass": 999}
        response = results[0]
        if self.OUTPUT_TYPE == "multiple_choice":
            likelihoods = [likelihood for likelihood, _ in results]
            response = doc["letters"][likelihoods.index(max(likelihoods))]
        judgement = self.loaded.condition.judge(response, doc["target"], doc["choices"])
        pair = pair_of(judgement)
        corpus = {metric.name: pair for metric in self.loaded.metrics() if metric.corpus}
        return corpus | self.loaded.values(doc["groups"], judgement)

    def aggregation(self) -> dict[str, Callable[[Any], float]]:
        """Return metric name → how items become the task's value."""
        ours = {m.name: _aggregation(m, self.loaded.task) for m in self.loaded.metrics()}
        return {**ours, **super().aggregation()}

    def higher_is_better(self) -> dict[str, bool]:
        """Return metric name → which way is good."""
        ours = {metric.name: metric.higher_is_better for metric in self.loaded.metrics()}
        return {**ours, **super().higher_is_better()}

    def dump_config(self) -> dict[str, Any]:
        """Return the configuration that lm-eval writes beside the results, with the signature."""
        config: dict[str, Any] = super().dump_config()
        signature = self.loaded.signature(shots=self.config.num_fewshot or 0)
        config["metadata"] = {**(config.get("metadata") or {}), "signature": signature}
        if any(metric.corpus for metric in self.loaded.metrics()):
            config["metadata"]["metric_signatures"] = metric_signatures(self.loaded.task)
        return config


_NO_ROW: dict[str, Any] = {
    "id": "",
    "question": "",
    "choices": ["", ""],
    "letters": ["A", "B"],
    "groups": [],
    "target": "A",
}


class _NoInstances(list[Any]):
    """No request at all, for an evaluator that asks the first one which filters there were."""

    filtered_resps: Mapping[str, Any] = {}

    def __getitem__(self, _: Any) -> Any:
        return self


def _aggregation(metric: Metric, task: NamedTask) -> Callable[[Any], float]:
    if metric.corpus:
        language = language_of(task)
        return lambda pairs: corpus_scores(pairs, language)[metric.name]
    return pool_rates if metric.pooled else mean


def _options(name: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Pick the options of a task's kind out of the metadata, where lm-eval has its own, too."""
    fields = kinds()[find_task(name).entry.kind].Options.__struct_fields__
    return {key: value for key, value in metadata.items() if key in fields}


def _catalogue_config(how: Condition) -> dict[str, Any]:
    template = how.template
    config: dict[str, Any] = {
        "dataset_path": "hkcanto",
        "test_split": "test",
        "fewshot_split": "examples",
        "fewshot_config": {"sampler": "first_n"},
        # lm-eval lets --num_fewshot change any number but an explicit 0.
        "num_fewshot": how.task.shots if how.task.variant.shots == 0 else how.task.shots or None,
        "description": "system",
        "doc_to_text": "question",
        "doc_to_target": "target",
        "target_delimiter": template.answer_separator,
        "fewshot_delimiter": template.example_separator,
        # Any value keeps lm-eval from looking the metrics' names up on the hub.
        "process_results": "process_results",
        "metric_list": [
            {
                "metric": metric.name,
                "aggregation": _aggregation(metric, how.task)
                if metric.pooled or metric.corpus
                else "mean",
                "higher_is_better": metric.higher_is_better,
            }
            for metric in how.kind.METRICS
        ],
    }
    if how.task.variant.scoring == "loglikelihood":
        return config | {"output_type": "multiple_choice", "doc_to_choice": "letters"}
    return config | {
        "output_type": "generate_until",
        "generation_kwargs": {
            "until": list(how.stop),
            "max_gen_toks": how.max_tokens,
            "do_sample": False,
        },
    }
