"""Open answers judged by a model with a declared rubric: a scale of levels, some of which pass.

The judge is a second model, run by Inspect (`--model-role grader=…`) or by `hkcanto rescore
--grader …`. lm-eval has no judge: its answers are logged and count as unjudged.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from hashlib import sha256
from statistics import fmean
from typing import Any

import msgspec

from hkcanto_metrics.reasoning import strip_reasoning

from ..data.tables import Row, as_text
from ..declarations import Level, Rubric, repeated
from ..figures import figures
from ..judgements import Judgement
from ..prompts import fill, places
from ..samples import Sample
from .prompted import Prompted

_OF_JUDGE = ("answer", "levels", "code")
_EMPTY = "none: empty"
_PROBES = (
    *("{marker}: {low}", "**{marker}:** {low}", "{marker}：{low}（{name}）", "{low}"),
    *("{marker} {low}", "{marker}: {low}\n{marker}: {high}"),
    *("{marker}: {low}-{high}", "{marker}: {low}.5"),
    *("{marker}: {low} ({other})", "<think>{marker}: {high}</think>{marker}: {low}"),
)
"""Forms of judges' replies; how they are read is part of the signature."""

ON_LINE = 6
"""The length of the code's beginning on the line with the level."""

_WAY = 2  # raised if a judge is asked, or its reply read, in another way


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

    FIGURES = figures("pass_rate", "mean_level", "unjudged_rate", "empty")
    USES = ("rubric",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rubric = self.task.definition.rubric
        assert rubric is not None  # `problems` refuses a task without one
        self.rubric = rubric
        self.rubric_hash = sha256(msgspec.json.encode([rubric, _WAY])).hexdigest()[:7]
        # The columns that are shown only to the judge, not to the model under test.
        of_task = (
            *self.names(self.task.definition.subjects[0]),
            *self.VALUES,
            *self.placeholders,
        )
        known = {*_OF_JUDGE, *of_task}
        self._for_judge_alone = [
            name for name in places(rubric.prompt) if name not in known
        ]
        self.reads |= {
            name for place in self._for_judge_alone for name in self.columns(place)
        }
        self.refinements = {"mean_level": {"higher_is_better": rubric.higher_is_better}}

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with the task's entry, also with its rubric."""
        yield from super().problems()
        cannot, rubric = "cannot be judged:", self.task.definition.rubric
        if rubric is None:
            yield f"{cannot} its kind needs a table [tasks.rubric] for the judge"
            return
        scale, passes = [level.number for level in rubric.levels], {*rubric.passes}
        names = [level.name.casefold() for level in rubric.levels]
        failing, empty = (
            {*scale} - passes,
            scale[0] if rubric.empty is None else rubric.empty,
        )
        has = f"the scale has {', '.join(map(str, scale))}"
        if "answer" not in places(rubric.prompt):
            yield f"{cannot} rubric.prompt has no placeholder {{answer}}; the judge needs it"
        if not re.search(
            rf"{re.escape(rubric.marker)}\s*[:：]", rubric.prompt, re.IGNORECASE
        ):
            asked = f"rubric.prompt does not ask for a line '{rubric.marker}: …' with the level"
            yield f"{cannot} {asked}; ask for it, or declare in rubric.marker how the line begins"
        for name in repeated([*map(str, scale), *names]):
            yield f"{cannot} two levels of the rubric are called {name!r}"
        for number in sorted({*passes, empty} - {*scale}):
            yield f"{cannot} rubric.passes or rubric.empty names the level {number}, but {has}"
        if not failing:
            yield f"{cannot} every level passes, so pass_rate would be meaningless: {has}"
            return
        way, better = (-1, "higher") if rubric.higher_is_better else (1, "lower")
        if max(way * number for number in passes) > min(
            way * number for number in failing
        ):
            yield (
                f"{cannot} levels {sorted(passes)} pass and {sorted(failing)} do not, but according"
                f" to rubric.higher_is_better, {better} levels are better"
            )

    # ------------------------------------------------------------------ reading the release

    def row(self, row: Row) -> Sample:
        """Read a prompt, and the texts that are shown only to the judge."""
        shown: dict[str, str] = {}
        for place in self._for_judge_alone:
            columns = self.columns(place)
            if (text := as_text(row.find(columns))) is None:
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
        made = super().made_up()
        shown = dict.fromkeys(self._for_judge_alone, made.question)
        return msgspec.structs.replace(made, target=msgspec.json.encode(shown).decode())

    def further_readings(self) -> list[Any]:
        """Return the rubric, and the levels read from replies in several forms."""
        low, high = self.rubric.levels[0], self.rubric.levels[-1]
        texts = {
            "marker": self.rubric.marker,
            "low": str(low.number),
            "high": str(high.number),
        }
        texts |= {"name": low.name, "other": high.name}
        numbers: list[int | None] = []
        for form in _PROBES:
            try:
                numbers.append(read_level(fill(form, texts), self.rubric).number)
            except ValueError:
                numbers.append(None)
        return [self.rubric, numbers]

    # ------------------------------------------------------------------ judging

    def score(self, answer: str, _: Sample) -> Judgement:
        """Return the judgement of an answer that no judge has seen yet; an empty one never is.

        Examples:
            >>> kind = Judged.__new__(Judged)  # made by `task_as_run`
            >>> kind.score("好呀。", Sample(id="")).values
            {'unjudged_rate': 1.0, 'empty': 0.0}
        """
        empty = not answer.strip()
        return Judgement(
            {"unjudged_rate": 1.0, "empty": float(empty)},
            answer="" if empty else answer,
            reason=_EMPTY if empty else "none: no judge",
            explanation="The answer is empty." if empty else "No judge was asked.",
        )

    def request(self, answer: str, sample: Sample, code: str) -> str:
        """Render the judge's prompt.

        The line with the level begins with the marker and the code, so that a judge that quotes the
        answer's own `Level: 2` has given no level.

        Args:
            answer: The answer, without its reasoning.
            sample: The item.
            code: A random text that an answer cannot know.
        """
        levels = "\n".join(
            ": ".join(filter(None, (_named(level), level.meaning)))
            for level in self.rubric.levels
        )
        texts = {**self.names(self.subject(sample.subject)), **sample.cells}
        texts |= msgspec.json.decode(sample.target or "{}", type=dict[str, str])
        texts |= {
            **self.values(sample),
            "answer": answer,
            "levels": levels,
            "code": code,
        }
        marker = re.compile(
            rf"({re.escape(self.rubric.marker)})(?=\s*[:：])", re.IGNORECASE
        )
        return fill(marker.sub(rf"\1 {code[:ON_LINE]}", self.rubric.prompt), texts)

    def judged(self, judgement: Judgement, said: Sequence[Said]) -> Judgement:
        """Return the judgement of an answer from the judges' replies, averaged over judges.

        Args:
            judgement: The result of `judge`.
            said: The reply of each judge; empty for an answer that is not shown to judges.
        """
        levels, words, failed = list[Level](), list[str](), list[str]()
        for reply in said:
            try:
                if reply.failure:
                    failed.append("judge failed")
                    verdict = f"no judgement: {reply.failure}"
                else:
                    levels.append(read_level(reply.text, self.rubric, reply.code))
                    verdict = _named(levels[-1])
            except ValueError as error:
                failed.append("judgement unread")
                verdict = f"unread: {error}"
            words.append(
                "\n\n".join(
                    filter(None, (f"**{reply.grader}:** {verdict}", reply.text))
                )
            )
        reason = f"none: {failed[0]}" if failed else judgement.reason
        if levels:
            reason = f"level {', '.join(map(_named, levels))}"
        elif reason == _EMPTY:
            levels = [
                level
                for level in self.rubric.levels
                if level.number == self.rubric.empty
            ]
        values = dict(judgement.values)
        details = {**judgement.details, "said": msgspec.json.encode(said).decode()}
        if levels:
            values["pass_rate"] = fmean(
                level.number in self.rubric.passes for level in levels
            )
            values["mean_level"] = fmean(level.number for level in levels)
            values["unjudged_rate"] = 0.0
        if graders := ", ".join(dict.fromkeys(reply.grader for reply in said)):
            details["grader"] = graders
        explained = "\n\n".join(words) or judgement.explanation
        more = {"values": values, "reason": reason, "details": details}
        return msgspec.structs.replace(judgement, explanation=explained, **more)

    def judged_again(self, judgement: Judgement, before: Judgement | None) -> Judgement:
        """Return the judgement of an answer from the judges' replies in its log.

        Args:
            judgement: The result of `judge`.
            before: The logged judgement, made with the same rubric.
        """
        said = before.details.get("said") if before else None
        if said is None:
            return judgement
        return self.judged(judgement, msgspec.json.decode(said, type=list[Said]))


def read_level(reply: str, rubric: Rubric, code: str = "") -> Level:
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
    text = unicodedata.normalize("NFKC", strip_reasoning(reply))
    marker = re.escape(unicodedata.normalize("NFKC", rubric.marker))
    line = re.compile(
        rf"[\s>#*_`•-]*{marker}[\s*_`]*{re.escape(code)}[\s*_`]*:[\s*_`]*(.*)",
        re.IGNORECASE,
    )
    marked = [match[1] for part in text.splitlines() if (match := line.fullmatch(part))]
    if not marked:
        begin = f"{rubric.marker} {code}".rstrip()
        raise ValueError(f"no line begins with {begin!r} and a colon")
    level, *others = reversed([_level(text, rubric) for text in marked])
    if isinstance(level, str):
        raise ValueError(level)
    for other in reversed(others):
        if isinstance(other, Level) and other != level:
            raise ValueError(f"it gives two levels, {other.number} and {level.number}")
    return level


def _named(level: Level) -> str:
    return f"{level.number} ({level.name})"


def _level(text: str, rubric: Rubric) -> Level | str:
    """Return the level in the text after the marker, or why there is none."""
    numbers = re.findall(r"-?\d+(?:\.\d+)?", text)
    first = re.match(r"[\[({\"'「【*_`]*(-?\d+)(?![A-Za-z%/])", text)
    if not first or [first[1]] != numbers:
        return f"{rubric.marker}: {text[:40]!r} is not one number of the scale"
    scale = {level.number: level for level in rubric.levels}
    if not (level := scale.get(int(first[1]))):
        return f"{first[1]} is not a level of the scale, which has {', '.join(map(str, scale))}"
    names = [of.name for of in rubric.levels if of.name.casefold() in text.casefold()]
    if names and level.name not in names:
        return f"{level.number} is the level {level.name!r}, but the reply says {names[0]!r}"
    return level
