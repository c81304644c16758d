"""Matching answers to the items of a task, by id or else by the text of the question."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ...samples import Sample
from .answers import Answer

_OPTION = re.compile(r"(?:^|\n)[ \t]*[（(]?([A-Z])[ \t]*[.:、)：．）][ \t]*", re.MULTILINE)


class Questions:
    """An index of a task's items, by id and by question.

    Args:
        samples: The items.
        letters: The letters of the items' options.

    Examples:
        >>> asked = Sample(id="law/1", question="邊個啱？", choices=("甲", "乙"))
        >>> questions = Questions([asked], "AB")
        >>> questions.find(Answer(1, question="邊個啱?\\nA. 甲\\nB. 乙")) is asked
        True
        >>> questions.find(Answer(1, question="邊個啱?\\nA. 乙\\nB. 甲"))
        'its options are others, or in another order'
    """

    def __init__(self, samples: Sequence[Sample], letters: str) -> None:
        self._letters = letters
        self._by_id = {sample.id: sample for sample in samples}
        self._by_text: dict[str, list[Sample]] = defaultdict(list)
        for sample in samples:
            for text in dict.fromkeys(map(_plain, (sample.question or sample.source, sample.text))):
                self._by_text[text].append(sample)

    def find(self, answer: Answer) -> Sample | str:
        """Return the item that an answer belongs to, or why there is none."""
        if answer.problem:
            return answer.problem
        named = self._by_id.get(answer.id)
        if not answer.question:
            return named or f"there is no item {answer.id!r}"
        found, why = self._by_question(answer)
        if named:
            same = any(each is named for each in found)
            return named if same else f"{answer.id} has another question"
        if len(found) > 1:
            return f"{len(found)} items have this question, such as {found[0].id} and {found[1].id}"
        return found[0] if found else why

    def _by_question(self, answer: Answer) -> tuple[list[Sample], str]:
        """Return the items with the question of an answer, or why there is none."""
        stem, shown = _split(answer.question)
        whole = self._by_text.get(_plain(answer.question), [])
        asked = whole or self._by_text.get(_plain(stem), [])
        options = answer.choices or ({} if whole else shown)
        if not asked:
            return [], "no item has this question"
        found = [each for each in asked if not options or self._has(each, options)]
        return found, "its options are others, or in another order"

    def _has(self, sample: Sample, options: Mapping[str, str]) -> bool:
        own = dict(zip(self._letters, sample.choices, strict=False))
        letters = own.keys() | options.keys()
        pairs = ((own.get(letter) or "", options.get(letter) or "") for letter in letters)
        return all(one == two or _plain(one) == _plain(two) for one, two in pairs)


def _plain(text: str) -> str:
    """Return a text normalised so that differences in width and space disappear."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def _split(question: str) -> tuple[str, dict[str, str]]:
    """Return a question without its options, and the options by letter."""
    found = list(_OPTION.finditer(question))
    first = max((at for at, each in enumerate(found) if each[1] == "A"), default=len(found))
    found = found[first:]
    if not found:
        return question, {}
    ends = [each.start() for each in found[1:]] + [len(question)]
    options = {each[1]: question[each.end() : end] for each, end in zip(found, ends, strict=True)}
    return question[: found[0].start()], options
