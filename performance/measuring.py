"""Functions shared by the benchmarks: arguments, times, memory and ratios.

Times are processor times unless a benchmark says otherwise, because other work on the machine
affects these least. Compare only figures of the same run on the same machine.
"""

import argparse
import resource
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import process_time
from typing import Any


def arguments(
    doc: str | None, positional: Mapping[str, Any] | None = None, **options: Any
) -> argparse.Namespace:
    """Parse the command line.

    Args:
        doc: The benchmark's docstring, for --help.
        positional: Arguments that may be left out, with their defaults. An argument has the type
            of its default; None means a text.
        options: The same for options: a bool is a flag, a tuple lists the choices, the default
            first.
    """
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (positional or {}).items():
        kind = str if default is None else type(default)
        parser.add_argument(name, nargs="?", type=kind, default=default)
    for name, default in options.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(default, bool):
            parser.add_argument(option, action="store_true")
        elif isinstance(default, tuple):
            parser.add_argument(option, choices=default, default=default[0])
        else:
            parser.add_argument(option, type=type(default), default=default)
    return parser.parse_args()


def seconds(
    work: Callable[..., object],
    *given: object,
    repeats: int = 1,
    of: Callable[[Sequence[float]], float] = median,
    clock: Callable[[], float] = process_time,
) -> float:
    """Return how long a call takes: the median, or another figure `of` its repeats."""
    times = []
    for _ in range(repeats):
        start = clock()
        work(*given)
        times.append(clock() - start)
    return of(times)


def timed(what: str, work: Callable[[], Any]) -> Any:
    """Print how long a call takes; return what it returns."""
    start = process_time()
    result = work()
    print(f"{what:40}{process_time() - start:8.2f} s")
    return result


def memory(who: int = resource.RUSAGE_SELF) -> float:
    """Return the peak memory of this process, or of its largest child, in MB."""
    return resource.getrusage(who).ru_maxrss / 1024


def ratios(times: Mapping[str, Sequence[float]]) -> None:
    """Print the median of each, and its ratio to that of the first."""
    base = median(next(iter(times.values())))
    for name, values in times.items():
        print(
            f"{name:30} median {median(values):6.1f} s, ratio {median(values) / base:.2f}"
        )
