"""Remove the text that models put around a translation, before it is scored.

The wrapping of the whole response is removed first, then the text before and after the translation
(see `hkcanto_metrics.translation_layout`). No rule looks at the quality of a text, so cleaning
favours no model. If there are several versions, the one in the requested language is kept. The
names of the removed parts are reported.
"""

import json
import re
from collections.abc import Callable, Set
from dataclasses import dataclass

from hkcanto_metrics.reasoning import split_reasoning, strip_reasoning
from hkcanto_metrics.translation_kinds import label_length
from hkcanto_metrics.translation_layout import TranslationReader


@dataclass(frozen=True)
class Cleaned:
    """A response without its wrapping.

    Attributes:
        text: The rest, without white space around it; may be empty.
        removed: The names of the removed parts, in this order, each at most once. Wrapping:
            ``reasoning``, ``special tokens``, ``code fence``, ``JSON``, ``label``, ``marks``,
            ``quotes``. Other text: ``excess``, ``preamble``, ``romanisation``, ``notes``,
            ``back-translation``, ``second version``, ``other turn``.
        ambiguous: Whether another part could be the translation, too, or the text speaks of
            translating or to the user. The first of several alternatives is kept.
        refused: Whether the text refuses to translate or to sum up; found only if the source is
            given and does not refuse anything itself.
    """

    text: str
    removed: tuple[str, ...] = ()
    ambiguous: bool = False
    refused: bool = False

    @property
    def overgenerated(self) -> bool:
        """Whether there was text around the translation that was not wrapping."""
        return self.ambiguous or not _WRAPPINGS.keys() - {"excess"} >= set(self.removed)


def clean_output(
    text: str,
    *,
    source: str = "",
    language: str = "",
) -> Cleaned:
    """Remove reasoning, a code fence, a label, quotation marks and text around a translation.

    A label names the result or its language and ends in a colon, or is in 【】: ``譯文：``,
    ``普通话翻译:``, ``**Cantonese:**``. Quotation marks, Markdown and tags are removed if they
    enclose the whole text; a JSON object is replaced by its answer. Text around the translation is
    removed only if ``source`` is given: introductory sentences, notes, romanisation,
    back-translations, other versions, other turns. A response is cut after 100,000 characters,
    because it is in a loop.

    Args:
        text: A model's response.
        source: The text to be translated. A kind of wrapping that the source has, too, is part of
            the translation and is kept.
        language: The language asked for: ``yue``, ``zh`` or ``en``. If there are several texts, the
            one in that language is the translation. By default, Cantonese is preferred to Written
            Chinese if the source is Written Chinese.

    Returns:
        The text without its wrapping, and the names of the removed parts.

    Examples:
        >>> cleaned = clean_output("譯文：「佢今日唔得閒。」")
        >>> cleaned.text, cleaned.removed
        ('佢今日唔得閒。', ('label', 'quotes'))
        >>> clean_output("「佢今日唔得閒。」", source="「他今天沒空。」").removed
        ()
        >>> clean_output("Sure:\\n\\n佢唔得閒。\\n\\nNote: This is casual.", source="He's busy.").removed
        ('preamble', 'notes')
    """
    candidates = _WRAPPINGS.keys() - (clean_output(source).removed if source else ())
    kept, removed = _unwrapped(text.strip(), candidates)
    ambiguous = False
    refused = False
    if source.strip():
        reader = TranslationReader(source.strip(), language)
        response = kept
        text, around, ambiguous = reader.find(response)
        kept, within = _unwrapped(text.strip(), candidates - removed)
        removed |= around | within
        refused = reader.refuses(kept)
        ambiguous &= not refused
        if not refused and reader.refuses(response):
            # A translation may follow, if a label says so.
            refused = "label" not in removed
            ambiguous = True
    named = tuple(name for name in (*_WRAPPINGS, *_AROUND) if name in removed)
    return Cleaned(
        kept,
        named,
        ambiguous,
        refused,
    )


def _unwrapped(text: str, candidates: Set[str]) -> tuple[str, set[str]]:
    """Remove the wrappings one by one, outermost first, and name them."""
    removed: set[str] = set()
    while True:
        for name, remove in _WRAPPINGS.items():
            if name in candidates - removed and (rest := remove(text)) != text:
                removed.add(name)
                text = rest.strip()
                break
        else:
            return text, removed


_LONGEST, _LONGEST_LABELLED = 100_000, 10_000
_MOST_LAYERS = 10
# The fence may be unclosed, because the model ran out of tokens.
_FENCED = re.compile(r"\A```(?:[^\s`]*\n)?((?:(?!```).)*)(?:```)?\Z", re.DOTALL)
_QUOTES = {
    "「": "」",
    "『": "』",
    "“": "”",
    "‘": "’",
    '"': '"',
    "'": "'",
    "＂": "＂",
    "«": "»",
}
_APOSTROPHE = re.compile("(?<=[a-z])['’](?=[a-z])", re.IGNORECASE)


def _without_label(text: str) -> str:
    """Remove a label at the start, unless other lines have one, too: each names a version."""
    lines = text[:_LONGEST_LABELLED].splitlines()
    labelled = [line for line in lines if label_length(line.strip())]
    return text if len(labelled) > 1 else text[label_length(text) :]


def _without_quotes(text: str) -> str:
    """Remove quotation marks around a text that has no other ones like them."""
    closing = _QUOTES.get(text[:1])
    inside = _APOSTROPHE.sub("", text[1:-1])
    if closing is None or len(text) < 2 or text[-1] != closing:
        return text
    return text if text[0] in inside or closing in inside else text[1:-1]


def _without_json(text: str) -> str:
    """Put the one answer of a JSON object in its place."""
    data = _JSON.search(text)
    try:
        members = json.loads(data[0]) if data else {}
    except ValueError:
        return text
    answers = [members[key] for key in members if key.lower() in _ANSWER_KEYS]
    if data is None or len(answers) != 1 or not isinstance(answers[0], str):
        return text
    return text.replace(data[0], answers[0])


# The member of a JSON object that has the answer; the other members are about it.
_ANSWER_KEYS = {
    "answer",
    "translation",
    "output",
    "result",
    "text",
    "label",
    "sentiment",
    "譯文",
    "译文",
    "翻譯",
    "翻译",
    "答案",
}
_JSON = re.compile(r"^\{.*\}$", re.DOTALL | re.MULTILINE)
_MARKED = re.compile(
    r"\A(?:(?P<mark>\*\*|__|[*_`])(?P<marked>(?:(?!(?P=mark)).)+)(?P=mark)"
    r"|<(?P<tag>\w+)(?:\s[^<>]*)?>(?P<tagged>.*)</(?P=tag)>|(?:#+|[-*•]) (?P<line>[^\n]*))\Z",
    re.DOTALL,
)


def _without_marks(text: str) -> str:
    """Remove Markdown and tags around the whole text, up to a few layers of them."""
    for _ in range(_MOST_LAYERS):
        if text.startswith("> "):
            text = re.sub("(?m)^> ?", "", text)
        marked = _MARKED.match(text)
        inside = marked and (marked["marked"] or marked["tagged"] or marked["line"])
        if not inside:
            break
        text = inside.strip()
    return text


def _without_reasoning(text: str) -> str:
    """Remove reasoning; a text that has only special tokens or tags stays."""
    reasoned = split_reasoning(text)
    is_all = reasoned.finished and not reasoned.reasoning
    return text if is_all else reasoned.answer


_WRAPPINGS: dict[str, Callable[[str], str]] = {
    "reasoning": _without_reasoning,
    "excess": lambda text: text[:_LONGEST],
    "special tokens": strip_reasoning,
    "code fence": lambda text: _FENCED.sub(r"\1", text),
    "JSON": _without_json,
    "label": _without_label,
    "marks": _without_marks,
    "quotes": _without_quotes,
}
_AROUND = (
    "preamble",
    "romanisation",
    "notes",
    "back-translation",
    "second version",
    "other turn",
)
