"""Analyses of runs: each is a list of columns over the runs that have the figures.

A column is the name of a figure, or a column with a function from a run to its value. Subjects,
constraints, and confusions of Jyutping have a row for each of their parts.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from statistics import fmean
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from hkcanto_metrics.g2p import score_jyutping
from hkcanto_metrics.jyutping import parse_syllable

from ...errors import ComparisonError
from ...figures import LANGUAGES, corpus_rows, language_of
from ...kinds.constraints import followed_strictly
from ..runs import Run
from ..statistics.estimates import estimate, mean_estimate
from ..statistics.intervals import Estimate
from ..statistics.paired import RESAMPLES, SEED, Effect, match
from .blocks import (
    ITEM_FIELDS,
    Block,
    Column,
    ItemView,
    Note,
    Row,
    Section,
    Table,
    Value,
    section,
    table,
)
from .compare import TWO_MEASURES, Pair, effects_table
from .frames import JUDGED
from .presentation import (
    MANY_UNREAD,
    MODEL,
    TASK,
    FigureColumn,
    SideBySide,
    condition_title,
    figure_columns,
    headline,
    headline_column,
    headline_title,
    short_name,
    side_by_side,
    task_title,
)

_MANY_TRUNCATED = 0.01
_MOST_ITEMS = 200
_CUT = (
    "Many responses end at the length limit, so their answers may be missing: {}. Run again with a "
    "higher limit (lm-eval: --gen_kwargs max_gen_toks=…, Inspect: --max-tokens …); for a reasoning "
    "model set the task's option reasoning=true."
)
_UNREAD = (
    "No answer could be read from many responses, which count as wrong: {}. Look at some of them "
    "(hkcanto report --with-items). If they are cut off, raise the length limit; if a model talks "
    "around the answer, try worked examples or +scaffold, with the same setup for all models."
)
_UNJUDGED = (
    "Many answers got no level of their rubric and do not count in the headline: {}. If the judge "
    "failed, judge again (hkcanto rescore LOGS --grader MODEL -o FOLDER); if answers are empty or "
    "cut off, the headline covers only the others."
)


class Analysis(NamedTuple):
    """A table with a row for each run that has a figure, and the columns that have values."""

    name: str
    title: str
    has: Callable[[Run], object]
    columns: Sequence[str | FigureColumn]
    caption: str = ""


def _has(*names: str) -> Callable[[Run], bool]:
    return lambda run: all(estimate(run, name) is not None for name in names)


def _column(
    title: str, of: Callable[[Run], Any], unit: Any = "percent", about: str = "", **more: Any
) -> FigureColumn:
    return Column(title, unit, about, **more), of


def _mean(values: np.ndarray[Any, Any]) -> float | None:
    return float(values.mean()) if len(values) else None


def _unread(run: Run) -> Estimate | None:
    return estimate(run, "unparsed_rate") or estimate(run, "invalid_rate")


def _truncated(run: Run) -> Estimate | None:
    known = ~np.isnan(run.items.truncated)
    return (
        mean_estimate(run.items.truncated[known], run.items.clusters[known])
        if known.any()
        else None
    )


def _empty(run: Run) -> Estimate:
    return mean_estimate(1.0 * (run.items.response_lengths == 0), run.items.clusters)


def _when_reasoning(cantonese: int) -> Callable[[Run], Estimate | None]:
    return lambda run: estimate(
        run, "acc", np.equal(run.items.values["reasoning_cantonese"], cantonese)
    )


def _items_with(name: str) -> Callable[[Run], int | None]:
    return lambda run: found.items if (found := estimate(run, name)) else None


def _languages(what: str) -> list[FigureColumn]:
    """Return a column for the share of each language that occurs."""

    def share(language: str) -> Callable[[Run], Estimate | None]:
        return lambda run: (
            found if (found := estimate(run, f"{what}_{language}")) and found.value else None
        )

    return [_column(title, share(language)) for language, title in LANGUAGES.items()]


def _responses(run: Run) -> bool:
    return run.setup.is_generative and bool(run.items.ids)


_ANALYSES = (
    Analysis(
        "extraction",
        "Responses",
        _responses,
        [
            _column(
                "Unparsed",
                _unread,
                about="No answer could be read; they count as wrong.",
                lower_is_better=True,
            ),
            _column(
                "Truncated",
                _truncated,
                about="Ended at the length limit, if logged.",
                lower_is_better=True,
            ),
            _column("Empty", _empty, about="Responses without any text.", lower_is_better=True),
            _column(
                "Mean length",
                lambda run: _mean(run.items.response_lengths),
                "number",
                "The response without reasoning, in characters.",
            ),
            _column(
                "Mean reasoning",
                lambda run: _mean(run.items.reasoning_lengths[run.items.reasoning_lengths > 0]),
                "number",
                "Over responses with reasoning, in characters.",
            ),
            _column(
                "Output tokens",
                lambda run: _mean(run.items.output_tokens[~np.isnan(run.items.output_tokens)]),
                "number",
                "Mean per response, if logged.",
            ),
        ],
        "Generated responses only; blank where nothing was logged. If the shares of unparsed "
        "responses differ, figures differ in more than knowledge.",
    ),
    Analysis(
        "reasoning_language",
        "Language of the reasoning",
        _has("reasoning_finished"),
        [
            _column("Items", _items_with("reasoning_cantonese"), "count"),
            *_languages("reasoning"),
            "reasoning_finished",
        ],
        "Only responses with a logged reasoning block. A block is in the language of at least 85 % "
        "of its prose, otherwise mixed. Formulas, code and quotations do not count.",
    ),
    Analysis(
        "reasoning_accuracy",
        "Accuracy by reasoning",
        _has("reasoning_finished", "acc"),
        [
            "acc",
            "acc_reasoning_cantonese",
            _column("Accuracy, Cantonese reasoning", _when_reasoning(1)),
            _column("Accuracy, other reasoning", _when_reasoning(0)),
        ],
        "Responses without a reasoning block count in the first accuracy only. A higher accuracy "
        "in one language does not prove that the language is the cause: models choose it by the "
        "question.",
    ),
    Analysis(
        "answer_language",
        "Language of the answers",
        _has("answer_cantonese"),
        [
            _column("Items", _items_with("answer_cantonese"), "count"),
            *_languages("answer"),
        ],
        "Answers in prose only.",
    ),
    Analysis(
        "fluency",
        "Texts requested in Cantonese",
        _has("fluent"),
        [
            *("fluent", "cantonese_ratio", "simplified_ratio", "degenerate", "empty"),
            *("overgenerated", "n_characters", "length_penalty"),
        ],
        "Judged by the words used, as classified by cantonesedetect (Lau, Lau and To 2024); the "
        "content is not judged. Quotations do not count.",
    ),
    Analysis(
        "translation",
        "Translations: raw, and with both sides in one script",
        lambda run: any(figure.of_texts for figure in run.setup.FIGURES),
        [
            *(
                f"{name}{how}"
                for name in ("bleu", "chrf", "meteor", "rouge_l", "mean")
                for how in ("", "_normalized")
            ),
            *("wrong_script", "copied_source", "overgenerated"),
        ],
        "Intervals are from bootstrap resamples. Units are characters in Chinese and words in "
        "English. Output in the wrong script has a low raw figure and a high normalised one. For "
        "translations into Cantonese or Written Chinese these figures are only diagnostics: they "
        "know one reference, and between such close varieties many other translations are as good. "
        "HKCanto-Eval (Appendix F) rejects BLEU for these pairs and has people label errors.",
    ),
    Analysis(
        "judged",
        "Ratings by a judge",
        lambda run: any(name in run.items.values for name in ("judged_accuracy", "judged_score")),
        [*JUDGED],
        "Judged by a model with the rubrics of HKCanto-Eval (Appendices F.1 and G.1), which people "
        "used in the paper. Figures of different judges are not comparable.",
    ),
    Analysis(
        "jyutping",
        "Jyutping",
        lambda run: run.definition.kind == "g2p",
        ["*"],
        "0 is perfect. The first two are the paper's; the others are errors over lengths.",
    ),
)


def sections(runs: Sequence[Run], signals: Sequence[Table] = ()) -> list[Section]:
    """Return the sections of the analyses; `signals` are further tables of subjects."""
    ordered = [run for group in side_by_side(runs) for run in group.runs]
    subjects = [
        *signals,
        *(block for group in side_by_side(runs, "acc") for block in _subjects(group)),
    ]
    reading: list[Block] = [
        *_reading_problems(ordered),
        *(_made(analysis, ordered) for analysis in _ANALYSES),
        _reasons(ordered),
        *(each for group in side_by_side(runs) for each in _jyutping(group)),
        *(_constraints(group) for group in side_by_side(runs)),
    ]
    return [
        *section("Subjects", subjects, "subjects"),
        *section("Conditions", _conditions(runs), "conditions"),
        *section("Answers and texts", reading, "answers"),
        *_answers(runs),
    ]


def _made(analysis: Analysis, runs: Sequence[Run]) -> Table:
    kept = [run for run in runs if analysis.has(run)]
    columns = [MODEL, TASK]
    for column in analysis.columns:
        if column == "*":
            columns += figure_columns(kept, [name for run in kept[:1] for name in run.figures])
        elif isinstance(column, str):
            columns += figure_columns(kept, [column])
        else:
            columns.append(column)
    return table(analysis.name, analysis.title, kept, columns, analysis.caption)


def _reading_problems(runs: Sequence[Run]) -> Iterator[Note]:
    for text, most, rate in (
        (_CUT, _MANY_TRUNCATED, _truncated),
        (_UNREAD, MANY_UNREAD, _unread),
        (_UNJUDGED, MANY_UNREAD, partial(estimate, name="unjudged_rate")),
    ):
        of = [(run, rate(run)) for run in runs if _responses(run)]
        many = [
            f"{run.label} on {task_title(run)} {share.value:.1%}"
            for run, share in of
            if share and share.value > most
        ]
        if many:
            yield Note(text.format("; ".join(many)), "warning")


def _reasons(runs: Sequence[Run]) -> Table:
    """Return the shares of the reasons why no answer was read."""
    reasons = sorted({each for run in runs for each in run.items.reasons if each[:5] == "none:"})
    unread = [run for run in runs if {*reasons} & {*run.items.reasons}]

    def share(reason: str) -> Callable[[Run], float]:
        return lambda run: [*run.items.reasons].count(reason) / len(run.items)

    columns = [
        _column(each.removeprefix("none: ").capitalize(), share(each), lower_is_better=True)
        for each in reasons
    ]
    caption = (
        "Share of all responses. Empty, cut off, refused and undecided responses are the model's "
        "own. If many have several answers or none of the options, look at some of them "
        "(--with-items), and report what was misread."
    )
    title = "Why no answer was read"
    return table("unread_reasons", title, unread, [MODEL, TASK, *columns], caption)


# ---------------------------------------------------------------------- subjects


def _subjects(group: SideBySide[Run]) -> list[Block]:
    """Return averages, categories and subjects; for two runs also the differences by subject."""
    runs, some = group.runs, group.runs[0]
    present = {subject.name for run in runs for subject in run.subjects}
    subjects = [each for each in some.setup.task.subjects if each.name in present]
    own = {subject.name for subject in subjects}
    averages = [
        figure
        for figure in some.setup.figures
        if figure.averages == "acc" and figure.part not in own - {""}
    ]
    rows: list[tuple[str, str | None, Sequence[Estimate | None]]] = [
        (figure.title, None, found)
        for figure in averages
        if any(found := [estimate(run, figure.name) for run in runs])
    ]
    if len(subjects) < 2 and len(rows) < 3:
        return []
    if len(subjects) > 1:
        rows += [
            (
                subject.title,
                subject.chinese or None,
                [estimate(run, "acc", run.items.of_subjects([subject.name])) for run in runs],
            )
            for subject in subjects
        ]
    is_choice = some.definition.kind == "multiple_choice"
    chance = 1 / len(some.definition.letters) if is_choice else 0.0
    few = len(runs) <= 2
    scale = None if few else (chance, 1.0)
    columns: list[tuple[Column, Callable[[Any], Any]]] = [
        (Column("Part"), itemgetter(0)),
        (Column("In Chinese"), itemgetter(1)),
        (Column("Items", "count"), lambda row: max(each.items for each in row[2] if each)),
        *(
            (Column(run.label, "percent", drawn=few, scale=scale), lambda row, at=at: row[2][at])
            for at, run in enumerate(runs)
        ),
    ]
    caption = f"The headline is {headline_title(some)}. Subjects also differ by chance."
    made = table(
        f"subjects_{group.name}", group.title, rows, columns, caption, kind=lambda _: "other"
    )
    return [made, *_subject_differences(group)] if len(runs) == 2 else [made]


def _subject_differences(group: SideBySide[Run]) -> list[Block]:
    """Compare two runs on each subject, from the largest gain to the largest loss."""
    a, b = group.runs
    try:
        drawing = {"seed": SEED, "resamples": RESAMPLES}
        effects: Sequence[Effect] = match(a, b, "acc", drawing).by_subject()
    except ComparisonError as error:
        return [Note(f"The differences by subject are not shown: {error}")]
    titles = {each.name: each.title for each in a.setup.task.subjects}
    rows = sorted(effects, key=lambda effect: -effect.difference.value)
    name, title = f"subject_differences_{group.name}", f"{group.title}: {b.label} against {a.label}"
    named = [(titles[each.name], each) for each in rows]
    return [effects_table(a.figures["acc"], name, title, named, [a.label, b.label])] if rows else []


# ---------------------------------------------------------------------- conditions


def _conditions(runs: Sequence[Run]) -> list[Block]:
    """Compare each model's runs of a task under several conditions with the plainest one."""
    groups: dict[tuple[str, str, str], dict[str, list[Run]]]
    groups = defaultdict(lambda: defaultdict(list))
    for run in runs:
        if run.signature.prompt_known:
            groups[run.definition.name, run.data, run.version][run.label].append(run)
    blocks, protocols = list[Block](), set[str]()
    for models in groups.values():
        rows = [
            (run, _difference(ordered[0], run))
            for several in models.values()
            if len({run.comparable_as for run in several}) > 1
            for ordered in [sorted(several, key=_plainness)]
            for run in ordered
        ]
        if rows:
            some = rows[0][0]
            columns: list[tuple[Column, Callable[[tuple[Run, Estimate | None]], Value]]] = [
                (Column("Model"), lambda row: row[0].label),
                (Column("Condition"), lambda row: condition_title(row[0])),
                (headline_column(some, drawn=True), lambda row: headline(row[0])),
                (Column("Gain", "score_points", _PAIRED), lambda row: row[1]),
                (Column("Pairs", "count"), lambda row: row[1].items if row[1] else None),
            ]
            name = short_name("conditions", some.definition.name, some.data)
            blocks.append(table(name, some.definition.title, rows, columns))
            protocols |= {run.setup.task.variant.scoring for run, _ in rows}
    return [*blocks, *([Note(TWO_MEASURES, "warning")] if len(protocols) > 1 else [])]


_PAIRED = "Against the model's first row, on the items of both; none between two protocols."


def _plainness(run: Run) -> tuple[bool, bool, bool, int, int]:
    variant = run.setup.task.variant
    script = run.options.get("script", variant.script)
    changed = variant.scoring == "loglikelihood", bool(variant.cot), script.startswith("sc")
    return *changed, run.condition.count(","), run.shots or 0


def _difference(base: Run, run: Run) -> Estimate | None:
    """Return by how much a run is better, in points; None if the two are not comparable."""
    protocols = {each.setup.task.variant.scoring for each in (base, run)}
    if run is base or len(protocols) > 1:
        return None
    try:
        paired = match(base, run, None, {"seed": SEED, "resamples": 1_000}, common=True)
    except ComparisonError:
        return None
    return Pair((base, run), base.headline, paired.effect()).gain


# ---------------------------------------------------------------------- Jyutping

Pairs = Counter[tuple[str | None, str | None]]
"""(Target syllable, syllable read) → how often; None where one side has no syllable."""
Confusion = tuple[str | None, str | None, int, int]
"""A part of a target syllable, the part read instead, how often, and of how many; None for a part
that was added or dropped."""
_PARTS = ("tone", "onset", "nucleus", "coda", "syllable")
_TONES, _FOREIGN, _UNREADABLE = tuple("123456"), "a foreign word", "unreadable"
_MOST, _LONGEST = 5, 14  # rows of a list; characters of a syllable, which may be endless in a loop
_OF = "Target syllables in which it could occur, excluding dropped ones."
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


def confusions(pairs: Pairs, part: str, nuclei: Sequence[str] = ()) -> Sequence[Confusion]:
    """Count how a part of the target syllables was read, optionally for some nuclei only.

    Examples:
        >>> confusions(Counter({("ngo5", "o5"): 2}), "onset")
        [('ng', '∅', 2, 2)]
    """
    counts: Pairs = Counter()
    totals: Counter[str | None] = Counter()
    for (target, read), times in pairs.items():
        if not nuclei or (target and parse_syllable(target).nucleus in nuclei):
            right = _part(target, part, _FOREIGN)
            # Equal syllables are right even if they have no parts, as for an English word.
            counts[right, right if target == read else _part(read, part, _UNREADABLE)] += times
            totals[right] += times if read else 0
    return [(*key, times, totals[key[0]]) for key, times in counts.most_common()]


def _part(syllable: str | None, part: str, unknown: str) -> str | None:
    if syllable is None or part == "syllable":
        return syllable
    found = getattr(parse_syllable(syllable), part)
    return unknown if found is None else found or "∅"


def lazy_sounds(pairs: Pairs) -> Iterator[tuple[str, str, int, int, float]]:
    """Find sound changes of Hong Kong (懶音): name, example, how often, of how many, and share."""
    for name, example, part, target, read, nuclei in _LAZY_SOUNDS:
        for right, said, times, of in confusions(pairs, part, nuclei):
            if (right, said) == (target, read):
                yield name, example, times, of, times / of


def _tones(pairs: Pairs) -> Iterator[Sequence[Any]]:
    times = {(target, read): times for target, read, times, _ in confusions(pairs, "tone")}
    for target in (*_TONES, None):
        counts = [times.get((target, read), 0) for read in (*_TONES, _UNREADABLE, None)]
        if total := sum(counts):
            yield [target or "added", *(count / total for count in counts), total]


def _wrong(pairs: Pairs) -> Iterator[Sequence[Any]]:
    for part in _PARTS:
        wrong = [
            [part, target[:_LONGEST], read[:_LONGEST], times, of, times / of]
            for target, read, times, of in confusions(pairs, part)
            if target and read and target not in (read, _FOREIGN)
        ]
        yield from wrong[:_MOST]


_READS = [*(f"Read {tone}" for tone in _TONES), "No tone", "Dropped"]
_SHARES = [Column(title, "percent", shaded=True) for title in _READS]
_COUNTS: Sequence[
    tuple[str, str, Sequence[Column], Callable[[Pairs], Iterable[Sequence[Any]]], str]
]
_COUNTS = (
    (
        "tones",
        "Tones",
        [Column("Target tone"), *_SHARES, Column("Syllables", "count")],
        _tones,
        "How each tone of the targets was read, as shares of the row; added syllables have no "
        "target syllable.",
    ),
    (
        "lazy_sounds",
        "Lazy sounds 懶音",
        [Column("Change"), Column("Example"), *_COUNTED],
        lazy_sounds,
        "Sound changes of Hong Kong Cantonese (To, McLeod and Cheung 2015) in the answers. "
        "Variants that the target accepts are not errors and are not counted.",
    ),
    (
        "confusions",
        "Most frequent confusions",
        [Column("Part"), Column("Target"), Column("Read as"), *_COUNTED],
        _wrong,
        f"At most {_MOST} per part and model; ∅ means no onset or coda. Tones 2 and 5, 3 and 6, 4 "
        "and 6 are merging in Hong Kong (Mok, Zuo and Wong 2013).",
    ),
)


def aligned_pairs(run: Run) -> Pairs:
    """Count pairs of target and read syllables, with the best-fitting variant of each target.

    Only counts over all sentences are shown: a sentence with its target would leak an answer.
    """
    scores = (score_jyutping(read, target) for read, target, _ in run.items.pairs)
    return Counter(pair for score in scores for pair in score.alignment)


def _jyutping(group: SideBySide[Run]) -> Iterator[Table]:
    if group.runs[0].definition.kind != "g2p":
        return
    pairs = {run.label: aligned_pairs(run) for run in group.runs if run.items.pairs}
    for short, title, columns, of, caption in _COUNTS:
        rows = [
            Row([model, *each], "run") for model, counts in pairs.items() for each in of(counts)
        ]
        name = f"jyutping_{short}_{group.name}"
        yield Table(name, f"{title}: {group.title}", [MODEL[0], *columns], rows, caption)


# ---------------------------------------------------------------------- constraints and items


def _constraints(group: SideBySide[Run]) -> Table:
    """Return the rates at which constraints were followed, by verifier, the most frequent first."""
    found: dict[str, dict[str, list[tuple[bool, int]]]] = defaultdict(lambda: defaultdict(list))
    for run in group.runs if group.runs[0].definition.kind == "constraints" else ():
        items = zip(run.items.pairs, run.items.reasons, run.items.clusters, strict=True)
        for pair, reason, cluster in items:
            for name, followed in followed_strictly(pair.reference, reason):
                found[name][run.label].append((followed, cluster))
    rows = [
        Row([name, label, mean_estimate(np.array(values, float), np.array(clusters)), len(values)])
        for name in sorted(found, key=lambda name: (-max(map(len, found[name].values())), name))
        for label, of in found[name].items()
        for values, clusters in [tuple(zip(*of, strict=True))]
    ]
    columns = [
        Column("Constraint"),
        MODEL[0],
        Column("Followed", "percent", "Share of these constraints that were met, strictly.", False),
        Column("Constraints", "count", "How often this constraint was set, over all answers."),
    ]
    caption = (
        "Some constraints are harder than others because of their prompts: compare models on one "
        "constraint, not one constraint with another."
    )
    title = f"Which constraints were followed: {group.title}"
    return Table(f"constraints_{group.name}", title, columns, rows, caption)


def _answers(runs: Sequence[Run]) -> Sequence[Section]:
    """Return a section with answers of each model in each task, if their texts were read."""
    of_runs = [(run, _item_scores(run)) for run in runs if run.items.texts]
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run, of in of_runs:
        for item, score in zip(run.items.ids, of, strict=True):
            scores[run.task, item] += [] if np.isnan(score) else [score]
    # Ranked by item, not by answer, so that all runs of a task show the same items.
    ranks = {key: (min(of) - max(of), fmean(of)) if of else (0, 2) for key, of in scores.items()}
    rows = list[Mapping[str, Any]]()
    for run, of in of_runs:
        order = [(*ranks[run.task, item], crc32(item.encode())) for item in run.items.ids]
        chosen = sorted(range(len(order)), key=order.__getitem__)[:_MOST_ITEMS]
        chosen.sort(key=lambda place: (order[place][:2], place))
        titles = {subject.name: subject.title for subject in run.subjects}
        for place in chosen:
            items, score = run.items, of[place]
            subject = titles.get(items.subjects[place], items.subjects[place])
            reason = items.reasons[place] if items.reasons else ""
            where = run.label, task_title(run), items.ids[place], subject
            values = *where, *items.texts[place], reason, None if np.isnan(score) else score
            rows.append(dict(zip(ITEM_FIELDS, values, strict=True)))
    how = Note(
        f"At most {_MOST_ITEMS} answers per model and task: first the items on which the runs "
        "differ most, then the worst; ties are broken at random."
    )
    view = ItemView(rows, sum(len(run.items) for run, _ in of_runs) - len(rows))
    return [Section("Items", [how, view], "items")] if rows else []


def _item_scores(run: Run) -> Sequence[float]:
    """Return each answer's score by the task's headline, from 0 to 1 (best); NaN if unknown."""
    figure = run.headline
    if figure.form == "corpus":
        return corpus_rows(figure, run.items.pairs, language_of(run.setup.task))[1]
    values = run.items.values[figure.averages]
    good = values if figure.higher_is_better else 1 - values
    return list(map(float, np.clip(good, 0, 1)))
