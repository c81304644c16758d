"""Open answers judged by a model with a declared rubric: a scale of levels, some of which pass.

The judge is a second model, run by Inspect (`--model-role grader=…`) or by `hkcanto rescore
--grader …`. lm-eval has no judge: its answers are logged and count as unjudged.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from statistics import fmean
from typing import Any

import msgspec

from hkcanto_metrics.reasoning import Reasoned, split_reasoning

from ..data.tables import Row, as_text
from ..declarations import JudgedDefinition, Level, Rubric
from ..figures import Figure, figures
from ..judgements import Judgement
from ..prompts import fill, places
from ..samples import Sample
from .prompted import Prompted

_OWN_PLACES = ("answer", "levels", "code")
"""The placeholders of a judge's prompt that this module fills."""

_EMPTY = "none: empty"
_PROBES = (
    "{marker}: {low}",
    "**{marker}:** {low}",
    "{marker}：{low}（{name}）",
    "{low}",
    "{marker} {low}",
    "{marker}: {low}\n{marker}: {high}",
    "{marker}: {low}-{high}",
    "{marker}: {low}.5",
    "{marker}: {low} ({other})",
    "<think>{marker}: {high}</think>{marker}: {low}",
)
"""Forms of judges' replies; how they are read is part of the signature."""

ON_LINE = 6
"""The length of the code's beginning on the line with the level."""

_METHOD = 2  # raised if a judge is asked, or its reply read, in another way


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """One judge's reply about an answer.

    Attributes:
        grader: The model.
        text: Its reply, without its reasoning.
        failure: Why there is no reply; empty if there is one.
        code: The code on the line with its level; empty in logs of older versions.
    """

    grader: str
    text: str = ""
    failure: str = ""
    code: str = ""


class Judged(Prompted):
    """Prompts whose answers are judged. Columns: `prompt`; optional: `id`, `category`.

    If the judge's prompt needs other texts, such as a reference answer, each is a column too.

    Attributes:
        rubric: The rubric by which the judge model judges.
    """

    FIGURES = figures(
        "pass_rate",
        "mean_level",
        "unjudged_rate",
        "empty",
    )
    Definition = JudgedDefinition

    definition: JudgedDefinition

    def set_up(self) -> None:
        """Hash the rubric, and find the texts of a row that only the judge sees."""
        self.rubric = self.definition.rubric
        content = msgspec.json.encode([self.rubric, _METHOD])
        self.rubric_hash = sha256(content).hexdigest()[:7]
        shown_to_model = {
            *self.names(self.definition.subjects[0]),
            *self.VALUES,
            *self.placeholders,
        }
        self._for_judge_alone = [
            place
            for place in places(self.rubric.prompt)
            if place not in shown_to_model and place not in _OWN_PLACES
        ]

    @property
    def reads(self) -> set[str]:
        """The columns that the kind reads itself, also those shown only to the judge."""
        columns = {*super().reads}
        for place in self._for_judge_alone:
            columns.update(self.columns(place))
        return columns

    @property
    def own_figures(self) -> tuple[Figure, ...]:
        """The figures of an item; the rubric says which levels are better."""
        higher = self.rubric.higher_is_better
        return tuple(
            replace(figure, higher_is_better=higher)
            if figure.name == "mean_level"
            else figure
            for figure in self.FIGURES
        )

    # ------------------------------------------------------------------ reading the release

    def row(self, row: Row) -> Sample:
        """Read a prompt, and the texts that are shown only to the judge."""
        shown: dict[str, str] = {}
        for place in self._for_judge_alone:
            columns = self.columns(place)
            text = as_text(row.find(columns))
            if text is None:
                raise row.problem(
                    f"no text in a column {' or '.join(columns)}, which fills {{{place}}} in "
                    f"rubric.prompt; found {row.named()} (if these characters are meant, write "
                    f"{{{{{place}}}}})"
                )
            shown[place] = text
        target = msgspec.json.encode(shown).decode() if shown else ""
        return msgspec.structs.replace(super().row(row), target=target)

    def made_up(self) -> Sample:
        """Return a made-up item with the texts that are shown only to the judge."""
        sample = super().made_up()
        shown = dict.fromkeys(self._for_judge_alone, sample.question)
        target = msgspec.json.encode(shown).decode()
        return msgspec.structs.replace(sample, target=target)

    def further_readings(self) -> list[Any]:
        """Return the rubric, and the levels read from replies in several forms."""
        low = self.rubric.levels[0]
        high = self.rubric.levels[-1]
        texts = {
            "marker": self.rubric.marker,
            "low": str(low.number),
            "high": str(high.number),
            "name": low.name,
            "other": high.name,
        }
        numbers: list[int | None] = []
        for form in _PROBES:
            try:
                numbers.append(read_level(fill(form, texts), self.rubric).number)
            except ValueError:
                numbers.append(None)
        return [self.rubric, numbers]

    # ------------------------------------------------------------------ judging

    def answer_in(self, parts: Reasoned) -> str:
        """Return all text outside of the reasoning, as judges see it."""
        return parts.tagged

    def score(
        self,
        answer: str,
        _: Sample,
    ) -> Judgement:
        """Return the judgement of an answer that no judge has seen yet; an empty one never is.

        Examples:
            >>> kind = Judged.__new__(Judged)  # made by `task_as_run`
            >>> kind.score("好呀。", Sample(id="")).values
            {'unjudged_rate': 1.0, 'empty': 0.0}
        """
        values = {"unjudged_rate": 1.0, "empty": 0.0}
        if answer.strip():
            return Judgement(
                values,
                answer=answer,
                reason="none: no judge",
                explanation="No judge was asked.",
            )
        values["empty"] = 1.0
        return Judgement(values, reason=_EMPTY, explanation="The answer is empty.")

    def request(
        self,
        answer: str,
        sample: Sample,
        code: str,
    ) -> str:
        """Render the judge's prompt.

        The line with the level begins with the marker and the code, so that a judge that quotes the
        answer's own `Level: 2` has given no level.

        Args:
            answer: The answer, without its reasoning.
            sample: The item.
            code: A random text that an answer cannot know.
        """
        levels = []
        for level in self.rubric.levels:
            meaning = f": {level.meaning}" if level.meaning else ""
            levels.append(f"{_named(level)}{meaning}")
        texts = {
            **self.names(self.subject(sample.subject)),
            **sample.cells,
            **msgspec.json.decode(sample.target or "{}", type=dict[str, str]),
            **self.values(sample),
            "answer": answer,
            "levels": "\n".join(levels),
            "code": code,
        }
        marker = re.compile(
            rf"({re.escape(self.rubric.marker)})(?=\s*[:：])", re.IGNORECASE
        )
        prompt = marker.sub(rf"\1 {code[:ON_LINE]}", self.rubric.prompt)
        return fill(prompt, texts)

    def judged(
        self,
        judgement: Judgement,
        replies: Sequence[Said],
    ) -> Judgement:
        """Return the judgement of an answer from the judges' replies, averaged over judges.

        Args:
            judgement: The result of `judge`.
            replies: The reply of each judge; empty for an answer that is not shown to judges.
        """
        verdicts = [self._verdict(reply) for reply in replies]
        levels = [verdict.level for verdict in verdicts if verdict.level]
        reason = _reason(verdicts) or judgement.reason
        if reason == _EMPTY:
            empty = self.rubric.empty
            levels = [level for level in self.rubric.levels if level.number == empty]
        explanation = "\n\n".join(verdict.text for verdict in verdicts)
        return msgspec.structs.replace(
            judgement,
            values={**judgement.values, **self._level_values(levels)},
            reason=reason,
            details={**judgement.details, **_details(replies)},
            explanation=explanation or judgement.explanation,
        )

    def _level_values(self, levels: Sequence[Level]) -> dict[str, float]:
        """Return the figures of an answer from its levels; none without a level."""
        if not levels:
            return {}
        return {
            "pass_rate": fmean(level.number in self.rubric.passes for level in levels),
            "mean_level": fmean(level.number for level in levels),
            "unjudged_rate": 0.0,
        }

    def _verdict(self, reply: Said) -> "_Verdict":
        """Read one judge's reply."""
        level = None
        failure = ""
        if reply.failure:
            failure = "judge failed"
            verdict = f"no judgement: {reply.failure}"
        else:
            try:
                level = read_level(reply.text, self.rubric, reply.code)
                verdict = _named(level)
            except ValueError as error:
                failure = "judgement unread"
                verdict = f"unread: {error}"
        text = f"**{reply.grader}:** {verdict}"
        if reply.text:
            text += f"\n\n{reply.text}"
        return _Verdict(level, failure, text)

    def judged_again(
        self,
        judgement: Judgement,
        before: Judgement | None,
    ) -> Judgement:
        """Return the judgement of an answer from the judges' replies in its log.

        Args:
            judgement: The result of `judge`.
            before: The logged judgement, made with the same rubric.
        """
        logged = before.details.get("said") if before else None
        if logged is None:
            return judgement
        return self.judged(judgement, msgspec.json.decode(logged, type=list[Said]))


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The scores read from a judge's reply.

    Attributes:
        level: The level; None if there is none.
        failure: Why there is no level; empty if there is one.
        text: The verdict and the reply, in Markdown.
    """

    level: Level | None
    failure: str
    text: str


def _details(replies: Sequence[Said]) -> dict[str, str]:
    """Return the replies for the log, and who the judges are."""
    details = {"said": msgspec.json.encode(replies).decode()}
    if replies:
        graders = dict.fromkeys(reply.grader for reply in replies)
        details["grader"] = ", ".join(graders)
    return details


def _reason(verdicts: Sequence[_Verdict]) -> str:
    """Return the levels, or why there are none; empty without verdicts."""
    levels = [_named(verdict.level) for verdict in verdicts if verdict.level]
    if levels:
        return f"level {', '.join(levels)}"
    return f"none: {verdicts[0].failure}" if verdicts else ""


def read_level(
    reply: str,
    rubric: Rubric,
    code: str = "",
) -> Level:
    """Read the level that a judge gives on its own line, such as `**Level:** 2 (moderate)`.

    The last such line after any reasoning counts. It must have exactly one number, which is on the
    scale. It is contradicted by the name of another level after the number, and by an earlier such
    line with another number of the scale. A level mentioned within a sentence does not count.

    Args:
        reply: The judge's reply.
        rubric: The rubric, with the scale and the beginning of the line.
        code: What follows the marker on the line; a line without it does not count.

    Raises:
        ValueError: No line gives a level, or it does not give exactly one; the message says which.

    Examples:
        >>> scale = Level(number=0, name="harmless"), Level(number=1, name="harmful")
        >>> rubric = Rubric(prompt="", levels=scale, passes=(0,), higher_is_better=False)
        >>> read_level("Nothing in it does harm.\\n**Level: 0**", rubric).name
        'harmless'
    """
    text = unicodedata.normalize("NFKC", split_reasoning(reply).tagged)
    marker = re.escape(unicodedata.normalize("NFKC", rubric.marker))
    form = re.compile(
        rf"[\s>#*_`•-]*{marker}[\s*_`]*{re.escape(code)}[\s*_`]*:[\s*_`]*(.*)",
        re.IGNORECASE,
    )
    marked = [match[1] for match in map(form.fullmatch, text.splitlines()) if match]
    if not marked:
        begin = f"{rubric.marker} {code}".rstrip()
        raise ValueError(f"no line begins with {begin!r} and a colon")
    level = _level(marked[-1], rubric)
    for earlier in marked[:-1]:
        try:
            other = _level(earlier, rubric)
        except ValueError:  # only a level of the scale contradicts
            continue
        if other != level:
            raise ValueError(f"it gives two levels, {other.number} and {level.number}")
    return level


def _named(level: Level) -> str:
    return f"{level.number} ({level.name})"


def _level(text: str, rubric: Rubric) -> Level:
    """Return the level in the text after the marker.

    Raises:
        ValueError: There is none; the message says why.
    """
    numbers = re.findall(r"-?\d+(?:\.\d+)?", text)
    first = re.match(r"[\[({\"'「【*_`]*(-?\d+)(?![A-Za-z%/])", text)
    if not first or [first[1]] != numbers:
        raise ValueError(
            f"{rubric.marker}: {text[:40]!r} is not one number of the scale"
        )
    scale = {level.number: level for level in rubric.levels}
    level = scale.get(int(first[1]))
    if level is None:
        has = ", ".join(map(str, scale))
        raise ValueError(f"{first[1]} is not a level of the scale, which has {has}")
    folded = text.casefold()
    names = [known.name for known in rubric.levels if known.name.casefold() in folded]
    if names and level.name not in names:
        raise ValueError(
            f"{level.number} is the level {level.name!r}, but the reply says {names[0]!r}"
        )
    return level
