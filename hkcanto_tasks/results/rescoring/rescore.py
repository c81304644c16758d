"""Rescoring of logged answers with this version's rules, and writing the result as a log."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from math import isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hkcanto_metrics.reasoning import split_reasoning

from ... import __version__
from ...errors import LogError, OptionError
from ...figures import Figure, item_values, language_of, value
from ...judgements import Judgement
from ...kinds.base import Kind
from ...kinds.judged import Judged
from ...kinds.multiple_choice import MultipleChoice
from ...samples import Sample
from ...signatures import OF_A_JUDGE, UNKNOWN, Signature
from ...tasks import LoadedTask, load_task, task_as_run
from ..logs import logs_in, read_log
from ..logs.items import ItemRows
from ..logs.lm_eval import Origin
from ..runs import Items, SkippedLog
from .answers import Answer, Questions, read_answers

MOST_UNMATCHED = 0.02
"""The largest allowed share of answers that match no item of the task."""

_NAMED = 3  # examples in a message
_ADDED = ("subjects", "rationale", "rescored", "yaml", "requests", "decoding", "reread")
_OF_PROMPT = ("prompt", "examples")
_CUT = ("length", "max_tokens", "model_length")  # values of `finish_reason`
_MARK = ("rescored", __version__)  # distinguishes a log from its original in one report


class Scored(NamedTuple):
    """A response with its new and its previous judgement."""

    sample: Sample
    judgement: Judgement
    before: Judgement | None
    response: str
    more: Mapping[str, Any]  # see `ItemRows.add`

    @property
    def is_changed(self) -> bool:
        """Whether the response was judged differently before."""
        before, now = self.before, self.judgement
        return before is not None and (before.answer, before.values) != (now.answer, now.values)


@dataclass
class Rescored:
    """A run that was scored again."""

    source: Path
    origin: Origin  # the model, and how it was run
    signature: Signature  # of the new figures
    created: datetime  # when the model was run
    kind: Kind  # reads the answers
    scored: Sequence[Scored]
    remarks: list[str]  # caveats for the reader, also in the new log

    @property
    def headlines(self) -> tuple[float, float]:
        """The old and new headline; the old one is NaN if some response had no score."""
        before = [scored.before for scored in self.scored if scored.before]
        headline, is_whole = self.kind.headline, len(before) == len(self.scored)
        then = self._figure(headline, before) if is_whole else nan
        return then, self._figure(headline, [scored.judgement for scored in self.scored])

    def _figure(self, figure: Figure, judged: Sequence[Judgement]) -> float:
        pairs = zip(self.scored, judged, strict=True)
        items = (item_values([figure], scored.sample, each) for scored, each in pairs)
        values = (item.get(figure.name) for item in items)
        return value(figure, values, self.kind.categories, language_of(self.kind.task))

    def files(self, stem: str) -> dict[str, str]:
        """Return the log's files by name: results and samples in lm-eval's form.

        Args:
            stem: The common part of the names.
        """
        name, now = self.signature.task, [scored.judgement for scored in self.scored]
        figures = ((each.name, self._figure(each, now)) for each in self.kind.table)
        values = {f"{figure},none": value for figure, value in figures if not isnan(value)}
        notes = tuple(dict.fromkeys([*self.origin.notes, *self.remarks]))
        metadata = {"signature": self.signature.text}
        results = {
            "results": {name: values},
            "configs": {name: {"task": name, "dataset_path": "hkcanto", "metadata": metadata}},
            "n-samples": {name: {"original": len(now), "effective": len(now)}},
            "date": self.created.timestamp(),
            "model_name": self.origin.model,
            "rescored": msgspec.structs.replace(self.origin, notes=notes),
        }
        lines = []
        for place, scored in enumerate(self.scored):
            doc = {name: getattr(scored.sample, name) for name in Sample.__struct_fields__}
            doc["judgement"] = scored.judgement.logged()
            more = dict(scored.more)
            sent = {"arguments": [[more.pop("prompt", "")]], "filtered_resps": [scored.response]}
            lines.append({"doc_id": place, "doc": doc, **sent, **more})
        return {
            f"results_{stem}.json": msgspec.json.format(msgspec.json.encode(results)).decode(),
            f"samples_{name}_{stem}.jsonl": msgspec.json.Encoder().encode_lines(lines).decode(),
        }


class _Rows(ItemRows):
    """Collects the items of a log, and judges each again as it is added."""

    NEEDS_SCORES = False

    def __init__(self, collected: list["_Rows"], signature: Signature) -> None:
        kind = task_as_run(signature.task, shots=signature.shots, **options_of(signature))
        super().__init__(kind, texts=True)
        self.logged, self.scored = signature, list[Scored]()
        self.made: Items | None = None
        collected.append(self)

    def add(self, sample: Sample, judgement: Judgement | None, response: str, **more: Any) -> None:
        how = self.setup
        now = how.judge(response, sample, more.get("reasoning", ""))
        if isinstance(how, Judged) and how.rubric_hash == dict(self.logged.options).get("rubric"):
            now = how.judged_again(now, judgement)
        super().add(sample, now, response, **more)
        self.scored.append(Scored(sample, now, judgement, response, more))

    def items(self) -> Items:
        """Return the items, by which the run of these rows is known."""
        self.made = super().items()
        return self.made


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
                raise OptionError(f"{file} does not say which task its answers are for. {how}")
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
    collected = list[_Rows]()
    for run in read_log(file, partial(_Rows, collected)):
        if isinstance(run, SkippedLog):
            yield run
            continue
        # By identity: a log may have two entries with one signature.
        rows = next(rows for rows in collected if rows.made is run.items)
        old, kind, remarks = run.signature, rows.setup, list[str]()
        ours, options = kind.signature(old.data), dict([*old.options, _MARK])
        if isinstance(kind, Judged):
            logged, options["rubric"] = options.get("rubric", "none"), kind.rubric_hash
            if logged != kind.rubric_hash:
                what = f"it was judged with another rubric ({logged}, now {kind.rubric_hash})"
                advice = "those judgements do not count; judge again with --grader MODEL"
                remarks.append(f"{what}: {advice}")
        if old.version != ours.version:
            remarks.append(f"version {old.version} of the task is now {ours.version}")
        if old.prompt_known and old.sent != ours.sent:
            hashes = f"sent:{old.sent}, now {ours.sent}"
            remarks.append(f"it had the prompts of an older version ({hashes})")
        now = replace(ours, task=old.task, shots=old.shots, sent=old.sent)
        signature = rows.signed(replace(now, options=tuple(options.items())))
        origin = Origin(**{name: getattr(run, name) for name in Origin.__struct_fields__})
        origin.settings = tuple(dict([*run.settings, _MARK]).items())
        yield Rescored(file, origin, signature, run.created, kind, rows.scored, remarks)


# ---------------------------------------------------------------------- files of other tools


def _of_answers(file: Path, loaded: LoadedTask, model: str, columns: Mapping[str, str]) -> Rescored:
    kind = loaded.kind
    if not kind.is_generative:
        what = f"{loaded.task.name} compares log-likelihoods, but {file} has texts"
        raise OptionError(f"{what}. Give --task {loaded.task.definition.name}.")
    answers = read_answers(file, columns)
    failures = Counter(answer.failure for answer in answers if answer.failure)
    listed = ", ".join(f"{failure}: {count:,}" for failure, count in failures.most_common(_NAMED))
    if failures.total() == len(answers):
        raise LogError(f"{file}: all {len(answers):,} requests failed ({listed}).")
    matched, remark = _matched(file, [answer for answer in answers if not answer.failure], loaded)
    scored = list[Scored]()
    for answer, sample in matched:
        more: dict[str, Any] = {"reasoning": answer.reasoning}
        if answer.finish:
            more["truncated"] = float(answer.finish in _CUT)
        judgement = kind.judge(answer.response, sample, answer.reasoning)
        scored.append(Scored(sample, judgement, None, answer.response, more))
    names, total = {sample.id for _, sample in matched}, len(loaded.samples)
    empty = sum(not answer.response.strip() for answer, _ in matched)
    cut = sum(answer.finish in _CUT for answer, _ in matched)
    remarks = {
        f"{failures.total():,} requests failed ({listed}) and are left out": failures,
        f"{remark} and are left out": remark,
        f"{empty:,} answers are empty": empty,
        f"{cut:,} answers were cut off at the token limit (finish_reason)": cut,
        f"it has {len(names):,} of the task's {total:,} items": len(names) < total,
    }
    origin = Origin(
        model=model,
        harness="other",
        backend=UNKNOWN,
        version_of_harness=UNKNOWN,
        settings=(_MARK,),
        notes=(),
        status="incomplete" if failures else "success",
        limited=len(names) < total,
        picked=names != {sample.id for sample in loaded.samples[: len(names)]},
        available=total,
    )
    signed = kind.at(subjects=loaded.asked).signature(loaded.revision)
    options = {name: UNKNOWN if name in _OF_PROMPT else text for name, text in signed.options}
    options |= {"turns": UNKNOWN, "decoding": UNKNOWN, _MARK[0]: _MARK[1]}
    signature = replace(signed, shots=None, sent=UNKNOWN, options=tuple(options.items()))
    created = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    true = [text for text, is_true in remarks.items() if is_true]
    return Rescored(file, origin, signature, created, kind, scored, true)


def _matched(
    file: Path, answers: Sequence[Answer], loaded: LoadedTask
) -> tuple[list[tuple[Answer, Sample]], str]:
    """Return the answers with their items, and how many match none and why; empty if all do.

    Raises:
        LogError: Too many match no item, the ids count from another number, or an item has
            several answers.
    """
    name = loaded.task.name
    questions = Questions(loaded.samples, loaded.task.definition.letters)
    matched: dict[str, tuple[Answer, Sample]] = {}
    unmatched = list[str]()
    for answer in answers:
        task, _, number = answer.id.rpartition("/")
        last = questions.last.get(task, 0)
        if last and not answer.question and number.isdecimal() and not 0 < int(number) <= last:
            raise LogError(
                f"{file}, line {answer.line}: the id {answer.id!r} is no item's: those of {task} "
                f"count from 1 to {last:,}. Correct all ids, or give the questions without ids."
            )
        sample = questions.find(answer)
        if isinstance(sample, str):
            unmatched.append(f"line {answer.line}: {sample}")
            continue
        first, _ = matched.setdefault(sample.id, (answer, sample))
        if first is not answer:
            lines = f"lines {first.line} and {answer.line} both answer {sample.id}"
            raise LogError(f"{file}: {lines}. Put further answers into a file of their own.")
    listed = f"{len(unmatched):,} of {len(answers):,} answers match no item of {name}"
    reasons = "; ".join(unmatched[:_NAMED])
    if len(unmatched) > MOST_UNMATCHED * len(answers):
        raise LogError(
            f"{file}: {listed} (data {loaded.revision}): {reasons}. At most {MOST_UNMATCHED:.0%} "
            "may be unmatched. It may be for another task (--task NAME), script or release."
        )
    return [*matched.values()], f"{listed}: {reasons}" if unmatched else ""


# ---------------------------------------------------------------------- a second look by a model

_FIGURES = ("read", "forced", "none", "acc_reread")


def reread(runs: Sequence[Rescored], reader: str) -> None:
    """Add the figures `read`, `forced`, `none` and `acc_reread` of each answer to runs.

    Args:
        runs: Runs that were scored; a run without letters to read stays as it is.
        reader: The model, as Inspect names it.

    Raises:
        OptionError: Inspect is missing, the runs lack letters, or the model cannot be called.
    """
    lettered = [r for r in runs if isinstance(r.kind, MultipleChoice) and not r.kind.SEVERAL]
    if not lettered:
        raise OptionError(f"--reader {reader} is only for multiple choice; leave it out.")
    unread = list[tuple[Kind, Scored, str]]()
    for run in lettered:
        for scored in run.scored:
            reasoning = scored.more.get("reasoning", "")
            text = split_reasoning(scored.response, reasoning).answer.strip()
            if text and not scored.judgement.answer:
                unread.append((run.kind, scored, text))
    letters = _ask("--reader", reader, "hkcanto.second_look", "read_letters", unread)
    for run in lettered:
        counts, looked_at = Counter[str](), list[Scored]()
        for scored in run.scored:
            letter, read = letters.get(id(scored)), scored.judgement.answer
            values: dict[str, float | None] = dict.fromkeys(_FIGURES)
            if not isinstance(letter, BaseException):
                answer = read or letter or ""
                flags = bool(read), bool(letter), not answer, answer == scored.sample.target
                values = dict(zip(values, map(float, flags), strict=True))
                counts.update(["known", *(name for name, holds in values.items() if holds)])
            further = {**(scored.more.get("further") or {}), **values}
            looked_at.append(scored._replace(more={**scored.more, "further": further}))
        asked = sum(id(scored) in letters for scored in run.scored)
        remark = (
            f"{reader} read {counts['forced']} of {asked:,} answers that the rules left unread: "
            f"acc_reread {counts['acc_reread'] / max(1, counts['known']):.2%}"
        )
        if unknown := len(looked_at) - counts["known"]:
            remark += f"; {unknown} could not be asked"
        run.remarks.append(remark)
        run.scored = looked_at


def grade(runs: Sequence[Rescored], grader: str) -> None:
    """Have a model judge the answers of runs; runs without a rubric stay as they are.

    Args:
        runs: Runs that were scored.
        grader: The model, as Inspect names it.

    Raises:
        OptionError: Inspect is missing, the runs lack a rubric, or the model cannot be called.
    """
    with_rubric = [(run, run.kind) for run in runs if isinstance(run.kind, Judged)]
    if not with_rubric:
        raise OptionError(f"--grader {grader} is only for tasks with a rubric; leave it out.")
    waiting = [
        (kind, scored, scored.judgement.answer)
        for run, kind in with_rubric
        for scored in run.scored
        if scored.judgement.answer
    ]
    replies = _ask("--grader", grader, "hkcanto.judges.rubric", "grade", waiting)
    by_answer = {place: [reply] for place, reply in replies.items()}
    for run, kind in with_rubric:
        run.scored = [
            scored._replace(judgement=kind.judged(scored.judgement, by_answer.get(id(scored), [])))
            for scored in run.scored
        ]
        unjudged = sum(scored.judgement.values["unjudged_rate"] or 0 for scored in run.scored)
        run.remarks = [remark for remark in run.remarks if "--grader" not in remark]
        what = f"{unjudged:.0f} of {len(run.scored):,} answers are unjudged"
        run.remarks.append(f"judged by {grader}; {what}")
        run.signature = run.signature.judged_by([grader] if replies else [])


def _ask(
    option: str, model: str, module: str, function: str, asked: Sequence[tuple[Kind, Scored, str]]
) -> dict[int, Any]:
    """Have Inspect ask a model about the texts of responses; return its replies by response."""
    try:
        ask = getattr(import_module(module), function)
    except ImportError as error:
        raise OptionError(
            f"{option} {model}: models are called through Inspect, which cannot be imported "
            f"({error}). pip install 'hkcanto[inspect]', or leave {option} out."
        ) from error
    try:
        replies = ask(model, [(kind, scored.sample, text) for kind, scored, text in asked])
    except Exception as error:  # any error of Inspect or of the provider
        raise OptionError(f"{option} {model} cannot be called: {error}") from error
    failures = [r if isinstance(r, BaseException) else getattr(r, "failure", "") for r in replies]
    if failures and all(failures):
        raise OptionError(f"{option} {model} cannot be called: {failures[0]}")
    return {id(scored): reply for (_, scored, _), reply in zip(asked, replies, strict=True)}


# ---------------------------------------------------------------------- writing


def files_of(runs: Sequence[Rescored], folder: Path) -> dict[str, str]:
    """Return the logs of runs by their paths in a folder.

    Raises:
        OptionError: A new log would replace one that was read.
    """
    files: dict[str, str] = {}
    for number, run in enumerate(runs, 1):
        home = re.sub(r"[^\w.@+-]+", "__", run.origin.model).strip("._") or "model"
        stem = f"{run.created:%Y-%m-%dT%H-%M-%S.%f}-rescored{number}"
        files |= {f"{home}/{name}": text for name, text in run.files(stem).items()}
    written = {(folder / name).resolve() for name in files}
    for run in runs:
        if run.source.resolve() in written:
            raise OptionError(f"{run.source} would be replaced by its new log: give another -o.")
    return files
