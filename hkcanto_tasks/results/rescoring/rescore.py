"""Rescoring of logged answers with this version's rules, and writing the result as a log."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ... import __version__
from ...errors import LogError, OptionError
from ...figures import Figure, item_values, language_of, value
from ...judgements import Judgement
from ...kinds.base import Kind
from ...kinds.judged import Judged
from ...samples import Sample
from ...signatures import OF_A_JUDGE, UNKNOWN, Signature, fingerprints
from ...tasks import LoadedTask, load_task, task_as_run
from ..logs import logs_in, read_log
from ..logs.items import ItemRows
from ..logs.lm_eval import Origin
from ..runs import Run, Sent, SkippedLog
from .answers import Answer, Questions, read_answers

MOST_UNMATCHED = 0.02
"""The largest allowed share of answers that match no item of the task."""

_NAMED = 3  # examples in a message
_NO_OPTION = ("subjects", "rationale", "rescored", "yaml", "decoding", *OF_A_JUDGE)
_OF_PROMPT = ("prompt", "examples")
_CUT = ("length", "max_tokens", "model_length")  # values of `finish_reason`
_MARK = ("rescored", __version__)  # distinguishes a log from its original in one report
_SAMPLE = tuple(Sample.__struct_fields__)


class Scored(NamedTuple):
    """A response with its new and its previous judgement."""

    sample: Sample
    judgement: Judgement
    before: Judgement | None
    response: str
    more: Mapping[str, Any]  # see `ItemRows.add`

    @property
    def changed(self) -> bool:
        """Whether it was judged differently before."""
        now, then = self.judgement, self.before
        return then is not None and (then.answer, then.values) != (now.answer, now.values)


@dataclass(frozen=True)
class Rescored:
    """A run that was scored again.

    Attributes:
        source: The file of the run.
        origin: The model, and how it was run.
        signature: The signature of the new figures.
        created: When the model was run.
        setup: The setup that reads the answers.
        scored: The responses.
        remarks: Caveats for the reader.
    """

    source: Path
    origin: Origin
    signature: Signature
    created: datetime
    setup: Kind
    scored: Sequence[Scored]
    remarks: Sequence[str] = ()

    @property
    def changed(self) -> int:
        """The number of responses that were judged differently before."""
        return sum(each.changed for each in self.scored)

    @property
    def headlines(self) -> tuple[float, float]:
        """The old and new headline; the old one is NaN if some response had no score."""
        before = [each.before for each in self.scored if each.before]
        headline, is_whole = self.setup.headline, len(before) == len(self.scored)
        then = self._figure(headline, before) if is_whole else nan
        return then, self._figure(headline, [each.judgement for each in self.scored])

    def _figure(self, figure: Figure, judged: Sequence[Judgement]) -> float:
        values = (
            item_values([figure], each.sample, judgement).get(figure.name)
            for each, judgement in zip(self.scored, judged, strict=True)
        )
        return value(figure, values, self.setup.categories, language_of(self.setup.task))

    def files(self, stem: str) -> dict[str, str]:
        """Return the log's files by name: results and samples in lm-eval's form.

        Args:
            stem: The common part of the names.
        """
        name, now = self.signature.task, [each.judgement for each in self.scored]
        values = {f"{each.name},none": self._figure(each, now) for each in self.setup.table}
        about = {"task": name, "dataset_path": "hkcanto"}
        results = {
            "results": {name: {key: number for key, number in values.items() if not isnan(number)}},
            "configs": {name: {**about, "metadata": {"signature": self.signature.text}}},
            "n-samples": {name: {"original": len(now), "effective": len(now)}},
            "date": self.created.timestamp(),
            "model_name": self.origin.model,
            "rescored": self.origin,
        }
        lines = map(_line, range(len(now)), self.scored)
        return {
            f"results_{stem}.json": msgspec.json.format(msgspec.json.encode(results)).decode(),
            f"samples_{name}_{stem}.jsonl": "".join(lines),
        }


def _line(place: int, of: Scored) -> str:
    doc = {name: getattr(of.sample, name) for name in _SAMPLE}
    more = {name: text for name, text in of.more.items() if name != "prompt"}
    line = {
        "doc_id": place,
        "doc": {**doc, "judgement": of.judgement.logged()},
        "arguments": [[of.more.get("prompt", "")]],
        "filtered_resps": [of.response],
        **more,
    }
    return msgspec.json.encode(line).decode() + "\n"


class _Rows(ItemRows):
    """Collects the items of a log, and judges each again as it is added."""

    NEEDS_SCORES = False

    def __init__(self, signature: Signature) -> None:
        super().__init__(setup_of(signature), texts=True)
        self.scored: list[Scored] = []
        self.rubric = dict(signature.options).get("rubric", "")

    def add(self, sample: Sample, judgement: Judgement | None, response: str, **more: Any) -> None:
        how = self.setup
        now = how.judge(response, sample, more.get("reasoning", ""))
        if isinstance(how, Judged) and how.rubric_hash == self.rubric:
            now = how.judged_again(now, judgement)
        super().add(sample, now, response, **more)
        self.scored.append(Scored(sample, now, judgement, response, more))


def setup_of(signature: Signature) -> Kind:
    """Return the setup of a signature, on all subjects.

    Raises:
        OptionError: This version has no such option.

    Examples:
        >>> from ...catalogue import known_signature
        >>> text = "hkmmlu-cot|shots:0|cot:yes|data:x|sent:a|read:b|metric:m|v:1|pkg:1"
        >>> setup_of(known_signature(text)).options.cot
        True
    """
    return task_as_run(signature.task, shots=signature.shots, **options_of(signature))


def options_of(signature: Signature) -> dict[str, str]:
    """Return the options of a signature in the form for `setup` and `load_task`.

    Examples:
        >>> from ...catalogue import known_signature
        >>> text = "hkmmlu-sc|shots:0|turns:multi|script:sc-release|data:x|sent:a|read:b"
        >>> options_of(known_signature(f"{text}|metric:m|v:1|pkg:1"))
        {'multiturn': 'true', 'script': 'sc'}
    """
    given: dict[str, str] = {}
    for name, text in signature.options:
        if text == UNKNOWN or name in _NO_OPTION:
            continue
        if name == "turns":
            given["multiturn"] = "true" if text == "multi" else "false"
        else:  # a script may be `sc-release`, or that and `sc` on different subjects
            option = text[:2] if name == "script" else text
            given[name] = "true" if option == "yes" else option
    return given


def rescore(
    paths: Sequence[Path],
    *,
    task: str = "",
    model: str = "",
    columns: Mapping[str, str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Rescored], list[SkippedLog]]:
    """Score existing answers again.

    Args:
        paths: Logs of both harnesses, files of answers, and folders of these.
        task: The task's name in lm-eval, for files without one.
        model: The model's name, for files without one.
        columns: Role of a column → its name, for files that are not logs.
        progress: Called with the number of files read so far and the total.

    Returns:
        The runs, and the logs that could not be used.

    Raises:
        LogError: A path does not exist or has nothing to score, or a file's answers do not match
            the task.
        OptionError: The task of a file is unknown.
    """
    runs, skipped = list[Rescored](), list[SkippedLog]()
    files = list(dict.fromkeys(file for path in paths for file in _files(path)))
    tasks: dict[str, tuple[LoadedTask, Questions]] = {}
    for done, file in enumerate(files, 1):
        if file.suffix == ".jsonl":
            runs += _of_answers(file, task, model, columns or {}, tasks)
        else:
            rows: dict[str, _Rows] = {}

            def collect(signature: Signature, rows: dict[str, _Rows] = rows) -> ItemRows:
                return rows.setdefault(signature.judged_by(()).text, _Rows(signature))

            for run in read_log(file, collect):
                if isinstance(run, Run):
                    runs.append(_of_log(run, rows[run.signature.judged_by(()).text]))
                else:
                    skipped.append(run)
        if progress:
            progress(done, len(files))
    if not runs:
        reasons = "".join(f"\n{each.path}: {each.reason}" for each in skipped[:5])
        raise LogError(f"nothing to score in {', '.join(map(str, paths))}:{reasons}")
    return runs, skipped


def _files(path: Path) -> list[Path]:
    """Return the files to read at a path."""
    if not path.exists():
        raise LogError(f"{path} does not exist. Give a log, a .jsonl with answers, or a folder.")
    files = [path] if path.suffix in (".json", ".jsonl", ".eval") else []
    if path.is_dir():
        answers = (file for file in sorted(path.rglob("*.jsonl")) if file.is_file())
        files = [*logs_in(path), *(each for each in answers if each.name[:8] != "samples_")]
    if not files:
        raise LogError(
            f"{path} has nothing to score. Give the results_….json of lm-eval, an .eval or .json "
            "of Inspect, a .jsonl with answers, such as twinkle-eval's eval_results_….jsonl, or a "
            "folder of these."
        )
    return files


# ---------------------------------------------------------------------- logs of our tasks


def _of_log(run: Run, rows: _Rows) -> Rescored:
    old, how = run.signature, rows.setup
    sent, read = fingerprints(how)
    options = dict(old.options) | dict([_MARK])
    if isinstance(how, Judged):
        options["rubric"] = how.rubric_hash
    now = replace(
        old,
        options=tuple(options.items()),
        read=read,
        metric=how.task.definition.metric if how.is_generative else "loglikelihood",
        version=str(how.task.definition.version),
        package=__version__,
    )
    now, remarks = rows.judged_by(now), list[str]()
    if isinstance(how, Judged) and how.rubric_hash != rows.rubric:
        remarks.append(
            f"it was judged with another rubric ({rows.rubric or 'none'}, now {how.rubric_hash}): "
            "those judgements do not count; judge again with --grader MODEL"
        )
    if old.version != now.version:
        remarks.append(f"version {old.version} of the task is now {now.version}")
    if old.prompt_known and old.sent != sent:
        remarks.append(f"it had the prompts of an older version (sent:{old.sent}, now {sent})")
    origin = Origin(**{name: getattr(run, name) for name in Origin.__struct_fields__})
    settings = (each for each in run.settings if each[0] != _MARK[0])
    origin.settings = (*settings, _MARK)
    origin.notes = tuple(dict.fromkeys([*run.notes, *remarks]))
    return Rescored(run.sources[0], origin, now, run.created, how, rows.scored, remarks)


# ---------------------------------------------------------------------- files of other tools


def _of_answers(
    path: Path,
    task: str,
    model: str,
    columns: Mapping[str, str],
    tasks: dict[str, tuple[LoadedTask, Questions]],
) -> Iterator[Rescored]:
    groups: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for answer in read_answers(path, columns):
        groups[task or answer.task, model or answer.model or path.stem].append(answer)
    for (name, of_model), answers in groups.items():
        if not name:
            raise OptionError(
                f"{path} does not say which task its answers are for (line {answers[0].line}). "
                "Give --task NAME, such as --task hkmmlu; `hkcanto list` shows the names."
            )
        if name not in tasks:
            loaded = load_task(name)
            if not loaded.kind.is_generative:
                raise OptionError(
                    f"{name} compares log-likelihoods, but {path} has generated answers. Give the "
                    f"generative task: --task {loaded.task.definition.name}."
                )
            tasks[name] = loaded, Questions(loaded.samples, loaded.task.definition.letters)
        yield _of_task(path, of_model, answers, *tasks[name])


def _of_task(
    path: Path, model: str, answers: Sequence[Answer], loaded: LoadedTask, questions: Questions
) -> Rescored:
    answered = [answer for answer in answers if not answer.failure]
    matched, unmatched = _matched(path, answered, loaded, questions)
    failures = Counter(answer.failure for answer in answers if answer.failure)
    if not matched:
        raise LogError(f"{path}: all {len(answers):,} requests failed ({_listed(failures)}).")
    epochs, how = _epochs(path, matched), loaded.kind
    scored = []
    for answer, sample in matched:
        judged = how.judge(answer.response, sample, answer.reasoning)
        more: dict[str, Any] = {"reasoning": answer.reasoning}
        if answer.finish:
            more["truncated"] = float(answer.finish in _CUT)
        scored.append(Scored(sample, judged, None, answer.response, more))
    distinct, total = {sample.id for _, sample in matched}, len(loaded.samples)
    beginning = {sample.id for sample in loaded.samples[: len(distinct)]}
    remarks = []
    if failures:
        named = _listed(failures)
        remarks.append(f"{failures.total():,} requests failed ({named}) and are left out")
    if unmatched:
        remarks.append(f"{unmatched} and are left out")
    if empty := sum(not answer.response.strip() for answer, _ in matched):
        remarks.append(f"{empty:,} answers are empty")
    if cut := sum(answer.finish in _CUT for answer, _ in matched):
        remarks.append(f"{cut:,} answers were cut off at the token limit (finish_reason)")
    if epochs > 1:
        remarks.append(f"{epochs} answers to each item count as epochs")
    if len(distinct) < total:
        remarks.append(f"it has {len(distinct):,} of the task's {total:,} items")
    origin = Origin(
        model=model,
        harness="other",
        backend=UNKNOWN,
        version_of_harness=UNKNOWN,
        settings=(_MARK,),
        sent=Sent(repeats=epochs),
        notes=tuple(remarks),
        status="incomplete" if failures else "success",
        limited=len(distinct) < total,
        picked=distinct != beginning,
        available=total,
    )
    created = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return Rescored(path, origin, _unknown(loaded), created, how, scored, remarks)


def _matched(
    path: Path, answers: Sequence[Answer], loaded: LoadedTask, questions: Questions
) -> tuple[list[tuple[Answer, Sample]], str]:
    """Return the answers with their items, and how many match none and why; empty if all do.

    Raises:
        LogError: Too many match no item, or the ids count from another number.
    """
    matched, unmatched = list[tuple[Answer, Sample]](), list[str]()
    for answer in answers:
        sample = questions.find(answer)
        if isinstance(sample, Sample):
            matched.append((answer, sample))
            continue
        unmatched.append(f"line {answer.line}: {sample}")
        if questions.counted_from_0(answer.id):
            raise LogError(
                f"{path}, line {answer.line}: the id {answer.id!r} counts from 0, but ids of "
                f"{loaded.task.name} count from 1: every answer would go to the item before its "
                "own. Correct the ids, or leave them out and give the questions."
            )
    name = loaded.task.name
    listed = f"{len(unmatched):,} of {len(answers):,} answers match no item of {name}"
    reasons = "; ".join(unmatched[:_NAMED])
    if len(unmatched) > MOST_UNMATCHED * len(answers):
        raise LogError(
            f"{path}: {listed} (data {loaded.revision}): {reasons}. At most {MOST_UNMATCHED:.0%} "
            "may be unmatched. If the file is for another task, give it: --task NAME. It may also "
            "be for another script or release."
        )
    return matched, f"{listed}: {reasons}" if unmatched else ""


def _listed(failures: Counter[str]) -> str:
    return ", ".join(f"{failure}: {count:,}" for failure, count in failures.most_common(_NAMED))


def _epochs(path: Path, matched: Sequence[tuple[Answer, Sample]]) -> int:
    """Return the number of answers to each item.

    Raises:
        LogError: The number differs between items.
    """
    lines: dict[str, list[int]] = defaultdict(list)
    for answer, sample in matched:
        lines[sample.id].append(answer.line)
    counts = Counter(map(len, lines.values()))
    if len(counts) > 1:
        name = max(lines, key=lambda each: len(lines[each]))
        raise LogError(
            f"{path}: lines {', '.join(map(str, lines[name][:5]))} all answer {name}, but other "
            "items have fewer answers. Give one answer to each item, or the same number to all "
            "(epochs)."
        )
    return next(iter(counts))


def _unknown(loaded: LoadedTask) -> Signature:
    """Return the signature of answers whose prompt and decoding were not logged."""
    signed = loaded.kind.at(subjects=loaded.asked).signature(loaded.revision)
    options = {name: UNKNOWN if name in _OF_PROMPT else text for name, text in signed.options}
    options |= {"turns": UNKNOWN, "decoding": UNKNOWN, _MARK[0]: _MARK[1]}
    return replace(signed, shots=None, sent=UNKNOWN, options=tuple(options.items()))


# ---------------------------------------------------------------------- writing


def files_of(runs: Sequence[Rescored], folder: Path) -> dict[str, str]:
    """Return the logs of runs by their paths in a folder.

    Raises:
        OptionError: A new log would replace one that was read.
    """
    files: dict[str, str] = {}
    for run in runs:
        home = re.sub(r"[^\w.@+-]+", "__", run.origin.model).strip("._") or "model"
        stamp = f"{run.created:%Y-%m-%dT%H-%M-%S.%f}"
        stems = (f"{stamp}-rescored{number}" for number in ("", *range(2, len(runs) + 2)))
        stem = next(each for each in stems if f"{home}/results_{each}.json" not in files)
        files |= {f"{home}/{name}": text for name, text in run.files(stem).items()}
    for source in {run.source for run in runs}:
        if any((folder / name).resolve() == source.resolve() for name in files):
            raise OptionError(
                f"{source} would be replaced by its own rescored log: give another folder by -o."
            )
    return files
