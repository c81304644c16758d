"""Tokenizer fertility: tokens per character on each benchmark (TMMLU+, Section 3.5.3).

Counted are the scored questions as a model sees them: all tokens over all characters, a ratio of
sums, not a mean of ratios.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path

from hkcanto_metrics.script import is_han

from ..catalogue import benchmarks as all_benchmarks
from ..catalogue import find_benchmark, find_task
from ..errors import NetworkUnavailable, OptionError
from ..task import load_task
from .blocks import Column, Section, Table, Value, table

_BATCH, _TIMEOUT, _LONGEST_REASON = 1024, 10.0, 300  # texts, seconds, characters
_TIKTOKEN = "tiktoken:"
_Count = Callable[[Sequence[str]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A tokenizer, for counting: `count` returns the tokens of each text, without special ones."""

    name: str
    count: _Count

    def __call__(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self.count([text])[0]


@dataclass(frozen=True, slots=True)
class FertilityRow:
    """How a tokenizer cuts the questions of a task, or of a benchmark, which has no `task`.

    `characters` are with blanks and line breaks; `chinese` are the Chinese ones among them, and
    `split` those of these that need more than one token, such as one for each of their bytes.
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
    def split_share(self) -> float | None:
        """Share of the Chinese characters that need more than one token; None without any."""
        return self.split / self.chinese if self.chinese else None


def load_tokenizer(name: str) -> Tokenizer:
    """Load a tokenizer; code that comes with one is never run.

    Args:
        name: A `tokenizer.json` file, or a folder with one (needs `tokenizers`);
            `tiktoken:<encoding>`, such as `tiktoken:o200k_base` (needs `tiktoken`); else a folder
            or an id of the Hugging Face hub (needs `transformers`).

    Raises:
        OptionError: What loads it is not installed, or there is no such tokenizer.
        NetworkUnavailable: It has to be downloaded and cannot be.
    """
    path = Path(name).expanduser()
    is_file = path.suffix == ".json" or (path / "tokenizer.json").is_file()
    other = "tokenizers" if is_file else "transformers"
    package = "tiktoken" if name.startswith(_TIKTOKEN) else other
    try:
        count = _LOADERS[package](name, path)
    except ImportError as error:
        raise OptionError(f"{name} needs {package}: pip install {package}.") from error

    def batched(texts: Sequence[str]) -> Sequence[int]:
        # Batches bound the memory; no tokenizer can encode lone surrogates.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        parts = (clean[start : start + _BATCH] for start in range(0, len(clean), _BATCH))
        return [number for part in parts for number in count(part)]

    return Tokenizer(name, batched)


def fertility(
    tokenizers: Mapping[str, Tokenizer], benchmarks: Sequence[str] | None = None
) -> Sequence[FertilityRow]:
    """Count the tokens of the questions of each task of which there is data, by each tokenizer.

    Args:
        tokenizers: What a report calls it → the tokenizer.
        benchmarks: Names of benchmarks or of tasks; all benchmarks without it.

    Example:
        >>> characters = Tokenizer("characters", lambda texts: [len(text) for text in texts])
        >>> [row.fertility for row in fertility({"characters": characters}, ["tmmluplus"])]
        [1.0]
    """
    rows = []
    for benchmark, task in dict.fromkeys(_tasks(benchmarks)):
        loaded = load_task(task, allow_absent=True)
        texts = [sample.question for sample in loaded.samples]
        chinese = Counter(character for text in texts for character in filter(is_han, text))
        for name, tokenizer in tokenizers.items() if texts else ():
            tokens, alone = sum(tokenizer.count(texts)), _alone(tokenizer, list(chinese))
            split = sum(n for each, n in chinese.items() if alone[each] > 1)
            counts = len(texts), tokens, sum(map(len, texts)), chinese.total(), split
            rows.append(FertilityRow(name, benchmark, task, loaded.revision, *counts))
    return rows


def sections(rows: Sequence[FertilityRow]) -> Sequence[Section]:
    """Return what was counted: by benchmark, for a first look, and by task."""
    groups: dict[tuple[str, str], list[FertilityRow]] = {}
    for row in rows:
        groups.setdefault((row.benchmark, row.tokenizer), []).append(row)
    whole = [_summed(own) for own in groups.values()]
    found = [Section("Tokenizer fertility", [_table("fertility", whole)], "fertility", True)]
    if len(rows) > len(whole):
        found.append(Section("By task", [_table("fertility_tasks", rows)], "fertility-tasks"))
    return found if rows else []


def _summed(rows: Sequence[FertilityRow]) -> FertilityRow:
    counted = ("questions", "tokens", "characters", "chinese", "split")
    counts = {name: sum(getattr(row, name) for row in rows) for name in counted}
    data = ", ".join(dict.fromkeys(row.data for row in rows))
    task = rows[0].task if len(rows) == 1 else ""
    return replace(rows[0], task=task, data=data, **counts)


def _title(row: FertilityRow) -> str:
    return (find_task(row.task).entry if row.task else find_benchmark(row.benchmark)).title


def _table(name: str, rows: Sequence[FertilityRow]) -> Table:
    split = "Chinese characters, as often as they occur, that need more than one token alone."
    columns: list[tuple[Column, Callable[[FertilityRow], Value]]] = [
        (Column("Tokenizer"), attrgetter("tokenizer")),
        (Column("Questions of"), _title),
        (Column("Tokens per character", "number", "", True, drawn=True), attrgetter("fertility")),
        (Column("Split characters", "percent", split, True), attrgetter("split_share")),
        (Column("Tokens", "count"), attrgetter("tokens")),
        (Column("Characters", "count"), attrgetter("characters")),
        (Column("Questions", "count"), attrgetter("questions")),
        (Column("Data"), attrgetter("data")),
    ]
    caption = (
        "Counted are the scored questions with their options and the words that the prompt puts "
        "around them; not the instruction in front, worked examples, a chat template or special "
        "tokens. Characters include blanks and line breaks (TMMLU+, Section 3.5.3)."
    )
    return table(name, "Tokens per character", rows, columns, caption)


def _tasks(names: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    """(Benchmark, task) for names of either; without names, all."""
    known = [benchmark.name for benchmark in all_benchmarks()]
    for name in known if names is None else names:
        if name in known:
            yield from ((name, task.name) for task in find_benchmark(name).tasks)
        else:
            yield find_task(name).benchmark.name, find_task(name).name


def _alone(tokenizer: Tokenizer, characters: Sequence[str]) -> Mapping[str, int]:
    """Tokens of each character by itself, after a line break: alone, some tokenizers would put a
    blank in front of it."""
    line_break, *counts = tokenizer.count(["\n", *(f"\n{each}" for each in characters)])
    return {each: n - line_break for each, n in zip(characters, counts, strict=True)}


def _tokenizer_json(name: str, path: Path) -> _Count:
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        raise OptionError(f"{name}: there is no such file.")
    from tokenizers import Tokenizer as Loaded

    try:
        loaded = Loaded.from_file(str(file))
    except Exception as error:  # the library raises a plain Exception
        raise OptionError(f"{file} is no tokenizer of the library tokenizers: {error}.") from error
    loaded.no_truncation()
    loaded.no_padding()
    encoded = partial(loaded.encode_batch_fast, add_special_tokens=False)
    return lambda texts: list(map(len, encoded(texts)))


def _transformers(name: str, path: Path) -> _Count:
    from huggingface_hub import HfApi
    from transformers import AutoTokenizer

    is_folder = path.is_dir()
    try:
        try:
            place = str(path) if is_folder else name
            loaded = AutoTokenizer.from_pretrained(place, local_files_only=True)
        except (OSError, ValueError):
            if is_folder:
                raise
            # This one request is not tried again and again, which takes a minute without a network.
            HfApi().model_info(name, timeout=_TIMEOUT)
            loaded = AutoTokenizer.from_pretrained(name)
    except Exception as error:  # OSError, ValueError or an HTTP library's, as the case may be
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:_LONGEST_REASON]}"
        if is_folder:
            raise OptionError(f"{name}: transformers cannot load it: {reason}") from error
        raise NetworkUnavailable(
            f"{name}: no tokenizer in this folder, and the hub has none or cannot be reached: "
            f"{reason}\nCorrect the name, give a folder or a tokenizer.json file instead, unset "
            "HF_HUB_OFFLINE, set HF_ENDPOINT to a mirror, or HF_TOKEN for a gated model."
        ) from error
    ids = partial(loaded, add_special_tokens=False, verbose=False)
    return lambda texts: list(map(len, ids(texts)["input_ids"]))


def _tiktoken(name: str, _path: Path) -> _Count:
    import tiktoken

    encoding, known = name.removeprefix(_TIKTOKEN), tiktoken.list_encoding_names()
    if encoding not in known:
        raise OptionError(f"tiktoken has no encoding {encoding!r}; there are {', '.join(known)}.")
    try:
        loaded = tiktoken.get_encoding(encoding)
    except Exception as error:  # of requests
        raise NetworkUnavailable(
            f"{name} has to be downloaded and cannot be: {type(error).__name__}: {error}\n"
            "Set TIKTOKEN_CACHE_DIR to a folder that has it, or HTTPS_PROXY."
        ) from error
    return lambda texts: list(map(len, loaded.encode_ordinary_batch(texts)))


_LOADERS = {"tokenizers": _tokenizer_json, "transformers": _transformers, "tiktoken": _tiktoken}
