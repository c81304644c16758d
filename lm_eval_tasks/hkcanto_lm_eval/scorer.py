"""`scorer: hkcanto_choice`: our answer extraction for any multiple-choice task of lm-eval 0.5."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from lm_eval.api.metrics import Metric, mean
from lm_eval.scorers import GenScorer, ScoredDoc

from hkcanto_metrics.choice import extract_choice

_LETTERS = "ABCDEFGHIJ"
_COLUMNS = ("options", "choices")


def _metric(name: str, *, higher_is_better: bool) -> Metric:
    return Metric(name, fn=_scored_already, aggregation=mean, higher_is_better=higher_is_better)


def _scored_already(*_: Any) -> float:
    raise NotImplementedError("hkcanto_choice scores a document by itself")


@dataclass
class ChoiceScorer(GenScorer):  # type: ignore[misc]
    """Scores responses by the option that they settle on: `acc` and `unparsed_rate`.

    A response that does not choose a single option counts as wrong, and in `unparsed_rate`. With
    `--repeats`, a question's score is the mean over its responses.

    Attributes:
        options: The column of the options: a list, a mapping from letters, or `{label, text}`. By
            default `options`, `choices` or the columns A, B, C …
        question: The column of the question. It matters if a question asks which option is not
            true.
    """

    options: str = ""
    question: str = "question"

    default_metric_cfg: ClassVar[Any] = [
        _metric("acc", higher_is_better=True),
        _metric("unparsed_rate", higher_is_better=False),
    ]

    def score_doc(self, doc_id: int, doc_instances: list[Any]) -> ScoredDoc:
        """Score the responses to a document.

        Raises:
            ValueError: The document has no options, or its target is not one of them.
        """
        doc, target = doc_instances[0].doc, doc_instances[0].target
        options = self._options(doc)
        gold = _letter(target, options)
        if gold is None:
            raise ValueError(
                f"hkcanto_choice: document {doc_id} has the target {target!r}, which is not a "
                f"letter, index or text of its options {options}. Correct doc_to_target."
            )
        asked = str(doc.get(self.question) or "")
        responses = (each for one in doc_instances for each in one.filtered_resps[self.name])
        read = [extract_choice(str(each), options, asked) for each in responses]
        right = sum(each == gold for each in read) / len(read)
        unread = sum(each is None for each in read) / len(read)
        return ScoredDoc(doc_id, target, {"acc": [right], "unparsed_rate": [unread]})

    def _options(self, doc: Mapping[str, Any]) -> dict[str, str]:
        named = [self.options] if self.options else [name for name in _COLUMNS if name in doc]
        for name in named:
            if found := _lettered(doc.get(name)):
                return found
        found = {
            letter: str(doc[letter]) for letter in _LETTERS if doc.get(letter) not in (None, "")
        }
        if len(found) < 2 or named:
            raise ValueError(
                f"hkcanto_choice: no options in {named or 'options, choices or A, B, C …'}; the "
                f"document has the columns {', '.join(doc)}. Name the one with them: "
                "scorer: {type: hkcanto_choice, kwargs: {options: COLUMN}}."
            )
        return found


def _lettered(options: Any) -> dict[str, str]:
    """Return letter → text for a list, a mapping from letters, or labels and texts."""
    if isinstance(options, Mapping):
        labels, texts = options.get("label"), options.get("text")
        if labels is not None and texts is not None:
            return dict(zip(_LETTERS, map(str, texts), strict=False))
        pairs = {str(key): str(text) for key, text in options.items() if text is not None}
        return pairs if all(key in _LETTERS for key in pairs) else {}
    if isinstance(options, Sequence) and not isinstance(options, str):
        return dict(zip(_LETTERS, map(str, options), strict=False))
    return {}


def _letter(target: Any, options: Mapping[str, str]) -> str | None:
    if isinstance(target, int):
        return [*options][target] if 0 <= target < len(options) else None
    text = str(target).strip()
    alike = [letter for letter, option in options.items() if option == text]
    plain = text.strip("().:")
    return plain if plain in options else alike[0] if len(alike) == 1 else None
