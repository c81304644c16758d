"""Open answers judged by a model with a declared rubric: a scale of levels, some of which pass.

The judge is a second model, run by Inspect (`--model-role grader=…`) or by `hkcanto rescore
--grader …`. lm-eval has no judge: its answers are logged and count as unjudged.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from itertools import chain
from statistics import fmean
from typing import Any

import msgspec

from hkcanto_metrics.reasoning import strip_reasoning

from ..data.tables import Row, as_text
from ..declarations import Level, Rubric, TaskVariant, repeated
from ..figures import Figure, figures
from ..judgements import Judgement
from ..prompts import fill, places
from ..samples import Sample
from ..signatures import Signature
from .prompted import Prompted

_OF_JUDGE = ("answer", "levels", "code")
_EMPTY = "none: empty"
_PROBES = (
    *(
        "{marker}: {low}",
        "**{marker}:** {low}",
        "{marker}：{low}（{name}）",
        "{low}",
        "{marker} {low}",
    ),
    *("{marker}: {low}\n{marker}: {high}", "{marker}: {low}-{high}", "{marker}: {low}.5"),
    *("{marker}: {low} ({other})", "<think>{marker}: {high}</think>{marker}: {low}"),
)
"""Forms of judges' replies; how they are read is part of the signature."""

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
    """

    FIGURES = figures("pass_rate", "mean_level", "unjudged_rate", "empty")
    USES = ("rubric",)

    rubric: Rubric

    def __init__(
        self, task: TaskVariant, options: Any, shots: int | None = None, *, multiturn: bool = False
    ) -> None:
        super().__init__(task, options, shots, multiturn=multiturn)
        definition = self.task.definition
        for problem in _problems(definition.rubric):
            raise self.wrong(f"cannot be judged: {problem}")
        assert definition.rubric is not None  # checked above
        self.rubric = definition.rubric

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """All figures, the headline first; the rubric declares whether higher is better."""
        way = self.rubric.higher_is_better
        return tuple(
            replace(each, higher_is_better=way) if each.name == "mean_level" else each
            for each in super().figures
        )

    @cached_property
    def rubric_hash(self) -> str:
        """A hash of the rubric and of the way to ask: seven hexadecimal digits."""
        return sha256(msgspec.json.encode([self.rubric, _WAY])).hexdigest()[:7]

    def signature(self, data: str, rationales: Iterable[str] = ()) -> Signature:
        """Return the signature of its figures, with the rubric; the judge is named in the log."""
        made = super().signature(data, rationales)
        return replace(made, options=(*made.options, ("rubric", self.rubric_hash)))

    # ------------------------------------------------------------------ reading the release

    @cached_property
    def _for_judge_alone(self) -> tuple[str, ...]:
        """The columns that are shown only to the judge, not to the model under test."""
        subject = self.names(self.task.definition.subjects[0])
        known = {*_OF_JUDGE, *subject, "prompt", *chain(*map(places, self.template.texts))}
        return tuple(
            dict.fromkeys(each for each in places(self.rubric.prompt) if each not in known)
        )

    @property
    def reads(self) -> set[str]:
        """The columns that the kind reads itself, including those for the judge."""
        return super().reads | {name for of in self._for_judge_alone for name in self.columns(of)}

    def row(self, row: Row) -> Sample:
        """Read a prompt, and the texts that are shown only to the judge."""
        shown: dict[str, str] = {}
        for place in self._for_judge_alone:
            columns = self.columns(place)
            text = as_text(row.find(columns))
            if text is None and not {*columns} & {*row.cells}:
                near = difflib.get_close_matches(place, [*row.cells, *_OF_JUDGE, "prompt"], n=1)
                hint = f" Did you mean {{{near[0]}}}?" if near else ""
                raise self.wrong(
                    f"has the placeholder {{{place}}} in rubric.prompt, and nothing fills it: "
                    f"{row.file} has {row.named()}.{hint} Write {{{{{place}}}}} if these "
                    "characters are meant"
                )
            if text is None:
                raise row.problem(
                    f"no text in a column {' or '.join(columns)}, which fills {{{place}}} in the "
                    "judge's prompt"
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
        own = {"marker": self.rubric.marker, "low": str(low.number), "high": str(high.number)}
        own |= {"name": low.name, "other": high.name}
        read: list[Any] = []
        for form in _PROBES:
            try:
                read.append(read_level(fill(form, own), self.rubric).number)
            except ValueError:
                read.append(None)
        return [self.rubric, read]

    # ------------------------------------------------------------------ judging

    def score(self, answer: str, sample: Sample) -> Judgement:
        """Return the judgement of an answer that no judge has seen yet.

        Examples:
            >>> kind = Judged.__new__(Judged)  # made by `task_as_run`
            >>> kind.score("好呀。", Sample(id="")).values
            {'unjudged_rate': 1.0, 'empty': 0.0}
        """
        del sample
        empty = not answer.strip()
        return Judgement(
            {"unjudged_rate": 1.0, "empty": float(empty)},
            answer="" if empty else answer,
            reason=_EMPTY if empty else "none: no judge",
            explanation="The answer is empty." if empty else "No judge was asked.",
        )

    def waits(self, judgement: Judgement) -> bool:
        """Return whether to show an answer to the judge.

        Empty answers and those cut off while reasoning are not shown.

        Args:
            judgement: The result of `judge`.
        """
        return not judgement.values["empty"]

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
            f"{each.number} ({each.name})" + f": {each.meaning}" * bool(each.meaning)
            for each in self.rubric.levels
        )
        shown = msgspec.json.decode(sample.target or "{}", type=dict[str, str])
        own = {**self.names(self.subject(sample.subject)), **sample.cells, **shown}
        own |= {**self.values(sample), "answer": answer, "levels": levels, "code": code}
        marker = re.compile(rf"({re.escape(self.rubric.marker)})(?=\s*[:：])", re.IGNORECASE)
        return fill(marker.sub(rf"\1 {line_code(code)}", self.rubric.prompt), own)

    def judged(self, judgement: Judgement, said: Sequence[Said]) -> Judgement:
        """Return the judgement of an answer from the judges' replies, averaged over judges.

        Args:
            judgement: The result of `judge`.
            said: The reply of each judge; empty for an answer that is not shown to judges.
        """
        levels, words, failed = list[Level](), list[str](), list[str]()
        for each in said:
            try:
                level = None if each.failure else read_level(each.text, self.rubric, each.code)
                problem = f"no judgement: {each.failure}"
            except ValueError as error:
                level, problem = None, f"unread: {error}"
            if level:
                levels.append(level)
                problem = _named(level)
            else:
                failed.append("judge failed" if each.failure else "judgement unread")
            words.append("\n\n".join(filter(None, (f"**{each.grader}:** {problem}", each.text))))
        reason = f"none: {failed[0]}" if failed else judgement.reason
        if levels:
            reason = f"level {', '.join(map(_named, levels))}"
        elif reason == _EMPTY:
            levels = [each for each in self.rubric.levels if each.number == self.rubric.empty]
        details = {"said": msgspec.json.encode(said).decode()}
        if graders := ", ".join(dict.fromkeys(each.grader for each in said)):
            details["grader"] = graders
        return msgspec.structs.replace(
            judgement,
            values={**judgement.values, **self._of_levels(levels)},
            reason=reason,
            details={**judgement.details, **details},
            explanation="\n\n".join(words) or judgement.explanation,
        )

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

    def _of_levels(self, levels: Sequence[Level]) -> dict[str, float]:
        if not levels:
            return {}
        return {
            "pass_rate": fmean(level.number in self.rubric.passes for level in levels),
            "mean_level": fmean(level.number for level in levels),
            "unjudged_rate": 0.0,
        }


def line_code(code: str) -> str:
    """Return the short form of a code, for the line with the level."""
    return code[:6]


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
        rf"[\s>#*_`•-]*{marker}[\s*_`]*{re.escape(code)}[\s*_`]*:[\s*_`]*(.*)", re.IGNORECASE
    )
    marked = [match[1] for each in text.splitlines() if (match := line.fullmatch(each))]
    if not marked:
        begin = f"{rubric.marker} {code}".rstrip()
        raise ValueError(f"no line begins with {begin!r} and a colon")
    level, *others = reversed([_level(each, rubric) for each in marked])
    if isinstance(level, str):
        raise ValueError(level)
    if unlike := [each for each in others if isinstance(each, Level) and each != level]:
        raise ValueError(f"it gives two levels, {unlike[-1].number} and {level.number}")
    return level


def _named(level: Level) -> str:
    return f"{level.number} ({level.name})"


def _level(said: str, rubric: Rubric) -> Level | str:
    """Return the level in the text after the marker, or why there is none."""
    numbers = re.findall(r"-?\d+(?:\.\d+)?", said)
    first = re.match(r"[\[({\"'「【*_`]*(-?\d+)(?![A-Za-z%/])", said)
    if not first or [first[1]] != numbers:
        return f"{rubric.marker}: {said[:40]!r} is not one number of the scale"
    found = {each.number: each for each in rubric.levels}.get(int(first[1]))
    if not found:
        scale = ", ".join(str(each.number) for each in rubric.levels)
        return f"{first[1]} is not a level of the scale, which has {scale}"
    rest = said.casefold()
    named = [each.name for each in rubric.levels if each.name.casefold() in rest]
    if named and found.name not in named:
        return f"{found.number} is the level {found.name!r}, but the reply says {named[0]!r}"
    return found


def _problems(rubric: Rubric | None) -> Iterator[str]:
    if rubric is None:
        yield "its kind needs a table [tasks.rubric] with the judge's prompt, levels and passes"
        return
    scale, passes = [each.number for each in rubric.levels], {*rubric.passes}
    names = [each.name.casefold() for each in rubric.levels]
    failing = {*scale} - passes
    has = f"the scale has {', '.join(map(str, scale))}"
    if "answer" not in places(rubric.prompt):
        yield "rubric.prompt has no placeholder {answer}: the judge would not see the answer"
    if not re.search(rf"{re.escape(rubric.marker)}\s*[:：]", rubric.prompt, re.IGNORECASE):
        yield (
            f"rubric.prompt does not ask for a line '{rubric.marker}: …', from which the level is "
            "read; ask for it, or declare in rubric.marker how the line begins"
        )
    for name in repeated([*map(str, scale), *names]):
        yield f"two levels of the rubric are called {name!r}"
    for number in sorted({*passes, scale[0] if rubric.empty is None else rubric.empty} - {*scale}):
        yield f"rubric.passes or rubric.empty names the level {number}, but {has}"
    if not failing:
        yield f"every level passes, so pass_rate would be meaningless: {has}"
    elif passes <= {*scale}:
        above, below = min(passes) > max(failing), max(passes) < min(failing)
        if not (above if rubric.higher_is_better else below):
            better = "higher" if rubric.higher_is_better else "lower"
            yield (
                f"levels {sorted(passes)} pass and {sorted(failing)} do not, but according to "
                f"rubric.higher_is_better, {better} levels are better"
            )
