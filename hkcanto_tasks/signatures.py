"""The signature of a figure, written and read: `hkmmlu|shots:0|…|data:…|sent:…|…|pkg:…`."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256

import msgspec

from .declarations import TaskVariant
from .errors import LogError
from .samples import Sample

UNKNOWN = "unknown"
"""The value of a signature's part that was not logged, for example by another tool."""

OF_A_JUDGE = ("judge", "judging", "rubric")
"""The parts that name the judge and the rubric."""

OTHER_REQUESTS = ("yaml", "requests")
"""The parts of a run whose task or requests are not the catalogue's."""

_FIELDS = {
    "data": "data",
    "sent": "sent",
    "read": "read",
    "metric": "metric",
    "v": "version",
    "pkg": "package",
}
"""Part of a signature's text → field, in the order of the text."""

OUTSIDE_THE_PROTOCOL = ("rescored", "no_system")
"""The options that leave figures comparable: a later reading, and the role of the instruction."""

_NO_SETTINGS = ("subjects", "data", "v", "pkg", *OUTSIDE_THE_PROTOCOL)
"""The parts that are not settings, so that runs are comparable although these differ."""

_HASHES = ("sent", "read")
_MOST_NAMED = 6  # subjects of a subset; more subjects become a number and a hash


@dataclass(frozen=True, slots=True)
class Signature:
    """A record of how a figure was made, in the manner of sacreBLEU.

    Figures are comparable if their signatures are equal, ignoring `package` and `subjects`.

    Attributes:
        task: The name in lm-eval of the task and its variant, without a subject or part.
        shots: Worked examples in the prompt; None if unknown.
        options: Name → text. Also `turns` if examples were separate turns, `subjects` for a run on
            some subjects, `rescored` with the version that read logged answers again,
            `no_system` if a user's message had the instruction, and `requests` with a hash of all
            requests if they were not the catalogue's.
        data: The name of the data: a pinned revision, `sample`, or `local-…`; empty if none.
        sent: A hash of the requests to the model (`signing.fingerprints`), or `unknown`.
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
        parts: dict[str, object] = {
            "shots": UNKNOWN if self.shots is None else self.shots,
            "turns": "single",
            **dict(self.options),
        }
        for part, field in _FIELDS.items():
            parts[part] = getattr(self, field)
        return parts

    @property
    def text(self) -> str:
        """The signature as the harnesses log it."""
        parts = (f"{name}:{value}" for name, value in self.parts.items())
        return "|".join([self.task.replace("_", "-"), *parts])

    def with_option(
        self,
        name: str,
        text: str,
    ) -> "Signature":
        """Return the signature with an option of this name, or without it if the text is empty.

        Examples:
            >>> ours = parse_signature("hkmmlu|shots:0|data:x|sent:a|read:b|metric:m|v:1|pkg:1")
            >>> ours.with_option("judge", "openai/gpt-4o").options
            (('judge', 'openai/gpt-4o'),)
        """
        options = [option for option in self.options if option[0] != name]
        if text:
            options.append((name, text))
        return replace(self, options=tuple(options))

    @property
    def prompt_known(self) -> bool:
        """Whether the text sent to the model is known."""
        return self.sent != UNKNOWN

    def differs(self, other: "Signature") -> dict[str, tuple[str, str]]:
        """Return how another signature's settings differ: part → both values, empty if absent.

        Data, version, package, subjects and rescoring are not settings. A part that is unknown in
        either signature counts as different. `sent` and `read` are only returned if no other part
        explains their difference.

        Examples:
            >>> ours = parse_signature("hkmmlu|shots:0|data:x|sent:a|read:b|metric:m|v:1|pkg:1")
            >>> ours.differs(replace(ours, shots=5, sent="c", data="y"))
            {'shots': ('0', '5')}
        """
        ours = {"task": self.task, **self.parts}
        theirs = {"task": other.task, **other.parts}
        names = [*{**ours, **theirs, "prompt": ""}]
        # Some kinds had no option `prompt` in older versions: their only prompt is the paper's.
        ours.setdefault("prompt", "paper")
        theirs.setdefault("prompt", "paper")
        different: dict[str, tuple[str, str]] = {}
        for name in names:
            values = (str(ours.get(name, "")), str(theirs.get(name, "")))
            is_different = values[0] != values[1] or values[0] == UNKNOWN
            if is_different and name not in _NO_SETTINGS:
                different[name] = values
        declared = {
            name: values for name, values in different.items() if name not in _HASHES
        }
        return declared or different

    @property
    def sort_of_data(self) -> str:
        """The kind of its data, equal for joined runs: sample data, local files or the release."""
        if self.data == "sample":
            return self.data
        return "local" if "local-" in self.data else "release"


def subset_of(task: TaskVariant) -> str:
    """Return the name of the chosen subjects in a signature; empty for all subjects.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_task
        >>> subset_of(find_task("hkmmlu_stem")), subset_of(find_task("hkmmlu_cot"))
        ('stem', '')
    """
    subjects = task.definition.subjects
    chosen = task.subjects
    if len(chosen) == len(subjects):
        return ""
    sets = dict.fromkeys(name for subject in chosen for name in subject.sets)
    for name in sets:
        if tuple(subject for subject in subjects if name in subject.sets) == chosen:
            return name
    names = [subject.name for subject in chosen]
    if len(names) <= _MOST_NAMED:
        return "+".join(names)
    return f"{len(names)}-{sha256('+'.join(names).encode()).hexdigest()[:7]}"


def request_hash(
    sample: Sample,
    messages: Iterable[tuple[str, str]],
    *more: str,
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
    # As `ascii` does, in half the time. A response may have half a surrogate pair, which UTF-8
    # cannot store.
    data = repr(sent).encode("ascii", "backslashreplace")
    return sha256(data).hexdigest()[:7]


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
    values = dict(part.partition(":")[::2] for part in parts)
    if values.get("turns") == "single":
        del values["turns"]
    try:
        shots = values.pop("shots")
        fields = {field: values.pop(part) for part, field in _FIELDS.items()}
        names = [part.partition(":")[0] for part in parts]
        if len({*names}) < len(names):
            raise LogError(f"its signature {text!r} has a part twice")
        return Signature(
            task=task.replace("-", "_"),
            shots=None if shots == UNKNOWN else int(shots),
            options=tuple(values.items()),
            **fields,
        )
    except (KeyError, ValueError) as error:
        raise LogError(
            f"its signature {text!r} is of another version of hkcanto"
        ) from error


def joined(signatures: Iterable[Signature]) -> Signature:
    """Return the common signature of runs under one condition on different subjects."""
    runs = list(signatures)
    names = {name for run in runs for name in run.data.split("+") if name}
    local = sorted(name for name in names if name.startswith("local-"))
    if len(local) > 1:
        data = [*sorted(names.difference(local)), "local-mixed"]
    else:
        data = [*sorted(names.difference(local)), *local]
    return replace(
        runs[0].with_option("subjects", ""),
        data="+".join(data),
        package="+".join(sorted({run.package for run in runs})),
    )
