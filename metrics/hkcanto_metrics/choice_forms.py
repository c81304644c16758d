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
# A check box behind an option that begins a line.
_BOX_BEHIND = re.compile(
    r"(?m)^(?P<option>[^\w\n]*+[A-J](?![A-Za-z])[^\n☐☑☒□■]{0,60}?)[ \t]*(?P<box>[☐☑☒□■])[ \t]*$"
)
_UNIT = re.compile(
    r"(?<=\d)[\s~]*(?:\\[,;: ])?\s*\\(?:text|mathrm|rm)\s*\{\s*([A-Za-z]{1,3})\s*\}"
)
# Simplified script writes the Cantonese 係 as 系.
_COPULA = re.compile(
    "(?<=[唔梗就應应該该咪案項项先至都])系|(?<![\u4e00-\u9fff])系(?= ?[(（「]?[A-J])"
)
_ANSWER = "\n答:"
# A letter that ends a sentence, or begins an option with its text.
_LETTER_STOP = re.compile(
    r"(?:(?<=[\u4e00-\u9fff:,、(A-J])|(?<=[:,] ))([A-J])\."
    r"(?= ?([\u4e00-\u9fff]{1,2}|[A-J](?=[\u4e00-\u9fff])))"
)
_LIST = 3  # so many letters with a full stop are a list


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
    if _BOX_BEHIND.search(response.text):
        response = _rewritten(
            response,
            _BOX_BEHIND,
            _with_box_before,
        )
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


def with_full_stops(
    response: Response,
    shown: Options,
) -> Response:
    """A half-width full stop after a letter as a Chinese one, unless an option's text follows.

    Examples:
        「答案係 A.唔係,係 C.」 is two sentences, and 「答案係 A.大嶼山」 is one.
    """
    stops = [*_LETTER_STOP.finditer(response.text)]
    if len({stop[1] for stop in stops}) >= _LIST:
        return response

    def ended(stop: re.Match[str]) -> str:
        is_label = any(text.startswith(stop[2]) for text in shown.texts.values())
        return stop[0] if is_label else f"{stop[1]}。"

    return Response(_LETTER_STOP.sub(ended, response.text), response.origins)


def _answer_of(match: re.Match[str]) -> tuple[str, int]:
    members = [*_MEMBER.finditer(match[0])]
    if not members:
        return match[0], match.start()
    return _ANSWER + members[-1][1], match.start() + members[-1].start(1) - len(_ANSWER)


def _with_box_before(line: re.Match[str]) -> tuple[str, int]:
    option = re.sub(r"[\[\]]", "", line["option"]).strip()
    return f"{line['box']} {option}", line.start()


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
