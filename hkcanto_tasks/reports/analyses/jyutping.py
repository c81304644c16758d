"""What is wrong with Jyutping: tones, onsets, nuclei, codas and syllables, from the alignment.

Only counts over all sentences are shown: a sentence with its gold string would publish an answer.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hkcanto_metrics.g2p import score_jyutping
from hkcanto_metrics.jyutping import Syllable, parse_syllable

from ..blocks import Block, Cell, Chart, Column, Note, Row, Section, Table
from ..evaluations import Evaluation
from ..figures import figure
from .figure_tables import figure_table
from .presentation import Point, SideBySide, bar_chart, figure_columns, side_by_side

_Key = TypeVar("_Key")

Pairs = Counter[tuple[str | None, str | None]]
"""(Gold syllable, syllable read) → how often; None where one side has no syllable."""

_TONES = ("1", "2", "3", "4", "5", "6")
_DROPPED, _ADDED, _TONELESS = "dropped", "added", "no tone"
_FOREIGN, _UNREADABLE = "a foreign word", "not Jyutping"
_PARTS = {"onset": "Onsets", "nucleus": "Nuclei", "coda": "Codas"}
_MOST_SYLLABLES, _MOST_CONFUSIONS, _MOST_GAPS = 25, 10, 15
_LONGEST_SHOWN = 12

# Mok, Zuo and Wong (2013), "Production and perception of a sound change in progress: Tone merging
# in Hong Kong Cantonese", Language Variation and Change 25(3).
_MERGING = (frozenset("25"), frozenset("36"), frozenset("46"))


_SYLLABIC = ("m", "ng")


def _before_o(syllable: Syllable) -> bool:
    return syllable.nucleus == "o"


@dataclass(frozen=True, slots=True)
class LazySound:
    """A sound change of Hong Kong Cantonese (懶音).

    Attributes:
        name: The change.
        example: A character with both readings.
        part: The part of the syllable that changes.
        gold: What it is in the standard.
        read: What it becomes.
        applies: Where it can happen.
    """

    name: str
    example: str
    part: str
    gold: str
    read: str
    applies: Callable[[Syllable], bool] = lambda syllable: syllable.nucleus not in _SYLLABIC


# To, McLeod and Cheung (2015), "Phonetic variations and sound changes in Hong Kong Cantonese",
# Clinical Linguistics & Phonetics 29(5).
LAZY_SOUNDS = (
    LazySound("n- → l-", "你 nei5 → lei5", "onset", "n", "l"),
    LazySound("l- → n- (hypercorrect)", "李 lei5 → nei5", "onset", "l", "n"),
    LazySound("ng- → ∅-", "我 ngo5 → o5", "onset", "ng", ""),
    LazySound("∅- → ng- (hypercorrect)", "愛 oi3 → ngoi3", "onset", "", "ng"),
    LazySound("gw- → g- before o", "國 gwok3 → gok3", "onset", "gw", "g", _before_o),
    LazySound("kw- → k- before o", "礦 kwong3 → kong3", "onset", "kw", "k", _before_o),
    LazySound("ng → m, syllabic", "五 ng5 → m5", "nucleus", "ng", "m", bool),
    LazySound("-ng → -n", "生 saang1 → saan1", "coda", "ng", "n"),
    LazySound("-n → -ng", "山 saan1 → saang1", "coda", "n", "ng"),
    LazySound("-k → -t", "北 bak1 → bat1", "coda", "k", "t"),
    LazySound("-t → -k", "筆 bat1 → bak1", "coda", "t", "k"),
)


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section for each condition under which Jyutping was asked for.

    Args:
        evaluations: All that was run; only the kind `g2p` is looked at.
    """
    of_kind = [each for each in evaluations if each.named.entry.kind == "g2p"]
    return [_section(group) for group in side_by_side(of_kind)]


def aligned_pairs(evaluation: Evaluation) -> Pairs:
    """Count the syllables of the gold strings beside those that were read.

    Args:
        evaluation: One with `Items.jyutping`.

    Returns:
        The counts over all items, each against the variant of its gold string that fits best.
    """
    pairs: Pairs = Counter()
    for read, gold in evaluation.items.jyutping:
        pairs.update(score_jyutping(read, gold).alignment)
    return pairs


def tone_confusions(pairs: Pairs) -> Counter[tuple[str, str]]:
    """Count (tone of the gold syllable, tone read).

    Args:
        pairs: See `aligned_pairs`. Gold syllables without a tone, such as English words, are left
            out.

    Returns:
        The counts. A gold syllable without a partner is `dropped` as its tone read, and a syllable
        without a gold one is `added` as its gold tone; one that shows none has `no tone`.

    Example:
        >>> tone_confusions(Counter({("nei5", "nei2"): 3, ("hou2", None): 1}))
        Counter({('5', '2'): 3, ('2', 'dropped'): 1})
    """
    counts: Counter[tuple[str, str]] = Counter()
    for (gold, read), count in pairs.items():
        expected = _ADDED if gold is None else parse_syllable(gold).tone
        got = _DROPPED if read is None else parse_syllable(read).tone or _TONELESS
        if expected is not None:
            counts[expected, got] += count
    return counts


def part_confusions(pairs: Pairs, part: str) -> Counter[tuple[str, str]]:
    """Count (part of the gold syllable, part read) over aligned syllables.

    Args:
        pairs: See `aligned_pairs`.
        part: `onset`, `nucleus` or `coda`.

    Returns:
        The counts, equal parts included. `∅` stands for no onset or coda, `not Jyutping` and `a
        foreign word` (in the gold string) for what has no parts.

    Example:
        >>> part_confusions(Counter({("ngo5", "o5"): 2, ("hou2", None): 1}), "onset")
        Counter({('ng', '∅'): 2})
    """
    counts: Counter[tuple[str, str]] = Counter()
    for (gold, read), count in pairs.items():
        if gold is not None and read is not None:
            expected = _shown(getattr(parse_syllable(gold), part), _FOREIGN)
            got = _shown(getattr(parse_syllable(read), part), _UNREADABLE)
            # Equal syllables are right even where they show no parts, such as an English word.
            counts[expected, expected if gold == read else got] += count
    return counts


def lazy_sounds(pairs: Pairs) -> list[tuple[LazySound, int, int]]:
    """Count the sound changes of Hong Kong Cantonese.

    Args:
        pairs: See `aligned_pairs`.

    Returns:
        For each of `LAZY_SOUNDS`: how often it occurs, and in how many aligned syllables it could.

    Example:
        >>> [n for change, n, _ in lazy_sounds(Counter({("ngo5", "o5"): 2})) if n]
        [2]
    """
    parsed = [
        (parse_syllable(gold), parse_syllable(read), count)
        for (gold, read), count in pairs.items()
        if gold is not None and read is not None
    ]
    found = []
    for change in LAZY_SOUNDS:
        possible = [
            (getattr(read, change.part), count)
            for gold, read, count in parsed
            if getattr(gold, change.part) == change.gold and change.applies(gold)
        ]
        happened = sum(count for got, count in possible if got == change.read)
        found.append((change, happened, sum(count for _, count in possible)))
    return found


def _section(group: SideBySide) -> Section:
    figures = figure_table(
        "Figures",
        group.evaluations,
        figure_columns(group.evaluations, group.evaluations[0].figures),
        name=f"jyutping_{group.name}",
        caption="In every figure 0 is perfect. The first two are the paper's; the others are those "
        "of the field, summed errors over summed length.",
    )
    blocks: list[Block | None] = [figures, _chart_of_parts(group)]
    pairs = {each.label: aligned_pairs(each) for each in group.evaluations if each.items.jyutping}
    if pairs:
        errors = [
            _tone_pairs(pairs, f"jyutping_tone_pairs_{group.name}"),
            _lazy_table(pairs, f"jyutping_lazy_sounds_{group.name}"),
            *(_part_table(pairs, part, f"jyutping_{part}_{group.name}") for part in _PARTS),
            _wrong_syllables(pairs, f"jyutping_syllables_{group.name}"),
            _gaps(pairs, f"jyutping_gaps_{group.name}"),
        ]
        blocks += [
            _alignment(pairs, f"jyutping_alignment_{group.name}"),
            _tone_map(pairs),
            _tone_table(pairs, f"jyutping_tones_{group.name}"),
            *(table for table in errors if table.rows),
        ]
    else:
        blocks.append(Note("The logs have no responses, so there is nothing to align."))
    name = f"jyutping-{group.name}".replace("_", "-")
    return Section(group.title, [block for block in blocks if block], name=name)


def _chart_of_parts(group: SideBySide) -> Chart | None:
    points = [
        Point(part, each.label, found)
        for part in ("tone", *_PARTS)
        for each in group.evaluations
        if (found := figure(each, f"{part}_error_rate"))
    ]
    if not points:
        return None
    return Chart(
        "Which part of the syllable is wrong",
        bar_chart(points, value="share of the aligned syllables", series="model"),
        "A bar for each model's error rate in tone, onset, nucleus and coda, with its 95 % "
        "interval; the figures are those of the table above.",
    )


def _alignment(pairs: dict[str, Pairs], name: str) -> Table:
    rows = []
    for model, counts in pairs.items():
        gold = sum(n for (expected, _), n in counts.items() if expected is not None)
        right = sum(n for (expected, read), n in counts.items() if expected == read)
        dropped = sum(n for (_, read), n in counts.items() if read is None)
        added = sum(n for (expected, _), n in counts.items() if expected is None)
        rows.append(_row(model, gold, right, gold - right - dropped, dropped, added))
    return Table(
        "Syllables",
        [Column("Model"), *(Column(title, "count") for title in _COUNTED)],
        rows,
        "The syllables that were read, aligned with the variant of the gold string that is nearest."
        " Of a response without Jyutping, every gold syllable is dropped.",
        name,
    )


_COUNTED = ("In the gold strings", "Right", "Wrong", "Dropped", "Added")


def _tone_map(pairs: dict[str, Pairs]) -> Chart:
    import altair as alt

    gold_order, read_order = [*_TONES, _ADDED], [*_TONES, _TONELESS, _DROPPED]
    values = []
    for model, counts in pairs.items():
        tones = tone_confusions(counts)
        totals = _totals(tones)
        values += [
            {"model": model, "gold": gold, "read": read, "n": n, "share": n / totals[gold]}
            for (gold, read), n in tones.items()
        ]
    base = alt.Chart().encode(
        x=alt.X("read:N", sort=read_order, title="tone read", axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("gold:N", sort=gold_order, title="gold tone"),
        tooltip=[
            alt.Tooltip("model:N", title="model"),
            alt.Tooltip("gold:N", title="gold tone"),
            alt.Tooltip("read:N", title="tone read"),
            alt.Tooltip("n:Q", title="syllables"),
            alt.Tooltip("share:Q", title="share of the row", format=".1%"),
        ],
    )
    # A root scale: most of a row is on the diagonal, and the errors are to be seen.
    scale = alt.Scale(type="sqrt", domain=[0, 1], scheme="blues")
    cells = base.mark_rect().encode(
        color=alt.Color(
            "share:Q", scale=scale, title="share", legend=alt.Legend(format="%", orient="bottom")
        )
    )
    numbers = base.mark_text(fontSize=10).encode(
        text=alt.Text("share:Q", format=".0%"),
        # The cell behind it is light or dark in every theme.
        color=alt.condition("datum.share > 0.5", alt.value("white"), alt.value("black")),
    )
    spec = (
        alt.layer(cells, numbers, data=alt.InlineData(values=values))
        .properties(width=alt.Step(32), height=alt.Step(26))
        .facet(alt.Facet("model:N", sort=list(pairs), title=None), columns=2)
        .to_dict()
    )
    return Chart(
        "Tones: gold against read",
        spec,
        "A heat map for each model: rows are the gold tones, columns the tones read, and each cell "
        "is its share of the row. Right tones are on the diagonal. The table below has the counts.",
    )


def _tone_table(pairs: dict[str, Pairs], name: str) -> Table:
    rows = []
    for model, counts in pairs.items():
        tones = tone_confusions(counts)
        totals = _totals(tones)
        for gold in (*_TONES, _ADDED):
            if totals[gold]:
                of_tone = [tones[gold, read] for read in (*_TONES, _TONELESS, _DROPPED)]
                share = None if gold == _ADDED else tones[gold, gold] / totals[gold]
                rows.append(_row(model, gold, *of_tone, totals[gold], share))
    reads = [*(f"read {tone}" for tone in _TONES), _TONELESS, _DROPPED, "all"]
    return Table(
        "Tones, in syllables",
        [
            Column("Model"),
            Column("Gold tone"),
            *(Column(read, "count") for read in reads),
            Column("Right", "percent"),
        ],
        rows,
        "Number of syllables by the tone of the gold string and the tone read. The row `added` has "
        "the tones of syllables that answer to none of the gold string.",
        name,
    )


def _tone_pairs(pairs: dict[str, Pairs], name: str) -> Table:
    rows = []
    for model, counts in pairs.items():
        tones = tone_confusions(counts)
        totals = _totals(tones)
        wrong = {
            (gold, read): n
            for (gold, read), n in tones.items()
            if gold != read and gold in _TONES and read in _TONES
        }
        for (gold, read), n in _most(wrong, _MOST_CONFUSIONS):
            merging = "merging in Hong Kong" if {gold, read} in _MERGING else ""
            rows.append(_row(model, gold, read, n, n / totals[gold], merging))
    return Table(
        "Tones most often confused",
        [*_confusion_columns("tone"), Column("Known as")],
        rows,
        f"At most {_MOST_CONFUSIONS} for each model. Speakers in Hong Kong merge tones 2 and 5, 3 "
        "and 6, 4 and 6 (Mok, Zuo and Wong 2013).",
        name,
    )


def _lazy_table(pairs: dict[str, Pairs], name: str) -> Table:
    rows = [
        _row(model, change.name, change.example, times, of, times / of)
        for model, counts in pairs.items()
        for change, times, of in lazy_sounds(counts)
        if times
    ]
    return Table(
        "Lazy sounds 懶音",
        [
            Column("Model"),
            Column("Change"),
            Column("Example"),
            Column("Times", "count"),
            Column("Of", "count", "Aligned gold syllables where it could happen."),
            Column("Share", "percent"),
        ],
        rows,
        "Sound changes of Hong Kong Cantonese (To, McLeod and Cheung 2015) in what was read. What "
        "the gold string accepts as a variant is no error and not counted; a change that never "
        "occurs has no row.",
        name,
    )


def _part_table(pairs: dict[str, Pairs], part: str, name: str) -> Table:
    rows = []
    for model, counts in pairs.items():
        confusions = part_confusions(counts, part)
        totals = _totals(confusions)
        wrong = {(gold, read): n for (gold, read), n in confusions.items() if gold != read}
        rows += [
            _row(model, gold, read, n, n / totals[gold])
            for (gold, read), n in _most(wrong, _MOST_CONFUSIONS)
        ]
    return Table(
        f"{_PARTS[part]} most often confused",
        _confusion_columns(part),
        rows,
        f"At most {_MOST_CONFUSIONS} for each model, over aligned syllables. ∅ means that there is "
        "none.",
        name,
    )


def _wrong_syllables(pairs: dict[str, Pairs], name: str) -> Table:
    rows = []
    for model, counts in pairs.items():
        totals = _totals(counts)
        wrong = {
            (gold, read): n
            for (gold, read), n in counts.items()
            if gold is not None and read is not None and gold != read
        }
        rows += [
            _row(model, _cut(gold), _cut(read), n, n / totals[gold])
            for (gold, read), n in _most(wrong, _MOST_SYLLABLES)
        ]
    return Table(
        "Syllables most often wrong",
        _confusion_columns("syllable"),
        rows,
        f"At most {_MOST_SYLLABLES} for each model, counted over all sentences.",
        name,
    )


def _gaps(pairs: dict[str, Pairs], name: str) -> Table:
    rows = []
    for model, counts in pairs.items():
        dropped = {gold: n for (gold, read), n in counts.items() if gold and read is None}
        added = {read: n for (gold, read), n in counts.items() if read and gold is None}
        for what, syllables in ((_DROPPED, dropped), (_ADDED, added)):
            rows += [_row(model, what, _cut(each), n) for each, n in _most(syllables, _MOST_GAPS)]
    return Table(
        "Syllables dropped and added",
        [Column("Model"), Column("What"), Column("Syllable"), Column("Times", "count")],
        rows,
        f"At most {_MOST_GAPS} of each for each model: syllables of the gold string that nothing "
        "answers to, and syllables that answer to nothing in it.",
        name,
    )


def _confusion_columns(what: str) -> list[Column]:
    return [
        Column("Model"),
        Column(f"Gold {what}"),
        Column("Read as"),
        Column("Times", "count"),
        Column("Share", "percent", f"Of the syllables with this gold {what}."),
    ]


def _totals(counts: Counter[tuple[str, str]] | Pairs) -> Counter[str | None]:
    totals: Counter[str | None] = Counter()
    for (gold, _), count in counts.items():
        totals[gold] += count
    return totals


def _most(counts: dict[_Key, int], most: int) -> Iterable[tuple[_Key, int]]:
    return sorted(counts.items(), key=lambda entry: (-entry[1], str(entry[0])))[:most]


def _row(*values: str | float | None) -> Row:
    return Row([Cell(value) for value in values], kind="run")


def _shown(part: str | None, unknown: str) -> str:
    return unknown if part is None else part or "∅"


def _cut(syllable: str) -> str:
    """A run-away model writes syllables of any length."""
    return syllable if len(syllable) <= _LONGEST_SHOWN else f"{syllable[:_LONGEST_SHOWN]}…"
