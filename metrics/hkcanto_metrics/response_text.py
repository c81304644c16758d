"""A model's response in a form in which phrases can be looked up, and the way back from it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from hkcanto_metrics.reasoning import split_reasoning
from hkcanto_metrics.script import fold_script

# What matters stands near the beginning or near the end. Looking no further keeps the time bounded
# on outputs of any length.
_HEAD, _TAIL = 1_500, 3_500

_GONE = "\0"  # fills up what a replacement leaves of a match, until `_compacted`
_CJK = "\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SIGNS = "\u3100-\u312f\u31a0-\u31bf"
BOPOMOFO = re.compile(f"[{_SIGNS}]")
_READING = re.compile(rf"\(\s*˙?[{_SIGNS}][{_SIGNS}ˊˇˋ˙ˉ\s,、]*\)|˙?[{_SIGNS}]+[ˊˇˋ˙]?")
# Cantonese words that mean what a written Chinese one does, so that each phrase is written once;
# brackets and quotation marks; letters that look like Latin ones.
_SAME = str.maketrans(
    "係嘅唔喺揀啱冇佢哋咗嗰諗話[{【「『〔《〈“‘«]}】」』〕》〉”»－—–−｡’АВСЕасеΑΒΕⲤ",
    "是的不在选对无他们了那想说((((((((((())))))))))----。'ABCEaceABEC",
)


class _CharacterTable(dict[int, str]):
    """A table for `str.translate` that gives one character for each one."""

    def __missing__(self, code: int) -> str:
        character, plain = chr(code), unicodedata.normalize("NFKD", chr(code))
        if "\u0338" not in plain:  # the stroke of ≠
            plain = "".join(c for c in plain if unicodedata.category(c)[0] != "M")
        if unicodedata.category(character) in ("Mn", "Me", "Cf") or not code:
            plain = _GONE
        elif 0x1F150 <= code < 0x1F18A:  # 🅐 and 🅰, which decompose to nothing
            plain = chr(65 + (code - 0x1F150) % 32)
        plain = plain if len(plain) == 1 else character
        self[code] = fold_script(plain.translate(_SAME)).translate(_SAME)
        return self[code]


_CHARACTERS = _CharacterTable({ord(c): c for c in "\n\t ˊˇˋ˙ˉ"})
_REWRITES = tuple(
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        (r"\\n(?![a-z])|</?(?:br|p|div|li|ul|ol|tr|h[1-6]) ?/?>", "\n"),
        (r"<\|[^<>\n]{1,40}\|>|</?s>|<(?:bos|eos|pad|unk)>|\(/?INST\)|&[a-z]{2,4};", " "),
        (r"<(?:final_?)?(?:answer|choice)>", "\nanswer:"),
        (r"</(?:final_?)?(?:answer|choice)>", "\n"),
        (r"</?[a-z]{1,6}>|<{1,2}(?=[A-J]>)|(?<=<[A-J])>{1,2}", ""),
        (r"\A第[一二三四五六七八九十\d]{1,3}题[:、. ]*", ""),
        # the \b of \boxed may have been read as a backspace
        (r"(?:\\{1,2}|\x08|(?<![a-z]))(?:f?box|boxed|oxed) ?(?=\()", "答:"),
        (r"\\(?:d?text(?:bf|it|rm)?|math(?:bf|rm|sf|it)|q?quad)(?![a-z])|\\(?!\w)[^\n ]?|\$", ""),
        (r"~~[^~\n]{1,80}~~|[*`~]+", ""),
        (r"(?<=[a-z])_(?=[a-z])", " "),
        (r"_|(?<![A-Za-z])'|'(?![A-Za-z])|\"", ""),
        # headings, bullets, numbers of list items, tables
        (r"^ *(?:(?:[#>+•·▪●○◦-]+ +|#+|\d{1,2}[.)](?: |(?=[^\d\s]))|\d{1,2}、|\|) *)+|[|# ]+$", ""),
        (r"^[|: \0-]+$", ""),
        (r" *\| *", ":"),
    )
)
_SPACES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[^\S\n]*\n\s*", "\n"),
        (rf"[^\S\n]+(?=[^\S\n])|(?<=[{_CJK}])\s(?<!\n)|[^\S\n](?=[{_CJK},.;:!?)])", ""),
        (r"[^\S\n ]", " "),
    )
)

_TURN = re.compile(
    r"<[|｜](?:im_end|eot_id|eom_id|end_of_text|endoftext|end_of_turn|end▁of▁sentence|return|end|eos)"
    r"[|｜]>|</s>|<eos>|<end_of_turn>"
    r"|(?:<\|(?:im_start|start_header_id|start)\|>|<start_of_turn>|<[|｜](?=[A-Za-z]+[|｜]>))"
    r" ?(system|user|human|assistant|model)(?:<\|end_header_id\|>|[|｜]>)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Response:
    """A text, and for each of its characters the position in what the model wrote."""

    text: str
    origins: Sequence[int]

    def __getitem__(self, part: slice) -> Response:
        """A part of this text."""
        return Response(self.text[part], self.origins[part])


def own_answer(text: str) -> Response | None:
    """Cut a response to what the model itself answers first: no reasoning, no other turn.

    Of more than 5,000 characters, both ends. `None` where the reasoning was cut off.

    >>> own_answer("<think>C?</think>B<|im_end|>\\n<|im_start|>user\\nNext?").text
    'B'
    """
    reasoned = split_reasoning(text)
    if not reasoned.answer.strip() and text.strip():
        return None
    ranges = [range(*span) for span in reasoned.spans]
    places = ranges[0] if len(ranges) == 1 else [*chain.from_iterable(ranges)]
    answer = Response(reasoned.answer, places)
    if len(places) > _HEAD + _TAIL:
        head, tail = answer[:_HEAD], answer[len(places) - _TAIL :]
        places = [*head.origins, head.origins[-1], *tail.origins]
        answer = Response(f"{head.text}\n{tail.text}", places)
    start, role = 0, "assistant"
    for turn in _TURN.finditer(answer.text):
        if role in ("assistant", "model") and answer.text[start : turn.start()].strip():
            return answer[start : turn.start()]
        start, role = turn.end(), (turn[1] or role).lower()
    return answer[start if role in ("assistant", "model") else len(answer.text) :]


def normalize_response(response: Response, keep_bopomofo: bool = False) -> Response:
    """Reduce the ways of writing the same response to one, for matching rather than reading.

    One script and one form for each character: plain width, no accents, round brackets, no quotes,
    係 as 是. Markdown, LaTeX wrappers, HTML, special tokens and, unless kept, bopomofo readings go.
    White space shrinks, next to Chinese it vanishes; lines stay lines, empty ones go.

    >>> normalize_response(Response("**答(ㄉㄚˊ)案(ㄢˋ)**：【Ｂ】", range(19))).text
    '答案:(B)'
    """
    text, origins = response.text.translate(_CHARACTERS), response.origins
    readings = () if keep_bopomofo else ((_READING, ""),)
    for rewrites in (readings, _REWRITES, _SPACES):
        for pattern, replacement in rewrites:
            text = pattern.sub(partial(_filled, replacement), text)
        if _GONE in text:
            origins = [origins[at] for at, character in enumerate(text) if character != _GONE]
            text = text.replace(_GONE, "")
    return Response(text, origins)


def _filled(replacement: str, match: re.Match[str]) -> str:
    return replacement.ljust(len(match[0]), _GONE)
