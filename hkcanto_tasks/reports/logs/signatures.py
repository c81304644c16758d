"""The signature of a figure, read back: `hkmmlu|shots:0|…|data:…|metric:…|v:…|pkg:…`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...catalogue import NamedTask, Variant, find_task
from ...errors import CatalogueError
from .decoding import Unusable

LOCAL_MIXED = "local-mixed"


@dataclass(frozen=True, slots=True)
class Signature:
    """How a figure was made.

    Attributes:
        task: The task's name in lm-eval.
        shots: Worked examples in the prompt.
        options: The options of its kind, in the order of the signature; and `turns`, where each
            worked example was one of its own.
        data: Which data; empty if it has none of the task.
        metric: How the headline is computed.
        version: Of the task: figures of two versions are not comparable.
        package: The version of this package, which does not matter for that.
    """

    task: str
    shots: int
    options: tuple[tuple[str, str], ...]
    data: str
    metric: str
    version: str
    package: str

    @property
    def text(self) -> str:
        """The signature as the harnesses log it."""
        return "|".join(
            [
                self.task.replace("_", "-"),
                f"shots:{self.shots}",
                f"turns:{dict(self.options).get('turns', 'single')}",
                *(f"{name}:{value}" for name, value in self.options if name != "turns"),
                f"data:{self.data}",
                f"metric:{self.metric}",
                f"v:{self.version}",
                f"pkg:{self.package}",
            ]
        )


def parse_signature(text: str) -> Signature:
    """Read a signature.

    Raises:
        Unusable: It has not the parts that one has.

    Example:
        >>> given = "hkcanto-law|shots:5|turns:single|prompt:zh|data:sample|metric:x|v:1|pkg:0.1.0"
        >>> parse_signature(given).options
        (('prompt', 'zh'),)
    """
    name, *parts = text.split("|")
    fields = dict(part.partition(":")[::2] for part in parts)
    if fields.get("turns") == "single":
        del fields["turns"]
    try:
        return Signature(
            task=name.replace("-", "_"),
            shots=int(fields.pop("shots")),
            data=fields.pop("data"),
            metric=fields.pop("metric"),
            version=fields.pop("v"),
            package=fields.pop("pkg"),
            options=tuple(fields.items()),
        )
    except (KeyError, ValueError) as error:
        raise Unusable(f"its signature {text!r} is of another version of hkcanto") from error


def catalogue_task(name: str) -> NamedTask:
    """Return a task of the catalogue.

    Raises:
        Unusable: There is none of that name.
    """
    try:
        return find_task(name)
    except CatalogueError as error:
        raise Unusable(f"the catalogue of this version has no task {name!r}") from error


def of_whole_task(signature: Signature, named: NamedTask) -> Signature:
    """Return the signature with the name of the task and variant instead of a part of it.

    A condition can be asked for by a variant's name or by its options (`hkmmlu_cot_1shot`, or
    Inspect's `-T cot=true -T shots=1`); it gets the variant's name in both cases.

    Example:
        >>> text = "hkmmlu|shots:0|script:sc|data:sample|metric:generative|v:1|pkg:0.1.0"
        >>> of_whole_task(parse_signature(text), find_task("hkmmlu")).task
        'hkmmlu_sc'
    """
    entry, options = named.entry, dict(signature.options)

    def condition(variant: Variant) -> tuple[object, ...]:
        shots = entry.shots if variant.shots is None else variant.shots
        return variant.scoring, variant.cot, variant.script, shots

    asked = (
        named.variant.scoring,
        options.get("cot") == "yes",
        options.get("script", "tc"),
        signature.shots,
    )
    alike = [each for each in (Variant(), *entry.variants) if condition(each) == asked]
    variant = alike[0] if alike else named.variant
    return replace(signature, task=replace(named, variant=variant).whole)


def joined(signatures: Iterable[Signature]) -> Signature:
    """Return the signature of several runs of one condition, on different subjects of it."""
    every = list(signatures)
    packages = sorted({each.package for each in every})
    data = joined_data(each.data for each in every)
    return replace(every[0], data=data, package="+".join(packages))


def joined_data(revisions: Iterable[str]) -> str:
    """Name the data of several runs, in the form of a single one's.

    Example:
        >>> joined_data(["b047f9f", "ba2a58b", "b047f9f"])
        'b047f9f+ba2a58b'
        >>> joined_data(["local-1a2b3c4", "local-5d6e7f8"])
        'local-mixed'
    """
    parts = sorted({part for revision in revisions for part in revision.split("+") if part})
    local = [part for part in parts if part.startswith("local-")]
    pinned = [part for part in parts if part not in local]
    return "+".join(pinned + (local if len(local) < 2 else [LOCAL_MIXED]))


def sort_of_data(revision: str) -> str:
    """Return what data can be joined with: the sample, files of the user's own, or the release."""
    if revision == "sample":
        return revision
    return "local" if "local-" in revision else "release"


def remarks(revision: str) -> tuple[str, ...]:
    """Say what a reader should know of the data.

    Example:
        >>> remarks("b047f9f-3rows")
        ('3 unreadable rows of its data set aside',)
    """
    rows = sum(int(number) for number in re.findall(r"-(\d+)rows", revision))
    return (f"{rows} unreadable rows of its data set aside",) if rows else ()
