"""Rescoring of logged answers with this version's rules, and writing the result as a log."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isnan, nan
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from hkcanto_metrics.reasoning import split_reasoning

from ... import __version__
from ...adapters.model_calls import LoggedAnswer, ModelCalls
from ...adapters.second_look import ACCURACY, SHARES
from ...errors import LogError, OptionError
from ...figures import Figure, item_values, language_of, value
from ...judgements import Judgement
from ...kinds.base import Kind
from ...kinds.judged import Judged
from ...kinds.multiple_choice import MultipleChoice
from ...samples import Sample
from ...signatures import OF_A_JUDGE, UNKNOWN, Signature
from ...signing import signature_of
from ...tasks import LoadedTask, load_task, task_as_run
from ..logs import logs_in, read_log
from ..logs.items import ItemRows
from ..logs.lm_eval import Origin
from ..runs import Items, Run, SkippedLog
from .answers import read_answers, with_items

_NAMED = 3  # examples in a message
_ADDED = ("subjects", "rationale", "rescored", "yaml", "requests", "decoding", "reread")
_OF_PROMPT = ("prompt", "examples")
_CUT = ("length", "max_tokens", "model_length")  # values of `finish_reason`
_MARK = ("rescored", __version__)  # distinguishes a log from its original in one report


@dataclass(slots=True)
class Scored:
    """A response with its new and its previous judgement."""

    sample: Sample
    judgement: Judgement
    before: Judgement | None
    response: str
    more: dict[str, Any]  # see `ItemRows.add`

    @property
    def is_changed(self) -> bool:
        """Whether the response was judged differently before."""
        then, now = self.before or self.judgement, self.judgement
        return (then.answer, then.values, then.weights) != (
            now.answer,
            now.values,
            now.weights,
        )


class Rescored(ItemRows):
    """The items of a run, each judged again as it is collected.

    Args:
        kind: Reads the answers.
        rubric: The rubric of the logged judgements.

    Attributes:
        run: The run, with the signature of the new figures.
        scored: The judged responses.
        remarks: Caveats for the reader, also in the new log.
    """

    NEEDS_SCORES = False
    run: Run

    def __init__(self, kind: Kind, rubric: str = "") -> None:
        super().__init__(kind, texts=True)
        self.rubric, self.scored, self.remarks = rubric, list[Scored](), list[str]()
        self.made: Items | None = None

    def add(
        self, sample: Sample, judgement: Judgement | None, response: str, **more: Any
    ) -> None:
        """Judge a response and add it; see `ItemRows.add`."""
        kind = self.kind
        now = kind.judge(response, sample, more.get("reasoning", ""))
        if isinstance(kind, Judged) and kind.rubric_hash == self.rubric:
            now = kind.judged_again(now, judgement)
        super().add(sample, now, response, **more)
        self.scored.append(Scored(sample, now, judgement, response, more))

    def items(self) -> Items:
        """Return the items, by which the run of these rows is known."""
        self.made = super().items()
        return self.made

    @property
    def headlines(self) -> tuple[float, float]:
        """The old and new headline; the old one is NaN if some response had no score."""
        before = [scored.before for scored in self.scored if scored.before]
        headline, is_whole = self.kind.headline, len(before) == len(self.scored)
        then = self.figure(headline, before) if is_whole else nan
        return then, self.figure(headline, [scored.judgement for scored in self.scored])

    def figure(self, figure: Figure, judged: Sequence[Judgement]) -> float:
        """Return a figure of the run from some judgements of its responses; NaN without items."""
        pairs = zip(self.scored, judged, strict=True)
        items = (item_values([figure], scored.sample, each) for scored, each in pairs)
        values = (item.get(figure.name) for item in items)
        return value(figure, values, self.kind.categories, language_of(self.kind.task))


def options_of(signature: Signature) -> dict[str, Any]:
    """Return the options of a signature in the form for `setup` and `load_task`.

    Examples:
        >>> from ...catalogue import known_signature
        >>> text = "hkmmlu-sc|shots:0|turns:multi|script:sc-release|data:x|sent:a|read:b"
        >>> options_of(known_signature(f"{text}|metric:m|v:1|pkg:1"))
        {'multiturn': 'true', 'script': 'sc'}
    """
    given: dict[str, Any] = {}
    for name, text in signature.options:
        if text == UNKNOWN or name in (*_ADDED, *OF_A_JUDGE):
            continue
        if name == "turns":
            given["multiturn"] = "true" if text == "multi" else "false"
        else:  # a script may be `sc-release`, or that and `sc` on different subjects
            option = text[:2] if name == "script" else text
            given[name] = "true" if option == "yes" else option
    return given


def rescore(
    paths: Sequence[Path],
    task: str,
    model: str,
    columns: Mapping[str, str],
    progress: Callable[[int, int], None],
) -> tuple[list[Rescored], list[SkippedLog]]:
    """Score existing answers again.

    Args:
        paths: Logs of both harnesses, folders of logs, and files of answers.
        task: The task of files of answers, by its name in lm-eval.
        model: The model of files of answers; if empty, the file's name.
        columns: The names of columns in files of answers, if they are not those of `COLUMNS`.
        progress: Called with the number of files read so far and the total.

    Returns:
        The runs, and the logs that could not be used.

    Raises:
        LogError: A path is missing or has nothing to score, or a file's answers are not those of
            the task.
        OptionError: The task of a file is unknown.
    """
    runs, skipped = list[Rescored](), list[SkippedLog]()
    files: dict[Path, None] = {}
    for path in paths:
        is_log = path.is_file() and path.suffix in (".json", ".jsonl", ".eval")
        in_path = logs_in(path) if path.is_dir() else [path] if is_log else []
        if not in_path:
            raise LogError(
                f"{path} does not exist or has nothing to score. Give the results_….json of "
                "lm-eval, an .eval or .json of Inspect, a folder of these, or a .jsonl of answers."
            )
        files |= dict.fromkeys(in_path)
    loaded: LoadedTask | None = None
    for done, file in enumerate(files, 1):
        if file.suffix == ".jsonl":
            if not task:
                how = "Give --task NAME, such as --task hkmmlu (hkcanto list)."
                raise OptionError(
                    f"{file} does not say which task its answers are for. {how}"
                )
            loaded = loaded or load_task(task)
            runs.append(_of_answers(file, loaded, model or file.stem, columns))
        else:
            for run in of_log(file):
                runs.append(run) if isinstance(run, Rescored) else skipped.append(run)
        progress(done, len(files))
    if not runs:
        reasons = "".join(f"\n{log.path}: {log.reason}" for log in skipped[:_NAMED])
        raise LogError(f"nothing to score in {', '.join(map(str, paths))}:{reasons}")
    return runs, skipped


# ---------------------------------------------------------------------- logs of our tasks


def of_log(file: Path) -> Iterator[Rescored | SkippedLog]:
    """Score the answers of one log again, and yield a run for each of its tasks."""
    collected = list[Rescored]()

    def rows_of(signature: Signature) -> Rescored:
        kind = task_as_run(
            signature.task, shots=signature.shots, **options_of(signature)
        )
        collected.append(Rescored(kind, dict(signature.options).get("rubric", "none")))
        return collected[-1]

    for run in read_log(file, rows_of):
        if isinstance(run, SkippedLog):
            yield run
            continue
        # By identity: a log may have two entries with one signature.
        again = next(rows for rows in collected if rows.made is run.items)
        old, kind = run.signature, again.kind
        ours, options = signature_of(kind, old.data), dict([*old.options, _MARK])
        if isinstance(kind, Judged):
            options["rubric"] = kind.rubric_hash
            if again.rubric != kind.rubric_hash:
                what = f"it was judged with another rubric ({again.rubric}, now {kind.rubric_hash})"
                again.remarks.append(
                    f"{what}, which does not count without --grader MODEL"
                )
        if old.version != ours.version:
            again.remarks.append(
                f"version {old.version} of the task is now {ours.version}"
            )
        if old.prompt_known and old.sent != ours.sent:
            hashes = f"sent:{old.sent}, now {ours.sent}"
            again.remarks.append(f"it had the prompts of an older version ({hashes})")
        now = replace(ours, task=old.task, shots=old.shots, sent=old.sent)
        signature = again.signed(replace(now, options=tuple(options.items())))
        settings = tuple(dict([*run.settings, _MARK]).items())
        again.run = replace(run, signature=signature, settings=settings)
        yield again


# ---------------------------------------------------------------------- files of other tools


def _of_answers(
    file: Path, loaded: LoadedTask, model: str, columns: Mapping[str, str]
) -> Rescored:
    if not loaded.kind.is_generative:
        what = f"{loaded.task.name} compares log-likelihoods, but {file} has texts"
        raise OptionError(f"{what}. Give --task {loaded.task.definition.name}.")
    answers = read_answers(file, columns)
    failures = Counter(answer.failure for answer in answers if answer.failure)
    listed = ", ".join(
        f"{failure}: {count:,}" for failure, count in failures.most_common(_NAMED)
    )
    if failures.total() == len(answers):
        raise LogError(f"{file}: all {len(answers):,} requests failed ({listed}).")
    matched = with_items(
        file, [answer for answer in answers if not answer.failure], loaded
    )
    again = Rescored(loaded.kind)
    counts = Counter({f"requests failed ({listed}) and are left out": failures.total()})
    for answer, sample in matched:
        counts["answers are empty"] += not answer.response.strip()
        counts["answers were cut off at the token limit (finish_reason)"] += (
            answer.finish in _CUT
        )
        cut = {"truncated": float(answer.finish in _CUT)} if answer.finish else {}
        again.add(sample, None, answer.response, reasoning=answer.reasoning, **cut)
    again.remarks = [f"{count:,} {what}" for what, count in counts.items() if count]
    total, first = (
        len(loaded.samples),
        {sample.id for sample in loaded.samples[: len(matched)]},
    )
    if len(matched) < total:
        again.remarks.append(f"it has {len(matched):,} of the task's {total:,} items")
    signed = signature_of(loaded.kind.at(subjects=loaded.asked), loaded.revision)
    options = {
        name: UNKNOWN if name in _OF_PROMPT else text for name, text in signed.options
    }
    options |= {"turns": UNKNOWN, "decoding": UNKNOWN, _MARK[0]: _MARK[1]}
    again.run = Run(
        model=model,
        harness="other",
        signature=replace(
            signed, shots=None, sent=UNKNOWN, options=tuple(options.items())
        ),
        created=datetime.fromtimestamp(file.stat().st_mtime, UTC),
        sources=(file,),
        items=again.items(),
        settings=(_MARK,),
        status="incomplete" if failures else "success",
        limited=len(matched) < total,
        picked=any(sample.id not in first for _, sample in matched),
        available=total,
    )
    return again


# ---------------------------------------------------------------------- a second look by a model

_FIGURES = (*SHARES, ACCURACY)


def reread(runs: Sequence[Rescored], reader: str) -> None:
    """Add the figures `read`, `forced`, `none` and `acc_reread` of each answer to runs.

    Args:
        runs: Runs that were scored; a run without letters to read stays as it is.
        reader: The model, as Inspect names it.

    Raises:
        OptionError: Inspect is missing, the runs lack letters, or the model cannot be called.
    """
    lettered = [
        r for r in runs if isinstance(r.kind, MultipleChoice) and not r.kind.SEVERAL
    ]
    if not lettered:
        raise OptionError(
            f"--reader {reader} is only for multiple choice; leave it out."
        )
    unread = []
    for run in lettered:
        for scored in run.scored:
            split = split_reasoning(scored.response, scored.more.get("reasoning", ""))
            text = "" if scored.judgement.answer else split.answer.strip()
            unread.append((scored, LoggedAnswer(run.kind, scored.sample, text)))
    calls = _model_calls("--reader", reader)
    letters = _replies("--reader", reader, calls.read_letters, unread)
    for run in lettered:
        asked = [letters[id(scored)] for scored in run.scored if id(scored) in letters]
        failed = sum(bool(reply.failure) for reply in asked)
        forced = sum(bool(reply.letter) for reply in asked)
        what = f"{forced} of {len(asked):,} answers that the rules left unread"
        run.remarks.append(f"{reader} read {what}; {failed} could not be asked")
        for scored in run.scored:
            read, reply = scored.judgement.answer, letters.get(id(scored))
            letter = reply.letter if reply else ""
            values: dict[str, float | None] = dict.fromkeys(_FIGURES)
            if not (reply and reply.failure):
                answer = read or letter
                flags = (
                    bool(read),
                    bool(letter),
                    not answer,
                    answer == scored.sample.target,
                )
                values = dict(zip(_FIGURES, map(float, flags), strict=True))
            scored.more["further"] = {**(scored.more.get("further") or {}), **values}


def grade(runs: Sequence[Rescored], grader: str) -> None:
    """Have a model judge the answers of runs; runs without a rubric stay as they are.

    Args:
        runs: Runs that were scored.
        grader: The model, as Inspect names it.

    Raises:
        OptionError: Inspect is missing, the runs lack a rubric, or the model cannot be called.
    """
    with_rubric = [
        (again, again.kind) for again in runs if isinstance(again.kind, Judged)
    ]
    if not with_rubric:
        raise OptionError(
            f"--grader {grader} is only for tasks with a rubric; leave it out."
        )
    waiting = [
        (scored, LoggedAnswer(kind, scored.sample, scored.judgement.answer))
        for again, kind in with_rubric
        for scored in again.scored  # empty if no judge is shown it
    ]
    calls = _model_calls("--grader", grader)
    replies = _replies("--grader", grader, calls.grade, waiting)
    for again, kind in with_rubric:
        for scored in again.scored:
            said = [replies[id(scored)]] if id(scored) in replies else []
            scored.judgement = kind.judged(scored.judgement, said)
        unjudged = sum(
            scored.judgement.values["unjudged_rate"] or 0 for scored in again.scored
        )
        what = f"{unjudged:.0f} of {len(again.scored):,} answers are unjudged"
        again.remarks.append(f"judged by {grader}; {what}")
        signature = again.run.signature.with_option("judge", grader if replies else "")
        again.run = replace(again.run, signature=signature)


class _Reply(Protocol):
    @property
    def failure(self) -> str: ...


_AnyKind = TypeVar("_AnyKind", bound=Kind)
_AnyReply = TypeVar("_AnyReply", bound=_Reply)


def _model_calls(option: str, model: str) -> ModelCalls:
    """Return the adapter that can call a model: Inspect's.

    Raises:
        OptionError: Inspect is missing.
    """
    try:
        import hkcanto.model_calls as inspect_calls
    except ImportError as error:
        raise OptionError(
            f"{option} {model}: models are called through Inspect, which cannot be imported "
            f"({error}). pip install 'hkcanto[inspect]', or leave {option} out."
        ) from error
    return inspect_calls


def _replies(
    option: str,
    model: str,
    call: Callable[[str, Sequence[LoggedAnswer[_AnyKind]]], Sequence[_AnyReply]],
    answers: Sequence[tuple[Scored, LoggedAnswer[_AnyKind]]],
) -> dict[int, _AnyReply]:
    """Return a model's replies about answers, by the identity of the response.

    The model is not asked about an empty answer.

    Raises:
        OptionError: The model cannot be called.
    """
    shown = [(scored, answer) for scored, answer in answers if answer.text]
    try:
        replies = call(model, [answer for _, answer in shown])
    except Exception as error:  # any error of Inspect or of the provider
        raise OptionError(f"{option} {model} cannot be called: {error}") from error
    if replies and all(reply.failure for reply in replies):
        raise OptionError(f"{option} {model} cannot be called: {replies[0].failure}")
    responses = (id(scored) for scored, _ in shown)
    return dict(zip(responses, replies, strict=True))


# ---------------------------------------------------------------------- writing


def files_of(runs: Sequence[Rescored], folder: Path) -> dict[str, str]:
    """Return the logs of runs, in lm-eval's form, by their paths in a folder.

    Raises:
        OptionError: A new log would replace one that was read.
    """
    files: dict[str, str] = {}
    for number, again in enumerate(runs, 1):
        run, name = again.run, again.run.signature.task
        judged = [scored.judgement for scored in again.scored]
        figures = (
            (figure.name, again.figure(figure, judged)) for figure in again.kind.table
        )
        values = {
            f"{figure},none": value for figure, value in figures if not isnan(value)
        }
        metadata = {"signature": run.signature.text}
        origin = {field: getattr(run, field) for field in Origin.__struct_fields__}
        results = {
            "results": {name: values},
            "configs": {
                name: {"task": name, "dataset_path": "hkcanto", "metadata": metadata}
            },
            "n-samples": {name: {"original": len(judged), "effective": len(judged)}},
            "date": run.created.timestamp(),
            "model_name": run.model,
            "rescored": origin
            | {"notes": [*dict.fromkeys([*run.notes, *again.remarks])]},
        }
        lines = []
        for place, scored in enumerate(again.scored):
            doc = {
                name: getattr(scored.sample, name) for name in Sample.__struct_fields__
            }
            doc["judgement"] = scored.judgement.logged()
            more = dict(scored.more)
            sent = {
                "arguments": [[more.pop("prompt", "")]],
                "filtered_resps": [scored.response],
            }
            lines.append({"doc_id": place, "doc": doc, **sent, **more})
        home = re.sub(r"[^\w.@+-]+", "__", run.model).strip("._") or "model"
        stem = f"{run.created:%Y-%m-%dT%H-%M-%S.%f}-rescored{number}"
        text = msgspec.json.format(msgspec.json.encode(results)).decode()
        files[f"{home}/results_{stem}.json"] = text
        text = msgspec.json.Encoder().encode_lines(lines).decode()
        files[f"{home}/samples_{name}_{stem}.jsonl"] = text
    written = {(folder / path).resolve() for path in files}
    for source in (path for again in runs for path in again.run.sources):
        if source.resolve() in written:
            raise OptionError(
                f"{source} would be replaced by its new log: give another -o."
            )
    return files
