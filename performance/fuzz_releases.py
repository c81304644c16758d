"""Fuzz loading with mutated releases: `python performance/fuzz_releases.py --count 10000`.

Each case is a small release (the package's sample data, a release made here, or with `--data` the
first rows of a real one), mutated in one to four ways and loaded with `load_task`. One property is
checked: **the same rows as before, or rows set aside and counted, or an error of ours that names a
file; never other rows, never another exception, and nothing written outside the case's folder.**
Every second case is mutated only in ways that leave a release readable (other known names, formats,
archives, shards, folders, additional files): it must give the same rows, unless the unmutated
release is refused, too. A benchmark.toml with an unknown key is refused.

The permitted readings of a row are known from the mutation (`made_releases.Release.sources`), not
from the package's reader. A case depends only on the seed and its number: `--case 123` shows that
case, and `--keep FOLDER` leaves its files there. Exits with 1 if a case breaks the property.
"""

import argparse
import logging
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

from made_releases import LETTERS, Content, Release, Row, content_of, simplified
from release_mutations import mutated, seeds
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from hkcanto_tasks import catalogue
from hkcanto_tasks.errors import HKCantoError, OptionError
from hkcanto_tasks.loading import LoadedTask, load_task

BATCH = 25
FREE = ("hkmmlu", "tmmluplus", "outside")
"""Seeds that are used more often: their layout is undeclared, or is also mutated."""


@dataclass(frozen=True)
class Outcome:
    """The result of a case.

    Attributes:
        number: The case's number.
        seed: The seed release that was mutated.
        what: `same`, `set aside`, `error`, or what is wrong; `no release` if it cannot be written
            to disk (a file and a folder have the same name).
        detail: The error, or the differences in what was read.
        seconds: Processor time of loading it.
        mutations: The mutations of the release.
    """

    number: int
    seed: str
    what: str
    detail: str
    seconds: float
    mutations: Sequence[str]

    @property
    def is_violation(self) -> bool:
        """Whether the property is broken."""
        return self.what not in ("same", "set aside", "error", "no release")


# ------------------------------------------------------------------------------- one case


def made(number: int, seed: int, data: Path | None, *, changed: bool = True) -> Release:
    """Make the release of a case; every hundredth has no mutation."""
    random = Random(f"{seed}/{number}")
    known = seeds(data)
    names = [name for name in sorted(known) for _ in range(3 if name.startswith(FREE) else 1)]
    name = random.choice(names)
    release = known[name](random)
    release.seed, release.is_harmless = name, bool(number % 2) and changed
    count = random.choice((1, 1, 2, 2, 3, 4)) if number % 100 and changed else 0
    return mutated(release, random, count)


def checked(
    number: int, seed: int, data: Path | None, place: Path, *, changed: bool = True
) -> Outcome:
    """Write a case into a folder, load it, and compare."""
    release = made(number, seed, data, changed=changed)
    try:
        root = release.write(place)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        return Outcome(number, release.seed, "no release", str(error), 0.0, release.mutations)
    start = process_time()
    try:
        with _environment(release, place), _no_writes() as written:
            loaded = load_task(release.task, **release.asked)
            what, detail = _compared(loaded, release)
            for sample in loaded.samples[:1]:
                _ = loaded.setup.turn(sample), loaded.signature, loaded.remark
        if release.is_harmless and what == "set aside":
            what = "refused"
        if release.has_unknown_key:
            what, detail = "unknown key", ", ".join(release.unknown)
        if written:
            what, detail = "writes", ", ".join(written)
    except HKCantoError as error:
        what, detail = "error", str(error)
        names = (str(place), "benchmark.toml", *(file.path for file in release.files))
        if not any(name in detail for name in names):
            what = "names no file"
        if isinstance(error, OptionError) and release.task in detail:
            what = "error"
        if release.is_harmless:
            unchanged = checked(number, seed, data, place / "unchanged", changed=False)
            what = "error" if unchanged.what == "error" else "refused"
    except Exception as error:  # this is a finding
        what, detail = "exception", f"{type(error).__name__}: {error}"
    seconds = process_time() - start
    detail = detail.replace(str(root), release.folder)
    return Outcome(number, release.seed, what, detail, seconds, release.mutations)


@contextmanager
def _environment(release: Release, place: Path) -> Iterator[None]:
    own = place / release.folder if release.in_folder else place / "declared"
    given = {"HKCANTO_DATA_DIR": str(place), "HF_HUB_OFFLINE": "1"}
    if release.declared is not None:
        given["HKCANTO_BENCHMARKS"] = str(own)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("HKCANTO_")}
    with patch.dict(os.environ, {**kept, **given}, clear=True):
        yield


_written: list[str] | None = None


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _written is None:
        return
    if event == "open":
        path, mode, flags = arguments
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) if isinstance(flags, int) else 0
        if (writes or "w" in (mode or "")) and not str(path).startswith("/dev/"):
            _written.append(f"open {path}")
    elif event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link"):
        _written.append(f"{event} {arguments[0]}")


@contextmanager
def _no_writes() -> Iterator[list[str]]:
    """Collect the files that are written meanwhile, except bytecode."""
    global _written
    found: list[str] = []
    _written = found
    try:
        yield found
    finally:
        _written = None
        caches = ("__pycache__", str(Path(os.environ.get("HF_HOME", "/nowhere"))))
        found[:] = [each for each in found if not any(cache in each for cache in caches)]


def _compared(loaded: LoadedTask, release: Release) -> tuple[str, str]:
    """Compare the loaded rows with those of the release."""
    counted = re.search(r"-(\d+)rows$", loaded.revision)
    aside = int(counted[1]) if counted else 0
    stems = {name: stem for stem, name in release.subjects.items()}
    by_subject: dict[str, list[Any]] = {}
    for sample in loaded.samples:
        by_subject.setdefault(sample.subject, []).append(sample)
    lost = 0
    for subject, samples in by_subject.items():
        if subject not in stems:
            return "other rows", f"a subject {subject!r} that the release does not have"
        sources = release.sources(stems[subject], "test")
        results = [_matched(samples, source, release) for source in sources]
        best = min(
            results, default=(["no file of it may be read"], 0), key=lambda r: (len(r[0]), r[1])
        )
        if best[0]:
            return "other rows", f"{subject}: {'; '.join(best[0][:3])}"
        lost += max(0, best[1] - release.skipped)
    if lost > aside:
        return "lost rows", f"{lost} rows are not there, {aside} were set aside"
    for asked in loaded.task.subjects:
        try:
            examples = loaded.examples(asked.name)
        except HKCantoError:
            continue
        sources = release.sources(stems.get(asked.name, ""), "test" if release.skipped else "dev")
        known = {_plain(each) for source in sources for *_, all_ in source for each in all_}
        for example in examples:
            if example.sample and _plain(content_of(example.sample)) not in known:
                return "other examples", f"{asked.name}: {content_of(example.sample)}"
    present = {subject.name for subject in loaded.task.subjects}
    missing = [each.name for each in loaded.asked if each.name not in present]
    return ("set aside" if aside or missing else "same"), f"{aside} rows, subjects {missing}"


def _plain(content: Content) -> Content:
    question, choices, target = content
    return simplified(question), tuple(map(simplified, choices)), target


def _matched(
    samples: Sequence[Any], source: Sequence[tuple[Row, set[str], list[Content]]], release: Release
) -> tuple[list[str], int]:
    """Return the rows read that a source does not have, and how many of its rows were not read."""
    free = [*source]
    wrong = []
    for sample in samples:
        content, own = content_of(sample), sample.id.rpartition("/")[2]
        fitting = next(
            (
                at
                for at, (row, ids, contents) in enumerate(free)
                if own in ids and content in (*contents, *_as_declared(row, contents, release))
            ),
            None,
        )
        if fitting is None:
            wrong.append(f"{sample.id}: {content}")
        else:
            del free[fitting]
    return wrong, sum(not row.may_lack for row, *_ in free)


def _as_declared(row: Row, contents: Sequence[Content], release: Release) -> list[Content]:
    """Return a row's contents if its answers are read in the declared form, but have another."""
    way = release.declared["tasks"][0].get("answer", "") if release.declared else ""
    found = []
    for question, choices, letter in contents if way else ():
        for form in {file.answer for file in release.files if file.answer != way}:
            place = LETTERS.index(letter)
            cell = {"index": str(place), "number": str(place + 1), "float index": str(place)}.get(
                form, row.cells.get(letter, "") if form == "text" else ""
            )
            at = {
                "index": int(cell) if cell.isdecimal() else -1,
                "number": int(cell) - 1 if cell.isdecimal() else -1,
                "text": choices.index(cell) if cell in choices else -1,
            }.get(way, -1)
            if 0 <= at < len(choices):
                found.append((question, choices, LETTERS[at]))
    return found


# ------------------------------------------------------------------------------- all cases

_place: Path | None = None


def start_process() -> None:
    """Make a folder for a process, silence it, and load what the cases need."""
    global _place
    _place = Path(tempfile.mkdtemp(prefix="fuzz_releases_"))
    logging.disable(logging.CRITICAL)
    os.environ["HF_HOME"] = str(_place / "hf")
    sys.addaudithook(_watch)


def check_batch(numbers: range, seed: int, data: Path | None) -> list[Outcome]:
    """Check some cases in a process."""
    assert _place
    found = []
    for number in numbers:
        place = _place / str(number)  # one for each, because the package caches by path
        place.mkdir()
        found.append(checked(number, seed, data, place))
        shutil.rmtree(place)
    for each in vars(catalogue).values():  # these caches would keep the benchmarks of all cases
        getattr(each, "cache_clear", int)()
    return found


def run(count: int, seed: int, data: Path | None, processes: int) -> list[Outcome]:
    """Check all cases."""
    batches = [range(i, min(i + BATCH, count)) for i in range(0, count, BATCH)]
    found: list[Outcome] = []
    with (
        ProcessPoolExecutor(processes, initializer=start_process) as pool,
        tqdm(total=count, unit=" cases", disable=not sys.stderr.isatty()) as bar,
    ):
        for outcomes in pool.map(partial(check_batch, seed=seed, data=data), batches):
            found += outcomes
            bar.update(len(outcomes))
    return found


def show(number: int, seed: int, data: Path | None, keep: Path | None) -> None:
    """Print a case: its mutations, its files, and its result."""
    start_process()
    place = keep or Path(tempfile.mkdtemp())
    place.mkdir(parents=True, exist_ok=True)
    outcome = checked(number, seed, data, place)
    release = made(number, seed, data)
    print(f"{release.seed}: {release.task} {release.asked}", *release.mutations, sep="\n  ")
    for path in sorted(each for each in place.rglob("*") if each.is_file()):
        print(f"--- {path.relative_to(place)}")
        print(path.read_bytes()[:700].decode(errors="replace"))
    print(f"=== {outcome.what}, {1000 * outcome.seconds:.0f} ms: {outcome.detail}")


def main() -> int:
    """Run the fuzz and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--data", type=Path, default=os.environ.get("HKCANTO_DATA_DIR"))
    parser.add_argument("--case", type=int, help="show this one instead")
    parser.add_argument("--keep", type=Path, help="where to leave its files")
    arguments = parser.parse_args()
    if arguments.case is not None:
        show(arguments.case, arguments.seed, arguments.data, arguments.keep)
        return 0
    start = perf_counter()
    outcomes = run(arguments.count, arguments.seed, arguments.data, arguments.processes)
    seconds = perf_counter() - start
    table = Table("seed", "cases", "same", "set aside", "error", "violations")
    for name in sorted({each.seed for each in outcomes}):
        tally = Counter(
            "violation" if each.is_violation else each.what
            for each in outcomes
            if each.seed == name
        )
        columns = ("same", "set aside", "error", "violation")
        table.add_row(name, str(tally.total()), *(str(tally[column]) for column in columns))
    Console().print(table)
    violations = [each for each in outcomes if each.is_violation]
    for each in violations[:60]:
        print(f"case {each.number} ({each.seed}), {each.what}: {each.detail[:400]}")
        print(*each.mutations, sep="\n", end="\n\n")
    tally = Counter(each.what for each in outcomes)
    print(", ".join(f"{what} {count}" for what, count in tally.most_common()))
    slowest = max(outcomes, key=lambda each: each.seconds)
    print(f"slowest {slowest.seconds:.2f} s (case {slowest.number}); {len(violations)} violations")
    busy = sum(each.seconds for each in outcomes)
    print(
        f"seed {arguments.seed}, {seconds:.0f} s, {len(outcomes) / seconds:.0f} cases a second; "
        f"loading alone took {1000 * busy / len(outcomes):.1f} ms of processor time a case"
    )
    return int(bool(violations))


if __name__ == "__main__":
    sys.exit(main())
