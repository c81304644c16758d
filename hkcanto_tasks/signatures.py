"""Write and read the signature of a figure: `hkmmlu|shots:0|…|data:…|sent:…|…|pkg:…`."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from .declarations import TaskVariant
from .errors import CatalogueError, LogError
from .samples import Sample

UNKNOWN = "unknown"
"""The value of a signature's part that was not logged, for example by another tool."""

OF_A_JUDGE = ("judge", "judging", "rubric")
"""The parts that name the judge and the rubric."""

_PARTS = {"data": "data", "sent": "sent", "read": "read", "metric": "metric"}
_PARTS |= {"v": "version", "pkg": "package"}
"""Part of a signature's text → field, in the order of the text."""

_NO_SETUP = ("subjects", "data", "v", "pkg", "rescored")
_MOST_NAMED = 6  # subjects of a subset; more subjects become a number and a hash


@dataclass(frozen=True, slots=True)
class Signature:
    """A record of how a figure was made, in the manner of sacreBLEU.

    Figures are comparable if their signatures are equal, ignoring `package` and `subjects`.

    Attributes:
        task: The name in lm-eval of the task and its variant, without a subject or part.
        shots: Worked examples in the prompt; None if unknown.
        options: Name → text. Also `turns` if examples were separate turns, `subjects` for a run on
            some subjects, `rescored` with the version that read logged answers again, and
            `requests` with a hash of all requests if they were not the catalogue's.
        data: The name of the data: a pinned revision, `sample`, or `local-…`; empty if none.
        sent: A hash of the requests to the model (`fingerprints`), or `unknown`.
        read: A hash of how its answers are read.
        metric: How the headline is computed.
        version: The version of the task.
        package: The version of hkcanto.
    """

    task: str
    shots: int | None
    options: tuple[tuple[str, str], ...]
    data: str
    sent: str
    read: str
    metric: str
    version: str
    package: str

    @property
    def parts(self) -> dict[str, object]:
        """Its parts by name, without the task, in the order of the text."""
        shots = UNKNOWN if self.shots is None else self.shots
        parts: dict[str, object] = {
            "shots": shots,
            "turns": "single",
            **dict(self.options),
        }
        return parts | {part: getattr(self, name) for part, name in _PARTS.items()}

    @property
    def text(self) -> str:
        """The signature as the harnesses log it."""
        parts = (f"{name}:{value}" for name, value in self.parts.items())
        return "|".join([self.task.replace("_", "-"), *parts])

    def with_option(self, name: str, text: str) -> "Signature":
        """Return the signature with an option of this name, or without it if the text is empty.

        Examples:
            >>> ours = parse_signature("hkmmlu|shots:0|data:x|sent:a|read:b|metric:m|v:1|pkg:1")
            >>> ours.with_option("judge", "openai/gpt-4o").options
            (('judge', 'openai/gpt-4o'),)
        """
        others = (option for option in self.options if option[0] != name)
        return replace(self, options=(*others, *([(name, text)] if text else [])))

    @property
    def prompt_known(self) -> bool:
        """Whether the text sent to the model is known."""
        return self.sent != UNKNOWN

    def differs(self, other: "Signature") -> dict[str, tuple[str, str]]:
        """Return how another signature's setup differs: part → both values, empty if absent.

        Data, version, package, subjects and rescoring are not part of a setup. A part that is
        unknown in either signature counts as different. `sent` and `read` are only returned if no
        other part explains their difference.

        Examples:
            >>> ours = parse_signature("hkmmlu|shots:0|data:x|sent:a|read:b|metric:m|v:1|pkg:1")
            >>> ours.differs(replace(ours, shots=5, sent="c", data="y"))
            {'shots': ('0', '5')}
        """
        ours, theirs = ({"task": one.task, **one.parts} for one in (self, other))
        unlike: dict[str, tuple[str, str]] = {}
        for name in dict.fromkeys(chain(ours, theirs, ["prompt"])):
            absent = (
                "paper" if name == "prompt" else ""
            )  # some kinds had no option for it
            one, two = str(ours.get(name, absent)), str(theirs.get(name, absent))
            if name not in _NO_SETUP and (one != two or one == UNKNOWN):
                unlike[name] = one, two
        declared = {
            name: both for name, both in unlike.items() if name not in ("sent", "read")
        }
        return declared or unlike

    @property
    def sort_of_data(self) -> str:
        """The kind of its data, equal for joined runs: sample data, local files or the release."""
        if self.data == "sample":
            return self.data
        return "local" if "local-" in self.data else "release"


def subset_of(task: TaskVariant) -> str:
    """Return a signature's part for the subjects of a run; empty for all subjects.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_task
        >>> subset_of(find_task("hkmmlu_stem")), subset_of(find_task("hkmmlu_cot"))
        ('stem', '')
    """
    every, some = task.definition.subjects, task.subjects
    if len(some) == len(every):
        return ""
    for name in dict.fromkeys(name for subject in some for name in subject.sets):
        if [subject for subject in every if name in subject.sets] == [*some]:
            return name
    names = [subject.name for subject in some]
    if len(names) <= _MOST_NAMED:
        return "+".join(names)
    return f"{len(names)}-{sha256('+'.join(names).encode()).hexdigest()[:7]}"


# ---------------------------------------------------------------------- hashes of a task

_SHAPES_REQUESTS = (
    *(
        "columns",
        "header",
        "question",
        "answer",
        "answers",
        "option_labels",
        "shuffle_options",
    ),
    *("letters", "blank_options", "language", "dev_rows", "examples_from_test"),
    *("files", "config", "splits", "rows", "delimiter", "quotes"),
)
"""The entries of a `benchmark.toml` that decide which rows and cells reach a prompt."""

_hashes: dict[bytes, tuple[str, str]] = {}


def fingerprints(kind: Any) -> tuple[str, str]:
    """Return two hashes of seven hexadecimal digits: of requests, and of how answers are read.

    A task's `version` is raised by hand, but these hashes also change after an undeclared edit. The
    first covers the prompt of a made-up item with its worked examples, the subjects' names and
    texts, the stop texts, the token limit, the files and columns behind prompts, and the source of
    the benchmark's reader. The second covers the judgements of `probes.json`, the kind's further
    readings, the headline's average, and the source file of a kind from another package. Neither
    depends on the data or on the subjects that are run.

    Args:
        kind: A task as it is run, a `Kind`.

    Raises:
        CatalogueError: The kind fails to render or judge its made-up item.
    """
    definition = kind.task.definition
    key = [type(kind).__module__, type(kind).__qualname__, kind.task.whole, definition]
    key += [kind.template, kind.options, kind.shots, kind.multiturn, kind.reader_source]
    encoded = msgspec.json.encode(key)
    if encoded not in _hashes:
        kind = kind.at(subjects=definition.subjects)
        try:
            texts = (
                msgspec.json.encode(of, order="sorted")
                for of in (_requests(kind), _readings(kind))
            )
            sent, read = (sha256(text).hexdigest()[:7] for text in texts)
            _hashes[encoded] = sent, read
        except Exception as error:
            why = f"{kind.task.name}: its kind fails on the made-up item of its signature: {error!r}"
            fix = f"Override `made_up` in {type(kind).__qualname__}."
            raise CatalogueError(f"{why}. {fix}") from error
    return _hashes[encoded]


def _requests(kind: Any) -> list[Any]:
    definition, item = kind.task.definition, kind.made_up()
    first = definition.subjects[0]
    item = msgspec.structs.replace(item, subject=first.name)
    examples = kind.examples(first, [item]) if kind.shots else []
    prompts = [kind.prompt(scored, examples) for scored in kind.scored([item])]
    return [
        [
            [prompt.messages(multiturn=kind.multiturn), prompt.text()]
            for prompt in prompts
        ],
        [kind.answer(row) for row in kind.printed()],
        [[*of.stems, *kind.texts(of)] for of in definition.subjects],
        [kind.sent_stop(chat=chat) for chat in (False, True)],
        kind.max_tokens,
        [getattr(definition, name) for name in _SHAPES_REQUESTS],
        kind.reader_source,
    ]


def _readings(kind: Any) -> list[Any]:
    item, headline = kind.made_up(), kind.headline
    judged = []
    for judgement in (kind.judge(text, item) for text in probes()):
        # The last digits of a value differ between machines.
        values = ((name, of and round(of, 6)) for name, of in judgement.values.items())
        judged.append([judgement.answer, *values])
    modules = {base.__module__ for base in type(kind).__mro__}
    others = (
        name
        for name in modules
        if name.split(".")[0] not in (__package__, "builtins", "abc")
    )
    sources = {sys.modules[name].__file__ for name in others}
    return [
        judged,
        [headline.name, headline.averages, headline.over, headline.form, headline.part],
        kind.stop,
        [
            Path(file).read_bytes().decode("latin-1")
            for file in sorted(filter(None, sources))
        ],
        *kind.further_readings(),
    ]


def probes() -> list[str]:
    """Return made-up responses for each form of answer that a task may ask for."""
    content = files(__package__).joinpath("kinds/probes.json").read_bytes()
    return msgspec.json.decode(content, type=list[str])


def request_hash(
    sample: Sample, messages: Iterable[tuple[str, str]], *more: str
) -> str:
    """Return a hash of an item and its request, which both harnesses log for each item.

    Args:
        sample: The item as it is scored; an edited target changes a score, too.
        messages: Role and text of each message; a plain text has an empty role.
        more: Further texts that were sent, such as the letters whose log-likelihoods are compared.

    Examples:
        >>> two, three = Sample(id="sum/1", target="2"), Sample(id="sum/1", target="3")
        >>> [request_hash(item, [("user", "1+1=")]) for item in (two, three)]
        ['6dff118', '2a7dc5f']
    """
    sent = msgspec.structs.astuple(sample), [*messages], more
    return sha256(ascii(sent).encode()).hexdigest()[
        :7
    ]  # UTF-8 has no half surrogate pairs


# ---------------------------------------------------------------------- logged signatures


def parse_signature(text: object) -> Signature:
    """Read a signature.

    Raises:
        LogError: Parts of the signature are missing.

    Examples:
        >>> text = "hkmmlu-sc|shots:0|data:sample|sent:a1|read:b2|metric:x|v:1|pkg:0.1.0"
        >>> parse_signature(text).task
        'hkmmlu_sc'
    """
    if not isinstance(text, str):
        raise LogError("no signature: another version of hkcanto made it; run it again")
    task, *parts = text.split("|")
    fields = dict(part.partition(":")[::2] for part in parts)
    if fields.get("turns") == "single":
        del fields["turns"]
    try:
        given = fields.pop("shots")
        shots = None if given == UNKNOWN else int(given)
        named = {name: fields.pop(part) for part, name in _PARTS.items()}
    except (KeyError, ValueError) as error:
        raise LogError(
            f"its signature {text!r} is of another version of hkcanto"
        ) from error
    return Signature(task.replace("-", "_"), shots, tuple(fields.items()), **named)


def joined(signatures: Iterable[Signature]) -> Signature:
    """Return the common signature of runs under one condition on different subjects."""
    every = list(signatures)
    data = {part for one in every for part in one.data.split("+") if part}
    local = sorted(part for part in data if part.startswith("local-"))
    named = sorted(data.difference(local)) + (
        local if len(local) < 2 else ["local-mixed"]
    )
    packages = sorted({one.package for one in every})
    return replace(
        every[0].with_option("subjects", ""),
        data="+".join(named),
        package="+".join(packages),
    )
