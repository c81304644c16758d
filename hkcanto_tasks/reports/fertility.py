"""Tokenizer fertility: tokens per character on each benchmark (TMMLU+, Section 3.5.3).

Counted are the scored questions as a model sees them: each with its options and the words that the
prompt puts around them (問題：, 答案：), without the instruction in front, worked examples, a chat
template or special tokens. Fertility is all tokens over all characters, blanks and line breaks
included: a ratio of sums, not a mean of ratios.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hkcanto_metrics.script import is_han

from ..catalogue import benchmarks as all_benchmarks
from ..catalogue import find_benchmark, find_task
from ..errors import HKCantoError, NetworkUnavailable, OptionError
from ..task import load_task
from .analyses.presentation import cell, chart, headline, legend, task_title
from .blocks import Block, Cell, Chart, Column, Note, Row, Section, Table
from .evaluations import Evaluation
from .figures import Figure
from .published import published_tables

_BATCH = 1024
_TIMEOUT = 10.0  # seconds
_LONGEST_REASON = 300
_TIKTOKEN = "tiktoken:"
_FERTILITY = "Fertility"  # the column of TMMLU+'s Table 6


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A tokenizer, for counting; called with a text, it returns the text's number of tokens.

    Attributes:
        name: What it was loaded from.
        count: Texts → the number of tokens of each, without special tokens.
    """

    name: str
    count: Callable[[Sequence[str]], Sequence[int]]

    def __call__(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self.count([text])[0]


@dataclass(frozen=True, slots=True)
class FertilityRow:
    """How a tokenizer cuts the questions of a task.

    Attributes:
        tokenizer: What a report calls it: the model's label if one was given.
        benchmark: The benchmark's short name.
        task: The task's name in lm-eval.
        data: Which data: a pinned revision, `sample`, or `local-…`.
        questions: Number of questions.
        tokens: Tokens of all of them.
        characters: Their characters, blanks and line breaks included.
        chinese: Their Chinese characters, each as often as it occurs.
        split: How many of these need more than one token by themselves, such as one for each byte.
    """

    tokenizer: str
    benchmark: str
    task: str
    data: str
    questions: int
    tokens: int
    characters: int
    chinese: int
    split: int

    @property
    def fertility(self) -> float:
        """Tokens per character."""
        return self.tokens / self.characters

    @property
    def fertility_as_published(self) -> float:
        """All tokens over the Chinese characters alone.

        TMMLU+ does not say what its Table 6 divides by. This comes nearest: on its economics
        questions 1.41 for Qwen-7B (published: 1.40) and 2.08 for Mistral-7B (2.23), where tokens
        over all characters are 0.78 and 1.16.
        """
        return self.tokens / self.chinese if self.chinese else float("nan")

    @property
    def split_share(self) -> float | None:
        """Share of the Chinese characters that need more than one token; None without any."""
        return self.split / self.chinese if self.chinese else None


def load_tokenizer(name: str) -> Tokenizer:
    """Load a tokenizer.

    Args:
        name: A `tokenizer.json` file, or a folder with one (needs `tokenizers`);
            `tiktoken:<encoding>`, such as `tiktoken:o200k_base` (needs `tiktoken`); else a folder
            or an id of the Hugging Face hub (needs `transformers`). Code that comes with a
            tokenizer is never run.

    Raises:
        OptionError: What loads it is not installed, or there is no such tokenizer.
        NetworkUnavailable: It has to be downloaded and cannot be.

    Example:
        >>> load_tokenizer("tokenizers/none.json")
        Traceback (most recent call last):
        hkcanto_tasks.errors.OptionError: tokenizers/none.json: there is no such file.
    """
    if name.startswith(_TIKTOKEN):
        return Tokenizer(name, _tiktoken(name.removeprefix(_TIKTOKEN)))
    path = Path(name).expanduser()
    if path.suffix == ".json" or (path / "tokenizer.json").is_file():
        file = path / "tokenizer.json" if path.is_dir() else path
        if not file.is_file():
            raise OptionError(f"{name}: there is no such file.")
        return Tokenizer(name, _tokenizer_json(file))
    return Tokenizer(name, _transformers(name, path))


def fertility(
    tokenizers: Mapping[str, Tokenizer], benchmarks: Sequence[str] | None = None
) -> Sequence[FertilityRow]:
    """Count the tokens of the benchmarks' questions.

    Args:
        tokenizers: What a report calls it → the tokenizer.
        benchmarks: Short names of benchmarks or names of tasks; all benchmarks without it.

    Returns:
        A row for each tokenizer and task of which there is data.

    Raises:
        HKCantoError: There is no such benchmark, or its data is not there.

    Example:
        >>> characters = Tokenizer("characters", lambda texts: [len(text) for text in texts])
        >>> [row.fertility for row in fertility({"characters": characters}, ["tmmluplus"])]
        [1.0]
    """
    rows = []
    for benchmark, task in _tasks(benchmarks):
        loaded = load_task(task, allow_absent=True)
        questions = [sample.question for sample in loaded.samples]
        if not questions:
            continue
        chinese = Counter(character for text in questions for character in filter(is_han, text))
        for name, tokenizer in tokenizers.items():
            alone = _alone(tokenizer, list(chinese))
            rows.append(
                FertilityRow(
                    tokenizer=name,
                    benchmark=benchmark,
                    task=task,
                    data=loaded.revision,
                    questions=len(questions),
                    tokens=sum(tokenizer.count(questions)),
                    characters=sum(map(len, questions)),
                    chinese=chinese.total(),
                    split=sum(n for each, n in chinese.items() if alone[each] > 1),
                )
            )
    return rows


def sections(
    rows: Sequence[FertilityRow], evaluations: Sequence[Evaluation] = ()
) -> Sequence[Section]:
    """Return a section on fertility, and beside it accuracy.

    Args:
        rows: What was counted.
        evaluations: Runs. One whose label is the name of a tokenizer is shown against the fertility
            of that tokenizer on the task's questions.
    """
    if not rows:
        return []
    blocks: list[Block] = [_table(rows)]
    for task in dict.fromkeys(row.task for row in rows):
        of_task = [row for row in rows if row.task == task]
        points = _points(of_task, evaluations)
        if any(point.accuracy for point in points):
            title = f"Fertility and accuracy: {find_task(task).entry.title}"
            unit = _unit(points)
            blocks += [_chart(title, points, unit), _accuracy_table(title, points, unit, task)]
    if evaluations and len(blocks) == 1:
        names = ", ".join(dict.fromkeys(row.tokenizer for row in rows))
        labels = ", ".join(dict.fromkeys(each.label for each in evaluations))
        blocks.append(
            Note(
                f"No run on the same questions has the name of a tokenizer ({names}): the runs are "
                f"called {labels}. Write NAME=TOKENIZER to see a run's accuracy beside it."
            )
        )
    return [Section("Tokenizer fertility", blocks, name="fertility", is_summary=True)]


@dataclass(frozen=True, slots=True)
class _Point:
    """A tokenizer's fertility, and the accuracy of a model that uses it, if that is known."""

    model: str
    run: str
    kind: Literal["run", "published"]
    fertility: float
    accuracy: Figure | None = None


def _points(rows: Sequence[FertilityRow], evaluations: Sequence[Evaluation]) -> list[_Point]:
    published = _published(rows[0])
    points = []
    for row in rows:
        ratio = row.fertility_as_published if published else row.fertility
        runs = [
            _Point(row.tokenizer, task_title(each), "run", ratio, headline(each))
            for each in evaluations
            if each.label == row.tokenizer and _same_questions(row, each)
        ]
        points += runs or [_Point(row.tokenizer, "no run", "run", ratio)]
    return points + published


def _unit(points: Sequence[_Point]) -> str:
    beside_published = any(point.kind == "published" for point in points)
    return "tokens per Chinese character" if beside_published else "tokens per character"


def _same_questions(row: FertilityRow, evaluation: Evaluation) -> bool:
    task, named = find_task(row.task), evaluation.named
    return (
        evaluation.headline.averages == "acc"
        and (row.data == "sample") == evaluation.is_sample
        and (task.entry.name, task.subjects) == (named.entry.name, named.subjects)
        and task.variant.script == named.variant.script
    )


def _published(row: FertilityRow) -> list[_Point]:
    """The models of TMMLU+'s Table 6; none beside sample data, which is comparable with nothing."""
    if row.data == "sample":
        return []
    return [
        _Point(each.model, table.source, "published", of_tokenizer, Figure(accuracy, None, None, 0))
        for table in published_tables()
        if any(column.name == _FERTILITY for column in table.columns)
        and row.task in table.column(table.headline).tasks
        for each in table.rows
        if (of_tokenizer := each.values[_FERTILITY]) is not None
        and (accuracy := each.values[table.headline]) is not None
    ]


def _chart(title: str, points: Sequence[_Point], unit: str) -> Chart:
    import altair as alt

    values = [
        {
            "model": point.model,
            "run": point.run,
            "whose": "published" if point.kind == "published" else point.model,
            "fertility": round(point.fertility, 4),
            "accuracy": None if point.accuracy is None else round(point.accuracy.value, 4),
        }
        for point in points
    ]
    whose = list(dict.fromkeys(str(value["whose"]) for value in values))
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("fertility:Q", title=unit, scale=alt.Scale(zero=False)),
        color=alt.Color("whose:N", sort=whose, title=None, legend=legend(whose)),
        tooltip=[
            "model:N",
            "run:N",
            alt.Tooltip("fertility:Q", format=".2f"),
            alt.Tooltip("accuracy:Q", format=".1%"),
        ],
    )
    dots = base.transform_filter("isValid(datum.accuracy)").mark_point(filled=True, size=70)
    rules = base.transform_filter("!isValid(datum.accuracy)").mark_rule(strokeDash=[4, 4])
    vertical = alt.Y("accuracy:Q", axis=alt.Axis(format="~%"), scale=alt.Scale(zero=False))
    return Chart(
        title,
        chart(alt.layer(dots.encode(y=vertical), rules), height=280),
        "A dot for each model: to the right its tokenizer needs more tokens for a character, and "
        "higher up it is more accurate. A dashed line is a tokenizer without a run. The table "
        "below has the values.",
    )


def _accuracy_table(title: str, points: Sequence[_Point], unit: str, task: str) -> Table:
    caption = "Fertility is of the questions of this task."
    if any(point.kind == "published" for point in points):
        caption += (
            " The paper finds a Pearson correlation of -0.67 over the models of its Table 6. It "
            "does not say what it divides the tokens by; the number of Chinese characters comes "
            "nearest to its figures, so yours are shown over that here, and may be off by a tenth."
        )
    return Table(
        title,
        [
            Column("Model"),
            Column("Run"),
            Column(unit, "number", lower_is_better=True),
            Column("Accuracy", "percent"),
        ],
        [
            Row(
                [Cell(point.model), Cell(point.run), Cell(point.fertility), cell(point.accuracy)],
                kind=point.kind,
            )
            for point in points
        ],
        caption,
        name=f"fertility_{task}",
    )


def _tasks(names: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    """(Benchmark, task) for names of either; without names, all."""
    known = [benchmark.name for benchmark in all_benchmarks()]
    for name in known if names is None else names:
        if name in known:
            yield from ((name, task.name) for task in find_benchmark(name).tasks)
        else:
            task = find_task(name)
            yield task.benchmark.name, task.name


def _alone(tokenizer: Tokenizer, characters: Sequence[str]) -> Mapping[str, int]:
    """Tokens of each character by itself, after a line break: alone, some tokenizers would put a
    blank in front of it."""
    (line_break,) = tokenizer.count(["\n"])
    counts = tokenizer.count([f"\n{character}" for character in characters])
    return {each: count - line_break for each, count in zip(characters, counts, strict=True)}


def _tokenizer_json(file: Path) -> Callable[[Sequence[str]], Sequence[int]]:
    try:
        from tokenizers import Tokenizer as Loaded
    except ImportError as error:
        raise OptionError(f"{file} needs tokenizers: pip install tokenizers.") from error
    try:
        loaded = Loaded.from_file(str(file))
    except Exception as error:  # the library raises a plain Exception
        raise OptionError(f"{file} is no tokenizer of the library tokenizers: {error}.") from error
    loaded.no_truncation()
    loaded.no_padding()

    def count(texts: Sequence[str]) -> Sequence[int]:
        encoded = loaded.encode_batch_fast(texts, add_special_tokens=False)
        return [len(each.ids) for each in encoded]

    return _in_batches(count)


def _transformers(name: str, path: Path) -> Callable[[Sequence[str]], Sequence[int]]:
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise OptionError(
            f"{name}: no such file or folder with a tokenizer.json, and a tokenizer of the hub "
            "needs transformers: pip install transformers."
        ) from error
    try:
        if path.is_dir():
            loaded = AutoTokenizer.from_pretrained(str(path), local_files_only=True)
        else:
            loaded = _from_hub(name)
    except Exception as error:  # OSError, ValueError or an HTTP library's, as the case may be
        raise _not_loaded(name, path, error) from error

    def count(texts: Sequence[str]) -> Sequence[int]:
        encoded = loaded(list(texts), add_special_tokens=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

    return _in_batches(count)


def _from_hub(name: str) -> Any:
    from huggingface_hub import HfApi
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(name, local_files_only=True)
    except (OSError, ValueError):
        # This one request is not tried again and again, which takes a minute without a network.
        HfApi().model_info(name, timeout=_TIMEOUT)
        return AutoTokenizer.from_pretrained(name)


def _not_loaded(name: str, path: Path, error: Exception) -> HKCantoError:
    reason = f"{type(error).__name__}: {' '.join(str(error).split())[:_LONGEST_REASON]}"
    if path.is_dir():
        return OptionError(f"{name}: transformers cannot load a tokenizer from it: {reason}")
    return NetworkUnavailable(
        f"{name}: no tokenizer in this folder, and the hub has none or cannot be reached: {reason}"
        "\nCorrect the name, give a folder or a tokenizer.json file instead, unset HF_HUB_OFFLINE, "
        "set HF_ENDPOINT to a mirror, or HF_TOKEN for a gated model."
    )


def _tiktoken(name: str) -> Callable[[Sequence[str]], Sequence[int]]:
    try:
        import tiktoken
    except ImportError as error:
        raise OptionError(f"{_TIKTOKEN}{name} needs tiktoken: pip install tiktoken.") from error
    if name not in tiktoken.list_encoding_names():
        known = ", ".join(tiktoken.list_encoding_names())
        raise OptionError(f"tiktoken has no encoding {name!r}; there are {known}.")
    try:
        encoding = tiktoken.get_encoding(name)
    except Exception as error:  # of requests
        raise NetworkUnavailable(
            f"{_TIKTOKEN}{name} has to be downloaded and cannot be: {type(error).__name__}: {error}"
            "\nSet TIKTOKEN_CACHE_DIR to a folder that has it, or HTTPS_PROXY."
        ) from error

    def count(texts: Sequence[str]) -> Sequence[int]:
        return [len(ids) for ids in encoding.encode_ordinary_batch(list(texts))]

    return _in_batches(count)


def _in_batches(
    count: Callable[[Sequence[str]], Sequence[int]],
) -> Callable[[Sequence[str]], Sequence[int]]:
    """Bound the memory, and replace lone surrogates, which no tokenizer can encode."""

    def batched(texts: Sequence[str]) -> Sequence[int]:
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        parts = (clean[start : start + _BATCH] for start in range(0, len(clean), _BATCH))
        return [number for part in parts for number in count(part)]

    return batched


def _table(rows: Sequence[FertilityRow]) -> Table:
    return Table(
        "Tokens per character",
        [
            Column("Tokenizer"),
            Column("Task"),
            Column("Tokens per character", "number", "All tokens over all characters.", True),
            Column(
                "Split characters",
                "percent",
                "Chinese characters, as often as they occur, that need more than one token by "
                "themselves, such as one for each of their bytes.",
                True,
            ),
            Column("Tokens", "count"),
            Column("Characters", "count"),
            Column("Questions", "count"),
            Column("Data"),
        ],
        [
            Row(
                [
                    Cell(row.tokenizer),
                    Cell(find_task(row.task).entry.title),
                    Cell(row.fertility),
                    Cell(row.split_share),
                    Cell(row.tokens),
                    Cell(row.characters),
                    Cell(row.questions),
                    Cell(row.data),
                ],
                kind="run",
            )
            for row in rows
        ],
        "Counted are the scored questions with their options and the words that the prompt puts "
        "around them; not the instruction in front, worked examples, a chat template or special "
        "tokens. Characters include blanks and line breaks (TMMLU+, Section 3.5.3).",
        name="fertility",
    )
