"""Error analysis of Jyutping: tones, onsets, nuclei, codas and syllables, from the alignment.

Only counts over all sentences are shown, since a sentence with its gold string would leak an
answer.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from hkcanto_metrics.g2p import score_jyutping
from hkcanto_metrics.jyutping import parse_syllable

from ...runs import Run
from ..blocks import Column, Row, Section, Table, Value, section, table
from ..presentation import MODEL, SideBySide, figure_columns, side_by_side

Pairs = Counter[tuple[str | None, str | None]]
"""(Gold syllable, syllable read) → how often; None where one side has no syllable."""
Confusion = tuple[str | None, str | None, int, int]
"""A gold part of a syllable, the part read instead, how often, and of how many; None for a part
that was added or dropped."""
_Rows = Iterable[Sequence[Value]]

_PARTS = ("tone", "onset", "nucleus", "coda", "syllable")
_DRAWN = {f"{part.capitalize()} error rate" for part in _PARTS[:-1]}
_TONES, _FOREIGN, _UNREADABLE = tuple("123456"), "a foreign word", "unreadable"
_MOST, _LONGEST = 5, 14  # rows of a list; characters of a syllable, which may be endless in a loop
_OF = "Gold syllables in which it could occur, excluding dropped ones."
_COUNTED = (Column("Times", "count"), Column("Of", "count", _OF), Column("Share", "percent"))

# To, McLeod and Cheung (2015), "Phonetic variations and sound changes in Hong Kong Cantonese",
# Clinical Linguistics & Phonetics 29(5). One part of the standard syllable changes into another, in
# syllables with one of these nuclei.
_VOWELS = ("aa", "a", "e", "i", "o", "oe", "eo", "u", "yu")
_LAZY_SOUNDS = (
    ("n- → l-", "你 nei5 → lei5", "onset", "n", "l", _VOWELS),
    ("l- → n- (hypercorrect)", "李 lei5 → nei5", "onset", "l", "n", _VOWELS),
    ("ng- → ∅-", "我 ngo5 → o5", "onset", "ng", "∅", _VOWELS),
    ("∅- → ng- (hypercorrect)", "愛 oi3 → ngoi3", "onset", "∅", "ng", _VOWELS),
    ("gw- → g- before o", "國 gwok3 → gok3", "onset", "gw", "g", ("o",)),
    ("kw- → k- before o", "礦 kwong3 → kong3", "onset", "kw", "k", ("o",)),
    ("ng → m, syllabic", "五 ng5 → m5", "nucleus", "ng", "m", ("ng",)),
    ("-ng → -n", "生 saang1 → saan1", "coda", "ng", "n", _VOWELS),
    ("-n → -ng", "山 saan1 → saang1", "coda", "n", "ng", _VOWELS),
    ("-k → -t", "北 bak1 → bat1", "coda", "k", "t", _VOWELS),
    ("-t → -k", "筆 bat1 → bak1", "coda", "t", "k", _VOWELS),
)


def sections(runs: Sequence[Run]) -> Sequence[Section]:
    """Return a section for each condition of a task that asks for Jyutping."""
    groups = side_by_side(run for run in runs if run.definition.kind == "g2p")
    return [each for group in groups for each in _section(group)]


def aligned_pairs(run: Run) -> Pairs:
    """Count pairs of gold and read syllables, with the best-fitting variant of each gold string."""
    scores = (score_jyutping(read, gold) for read, gold, _ in run.items.pairs)
    return Counter(pair for score in scores for pair in score.alignment)


def confusions(pairs: Pairs, part: str, nuclei: Sequence[str] = ()) -> Sequence[Confusion]:
    """Count how a part of the gold syllables was read, optionally for some nuclei only.

    Examples:
        >>> confusions(Counter({("ngo5", "o5"): 2}), "onset")
        [('ng', '∅', 2, 2)]
    """
    counts: Pairs = Counter()
    totals: Counter[str | None] = Counter()
    for (gold, read), times in pairs.items():
        if not nuclei or (gold and parse_syllable(gold).nucleus in nuclei):
            right = _part(gold, part, _FOREIGN)
            # Equal syllables are right even if they have no parts, as for an English word.
            counts[right, right if gold == read else _part(read, part, _UNREADABLE)] += times
            totals[right] += times if read else 0
    return [(*key, times, totals[key[0]]) for key, times in counts.most_common()]


def _part(syllable: str | None, part: str, unknown: str) -> str | None:
    if syllable is None or part == "syllable":
        return syllable
    found = getattr(parse_syllable(syllable), part)
    return unknown if found is None else found or "∅"


def lazy_sounds(pairs: Pairs) -> Iterator[tuple[str, str, int, int, float]]:
    """Find sound changes of Hong Kong (懶音): name, example, how often, of how many, and share."""
    for name, example, part, gold, read, nuclei in _LAZY_SOUNDS:
        for right, said, times, of in confusions(pairs, part, nuclei):
            if (right, said) == (gold, read):
                yield name, example, times, of, times / of


def _section(group: SideBySide[Run]) -> list[Section]:
    runs, name = group.runs, group.name
    figures = [
        (replace(column, drawn=column.title in _DRAWN), of)
        for column, of in figure_columns(runs, runs[0].figures)
    ]
    caption = "0 is perfect. The first two are the paper's; the others are errors over lengths."
    tables = [table(f"jyutping_{name}", "Figures", runs, [MODEL, *figures], caption)]
    pairs = {run.label: aligned_pairs(run) for run in runs if run.items.pairs}
    for short, title, columns, of_one, caption in _TABLES:
        rows = [Row([model, *each], "run") for model, own in pairs.items() for each in of_one(own)]
        own_name, columns = f"jyutping_{short}_{name}", [MODEL[0], *columns]
        tables.append(Table(own_name, title, columns, rows, caption))
    return section(group.title, tables, f"jyutping-{name}")


def _tones(pairs: Pairs) -> _Rows:
    times = {(gold, read): times for gold, read, times, _ in confusions(pairs, "tone")}
    for gold in (*_TONES, None):
        counts = [times.get((gold, read), 0) for read in (*_TONES, _UNREADABLE, None)]
        if total := sum(counts):
            yield [gold or "added", *(count / total for count in counts), total]


def _wrong(pairs: Pairs) -> _Rows:
    for part in _PARTS:
        wrong: list[list[Value]] = [
            [part, gold[:_LONGEST], read[:_LONGEST], times, of, times / of]
            for gold, read, times, of in confusions(pairs, part)
            if gold and read and gold not in (read, _FOREIGN)
        ]
        yield from wrong[:_MOST]


_READS = [*(f"Read {tone}" for tone in _TONES), "No tone", "Dropped"]
_SHARES = [Column(title, "percent", shaded=True) for title in _READS]
_TABLES: Sequence[tuple[str, str, Sequence[Column], Callable[[Pairs], _Rows], str]] = (
    (
        "tones",
        "Tones",
        [Column("Gold tone"), *_SHARES, Column("Syllables", "count")],
        _tones,
        "How each tone of the gold strings was read, as shares of the row; added syllables have no "
        "gold syllable.",
    ),
    (
        "lazy_sounds",
        "Lazy sounds 懶音",
        [Column("Change"), Column("Example"), *_COUNTED],
        lazy_sounds,
        "Sound changes of Hong Kong Cantonese (To, McLeod and Cheung 2015) in the answers. "
        "Variants that the gold string accepts are not errors and are not counted.",
    ),
    (
        "confusions",
        "Most frequent confusions",
        [Column("Part"), Column("Gold"), Column("Read as"), *_COUNTED],
        _wrong,
        f"At most {_MOST} per part and model; ∅ means no onset or coda. Tones 2 and 5, 3 and 6, 4 "
        "and 6 are merging in Hong Kong (Mok, Zuo and Wong 2013).",
    ),
)
