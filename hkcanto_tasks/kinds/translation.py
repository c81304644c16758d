"""Translation: a sentence in, its translation out.

In HKCanto-Eval (Appendix F), people score the translations, and the paper rejects BLEU between
Cantonese and Written Chinese. HKMMLU (Table 2) reports BLEU, METEOR, ROUGE-L and their mean. Here,
both benchmarks have the figures of `hkcanto_metrics.translation`, computed over the corpus.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Annotated, ClassVar

import msgspec

from hkcanto_metrics.translation import LONGEST, is_copy, is_wrong_script

from ..data.tables import Row, as_text
from ..errors import DataCorrupt
from ..figures import figures
from ..judgements import Judgement
from ..samples import Sample
from . import base, writing

_COMPARED_ROWS = 200
_SCORES = ("bleu", "bleu_2", "chrf", "meteor", "rouge_l", "mean")


class Options(base.PromptOptions, frozen=True, forbid_unknown_fields=True):
    """The options of the kind.

    Attributes:
        size: Score at most this many pairs, drawn from the whole test file; 0 for all of them. A
            smaller sample is part of every larger one. If the files of both directions list the
            sentences in the same order, both samples have the same sentences.
        sample_seed: Seed of the sample. (Not called `seed`: lm-eval passes a model's arguments to
            tasks as well, and `--model_args seed=…` must not change the data.)
    """

    size: Annotated[int, msgspec.Meta(ge=0)] = 2000
    sample_seed: Annotated[int, msgspec.Meta(ge=0)] = 0


class Translation(writing.Writing):
    """Sentences and their translations. Columns: `source`, `target`; optional: `#`, a number."""

    FIGURES = figures(
        *_SCORES,
        *(f"{name}_normalized" for name in _SCORES),
        *("empty", "overgenerated", "wrong_script", "copied_source"),
    )
    COLUMNS: ClassVar = {"source": ("source",), "target": ("target",), "number": ("#",)}
    TEXTS: ClassVar = {"source": "source", "target": "target"}
    Options = Options
    TOKENS = 512
    GOLD = True

    def row(self, row: Row) -> Sample:
        """Read a sentence and its translation."""
        cell = row.find(self.columns("number"))
        number = str(row.number) if cell is None else as_text(cell) or ""
        if not number.strip().isdecimal():
            raise row.problem(f"no number in {self.columns('number')[0]!r}")
        return msgspec.structs.replace(super().row(row), id=str(int(number)))

    def check(self, rows: Sequence[Sample], file: str) -> None:
        """Refuse a file whose two sides are swapped, according to the authors' classifier."""
        super().check(rows, file)
        from cantonesedetect import CantoneseDetector

        judge, rows = CantoneseDetector().judge, rows[:_COMPARED_ROWS]
        sources = sum(judge(row.source) == "cantonese" for row in rows)
        targets = sum(judge(row.target) == "cantonese" for row in rows)
        definition = self.task.definition
        into_cantonese = definition.language == "yue"
        if sources > targets if into_cantonese else targets > sources:
            way = f"translates {'into' if into_cantonese else 'from'} Cantonese"
            raise DataCorrupt(
                f"{file}: {definition.name} {way}, but of the first {len(rows)} rows {sources} "
                f"sources and {targets} targets are: two sides or files are swapped. Correct them."
            )

    def scored(self, rows: Sequence[Sample]) -> Sequence[Sample]:
        """Return the scored sentences: a sample if there are more than `size`."""
        size, seed = self.options.size, self.options.sample_seed
        if not 0 < size < len(rows):
            return rows
        digests = [
            sha256(f"{seed}/{self.raw_id(row)}".encode()).digest() for row in rows
        ]
        last = sorted(digests)[size - 1]
        return [
            row for row, digest in zip(rows, digests, strict=True) if digest <= last
        ]

    def score(self, answer: str, sample: Sample) -> Judgement:
        """Judge the faults of one translation; scores are computed over the corpus.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> into_cantonese = task_as_run("hkmmlu_translation_zh_yue")
            >>> friend = Sample(id="", source="他是我的朋友。", target="佢係我嘅朋友。")
            >>> into_cantonese.judge("譯文：佢係我朋友。", friend).answer
            '佢係我朋友。'
        """
        cleaned, details, explained = self.cleaned(answer, sample)
        faults = {
            "empty": not cleaned.text,
            "overgenerated": cleaned.overgenerated,
            "wrong_script": is_wrong_script(cleaned.text, sample.target),
            "copied_source": is_copy(cleaned.text, sample.target, sample.source),
        }
        named = ", ".join(
            name.replace("_", " ") for name, found in faults.items() if found
        )
        explained += f"Faults: {named or 'none'}.\n\n"
        if len(cleaned.text) > LONGEST:
            details["scored"] = (
                f"the first {LONGEST:,} of {len(cleaned.text):,} characters"
            )
            explained += f"Scored: {details['scored']}.\n\n"
        return Judgement(
            values=faults,
            answer=cleaned.text,
            explanation=f"{explained}Reference: {sample.target}",
            details=details,
        )


class TranslationToCantonese(Translation):
    """Translations into Cantonese, also judged for fluency. Columns as in `translation`."""

    FIGURES = (*Translation.FIGURES, *figures(*writing.FLUENT))

    def score(self, answer: str, sample: Sample) -> Judgement:
        """Judge the faults and the fluency of one translation into Cantonese."""
        judgement = super().score(answer, sample)
        fluency = self.fluency(judgement.answer)
        return msgspec.structs.replace(
            judgement,
            values={**judgement.values, **fluency.values},
            weights=fluency.weights,
            explanation=f"{fluency.explanation}\n\n{judgement.explanation}",
        )
