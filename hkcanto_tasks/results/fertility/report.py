"""Tokenizer fertility: tokens per character on each benchmark (TMMLU+, Section 3.5.3).

The scored items are counted as a model sees them. Fertility is all tokens over all characters: a
ratio of sums, not a mean of ratios.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path

from hkcanto_metrics.script import is_han

from ...catalogue import find_benchmark, find_task
from ...choosing import chosen_tasks
from ...errors import HKCantoError, NetworkUnavailable, OptionError
from ...loading import load_task
from ..reports.blocks import Column, Report, Section, Table, Value, table

_BATCH, _TIMEOUT = 1024, 10.0  # texts, seconds
_TIKTOKEN, _FILE = "tiktoken:", "tokenizer.json"
_NO_FILE = (
    "{}: it does not exist, or has no " + _FILE + " in it. Correct the name, or make the file: "
    "AutoTokenizer.from_pretrained(…).save_pretrained(folder) in transformers, and give its folder."
)
_Encode = Callable[[Sequence[str]], Sequence[Sized]]

Count = Callable[[Sequence[str]], Sequence[int]]
"""A tokenizer for counting: texts → the number of tokens of each, without special tokens."""


@dataclass(frozen=True, slots=True)
class FertilityRow:
    """Counts of a tokenizer on the items of a task, or of a benchmark if `task` is empty.

    `characters` includes blanks and line breaks. `chinese` is the number of Chinese characters,
    and `split` how many of these need more than one token, such as one for each byte.
    """

    tokenizer: str
    benchmark: str
    task: str
    data: str
    questions: int
    characters: int
    chinese: int
    tokens: int
    split: int

    @property
    def title(self) -> str:
        """The title of the task, or of the benchmark."""
        return (
            find_task(self.task).definition if self.task else find_benchmark(self.benchmark)
        ).title

    @property
    def fertility(self) -> float:
        """Tokens per character."""
        return self.tokens / self.characters

    @property
    def split_share(self) -> float | None:
        """Share of the Chinese characters that need more than one token; None without any."""
        return self.split / self.chinese if self.chinese else None


def report(names: Sequence[str], benchmarks: Sequence[str] | None = None) -> Report:
    """Return a report on tokenizers, each named as for `load_tokenizer` or as NAME=TOKENIZER."""
    from ..reports.report import report_of

    loaded = {}
    for each in names:
        label, given, path = each.partition("=")
        path = path if given else each
        loaded[label if given else Path(path).name] = load_tokenizer(path)
    counted = sections(fertility(loaded, benchmarks))
    return report_of(counted, f"Fertility of {', '.join(loaded)}")


def load_tokenizer(name: str) -> Count:
    """Load a tokenizer for counting, without ever running code that comes with it.

    The name is a `tokenizer.json` file, or a folder or a model on the Hugging Face hub that has one
    (needs `tokenizers`); or `tiktoken:<encoding>` (needs `tiktoken`).
    """
    try:
        count = _tiktoken(name) if name.startswith(_TIKTOKEN) else _tokenizers(name)
    except HKCantoError:
        raise
    except ImportError as error:
        raise OptionError(f"{name} needs {error.name}: pip install {error.name}.") from error
    except Exception as error:  # OSError, ValueError, or an error of an HTTP library
        raise NetworkUnavailable(
            f"{name} does not exist here and cannot be downloaded ({type(error).__name__}: "
            f"{' '.join(str(error).split())[:200]}): correct the name, unset HF_HUB_OFFLINE, set "
            "HF_TOKEN for a gated model, HF_ENDPOINT to a mirror, or TIKTOKEN_CACHE_DIR to a copy."
        ) from error

    def batched(texts: Sequence[str]) -> Sequence[int]:
        # Batches bound the memory; no tokenizer can encode lone surrogates.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        parts = (clean[start : start + _BATCH] for start in range(0, len(clean), _BATCH))
        return [len(tokens) for part in parts for tokens in count(part)]

    return batched


def fertility(
    tokenizers: Mapping[str, Count], names: Sequence[str] | None = None
) -> Sequence[FertilityRow]:
    """Count the tokens of tasks or benchmarks that have data, by default all of them.

    Examples:
        >>> characters = {"characters": lambda texts: [len(text) for text in texts]}
        >>> [row.fertility for row in fertility(characters, ["tmmluplus"])]
        [1.0]
    """
    rows = []
    for task in chosen_tasks(names):
        loaded = load_task(task.name, allow_absent=True)
        texts = [loaded.setup.turn(sample) for sample in loaded.samples]
        chinese = Counter(character for text in texts for character in filter(is_han, text))
        sizes = len(texts), sum(map(len, texts)), chinese.total()
        for name, count in tokenizers.items() if texts else ():
            # Each follows a line break, since some tokenizers put a blank in front of a text.
            line_break, *alone = count(["\n", *(f"\n{each}" for each in chinese)])
            found = zip(alone, chinese.values(), strict=True)
            split = sum(times for tokens, times in found if tokens > line_break + 1)
            of = name, task.benchmark.name, task.name, loaded.revision
            rows.append(FertilityRow(*of, *sizes, sum(count(texts)), split))
    return rows


def sections(rows: Sequence[FertilityRow]) -> Sequence[Section]:
    """Return the counts by benchmark, as a summary, and by task."""
    groups: dict[tuple[str, str], list[FertilityRow]] = {}
    for row in rows:
        groups.setdefault((row.benchmark, row.tokenizer), []).append(row)
    whole = []
    for own in groups.values():
        counted = ("questions", "characters", "chinese", "tokens", "split")
        counts = {name: sum(getattr(row, name) for row in own) for name in counted}
        data = ", ".join(dict.fromkeys(row.data for row in own))
        task = own[0].task if len(own) == 1 else ""
        whole.append(replace(own[0], task=task, data=data, **counts))
    found = [Section("Tokenizer fertility", [_table("fertility", whole)], "fertility", True)]
    if len(rows) > len(whole):
        found.append(Section("By task", [_table("fertility_tasks", rows)], "fertility-tasks"))
    return found if rows else []


def _table(name: str, rows: Sequence[FertilityRow]) -> Table:
    split = "Share of Chinese characters (by occurrence) that need several tokens on their own."
    columns: list[tuple[Column, Callable[[FertilityRow], Value]]] = [
        (Column("Tokenizer"), attrgetter("tokenizer")),
        (Column("Benchmark or task"), attrgetter("title")),
        (Column("Tokens per character", "number", "", True, drawn=True), attrgetter("fertility")),
        (Column("Split characters", "percent", split, True), attrgetter("split_share")),
        (Column("Tokens", "count"), attrgetter("tokens")),
        (Column("Characters", "count"), attrgetter("characters")),
        (Column("Questions", "count"), attrgetter("questions")),
        (Column("Data"), attrgetter("data")),
    ]
    caption = (
        "Counts the scored items with their options and the words that the prompt puts around "
        "them; not the instruction in front, worked examples, a chat template or special tokens. "
        "Characters include blanks and line breaks (TMMLU+, Section 3.5.3)."
    )
    return table(name, "Tokens per character", rows, columns, caption)


def _tokenizers(name: str) -> _Encode:
    from tokenizers import Tokenizer as Loaded

    path = Path(name).expanduser()
    if path.suffix != ".json" and not path.is_dir():
        path = _downloaded(name)
    file = path / _FILE if path.is_dir() else path
    if not file.is_file():
        raise OptionError(_NO_FILE.format(name))
    try:
        loaded = Loaded.from_file(str(file))
    except Exception as error:  # the library raises a plain Exception
        raise OptionError(f"{file} is not a tokenizer that `tokenizers` reads: {error}.") from error
    loaded.no_truncation()
    loaded.no_padding()
    return partial(loaded.encode_batch_fast, add_special_tokens=False)


def _downloaded(name: str) -> Path:
    from huggingface_hub import HfApi, hf_hub_download, try_to_load_from_cache

    if isinstance(cached := try_to_load_from_cache(name, _FILE), str):
        return Path(cached)
    # This single request avoids the retries of a download, which take half a minute offline.
    files = HfApi().model_info(name, timeout=_TIMEOUT).siblings or ()
    if _FILE not in [each.rfilename for each in files]:
        raise OptionError(_NO_FILE.format(name))
    return Path(hf_hub_download(name, _FILE))


def _tiktoken(name: str) -> _Encode:
    import tiktoken

    encoding, known = name.removeprefix(_TIKTOKEN), tiktoken.list_encoding_names()
    if encoding not in known:
        raise OptionError(f"tiktoken has no encoding {encoding!r}; there are {', '.join(known)}.")
    encode: _Encode = tiktoken.get_encoding(encoding).encode_ordinary_batch
    return encode
