"""What is wrong with Jyutping: tones, onsets, nuclei, codas and syllables, from the alignment.

Only counts over all sentences are shown: a sentence with its gold string would publish an answer.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import itemgetter

from hkcanto_metrics.g2p import score_jyutping
from hkcanto_metrics.jyutping import Syllable, parse_syllable

from ..blocks import Block, Column, Note, Row, Section, Table, table
from ..evaluations import Evaluation
from ..presentation import MODEL, SideBySide, figure_columns, side_by_side

Pairs = Counter[tuple[str | None, str | None]]
"""(Gold syllable, syllable read) → how often; None where one side has no syllable."""

_TONES = ("1", "2", "3", "4", "5", "6")
_SYLLABIC = ("m", "ng")
_DROPPED, _ADDED, _TONELESS = "dropped", "added", "no tone"
_OUTCOMES = ("Right", "Wrong", "Dropped", "Added")
_FOREIGN, _UNREADABLE = "a foreign word", "not Jyutping"
_PARTS = ("onset", "nucleus", "coda")
_DRAWN = {f"{part.capitalize()} error rate" for part in ("tone", *_PARTS)}
_COUNTED = (
    Column("Times", "count"),
    Column("Of", "count", "Syllables of the gold strings where it could be."),
    Column("Share", "percent"),
)
_MOST, _LONGEST = 10, 12

# Mok, Zuo and Wong (2013), "Production and perception of a sound change in progress: Tone merging
# in Hong Kong Cantonese", Language Variation and Change 25(3).
_MERGING = (frozenset("25"), frozenset("36"), frozenset("46"))


@dataclass(frozen=True, slots=True)
class LazySound:
    """A sound change of Hong Kong Cantonese (懶音): a part of the syllable that is `gold` in the
    standard becomes `read`; with one nucleus only, else in all syllables that have a vowel."""

    name: str
    example: str
    part: str
    gold: str
    read: str
    nucleus: str = ""

    def applies(self, syllable: Syllable) -> bool:
        """Whether it can happen in a syllable of the standard."""
        at = syllable.nucleus == self.nucleus if self.nucleus else syllable.nucleus not in _SYLLABIC
        return at and getattr(syllable, self.part) == self.gold


# To, McLeod and Cheung (2015), "Phonetic variations and sound changes in Hong Kong Cantonese",
# Clinical Linguistics & Phonetics 29(5).
LAZY_SOUNDS = (
    LazySound("n- → l-", "你 nei5 → lei5", "onset", "n", "l"),
    LazySound("l- → n- (hypercorrect)", "李 lei5 → nei5", "onset", "l", "n"),
    LazySound("ng- → ∅-", "我 ngo5 → o5", "onset", "ng", ""),
    LazySound("∅- → ng- (hypercorrect)", "愛 oi3 → ngoi3", "onset", "", "ng"),
    LazySound("gw- → g- before o", "國 gwok3 → gok3", "onset", "gw", "g", "o"),
    LazySound("kw- → k- before o", "礦 kwong3 → kong3", "onset", "kw", "k", "o"),
    LazySound("ng → m, syllabic", "五 ng5 → m5", "nucleus", "ng", "m", "ng"),
    LazySound("-ng → -n", "生 saang1 → saan1", "coda", "ng", "n"),
    LazySound("-n → -ng", "山 saan1 → saang1", "coda", "n", "ng"),
    LazySound("-k → -t", "北 bak1 → bat1", "coda", "k", "t"),
    LazySound("-t → -k", "筆 bat1 → bak1", "coda", "t", "k"),
)


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section for each condition under which Jyutping was asked for."""
    of_kind = [each for each in evaluations if each.named.entry.kind == "g2p"]
    return [_section(group) for group in side_by_side(of_kind)]


def aligned_pairs(evaluation: Evaluation) -> Pairs:
    """Count gold syllables beside those read, by the variant of a gold string that fits best."""
    pairs: Pairs = Counter()
    for read, gold in evaluation.items.jyutping:
        pairs.update(score_jyutping(read, gold).alignment)
    return pairs


def confusions(pairs: Pairs, part: str) -> Counter[tuple[str, str]]:
    """Count what the gold strings have and what was read for it, equal ones included.

    Args:
        pairs: See `aligned_pairs`.
        part: `onset`, `nucleus`, `coda` or `syllable`, over aligned syllables; `tone`, where gold
            syllables without one are left out, and syllables may be dropped or added.

    Example:
        >>> confusions(Counter({("ngo5", "o5"): 2, ("hou2", None): 1}), "onset")
        Counter({('ng', '∅'): 2})
    """
    counts: Counter[tuple[str, str]] = Counter()
    for (gold, read), count in pairs.items():
        if part == "tone":
            expected = _ADDED if gold is None else parse_syllable(gold).tone
            got = _DROPPED if read is None else parse_syllable(read).tone or _TONELESS
            if expected is not None:
                counts[expected, got] += count
        elif gold is not None and read is not None:
            right, was = _part(gold, part, _FOREIGN), _part(read, part, _UNREADABLE)
            # Equal syllables are right even where they show no parts, such as an English word.
            counts[right, right if gold == read else was] += count
    return counts


def _part(syllable: str, part: str, unknown: str) -> str:
    if part == "syllable":  # a run-away model writes syllables of any length
        return syllable if len(syllable) <= _LONGEST else f"{syllable[:_LONGEST]}…"
    found = getattr(parse_syllable(syllable), part)
    return unknown if found is None else found or "∅"


def lazy_sounds(pairs: Pairs) -> list[tuple[LazySound, int, int]]:
    """Return how often each sound change occurs, and in how many aligned syllables it could.

    Example:
        >>> [n for change, n, _ in lazy_sounds(Counter({("ngo5", "o5"): 2})) if n]
        [2]
    """
    found = {change: [0, 0] for change in LAZY_SOUNDS}
    for (gold, read), count in pairs.items():
        if gold is not None and read is not None:
            right, was = parse_syllable(gold), parse_syllable(read)
            for change, counts in found.items():
                if change.applies(right):
                    counts[0] += count * (getattr(was, change.part) == change.read)
                    counts[1] += count
    return [(change, times, of) for change, (times, of) in found.items()]


def _section(group: SideBySide) -> Section:
    runs = group.evaluations
    figures = [
        (replace(column, drawn=column.title in _DRAWN), of)
        for column, of in figure_columns(runs, runs[0].figures)
    ]
    caption = (
        "In every figure 0 is perfect. The first two are the paper's; the others are those of the "
        "field, summed errors over summed length."
    )
    own = table(f"jyutping_{group.name}", "Figures", runs, [MODEL, *figures], caption)
    blocks: list[Block] = [own]
    pairs = {run.label: aligned_pairs(run) for run in runs if run.items.jyutping}
    blocks += [each for each in _tables(pairs, group.name) if each.rows]
    if not pairs:
        blocks.append(Note("The logs have no responses, so there is nothing to align."))
    return Section(group.title, blocks, f"jyutping-{group.name}".replace("_", "-"))


def _tables(pairs: Mapping[str, Pairs], name: str) -> Iterator[Table]:
    yield Table(
        f"jyutping_alignment_{name}",
        "Syllables",
        [Column("Model"), *(Column(title, "count") for title in ("Gold", *_OUTCOMES))],
        [Row([model, *_outcomes(counts)], "run") for model, counts in pairs.items()],
        "The syllables that were read, aligned with the variant of the gold string that is nearest."
        " Of a response without Jyutping, every gold syllable is dropped.",
    )
    for place, (model, counts) in enumerate(pairs.items(), 1):
        yield _tone_map(f"jyutping_tones_{name}_{place}", model, confusions(counts, "tone"))
    merging = "Speakers in Hong Kong merge 2 and 5, 3 and 6, 4 and 6 (Mok, Zuo and Wong 2013)."
    yield _confusions(pairs, ["tone"], f"jyutping_tone_pairs_{name}", "Tones", merging)
    yield Table(
        f"jyutping_lazy_sounds_{name}",
        "Lazy sounds 懶音",
        [*map(Column, ("Model", "Change", "Example")), *_COUNTED],
        [
            Row([model, change.name, change.example, times, of, times / of], "run")
            for model, counts in pairs.items()
            for change, times, of in lazy_sounds(counts)
            if times
        ],
        "Sound changes of Hong Kong Cantonese (To, McLeod and Cheung 2015) in what was read. What "
        "the gold string accepts as a variant is no error and not counted.",
    )
    zero = "∅ is no onset or coda."
    yield _confusions(pairs, _PARTS, f"jyutping_parts_{name}", "Onsets, nuclei and codas", zero)
    yield _confusions(pairs, ["syllable"], f"jyutping_syllables_{name}", "Syllables")


def _outcomes(pairs: Pairs) -> list[int]:
    found: Counter[str] = Counter()
    for (gold, read), count in pairs.items():
        aligned = "Right" if gold == read else "Wrong"
        found["Added" if gold is None else "Dropped" if read is None else aligned] += count
    return [found.total() - found["Added"], *(found[outcome] for outcome in _OUTCOMES)]


def _tone_map(name: str, model: str, tones: Counter[tuple[str, str]]) -> Table:
    reads = {**{tone: f"Read {tone}" for tone in _TONES}, _TONELESS: "No tone", _DROPPED: "Dropped"}
    shares = [Column(title, "percent", shaded=True) for title in reads.values()]
    counts = {gold: [tones[gold, read] for read in reads] for gold in (*_TONES, _ADDED)}
    return Table(
        name,
        f"Tones: {model}",
        [Column("Gold tone"), *shares, Column("Syllables", "count")],
        [
            Row([gold, *(count / sum(own) for count in own), sum(own)])
            for gold, own in counts.items()
            if any(own)
        ],
        "How the syllables of each tone of the gold strings were read, as shares of the row. The "
        "last row, if any, has the tones of syllables that answer to none of the gold string.",
    )


def _confusions(
    pairs: Mapping[str, Pairs], parts: Sequence[str], name: str, what: str, remark: str = ""
) -> Table:
    """Say what is most often read as something else; which part only if there are several."""
    rows = []
    for model, part in product(pairs, parts):
        counts = confusions(pairs[model], part)
        wrong = [pair for pair, _ in counts.most_common() if pair[0] != pair[1]]
        if part == "tone":
            wrong = [pair for pair in wrong if {*pair} <= {*_TONES}]
        for gold, read in wrong[:_MOST]:
            n = counts[gold, read]
            of = sum(others for (own, _), others in counts.items() if own == gold)
            known = "merging in Hong Kong" if {gold, read} in _MERGING else None
            rows.append((model, part if len(parts) > 1 else None, gold, read, n, of, n / of, known))
    columns = [*map(Column, ("Model", "Part", "Gold", "Read as")), *_COUNTED, Column("Known as")]
    places = [(column, itemgetter(place)) for place, column in enumerate(columns)]
    caption = f"At most {_MOST} of each for each model, over all sentences. {remark}".strip()
    return table(name, f"{what} most often read as others", rows, places, caption)
