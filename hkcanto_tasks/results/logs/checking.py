"""The claims of a log compared with its records: its signature, votes and model.

Report, compare, publish and board share these checks. `results.audit` adds those that need the
responses or the release.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ...catalogue import find_task, known_signature
from ...data.releases import is_published
from ...errors import HKCantoError, LogError, OptionError
from ...kinds.base import Kind
from ...kinds.judged import Judged
from ...signatures import OF_A_JUDGE, OTHER_REQUESTS, UNKNOWN, Signature
from ...signing import signature_of
from ...tasks import option_values, task_as_run

_NOT_OPTIONS = (
    "subjects",
    "rationale",
    "rescored",
    *OTHER_REQUESTS,
    "decoding",
    "reread",
    *OF_A_JUDGE,
)
"""The parts of a signature that are not options of its kind."""

_OUTSIDE_THE_KIND = ("rationale", *OTHER_REQUESTS, "reread", *OF_A_JUDGE)
"""The parts that a log adds to the signature of its task."""

_MOCK = "mockllm"
"""Inspect's test double, whose outputs often name no model."""

# Endings that a provider appends to a model's name: dates, versions, and the name's own aliases.
_SNAPSHOT = re.compile(r"(-(\d+|v\d+|latest|preview|exp|beta|stable))*")
_ALIAS = re.compile(r"-(latest|stable)$")


# ---------------------------------------------------------------------- the signature


def options_of(signature: Signature) -> dict[str, Any]:
    """Return the options of a signature in the form for `task_as_run` and `load_task`.

    Examples:
        >>> text = "hkmmlu-sc|shots:0|turns:multi|script:sc-release|data:x|sent:a|read:b"
        >>> options_of(known_signature(f"{text}|metric:m|v:1|pkg:1"))
        {'multiturn': 'true', 'script': 'sc'}
    """
    options: dict[str, Any] = {}
    for name, text in signature.options:
        if text == UNKNOWN or name in _NOT_OPTIONS:
            continue
        if name == "turns":
            options["multiturn"] = "true" if text == "multi" else "false"
        elif name == "script":
            # It may be `sc-release`, or that and `sc` on different subjects.
            options[name] = text[:2]
        else:
            options[name] = "true" if text == "yes" else text
    return options


@lru_cache(maxsize=1024)
def kind_of(signature: Signature) -> Kind:
    """Return the task that a signature describes, as it was run.

    Raises:
        OptionError: An option or value is unknown to the task, or it has fewer worked examples.
    """
    options = options_of(signature)
    options.pop("shuffle_options", None)  # declared by the task
    kind = task_as_run(signature.task, shots=signature.shots, **options)
    most = _most_shots(kind)
    if kind.shots > most:
        raise OptionError(
            f"its signature has shots:{kind.shots}, but {kind.task.name} has {most} "
            "worked examples"
        )
    return kind


def judging_kind_of(signature: Signature) -> Kind:
    """Return the task that a signature describes, as it judges the responses of its log.

    Raises:
        OptionError: As `kind_of`.
    """
    kind = kind_of(signature)
    return kind if signature.prompt_known else kind.for_other_prompts()


def _most_shots(kind: Kind) -> int:
    """Return the largest number of worked examples that a task can show."""
    definition = kind.definition
    printed = len(kind.printed())
    if kind.uses_dev_rows and definition.has_examples:
        return max(printed, definition.examples_from_test or definition.dev_rows)
    first = definition.subjects[0]
    rows = [] if kind.uses_dev_rows else kind.examples(first, [])
    return max(printed, len(rows))


def contradictions(signature: Signature, kind: Kind) -> list[str]:
    """Return the parts of a signature that are not those of a task as it was run.

    The signature is computed again, so none of its parts is believed.

    Args:
        signature: The logged signature.
        kind: The task as it was run.
    """
    ours = signature_of(kind, signature.data)
    differences = ours.differs(signature)
    rescored_by = dict(signature.options).get("rescored", signature.package)
    if rescored_by != signature.package:
        differences["rescored"] = (signature.package, rescored_by)
    outside = {*_OUTSIDE_THE_KIND}
    if not isinstance(kind, Judged):
        outside -= {*OF_A_JUDGE}
    return [
        f"{part}:{theirs or 'none'}, not {part}:{our_part or 'none'}"
        for part, (our_part, theirs) in differences.items()
        if part not in outside
    ]


@lru_cache(maxsize=1024)
def published_signature(text: str) -> tuple[Signature, Kind]:
    """Return a signature and the task as it was run, which must be the catalogue's.

    Raises:
        LogError: The prompts are not the catalogue's, the data is unknown, or only a part of the
            task was run.
        OptionError: The task does not have one of its options.
    """
    signature = known_signature(text)
    if signature.data == "sample" or "local" in signature.data or not signature.data:
        raise LogError(f"its data ({signature.data}) is not a published revision")
    if "subjects" in signature.parts:
        raise LogError("it covers only some subjects")
    if not signature.parts.keys().isdisjoint(OTHER_REQUESTS):
        raise LogError("its requests are not the catalogue's")
    kind = kind_of(signature)
    benchmark = kind.task.benchmark
    if not is_published(signature.data, benchmark.release, str(benchmark.home)):
        raise LogError(f"its data ({signature.data}) is not a published revision")
    version = str(kind.definition.version)
    if signature.version != version:
        raise LogError(
            f"it is of version {signature.version} of {signature.task}, not "
            f"{version}. Score its log again (hkcanto rescore), and publish that"
        )
    differences = contradictions(signature, kind)
    if differences:
        raise LogError(
            f"its signature is unknown: version {version} has not "
            f"{', '.join(differences)}"
        )
    return signature, kind


def signature_doubt(
    signature: Signature,
    name: str = "",
    shots: object = None,
    recorded: Mapping[str, Any] | None = None,
) -> str:
    """Return how a signature contradicts the log or the catalogue; empty if it does not.

    Args:
        signature: The logged signature.
        name: The task that the log records; empty if it records none.
        shots: The number of worked examples that the log records.
        recorded: The options that the log records; others are the defaults.
    """
    version = find_task(signature.task).definition.version
    if signature.version != str(version) or not signature.prompt_known:
        return ""
    try:
        kind = kind_of(signature)
        differences = contradictions(signature, kind)
        if not differences and name:
            kind = _recorded_kind(
                signature,
                name,
                shots,
                recorded or {},
            )
            differences = contradictions(signature, kind)
    except HKCantoError as error:
        return f"its signature cannot be right: {str(error).rstrip('.')}"
    # Runs with other rules for reading answers can be compared if all have the same.
    left_out = ["read:"]
    if "rescored" in dict(signature.options):
        # The prompts may be those of an older version, which a remark of the log says.
        left_out.append("sent:")
    differences = [part for part in differences if not part.startswith(tuple(left_out))]
    if not differences:
        return ""
    return (
        f"its signature is not that of its task and options: {'; '.join(differences)}"
    )


def _recorded_kind(
    signature: Signature,
    name: str,
    shots: object,
    recorded: Mapping[str, Any],
) -> Kind:
    """Return the task as a log records it, apart from its signature."""
    known = option_values(name)
    options: dict[str, Any] = {}
    for option, value in recorded.items():
        if option in known and option not in ("shots", "subjects", "multiturn", "data"):
            options[option] = value
    turns = dict(signature.options).get("turns")
    return task_as_run(
        name,
        shots=shots if isinstance(shots, int) else signature.shots,
        multiturn=turns == "multi",
        **options,
    )


# ---------------------------------------------------------------------- one item, one vote


def uneven_votes(
    ids: Sequence[str],
    epochs: int = 1,
    *,
    is_whole: bool = True,
) -> str:
    """Return which item has more votes than others; empty if all have equally many.

    Args:
        ids: The id of the item of each answer.
        epochs: The number of answers that were asked for.
        is_whole: Whether no answer is missing.

    Examples:
        >>> uneven_votes(["a", "b", "a"])
        'a occurs 2 times, but b once: each item has one vote'
        >>> uneven_votes(["a", "b", "a"], 2, is_whole=False)
        ''
    """
    counts = Counter(ids).most_common()
    if not counts:
        return ""
    most, times = counts[0]
    least, few = counts[-1]
    if times == few or (not is_whole and times <= epochs):
        return ""
    less = "once" if few == 1 else f"{few} times"
    return f"{most} occurs {times} times, but {least} {less}: each item has one vote"


# ---------------------------------------------------------------------- the model


def other_model(asked: str, answered: Collection[str]) -> str:
    """Return which other model answered than the one that was asked; empty if none did.

    A provider may answer under the name of a snapshot.

    Args:
        asked: The model's name in Inspect.
        answered: The names in the outputs; an empty name is unknown.

    Examples:
        >>> other_model("openai/gpt-4o", ["gpt-4o-2024-08-06"])
        ''
        >>> other_model("openai/gpt-4o", ["gpt-4o-mini-2024-07-18"])
        'openai/gpt-4o was asked, but gpt-4o-mini-2024-07-18 answered'
    """
    provider, _, name = asked.partition("/")
    others = [
        model
        for model in sorted(answered)
        if model and not is_name_of(model, name or asked)
    ]
    if provider == _MOCK:
        others = [model for model in others if re.search("[-/]", model)]
    if not others:
        return ""
    return f"{asked} was asked, but {', '.join(others)} answered"


def is_name_of(answered: str, asked: str) -> bool:
    """Return whether two names may be of one model: one may name a snapshot of the other."""
    theirs = _plain_name(answered)
    ours = _plain_name(asked)
    longer, shorter = sorted((theirs, ours), key=len, reverse=True)
    if not longer.startswith(shorter):
        return False
    return bool(_SNAPSHOT.fullmatch(longer.removeprefix(shorter)))


def _plain_name(model: str) -> str:
    """Return a model's name in one form, without its organisation and alias."""
    name = model.rstrip("/").rpartition("/")[2].lower()
    return _ALIAS.sub("", re.sub(r"[._:@]+", "-", name))
