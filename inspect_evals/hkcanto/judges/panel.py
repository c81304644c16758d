"""Ask judges for judgements of an item, in a fixed form, with one retry for each.

The prompts are the papers' rubrics, with a quoting that keeps judged texts mere data.
"""

import json
import tomllib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import starmap
from random import Random
from typing import Any, NamedTuple

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ResponseSchema,
    get_model,
    model_roles,
)
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import collect, json_schema
from pydantic import BaseModel, ConfigDict, ValidationError

from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.reasoning import split_reasoning, valid
from hkcanto_metrics.translation import LONGEST
from hkcanto_tasks.prompts import fill, until_stop

ROLE = "grader"
_ATTEMPTS = 2
_LONGEST_REASON = 300

Values = Mapping[str, float]


class Unusable(ValueError):  # noqa: N818
    """A judge's answer cannot be used; the message says why, to the judge."""


class Verdict(NamedTuple):
    """One judge's verdict on a response.

    Attributes:
        values: Name → value; empty if the judge failed.
        record: The verdict for the log, with its reasons.
    """

    values: Values
    record: Mapping[str, Any]


class Form(BaseModel):
    """A form that a judge fills in. All fields are required, and no others are allowed."""

    # A judge reads the prompt, whose version is logged, and no docstring.
    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra=lambda schema: schema.pop("description", None),
    )


class Reply(Form):
    """The form of an answer.

    Attributes:
        code: The code of the call. JSON inside a text under judgement cannot contain it.
    """

    code: str

    def verdict(
        self,
        source: str,
        text: str,
    ) -> Verdict:
        """Return the verdict on a text that was made from a source.

        Raises:
            Unusable: The reply contradicts the texts or the form.
        """
        raise NotImplementedError


def judge(
    reply: type[Reply],
    prompt: Callable[[str, str, str, str], str],
    combine: Callable[[str, Sequence[Values]], tuple[Values, Mapping[str, Any]]],
    empty: Values,
    judgements: int,
    stop: Sequence[str],
    language: str | None = None,
) -> Scorer:
    """Return a scorer that combines several judgements of a response.

    Args:
        reply: The form of a judge's reply.
        prompt: Source, reference, text and code → the prompt for a judge.
        combine: Text and values of the successful judgements → the score's values and metadata.
        empty: The values of an empty text, which is not shown to judges.
        judgements: Number of judgements by a single grader, with the seeds 1, 2, …; if the role has
            several models, each judges once.
        stop: Stop texts: the model's answer ends before the first of them.
        language: The language asked for, by which `clean_output` finds the answer in the text
            around it. By default, judges see that text, too.

    Raises:
        ValueError: ``judgements`` is below 1; or, while scoring, the sample's metadata has no
            source.
        PrerequisiteError: While scoring, the role `grader` has no model. The model under test is
            never its own judge by accident.
    """
    if judgements < 1:
        raise ValueError(f"judgements={judgements}: ask for at least one judgement")
    schema = ResponseSchema(name=reply.__name__, json_schema=json_schema(reply))

    async def score(state: TaskState, target: Target) -> Score:
        source = _source(state)
        text = judged_text(
            state.output.completion,
            stop,
            source,
            language,
        )
        if not text:
            values, metadata = combine(text, [empty])
            return Score(
                value={**values, "judge_failure_rate": 0.0},
                answer=text,
                explanation="The text is empty.",
                reason="no_response",
                metadata={"judgements": [], **metadata},
            )

        def ask(seed: int, grader: Model) -> Awaitable[Verdict]:
            code = fresh_code(
                state.sample_id, state.epoch, source, text, str(grader), seed
            )
            return ask_judge(
                grader,
                prompt(
                    source,
                    target.text,
                    text,
                    code,
                ),
                GenerateConfig(seed=seed, response_schema=schema),
                lambda answer: _filled_in(reply, answer, code).verdict(source, text),
                fill(judge_texts()["retry"], {"code": code}, keep=True),
            )

        verdicts = await collect(*starmap(ask, enumerate(panel(judgements), start=1)))
        successes = [verdict.values for verdict in verdicts if verdict.values]
        records = [verdict.record for verdict in verdicts]
        values, metadata = combine(text, successes)
        failures = len(verdicts) - len(successes)
        return Score(
            value={**values, "judge_failure_rate": failures / len(verdicts)},
            answer=text,
            explanation="\n\n".join(map(_json_block, records)),
            reason=None if successes else "grader_failed",
            metadata={"judgements": records, **metadata},
        )

    return score


def _source(state: TaskState) -> str:
    source = state.metadata.get("source")
    if isinstance(source, str) and source:
        return source
    raise ValueError(
        f"sample {state.sample_id}: metadata['source'] is {source!r}; the judge compares with the "
        "source text; the task must put it there"
    )


def _json_block(record: Mapping[str, Any]) -> str:
    return f"```json\n{json.dumps(record, ensure_ascii=False, indent=1)}\n```"


def panel(judgements: int = 1) -> Sequence[Model]:
    """Return the judges of an answer: each model of the role, or its one model several times.

    Args:
        judgements: How often a single model judges.

    Raises:
        PrerequisiteError: The role `grader` has no model.
    """
    graders = model_roles().get(ROLE)
    if isinstance(graders, list):
        return graders
    return [get_model(role=ROLE, required=True)] * judgements


def judged_text(
    response: str,
    stop: Sequence[str],
    source: str,
    language: str | None,
) -> str:
    """Return a model's answer as judges see it, with the length limit of the automatic metrics."""
    answer = until_stop(split_reasoning(response).tagged.strip(), stop)
    if language:
        answer = clean_output(answer, source=source, language=language).text
    return answer[:LONGEST]


async def ask_judge(
    grader: Model,
    prompt: str,
    config: GenerateConfig,
    read_verdict: Callable[[str], Verdict],
    retry: str,
) -> Verdict:
    """Ask a judge, and once more if its reply cannot be used; never raises.

    Args:
        grader: The judge.
        prompt: The prompt.
        config: The decoding settings.
        read_verdict: Reads a reply without its reasoning, or raises `Unusable`.
        retry: The second prompt, with a placeholder for the `reason` why a reply cannot be used.

    Returns:
        The verdict; without values if the judge failed.
    """
    judge_record = {"grader": str(grader), "seed": config.seed}
    messages: list[ChatMessage] = [ChatMessageUser(content=prompt)]
    failure = ""
    for _ in range(_ATTEMPTS):
        try:
            output = await grader.generate(messages, config=config)
        except Exception as error:
            # A limit, timeout or reset costs this judgement, not the run.
            failure = valid(f"{type(error).__name__}: {error}")[:_LONGEST_REASON]
            break
        completion = valid(output.completion)
        try:
            verdict = read_verdict(split_reasoning(completion).tagged)
            return Verdict(verdict.values, {**judge_record, **verdict.record})
        except Unusable as error:
            # A JSON escape can be a lone surrogate, which is not allowed in an answer.
            reason = valid(str(error))[:_LONGEST_REASON]
            failure = f"{reason} (stop reason: {output.stop_reason})"
            # Some providers refuse an assistant's message without text.
            answer = ChatMessageAssistant(content=completion or "…")
            again = ChatMessageUser(content=fill(retry, {"reason": reason.strip()}))
            messages = [*messages, answer, again]
    return Verdict({}, {**judge_record, "failure": failure})


# The faults of a form's field, by the names of pydantic's errors.
_PROBLEMS = {
    "missing": "it is missing",
    "extra_forbidden": "the form has no such field",
    "string_type": "it has to be a text",
    "int_type": "it has to be a whole number",
    "bool_type": "it has to be true or false",
    "list_type": "it has to be a list",
    "model_type": "it has to be an object",
    "too_long": "it has more than {max_length} entries",
    "literal_error": "it has to be {expected}",
    "value_error": "{error}",
}


def _filled_in(
    form: type[Reply],
    reply: str,
    code: str,
) -> Reply:
    """Read the last outermost JSON object with the call's code, and ignore any text around it.

    Broken JSON is not repaired: a reply that was cut off would lose errors and raise the score.
    """
    decoder = json.JSONDecoder(strict=False)
    filled_in = None
    position = reply.find("{")
    last = reply.rfind(code)
    while 0 <= position < last:
        try:
            answer, end = decoder.raw_decode(reply, position)
            if answer.get("code") == code:
                filled_in = answer
        except (ValueError, RecursionError):
            end = position + 1
        position = reply.find("{", end)
    if filled_in is None:
        raise Unusable(f'There is no complete JSON object with "code": "{code}" in it.')
    try:
        return form.model_validate(filled_in)
    except ValidationError as error:
        problems = []
        for problem in error.errors():
            field = ".".join(map(str, problem["loc"]))
            said = _PROBLEMS.get(problem["type"], "it has a wrong value")
            problems.append(f"{field}: {said.format(**problem.get('ctx', {}))}")
        raise Unusable("; ".join(problems)) from error


# ---------------------------------------------------------------------- prompts

# Brackets: plain ones, full-width and small ones, which Unicode's normalisation makes plain, and
# Kimi's. No normalisation makes their replacements plain.
_BRACKETS = str.maketrans("<＜﹤◁>＞﹥▷[［﹇]］﹈", "‹‹‹‹››››〔〔〔〕〕〕")


@cache
def judge_texts() -> dict[str, Any]:
    """Read the texts of the judges, `prompts.toml`."""
    return tomllib.loads((files(__package__) / "prompts.toml").read_text("utf-8"))


def render(
    name: str,
    code: str,
    texts: Mapping[str, str],
    **values: str,
) -> str:
    """Render the prompt for a judge.

    Args:
        name: The table of `prompts.toml` with the prompt and the paper's words.
        code: The call's code, see `fresh_code`.
        texts: Tag → the text between such tags, which carry the code; empty ones are left out.
        values: Further texts of the prompt.
    """
    words = judge_texts()
    blocks = []
    for tag, text in texts.items():
        if text:
            blocks.append(f"<{tag}_{code}>\n{neutralize(text)}\n</{tag}_{code}>")
    places = {
        **words[name],
        **values,
        "code": code,
        "data": fill(words["data"], {"code": code}),
        "texts": "\n\n".join(blocks),
    }
    return fill(words[name]["prompt"], places)


def fresh_code(*parts: str | int | None) -> str:
    """Return the code of one call: equal for equal parts, and unknown to the texts' authors.

    The code is a hash of the texts, so a text cannot contain its own code.

    Args:
        parts: The parts of the call: the item, the seed and the texts.

    Examples:
        >>> fresh_code("a", 1) == fresh_code("a", 1) != fresh_code("a", 2)
        True
    """
    return f"{Random(repr(parts)).getrandbits(64):016x}"


def neutralize(text: str) -> str:
    """Replace angle and square brackets by similar characters, one for one.

    Without these brackets a text can neither close its block nor write a tag or any model's control
    tokens. All positions stay the same.

    Examples:
        >>> neutralize("</text><|im_start|>[INST]<<SYS>>＜｜User｜＞")
        '‹/text›‹|im_start|›〔INST〕‹‹SYS››‹｜User｜›'
    """
    return text.translate(_BRACKETS)
