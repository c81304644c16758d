"""Take off what models say before and after a translation.

A line is taken off for what it is, not for where the translation may be: a courtesy, an
announcement, an offer, a comment on the translation, or the heading of notes. A kind that the
source has, too, may be part of the translation, and stays.
"""

import re
from pathlib import Path

from hkcanto_metrics.patterns import read_patterns
from hkcanto_metrics.script import HAN, fold_script

_PATTERNS = read_patterns(
    Path(__file__).with_suffix(".toml"), re.IGNORECASE | re.VERBOSE
)
_COMPLETE = 0.6
# Each kind of text after a translation → the share of the source's words that come before it.
_TAIL = {"offer": 0.3, "note": 0.3, "comment": 0.5, "rule": _COMPLETE}
_LINES_READ, _LONGEST_LINE, _LONGEST_ANNOUNCEMENT = 500, 300, 80
_MARKS = " \t*_#>~`"
_SENTENCE = re.compile(r"(?<=[。！!？?.…~])\s*|[,，]\s*")
_WORD = re.compile(rf"[{HAN}]|[^\W\d_{HAN}]+")
_REQUEST = re.compile(
    r"\W*(?:请[将把]|(?i:please|translate))"
)  # another prompt, in a loop
_NOTE_ENDS = (":", ")", "）", "】", "]", "")
_OPENING = re.compile(r"[\W_]*")


class TranslationFrame:
    """What may be around the translation of a source.

    Args:
        source: The text to be translated.
    """

    def __init__(self, source: str) -> None:
        lines = [*map(_plain, source.splitlines()[:_LINES_READ])]
        self.kinds = {"courtesy", "announces", *_TAIL}
        for line in lines:
            if line.rstrip().endswith(":"):
                self.kinds.discard("announces")
            if _is_courtesy(line):
                self.kinds.discard("courtesy")
            for kind in _TAIL:
                if _opens(kind, line) or any(
                    _opens(kind, sentence) for sentence in _SENTENCE.split(line)
                ):
                    self.kinds.discard(kind)
        self.size = _size(source)
        # Of a source of several lines, more must be there before a line may end it.
        self.least = _COMPLETE if sum(map(bool, lines)) > 1 else 0.0

    def without(self, text: str) -> tuple[str, set[str]]:
        """Return a response without the frame, and the names of the removed parts.

        Examples:
            >>> frame = TranslationFrame("He left.")
            >>> text, parts = frame.without("好的！\\n\\n佢走咗。\\n\\n希望幫到你！")
            >>> text, sorted(parts)
            ('佢走咗。', ['notes', 'preamble'])
        """
        lines = text.splitlines(keepends=True)
        start = self._start(lines[:_LINES_READ])
        end = self._end(lines[: start + _LINES_READ], start)
        removed = {"preamble"} if start else set()
        if end is not None:
            removed.add("notes")
        return "".join(lines[start:end]).strip(), removed

    def _start(self, lines: list[str]) -> int:
        """The number of lines before the translation; 0 if there is nothing else."""
        start = 0
        for number, line in enumerate(lines):
            if not _WORD.search(line):
                continue
            if not self._is_preamble(_plain(line)):
                return start
            start = number + 1
        return 0

    def _is_preamble(self, line: str) -> bool:
        if "courtesy" in self.kinds and _is_courtesy(line):
            return True
        ends_in_colon = line.endswith(":")
        if "announces" not in self.kinds or len(line) > _LONGEST_ANNOUNCEMENT:
            return False
        announces = ends_in_colon and not _REQUEST.match(line)
        return announces and _PATTERNS["announces"].search(line) is not None

    def _end(self, lines: list[str], start: int) -> int | None:
        """The line in which something other than the translation begins."""
        size = 0
        for number, line in enumerate(lines[start:], start):
            share = size / (self.size or 1)
            for kind in self.kinds & _TAIL.keys():
                if share >= max(_TAIL[kind], self.least) and _opens(kind, line):
                    return number
            size += _size(line)
        return None


def _plain(line: str) -> str:
    """A line in one script, without Markdown around it."""
    plain = (
        fold_script(line.strip()[:_LONGEST_LINE]).replace("：", ":").replace("’", "'")
    )
    return plain.strip(_MARKS).replace("**", "")


def _is_courtesy(line: str) -> bool:
    """Whether every sentence of a line is a courtesy."""
    sentences = [
        sentence.strip(" 。！!.,，~～*…😊") for sentence in _SENTENCE.split(line)
    ]
    spoken = [*filter(None, sentences)]
    return bool(spoken) and all(map(_PATTERNS["courtesy"].fullmatch, spoken))


def _opens(kind: str, line: str) -> bool:
    """Whether a line begins with a text of a kind."""
    if kind == "rule":
        return _PATTERNS["rule"].fullmatch(line.strip()) is not None
    plain = _plain(line)
    opening = _OPENING.match(plain)
    begin = opening.end() if opening else 0
    if kind == "note":
        label = _PATTERNS["heading"].match(plain, begin)
        # In brackets, the end of the line closes the note.
        return label is not None and plain[label.end() : label.end() + 1] in _NOTE_ENDS
    if kind == "comment":
        # With a colon, it announces what follows. A quoted word begins with its mark.
        begin = 0
        if ":" in plain:
            return False
    return _PATTERNS[kind].match(plain, begin) is not None


def _size(text: str) -> int:
    return len(_WORD.findall(text))
