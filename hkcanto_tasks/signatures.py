"""The signature of a figure, written and read: `hkmmlu|shots:0|…|data:…|metric:…|v:…|pkg:…`."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .catalogue import Variant, find_task
from .errors import CatalogueError, LogError


@dataclass(frozen=True, slots=True)
class Signature:
    """How a figure was made, in the manner of sacreBLEU: equal but for `package` where figures are
    comparable."""

    task: str  # the name in lm-eval; read back, of the whole task and its variant
    shots: int
    options: tuple[tuple[str, str], ...]  # with `turns`, where examples were turns of their own
    data: str  # empty if it has none of the task
    metric: str
    version: str
    package: str

    @property
    def text(self) -> str:
        """The signature as the harnesses log it."""
        turns = dict(self.options).get("turns", "single")
        parts = {"shots": self.shots, "turns": turns, **dict(self.options), "data": self.data}
        parts |= {"metric": self.metric, "v": self.version, "pkg": self.package}
        return "|".join([self.task.replace("_", "-"), *(f"{k}:{v}" for k, v in parts.items())])

    @property
    def sort_of_data(self) -> str:
        """What data it can be joined with: the sample, files of the user's own, or the release."""
        if self.data == "sample":
            return self.data
        return "local" if "local-" in self.data else "release"


def parse_signature(text: object) -> Signature:
    """Read a signature, and name the whole task and variant instead of a part of it.

    A condition gets its variant's name also where it was asked for by options (Inspect's `-T`).

    Raises:
        LogError: It has not the parts that one has, or the catalogue has no such task.

    Examples:
        >>> text = "hkmmlu-hk-law|shots:0|script:sc|data:sample|metric:x|v:1|pkg:0.1.0"
        >>> parse_signature(text).task
        'hkmmlu_sc'
    """
    if not isinstance(text, str):
        raise LogError("no signature: it was made by another version of hkcanto; run it again")
    name, *parts = text.split("|")
    task = name.replace("-", "_")
    fields = dict(part.partition(":")[::2] for part in parts)
    if fields.get("turns") == "single":
        del fields["turns"]
    try:
        shots = int(fields.pop("shots"))
        data, metric = fields.pop("data"), fields.pop("metric")
        version, package = fields.pop("v"), fields.pop("pkg")
        named = find_task(task)
    except (KeyError, ValueError) as error:
        raise LogError(f"its signature {text!r} is of another version of hkcanto") from error
    except CatalogueError as error:
        raise LogError(f"the catalogue of this version has no task {task!r}") from error

    def condition(variant: Variant) -> tuple[object, ...]:
        own = named.definition.shots if variant.shots is None else variant.shots
        return variant.scoring, variant.cot, variant.script, own

    cot, script = fields.get("cot") == "yes", fields.get("script", "tc")
    asked = named.variant.scoring, cot, script, shots
    alike = (each for each in (Variant(), *named.definition.variants) if condition(each) == asked)
    whole = replace(named, variant=next(alike, named.variant)).whole
    return Signature(whole, shots, tuple(fields.items()), data, metric, version, package)


def joined(signatures: Iterable[Signature]) -> Signature:
    """Return the signature of several runs of one condition, on different subjects of it."""
    every = list(signatures)
    data = {part for each in every for part in each.data.split("+") if part}
    local = sorted(part for part in data if part.startswith("local-"))
    named = sorted(data.difference(local)) + (local if len(local) < 2 else ["local-mixed"])
    packages = sorted({each.package for each in every})
    return replace(every[0], data="+".join(named), package="+".join(packages))
