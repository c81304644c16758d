"""Setups: the prompts, generation settings, answer reading and figures of a task.

A kind of task is a class derived from `Setup`; an instance of it is one task under one condition.
"""

import difflib
import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from itertools import chain
from typing import Any, ClassVar, get_args, get_type_hints

import msgspec

from hkcanto_metrics.language import identify_language, identify_reasoning
from hkcanto_metrics.reasoning import split_reasoning

from . import __version__
from .catalogue import (
    PromptTemplate,
    Subject,
    TaskDefinition,
    TaskVariant,
    Variant,
    find_task,
)
from .data.tables import Record, UnreadableRow
from .errors import CatalogueError, DataCorrupt, OptionError, from_package
from .figures import Figure, figures_of, in_table, with_reasoning
from .fingerprints import fingerprints
from .judgements import Judgement
from .prompts import OF_EXAMPLES, Example, Prompt, fill, places, until_stop
from .samples import Sample
from .signatures import Signature, subset_of

_log = logging.getLogger("hkcanto")

REASONING_TOKENS = 8192
"""The token limit for the block that a reasoning model writes before its answer."""

RUN_OPTIONS = {
    "shots": "a number from 0",
    "subjects": "names of subjects or categories, separated by commas",
    "multiturn": "true or false",
}
"""The options of every task, besides those of its kind, and their values."""


OF_CHOICES = (
    *("question", "options", "answers", "option_labels", "shuffle_options"),
    *("letters", "blank_options", "answer", "types", "coarse"),
    *("sentence", "sentences", "examples"),
)
"""Keys of a task's entry that are only for questions with options."""

OF_SOME_KINDS = (*OF_CHOICES, "labels", "fold_scripts", "alternatives", "rubric")
"""Keys of a task's entry that only some kinds use (`Setup.USES`)."""


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of every kind.

    Attributes:
        reasoning: Allow a reasoning block before the answer: a higher token limit, and no stop
            texts.
    """

    reasoning: bool = False


class Setup(ABC):
    """A task as it is run, without its data.

    To add a kind of task, derive a class from this one, and declare it in the entry point group
    `hkcanto.kinds` under its name in a `benchmark.toml`.

    Attributes:
        task: The task, with the subjects that are run.
        options: The user's choice, an instance of the kind's `Options`.
        shots: Worked examples in the prompt.
        multiturn: Whether each worked example is its own turn in a chat.
        template: The texts of its prompt.
        prompt_name: The name of this prompt in the benchmark.
        own_script: Whether the rows are already in the chosen script.

    Raises:
        CatalogueError: The task's headline is not a figure of the kind, or the task declares a
            column that the kind does not read and its prompts do not show.
        OptionError: The prompt does not have the requested form.
    """

    FIGURES: ClassVar[tuple[Figure, ...]]
    """The figures of an item, in the order of a results table."""

    COLUMNS: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Role of a cell → the names of its column, if the task does not declare any."""

    Options: ClassVar[type[Any]] = Options
    """A frozen `msgspec.Struct` whose fields all have defaults."""

    SCAFFOLD: ClassVar[str] = ""
    """The suffix of a prompt's name that asks for an answer in a fixed form."""

    USES: ClassVar[tuple[str, ...]] = ()
    """The keys in `OF_SOME_KINDS` that this kind uses."""

    TOKENS: ClassVar[int]
    """The token limit of an answer, without a reasoning block."""

    def __init__(
        self, task: TaskVariant, options: Any, shots: int | None = None, *, multiturn: bool = False
    ) -> None:
        self.options, self.multiturn, self.own_script = options, multiturn, False
        self.task = _named_as_run(task, options, shots)
        self.shots = self.task.shots if shots is None else shots
        self.prompt_name = self._prompt_name()
        self.template: PromptTemplate = task.benchmark.prompts[self.prompt_name]
        if not self.is_generative and "letters" not in self.USES:
            raise CatalogueError(
                f"{task.benchmark.home}/benchmark.toml: task {task.definition.name!r} has a "
                f"variant {task.variant.suffix!r} with scoring = 'loglikelihood', which compares "
                f"letters of options; its kind {task.definition.kind!r} has none. Remove this "
                "variant."
            )
        definition, known = task.definition, [figure.name for figure in self.FIGURES]
        known += ["acc_macro", "acc_category_macro"] * ("acc" in known)
        roles = [*self.COLUMNS, "subject"]
        texts = [*chain.from_iterable(each.texts for each in task.benchmark.prompts.values())]
        texts += [definition.rubric.prompt] if definition.rubric else []
        shown = {*chain.from_iterable(map(places, texts))} - {*OF_EXAMPLES}
        said: list[tuple[str, str, Sequence[str]]] = [
            ("a column for", role, roles) for role in definition.columns if role not in shown
        ]
        said += [("the headline", definition.headline, ["", *known])]
        bare = TaskDefinition(name="", title="", kind="")
        declared = [
            each for each in OF_SOME_KINDS if getattr(definition, each) != getattr(bare, each)
        ]
        said += [("a field", name, self.USES) for name in declared]
        for what, name, there in said:
            if name not in there:
                besides = f", and no prompt has a placeholder {{{name}}}" if there is roles else ""
                raise CatalogueError(
                    f"{task.benchmark.home}/benchmark.toml: task {definition.name!r} has {what} "
                    f"{name!r}; its kind {definition.kind!r} has "
                    f"{', '.join(filter(None, there)) or 'no use for it'}{besides}. Fix this entry "
                    "of the catalogue."
                )

    def at(
        self,
        *,
        shots: int | None = None,
        multiturn: bool | None = None,
        subjects: Sequence[Subject] | None = None,
        own_script: bool | None = None,
    ) -> "Setup":
        """Return a copy with other shots, turns or subjects, or another `own_script`."""
        made = type(self)(
            self.task if subjects is None else replace(self.task, subjects=tuple(subjects)),
            self.options,
            self.shots if shots is None else shots,
            multiturn=self.multiturn if multiturn is None else multiturn,
        )
        made.own_script = self.own_script if own_script is None else own_script
        return made

    # ------------------------------------------------------------------ figures and signature

    @property
    def is_generative(self) -> bool:
        """Whether the model writes its answer; otherwise its answer is the likeliest letter."""
        return self.task.variant.scoring == "generative"

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """All of its figures, the headline first."""
        of_kind = with_reasoning(self.FIGURES) if self.is_generative else self.FIGURES
        return figures_of(self.task, of_kind)

    @cached_property
    def table(self) -> tuple[Figure, ...]:
        """The figures that a harness's table shows, the headline first."""
        return in_table(self.task, self.figures)

    @property
    def headline(self) -> Figure:
        """The figure to read first, averaged as the paper averages it."""
        return self.figures[0]

    @cached_property
    def categories(self) -> Mapping[str, str]:
        """Subject → category."""
        return {subject.name: subject.category for subject in self.task.definition.subjects}

    @property
    def chosen(self) -> dict[str, Any]:
        """The options that are not switched off, by name."""
        values = msgspec.structs.asdict(self.options)
        return {name: value for name, value in values.items() if value}

    def signature(self, data: str, rationales: Iterable[str] = ()) -> Signature:
        """Return the signature of its figures.

        Args:
            data: The name of the data.
            rationales: The sources of the reasoning in the worked examples.
        """
        definition = self.task.definition
        sent, read = fingerprints(self)
        options = {"turns": "multi" if self.multiturn and self.shots else ""}
        options["subjects"] = subset_of(self.task)
        options |= {k: "yes" if v is True else str(v) for k, v in self.chosen.items()}
        options["rationale"] = "+".join(sorted(filter(None, rationales)))
        return Signature(
            task=self.task.whole,
            shots=self.shots,
            options=tuple((name, text) for name, text in options.items() if text),
            data=data,
            sent=sent,
            read=read,
            metric=definition.metric if self.is_generative else "loglikelihood",
            version=str(definition.version),
            package=__version__,
        )

    # ------------------------------------------------------------------ reading the release

    def columns(self, role: str) -> tuple[str, ...]:
        """Return the columns that may have the cell of a role, in lower case."""
        declared = self.task.definition.columns.get(role, self.COLUMNS.get(role, (role,)))
        names = (declared,) if isinstance(declared, str) else declared
        return tuple(name.lower() for name in names)

    def reads(self, columns: Iterable[str]) -> set[str]:
        """Return the columns of a file that the kind reads, and that no prompt can show by name.

        Args:
            columns: The file's columns, in lower case.
        """
        return {name for role in self.COLUMNS for name in self.columns(role)} & {*columns}

    @property
    def nested(self) -> set[str]:
        """The paths into a cell, such as `choices.a`, that the task or its prompt names."""
        roles = {
            *self.task.definition.columns,
            *chain.from_iterable(map(places, self.template.texts)),
        }
        return {name for role in roles for name in self.columns(role) if "." in name}

    @property
    def headerless(self) -> tuple[str, ...]:
        """The columns of a CSV file without a header row, in order."""
        return tuple(self.columns(role)[0] for role in self.COLUMNS)

    @abstractmethod
    def row(self, record: Record) -> Sample:
        """Read a row of the release.

        Its id is the release's number or name for it. `load_task` then adds the full id, subject,
        category and parts, which follow from the task and the subject.

        Raises:
            UnreadableRow: The row lacks something or is wrong (`Record.problem`).
        """

    def rows(
        self, records: Sequence[Record], release: Callable[[], Sequence[Record]] = tuple
    ) -> list[Sample | UnreadableRow]:
        """Read the rows of a file; unreadable rows are returned as errors.

        Args:
            records: The rows of one file, or of its shards.
            release: Returns the rows of all subjects, for use if one file alone is ambiguous.

        Raises:
            DataCorrupt: The file as a whole cannot be read.
        """
        del release
        rows: list[Sample | UnreadableRow] = []
        for record in records:
            try:
                rows.append(self.row(record))
            except UnreadableRow as error:
                rows.append(error)
        return rows

    def check(self, rows: Sequence[Sample], file: str) -> None:
        """Refuse a file for faults that single rows do not show, such as two rows with one id.

        Raises:
            DataCorrupt: The rows cannot all be right.
        """
        if repeated := [
            each for each, count in Counter(row.id for row in rows).items() if count > 1
        ]:
            raise DataCorrupt(
                f"{file}: the ids or numbers {', '.join(repeated)} occur more than once. Correct "
                "the file."
            )

    def scored(self, rows: Sequence[Sample], subject: Subject) -> Sequence[Sample]:
        """Return the scored items of a subject in the form for prompts; by default all."""
        del subject
        return rows

    def remark(self, samples: Sequence[Sample]) -> str:
        """Return why a score on these items would be meaningless; by default an empty text."""
        del samples
        return ""

    # ------------------------------------------------------------------ rendering

    def made_up(self) -> Sample:
        """Return a made-up item, from which the hashes of a signature are computed.

        A kind with fields of another form overrides it: `values`, `example` and `judge` must accept
        the item. (Its words are ones that OpenCC's configurations convert differently.)
        """
        text = "衞生署裏面有 12 張枱，着咗衫嘅係邊個？臺灣嘅滑鼠呢？"
        return Sample(
            id="1",
            question=text,
            choices=("三個", "着咗衫嗰個", "枱", "滑鼠"),
            source=text,
            target="A",
            reasoning="因為得 7 個。",
            cells=dict.fromkeys(chain.from_iterable(map(places, self.template.texts)), text),
        )

    def further_readings(self) -> list[Any]:
        """Return what the signature covers besides answers to the made-up item; here nothing."""
        return []

    def _prompt_name(self) -> str:
        prompts = self.task.definition.prompts
        asked = getattr(self.options, "prompt", "paper")
        name = asked.removesuffix(self.SCAFFOLD)
        if name not in prompts:
            ends = dict.fromkeys(("", self.SCAFFOLD))
            known = ", ".join(each + end for each in prompts for end in ends)
            raise OptionError(f"{self.task.name}: prompt={asked!r}; choose {known}.")
        return prompts[name]

    def subject(self, name: str) -> Subject:
        """Return a subject of the task by its name."""
        return next(each for each in self.task.definition.subjects if each.name == name)

    def names(self, subject: Subject) -> dict[str, str]:
        """Return the placeholders that name a subject: placeholder → text."""
        return {
            "subject": subject.shown or subject.stem.replace("_", " "),
            "title": subject.title,
            "chinese": subject.chinese or subject.title,
        }

    def system(self, subject: Subject) -> str:
        """Return the instruction before everything else, with placeholders for an item's texts."""
        text = self.template.system
        if not self.shots and self.template.zero_shot:
            text = self.template.zero_shot
        return fill(text, self.names(subject), keep=True)

    def question(self, subject: Subject) -> str:
        """Return the text of a scored question, with placeholders for an item's texts."""
        text = self.template.question
        if not self.shots and self.template.zero_shot_question is not None:
            text = self.template.zero_shot_question
        return fill(text, self.names(subject), keep=True)

    @abstractmethod
    def values(self, sample: Sample) -> Mapping[str, str]:
        """Return the texts of an item that a template may show: placeholder → text."""

    def opening(self, sample: Sample) -> str:
        """Render the instruction before everything else for an item."""
        return fill(self._text_of(sample)[0], {**sample.cells, **self.values(sample)})

    def turn(self, sample: Sample) -> str:
        """Render the question turn of a scored item."""
        return fill(self._text_of(sample)[1], {**sample.cells, **self.values(sample)})

    def _text_of(self, sample: Sample) -> tuple[str, str]:
        if sample.subject not in self._texts:
            subject = self.subject(sample.subject)
            self._texts[sample.subject] = self.system(subject), self.question(subject)
        return self._texts[sample.subject]

    @cached_property
    def _texts(self) -> dict[str, tuple[str, str]]:
        return {}

    @property
    def example_source(self) -> str:
        """`release` if worked examples show something that some releases lack; else empty."""
        return ""

    def has_rationale(self, row: Sample) -> bool:
        """Return whether a row has everything that a worked example shows."""
        return row is not None

    def printed(self) -> list[Sample]:
        """Return the worked examples printed in the paper, as rows."""
        return []

    def examples(self, subject: Subject, rows: Sequence[Sample]) -> list[Example]:
        """Render rows as worked examples, numbered from 1; empty if the prompt has no form."""
        made = ((row, self.example(subject, row, at)) for at, row in enumerate(rows, start=1))
        return [replace(each, sample=row) for row, each in made if each is not None]

    def example(self, subject: Subject, row: Sample, number: int) -> Example | None:
        """Render a row as a worked example; None if the prompt has no form for it."""
        text = self.template.example or self.template.question
        own = {**self.names(subject), "number": str(number), **self.values(row)}
        return Example(fill(text, {**row.cells, **own}), self.answer(row))

    def answer(self, row: Sample) -> str:
        """Return the answer of a worked example."""
        return row.target

    def prompt(self, sample: Sample, examples: Sequence[Example] = ()) -> Prompt:
        """Return the prompt of an item.

        Args:
            sample: The item.
            examples: The worked examples in the prompt.
        """
        return Prompt(
            system=self.opening(sample),
            examples=examples,
            question=self.turn(sample),
            answer_separator=self.template.answer_separator,
            example_separator=self.template.example_separator,
        )

    # ------------------------------------------------------------------ generation settings

    @property
    def stop(self) -> tuple[str, ...]:
        """The stop texts at which a response is cut when it is scored."""
        return () if self.options.reasoning else self.template.stop

    def sent_stop(self, *, chat: bool) -> tuple[str, ...]:
        """Return the stop texts that are sent to the harness.

        Args:
            chat: Whether the prompt is a chat, where a response may begin with line breaks.
        """
        del chat
        return self.stop

    @property
    def max_tokens(self) -> int:
        """The token limit of a response."""
        return REASONING_TOKENS if self.options.reasoning else self.TOKENS

    # ------------------------------------------------------------------ judging

    def judge(self, response: str | None, sample: Sample, reasoning: str = "") -> Judgement:
        """Judge a response to an item, in the same way in every harness.

        Args:
            response: The model's response, with or without its reasoning; None if it is empty.
            sample: The item.
            reasoning: The reasoning, if the server returned it separately.

        Examples:
            >>> g2p, nei = setup("hkcanto_g2p"), Sample(id="", target="hou2")
            >>> g2p.judge("<think>nei5?</think>hou2", nei).values["ser"]
            0.0
        """
        parts = split_reasoning(response or "", reasoning)
        answer = self.cut(parts.answer.lstrip())
        judgement = self.score(answer, sample)
        more: dict[str, Any] = {}
        if parts.reasoning.strip():
            more["reasoning"] = identify_reasoning(parts)
            more["answer_language"] = identify_language(answer).language
        if not parts.finished and not answer.strip():
            more["reason"] = "none: cut off"
        values = {name: float(own) for name, own in judgement.values.items() if own is not None}
        return msgspec.structs.replace(judgement, values=values, length=len(parts.answer), **more)

    def cut(self, response: str) -> str:
        """Cut a response, without its reasoning, to the part that is scored."""
        return until_stop(response, self.stop)

    @abstractmethod
    def score(self, answer: str, sample: Sample) -> Judgement:
        """Judge an answer that has no reasoning and is cut before the stop texts.

        It never raises an error, whatever the answer contains.
        """


def setup(
    name: str,
    subjects: str | Sequence[str] = (),
    *,
    shots: int | str | None = None,
    multiturn: bool | str = False,
    **options: Any,
) -> Setup:
    """Return the setup of a task.

    Args:
        name: The name of a task, a part, a subject or a variant in lm-eval, e.g. `hkmmlu_cot`.
        subjects: Run only these subjects; the name of a category or set selects its subjects.
        shots: Number of worked examples in the prompt, from 0; by default that of the task, or of
            the variant that the options select.
        multiturn: Whether each worked example is its own turn in a chat.
        options: See the kind's `Options`; texts such as `"true"` are converted.

    Raises:
        CatalogueError: The task does not exist.
        OptionError: A subject or option does not exist, or an option cannot have that value.

    Examples:
        >>> setup("hkmmlu", "stem", cot=True).signature("…").text.split("|")[:4]
        ['hkmmlu-cot', 'shots:0', 'turns:single', 'subjects:stem']
    """
    task = find_task(name)
    refuse_unknown(name, options)
    named = subjects.split(",") if isinstance(subjects, str) else subjects
    if wanted := [each.strip() for each in named if each.strip()]:
        task = replace(task, subjects=_chosen(task, wanted))
    kind = find_kind(task.definition.kind)
    fields = kind.Options.__struct_fields__
    of_variant = {"cot": task.variant.cot, "script": task.variant.script}
    given = {option: value for option, value in of_variant.items() if option in fields} | options
    try:
        chosen = msgspec.convert(given, kind.Options, strict=False)
    except msgspec.ValidationError as error:
        listed = "; ".join(f"{each}: {values}" for each, values in option_values(name).items())
        raise OptionError(f"{name}: {error}. Its options are {listed}.") from error
    if shots is not None and not str(shots).isdecimal():
        raise OptionError(f"{name}: shots={shots!r} is not {RUN_OPTIONS['shots']}.")
    if (turns := str(multiturn).lower()) not in ("true", "false"):
        raise OptionError(f"{name}: multiturn={multiturn!r} is neither true nor false.")
    return kind(task, chosen, None if shots is None else int(shots), multiturn=turns == "true")


def option_values(name: str) -> dict[str, str]:
    """Return the options of a task's kind and the possible values of each, for people.

    Examples:
        >>> option_values("hkcanto_g2p")
        {'reasoning': 'true or false', 'examples': 'paper or release'}
    """
    task = find_task(name)
    kind = find_kind(task.definition.kind)
    prompts = ", ".join(task.definition.prompts)
    if kind.SCAFFOLD:
        prompts += f", each with or without {kind.SCAFFOLD}"
    words = {bool: "true or false", int: RUN_OPTIONS["shots"], str: "a text"}
    found = {}
    for name, declared in get_type_hints(kind.Options).items():
        values = " or ".join(sorted(map(str, get_args(declared))))
        found[name] = values or words.get(declared, "a number")
    return found | ({"prompt": prompts} if "prompt" in found else {})


def refuse_unknown(name: str, given: Iterable[str]) -> None:
    """Refuse options that a task does not have.

    Args:
        name: The task's name.
        given: The names of the given options.

    Raises:
        OptionError: An option does not exist; the message lists those that do.
    """
    known = {**RUN_OPTIONS, **option_values(name)} if given else {}
    for option in given:
        if option not in known:
            near = difflib.get_close_matches(option, known, n=1)
            hint = f"Did you mean {near[0]}? " if near else ""
            listed = "; ".join(f"{each}: {values}" for each, values in known.items())
            raise OptionError(f"{name} has no option {option!r}. {hint}It has {listed}.")


def _named_as_run(task: TaskVariant, options: Any, shots: int | None) -> TaskVariant:
    """Return a task under the name of the variant that fits the options best.

    Scoring counts first, then chain of thought, script, and number of worked examples. Without a
    number, the first fitting variant is taken.
    """
    of_variant = task.variant

    def fits(variant: Variant) -> tuple[bool, ...]:
        own = task.definition.shots if variant.shots is None else variant.shots
        return (
            variant.scoring == of_variant.scoring,
            variant.cot == getattr(options, "cot", of_variant.cot),
            variant.script == getattr(options, "script", of_variant.script),
            own == shots,
        )

    every = (Variant(), *task.definition.variants)
    variant = max((of_variant, *every) if shots is None else every, key=fits)
    if variant == of_variant:
        return task
    name = task.name.removesuffix(f"_{of_variant.suffix}") if of_variant.suffix else task.name
    return replace(task, variant=variant, name="_".join(filter(None, (name, variant.suffix))))


def _chosen(task: TaskVariant, wanted: Sequence[str]) -> tuple[Subject, ...]:
    chosen = [each for each in task.subjects if {*each.sets} & {*wanted}]
    known = {name for subject in chosen for name in subject.sets}
    if unknown := sorted({*wanted} - known):
        there = [subject.name for subject in task.subjects]
        near = [each for name in unknown for each in difflib.get_close_matches(name, there, n=1)]
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        raise OptionError(f"{task.name} has no subjects {unknown}; there are {there}.{hint}")
    return tuple(chosen)


# ---------------------------------------------------------------------- kinds


_RENAMED = {
    "sentiment": '"label", with the labels that it had: write `kind = "label"` and `labels = '
    '{ Positive = ["正面"], Negative = ["負面"], Neutral = ["中性"] }`.'
}


def find_kind(name: str) -> type[Setup]:
    """Return a kind of task by its name in a `benchmark.toml`.

    Raises:
        CatalogueError: No installed package declares it.

    Examples:
        >>> [figure.name for figure in find_kind("number").FIGURES]
        ['acc', 'unparsed_rate']
    """
    declared = _declared().get(name)
    if declared is None and name in _RENAMED:
        raise CatalogueError(f"the kind {name!r} is now {_RENAMED[name]}")
    if declared is None:
        near = difflib.get_close_matches(name, _declared(), n=1)
        raise CatalogueError(
            f"no kind {name!r}; there are {', '.join(sorted(_declared()))}. "
            + "".join(f"Did you mean {each!r}? " for each in near)
            + "A package adds one by the entry point group hkcanto.kinds."
        )
    with from_package(declared):
        kind = declared.load()
        if not issubclass(kind, Setup):
            raise TypeError(f"{kind!r} is not derived from hkcanto_tasks.setup.Setup")
    found: type[Setup] = kind
    return found


@cache
def _declared() -> dict[str, EntryPoint]:
    """Return the kinds by name; our kind wins if another package uses its name."""
    found: dict[str, EntryPoint] = {}
    for declared in sorted(entry_points(group="hkcanto.kinds"), key=_is_foreign):
        first = found.setdefault(declared.name, declared)
        if first.value != declared.value:
            _log.warning(
                "The kind %s = %s is left out: %s has that name already. Rename it in its package.",
                *(declared.name, declared.value, first.value),
            )
    return found


def _is_foreign(declared: EntryPoint) -> bool:
    return not declared.value.startswith("hkcanto_tasks.")
