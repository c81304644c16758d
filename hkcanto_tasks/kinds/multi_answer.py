"""Multiple choice with several right options: a question in, the letters of all right ones out.

`hkcanto_metrics.read_choice_set` reads the letters. An answer without letters is wrong and counts
in `unparsed_rate`.
"""

from typing import Any, ClassVar

import msgspec

import hkcanto_metrics

from ..declarations import Subject
from ..figures import figures
from ..judgements import Judgement, judge_reading
from ..samples import Sample
from .multiple_choice import MultipleChoice

_ALL_THAT_APPLY = {
    "yue": "正確選項可能多過一個，請揀晒所有啱嘅選項。",
    "zh": "正確選項可能多於一個，請選出所有正確的選項。",
    "en": "More than one option may be correct. Choose all that apply.",
}

_PROBES = (
    "AB",
    "A, B",
    "B、A",
    "A同B",
    "(A) (B)",
    "答案：A、B、D",
    "The answer is A and C.",
    "A or B",
    "全部都啱",
    "All of the above.",
    "除咗A都啱",
    "以上皆非",
    "A啱，B啱，C唔啱，D唔啱。",
    "答案：\n- A\n- B",
    "A係啱，B都係啱；其他唔啱。所以答案係A同B。",
    "A ✓\nB ✗\nC ✓\nD ✗",
)
"""Answers with several letters; how they are read is part of the signature."""


class MultiAnswer(MultipleChoice):
    """A question with two to ten options, several of them right. Columns as in multiple choice.

    An answer cell has letters (`ABD`, `A, B`), or, as declared, numbers or texts; or a list.
    """

    FIGURES = figures("choice_set_exact_match", "choice_set_f1", "unparsed_rate")
    SEVERAL: ClassVar = True
    LETTERED = False
    TOKENS = 256  # several letters, a phrase around them, or the options' texts
    READS: ClassVar[tuple[str, ...]] = ("settled",)

    def names(self, subject: Subject) -> dict[str, str]:
        """Return the placeholders that name a subject, and `{all_that_apply}`."""
        language = self.definition.language or "yue"
        names = super().names(subject)
        return {**names, "all_that_apply": _ALL_THAT_APPLY[language]}

    @property
    def max_tokens(self) -> int:
        """The token limit of a response."""
        return max(self.TOKENS, super().max_tokens)

    def score(
        self,
        answer: str,
        sample: Sample,
    ) -> Judgement:
        """Judge an answer against the letters of all right options.

        Examples:
            >>> from hkcanto_tasks.tasks import task_as_run
            >>> kind = MultiAnswer.__new__(MultiAnswer)  # made by `task_as_run`
            >>> kind.definition = task_as_run("hkcanto_law").definition
            >>> asked = Sample(id="", choices=("獅子", "企鵝", "鯨魚"), target="AC")
            >>> kind.score("A同B。", asked).values
            {'exact_match': 0.0, 'f1': 0.5, 'unparsed_rate': 0.0}
        """
        reading = hkcanto_metrics.read_choice_set(
            answer, self.lettered(sample), sample.question
        )
        letters = reading.letters or ""
        right = sample.target
        judgement = judge_reading(
            "letters",
            letters or None,
            reading.reason,
            right,
        )
        common = {*letters} & {*right}
        values = {
            "exact_match": judgement.values["acc"],
            "f1": 2 * len(common) / (len(letters) + len(right)),
            "unparsed_rate": judgement.values["unparsed_rate"],
        }
        return msgspec.structs.replace(judgement, values=values)

    def further_readings(self) -> list[Any]:
        """Return the readings of answers with several letters."""
        readings = []
        for text in _PROBES:
            judgement = self.judge(text, self.made_up())
            readings.append([judgement.answer, judgement.values["f1"]])
        return readings
