"""Make the signature of a task as it is run: its options, and hashes of its behaviour.

A task's `version` is raised by hand. The hashes also change after an undeclared edit of a prompt, of
how answers are read, or of the code behind them.
"""

import sys
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import msgspec

from . import __version__
from .data.rows import reader_of
from .declarations import ChoiceDefinition
from .errors import CatalogueError
from .kinds.base import Kind
from .signatures import Signature, subset_of

_ROWS_AND_CELLS = (
    "columns",
    "header",
    "question",
    "answer",
    "answers",
    "option_labels",
    "shuffle_options",
    "letters",
    "blank_options",
    "language",
    "dev_rows",
    "examples_from_test",
    "files",
    "config",
    "splits",
    "rows",
    "delimiter",
    "quotes",
)
"""The keys of a task's entry that decide which rows and cells reach a prompt."""

# A task without options is hashed with the defaults of their keys, which all tasks once had.
_DEFAULTS = msgspec.structs.asdict(
    ChoiceDefinition(
        name="",
        title="",
        kind="",
    )
)

_DIGITS_OF_VALUE = 6  # the last digits of a value differ between machines


class Fingerprints(NamedTuple):
    """Two hashes of seven hexadecimal digits. Neither depends on the data or the chosen subjects.

    Attributes:
        sent: A hash of the requests: the prompt of a made-up item with its worked examples, the
            subjects' names and texts, the stop texts, the token limit, the files and columns behind
            prompts, and the source of the benchmark's reader.
        read: A hash of how answers are read: the judgements of `probes.json`, the kind's further
            readings, the headline's average, and the source of a kind from another package.
    """

    sent: str
    read: str


_fingerprints: dict[bytes, Fingerprints] = {}


def signature_of(
    kind: Kind,
    data: str,
    rationales: Iterable[str] = (),
) -> Signature:
    """Return the signature of the figures of a task as it is run.

    Args:
        kind: The task as it is run.
        data: The name of the data.
        rationales: The sources of the reasoning in the worked examples.
    """
    definition = kind.definition
    sent, read = fingerprints(kind)
    options = _options(kind, rationales)
    return Signature(
        task=kind.task.whole,
        shots=kind.shots,
        options=tuple((name, text) for name, text in options.items() if text),
        data=data,
        sent=sent,
        read=read,
        metric=definition.metric if kind.is_generative else "loglikelihood",
        version=str(definition.version),
        package=__version__,
    )


def _options(kind: Kind, rationales: Iterable[str]) -> Mapping[str, str]:
    """Return option → its text in a signature; an empty text is left out."""
    options = {
        "turns": "multi" if kind.multiturn and kind.shots else "",
        "subjects": subset_of(kind.task),
    }
    for name, value in kind.chosen.items():
        options[name] = "yes" if value is True else str(value)
    options["rationale"] = "+".join(sorted(filter(None, rationales)))
    if isinstance(kind.definition, ChoiceDefinition):
        options["shuffle_options"] = str(kind.definition.shuffle_options or "")
    options["rubric"] = kind.rubric_hash  # the judge is named in the log
    return options


def fingerprints(kind: Kind) -> Fingerprints:
    """Return the hashes of what is sent and of how answers are read; they are cached.

    Raises:
        CatalogueError: The kind fails to render or judge its made-up item.
    """
    definition = kind.definition
    cls = type(kind)
    key = msgspec.json.encode(
        [
            cls.__module__,
            cls.__qualname__,
            kind.task.whole,
            definition,
            kind.template,
            kind.options,
            kind.shots,
            kind.multiturn,
            _reader_source(kind),
        ]
    )
    if key not in _fingerprints:
        kind = kind.at(subjects=definition.subjects)
        try:
            _fingerprints[key] = Fingerprints(
                sent=_hash(_requests(kind)),
                read=_hash(_readings(kind)),
            )
        except Exception as error:
            why = f"{kind.task.name}: its kind fails on the made-up item of its signature: {error!r}"
            fix = f"Override `made_up` in {cls.__qualname__}."
            raise CatalogueError(f"{why}. {fix}") from error
    return _fingerprints[key]


def probes() -> list[str]:
    """Return made-up responses for each form of answer that a task may ask for."""
    content = files(__package__).joinpath("kinds/probes.json").read_bytes()
    return msgspec.json.decode(content, type=list[str])


def _hash(parts: list[object]) -> str:
    return sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:7]


def _requests(kind: Kind) -> list[object]:
    """Return everything that decides what is sent to a model."""
    definition = kind.definition
    first = definition.subjects[0]
    item = msgspec.structs.replace(kind.made_up(), subject=first.name)
    examples = kind.examples(first, [item]) if kind.shots else []
    prompts = []
    for scored in kind.scored([item]):
        prompt = kind.prompt(scored, examples)
        prompts.append([prompt.messages(multiturn=kind.multiturn), prompt.text()])
    return [
        prompts,
        [kind.answer(row) for row in kind.printed()],
        [[*subject.stems, *kind.texts(subject)] for subject in definition.subjects],
        [kind.sent_stop(chat=False), kind.sent_stop(chat=True)],
        kind.max_tokens,
        [getattr(definition, key, _DEFAULTS.get(key)) for key in _ROWS_AND_CELLS],
        _reader_source(kind),
        *filter(None, (definition.where, definition.prefixes)),
    ]


def _readings(kind: Kind) -> list[object]:
    """Return everything that decides how answers are read and averaged."""
    item = kind.made_up()
    judged = []
    for response in probes():
        judgement = kind.judge(response, item)
        values = [
            (name, value and round(value, _DIGITS_OF_VALUE))
            for name, value in judgement.values.items()
        ]
        judged.append([judgement.answer, *values])
    headline = kind.headline
    return [
        judged,
        [headline.name, headline.averages, headline.over, headline.form, headline.part],
        kind.stop,
        _sources_of_others(type(kind)),
        *kind.further_readings(),
    ]


def _sources_of_others(kind: type[Kind]) -> list[str]:
    """Return the source files of a kind from another package; empty for ours.

    Ours are signed by their version and by what they read from the probes.
    """
    ours = (__package__, "builtins", "abc")
    paths: set[str] = set()
    for base in kind.__mro__:
        package = base.__module__.partition(".")[0]
        path = None if package in ours else sys.modules[base.__module__].__file__
        if path:
            paths.add(path)
    return [Path(path).read_bytes().decode("latin-1") for path in sorted(paths)]


def _reader_source(kind: Kind) -> str:
    """Return the source of the benchmark's reader; empty without one."""
    definition = kind.definition
    if not definition.reader:
        return ""
    path, _ = reader_of(kind.task.benchmark.home, definition)
    return path.read_text("utf-8")
