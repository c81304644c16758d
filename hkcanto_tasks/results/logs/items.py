"""What both harnesses' logs share: decoding, the items of a task, and what was sent."""

import json
import re
import zlib
from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from math import isnan, nan
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, TypeVar

import msgspec
import numpy as np

from hkcanto_metrics.faults import in_words
from hkcanto_metrics.reasoning import valid

from ...errors import HKCantoError, LogError
from ...figures import Pair, reasoning_values
from ...judgements import Judgement
from ...kinds.base import Kind
from ...kinds.judged import Judged
from ...samples import Sample
from ...signatures import Signature
from ..runs import Floats, Items, ItemText, Passage, Sent, Settings, clusters_of

CHANCE = "chance"
"""The value of an item that says how often a random choice is right."""

SCORE_AGAIN = "hkcanto rescore LOG -o FOLDER scores its responses"
"""The way on for a log without scores."""

T = TypeVar("T")
Json = dict[str, Any]
NewItemRows = Callable[[Signature], "ItemRows"]
"""Makes the collector for the items of a task, from its signature."""

_LONG = 20  # characters of a response
_MOST_NAMES = 64  # A hostile log may have a different metric for each item.


class Request(NamedTuple):
    """A request as a log shows it.

    Attributes:
        messages: Role and text of each message; a plain text has an empty role.
        continuation: The text whose log-likelihood was measured.
        settings: The settings of generation; empty if this place has none.
    """

    messages: Sequence[tuple[str, str]]
    continuation: str = ""
    settings: Mapping[str, Any] = {}


class Evidence(NamedTuple):
    """The record of how an answer came about, for an audit.

    Attributes:
        requests: The requests; or one request, in each place that has it.
        responses: The response, in each place that has it.
        likelihoods: The log-likelihood of each continuation.
        models: The model that answered, in each place that has it.
        chat_template: The text of the chat template; empty if it was not logged.
    """

    requests: Sequence[Request] = ()
    responses: Sequence[str] = ()
    likelihoods: Sequence[float] = ()
    models: Sequence[str] = ()
    chat_template: str = ""


class LoggedItem(NamedTuple):
    """An item as a log has it.

    Attributes:
        sample: The item.
        judgement: The judgement of the response; None if the log has none of this version.
        response: The text that the model wrote.
        reasoning: The reasoning, if it was logged separately; only rescoring needs it.
        further: Values of figures outside the catalogue, such as a judge's.
        output_tokens: The number of tokens that the model wrote; None if unknown.
        truncated: 1 if the response ended at a length limit, 0 if not; None if unknown.
        prompt: The prompt as sent.
        requested: Hashes of the request as sent and of the catalogue's, if logged.
        evidence: The log's record of its request and response, if the collector wants it.
        edited: Whether somebody edited the judgement afterwards, by the log's own record.
    """

    sample: Sample
    judgement: Judgement | None
    response: str
    reasoning: str = ""
    further: Mapping[str, float | None] = {}
    output_tokens: float | None = None
    truncated: float | None = None
    prompt: str = ""
    requested: tuple[str, str] | None = None
    evidence: Evidence = Evidence()
    edited: bool = False


class _ItemRow(NamedTuple):
    """A row of `Items`, whose columns have the same names in the plural."""

    id: str
    subject: str
    parts: tuple[str, ...]
    values: Mapping[str, float | None]
    weights: Mapping[str, float]
    passage: Passage
    question_length: int
    response_length: int
    gold: int
    output_tokens: float | None
    truncated: float | None
    reason: str
    pair: Pair | None
    text: ItemText | None
    long_response: int


class ItemRows:
    """Collects the items of a task.

    Args:
        kind: The task.
        texts: Whether to keep texts.
        evidence: Whether the evidence for each answer is wanted.
    """

    NEEDS_SCORES: ClassVar[bool] = True
    """Whether a response without a judgement is left out."""

    def __init__(
        self,
        kind: Kind,
        texts: bool = False,
        evidence: bool = False,
    ) -> None:
        self.kind = kind
        self.evidence = evidence
        self.no_system = False  # whether a user's message had the instruction
        self.texts = texts
        self._shares = [f.averages for f in kind.FIGURES if f.unit == "share"]
        self._pairs = any(figure.form in ("corpus", "rate") for figure in kind.FIGURES)
        self._order: dict[str, int] = {}
        for position, subject in enumerate(kind.task.definition.subjects):
            self._order[subject.name] = position
        self._rows: list[_ItemRow] = []
        self._graders: set[str] = set()
        self._requested: dict[str, tuple[str, str]] = {}

    def signed(self, signature: Signature) -> Signature:
        """Return a signature with the judge models of the items, and a hash of the requests.

        The hash covers all requests. It is left out if every one of them is the catalogue's.
        """
        signature = signature.with_option("judge", "+".join(sorted(self._graders)))
        if self.no_system:
            signature = signature.with_option("no_system", "yes")
        if all(sent == ours for sent, ours in self._requested.values()):
            return signature
        lines = [
            f"{item} {sent}" for item, (sent, _) in sorted(self._requested.items())
        ]
        return signature.with_option("requests", hashed("\n".join(lines)))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def ids(self) -> Sequence[str]:
        """The item of each answer so far."""
        return self._column("id")

    def add(self, item: LoggedItem) -> None:
        """Add an item.

        Raises:
            LogError: Its subject is not in the catalogue, it lacks a judgement, or that has an
                impossible value.
        """
        sample = item.sample
        judgement = self._checked(item)
        truncated = item.truncated
        if item.requested:
            self._requested[sample.id] = item.requested
        graders = judgement.details.get("grader", "").split(", ")
        self._graders.update(filter(None, graders))
        if judgement.reasoning and not judgement.reasoning.finished:
            truncated = 1.0
        pair: Pair | None = None
        if self._pairs:
            pair = Pair(judgement.answer, sample.target, sample.source)
        text: ItemText | None = None
        if self.texts:
            text = ItemText(
                item.prompt,
                item.response,
                judgement.answer,
                sample.target,
            )
        row = _ItemRow(
            id=sample.id,
            subject=sample.subject,
            parts=sample.parts,
            values=_values(sample, judgement, item.further),
            weights=judgement.weights,
            passage=Passage(
                hash(sample.passage or sample.text),
                hash(sample.cells.get("passage") or sample.text),
            ),
            question_length=len(sample.text),
            response_length=judgement.length,
            gold=zlib.crc32(sample.target.encode()),
            output_tokens=item.output_tokens,
            truncated=truncated,
            reason=judgement.reason,
            pair=pair,
            text=text,
            long_response=_long_response(item.reasoning + item.response),
        )
        self._rows.append(row)

    def _checked(self, item: LoggedItem) -> Judgement:
        """Return an item's judgement; raise as `add` does."""
        judgement = item.judgement
        if judgement is None:
            what = "no scores of this version (--predict_only?)"
            raise LogError(f"{what}: {SCORE_AGAIN}")
        if item.sample.subject not in self._order:
            what = f"subject {item.sample.subject!r} of {self.kind.task.name}"
            raise LogError(f"the catalogue of this version has no {what}")
        for name in self._shares:
            value = judgement.values.get(name) or 0.0
            if value < 0 or value > 1:
                raise LogError(f"{name} is {value:g}, but a share is from 0 to 1")
        return judgement

    def items(self) -> Items:
        """Return the items sorted by subject and id (9 before 10), epochs of an id in order."""
        self._rows.sort(key=self._position)
        ids = self._column("id")
        subjects = self._column("subject")
        passages = self._column("passage")
        return Items(
            ids=ids,
            subjects=subjects,
            parts=self._column("parts"),
            values=_columns_by_name(self._column("values"), nan),
            weights=_columns_by_name(self._column("weights"), 0.0),
            clusters=clusters_of(ids, subjects, passages),
            question_lengths=np.array(self._column("question_length"), np.int64),
            response_lengths=np.array(self._column("response_length"), np.int64),
            golds=np.array(self._column("gold"), np.int64),
            output_tokens=np.array(self._column("output_tokens"), np.float64),
            truncated=np.array(self._column("truncated"), np.float64),
            passages=passages,
            reasons=self._column("reason"),
            pairs=self._column("pair") if self._pairs else (),
            texts=self._column("text") if self.texts else (),
            long_responses=self._column("long_response"),
        )

    def _position(self, row: _ItemRow) -> tuple[int, int, str]:
        return self._order[row.subject], len(row.id), row.id

    def _column(self, name: str) -> tuple[Any, ...]:
        return tuple(map(attrgetter(name), self._rows))


def _long_response(response: str) -> int:
    """Return a checksum of a response; 0 if it is so short that two models may both write it."""
    if len(response) < _LONG:
        return 0
    return zlib.crc32(response.encode("utf-8", "replace")) or 1


def _values(
    sample: Sample,
    judgement: Judgement,
    further: Mapping[str, float | None],
) -> dict[str, float | None]:
    """Return the values of an item, by figure."""
    values: dict[str, float | None] = dict(judgement.values)
    if sample.choices:
        values[CHANCE] = 1 / sum(choice is not None for choice in sample.choices)
    values |= further
    if judgement.reasoning:
        language = judgement.answer_language
        values |= reasoning_values(judgement.reasoning, language, values)
    return values


def _columns_by_name(
    items: Sequence[Mapping[str, float | None]],
    fill: float,
) -> dict[str, Floats]:
    """Return a column for each name; `fill` is the value of an item that lacks it."""
    columns: dict[str, Floats] = {}
    for name in [*dict.fromkeys(chain.from_iterable(items))][:_MOST_NAMES]:
        column = [item.get(name, fill) for item in items]
        columns[name] = np.array(column, np.float64)
    return columns


# ---------------------------------------------------------------------- judging again


def judged_again(
    kind: Kind,
    item: LoggedItem,
    rubric: str,
) -> Judgement:
    """Return this version's judgement of a logged response, or of its log-likelihoods.

    Args:
        kind: Reads the answers.
        item: The item, with the evidence if its task compares log-likelihoods.
        rubric: The rubric of the logged judgements.
    """
    sample = item.sample
    likelihoods = item.evidence.likelihoods
    if not kind.is_generative and kind.GOLD:
        if likelihoods:
            return kind.judge_likelihood(likelihoods[0], sample)
        if item.judgement:
            return item.judgement
    response = item.response
    if likelihoods:
        response = _likeliest(kind, sample, likelihoods)
    judged = kind.judge(response, sample, item.reasoning)
    if isinstance(kind, Judged) and kind.rubric_hash == rubric:
        return kind.judged_again(judged, item.judgement)
    return judged


def _likeliest(
    kind: Kind,
    sample: Sample,
    likelihoods: Sequence[float],
) -> str:
    """Return the letter with the highest log-likelihood; empty if one is not a number."""
    letters = [*kind.lettered(sample)]
    if len(letters) != len(likelihoods) or any(map(isnan, likelihoods)):
        return ""
    return letters[likelihoods.index(max(likelihoods))]


# ---------------------------------------------------------------------- decoding

UNREADABLE = Exception
"""Errors of reading a hostile file or sample; each costs only that file or sample."""


def reason(error: BaseException) -> str:
    """Return in one line why something could not be read."""
    if isinstance(error, HKCantoError):
        return str(error)
    if isinstance(error, msgspec.ValidationError):
        cause = "not in a format that this version knows"
    elif isinstance(error, OSError):
        cause = "cannot be read"
    elif isinstance(error, ImportError):
        cause = "pip install 'hkcanto[report]'"
    else:
        cause = "cut off or damaged"
    first_line = in_words(str(error).partition("\n")[0])
    return f"{cause}: {first_line}"


def left_out(
    problems: Sequence[str],
    scored: int,
    expected: int,
) -> str:
    """Return how many samples of a log are missing and why; empty if it has all."""
    count = f"it has {scored} of {expected} samples"
    if problems:
        return f"{problems[0]}; {count}"
    if scored < expected:
        return f"{count}: it is cut off"
    return ""


def decode(
    data: bytes,
    decoder: msgspec.json.Decoder[T],
) -> T:
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
_IRRELEVANT = re.compile(
    r"api_?key|secret|passw|headers?$|authori[sz]ation|credential|cookie|"
    r"(?<!bos|eos|pad)(?<!think_end)_token$|^token$|"
    r"url$|device|batch|concurrent|"
    r"max_(retries|connections)|timeout|parallel|gpu_memory|trust_remote_code|"
    r"^cache(_prompt)?$|^tokenize(r_backend|d_requests)$",
    re.IGNORECASE,
)
_SECRET = re.compile("auth|key|token|cookie|secret", re.IGNORECASE)
# Nested settings of public APIs whose values are no secrets.
_KNOWN_NESTED = re.compile(
    r"thinking|reasoning|effort|budget|penalty|temperature|tokens|template|format|"
    r"^(type|seed|top_[kp]|min_p|n|order|allow_fallbacks|quantizations?|guided_choice)$"
)
_FIELD_TYPES = {field.name: field.type for field in msgspec.structs.fields(Sent)}
_FIELD_NAMES = {"max_gen_toks": "max_tokens", "until": "stop", "stop_seqs": "stop"}

CHAT = "chat"
"""The template of a chat that the server formats. Its hash is unknown."""

WITH_SYSTEM = "with a system instruction of the user's in front"
"""The note of a run with a system instruction."""


def settings_of(logged: Mapping[str, object]) -> Settings:
    """Return the settings that are set and can change a model's answers.

    Nested settings are filtered by their names, too. Those of an unknown name are shown as a hash,
    since they may be secret.

    Examples:
        >>> settings_of({"dtype": "bfloat16", "device": "cuda:1", "api_key": "sk", "peft": None})
        (('dtype', 'bfloat16'),)
        >>> settings_of({"extra_body": {"top_k": 20, "api_key": "sk", "user": "me"}})
        (('extra_body', "{'top_k': 20, 'user': '#2744ccd'}"),)
    """
    settings = {**logged, "header hash": hashed(_headers(logged))}
    kept: list[tuple[str, str]] = []
    for name, value in sorted(settings.items()):
        if value not in (None, "") and not _IRRELEVANT.search(name):
            kept.append((name, str(_shown(_parsed(value)))))
    return tuple(kept)


def _parsed(value: object) -> object:
    """Return a setting; one that is the text of an object or list in JSON as such."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        with suppress(ValueError):
            return json.loads(value)
        with suppress(ValueError, SyntaxError):
            return literal_eval(value)
        return {"": value}
    return value


def _shown(value: object, name: str | None = None) -> object:
    """Return a setting without secrets.

    Args:
        value: Its value.
        name: Its name within another setting; None for a setting of its own.
    """
    if isinstance(value, Mapping):
        shown: dict[str, object] = {}
        for key, inner in value.items():
            if not _IRRELEVANT.search(str(key)):
                shown[str(key)] = _shown(inner, str(key))
        return shown
    if isinstance(value, list | tuple):
        return [_shown(inner, name) for inner in value]
    is_plain = value is None or isinstance(value, bool)
    if name is None or is_plain or _KNOWN_NESTED.search(name):
        return value
    return f"#{hashed(value)}"


def _headers(logged: Mapping[str, object]) -> list[tuple[str, object]]:
    """Return the headers of requests that are not secret, sorted.

    A header may choose an adapter. Its value may be a secret, so only a hash is kept.
    """
    headers: list[tuple[str, object]] = []
    for name, value in logged.items():
        if name.endswith(("header", "headers")) and isinstance(value, Mapping):
            headers += value.items()
    return sorted(header for header in headers if not _SECRET.search(header[0]))


def sent_of(logged: Mapping[str, Any], **further: Any) -> Sent:
    """Return the record of what was sent, from the settings of generation in a log.

    Args:
        logged: The settings, by their names in either harness.
        further: Further fields of the record.

    Examples:
        >>> sent_of({"do_sample": False, "max_gen_toks": 12, "until": "完", "n": 1}).stop
        ('完',)
    """
    known = {*_FIELD_TYPES, *_FIELD_NAMES, "do_sample", "system_message"}
    fields: dict[str, Any] = {}
    if logged.get("do_sample") is False:
        fields["temperature"] = 0.0
    more: dict[str, Any] = {}
    for name, value in logged.items():
        if name not in known:
            more[name] = value
        elif value is not None:
            fields[_FIELD_NAMES.get(name, name)] = value
    fields |= {"more": settings_of(more)} | further
    if isinstance(fields.get("stop"), str):
        fields["stop"] = [fields["stop"]]
    valid_fields: dict[str, Any] = {}
    for name, value in fields.items():
        # A setting of another form is unknown.
        with suppress(KeyError, msgspec.ValidationError):
            field_type = _FIELD_TYPES[name]
            valid_fields[name] = msgspec.convert(value, field_type, strict=False)
    return Sent(**valid_fields)


def hashed(text: object) -> str:
    """Return a short hash of a text that was sent with all prompts; empty if there was none."""
    if not text:
        return ""
    data = str(text).encode("utf-8", "replace")
    return sha256(data).hexdigest()[:7]
