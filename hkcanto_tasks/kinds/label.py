"""Classification: a text in, one of the task's labels out.

The task declares the labels and other words for them. `hkcanto_metrics.labels` reads the label. A
response without a label, or with several and no choice between them, is wrong and counts in
`unparsed_rate`.
"""

from typing import Any, ClassVar

import msgspec

from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.labels import read_label, same_word

from ..data.tables import Row, as_text
from ..declarations import DeclaredLabel, TaskVariant
from ..figures import figures
from ..judgements import Judgement
from ..samples import Sample
from . import base
from .multiple_choice import judge_reading

_EXAMPLE = 'labels = { Positive = ["正面"], Negative = ["負面"] }'
_LONGEST_SHOWN = 24


class Label(base.Kind):
    """Texts and their labels, which the task declares. Columns: `text`, `label`.

    The prompt's placeholder for the text is `{source}`. A prompt without it, such as one for pairs
    of sentences, has placeholders with the names of columns; it needs no column `text`.
    """

    FIGURES = figures("acc", "macro_f1", "unparsed_rate")
    USES = ("labels",)
    READS = ("settled", "occurs")
    Options = base.PromptOptions
    COLUMNS: ClassVar = {"text": ("text",), "label": ("label",)}
    VALUES: ClassVar = {"source": "source"}
    TOKENS = 16

    def __init__(
        self, task: TaskVariant, options: Any, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(task, options, *args, **kwargs)
        declared = task.definition.labels
        if not declared:
            raise self.wrong(f"has no labels: declare them, as in `{_EXAMPLE}`")
        if len({*declared}) < len(declared):
            raise self.wrong("names a label twice")
        self._words: dict[str, tuple[str, ...]] = {}
        self._of_cell: dict[str, str] = {}
        self._cells: list[str] = []
        entries = (
            declared if isinstance(declared, dict) else dict.fromkeys(declared, ())
        )
        for label, meant in entries.items():
            meant = (
                meant
                if isinstance(meant, DeclaredLabel)
                else DeclaredLabel(words=meant)
            )
            data = meant.data if isinstance(meant.data, tuple) else (meant.data,)
            self._words[label] = meant.words
            for cell in map(str, data or (label,)):
                self._cells.append(cell)
                if (other := self._of_cell.setdefault(same_word(cell), label)) != label:
                    raise self.wrong(
                        f"has the data's {cell!r} for both {other!r} and {label!r}"
                    )
        try:
            read_label("?", self._words)
        except ValueError as error:
            raise self.wrong(
                f"has labels that cannot be distinguished: {error}"
            ) from error
        self.refinements = {"macro_f1": {"labels": tuple(self._words)}}

    @property
    def max_tokens(self) -> int:
        """The token limit of a response, with room for the longest label."""
        longest = 2 * max(
            map(len, self._words)
        )  # a Chinese character may take two tokens
        return (
            super().max_tokens
            if self.template.tokens
            else max(super().max_tokens, longest)
        )

    def row(self, row: Row) -> Sample:
        """Read a text and its label."""
        text = ""
        if "source" in self.placeholders:
            text = row.text(self.columns("text"), "text")
        cell = row.find(self.columns("label"))
        name = str(cell).lower() if isinstance(cell, bool) else as_text(cell)
        if name is None or not name.strip():
            raise row.lacks("label", "label", self.columns("label"))
        label = self._of_cell.get(same_word(name))
        if label is None:
            shown = f" ({name!r})" if len(name) <= _LONGEST_SHOWN else ""
            raise row.problem(
                f"a label{shown} that is not declared; declared are {', '.join(self._cells)} (for "
                'a label that has another name in the data: labels = { "…" = { data = "…" } })'
            )
        return Sample(id=str(row.number), source=text, target=label)

    def made_up(self) -> Sample:
        """Return a made-up item with one of the labels."""
        return msgspec.structs.replace(super().made_up(), target=[*self._words][1])

    def further_readings(self) -> list[Any]:
        """Return each label's value in the data, and the readings of its words, also negated."""
        words = [word for label in self._words for word in (label, *self._words[label])]
        probes = [
            form.format(word) for form in ("{}", "not {}", "唔係{}") for word in words
        ]
        probes.append("/".join(self._words))
        readings = [[text, read_label(text, self._words).label] for text in probes]
        return [[*self._of_cell.items()], readings]

    def score(self, answer: str, sample: Sample) -> Judgement:
        """Judge a response against the gold label.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> review = Sample(id="", source="好難食。", target="Negative")
            >>> task_as_run("hkcanto_sentiment").judge("唔係正面，係負面。", review).values
            {'acc': 1.0, 'unparsed_rate': 0.0}
        """
        reading = read_label(clean_output(answer).text, self._words)
        right = sample.target in answer if self.template.reads == "occurs" else None
        label, reason = reading.label, reading.reason
        return judge_reading("single label", label, reason, sample.target, right=right)
