r"""Read and compare answers in LaTeX, by Math-Verify (Kydlíček 2025): ``\frac12`` equals ``0.5``.

Only a formula that the response gives as its answer is read: the last ``\boxed{…}``, what follows
"答案：", "The answer is" or "####", or a response that is only a formula.
"""

import re
import threading
import unicodedata
from typing import Any

from hkcanto_metrics.script import HAN
from hkcanto_metrics.short_answer import final_answer

_LONGEST_FORMULA = 500
_SECONDS_TO_COMPARE = 5
_DELIMITED = re.compile(
    r"(?s)\$\$(?P<a>.+?)\$\$|\$(?P<b>[^$]+)\$|\\\((?P<c>.+?)\\\)|\\\[(?P<d>.+?)\\\]"
)
_TEXT = re.compile(r"\\(?:text|textrm|mathrm|mbox|begin|end)\s*\{[^{}]*\}")
# Prose, a line end, and letters that name points, whose order Math-Verify ignores.
_NO_FORMULA = re.compile(
    rf"[{HAN}\n]|(?<![\\A-Za-z])[A-Za-z]{{3}}|\\(?:angle|triangle)(?![a-z])"
)
_NOT_BESIDE = re.compile(r"(?i)\d|[唔不非未]|\b(?:no|not|or)\b|或")
_COMMAND = re.compile(r"\\(?!text|mathrm|mbox)[A-Za-z]+|\\(?:text|textrm|mathrm|mbox)")
_WORD = re.compile(r"([A-Za-z]+)\s*(?:\}\s*)?(\^\s*\{?\s*\d+)?")
_ROOT = re.compile(r"√\s*([0-9]+|[a-z])")
_SIGNS = str.maketrans(
    {"∪": r"\cup ", "∩": r"\cap ", "∞": r"\infty ", "°": r"^\circ ", "−": "-"}
)


def read_formula(text: str) -> str:
    r"""Return the formula that a response gives as its answer.

    Args:
        text: The model's response, without its reasoning block.

    Returns:
        The formula without dollar signs; empty if there is none, more than one, or other text with
        a number or a negation beside it.

    Examples:
        >>> read_formula(r"因為 $1-\frac12=\frac12$，答案係 $\frac{1}{2}$。")
        '\\frac{1}{2}'
        >>> read_formula("首先計 $2+3$。"), read_formula("答案：$x=2$ 或 $x=3$")
        ('', '')
    """
    answer = final_answer(text)
    matches = [*_DELIMITED.finditer(answer)]
    if len(matches) > 1:
        return ""
    formula = answer
    beside = ""
    for match in matches:
        formula = match[match.lastgroup or 0]
        beside = answer[: match.start()] + answer[match.end() :]
    # Other numbers may be rival answers, and a negation rejects this one.
    if _NOT_BESIDE.search(beside):
        return ""
    is_announced = answer != text
    if not is_announced and re.search(r"\w", beside):
        return ""
    formula = unicodedata.normalize("NFKC", formula.strip(" \t\n*。."))
    formula = _ROOT.sub(r"\\sqrt{\1}", formula.translate(_SIGNS))
    is_long = len(formula) > _LONGEST_FORMULA
    if is_long or _NO_FORMULA.search(_TEXT.sub("", formula)):
        return ""
    return formula


def equal_formulas(answer: str, target: str) -> bool | None:
    r"""Return whether two formulas are equal.

    Units that both formulas have must be the same; one without a unit may be equal to any.

    Args:
        answer: The formula that was read, without dollar signs.
        target: The right one.

    Returns:
        Whether they are equal; None if one of them cannot be parsed, if they have different units,
        or if the comparison fails or takes more than five seconds.

    Raises:
        ModuleNotFoundError: Math-Verify is not installed.

    Examples:
        >>> equal_formulas(r"\frac{2}{4}", "0.5"), equal_formulas("x>2", "x<2")
        (True, False)
        >>> equal_formulas(r"12\text{ m}", r"12\text{ cm}")
    """
    from math_verify import verify
    from math_verify.errors import TimeoutException

    # Math-Verify can keep a time limit only in the main thread.
    is_main = threading.current_thread() is threading.main_thread()
    limit = _SECONDS_TO_COMPARE if is_main else None
    parsed = _parsed(answer, limit)
    parsed_target = _parsed(target, limit)
    if parsed is None or parsed_target is None:
        return None
    units = _units(answer, parsed)
    target_units = _units(target, parsed_target)
    if units and target_units and units != target_units:
        return None
    try:
        return bool(
            verify(
                parsed_target,
                parsed,
                timeout_seconds=limit,
                raise_on_error=True,
            )
        )
    except (Exception, TimeoutException):  # SymPy raises errors of any class
        return None


def _parsed(formula: str, limit: int | None) -> Any:
    from math_verify import LatexExtractionConfig, parse

    if not formula:
        return None
    expressions = parse(
        f"${formula}$",
        [LatexExtractionConfig()],
        fallback_mode="no_fallback",
        parsing_timeout=limit,
    )
    return expressions[0] if expressions else None


def _units(formula: str, parsed: Any) -> list[tuple[str, str]]:
    """Return the words that are in a formula but not in what was parsed, with their powers."""
    symbols = {*"".join(map(str, parsed.free_symbols)).lower()}
    units = []
    for word, power in _WORD.findall(_COMMAND.sub(" ", formula)):
        if not {*word.lower()} <= symbols:
            units.append((word, power.strip("^{ ")))
    return units
