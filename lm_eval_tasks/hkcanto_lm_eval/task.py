"""The lm-eval task: a `ConfigurableTask` whose configuration and data come from the catalogue.

A YAML file in `tasks/` names a task of the catalogue and shows what it does; a key in which another
file differs from it overrides the catalogue's, as in any lm-eval task. Prompts, scoring and data
are those of the Inspect task of the same name.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from hashlib import sha256
from math import isnan
from typing import Any

from lm_eval.api.metrics import mean
from lm_eval.api.task import ConfigurableTask
from msgspec.structs import asdict

import hkcanto_lm_eval
from hkcanto_metrics.rates import pool_rates
from hkcanto_metrics.reasoning import opens_reasoning
from hkcanto_tasks.averages import average, share
from hkcanto_tasks.catalogue import Average, benchmarks
from hkcanto_tasks.corpus_figures import corpus_scores, language_of, metric_signatures, pair_of
from hkcanto_tasks.errors import OptionError, without_traceback
from hkcanto_tasks.records import Figure
from hkcanto_tasks.task import LoadedTask, condition, load_task

from .config import configuration, shown
from .options import run_options, says_turns

_log = logging.getLogger("lm_eval.hkcanto")  # whose notes lm-eval's command shows


class Placed(float):
    """An item's value that knows its subject, for averages in which subjects count alike.

    lm-eval hands an aggregation nothing but the items' values. In a log it is a plain number.

    Examples:
        >>> Placed.of(1.0, "hk_law").subject
        'hk_law'
    """

    subject: str

    @classmethod
    def of(cls, value: float, subject: str) -> "Placed":
        """Make a value with its subject."""
        placed = cls(value)
        placed.subject = subject
        return placed


class Docs(list[dict[str, Any]]):
    """The documents, as lm-eval asks for them: each a fresh dictionary, as from a `Dataset`.

    Attributes:
        features: The keys of a document.
    """

    def __init__(self, docs: Sequence[dict[str, Any]]) -> None:
        super().__init__(docs)
        self.features = dict.fromkeys(docs[0] if docs else ())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(doc) for doc in super().__iter__())


class CatalogueTask(ConfigurableTask):  # type: ignore[misc]
    """A task of the catalogue in lm-eval: one condition, with all of its subjects.

    `--metadata '{"…": …}'`, or `metadata:` in YAML, sets the options of its kind (see
    `hkcanto_tasks.kinds`), such as `examples` and `prompt`; `subjects`; and `shots`, which is
    `--num_fewshot` for those who keep all options in one place.
    """

    loaded: LoadedTask

    def __init__(self, config: Mapping[str, Any]) -> None:
        given = {key: value for key, value in config.items() if key != "class"}
        name = given.setdefault("dataset_name", given["task"])
        # lm-eval 0.4.11 does not hand its --metadata to a task with a class.
        metadata = {**(given.get("metadata") or {}), **hkcanto_lm_eval.run_metadata}
        asked = run_options(name, metadata)
        self._multiturn, shots = asked.multiturn, asked.shots
        self._load = {"subjects": asked.subjects, **asked.of_kind}
        how = condition(name, **self._load)
        self._part_of = metadata.pop("part_of", "")
        plain = shown(condition(name))
        overridden = {key: value for key, value in given.items() if plain.get(key) != value}
        overridden["metadata"] = {**metadata, "version": how.task.definition.version}
        chosen = {} if shots is None else {"num_fewshot": shots}
        super().__init__(config={**configuration(how), **chosen, **overridden})
        if not self.loaded.samples:
            self.dataset["test"] = Docs([])

    def download(self, *_: Any, **__: Any) -> None:
        """Load the data; lm-eval calls this when it makes the task."""
        self.loaded = load_task(self.config.dataset_name, allow_absent=True, **self._load)
        if self.loaded.title != self.loaded.task.name:
            title = self.loaded.title.removeprefix(self.loaded.task.name)
            self.config.task_alias = f"{self.config.task_alias or self.config.task}{title}"
        letters = self.loaded.task.definition.letters
        docs = [
            {
                "id": sample.id,
                "subject": sample.subject,
                "category": sample.category,
                "parts": list(sample.parts),
                "question": sample.question,
                **({"zero_shot": sample.zero_shot} if sample.zero_shot else {}),
                "choices": list(sample.choices),
                "letters": [
                    letter
                    for letter, choice in zip(letters, sample.choices, strict=False)
                    if choice is not None
                ],
                "source": sample.source,
                "target": sample.target,
            }
            for sample in self.loaded.samples
        ]
        # While lm-eval makes a task it looks at its first row, even if the data has none for it.
        self.dataset = {"test": Docs(docs or [_NO_ROW]), "examples": self._examples("", 0)}

    def fewshot_context(
        self,
        doc: Mapping[str, Any],
        num_fewshot: int,
        system_instruction: str | None = None,
        apply_chat_template: bool = False,
        fewshot_as_multiturn: bool = False,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Build the prompt, with the worked examples and the first sentence of its subject.

        In a chat, all worked examples are in one user message as the paper has them, unless
        `--metadata '{"multiturn": true}'` or `--fewshot_as_multiturn` itself asks for turns.

        Raises:
            OptionError: There are fewer worked examples; or log-likelihood of letters behind a chat
                template that opens a reasoning block would score the block's first words.
        """
        system, examples = self._fewshot(doc["subject"], num_fewshot)
        self.sampler.replace_df(examples)
        question = doc["question"] if num_fewshot else doc.get("zero_shot") or doc["question"]
        asked = {**doc, "system": system, "question": question}
        if self._multiturn is None:
            if fewshot_as_multiturn and num_fewshot and not says_turns():
                _say_single_turn()
            self._multiturn = fewshot_as_multiturn and says_turns()
        context = super().fewshot_context(
            asked,
            num_fewshot,
            system_instruction,
            apply_chat_template,
            bool(self._multiturn),
            *args,
            **kwargs,
        )
        likelihood = self.OUTPUT_TYPE == "multiple_choice" and isinstance(context, str)
        if likelihood and opens_reasoning(context):  # (a chat API's own refusal comes later)
            raise OptionError(
                f"{self.task_name} compares the log-likelihoods of the letters, but the chat "
                f"template ends the prompt in an open reasoning block ({context[-20:]!r}): the "
                "model would be scored on how it begins to think. Run the generative task "
                f"{self.loaded.task.definition.name} with --metadata '{{\"reasoning\": true}}', or "
                "switch thinking off in the template (--model_args enable_thinking=False)."
            )
        return context

    def construct_requests(self, doc: dict[str, Any], ctx: Any, **kwargs: Any) -> Any:
        """Make the request; one whose answer may begin with line breaks does not stop at them."""
        made = super().construct_requests(doc, ctx, **kwargs)
        if self.OUTPUT_TYPE == "generate_until":
            kind, (_, settings) = self.loaded.condition.kind, made.arguments[:2]
            shows_the_form = self.config.num_fewshot and not kwargs.get("apply_chat_template")
            if settings.get("until") == list(kind.stop) and not shows_the_form:
                settings["until"] = list(kind.stop_after_line_breaks)
        return made

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build the requests; none for a subject that the data lacks.

        With `--cache_requests`, lm-eval's key gets all that a prompt of ours depends on.
        """
        if self.loaded.samples:
            if kwargs.get("cache_requests"):
                named = kwargs.get("tokenizer_name") or ""
                kwargs["tokenizer_name"] = f"{named}-{self._fingerprint()}"
            super().build_all_requests(**kwargs)
        else:
            self._instances = _NoInstances()

    def _fingerprint(self) -> str:
        shots = self.config.num_fewshot or 0
        parts: list[Any] = [self.loaded.signature(shots), self._multiturn, says_turns()]
        parts += [self.config.description, self.config.doc_to_text, self.config.generation_kwargs]
        parts += [self._fewshot(each.name, shots) for each in self.loaded.task.subjects]
        parts += self.dataset["test"]
        return sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]

    def apply_filters(self) -> Any:
        """Apply the filters to the responses, if there are any."""
        return super().apply_filters() if self._instances else None

    def process_results(self, doc: dict[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """Score one response: figure → value, or for a corpus figure the pair of texts.

        A figure that the item has no part in is None. What was read from the response is put into
        the document, which lm-eval writes into its samples.
        """
        if "bypass" in self._metric_fn_list:  # --predict_only
            return {"bypass": 999}
        response = results[0]
        if self.OUTPUT_TYPE == "multiple_choice":
            likelihoods = [likelihood for likelihood, _ in results]
            if any(map(isnan, likelihoods)):
                _warn_of_no_likelihood(self.task_name)
                response = ""
            else:
                response = doc["letters"][likelihoods.index(max(likelihoods))]
        how = self.loaded.condition
        judgement = how.judge(response, doc["target"], doc["choices"], doc["source"])
        doc["judgement"] = {
            "answer": judgement.answer,
            "values": dict(judgement.values),
            "weights": dict(judgement.weights),
            **judgement.details,
            **({"reasoning": asdict(judgement.reasoning)} if judgement.reasoning else {}),
        }
        values: dict[str, Any] = {}
        for name, (figure, _) in self._figures.items():
            if figure.corpus:
                values[name] = pair_of(judgement)
            elif figure.part and figure.part not in doc["parts"]:
                values[name] = None
            elif figure.over == "questions":
                values[name] = judgement.values[figure.averages]
            else:
                values[name] = Placed.of(judgement.values[figure.averages], doc["subject"])
        return values

    def aggregation(self) -> dict[str, Callable[[Any], float]]:
        """Return figure → how items become the task's value."""
        ours = {name: aggregate for name, (_, aggregate) in self._figures.items()}
        return {**super().aggregation(), **ours}

    def higher_is_better(self) -> dict[str, bool | None]:
        """Return figure → which way is good."""
        ours = {name: figure.higher_is_better for name, (figure, _) in self._figures.items()}
        return {**super().higher_is_better(), **ours}

    def dump_config(self) -> dict[str, Any]:
        """Return the configuration that lm-eval writes beside the results, with the signature."""
        config: dict[str, Any] = super().dump_config()
        signature = self.loaded.signature(
            shots=self.config.num_fewshot or 0, multiturn=bool(self._multiturn)
        )
        config["metadata"] = {**(config.get("metadata") or {}), "signature": signature}
        if any(figure.corpus for figure in self.loaded.condition.table):
            config["metadata"]["metric_signatures"] = metric_signatures(self.loaded.task)
        return config

    @cached_property
    def _figures(self) -> dict[str, tuple[Figure, Callable[[Any], float]]]:
        """Row of the table → its figure, and how it is computed."""
        headline, *others = self.loaded.condition.table
        figures = {figure.name: figure for figure in (headline, *others)}
        if (printed := self.loaded.task.definition.printed) and self.loaded.task.scope == "task":
            figures[printed] = headline
        made = {name: (figure, self._aggregation(figure)) for name, figure in figures.items()}
        for of in self._averages:
            made[of.name] = (headline, self._part(of, made[headline.name][1]))
        return made

    def _aggregation(self, figure: Figure) -> Callable[[Any], float]:
        if figure.corpus:
            language = language_of(self.loaded.task)
            return lambda pairs: corpus_scores(pairs, language)[figure.name]
        if figure.pooled:
            return pool_rates
        if figure.over == "questions" and not figure.part:
            known: Callable[[Any], float] = mean  # which lm-eval knows the standard error of
            return known
        categories = self.loaded.condition.categories

        def aggregate(items: Sequence[Placed | float | None]) -> float:
            values = [item for item in items if item is not None]
            subjects = [getattr(item, "subject", "") for item in values]
            return average(values, figure.over, subjects, categories)

        return aggregate

    @property
    def _averages(self) -> Sequence[Average]:
        """The averages over several tasks, on a complete release, of the group that it runs in."""
        task = self.loaded.task
        complete = len(task.subjects) == len(task.definition.subjects)
        if self._part_of != task.benchmark.name or not complete or self.loaded.revision == "sample":
            return ()
        return [of for of in averages_over(task.benchmark.averages) if task.whole in _tasks(of)]

    def _part(self, of: Average, aggregate: Callable[[Any], float]) -> Callable[[Any], float]:
        """What a group's plain mean over its tasks makes the average: lm-eval knows no other."""
        factor = len(_tasks(of)) * share(of, self.loaded.task.whole)
        return lambda items: factor * aggregate(items)

    def _examples(self, subject: str, shots: int) -> list[dict[str, Any]]:
        letters = list(self.loaded.task.definition.letters)
        return [
            {"question": example.question, "target": example.answer, "letters": letters}
            for example in (self.loaded.shots(subject, shots) if shots else ())
        ]

    def _fewshot(self, subject: str, shots: int) -> tuple[str, list[dict[str, Any]]]:
        key = subject, shots
        if key not in self._prepared:
            self._prepared[key] = self.loaded.system(*key), self._examples(*key)
        return self._prepared[key]

    @cached_property
    def _prepared(self) -> dict[tuple[str, int], tuple[str, list[dict[str, Any]]]]:
        return {}


def averages_over(every: Sequence[Average]) -> list[Average]:
    """Return the averages of several columns; one with a single column is a group of its own."""
    return [of for of in every if len(of.columns) > 1]


def _tasks(of: Average) -> list[str]:
    return [name for column in of.columns for name in column]


@cache
def _warn_of_no_likelihood(task: str) -> None:
    _log.warning(
        "%s: the model gave NaN as the log-likelihood of a letter. Such questions count as "
        "unparsed. In half precision, try another dtype or attention implementation.",
        task,
    )


@cache
def _say_single_turn() -> None:
    _log.info(
        "All worked examples are in one user message, as in the paper. For a turn each: "
        "--fewshot_as_multiturn true, or --metadata '{\"multiturn\": true}'."
    )


_NO_ROW: dict[str, Any] = {
    "id": "",
    "subject": "",
    "question": "",
    "choices": ["", ""],
    "letters": ["A", "B"],
    "source": "",
    "target": "A",
}


class _NoInstances(list[Any]):
    """No request at all, for an evaluator that asks the first one which filters there were."""

    filtered_resps: Mapping[str, Any] = {}

    def __getitem__(self, _: Any) -> Any:
        return self


class _WithoutParts(logging.Filter):
    """Drop lm-eval's warning that a task has no part in an average of its group: few have."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        averages = [of for benchmark in benchmarks() for of in averages_over(benchmark.averages)]
        return not any(f"metric '{of.name}," in message for of in averages)


logging.getLogger("lm_eval.api.group").addFilter(_WithoutParts())
without_traceback()
