"""The worked examples of a task's subjects, read when a prompt needs them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from .catalogue import Subject
from .data.locating import locate
from .data.release_files import ReleaseRows
from .errors import HKCantoError, OptionError
from .kinds import Kind
from .records import Example


class WorkedExamples(Mapping[str, Sequence[Example]]):
    """Subject → its worked examples, in order; none where the data has none.

    Without worked examples in the prompt, nothing is read: no dev file is needed, or looked at.

    Args:
        kind: What renders them.
        release: The rows of the release.

    Raises:
        OptionError: An example of a chain of thought has no reasoning to show.
        DataCorrupt: A file of examples is not what it should be.
    """

    def __init__(self, kind: Kind[Any], release: ReleaseRows) -> None:
        self._kind, self._release = kind, release
        there = (subject for subject in kind.task.subjects if subject.name in release.rows)
        self._subjects = {subject.name: subject for subject in there}
        self._found: dict[str, Sequence[Example]] = {}
        self._with_reasoning: tuple[ReleaseRows, str] | None = None

    def __getitem__(self, name: str) -> Sequence[Example]:
        if name not in self._found:
            self._found[name] = self._examples(self._subjects[name])
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._subjects)

    def __len__(self) -> int:
        return len(self._subjects)

    def _examples(self, subject: Subject) -> Sequence[Example]:
        rows, origin = self._release.examples(subject), self._kind.shows
        if not all(map(self._kind.complete, rows)):
            if printed := self._kind.printed():
                rows, origin = printed, "paper"
            else:
                rows, origin = self._reasoned(subject)
        made = self._kind.examples(subject, rows)
        return [replace(example, origin=origin) for example in made] if origin else made

    def _reasoned(self, subject: Subject) -> tuple[list[Any], str]:
        """Take the rows of the data set that has the reasoning which the release lacks."""
        task = self._kind.task
        source, why = task.benchmark.reasoning, "no other data set is known to have it"
        if source:
            name = source.repo_id.rpartition("/")[2]
            try:
                if not self._with_reasoning:
                    other = msgspec.structs.replace(
                        task.benchmark, hub=source, github=None, data=None, folder=name
                    )
                    folder = locate(other)
                    release = ReleaseRows(folder, self._kind)
                    self._with_reasoning = release, f"{name}@{folder.revision()}"
                release, origin = self._with_reasoning
                rows = release.examples(subject) or release.rows.get(subject.name, [])
                rows = rows[: task.definition.dev_rows]
                if rows and all(map(self._kind.complete, rows)):
                    return rows, origin
                why = f"{source.repo_id} has none for it"
            except HKCantoError as error:
                why = f"{source.repo_id} cannot be used: {error}"
        raise OptionError(
            f"{' '.join(filter(None, (task.name, subject.name)))}: worked examples of a chain of "
            "thought show the reasoning, and the release has none (no column 'explanation' or "
            f"'reasoning'): without it they would teach a model to skip it. {why}\n"
            "Ask for none: --num_fewshot 0 in lm-eval, -T shots=0 in Inspect."
        )
