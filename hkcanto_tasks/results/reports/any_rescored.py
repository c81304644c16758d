"""Read the responses of any multiple-choice log again, for `hkcanto rescore --any`.

The score as logged is compared with the score by our reader, and each response for which they
differ, or that nobody could read, is counted by what happened to it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from string import ascii_uppercase
from textwrap import shorten
from typing import Any, NamedTuple

from hkcanto_metrics.choice import ChoiceReading, read_choice
from hkcanto_metrics.reasoning import response_as_text, split_reasoning

from ...errors import DOCS, ComparisonError, LogError
from ..logs import logs_in
from ..logs.items import UNREADABLE, reason
from ..rescoring.answers import cell_at
from ..statistics.matching import Resampling
from .any_logs import (
    AnyLog,
    AnyResponse,
    inspect_samples,
    inspect_values,
    lm_eval_tasks,
    numbers_of,
    report_of_tests,
    rows_of,
    tests_of,
)
from .blocks import Block, Note, Report, Section, TableColumn, table

_FIGURE = "accuracy"
_SIDES = ("as logged", "read again")
_LETTERS = ascii_uppercase[:10]
_TARGETS = ("answer", "answerKey", "Answer", "answer_index", "label")
_QUESTIONS = ("question", "Question", "problem", "input")
_FATES = {
    "misread": "The harness read another letter than we do, and the score differs.",
    "unread by harness": "The harness read no letter; we do, and the score differs.",
    "cut off": "The response ended at a limit before it had an answer.",
    "refused": "The model refused.",
    "empty": "The response is empty.",
    "failed": "The request failed.",
    "undecided": "Neither letter nor option is chosen.",
}
_FATE_OF_REASON = {
    "none: cut off": "cut off",
    "none: refusal": "refused",
    "none: empty": "empty",
}
_UNUSABLE = "have no choices A to J with one answer"
_MOST_UNUSABLE = 0.05
_LONGEST = 400  # characters of a response that is shown
_HOW = (
    "The harness's score of each item is that of its log. Ours is the letter that the response "
    f"settles on; see {DOCS}/extraction.md."
)


class _Item(NamedTuple):
    """A response with its question.

    Attributes:
        id: The item's id.
        question: The question, if known.
        options: Letter → option.
        target: The right letter.
        response: The text that the model wrote; None if the request failed.
        is_cut: Whether the response ended at a length limit, by the log.
        logged: The harness's score; None without one.
        harness_answer: The text that the harness took for the answer.
    """

    id: str
    question: str
    options: Mapping[str, str]
    target: str
    response: str | None
    is_cut: bool
    logged: float | None
    harness_answer: str

    @property
    def harness_letter(self) -> str:
        """The letter that the harness read; empty if it read none."""
        return letter_of(self.harness_answer, self.options)


class _Reread(NamedTuple):
    """An item with our reading, and what became of the response; empty if the scores agree."""

    item: _Item
    reading: ChoiceReading
    fate: str

    @property
    def score(self) -> float | None:
        """Our score; None if the request failed."""
        if self.item.response is None:
            return None
        return float(self.reading.letter == self.item.target)


def rescore_any(
    paths: Sequence[Path],
    shown: int,
    *columns: str,
) -> Report:
    """Read the responses of logs of any multiple-choice tasks again.

    Args:
        paths: Logs of either harness, or folders.
        shown: The number of responses to show for each task.
        columns: The columns of the choices and of the answer in lm-eval's documents, if they are
            not found by their names.

    Raises:
        LogError: Nothing can be read again; the message says why.
    """
    tasks, problems = _reread_tasks(paths, columns)
    if not tasks:
        lines = "\n".join(problems) or "no log of lm-eval or Inspect"
        raise LogError(f"nothing to read again: {lines}")
    resampling = Resampling()
    logged = {name: _log(name, tasks[name], is_ours=False) for name in tasks}
    ours = {name: _log(name, tasks[name], is_ours=True) for name in tasks}
    try:
        tests, remarks = tests_of(
            logged,
            ours,
            _FIGURE,
            resampling,
        )
    except ComparisonError as error:
        raise LogError(str(error)) from error
    fates = [_fates_table(tasks), Note(_HOW)]
    examples = [*_examples(tasks, shown)]
    return report_of_tests(
        tests,
        _SIDES,
        [*problems, *remarks],
        resampling,
        "Responses read again",
        [
            Section(
                "Where the points went",
                fates,
                "fates",
                is_summary=True,
            ),
            Section(
                "Responses",
                examples,
                "responses",
                is_summary=True,
            ),
        ],
    )


def _reread_tasks(
    paths: Sequence[Path],
    columns: Sequence[str],
) -> tuple[dict[str, list[_Reread]], list[str]]:
    """Return the responses of each task, read again, and what is left out."""
    tasks: dict[str, list[_Reread]] = {}
    problems: list[str] = []
    for path in paths:
        for file in [path] if path.is_file() else logs_in(path):
            try:
                for name, items in _tasks_of(file, *columns):
                    key = name if name not in tasks else f"{name} ({file.name})"
                    usable = [item for item in items if item]
                    tasks[key] = [*map(_reread, usable)]
                    if len(usable) < len(items):
                        count = len(items) - len(usable)
                        problems.append(
                            f"{key}: {count:,} items {_UNUSABLE}; left out."
                        )
            except UNREADABLE as error:
                problems.append(f"{file} is left out: {reason(error)}.")
    return tasks, problems


def _log(
    name: str,
    answers: Sequence[_Reread],
    *,
    is_ours: bool,
) -> AnyLog:
    """Return the harness's scores of a task as a log, or ours."""
    responses = []
    for position, answer in enumerate(answers):
        score = answer.score if is_ours else answer.item.logged
        values = {} if score is None else {_FIGURE: score}
        responses.append(
            AnyResponse(
                answer.item.id,
                str(position),
                "",
                values,
            )
        )
    return AnyLog(
        name,
        Path(),
        responses,
        {},
        {},
        {_FIGURE: True},
    )


def _fates_table(tasks: Mapping[str, Sequence[_Reread]]) -> Block:
    """Return the number of responses of each fate by task, with the points that they cost."""
    columns: list[Any] = [
        (TableColumn("Task"), lambda row: row[0]),
        (TableColumn("Items", "count"), lambda row: len(row[1])),
    ]
    for fate, about in _FATES.items():
        column = TableColumn(fate.capitalize(), "count", about)
        columns.append((column, partial(_count, fate)))
    return table(
        "fates", "Responses whose score differs or is lost", tasks.items(), columns
    )


def _count(fate: str, row: tuple[str, Sequence[_Reread]]) -> int | None:
    return sum(answer.fate == fate for answer in row[1]) or None


def _examples(tasks: Mapping[str, Sequence[_Reread]], shown: int) -> Iterator[Note]:
    """Yield the first responses of each task whose score differs or is lost, by their fate."""
    for task, answers in tasks.items():
        changed = [answer for answer in answers if answer.fate]
        changed.sort(key=lambda answer: [*_FATES].index(answer.fate))
        for answer in changed[:shown]:
            yield _example(task, answer)


def _example(task: str, answer: _Reread) -> Note:
    item = answer.item
    text = item.response or ""
    return Note(
        f"{task}, {item.id}, {answer.fate}: target {item.target}, harness read "
        f"{item.harness_answer[:40]!r}, we read {answer.reading.letter or 'none'} "
        f"({answer.reading.reason}): {shorten(text[::-1], _LONGEST, placeholder='…')[::-1]}"
    )


# ---------------------------------------------------------------------- reading again


def _reread(item: _Item) -> _Reread:
    """Read a response again.

    Raises:
        LogError: The harness's point is for another letter than the target.
    """
    letter = item.harness_letter
    if letter and item.logged in (0, 1) and item.logged != (letter == item.target):
        raise LogError(
            f"item {item.id} has {item.logged:g} points for {letter}, but its target would be "
            f"{item.target}: name the columns with --choices and --answer"
        )
    split = split_reasoning(item.response)
    reading = read_choice(split.answer, item.options, item.question)
    if not split.finished and not reading.letter:
        reading = ChoiceReading(None, "none: cut off")
    return _Reread(item, reading, _fate(item, reading))


def _fate(item: _Item, reading: ChoiceReading) -> str:
    """Return what became of a response; empty if both scores agree."""
    if item.response is None:
        return "failed"
    if reading.letter is None:
        fate = _FATE_OF_REASON.get(reading.reason, "undecided")
        return "cut off" if item.is_cut and fate == "undecided" else fate
    if item.logged == (reading.letter == item.target):
        return ""
    return "misread" if item.harness_letter else "unread by harness"


def letter_of(value: Any, options: Mapping[str, str]) -> str:
    """Return the letter that a value names; empty if it names none, or several.

    Examples:
        >>> [letter_of(value, {"A": "3", "B": "0"}) for value in ("(b)", "3", 1, 0, "C")]
        ['B', 'A', 'B', '', '']
    """
    text = str(value).strip()
    letters = [letter for letter, option in options.items() if option.strip() == text]
    letter = text.strip("().: ").upper()
    if letter in options:
        letters.append(letter)
    if isinstance(value, int) and 0 <= value < len(options):
        letters.append([*options][value])
    return letters[0] if len({*letters}) == 1 else ""


# ---------------------------------------------------------------------- logs


def _tasks_of(
    file: Path,
    *columns: str,
) -> Iterator[tuple[str, Sequence[_Item | None]]]:
    """Yield the tasks of a log with their items; of lm-eval, for each of its filters."""
    if not file.name.startswith("results_"):
        head, samples = inspect_samples(file)
        yield head.eval.task, _mostly_usable([*map(_item_of_sample, samples)], "")
        return
    for head, task, path in lm_eval_tasks(file):
        if head["configs"][task].get("output_type") != "generate_until":
            raise LogError(f"{task} compares log-likelihoods: there is no text to read")
        filters: dict[str, list[_Item | None]] = defaultdict(list)
        names = ""
        for row in rows_of(path):
            filters[row.get("filter", "none")].append(_item_of_row(row, *columns))
            names = ", ".join(row["doc"])
        advice = f"; declare them: --choices COLUMN --answer COLUMN (it has {names})"
        for name, items in filters.items():
            title = task if len(filters) == 1 else f"{task}, {name}"
            yield title, _mostly_usable(items, advice)


def _mostly_usable(
    items: Sequence[_Item | None], advice: str
) -> Sequence[_Item | None]:
    """Return the items of a task, if nearly all are usable.

    Raises:
        LogError: More than a few are not.
    """
    count = items.count(None)
    if not items or count > _MOST_UNUSABLE * len(items):
        raise LogError(f"{count:,} of {len(items):,} items {_UNUSABLE}{advice}")
    return items


def _item_of_sample(sample: Mapping[str, Any]) -> _Item | None:
    """Return an item of Inspect; None unless it has choices and one target among them."""
    choices = sample.get("choices") or ()
    options = dict(zip(_LETTERS, choices, strict=False))
    target = letter_of(only_one(sample["target"]), options)
    if len(options) != len(choices) or not target:
        return None
    output = _output_of(sample)
    content = output.get("message", {}).get("content", "")
    question = sample["input"]
    if isinstance(question, list):
        question = question[-1].get("content", "")
    values = inspect_values(sample)
    scorer = next(iter(values), "")
    score = (sample.get("scores") or {}).get(scorer) or {}
    return _Item(
        id=str(sample["id"]),
        question=response_as_text(question),
        options=options,
        target=target,
        response=response_as_text(content) if output else None,
        is_cut=output.get("stop_reason") in ("max_tokens", "model_length"),
        logged=values.get(scorer),
        harness_answer=str(score.get("answer") or ""),
    )


def _output_of(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first choice of a sample's output; empty if the request failed."""
    choices = (sample.get("output") or {}).get("choices")
    if sample.get("error") or not choices:
        return {}
    return choices[0] or {}


def _item_of_row(
    row: Mapping[str, Any],
    choices: str = "",
    answer: str = "",
) -> _Item | None:
    """Return an item of lm-eval; None unless it has choices and one target among them."""
    doc = row["doc"]
    options = _options_of_doc(doc, choices)
    targets = [row.get("target"), *map(doc.get, _TARGETS)]
    if answer:
        targets = [cell_at(doc, answer)]
    letters = {letter_of(target, options) for target in targets} - {""}
    if len(letters) != 1:
        return None
    response = only_one(row["resps"])
    values = numbers_of({name: row.get(name) for name in row.get("metrics", ())})
    questions = filter(None, map(doc.get, _QUESTIONS))
    return _Item(
        id=str(row["doc_id"]),
        question=str(next(questions, "")),
        options=options,
        target=letters.pop(),
        response=response if isinstance(response, str) else None,
        is_cut=False,
        logged=next(iter(values.values()), None),
        harness_answer=str(only_one(row["filtered_resps"])),
    )


def only_one(logged: Any) -> Any:
    """Return the only value in nested lists."""
    while isinstance(logged, list) and logged:
        if len(logged) > 1:
            raise LogError("an item has several responses or targets")
        logged = logged[0]
    return logged


def _options_of_doc(doc: Mapping[str, Any], declared: str) -> dict[str, str]:
    """Return the options of a document; empty if it has none by a known name."""
    if declared:
        names = [tuple(declared.split(","))]
    else:
        letters = takewhile(doc.get, _LETTERS)
        numbered = takewhile(doc.get, map("choice{}".format, range(1, 11)))
        names = [("choices",), ("options",), tuple(letters), tuple(numbered)]
    for columns in names:
        cells = [cell_at(doc, column) for column in columns]
        options = _options_of_cells(cells)
        if options and {*options} <= {*_LETTERS}:
            return {letter: str(text) for letter, text in options.items()}
    return {}


def _options_of_cells(cells: Sequence[Any]) -> dict[str, Any]:
    """Return the options by letter: in a cell each, in a list, or in an object with labels."""
    choices = cells[0] if len(cells) == 1 else cells
    if isinstance(choices, dict) and "text" in choices:
        return dict(zip(choices["label"], choices["text"], strict=False))
    if isinstance(choices, list):
        return dict(zip(_LETTERS, choices, strict=False))
    return choices if isinstance(choices, dict) else {}
