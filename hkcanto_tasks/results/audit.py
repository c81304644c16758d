"""The audit of a run: its signature, items, prompts and judgements are rebuilt from what it logged.

Nothing that a log says of itself is believed. What can be computed is computed again, by the code
that runs and scores tasks; what the release knows is compared with it if it is on this machine.
"""

import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from ..errors import HKCantoError
from ..judgements import Judgement
from ..kinds.base import Kind
from ..kinds.judged import Judged
from ..prompts import Prompt
from ..samples import Sample
from ..signatures import Signature, parse_signature
from ..signing import signature_of
from ..tasks import LoadedTask, load_task, task_as_run
from .logs import read_log
from .logs.checking import (
    judging_kind_of,
    kind_of,
    options_of,
    published_signature,
)
from .logs.inspect import conversation_text
from .logs.items import (
    Evidence,
    ItemRows,
    LoggedItem,
    Request,
    judged_again,
    sent_of,
)
from .runs import Run

_log = logging.getLogger("hkcanto")
_TAKE_LOG_AS_WRITTEN = (
    "Take the log as it was written, or score it again: hkcanto rescore."
)
_OTHER_VALUES = "has other values in the log than its answer gives"
_FIELDS = [name for name in Sample.__struct_fields__ if name != "reasoning"]
"""The fields of an item that a log has."""

_DATE = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}|\d{4}-\d\d-\d\d")
_MARK = re.compile(r"<[^<>]*>|\[/?[A-Z_]+\]")
"""A special token, such as `<|im_start|>` or `[INST]`."""

_WORD = re.compile(r"[^\W\d_]+")
_ROLES = {"system", "user", "assistant", "model", "human"}


class Audit(NamedTuple):
    """The result of an audit.

    Attributes:
        fault: The first reason not to trust the run; empty if there is none.
        compared: Whether its questions, answers and prompts were compared with the release.
    """

    fault: str
    compared: bool


def audit(run: Run) -> Audit:
    """Check a run against its own log, the catalogue, and the release if it is on this machine."""
    for fault in run.contradictions:
        return Audit(f"{fault}. {_TAKE_LOG_AS_WRITTEN}", compared=False)
    try:
        published_signature(run.signature.text)
    except HKCantoError as error:
        return Audit(f"{str(error).rstrip('.')}.", compared=False)
    release = _release(run)
    if release is None:
        _log.warning(
            "%s on %s: its questions were not compared with the release: "
            "the data %s is not on this machine.",
            run.label,
            run.task,
            run.data,
        )
    return Audit(_fault_of_items(run, release), compared=release is not None)


def _release(run: Run) -> LoadedTask | None:
    """Return the run's task with the release's items; None if it is not on this machine."""
    options = options_of(run.signature)
    options.pop("shuffle_options", None)
    with suppress(HKCantoError):
        loaded = load_task(
            run.task,
            shots=run.shots,
            data="release",
            **options,
        )
        # Another commit of a data set without a pin may have the same items.
        if "local" not in loaded.revision:
            return loaded
    return None


def _fault_of_items(run: Run, release: LoadedTask | None) -> str:
    """Return the first fault of the items in a run's logs; empty without one."""
    collectors = list[_AuditedRows]()

    def new_rows(signature: Signature) -> ItemRows:
        if signature.task != run.task:
            return ItemRows(kind_of(signature))
        rows = _AuditedRows(run, signature, release)
        collectors.append(rows)
        return rows

    for source in run.sources:
        for _ in read_log(source, new_rows):
            pass
    for rows in collectors:
        if rows.fault:
            return rows.fault
    if sum(map(len, collectors)) < len(run.items):
        return f"some of its items cannot be read again. {_TAKE_LOG_AS_WRITTEN}"
    return "" if release is None else _fault_of_release(run, release)


def _fault_of_release(run: Run, release: LoadedTask) -> str:
    """Return how a run as a whole differs from a run on the release; empty if it does not."""
    missing = len({sample.id for sample in release.samples}.difference(run.items.ids))
    if missing:
        return f"{missing:,} items of the data {run.data} are missing. Run it again."
    rationale = dict(parse_signature(release.signature).options).get("rationale", "")
    logged = run.options.get("rationale", "")
    if logged != rationale:
        return f"its signature has rationale:{logged or 'none'}, not {rationale or 'none'}."
    return ""


# ---------------------------------------------------------------------- judgements


def misjudged(run: Run) -> str:
    """Return which judgement in a run's logs does not follow from the answer; empty if all do.

    Judgements by other rules than this version's are believed, and so are scores that somebody
    edited by the log's own record.
    """
    collectors = list[_JudgedRows]()

    def new_rows(signature: Signature) -> ItemRows:
        if signature.task != run.task or not _is_of_these_rules(signature):
            return ItemRows(task_as_run(signature.task, shots=signature.shots))
        collectors.append(_JudgedRows(signature))
        return collectors[-1]

    for source in run.sources:
        for _ in read_log(source, new_rows):
            pass
    for rows in collectors:
        if rows.changed:
            what = f"{rows.changed[0]} {_OTHER_VALUES}"
            others = len(rows.changed) - 1
            if others:
                what += f", and so have {others:,} more"
            return f"{what}. {_TAKE_LOG_AS_WRITTEN}"
    return ""


def _is_of_these_rules(signature: Signature) -> bool:
    """Return whether answers were read and judged by the rules of this version."""
    try:
        kind = kind_of(signature)
        ours = signature_of(kind, signature.data)
    except HKCantoError:
        return False  # a contradiction, which the run names
    if isinstance(kind, Judged):
        rubric = dict(signature.options).get("rubric", "none")
        if rubric != kind.rubric_hash:
            return False
    theirs = signature.read, signature.metric, signature.version
    return theirs == (ours.read, ours.metric, ours.version)


def _is_changed(item: LoggedItem, judged: Judgement) -> bool:
    """Return whether a logged judgement has other values than the answer gives."""
    return bool(item.judgement and item.judgement.outcome != judged.outcome)


class _JudgedRows(ItemRows):
    """The items of a log, each judged again as it is read.

    Args:
        signature: The signature in the log.

    Attributes:
        changed: The items whose judgement does not follow from the answer.
    """

    def __init__(self, signature: Signature) -> None:
        kind = judging_kind_of(signature)
        # A log-likelihood is logged only as evidence.
        super().__init__(kind, evidence=not kind.is_generative)
        self.changed: list[str] = []
        self._rubric = dict(signature.options).get("rubric", "none")

    def add(self, item: LoggedItem) -> None:
        """Judge an answer again; see `ItemRows.add`."""
        super().add(item)
        has_answer = self.kind.is_generative or item.evidence.likelihoods
        if has_answer and not item.edited:
            judged = judged_again(self.kind, item, self._rubric)
            if _is_changed(item, judged):
                self.changed.append(item.sample.id)


# ---------------------------------------------------------------------- all items


class _AuditedRows(ItemRows):
    """The items of a log, each checked as it is read.

    Args:
        run: The run.
        signature: The signature in the log.
        release: The task with the release's items; None if it is not on this machine.

    Attributes:
        fault: The first fault.
    """

    NEEDS_SCORES = False

    def __init__(
        self,
        run: Run,
        signature: Signature,
        release: LoadedTask | None,
    ) -> None:
        super().__init__(judging_kind_of(signature), evidence=True)
        self.fault = ""
        self._run = run
        self._release = release
        self._rubric = dict(signature.options).get("rubric", "none")
        self._frames = _Frames()
        self._settings: Mapping[str, Any] = {}

    @cached_property
    def _released(self) -> dict[str, Sample]:
        samples = self._release.samples if self._release else ()
        return {sample.id: sample for sample in samples}

    def add(self, item: LoggedItem) -> None:
        """Check an item, unless there is a fault already; see `ItemRows.add`."""
        judged = judged_again(self.kind, item, self._rubric)
        super().add(item._replace(judgement=judged))
        if self.fault:
            return
        try:
            fault = self._fault_of_answer(item, judged)
            fault = fault or self._fault_of_question(item.sample, item.evidence)
        except HKCantoError as error:
            fault = f"cannot be compared: {str(error).rstrip('.')}"
        if fault:
            self.fault = f"{item.sample.id} {fault}. {_TAKE_LOG_AS_WRITTEN}"

    def _fault_of_answer(
        self,
        item: LoggedItem,
        judged: Judgement,
    ) -> str:
        evidence = item.evidence
        if not (self.kind.is_generative or evidence.likelihoods):
            return "has no log-likelihoods to check"
        if len({*evidence.responses}) > 1:
            return "has another response in one place of the log than in another"
        if len({*evidence.models}) > 1:
            return f"was answered by {' and '.join(sorted({*evidence.models}))}"
        for request in evidence.requests:
            if request.settings and not self._are_settings(request.settings):
                return "was asked with other settings than the items before"
        if item.edited:
            return "has a score that was edited by hand"
        return _OTHER_VALUES if _is_changed(item, judged) else ""

    def _are_settings(self, settings: Mapping[str, Any]) -> bool:
        """Return whether these are the settings of the first request."""
        self._settings = self._settings or settings
        if settings == self._settings:
            return True
        return sent_of(settings) == sent_of(self._settings)

    def _fault_of_question(
        self,
        sample: Sample,
        evidence: Evidence,
    ) -> str:
        """Return how an item differs from the release's, if that is on this machine."""
        if self._release is None:
            return ""
        data = self._run.data
        released = self._released.get(sample.id)
        if released is None or _texts(released) != _texts(sample):
            return f"has another question or answer than the data {data}"
        prompt = self._release.prompt(released)
        if not self._is_prompt(prompt, released, evidence):
            return "was asked with another prompt than the catalogue's"
        return ""

    # ------------------------------------------------------------------ prompts

    def _is_prompt(
        self,
        prompt: Prompt,
        sample: Sample,
        evidence: Evidence,
    ) -> bool:
        """Return whether all logged requests are those of a prompt."""
        if not evidence.requests:
            return False
        kind = self.kind
        multiturn = kind.multiturn
        forms = [prompt.messages(multiturn=multiturn)]
        if "no_system" in self._run.options:
            forms.append(prompt.messages(multiturn=multiturn, no_system=True))
        in_chat = bool(self._run.sent.template)
        continuations = [request.continuation for request in evidence.requests]
        if any(continuations) and continuations != _continuations(
            kind, sample, in_chat
        ):
            return False
        text = prompt.text()
        if kind.GOLD and not kind.is_generative:
            text += prompt.answer_separator
        return all(
            any(
                self._is_request(
                    request,
                    turns,
                    text,
                    evidence.chat_template,
                )
                for turns in forms
            )
            for request in evidence.requests
        )

    def _is_request(
        self,
        request: Request,
        turns: list[tuple[str, str]],
        text: str,
        chat_template: str,
    ) -> bool:
        """Return whether a request has the messages, or the text, of a prompt."""
        role, logged = request.messages[0] if request.messages else ("", "")
        if role or len(request.messages) > 1:
            return [*request.messages] == turns
        if self._run.harness == "inspect":  # scored again
            return logged == conversation_text(turns)
        if not self._run.sent.template:
            return logged == text
        return self._frames.fits(logged, turns, chat_template)


class _Frames:
    """The text that a chat template puts around the messages, which is the same for each item."""

    def __init__(self) -> None:
        self._first: dict[int, tuple[str, ...]] = {}

    def fits(
        self,
        text: str,
        turns: list[tuple[str, str]],
        chat_template: str,
    ) -> bool:
        """Return whether a text has these messages, between what a template says.

        Args:
            text: The prompt as the template rendered it.
            turns: Role and text of the messages.
            chat_template: The template; empty if it was not logged.
        """
        frame = _frame(text, turns)
        if frame is None or frame != self._first.setdefault(len(frame), frame):
            return False
        words = {*_WORD.findall(_MARK.sub(" ", " ".join(frame)))}
        return not chat_template or words <= _ROLES.union(_WORD.findall(chat_template))


def _frame(text: str, turns: list[tuple[str, str]]) -> tuple[str, ...] | None:
    """Return the texts before, between and after messages; None if one is missing."""
    parts: list[str] = []
    start = 0
    for _, content in turns:
        message = content.strip()  # as some templates do
        position = text.find(message, start)
        if position < 0:
            return None
        parts.append(text[start:position])
        start = position + len(message)
    parts.append(text[start:])
    # The date may change during a run.
    return tuple(" ".join(_DATE.sub("", part).split()) for part in parts)


# ---------------------------------------------------------------------- what is compared


def _texts(sample: Sample) -> list[object]:
    return [getattr(sample, name) for name in _FIELDS]


def _continuations(
    kind: Kind,
    sample: Sample,
    in_chat: bool,
) -> list[str]:
    """Return the texts whose log-likelihoods the catalogue's task asks for, in order."""
    if kind.GOLD:
        return [kind.gold(sample)]
    separator = "" if in_chat else kind.template.answer_separator
    return [separator + letter for letter in kind.lettered(sample)]
