"""The items that the answers of another tool belong to, by their ids or questions."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...errors import LogError
from ...samples import Sample
from ...tasks import LoadedTask
from .answers import Answer

_AFTER_LETTERS = (".", ":", ")", "、", "")  # between a letter and its option
_MOST_EXAMPLES = 3  # in a message


def matched_answers(
    path: Path,
    answers: Sequence[Answer],
    loaded: LoadedTask,
) -> list[tuple[Answer, Sample]]:
    """Return the answers of a file with their items.

    Raises:
        LogError: An answer does not match exactly one item, its options differ from the item's,
            or an item has several answers.
    """
    index = _ItemIndex(loaded)
    matched: dict[str, tuple[Answer, Sample]] = {}
    unmatched = list[str]()
    for answer in answers:
        samples = index.samples(answer)
        if len(samples) != 1:
            unmatched.append(
                f"line {answer.line}: {len(samples) or 'no'} items have its id "
                f"{answer.id!r}, question {answer.question[:30]!r} and options"
            )
            continue
        sample = samples[0]
        first, _ = matched.setdefault(sample.id, (answer, sample))
        if first is not answer:
            raise LogError(
                f"{path}: lines {first.line} and {answer.line} both answer {sample.id}. "
                "Put further answers into a file of their own."
            )
    if unmatched:
        raise LogError(
            f"{path}: {len(unmatched):,} of {len(answers):,} answers match no item of "
            f"{loaded.task.name} (data {loaded.revision}): "
            f"{'; '.join(unmatched[:_MOST_EXAMPLES])}. Correct or remove these lines. They may "
            "be for another task (--task NAME), script or release."
        )
    return [*matched.values()]


class _ItemIndex:
    """The items of a task by id, and by question with and without its options."""

    def __init__(self, loaded: LoadedTask) -> None:
        self._by_id = {sample.id: sample for sample in loaded.samples}
        self._by_text: dict[str, list[Sample]] = defaultdict(list)
        for sample in loaded.samples:
            question = sample.question or sample.source
            options = loaded.kind.lettered(sample).items()
            texts = {_text(question)}
            for mark in _AFTER_LETTERS:
                texts.add(_text(question, options, mark))
            for text in texts:
                self._by_text[text].append(sample)

    def samples(self, answer: Answer) -> Sequence[Sample]:
        """Return the items with the id, question and options of an answer, as far as given."""
        named = self._by_id.get(answer.id)
        question = answer.question
        if named and not question:
            question = named.question or named.source
        samples = self._by_text.get(_text(question, answer.choices.items()), [])
        if named:
            return [sample for sample in samples if sample is named]
        return samples


def _text(
    question: str,
    options: Iterable[tuple[str, str | None]] = (),
    mark: str = "",
) -> str:
    """Return a question with its options, without differences in width and space."""
    parts = [question]
    for letter, option in options:
        if option:
            parts.append(f"{letter}{mark}{option}")
    return "".join(unicodedata.normalize("NFKC", "".join(parts)).split())
