"""Translation: a sentence in, the same in another language out.

HKCanto-Eval (Appendix F) has people score the translations, and rejects BLEU for pairs of Cantonese
and Written Chinese; HKMMLU (Table 2) reports BLEU, METEOR, ROUGE-L and their mean. Here, both have
the figures of `hkcanto_metrics.translation`, computed over the corpus. The kind
`translation_to_cantonese` adds how Cantonese the outputs are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import msgspec

from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.script import fold_script, is_han, script_of, simplified_share

from ..catalogue import NamedTask, PromptTemplate, Subject, TaskEntry
from ..errors import DataCorrupt
from ..readers import read_csv, read_json_lines
from ..records import Example, Judgement, Metric, Sample
from . import writing

METRICS = (
    *(
        Metric(f"{name}{suffix}", corpus=True, higher_is_better=True)
        for suffix in ("", "_normalized")
        for name in ("bleu", "chrf", "meteor", "rouge_l", "mean")
    ),
    Metric("empty"),
    Metric("wrong_script"),
    Metric("copied_source"),
)

prompt, system, stop = writing.prompt, writing.system, writing.stop

_TOKENS = 512
_COLUMNS = {
    "source": ("sourcetext", "source", "input"),
    "target": ("targettext", "target", "output"),
}
_COMPARED_ROWS = 200


class Options(writing.Options, frozen=True, forbid_unknown_fields=True):
    """What a user can choose.

    Attributes:
        size: Score at most this many pairs, drawn from all of the test file; 0 for all of them. A
            smaller sample is part of every larger one, and where the two directions of a corpus
            are in the same order, theirs are of the same sentences.
        sample_seed: Which sample. (Not called `seed`: lm-eval hands a model's arguments to tasks
            as well, and `--model_args seed=…` must not change the data.)
    """

    size: Annotated[int, msgspec.Meta(ge=0)] = 2000
    sample_seed: Annotated[int, msgspec.Meta(ge=0)] = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of a release.

    Attributes:
        number: The release's number for it, or its place in the file from 1.
        source: The text to translate.
        target: Its translation by a person.
    """

    number: int
    source: str
    target: str


def read(path: Path, entry: TaskEntry) -> list[Pair]:
    """Read a release file of sentences and their translations.

    Args:
        path: JSON lines, one JSON list, or a CSV file with a header. Columns, in any case:
            `SourceText` and `TargetText` (HKCanto-Eval), `input` and `output`, or `source` and
            `target`; a number in `#`, if there is one, identifies the row.
        entry: The task; its `language` is the one translated into.

    Raises:
        DataCorrupt: A column is missing, a text is blank, a number is repeated, or the file's two
            sides are the wrong way round.
    """
    pairs = [
        _pair(row, place, f"{path}, row {place}") for place, row in enumerate(_rows(path), start=1)
    ]
    if len({pair.number for pair in pairs}) < len(pairs):
        raise DataCorrupt(f"{path}: a number in '#' occurs more than once. Correct the file.")
    _refuse_wrong_way_round(path, pairs[:_COMPARED_ROWS], entry)
    return pairs


def samples(
    rows: list[Pair],
    template: PromptTemplate,
    task: NamedTask,
    subject: Subject,  # noqa: ARG001
    options: Options,
) -> list[Sample]:
    """Render the scored sentences, in the order of the file.

    The source is the sample's only choice, because a scorer is handed nothing else of it.
    """
    return [
        Sample(
            id=f"{task.entry.name}/{pair.number}",
            question=writing.fill(template.question, source=pair.source),
            target=pair.target,
            choices=(pair.source,),
        )
        for pair in _drawn(rows, options)
    ]


def examples(
    rows: list[Pair],
    template: PromptTemplate,
    task: NamedTask,  # noqa: ARG001
    subject: Subject,  # noqa: ARG001
    options: Options,  # noqa: ARG001
) -> list[Example]:
    """Render the worked examples, numbered from 1; none where the prompt has no form for them."""
    if template.example is None:
        return []
    return [
        Example(writing.fill(template.example, number=str(number), source=pair.source), pair.target)
        for number, pair in enumerate(rows, start=1)
    ]


def max_tokens(options: Options) -> int:
    """Return the longest response to ask for, in tokens."""
    return writing.room(_TOKENS, options)


def score(response: str, target: str, choices: Sequence[str | None] = ()) -> Judgement:
    """Judge a translation as far as it can be by itself; the scores are those of the corpus.

    Args:
        response: What the model wrote.
        target: The reference.
        choices: The source, and nothing else.

    Example:
        >>> score("譯文：佢係我朋友。", "佢係我嘅朋友。", ["他是我的朋友。"]).hypothesis
        '佢係我朋友。'
    """
    source = (choices[0] if choices else None) or ""
    cleaned = clean_output(response, source=source)
    faults = {
        "empty": not cleaned.text,
        "wrong_script": _in_wrong_script(cleaned.text, target),
        "copied_source": _is_copy(cleaned.text, source, target),
    }
    named = ", ".join(name.replace("_", " ") for name, found in faults.items() if found)
    return Judgement(
        values={name: float(found) for name, found in faults.items()},
        answer=cleaned.text,
        explanation=(
            f"{writing.explain_cleaning(cleaned)}Faults: {named or 'none'}.\n\nReference: {target}"
        ),
        details={"removed": ", ".join(cleaned.removed)},
        hypothesis=cleaned.text,
        reference=target,
        source=source,
    )


def _rows(path: Path) -> list[dict[str, object]]:
    if path.suffix.lower() == ".csv":
        table = read_csv(path, header=True)
        return [dict(zip(table.columns, cells, strict=True)) for cells in table.rows]
    with path.open("rb") as file:
        is_list = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    if not is_list:
        return read_json_lines(path)
    try:
        return msgspec.json.decode(path.read_text("utf-8-sig"), type=list[dict[str, object]])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DataCorrupt(
            f"{path} is no JSON list of objects: {error}. Delete the file and fetch it again."
        ) from error


def _pair(row: dict[str, object], place: int, where: str) -> Pair:
    cells = {name.lower(): cell for name, cell in row.items()}
    texts = {}
    for side, columns in _COLUMNS.items():
        text = next((cells[column] for column in columns if column in cells), None)
        if not isinstance(text, str) or not text.strip():
            raise DataCorrupt(
                f"{where} has no text for the {side}: expected one in a column "
                f"{' or '.join(columns)}, found the columns {', '.join(row)}. Correct the row."
            )
        texts[side] = text
    number = cells.get("#", place)
    if not isinstance(number, int):
        raise DataCorrupt(f"{where} has {number!r} in '#'; expected a number. Correct the row.")
    return Pair(number, texts["source"], texts["target"])


def _refuse_wrong_way_round(path: Path, pairs: list[Pair], entry: TaskEntry) -> None:
    """Compare how many texts of each side the HKCanto-Eval authors' classifier calls Cantonese."""
    from cantonesedetect import CantoneseDetector

    judge = CantoneseDetector().judge
    sources = sum(judge(pair.source) == "cantonese" for pair in pairs)
    targets = sum(judge(pair.target) == "cantonese" for pair in pairs)
    into_cantonese = entry.language == "yue"
    if sources > targets if into_cantonese else targets > sources:
        raise DataCorrupt(
            f"{path}: {entry.name} translates {'into' if into_cantonese else 'from'} Cantonese, but"
            f" of the first {len(pairs)} rows {sources} sources and {targets} targets are in "
            "Cantonese: the two sides, or the files of two directions, are interchanged. Correct "
            "the file."
        )


def _drawn(pairs: list[Pair], options: Options) -> list[Pair]:
    if not 0 < options.size < len(pairs):
        return pairs

    def place(index: int) -> bytes:
        return sha256(f"{options.sample_seed}/{pairs[index].number}".encode()).digest()

    drawn = sorted(range(len(pairs)), key=place)[: options.size]
    return [pairs[index] for index in sorted(drawn)]


def _in_wrong_script(text: str, reference: str) -> bool:
    """Whether most of a text is in another script than its reference, as far as that has one."""
    if not any(map(is_han, reference)):
        letters = [character for character in text if character.isalpha()]
        return sum(map(is_han, letters)) > len(letters) / 2
    if "none" in (script_of(text), script_of(reference)):
        return False
    return (simplified_share(text) > 0.5) != (simplified_share(reference) > 0.5)


def _is_copy(text: str, source: str, reference: str) -> bool:
    """Whether a text repeats the source, but for script, case and punctuation."""
    words = _words(source)
    return words != "" and _words(text) == words != _words(reference)


def _words(text: str) -> str:
    return "".join(filter(str.isalnum, fold_script(text).lower()))
