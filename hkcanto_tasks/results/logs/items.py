"""What both harnesses' logs share: decoding, the items of a task, and what was sent."""

import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from math import nan
from typing import Any, ClassVar, TypeVar

import msgspec
import numpy as np

from ...errors import HKCantoError, LogError
from ...figures import Pair, reasoning_values
from ...judgements import Judgement
from ...kinds.base import Kind
from ...printable import valid
from ...samples import Sample
from ...signatures import Signature
from ..runs import Floats, Items, ItemText, Sent

CHANCE = "chance"
"""The value of an item that says how often a random choice is right."""

T = TypeVar("T")
Rows = Callable[[Signature], "ItemRows"]
"""Makes the collector for the items of a task, from its signature."""

_PASSAGE = 120  # Questions that share this many first characters are on one passage.
_MOST_NAMES = 64  # A hostile log may have a different metric for each item.


class ItemRows:
    """Collects the items of a task; `texts` is whether to keep texts."""

    NEEDS_SCORES: ClassVar[bool] = True
    """Whether a response without a judgement is left out."""

    def __init__(self, kind: Kind, texts: bool = False) -> None:
        self.kind, self.texts = kind, texts
        self._pairs = any(figure.form in ("corpus", "rate") for figure in kind.FIGURES)
        subjects = kind.task.definition.subjects
        self._order = {subject.name: place for place, subject in enumerate(subjects)}
        self._rows: list[tuple[Any, ...]] = []
        self._graders: set[str] = set()
        self._requested: dict[str, tuple[str, str]] = {}

    def signed(self, signature: Signature) -> Signature:
        """Return a signature with the judge models of the items, and a hash of the requests.

        The hash covers all requests. It is left out if every one of them is the catalogue's.
        """
        signature = signature.with_option("judge", "+".join(sorted(self._graders)))
        if all(sent == ours for sent, ours in self._requested.values()):
            return signature
        sent = "\n".join(
            f"{item} {sent}" for item, (sent, _) in sorted(self._requested.items())
        )
        return signature.with_option("requests", sha256(sent.encode()).hexdigest()[:7])

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self,
        sample: Sample,
        judgement: Judgement | None,
        response: str,
        *,
        reasoning: str = "",
        further: Mapping[str, float | None] | None = None,
        output_tokens: float | None = None,
        truncated: float | None = None,
        prompt: str = "",
        requested: tuple[str, str] | None = None,
    ) -> None:
        """Add an item.

        Args:
            sample: The item.
            judgement: The judgement of the response; None if the log has none of this version.
            response: The text that the model wrote.
            reasoning: The reasoning, if it was logged separately; only rescoring needs it.
            further: Values of figures outside the catalogue, such as a judge's.
            output_tokens: The number of tokens that the model wrote; None if unknown.
            truncated: 1 if the response ended at a length limit, 0 if not; None if unknown.
            prompt: The prompt as sent.
            requested: Hashes of the request as sent and of the catalogue's, if logged.

        Raises:
            LogError: Its subject is not in the catalogue, or it lacks a judgement.
        """
        del reasoning
        if judgement is None:
            what = "no scores of this version, as with --predict_only"
            raise LogError(f"{what}: `hkcanto rescore` adds them")
        if sample.subject not in self._order:
            what = f"subject {sample.subject!r} of {self.kind.task.name}"
            raise LogError(f"the catalogue of this version has no {what}")
        if requested:
            self._requested[sample.id] = requested
        judged, text = judgement.reasoning, sample.text
        self._graders |= {*judgement.details.get("grader", "").split(", ")} - {""}
        values = dict(judgement.values)
        if sample.choices:
            values[CHANCE] = 1 / sum(choice is not None for choice in sample.choices)
        values |= further or {}
        if judged:
            values |= reasoning_values(judged, judgement.answer_language, values)
            truncated = truncated if judged.finished else 1.0
        pair = (
            Pair(judgement.answer, sample.target, sample.source)
            if self._pairs
            else None
        )
        kept = (
            ItemText(prompt, response, judgement.answer, sample.target)
            if self.texts
            else None
        )
        passage, gold = (
            hash((sample.subject, text[:_PASSAGE])),
            zlib.crc32(sample.target.encode()),
        )
        which = (
            sample.id,
            sample.subject,
            sample.parts,
            values,
            judgement.weights,
            passage,
        )
        counts = len(text), judgement.length, gold, output_tokens, truncated
        self._rows.append((*which, *counts, judgement.reason, pair, kept))

    def items(self) -> Items:
        """Return the items sorted by subject and id (9 before 10), epochs of an id in order."""
        self._rows.sort(key=lambda row: (self._order[row[1]], len(row[0]), row[0]))
        columns = zip(*self._rows, strict=True)
        (
            ids,
            subjects,
            parts,
            values,
            weights,
            passages,
            *numbers,
            reasons,
            pairs,
            texts,
        ) = columns
        known: dict[int, int] = {}
        clusters = [known.setdefault(passage, len(known)) for passage in passages]
        counts = [np.array(column, np.int64) for column in (clusters, *numbers[:3])]
        ends = [np.array(column, np.float64) for column in numbers[3:]]
        made: list[Any] = [
            ids,
            subjects,
            parts,
            _by_name(values, nan),
            _by_name(weights, 0.0),
        ]
        made += [*counts, *ends, reasons]
        made += [pairs if self._pairs else (), texts if self.texts else ()]
        return Items(*made)


def _by_name(
    items: Sequence[Mapping[str, float | None]], fill: float
) -> dict[str, Floats]:
    names = [*dict.fromkeys(chain.from_iterable(items))][:_MOST_NAMES]
    return {
        name: np.array([item.get(name, fill) for item in items], np.float64)
        for name in names
    }


# ---------------------------------------------------------------------- decoding

UNREADABLE = Exception
"""Errors of reading a hostile file or sample; each costs only that file or sample."""

_WHY = {
    HKCantoError: "",
    msgspec.ValidationError: "not in a format that this version knows",
    OSError: "cannot be read",
    ImportError: "pip install 'hkcanto[report]'",
    Exception: "cut off or damaged",
}


def reason(error: BaseException) -> str:
    """Return in one line why something could not be read."""
    why = next(why for kind, why in _WHY.items() if isinstance(error, kind))
    return f"{why}: {str(error).partition(chr(10))[0]}" if why else str(error)


def left_out(problems: Sequence[str], read: int, expected: int) -> str | None:
    """Return how many samples of a log are missing and why; None if it has all."""
    count = f"it has {read} of {expected} samples"
    if problems:
        return f"{problems[0]}; {count}"
    return f"{count}: it is cut off" if read < expected else None


def decode(data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    r"""Decode JSON in UTF-8.

    Both harnesses write NaN and lone surrogates like Python's `json`, and msgspec refuses them.
    `json` then reads the text: NaN becomes null, and lone surrogates become U+FFFD.

    Examples:
        >>> decode(b'["\\ud800", NaN]', msgspec.json.Decoder(list[str | None]))
        ['\ufffd', None]
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        loaded = json.loads(
            data.decode("utf-8", "replace"), parse_constant=lambda _: None
        )
        return decoder.decode(valid(json.dumps(loaded, ensure_ascii=False)))


# ---------------------------------------------------------------------- what was sent

# Settings that change a model's speed but not its answers, and secrets. An access token
# (`hf_token`) is a secret, but a token of the model's vocabulary is a setting.
_OF_NO_MATTER = re.compile(
    r"api_key|secret|password|headers?$|(?<!bos|eos|pad)(?<!think_end)_token$|^token$|"
    r"url$|device|batch|concurrent|"
    r"max_(retries|connections)|timeout|parallel|gpu_memory|trust_remote_code",
    re.IGNORECASE,
)
_SECRET = re.compile("auth|key|token|cookie|secret", re.IGNORECASE)
_TYPES = {field.name: field.type for field in msgspec.structs.fields(Sent)}
_FIELDS = {"max_gen_toks": "max_tokens", "until": "stop", "stop_seqs": "stop"}

CHAT = "chat"
"""The template of a chat that the server formats. Its hash is unknown."""

WITH_SYSTEM = "with a system instruction of the user's in front"
"""The note of a run with a system instruction."""


def settings_of(given: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return the settings that are set and can change a model's answers.

    Examples:
        >>> settings_of({"dtype": "bfloat16", "device": "cuda:1", "api_key": "sk", "peft": None})
        (('dtype', 'bfloat16'),)
    """
    # A header may choose an adapter. Its value may be a secret, so only a hash is kept.
    fields = (
        value for name, value in given.items() if name.endswith(("header", "headers"))
    )
    headers = [
        *chain.from_iterable(of.items() for of in fields if isinstance(of, Mapping))
    ]
    chosen = sorted(pair for pair in headers if not _SECRET.search(pair[0]))
    known = sorted({**given, "header hash": hashed(chosen)}.items())
    settings = (pair for pair in known if pair[1] not in (None, ""))
    return tuple(
        (name, str(of)) for name, of in settings if not _OF_NO_MATTER.search(name)
    )


def sent_of(given: Mapping[str, Any], **more: Any) -> Sent:
    """Return the record of what was sent, from the settings of generation in a log.

    Args:
        given: The settings, by their names in either harness.
        more: Further fields of the record.

    Examples:
        >>> sent_of({"do_sample": False, "max_gen_toks": 12, "until": "完", "n": 1}).stop
        ('完',)
    """
    known = {*_TYPES, *_FIELDS, "do_sample", "system_message"}
    further = {name: value for name, value in given.items() if name not in known}
    more = {"more": settings_of(further)} | more
    greedy = {"temperature": 0.0} if given.get("do_sample") is False else {}
    named = {
        _FIELDS.get(name, name): value
        for name, value in given.items()
        if value is not None
    }
    fields: dict[str, Any] = {}
    for name, value in (greedy | named | more).items():
        listed = [value] if name == "stop" and isinstance(value, str) else value
        with suppress(
            KeyError, msgspec.ValidationError
        ):  # a setting of another form is unknown
            fields[name] = msgspec.convert(listed, _TYPES[name], strict=False)
    return Sent(**fields)


def hashed(text: object) -> str:
    """Return a short hash of a text that was sent with all prompts; empty if there was none."""
    return sha256(str(text).encode("utf-8", "replace")).hexdigest()[:7] if text else ""
