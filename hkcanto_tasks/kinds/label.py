"""Classification: a text in, one of the task's labels out.

The task declares the labels and other words for them. `hkcanto_metrics.labels` reads the label. A
response without a label, or with several and no choice between them, is wrong and counts in
`unparsed_rate`.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import msgspec

import hkcanto_metrics
from hkcanto_metrics.script import same_word

from ..data.tables import Row, as_text
from ..declarations import LabelDefinition
from ..figures import Figure, figures
from ..judgements import Judgement, judge_reading
from ..samples import Sample
from . import base

_LONGEST_SHOWN = 24


class Label(base.Kind):
    """Texts and their labels, which the task declares. Columns: `text`, `label`.

    The prompt's placeholder for the text is `{source}`. A prompt without it, such as one for pairs
    of sentences, has placeholders with the names of columns; it needs no column `text`.
    """

    FIGURES = figures("acc", "macro_f1", "unparsed_rate")
    COLUMNS: ClassVar = {"text": ("text",), "label": ("label",)}
    Options = base.PromptOptions
    Definition = LabelDefinition
    READS = ("settled", "occurs")
    VALUES: ClassVar = {"source": "source"}
    TOKENS = 16

    definition: LabelDefinition

    @cached_property
    def words(self) -> dict[str, tuple[str, ...]]:
        """Label → other words for it."""
        entries = self.definition.entries
        return {label: entry.words for label, entry in entries.items()}

    @cached_property
    def label_of(self) -> dict[str, str]:
        """Value in the data, in a normal form → label."""
        return {same_word(cell): label for cell, label in self.definition.cells}

    @property
    def own_figures(self) -> tuple[Figure, ...]:
        """The figures of an item; macro-F1 is over the task's labels."""
        labels = tuple(self.words)
        return tuple(
            replace(figure, labels=labels) if figure.name == "macro_f1" else figure
            for figure in self.FIGURES
        )

    def row(self, row: Row) -> Sample:
        """Read a text and its label."""
        text = ""
        if "source" in self.placeholders:
            text = row.text(self.columns("text"), "text")
        cell = row.find(self.columns("label"))
        if isinstance(cell, list | Mapping):
            raise row.nested("label", self.columns("label"))
        name = str(cell).lower() if isinstance(cell, bool) else as_text(cell)
        if name is None or not name.strip():
            raise row.lacks("label", "label", self.columns("label"))
        label = self.label_of.get(same_word(name))
        if label is None:
            shown = f" ({name!r})" if len(name) <= _LONGEST_SHOWN else ""
            declared = ", ".join(cell for cell, _ in self.definition.cells)
            raise row.problem(
                f"a label{shown} that is not declared; declared are {declared} (for a label that "
                'has another name in the data: labels = { "…" = { data = "…" } })'
            )
        return Sample(
            id=str(row.number),
            source=text,
            target=label,
        )

    @property
    def max_tokens(self) -> int:
        """The token limit of a response, with room for the longest label."""
        if self.template.tokens:
            return super().max_tokens
        # A Chinese character may take two tokens.
        return max(super().max_tokens, 2 * max(map(len, self.words)))

    def score(
        self,
        answer: str,
        sample: Sample,
    ) -> Judgement:
        """Judge a response against the right label.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> review = Sample(id="", source="好難食。", target="Negative")
            >>> task_as_run("hkcanto_sentiment").judge("唔係正面，係負面。", review).values
            {'acc': 1.0, 'unparsed_rate': 0.0}
        """
        cleaned = hkcanto_metrics.clean_output(answer)
        reading = hkcanto_metrics.read_label(cleaned.text, self.words)
        right = sample.target in answer if self.template.reads == "occurs" else None
        return judge_reading(
            "single label", reading.label, reading.reason, sample.target, right=right
        )

    def made_up(self) -> Sample:
        """Return a made-up item with one of the labels."""
        return msgspec.structs.replace(super().made_up(), target=[*self.words][1])

    def further_readings(self) -> list[Any]:
        """Return each label's value in the data, and the readings of its words, also negated."""
        words: list[str] = []
        for label, others in self.words.items():
            words += (label, *others)
        probes = [
            *words,
            *(f"not {word}" for word in words),
            *(f"唔係{word}" for word in words),
            "/".join(self.words),
        ]
        readings = []
        for text in probes:
            reading = hkcanto_metrics.read_label(text, self.words)
            readings.append([text, reading.label])
        return [[*self.label_of.items()], readings]
