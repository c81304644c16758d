"""Fuzz every scorer with mutated outputs: `python performance/fuzz.py OUTPUTS… --count 1000000`.

OUTPUTS have one real output a line, with `text` or `output`, and optionally `options`, `source`,
`reference` and `question`. A case depends only on the seed and its number. All cases are scored
twice, in processes with different hash seeds, the second time in eight threads each: the figures
must be the same. Exits with 1 if they differ or a scorer raises an exception.
"""

import argparse
import gzip
import hashlib
import json
import multiprocessing
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from random import Random
from time import perf_counter, thread_time
from typing import Any

from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from hkcanto_metrics.choice import read_choice, read_choice_set
from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.fluency import cantonese_fluency
from hkcanto_metrics.g2p import score_jyutping
from hkcanto_metrics.number import read_number
from hkcanto_metrics.reasoning import split_reasoning
from hkcanto_metrics.script import fold_script, to_simplified, to_traditional
from hkcanto_metrics.translation import is_copy, is_wrong_script, sentence_scores

Row = Mapping[str, Any]

BATCH = 50
THREADS = 8
GOLD = (
    "nei5 hou2",
    "(nei5|lei5) hou2 (aa3|aa1)",
    "keoi5 gam1 jat6 (m4|ng4) dak1 haan4, ting1 jat6 (sin1|sin3) zi3 lei4",
    "(ng)aam1 (ze2|ze5) jung2 pou5 (zung6 jau5|jau6)",
)
PIECES = (
    *(
        "答案：A",
        "answer: (B)",
        "答案係C。等等，唔啱，",
        "#### 42",
        "1,234.5",
        "三百五十",
        "½",
        "٣",
    ),
    *(
        "nei5 hou2",
        "m4",
        "ngaang6",
        "Nei5hou2maa3?",
        "ｎｅｉ⁵",
        "(nei5|lei5)",
        "a1b2c3",
        "12345",
    ),
    *(
        "<think>",
        "</think>",
        "<|im_start|>assistant\n",
        "<|channel|>final<|message|>",
        "[/THINK]",
    ),
    *(
        "```",
        "「",
        "」",
        "“",
        '"',
        "'",
        "（",
        ")",
        "【譯文】",
        "譯文：",
        "\n\nNote: ",
        "Human: ",
        "$\\boxed{",
    ),
    *(
        "\0",
        "\ud83d",
        "\udc00",
        "\ufeff",
        "\u200b",
        "\u202e",
        "\u0301",
        "\u0338",
        "\x1b[2J",
        "\u2028",
    ),
    *(
        "👨‍👩‍👧",
        "🇭🇰",
        "𨋢",
        "ﷺ",
        "①",
        "Ⅷ",
        "ß",
        "İ",
        "㎏",
        "　",
        "\r\n",
        "\t",
        "的",
        "嘅",
        "这里",
        "{}",
        "\\n",
    ),
)


def mutated(row: Row, others: Sequence[Row], random: Random) -> str:
    """Return a text like a model's output, or an unlikely one."""
    text = str(row["text"])
    for _ in range(random.choice((0, 1, 1, 2, 3, 5))):
        start, end = sorted(random.choices(range(len(text) + 1), k=2))
        part, before, after = text[start:end], text[:start], text[end:]
        other = str(random.choice(others)["text"])
        match random.randrange(12):
            case 0:
                text = before + after
            case 1:
                text = before + part * random.choice((2, 2, 3, 3, 10, 10, 100)) + after
                text = text[:20_000]
            case 2:
                text = before + random.choice(PIECES) + part + after
            case 3:
                text = (
                    before
                    + random.choice(PIECES) * random.choice((1, 1, 2, 2, 20, 200))
                    + after
                )
            case 4:
                text = before + other[start:end] + after
            case 5:
                text = random.choice(
                    (f"{text}\n\n{other}", f"<think>{other}</think>{text}")
                )
            case 6:
                text = text[:end]
            case 7:
                lines = text.split("\n")
                random.shuffle(lines)
                text = "\n".join(lines)
            case 8:
                change = (
                    str.upper,
                    str.lower,
                    str.title,
                    to_simplified,
                    to_traditional,
                )
                text = before + random.choice(change)(part) + after
            case 9:
                form: Any = random.choice(("NFD", "NFKC", "NFKD"))
                text = before + unicodedata.normalize(form, part) + after
            case 10:
                letters = list(part)
                random.shuffle(letters)
                text = before + "".join(letters) + after
            case _:
                codes = random.choices((0x7F, 0x800, 0x9FFF, 0xD7FF, 0x10FFFF), k=5)
                text = (
                    before
                    + "".join(chr(random.randrange(code)) for code in codes)
                    + after
                )
    if random.randrange(
        50
    ):  # most are cut, since a long one takes the time of a hundred
        start = random.choice((0, 0, random.randrange(len(text) + 1)))
        text = text[start : start + random.choice((30, 100, 300))]
    return text


def calls(
    number: int, seed: int, rows: Sequence[Row]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name and the call of every scorer for a case."""
    random = Random(f"{seed}/{number}")
    row, other = random.choice(rows), random.choice(rows)
    text = mutated(row, rows, random)
    source = (
        str(row.get("source") or row.get("question") or other["text"][:300]).strip()
        or "你好"
    )
    reference = str(row.get("reference") or other["text"][-300:]).strip() or "你好"
    options = row.get("options") or {
        "A": "大嶼山",
        "B": "南丫島",
        "C": "長洲",
        "D": "坪洲",
    }
    language: Any = random.choice(("zh", "zh", "en"))
    gold = random.choice(GOLD)
    yield "letter", lambda: read_choice(text, options)
    yield "letters", lambda: read_choice_set(text, options)
    yield "number", lambda: read_number(text, source)
    yield "jyutping", lambda: score_jyutping(text, gold)
    yield "cleaning", lambda: (clean_output(text), clean_output(text, source=source))
    yield (
        "translation",
        lambda: (
            sentence_scores(text, reference, language),
            is_wrong_script(text, reference),
            is_copy(text, reference, source),
        ),
    )
    yield (
        "fluency",
        lambda: (cantonese_fluency(text, max_characters=500), fold_script(text)),
    )
    yield "reasoning", lambda: split_reasoning(text)


@dataclass
class Tally:
    """Statistics of the calls of one scorer.

    Attributes:
        calls: Number of calls.
        seconds: CPU time of all calls.
        slowest: CPU time of the slowest call, and its case.
        raised: Case and exception of each call that raised one.
    """

    calls: int = 0
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, 0)
    raised: list[tuple[int, str]] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add the calls of another tally."""
        self.calls += other.calls
        self.seconds += other.seconds
        self.slowest = max(self.slowest, other.slowest)
        self.raised += other.raised


def score(
    number: int, seed: int, rows: Sequence[Row]
) -> tuple[bytes, dict[str, Tally]]:
    """Score a case: a hash of all results, and the tally of each scorer."""
    digest, tallies = hashlib.blake2b(digest_size=16), {}
    for name, call in calls(number, seed, rows):
        start, raised = thread_time(), []
        try:
            result = repr(call())
        except Exception as error:  # this is a finding
            result = f"{type(error).__name__}: {error}"
            raised.append((number, result))
        seconds = thread_time() - start
        tallies[name] = Tally(1, seconds, (seconds, number), raised)
        digest.update(f"{name}: {result}\n".encode(errors="surrogatepass"))
    return digest.digest(), tallies


_rows: list[Row] = []


def read(paths: Iterable[Path]) -> list[Row]:
    """Read the real outputs."""
    rows = []
    for path in paths:
        content = path.read_bytes()
        text = gzip.decompress(content) if path.suffix == ".gz" else content
        rows += map(json.loads, text.decode().split("\n")[:-1])
    return [{**row, "text": row.get("text") or row.get("output") or ""} for row in rows]


def start_process(paths: Sequence[Path]) -> None:
    """Load libraries and outputs before anything is timed."""
    _rows.extend(read(paths))
    for number in range(-5, 0):
        score(number, 0, _rows)


def score_batch(
    numbers: range, seed: int, threads: int
) -> tuple[list[bytes], dict[str, Tally]]:
    """Score some cases in a process, in several threads if asked."""
    with ThreadPoolExecutor(threads) as pool:
        scored = list(pool.map(partial(score, seed=seed, rows=_rows), numbers))
    return [digest for digest, _ in scored], summed(tallies for _, tallies in scored)


def summed(parts: Iterable[dict[str, Tally]]) -> dict[str, Tally]:
    """Sum tallies up."""
    total: dict[str, Tally] = {}
    for part in parts:
        for name, tally in part.items():
            total.setdefault(name, Tally()).add(tally)
    return total


def run(
    arguments: argparse.Namespace, hash_seed: int, threads: int
) -> tuple[list[bytes], dict[str, Tally]]:
    """Score all cases once, in new processes: the hash of each, and the tally of each scorer."""
    os.environ["PYTHONHASHSEED"] = str(
        hash_seed
    )  # which a new interpreter reads when it starts
    digests: list[bytes] = []
    tallies: dict[str, Tally] = {}
    batches = [
        range(i, min(i + BATCH, arguments.count))
        for i in range(0, arguments.count, BATCH)
    ]
    title = f"hash seed {hash_seed}, {threads} thread{'s' * (threads > 1)}"
    with (
        ProcessPoolExecutor(
            arguments.processes,
            multiprocessing.get_context("spawn"),
            start_process,
            (arguments.outputs,),
        ) as pool,
        tqdm(total=arguments.count, desc=title, unit=" cases") as bar,
    ):
        scored = pool.map(score_batch, batches, repeat(arguments.seed), repeat(threads))
        for of_cases, of_scorers in scored:
            digests += of_cases
            tallies = summed([tallies, of_scorers])
            bar.update(len(of_cases))
    return digests, tallies


def show(number: int, arguments: argparse.Namespace) -> None:
    """Print a case and the result of every scorer."""
    rows = read(arguments.outputs)
    for name, call in calls(number, arguments.seed, rows):
        start = thread_time()
        result = repr(call())
        print(f"{name}: {1000 * (thread_time() - start):.1f} ms: {result[:2000]}\n")


def main() -> int:
    """Run the fuzz and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("outputs", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--case", type=int, help="show this one instead")
    arguments = parser.parse_args()
    if arguments.case is not None:
        show(arguments.case, arguments)
        return 0
    start = perf_counter()
    digests, tallies = run(arguments, hash_seed=1, threads=1)
    again, of_threads = run(arguments, hash_seed=2, threads=THREADS)
    table = Table("scorer", "calls", "mean ms", "slowest ms", "its case", "exceptions")
    for name, tally in tallies.items():
        seconds, case = tally.slowest
        mean = 1000 * tally.seconds / tally.calls
        numbers = (
            f"{tally.calls:,}",
            f"{mean:.2f}",
            f"{1000 * seconds:.0f}",
            f"{case}",
        )
        table.add_row(name, *numbers, str(len(tally.raised)))
    Console().print(table)
    for name, tally in tallies.items():
        for case, message in tally.raised[:5]:
            print(f"{name}, case {case}: {message[:200]}")
    different = [
        i for i, pair in enumerate(zip(digests, again, strict=True)) if len({*pair}) > 1
    ]
    whole = hashlib.sha256(b"".join(digests)).hexdigest()
    print(
        f"figures {whole[:16]}, seed {arguments.seed}, {perf_counter() - start:.0f} s"
    )
    print(
        f"{len(different)} cases differ in other processes and threads: {different[:10]}"
    )
    raised = any(tally.raised for tally in chain(tallies.values(), of_threads.values()))
    return int(raised or bool(different))


if __name__ == "__main__":
    sys.exit(main())
