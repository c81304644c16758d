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


class TranslationOptions(base.PromptOptions, frozen=True, forbid_unknown_fields=True):
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
        "refusal_rate",
    )
    COLUMNS: ClassVar = {"source": ("source",), "target": ("target",), "number": ("#",)}
    TEXTS: ClassVar = {"source": "source", "target": "target"}
    Options = TranslationOptions
    TOKENS = 512
    GOLD = True

    options: TranslationOptions

    def row(self, row: Row) -> Sample:
        """Read a sentence and its translation."""
        cell = row.find(self.columns("number"))
        number = str(row.number) if cell is None else as_text(cell) or ""
        if not number.strip().isdecimal():
            raise row.problem(f"no number in {self.columns('number')[0]!r}")
        return msgspec.structs.replace(super().row(row), id=str(int(number)))

    def check(
        self,
        rows: Sequence[Sample],
        file: str,
    ) -> None:
        """Refuse a file whose two sides are swapped, according to the authors' classifier."""
        super().check(rows, file)
        from cantonesedetect import CantoneseDetector

        judge = CantoneseDetector().judge
        first = rows[:_COMPARED_ROWS]
        sources = sum(judge(row.source) == "cantonese" for row in first)
        targets = sum(judge(row.target) == "cantonese" for row in first)
        if self.language == "yue":
            is_swapped = sources > targets
            direction = "into"
        else:
            is_swapped = targets > sources
            direction = "from"
        if is_swapped:
            raise DataCorrupt(
                f"{file}: {self.definition.name} translates {direction} Cantonese, but of the first "
                f"{len(first)} rows {sources} sources and {targets} targets are: two sides or files "
                "are swapped, or its `language`, that of the targets, is not declared. Correct them."
            )

    def scored(self, rows: Sequence[Sample]) -> Sequence[Sample]:
        """Return the scored sentences: a sample if there are more than `size`."""
        size = self.options.size
        if not 0 < size < len(rows):
            return rows
        seed = self.options.sample_seed
        digests = [sha256(f"{seed}/{row.release_id}".encode()).digest() for row in rows]
        last = sorted(digests)[size - 1]
        pairs = zip(rows, digests, strict=True)
        return [row for row, digest in pairs if digest <= last]

    def score(
        self,
        answer: str,
        sample: Sample,
    ) -> Judgement:
        """Judge the faults of one translation; scores are computed over the corpus.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> into_cantonese = task_as_run("hkmmlu_translation_zh_yue")
            >>> friend = Sample(id="", source="他是我的朋友。", target="佢係我嘅朋友。")
            >>> into_cantonese.judge("譯文：佢係我朋友。", friend).answer
            '佢係我朋友。'
        """
        cleaned = self.cleaned(answer, sample)
        text = cleaned.text
        faults = {
            "empty": not (text or cleaned.refused),
            "overgenerated": cleaned.overgenerated,
            "wrong_script": is_wrong_script(text, sample.target),
            "copied_source": is_copy(text, sample.target, sample.source),
            "refusal_rate": cleaned.refused,
        }
        names = [name.replace("_", " ") for name, has in faults.items() if has]
        details = writing.removed_details(cleaned)
        explanation = writing.removed_note(cleaned)
        explanation += f"Faults: {', '.join(names) or 'none'}.\n\n"
        if len(text) > LONGEST:
            details["scored"] = f"the first {LONGEST:,} of {len(text):,} characters"
            explanation += f"Scored: {details['scored']}.\n\n"
        return Judgement(
            values=faults,
            answer=text,
            explanation=f"{explanation}Reference: {sample.target}",
            details=details,
        )


class TranslationToCantonese(Translation):
    """Translations into Cantonese, also judged for fluency. Columns as in `translation`."""

    FIGURES = (*Translation.FIGURES, *figures(*writing.FLUENT))

    @property
    def language(self) -> str:
        """The language of the targets."""
        return self.definition.language or "yue"

    def score(
        self,
        answer: str,
        sample: Sample,
    ) -> Judgement:
        """Judge the faults and the fluency of one translation into Cantonese."""
        judgement = super().score(answer, sample)
        fluency = self.fluency(judgement.answer)
        return msgspec.structs.replace(
            judgement,
            values={**judgement.values, **fluency.values},
            weights=fluency.weights,
            explanation=f"{fluency.explanation}\n\n{judgement.explanation}",
        )
