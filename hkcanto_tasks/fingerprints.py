"""Short hashes of the requests of a task, and of how it reads answers.

A task's `version` is raised by hand, but these hashes also change after an undeclared edit. Both
are part of every signature, and `hkcanto compare` says which of them differs.
"""

import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from .catalogue import TaskDefinition
from .errors import CatalogueError

if TYPE_CHECKING:
    from .setup import Setup

PROBES = (
    *(
        "",
        " ",
        "B",
        " C",
        "D.",
        "(A)",
        "Ｂ",
        "**C**",
        "b) 因為佢大啲",
        "答案：D",
        "答案係B。",
        "選C",
    ),
    *("The answer is A.", "答案不是A，是B。", "我諗係A……等等，唔啱，應該係C。", "A定係B？好難講。"),
    *(
        "答案：\nB",
        "**Answer:**\nC",
        "我諗下：\n\nD\n因為",
        "\\boxed{B}",
        "唔知",
        "我唔可以答呢條問題。",
    ),
    *("A. 一\nB. 二\nC. 三\nD. 四", "<think>可能係A</think>C", "<think>可能係A"),
    *("Positive", "唔係正面，係負面。", "Positive, Negative or Neutral", "中性"),
    *("nei5 hou2", "Nei5 Hou2!", "nei5hou2", "gam1 jat6 tin1 hei3 hou2 hou2", "zip3 lik6", "你好"),
    *("譯文：佢今日唔得閒。", "「佢今日唔得閒。」", "他今天沒有空。", "He is busy today."),
    *("```\n得\n```", "哈哈" * 40, "我哋一齊去街市買餸，佢話啲菜好新鮮。", "我们一起去市场买菜。"),
    *("所以總共係 18 個。", "#### 7", "1,018.50", "十八", "12 - 5 = 7"),
)
"""Made-up responses for each form of answer that a task may ask for."""

_SHAPES_REQUESTS = (
    *("files", "columns", "header", "answer", "letters", "blank_options", "language"),
    *("dev_rows", "examples_from_test"),
)
"""The entries of a `benchmark.toml` that decide which cells reach a prompt."""

_SHAPES_IF_DECLARED = ("question", "options", "answers", "option_labels", "shuffle_options")
"""Further such entries; tasks without them keep their hashes."""

_OURS = __package__
_known: dict[bytes, tuple[str, str]] = {}


def fingerprints(setup: "Setup") -> tuple[str, str]:
    """Return two hashes of seven hexadecimal digits: for requests, and for reading answers.

    The first covers the prompt of a made-up item with its worked examples, the subjects' names and
    texts, the stop texts, the token limit, and the columns and files behind prompts. The second
    covers the judgements of `PROBES`, the kind's further readings, the headline's average, and the
    source file of a kind from another package. Neither depends on the data or on the subjects that
    are run.

    Raises:
        CatalogueError: The kind fails to render or judge its made-up item.
    """
    declared = setup.task.definition
    key = [type(setup).__module__, type(setup).__qualname__, setup.task.whole, declared]
    key += [setup.template, setup.options, setup.shots, setup.multiturn, setup.own_script]
    encoded = msgspec.json.encode(key)
    if encoded not in _known:
        try:
            _known[encoded] = _hash(_sent(setup)), _hash(_read(setup))
        except Exception as error:
            raise CatalogueError(
                f"{setup.task.name}: its kind {declared.kind!r} fails on the made-up item of its "
                f"signature: {error!r}. Override `made_up` in {type(setup).__qualname__}."
            ) from error
    return _known[encoded]


def _sent(setup: "Setup") -> list[Any]:
    declared, item = setup.task.definition, setup.made_up()
    first = declared.subjects[0]
    item = msgspec.structs.replace(item, subject=first.name)
    examples = setup.examples(first, [item]) if setup.shots else []
    prompts = [setup.prompt(asked, examples) for asked in setup.scored([item], first)]
    bare = TaskDefinition(name="", title="", kind="")
    more = {
        name: own
        for name in _SHAPES_IF_DECLARED
        if (own := getattr(declared, name)) != getattr(bare, name)
    }
    return [
        [[prompt.messages(multiturn=setup.multiturn), prompt.text()] for prompt in prompts],
        [setup.answer(row) for row in setup.printed()],
        [
            [each.stem, each.aliases, setup.system(each), setup.question(each)]
            for each in declared.subjects
        ],
        [setup.sent_stop(chat=chat) for chat in (False, True)],
        setup.max_tokens,
        [getattr(declared, name) for name in _SHAPES_REQUESTS],
        *([more] if more else []),
    ]


def _read(setup: "Setup") -> list[Any]:
    item, headline = setup.made_up(), setup.headline
    judged = [setup.judge(text, item) for text in PROBES]
    sources = {
        sys.modules[each.__module__].__file__
        for each in type(setup).__mro__
        if each.__module__.partition(".")[0] not in (_OURS, "builtins", "abc")
    }
    return [
        [[each.answer, *map(_rounded, each.values.items())] for each in judged],
        [headline.name, headline.averages, headline.over, headline.form, headline.part],
        setup.stop,
        [Path(file).read_bytes().decode("latin-1") for file in sorted(filter(None, sources))],
        *setup.further_readings(),
    ]


def _rounded(value: tuple[str, float | None]) -> tuple[str, float | None]:
    """Round a value, since its last digits differ between machines."""
    return value[0], value[1] and round(value[1], 6)


def _hash(what: object) -> str:
    return sha256(msgspec.json.encode(what, order="sorted")).hexdigest()[:7]
