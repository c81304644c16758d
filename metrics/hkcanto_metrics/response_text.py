"""A model's response, reduced to a form in which phrases can be looked up."""

from __future__ import annotations

import html
import re
import unicodedata

# What matters stands near the beginning or near the end. Looking no further keeps the time bounded
# on outputs of any length.
HEAD_CHARACTERS = 1_500
TAIL_CHARACTERS = 3_500
_CUT = "\n…\n"

_BOPOMOFO_SIGNS = "\u3100-\u312f\u31a0-\u31bf"
BOPOMOFO = re.compile(f"[{_BOPOMOFO_SIGNS}]")
_TONES = "\u02ca\u02c7\u02cb\u02d9\u02c9"
_READING = re.compile(
    rf"[(（\[【]\s*\u02d9?[{_BOPOMOFO_SIGNS}][{_BOPOMOFO_SIGNS}{_TONES}\s,，、]*[)）\]】]"
    rf"|\u02d9?[{_BOPOMOFO_SIGNS}]+[{_TONES}]?"
)


def _lettered(first: int, letters: str = "ABCDEFGH") -> dict[int, str]:
    return {first + index: f"({letter})" for index, letter in enumerate(letters)}


_CIRCLED = (
    _lettered(0x24B6)  # Ⓐ
    | _lettered(0x24D0, "abcdefgh")  # ⓐ
    | _lettered(0x249C, "abcdefgh")  # ⒜
    | _lettered(0x1F130)  # 🄰
    | _lettered(0x1F150)  # 🅐
    | _lettered(0x1F170)  # 🅰
)
# Cyrillic, Greek and Coptic letters that look like option letters.
_HOMOGLYPHS = str.maketrans("АВСЕасеΑΒΕⲤ", "ABCEaceABEC")
_BRACKETS = str.maketrans("[{【「『〔《〈]}】」』〕》〉“”„«»｡", "(" * 8 + ")" * 8 + '"' * 5 + "。")
# The characters of our phrases, so that each phrase is written down once.
_SIMPLIFIED = str.maketrans(
    "選擇項為爲確應該認錯對個題還則無誤於論結總綜標準參終後種這樣據從揀會難嗎過實當來覺見說話"
    "傾兩與適貼較餘諗問釋證純屬淨邊們絕顯檢陣訂決轉並數網學別設議寧願須僅緊",
    "选择项为为确应该认错对个题还则无误于论结总综标准参终后种这样据从拣会难吗过实当来觉见说话"
    "倾两与适贴较余谂问释证纯属净边们绝显检阵订决转并数网学别设议宁愿须仅紧",
)

# Accents, but not the stroke of ≠.
_INVISIBLE = re.compile("[\u0300-\u0333\u0339-\u036f\u00ad\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff]")
_CJK = "\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

# Applied in this order.
_REWRITES = tuple(
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        # A line feed that stayed escaped, and the \b of \boxed that was read as a backspace.
        (r"\\n(?![a-z])", "\n"),
        (r"\x08oxed|\\{1,4}(?:boxed|fbox)|(?<![a-z\\])boxed(?=\s?[{(])", r"\\boxed"),
        # special tokens and HTML
        (r"<[|｜][^<>\n]{1,40}[|｜]>|</?s>|<(?:bos|pad|unk)>|\[/?INST\]", " "),
        (r"<(?:final_?)?(?:answer|choice|option)>", "\nanswer: "),
        (r"</(?:final_?)?(?:answer|choice|option)>", "\n"),
        (r"</?(?:br|p|div|li|ul|ol|pre|tr|h[1-6]) ?/?>", "\n"),
        (r"</?(?:b|i|u|strong|em|mark|span|code|font|center|sub|sup|td|th)>", ""),
        (r"<{1,2}([A-H])>{1,2}", r"(\1)"),
        # LaTeX
        (r"\\(?:d?text(?:bf|it|rm|sf|tt)?|math(?:bf|rm|sf|it|bb)|mbox|rm|bf|bold)(?![a-z])", ""),
        (r"\\[ ,;:!]|\\q?quad", " "),
        (r"\\[()\[\]]|\\?\$", ""),
        # Markdown: struck-out text, emphasis, underscores
        (r"~~[^~\n]{1,80}~~", ""),
        (r"[*`~]+", ""),
        (r"(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])", ""),
        (r"(?<=[a-z])_(?=[a-z])", " "),
        # quotes that are no apostrophes
        (r"(?<![A-Za-z])'|'(?![A-Za-z])", '"'),
        (r"[^\S\n]+", " "),
        (r"^ ?#+(.*?)#*$", r"\1"),
        # Markdown: headings, quotations, bullets, numbers of list items, tables
        (r"^ ?(?:(?:[#>+•·▪●○◦–—-]+|\d{1,2}[.)]) |\d{1,2}[.)、](?=[^\d\s]))+", ""),
        (r"\A第[一二三四五六七八九十\d]{1,3}[题題][:、. ]*", ""),
        (r"^(?=[ |:]*-)[ |:-]+$", ""),
        (r"^ ?\| ?| ?\| ?$", ""),
        (r" ?\| ?", ": "),
        # white space that means nothing
        (r" ?(?:\n ?)+", "\n"),
        (rf"(?<=[{_CJK}]) | (?=[{_CJK}])", ""),
        (r" (?=[,.;:!?)])", ""),
    )
)

# Without any of these, nothing but the white space would change: so it is with most option texts.
_MARKUP = re.compile(r"[\\\x08<>\[$*`~_'#+•·▪●○◦–—|\n-]|boxed|\A\s?[\d第]")
_WHITE_SPACE = tuple(
    rewrite
    for rewrite in _REWRITES
    if rewrite[0].pattern in (r"[^\S\n]+", r" (?=[,.;:!?)])") or _CJK in rewrite[0].pattern
)

_TURN = re.compile(
    r"<[|｜](?:im_end|eot_id|eom_id|end_of_text|endoftext|end_of_turn|end▁of▁sentence|return|end|eos)"
    r"[|｜]>|</s>|<eos>|<end_of_turn>"
    r"|(?:<\|(?:im_start|start_header_id|start)\|>|<start_of_turn>|<[|｜](?=[A-Za-z]+[|｜]>))"
    r"[ ]?(system|user|human|assistant|model)(?:<\|end_header_id\|>|[|｜]>)?",
    re.IGNORECASE,
)
_HARMONY_FINAL = "<|channel|>final<|message|>"


def own_turn(text: str) -> str:
    """Return the first turn that the model itself speaks.

    Models that miss their stop token go on to write the user's next turn and answer it.

    Args:
        text: what the model wrote, its special tokens included or not.

    Returns:
        The text between the special tokens that mark turns; "" if there is none.

    >>> own_turn("B<|im_end|><|im_start|>user Next?<|im_end|><|im_start|>assistant C")
    'B'
    """
    pieces = _TURN.split(_window(text.rpartition(_HARMONY_FINAL)[2].strip()))
    for role, piece in zip(["assistant", *pieces[1::2]], pieces[::2], strict=True):
        if piece.strip() and (role or "assistant").lower() in ("assistant", "model"):
            return piece
    return ""


def normalize_response(text: str, *, keep_bopomofo: bool = False) -> str:
    """Reduce the ways of writing the same response to one, for matching rather than reading.

    Full-width, circled and accented letters become plain, brackets round, quotes straight;
    Markdown, LaTeX wrappers, HTML, special tokens and bopomofo readings go; the characters that
    decision phrases use become Simplified; white space shrinks, next to Chinese it vanishes.

    Args:
        text: what the model wrote. Of more than 5,000 characters, the middle is left out.
        keep_bopomofo: leave bopomofo in place.

    Returns:
        The normalised text. Lines stay lines; empty ones go.

    >>> normalize_response("**答(ㄉㄚˊ)案(ㄢˋ)**：【Ｂ】")
    '答案:(B)'
    """
    text = html.unescape(_window(text.strip())).translate(_CIRCLED)
    if not keep_bopomofo:
        text = _READING.sub("", text)
    text = _window(unicodedata.normalize("NFKD", text))
    text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).translate(_HOMOGLYPHS)
    for pattern, replacement in _REWRITES if _MARKUP.search(text) else _WHITE_SPACE:
        text = pattern.sub(replacement, text)
    return text.translate(_BRACKETS).translate(_SIMPLIFIED).strip()


def _window(text: str) -> str:
    if len(text) <= HEAD_CHARACTERS + TAIL_CHARACTERS + len(_CUT):
        return text
    return text[:HEAD_CHARACTERS] + _CUT + text[-TAIL_CHARACTERS:]
