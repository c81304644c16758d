"""A task with its data, ready for a harness: samples, worked examples, prompts, signature."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from . import __version__
from .catalogue import Benchmark, TaskEntry, find_task
from .errors import DataCorrupt, OptionError
from .kinds import kinds
from .prompts import Prompt
from .records import Example, Sample
from .sources import DataFolder, locate

ExamplesFrom = Literal["paper", "release"]


@dataclass(frozen=True, slots=True)
class LoadedTask:
    """A task of the catalogue together with its data.

    Attributes:
        benchmark: The benchmark that it belongs to.
        entry: Its catalogue entry.
        samples: The scored items, in the release's order.
        examples: The worked examples to draw shots from, in order.
        options: The choices that the examples and prompts were made with, for the signature.
        revision: Which data: the pinned revision, `sample`, or `local-…` for changed files.
    """

    benchmark: Benchmark
    entry: TaskEntry
    samples: Sequence[Sample]
    examples: Sequence[Example]
    options: tuple[tuple[str, str], ...]
    revision: str

    def prompt(self, sample: Sample, shots: int) -> Prompt:
        """Return the prompt of one sample with the first `shots` worked examples.

        Raises:
            OptionError: There are fewer examples than that.
        """
        if not 0 <= shots <= len(self.examples):
            raise OptionError(
                f"{self.entry.name}: shots={shots}, but there are {len(self.examples)} worked "
                f"examples ({dict(self.options)}). Ask for 0 to {len(self.examples)}."
            )
        template = self.entry.prompt
        return Prompt(
            system=template.system,
            examples=self.examples[:shots],
            question=sample.question,
            answer_separator=template.answer_separator,
            example_separator=template.example_separator,
        )

    def signature(self, shots: int) -> str:
        """Return how a number was made, in the manner of sacreBLEU.

        Two numbers with different signatures are not comparable as they stand.

        Example:
            >>> from hkcanto_tasks.loading import load_task
            >>> load_task("hkcanto_g2p").signature(shots=5).split("|")[:3]
            ['hkcanto-g2p', 'shots:5', 'examples:paper']
        """
        parts = [f"{name}:{value}" for name, value in self.options]
        return "|".join(
            [
                self.entry.name.replace("_", "-"),
                f"shots:{shots}",
                *parts,
                f"data:{self.revision}",
                f"metric:{self.entry.metric}",
                f"v:{__version__}",
            ]
        )


def load_task(name: str, *, examples: ExamplesFrom = "paper") -> LoadedTask:
    """Load a task's data from where the environment says it is.

    Args:
        name: The task's name in lm-eval, e.g. `hkcanto_g2p`.
        examples: `paper` for the worked examples that the paper prints, `release` for the rows of
            the release's dev file, in file order.

    Raises:
        CatalogueError: No task of that name.
        OptionError: An option has a value that it cannot have.
        DataNotFound: The data is not where the environment says it is.
        DataCorrupt: A file is not what it should be; the message names file and row.
        NetworkUnavailable: The data has to be downloaded and cannot be.
    """
    if examples not in get_args(ExamplesFrom):
        raise OptionError(
            f"{name}: examples={examples!r}; choose one of {', '.join(get_args(ExamplesFrom))}."
        )
    benchmark, entry = find_task(name)
    kind = kinds()[entry.kind]
    folder = locate(benchmark.folder, benchmark.release)
    test = _first_there(folder, entry.files["test"])
    samples = kind.read(folder.path(test), entry)
    if folder.kind != "sample" and len(samples) != entry.rows["test"]:
        raise DataCorrupt(
            f"{folder.path(test)} has {len(samples)} rows, the published release has "
            f"{entry.rows['test']}. Run `hkcanto data verify` to see which files differ."
        )
    dev = None
    if examples == "release":
        dev = folder.path(_first_there(folder, entry.files["dev"]))
    return LoadedTask(
        benchmark=benchmark,
        entry=entry,
        samples=samples,
        examples=kind.examples(dev, entry),
        options=(("examples", examples),),
        revision=folder.revision(test),
    )


def _first_there(folder: DataFolder, files: Sequence[str]) -> str:
    there = set(folder.files())
    return next((file for file in files if file in there), files[0])
