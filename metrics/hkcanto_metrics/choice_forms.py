"""Write out the forms that models answer in: JSON, check boxes, small letters."""

import re
from collections.abc import Callable

from hkcanto_metrics.decision_words import SAYS
from hkcanto_metrics.option_grammar import Options
from hkcanto_metrics.response_text import Response

# An object with other members beside the answer, and the answer's member in it.
_OBJECT = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
_MEMBER = re.compile(
    r"""["'](?:(?:final|correct|my|the|your|selected|chosen)?[ _]?(?:answers?|choices?|options?"""
    r"""|selection|letters?|result|prediction|label|sentiment|emotion|category|class)|(?:正確|正确|最終|最终)?(?:答案|選項|选项|選擇|选择|標籤|标签|情感|分類|分类))["']"""
    r"""\s*:\s*("[^"\n]{1,200}"|'[^'\n]{1,200}'|\[[^][\n]{1,200}\])""",
    re.IGNORECASE,
)
_BOX = re.compile(
    r"(?:(?P<ticked>[☑☒🗹●◉◼■⬛]|\[[xX✓✔√v*]\]|\([xX✓✔√●*]\))|[☐□○◯◻⬜]|\[ ?\]|\( \))"
    r"(?=\s*[*_`]*(?:選項|选项|[Oo]ption )?[(（]?[A-JＡ-Ｊ](?![A-Za-z])"
    r"|(?:(?<=\A.)|(?<=\n.)|(?<=\n- .)|(?<=\A- .)|(?<=\A...)|(?<=\n...)|(?<=\n- ...)|(?<=\A- ...)) \w)"
)
_UNIT = re.compile(
    r"(?<=\d)[\s~]*(?:\\[,;: ])?\s*\\(?:text|mathrm|rm)\s*\{\s*([A-Za-z]{1,3})\s*\}"
)
# Simplified script writes the Cantonese 係 as 系.
_COPULA = re.compile(
    "(?<=[唔梗就應应該该咪案項项先至都])系|(?<![\u4e00-\u9fff])系(?= ?[(（「]?[A-J])"
)
_ANSWER = "\n答:"


def written_out(response: Response) -> Response:
    """A response with the answer of each JSON object, and with signs for its check boxes.

    Examples:
        >>> written_out(Response('{"options": {"A": "1"}, "answer": "B"}', range(38))).text
        '\\n答:"B"'
        >>> written_out(Response("[ ] A\\n[x] B", range(11))).text
        '□ A\\n■ B'
    """
    if "{" in response.text:
        response = _rewritten(response, _OBJECT, _answer_of)
    if "\\" in response.text:
        response = _rewritten(
            response, _UNIT, lambda unit: (f" {unit[1]}", unit.start())
        )
    if "系" in response.text:
        response = _rewritten(response, _COPULA, lambda word: ("係", word.start()))
    if _BOX.search(response.text):
        response = _rewritten(response, _BOX, _sign_of)
    return response


def with_capital_labels(
    response: Response,
    shown: Options,
) -> Response:
    """Small letters that label an option as capital ones, if no capital letter names one."""
    if SAYS["name"].search(response.text):
        return response

    def capital(match: re.Match[str]) -> str:
        return match[0].upper() if match[0].upper() in shown.texts else match[0]

    return Response(SAYS["small_label"].sub(capital, response.text), response.origins)


def _answer_of(match: re.Match[str]) -> tuple[str, int]:
    members = [*_MEMBER.finditer(match[0])]
    if not members:
        return match[0], match.start()
    return _ANSWER + members[-1][1], match.start() + members[-1].start(1) - len(_ANSWER)


def _sign_of(match: re.Match[str]) -> tuple[str, int]:
    return ("■" if match["ticked"] else "□"), match.start()


def _rewritten(
    response: Response,
    pattern: re.Pattern[str],
    new: Callable[[re.Match[str]], tuple[str, int]],
) -> Response:
    """A response with each match replaced by a text that begins at another place of it."""
    texts: list[str] = []
    origins: list[int] = []
    end = 0
    for match in pattern.finditer(response.text):
        text, start = new(match)
        texts += [response.text[end : match.start()], text]
        origins += response.origins[end : match.start()]
        origins += response.origins[max(0, start) : max(0, start) + len(text)]
        end = match.end()
    texts.append(response.text[end:])
    return Response("".join(texts), [*origins, *response.origins[end:]])
