"""The lm-eval task: a `ConfigurableTask` whose configuration and data come from the catalogue.

A YAML file in `tasks/` names a task of the catalogue. If another YAML file sets a key, its value
overrides the catalogue's, as in any lm-eval task. Prompts, scoring and data are those of the
Inspect task of the same name.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from itertools import chain
from math import isnan
from typing import Any

import msgspec
from lm_eval.utils import info_once, warning_once

from hkcanto_metrics.reasoning import opens_reasoning, response_as_text
from hkcanto_tasks.adapters.cut_off import CutOff, room_warning
from hkcanto_tasks.adapters.system_role import NOTE, explain_refusal, lacks_system_role
from hkcanto_tasks.catalogue import benchmarks
from hkcanto_tasks.errors import OptionError, in_command, without_traceback
from hkcanto_tasks.figures import item_values, metric_signatures
from hkcanto_tasks.judgements import Judgement
from hkcanto_tasks.kinds.base import REASONING_TOKENS
from hkcanto_tasks.kinds.judged import Judged
from hkcanto_tasks.printable import readable_log
from hkcanto_tasks.prompts import Example, without_system
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.signatures import parse_signature, request_hash
from hkcanto_tasks.tasks import LoadedTask, task_as_run

from .before_model import take_loaded
from .clock import MODEL_CLOCK
from .config import (
    Config,
    averages_over,
    catalogue_name,
    configuration,
    edit_hash,
    output_type,
    seed_sent,
    setting,
    task_options,
)
from .generations import Task, class_for
from .requests import RenderedPrompt, Request
from .rows import Aggregation, ResultRows

# lm-eval's command shows messages of this logger.
_log = logging.getLogger("lm_eval.hkcanto")
_log.addFilter(readable_log)

_ROOM_FOR_REASONING = """--metadata '{"reasoning": true}'"""
_NO_SYSTEM = """--metadata '{"no_system": true}'"""
_MANY_CUT_OFF = 0.05
_ROOM_FOR_PROMPT = (
    8192  # tokens of a context that the default limit for reasoning leaves free
)

_NO_SAMPLE = Sample(id="", target="A")
_NO_ROW = {**msgspec.to_builtins(_NO_SAMPLE), "letters": ["A", "B"]}

Doc = dict[str, Any]
"""An item for lm-eval: its fields, and the letters that lm-eval compares."""


class Docs(list[Doc]):
    """The documents for lm-eval: each one a fresh dictionary, as from a `Dataset`.

    Attributes:
        features: The keys of a document, and `text`, its rendered question.
    """

    def __init__(self, docs: Sequence[Doc]) -> None:
        super().__init__(docs)
        keys = docs[0] if docs else ()
        self.features = dict.fromkeys((*keys, "text"))

    def __iter__(self) -> Iterator[Doc]:
        return map(dict, super().__iter__())


class CatalogueTask(Task):
    """A task of the catalogue in lm-eval: one condition, with all of its subjects.

    `--metadata '{"…": …}'`, or `metadata:` in YAML, sets the options of its kind (see
    `hkcanto_tasks.kinds`), such as `examples` and `prompt`; `subjects`; and `shots`, which has the
    same effect as `--num_fewshot`.

    lm-eval calls `fewshot_context` and `construct_requests` for each item, then `apply_filters`,
    and then `process_results` for each item. A `Request` carries what was sent for an item to its score.
    """

    _instances: Any

    def __new__(cls, config: Config) -> "CatalogueTask":
        """Create a task that sends the requests of its kind."""
        kind = task_as_run(catalogue_name(config))
        requests = config.get("output_type") or output_type(kind)
        return super().__new__(class_for(cls, requests))  # type: ignore[arg-type,no-any-return]

    def __init__(self, config: Config) -> None:
        name = catalogue_name(config)
        metadata = dict(config.get("metadata") or {})
        options = task_options(name, metadata)
        part_of = metadata.pop("part_of", "")

        self.loaded = take_loaded(name, options)
        self.kind = self.loaded.kind
        self._edits = edit_hash(config, self.kind, self._classes_of_user())
        self._turns_option = self.kind.multiturn if "multiturn" in options else None
        self._loaded_at = cache(self.loaded.at)
        self._catalogue = {sample.id: sample for sample in self.loaded.samples}
        # By the items' ids: a prompt until its request is built, and a request until the end.
        self._prompts: dict[str, RenderedPrompt] = {}
        self._requests: dict[str, Request] = {}
        self._lacks_system: bool | None = None  # unknown before the first prompt
        self._cut_off = CutOff(self.kind, _ROOM_FOR_REASONING)
        self._model_seconds: float | None = None

        ours = configuration(self.kind)
        self._catalogue_stop = ours.get("generation_kwargs", {}).get("until")
        if "shots" in options:
            ours["num_fewshot"] = self.kind.shots
        settings = {**ours, **config}
        settings.pop("class", None)
        settings["dataset_name"] = name
        settings["metadata"] = metadata
        metadata["version"] = self.loaded.task.definition.version
        if self.loaded.remark:
            alias = config.get("task_alias") or config["task"]
            settings["task_alias"] = f"{alias}{self.loaded.remark}"
        super().__init__(config=settings)

        self._part_of = part_of
        if not self.loaded.samples:
            _log.warning(
                "The data has no file for %s: it is left out.", self.config.task
            )
            self.dataset["test"] = Docs([])
        if isinstance(self.kind, Judged):
            warning_once(
                _log,
                f"{self.task_name}: its answers need a judge model, which lm-eval does not have, "
                "so all are unjudged. Run with --output_path OUT --log_samples, then `hkcanto "
                "rescore OUT --grader openai/gpt-4o -o judged`",
            )

    @classmethod
    def _classes_of_user(cls) -> list[str]:
        """Return the names of classes outside our package that derive from this one."""
        ours = __name__.partition(".")[0]
        return [
            base.__qualname__
            for base in cls.__mro__
            if issubclass(base, CatalogueTask) and not base.__module__.startswith(ours)
        ]

    # ------------------------------------------------------------------ data

    def download(
        self,
        *_: Any,
        **__: Any,
    ) -> None:
        """Make the documents; lm-eval calls this when it creates the task, or needs the rows."""
        docs = [self._doc(sample) for sample in self.loaded.samples]
        # When lm-eval creates a task it looks at its first row, even if the data has none for it.
        self.dataset = {"test": Docs(docs or [_NO_ROW]), "examples": []}

    @property
    def eval_docs(self) -> Any:
        """The documents; lm-eval 0.5 treats an empty list as a mistake."""
        return super().eval_docs if self.loaded.samples else self.dataset["test"]

    def _doc(self, sample: Sample) -> Doc:
        doc: Doc = msgspec.to_builtins(sample)
        doc["letters"] = [*self.kind.lettered(sample)]
        return doc

    def _example_doc(self, example: Example) -> Doc:
        """Return a worked example as a document, with its rendered question and answer."""
        doc = self._doc(example.sample or _NO_SAMPLE)
        doc["text"] = example.question
        doc["target"] = example.answer
        return doc

    # ------------------------------------------------------------------ prompts

    def doc_to_text(
        self,
        doc: Doc,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Return the question of an item or worked example, unless a YAML file sets the text."""
        return super().doc_to_text({"text": "", **doc}, *args, **kwargs)

    def fewshot_context(
        self,
        doc: Doc,
        num_fewshot: int,
        chat_template: Any = None,
        fewshot_as_multiturn: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Build the prompt, with the worked examples and the first sentence of its subject.

        lm-eval joins the texts, which are in the documents as `system`, `text` and `target`.
        A chat gets all worked examples in one user message, as in the paper, unless
        `--metadata '{"multiturn": true}'` or an explicit `--fewshot_as_multiturn` asks for turns.

        Raises:
            OptionError: There are too few worked examples.
        """
        # lm-eval sets the number of shots after it creates the task.
        loaded = self._loaded_at(
            shots=num_fewshot,
            multiturn=self._multiturn(
                fewshot_as_multiturn,
                is_chat=chat_template is not None,
                shots=num_fewshot,
            ),
            no_system=self._needs_no_system(chat_template),
        )
        kind = loaded.kind
        sample = msgspec.convert(doc, Sample)
        prompt = loaded.prompt(sample)
        system = prompt.system
        opening = ""
        if kwargs.get("apply_chat_template"):
            system, opening = prompt.in_chat
        examples = [
            self._example_doc(example)
            for example in loaded.prompt_examples(sample.subject)
        ]
        question = {**doc, "system": system, "text": prompt.question}
        first = examples[0] if examples else question
        first["text"] = opening + first["text"]
        self.sampler.replace_df(examples)

        messages: list[tuple[str, str]] = []

        def render(turns: Sequence[Doc], **options: Any) -> Any:
            messages.extend((turn["role"], turn["content"]) for turn in turns)
            if kind.options.no_system:
                messages[:] = without_system(messages)
                turns = [{"role": role, "content": text} for role, text in messages]
            return chat_template(turns, **options)

        context = super().fewshot_context(
            question,
            num_fewshot,
            chat_template=render if chat_template else None,
            fewshot_as_multiturn=kind.multiturn,
            **kwargs,
        )
        self._prompts[sample.id] = RenderedPrompt(
            task=loaded,
            messages=messages or [("", str(context))],
            in_chat=bool(messages),
        )
        return context

    def _needs_no_system(self, chat_template: Any) -> bool:
        """Return whether the model's chat template refuses or drops a system message."""
        if chat_template is None:
            return False
        if self._lacks_system is None:
            with _silent():  # lm-eval warns that it drops the message
                self._lacks_system = lacks_system_role(chat_template)
            if self._lacks_system:
                warning_once(_log, NOTE)
        return self._lacks_system

    def _multiturn(
        self,
        lm_eval_asks: bool,
        *,
        is_chat: bool,
        shots: int,
    ) -> bool:
        """Return whether each worked example is a turn of its own."""
        if self._turns_option is not None:
            return self._turns_option
        # lm-eval itself asks for turns wherever there is a chat template, in Python without a sign
        # of whether the user did.
        if lm_eval_asks and is_chat and shots and not self._has_turns_flag:
            text = "All worked examples are in one user message; for turns: "
            if in_command():
                info_once(_log, f"{text}--fewshot_as_multiturn true.")
            else:
                warning_once(_log, f"{text}metadata={{'multiturn': True}}.")
        return bool(lm_eval_asks and self._has_turns_flag)

    @cached_property
    def _has_turns_flag(self) -> bool:
        return setting("fewshot_as_multiturn", nargs="?", const="") is not None

    # ------------------------------------------------------------------ requests

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build the requests; none for a subject that the data lacks.

        `--cache_requests` is ignored: lm-eval's cache does not see data, options and prompts.

        Raises:
            OptionError: There are too few worked examples. Or the task compares log-likelihoods of
                letters and the chat template opens a reasoning block: the log-likelihoods would be
                of the first words of the reasoning.
        """
        self._requests.clear()
        if self.loaded.samples:
            super().build_all_requests(**{**kwargs, "cache_requests": False})
        else:
            self._instances = _NoInstances()
        MODEL_CLOCK.start()
        if self._any_request:
            model = _model_of(kwargs.get("chat_template"))
            self._check_reasoning(model, self._any_request)

    def _check_reasoning(
        self,
        model: Any,
        request: Request,
    ) -> None:
        """Warn if responses have no room for reasoning; refuse a reasoning block before letters.

        Args:
            model: lm-eval's model.
            request: Any request.
        """
        tokenizer = getattr(model, "tokenizer", None)
        template = str(getattr(tokenizer, "chat_template", None) or "")
        context = request.context
        kind = request.prompt.task.kind
        if request.prompt.in_chat:
            warning = room_warning(
                kind,
                template,
                str(context),
                _ROOM_FOR_REASONING,
            )
            if warning:
                _log.warning(warning)
        # A chat API, whose context is not a text, refuses log-likelihoods by itself, later.
        has_likelihoods = request.settings is None and isinstance(context, str)
        if has_likelihoods and opens_reasoning(context):
            raise OptionError(
                f"{self.task_name} measures log-likelihoods of answers, but the chat template opens"
                f" a reasoning block ({context[-20:]!r}). Run {self.loaded.task.definition.name} "
                f"with {_ROOM_FOR_REASONING}, or switch thinking off "
                "(--model_args enable_thinking=False)."
            )

    def construct_requests(
        self,
        doc: Doc,
        ctx: Any,
        **kwargs: Any,
    ) -> Any:
        """Build the request, with the prompt's stop texts unless a YAML file sets its own."""
        sample = msgspec.convert(doc, Sample)
        prompt = self._prompts.pop(sample.id)
        if self.OUTPUT_TYPE == "loglikelihood" and not prompt.in_chat:
            ctx += self.kind.template.answer_separator
        built = super().construct_requests(doc, ctx, **kwargs)
        # lm-eval 0.4 returns a single request as it is.
        instances = built if isinstance(built, list) else [built]
        model = _model_of(kwargs.get("chat_template"))
        settings: Config | None = None
        continuations: list[str] = []
        if self.OUTPUT_TYPE == "generate_until":
            settings = instances[0].arguments[1]
            self._complete(settings, prompt)
            self._leave_room(settings, model)
        else:
            if self.OUTPUT_TYPE == "loglikelihood":
                # Of the answer alone: lm-eval itself would put a separator before it.
                instances[0].arguments = (ctx, self.kind.gold(sample))
            continuations = [instance.arguments[1] for instance in instances]
        self._requests[sample.id] = Request(
            prompt=prompt,
            context=ctx,
            settings=settings,
            splits_reasoning=bool(getattr(model, "think_end_token", None)),
            sent_hash=request_hash(sample, prompt.messages, *continuations),
            catalogue_hash=self._catalogue_hash(sample.id, prompt),
        )
        return built

    def _complete(
        self,
        settings: Config,
        prompt: RenderedPrompt,
    ) -> None:
        """Add the seed and the stop texts of the prompt's form to generation settings."""
        settings.update(self._seed)
        if settings.get("until") == self._catalogue_stop:
            kind = prompt.task.kind
            settings["until"] = [*kind.sent_stop(chat=prompt.in_chat)]

    def _leave_room(
        self,
        settings: Config,
        model: Any,
    ) -> None:
        """Lower the default limit for reasoning if the model's context has no room for the prompt."""
        limit = settings.get("max_gen_toks")
        context = getattr(model, "max_length", None)
        # lm-eval cuts the prompts of servers only if it sends them as tokens.
        sends_text = hasattr(model, "base_url") and not model.tokenized_requests
        if sends_text or not isinstance(context, int) or limit != REASONING_TOKENS:
            return
        room = context - min(_ROOM_FOR_PROMPT, context // 2)
        if room < limit:
            settings["max_gen_toks"] = room
            warning_once(
                _log,
                f"The model's context has {context:,} tokens by its max_length: {room:,} are for "
                "reasoning and answer. Another limit: --gen_kwargs max_gen_toks=N.",
            )

    @cached_property
    def _seed(self) -> Mapping[str, int | None]:
        return seed_sent() if in_command() else {}

    def _catalogue_hash(
        self,
        item: str,
        prompt: RenderedPrompt,
    ) -> str:
        """Return the hash of the catalogue's request for an item; empty if it does not know it.

        The request that was sent has another one if a YAML file, Python code or a system message
        changed it.
        """
        sample = self._catalogue.get(item)
        if sample is None:
            return ""
        messages = prompt.catalogue_messages(sample)
        return request_hash(sample, messages, *self._continuations(sample, prompt))

    def _continuations(
        self,
        sample: Sample,
        prompt: RenderedPrompt,
    ) -> list[str]:
        """Return the texts whose log-likelihoods the catalogue's task asks for."""
        if self.OUTPUT_TYPE == "loglikelihood":
            return [self.kind.gold(sample)]
        if self.OUTPUT_TYPE == "multiple_choice":
            separator = "" if prompt.in_chat else self.kind.template.answer_separator
            return [separator + letter for letter in self.kind.lettered(sample)]
        return []

    # ------------------------------------------------------------------ scoring

    def apply_filters(self) -> Any:
        """Make the responses valid texts, and apply the filters to them, if there are any."""
        self._model_seconds = MODEL_CLOCK.stop()
        for instance in self._instances:
            if self.OUTPUT_TYPE == "generate_until":
                instance.resps = [*map(response_as_text, instance.resps)]
        return super().apply_filters() if self._instances else None

    def process_results(
        self,
        doc: Doc,
        results: Sequence[Any],
    ) -> Any:
        """Score one response: figure → value, or for a corpus figure the pair of texts.

        The value is None for a figure that does not include the item. The reading of the response
        is added to the document, which lm-eval writes into its samples.
        """
        if "bypass" in super().higher_is_better():  # --predict_only
            return {"bypass": 999}
        sample = msgspec.convert(doc, Sample)
        request = self._requests[sample.id]
        if request.settings is not None:
            judgement = self._judge_response(
                doc,
                sample,
                results,
                request,
            )
        else:
            judgement = self._judge_likelihoods(doc, sample, results)
        doc["judgement"] = judgement.logged()
        doc["requested"] = (request.sent_hash, request.catalogue_hash)
        self._cut_off.add(judgement)
        return self._rows.named(item_values(self.kind.table, sample, judgement))

    def _judge_response(
        self,
        doc: Doc,
        sample: Sample,
        responses: Sequence[Any],
        request: Request,
    ) -> Judgement:
        if len(responses) > 1:
            warning_once(
                _log,
                f"{self.task_name}: only the first of {len(responses)} responses to each question "
                "is scored.",
            )
        response = responses[0]
        if response and request.is_all_reasoning(response, self.kind.max_tokens):
            doc["in_reasoning"] = True
            return self.kind.judge("", sample, reasoning=response)
        return self.kind.judge(response, sample)

    def _judge_likelihoods(
        self,
        doc: Doc,
        sample: Sample,
        results: Sequence[Any],
    ) -> Judgement:
        likelihoods = [likelihood for likelihood, _ in results]
        has_answer = not any(map(isnan, likelihoods))
        if not has_answer:
            warning_once(
                _log,
                f"{self.task_name}: NaN as a log-likelihood: no answer. Try another dtype or "
                "attention.",
            )
        if self.OUTPUT_TYPE == "loglikelihood":
            return self.kind.judge_likelihood(likelihoods[0], sample)
        if not has_answer:
            return self.kind.judge("", sample)
        likeliest = likelihoods.index(max(likelihoods))
        return self.kind.judge(doc["letters"][likeliest], sample)

    # ------------------------------------------------------------------ results

    @cached_property
    def _rows(self) -> ResultRows:
        """The rows of the table; lm-eval sets the number of shots after it creates the task."""
        return ResultRows(
            self.loaded,
            self._part_of,
            self._as_run.kind,
            has_printed_name=self.OUTPUT_TYPE != "loglikelihood",
        )

    @property
    def _as_run(self) -> LoadedTask:
        """The task with the shots and turns of its requests."""
        if self._any_request:
            return self._any_request.prompt.task
        shots = self.config.num_fewshot or 0
        return self._loaded_at(shots=shots, multiturn=bool(self._turns_option))

    def aggregation(self) -> dict[str, Aggregation]:
        """Return figure → the function that aggregates the items' values.

        lm-eval calls this when it has all results, so this warns of responses that were cut off.
        """
        if self._cut_off.cut > _MANY_CUT_OFF * self._cut_off.responses:
            warning_once(_log, self._cut_off.warning)
        return {**super().aggregation(), **self._rows.aggregations()}

    def higher_is_better(self) -> dict[str, bool | None]:
        """Return figure → whether higher is better; None if neither is."""
        directions = {}
        for figure in self.kind.table:
            directions[figure.name] = figure.higher_is_better
        return {**super().higher_is_better(), **self._rows.named(directions)}

    def dump_config(self) -> Config:
        """Return the configuration that lm-eval writes with the results, with the signature.

        `seconds` in its metadata is how long the model took for all tasks of the run.
        """
        config: Config = super().dump_config()
        metadata = dict(config.get("metadata") or {})
        config["metadata"] = metadata
        metadata["signature"] = self._signature()
        if self._model_seconds is not None:
            metadata["seconds"] = round(self._model_seconds, 3)
        if any(figure.of_texts for figure in self.kind.table):
            metadata["metric_signatures"] = metric_signatures(self.loaded.task)
        settings = self._any_request and self._any_request.settings
        if settings:
            config["generation_kwargs"] = dict(settings)
        return config

    def _signature(self) -> str:
        signature = self._as_run.signature
        if self._edits:  # the figures are not those of the catalogue's task
            return parse_signature(signature).with_option("yaml", self._edits).text
        return signature

    @property
    def _any_request(self) -> Request | None:
        """A request of the run; all have the same form and settings."""
        return next(iter(self._requests.values()), None)


def _model_of(chat_template: Any) -> Any:
    """Return the model whose method renders chats; None without a chat template."""
    return getattr(chat_template, "__self__", None)


@contextmanager
def _silent() -> Iterator[None]:
    """Show no warnings of any logger."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(level)


class _NoInstances(list[Any]):
    """An empty list of requests, for an evaluator that asks the first one for its filters."""

    filtered_resps: Mapping[str, Any] = {}

    def __getitem__(self, _: Any) -> Any:
        return self


def _is_shown(record: logging.LogRecord) -> bool:
    """Return False for the warning that a task lacks an average of its group, as most tasks do."""
    message = record.getMessage()
    for average in chain.from_iterable(map(averages_over, benchmarks())):
        if f"metric '{average.name}," in message:
            return False
    return True


def _explained(record: logging.LogRecord) -> bool:
    """Explain a server's error about the system role before lm-eval shows it."""
    if advice := explain_refusal(record.getMessage(), _NO_SYSTEM):
        warning_once(_log, advice)
    return True


logging.getLogger("lm_eval.api.group").addFilter(_is_shown)
logging.getLogger("lm_eval.models.api_models").addFilter(_explained)
without_traceback()
