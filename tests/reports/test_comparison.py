"""Comparisons of two evaluations: item by item, and what is refused."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.significance import PairedTest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from hkcanto_tasks.corpus_figures import Pair
from hkcanto_tasks.errors import ComparisonError, HKCantoError
from hkcanto_tasks.reports.blocks import Chart, Note, Section, Table
from hkcanto_tasks.reports.comparison import compare, compare_many, pair_up
from hkcanto_tasks.reports.comparison_blocks import blocks, gate_verdict, p_text, verdict
from hkcanto_tasks.reports.evaluations import Evaluation
from hkcanto_tasks.reports.figures import figure
from hkcanto_tasks.reports.independent import compare_independent

from .building import evaluation

# Of 12 items, both have 4 right and 2 wrong; A alone has 1, and B alone 5.
A = [1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0]
B = [1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1]
FAST = {"resamples": 200}


def law(values: Sequence[float], label: str = "model", **more: object) -> Evaluation:
    """An evaluation of multiple choice in one subject."""
    return evaluation("hkcanto_law", {"acc": values}, label=label, **more)


def questions(count: int) -> list[str]:
    return [f"hkmmlu/hk_law/{i}" for i in range(count)]


def with_options(run: Evaluation, **options: str) -> Evaluation:
    return replace(run, options={**run.options, **options})


# --- right and wrong answers


def test_a_comparison_of_answers_worked_by_hand():
    found = compare(law(A, "old"), law(B, "new"), **FAST).overall
    assert (found.a, found.b) == (5 / 12, 9 / 12)
    assert found.difference == pytest.approx(4 / 12)
    assert (found.wins, found.losses, found.ties) == (5, 1, 6)
    # Of 2⁶ ways to share out the 6 items, 7 on each side are as lopsided.
    assert found.p_value == pytest.approx(14 / 64)
    assert found.p_value == pytest.approx(mcnemar([[4, 1], [5, 2]], exact=True).pvalue)
    assert found.test == "exact McNemar"
    assert found.low < 4 / 12 < found.high


def test_items_are_matched_by_their_ids():
    ids = questions(12)
    order = np.random.default_rng(0).permutation(12)
    there = compare(law(A, ids=ids), law(B, ids=ids), **FAST)
    shuffled = law([B[i] for i in order], ids=[ids[i] for i in order])
    assert compare(law(A, ids=ids), shuffled, **FAST).overall == there.overall


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
@settings(max_examples=25, deadline=None)
def test_the_other_way_round_everything_is_negated(pairs: list[tuple[bool, bool]]):
    a, b = (law(side) for side in zip(*pairs, strict=True))
    there, back = compare(a, b, **FAST).overall, compare(b, a, **FAST).overall
    assert there.difference == -back.difference
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert there.p_value == back.p_value


def test_equal_runs_differ_in_nothing():
    found = compare(law(A, "old"), law(A, "new"), **FAST)
    assert found.overall.p_value == 1
    assert (found.overall.low, found.overall.difference, found.overall.high) == (0, 0, 0)
    assert "new is as good as old" in verdict(found)


def test_the_same_seed_gives_the_same_figures():
    runs = law(A), law(B)
    assert compare(*runs, **FAST).overall == compare(*runs, **FAST).overall
    assert compare(*runs, **FAST).overall != compare(*runs, **FAST, seed=5).overall


def test_epochs_are_matched_in_order_and_count_as_one_item():
    ids = questions(12)
    clusters = [*range(12)] * 4
    four = [law(side * 4, ids=ids * 4, clusters=clusters) for side in (A, B)]
    once = compare(law(A, ids=ids), law(B, ids=ids), **FAST).overall
    found = compare(*four, **FAST).overall
    assert (found.low, found.high) == pytest.approx((once.low, once.high))
    assert found.p_value == pytest.approx(14 / 64)
    assert found.test == "paired permutation"
    assert found.items == 48


def test_items_that_a_run_has_no_value_for_are_left_out_and_counted():
    found = compare(law([1, 0, np.nan, 1]), law([1, 1, 1, np.nan]), **FAST)
    assert found.overall.items == 2
    assert found.unscored == 2
    assert any("2 items are left out" in note for note in notes(blocks(found)))


# --- rates


def test_a_pooled_rate_is_summed_errors_over_summed_length_and_lower_is_better():
    lengths = [10, 30, 60]
    a, b = (
        evaluation("hkcanto_g2p", {"cer": rates}, label=label, weights={"cer": lengths}, shots=5)
        for label, rates in (("old", [0.2, 0.1, 0.1]), ("new", [0.1, 0.1, 0.05]))
    )
    found = compare(a, b, metric="cer", **FAST)
    # 2 + 3 + 6 errors against 1 + 3 + 3, of 100 characters.
    assert (found.overall.a, found.overall.b) == pytest.approx((0.11, 0.07))
    assert (found.overall.wins, found.overall.losses, found.overall.ties) == (2, 0, 1)
    assert found.overall.p_value == 0.5  # 2 of 2² exchanges
    assert verdict(found).startswith(
        "new is 4.0 points better than old in Character error rate (95 % +"
    )


def test_the_headline_of_a_task_is_compared_without_being_asked_for():
    a, b = (evaluation("hkcanto_g2p", {"cer_published": [x, 0.5]}) for x in (0.1, 0.4))
    found = compare(a, b, **FAST)
    assert found.metric.name == "cer_published"
    assert found.overall.losses == 1


# --- averages, categories, subjects


def several(task: str, label: str, seed: int, names: Sequence[str], **more: object) -> Evaluation:
    rng = np.random.default_rng(seed)
    subjects = [name for i, name in enumerate(names) for _ in range(20 + 10 * i)]
    values = (rng.random(len(subjects)) < 0.6).astype(float)
    entry = task.removesuffix("_cot").removesuffix("_mc").removesuffix("_sc")
    ids = [f"{entry}/{name}/{i}" for i, name in enumerate(subjects)]
    return evaluation(task, {"acc": values}, label=label, subjects=subjects, ids=ids, **more)


def first_subjects(task: str, count: int) -> list[str]:
    """Names of subjects, of every category in turn."""
    from hkcanto_tasks.catalogue import find_task

    by_category: dict[str, list[str]] = {}
    for subject in find_task(task).subjects:
        by_category.setdefault(subject.category, []).append(subject.name)
    rounds = [names[i] for i in range(count) for names in by_category.values()]
    return rounds[:count]


@pytest.mark.parametrize("task", ["hkmmlu", "tmmluplus_gen"])
def test_averages_are_those_of_the_report(task: str):
    names = first_subjects(task, 6)
    a, b = several(task, "old", 0, names), several(task, "new", 1, names)
    found = compare(a, b, **FAST)
    averages = {effect.name: effect for effect in found.averages}
    assert set(averages) == {"acc_macro"} | (
        {"acc_category_macro"} if task == "tmmluplus_gen" else set()
    )
    for name, effect in averages.items():
        assert effect.a == pytest.approx(figure(a, name).value)
        assert effect.b == pytest.approx(figure(b, name).value)
        assert effect.low < effect.difference < effect.high
    assert found.overall.a == pytest.approx(figure(a, "acc").value)
    assert [effect.name for effect in found.subjects] == [s.name for s in a.subjects]
    for effect in found.subjects:
        part = figure(b, "acc", b.items.of_subjects([effect.name]))
        assert effect.b == pytest.approx(part.value)
        assert effect.items == part.items
    metric = "acc_macro" if task == "tmmluplus_gen" else "acc"
    for effect in found.categories:
        within = [s.name for s in a.subjects if s.category == effect.name]
        assert effect.a == pytest.approx(figure(a, metric, a.items.of_subjects(within)).value)


def test_a_mean_over_subjects_has_the_interval_of_theory():
    names = first_subjects("hkmmlu", 6)
    a, b = several("hkmmlu", "old", 0, names), several("hkmmlu", "new", 1, names)
    (macro,) = compare(a, b, resamples=10_000).averages
    gain = b.items.values["acc"] - a.items.values["acc"]
    within = [gain[a.items.of_subjects([name])] for name in names]
    error = np.sqrt(sum(part.var() / len(part) for part in within)) / len(names)
    assert macro.high - macro.low == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_p_values_of_subjects_are_adjusted_for_their_number():
    names = first_subjects("hkmmlu", 6)
    a, b = several("hkmmlu", "old", 0, names), several("hkmmlu", "new", 1, names)
    found = compare(a, b, **FAST).subjects
    alone = [mcnemar([[0, effect.losses], [effect.wins, 0]], exact=True).pvalue for effect in found]
    assert [effect.p_value for effect in found] == pytest.approx(alone)
    expected = multipletests(alone, method="holm")[1]
    assert [effect.adjusted for effect in found] == pytest.approx(list(expected))


def test_further_sets_of_items_are_compared():
    parts = [("homophone",)] * 6 + [("rhyme",)] * 6
    found = compare(law(A, parts=parts), law(B, parts=parts), **FAST)
    assert {effect.name: (effect.wins, effect.losses) for effect in found.sets} == {
        "homophone": (0, 0),
        "rhyme": (5, 1),
    }


# --- translations


def translations(errors: float, seed: int) -> list[Pair]:
    letters = np.array(list("我你佢唔係有冇去嚟食飲講聽睇行企坐瞓"))
    references = np.random.default_rng(0).choice(letters, (64, 20))
    rng = np.random.default_rng(seed)
    noise, other = rng.random(references.shape), rng.choice(letters, references.shape)
    outputs = np.where(noise < errors, other, references)
    return [
        Pair("".join(output), "".join(reference), "source")
        for output, reference in zip(outputs, references, strict=True)
    ]


def translated(errors: float, seed: int, label: str) -> Evaluation:
    pairs = translations(errors, seed)
    ids = [f"hkmmlu_translation_zh_yue/{i:03}" for i in range(len(pairs))]
    return evaluation("hkmmlu_translation_zh_yue", {}, label=label, pairs=pairs, ids=ids)


def test_a_corpus_figure_is_compared_as_sacrebleu_does(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SACREBLEU_SEED", "77")
    a, b = translated(0.32, 1, "old"), translated(0.28, 2, "new")
    found = compare(a, b, metric="bleu", seed=77, resamples=320).overall
    texts = [[pair.hypothesis for pair in side.items.pairs] for side in (a, b)]
    references = [pair.reference for pair in a.items.pairs]
    for effect, side in ((found.a, texts[0]), (found.b, texts[1])):
        score = sacrebleu.corpus_bleu(side, [references], tokenize="zh").score
        assert effect == pytest.approx(score)
    p_values = {}
    for test in ("ar", "bs"):
        metric = sacrebleu.metrics.BLEU(tokenize="zh")
        systems = [("old", texts[0]), ("new", texts[1])]
        paired = PairedTest(systems, {"BLEU": metric}, [references], test, n_samples=320)
        p_values[test] = paired()[1]["BLEU"][1].p_value
    assert found.p_value == pytest.approx(p_values["ar"])
    assert found.bootstrap_p == pytest.approx(p_values["bs"])
    assert 1 / 321 < found.p_value < 0.5
    assert found.test == "approximate randomisation"
    assert found.items == 64


def test_the_mean_of_scores_is_the_headline_of_a_translation():
    a, b = translated(0.5, 1, "old"), translated(0.1, 2, "new")
    found = compare(a, b, **FAST, gate=1.0)
    assert found.metric.name == "mean"
    assert found.overall.b == pytest.approx(figure(b, "mean").value)
    assert found.overall.p_value == pytest.approx(1 / 201)
    assert found.overall.wins > 60
    assert found.gate.passed
    assert -100 < found.gate.bound < -10


# --- the gate


@pytest.mark.parametrize("metric", ["acc", "unparsed_rate"])
def test_the_verdict_flips_exactly_at_the_bound(metric: str):
    rng = np.random.default_rng(4)
    a, b = (
        evaluation("hkcanto_law", {metric: (rng.random(400) < 0.5).astype(float)}) for _ in range(2)
    )
    bound = compare(a, b, metric=metric, **FAST, gate=0).gate.bound
    below, above = bound - 1e-9, bound + 1e-9
    assert not compare(a, b, metric=metric, **FAST, gate=bound).gate.passed
    assert not compare(a, b, metric=metric, **FAST, gate=below).gate.passed
    assert compare(a, b, metric=metric, **FAST, gate=above).gate.passed


def test_the_gate_knows_which_way_is_worse():
    better, worse = [1.0] * 90 + [0.0] * 10, [1.0] * 60 + [0.0] * 40
    for metric, sign in (("acc", 1), ("unparsed_rate", -1)):
        a = evaluation("hkcanto_law", {metric: better})
        b = evaluation("hkcanto_law", {metric: worse})
        bound = compare(a, b, metric=metric, **FAST, gate=5).gate.bound
        assert (bound > 30) if sign > 0 else (bound < -20)


def test_the_gate_of_a_published_table():
    # Cavo et al. (2012): one-sided at 97.5 % the bound is -0.54 points; at 95 % a little less.
    a = law([1] * 6 + [0] * 16 + [1] * 139)
    b = law([0] * 6 + [1] * 16 + [1] * 139)
    found = compare(a, b, **FAST, gate=0)
    assert -0.0621 * 100 < found.gate.bound < -0.54
    assert found.gate.passed
    assert gate_verdict(found).startswith("Gate passed: ")


def test_rates_have_the_bound_of_the_bootstrap():
    rng = np.random.default_rng(2)
    sides = [rng.random(60) for _ in range(2)]
    a, b = (evaluation("hkcanto_g2p", {"cer_published": side}) for side in sides)
    found = compare(a, b, resamples=10_000, gate=3)
    loss = sides[1] - sides[0]
    normal = loss.mean() + 1.645 * loss.std() / np.sqrt(60)
    assert found.gate.bound == pytest.approx(100 * normal, abs=0.4)
    assert found.gate.method == "paired bootstrap"


def test_equal_runs_pass_no_tolerance_finer_than_their_number_of_items():
    a = evaluation("hkcanto_g2p", {"cer_published": [0.1, 0.2, 0.3] * 20})
    assert compare(a, a, **FAST, gate=2).gate.passed is False
    assert compare(a, a, **FAST, gate=5).gate.bound == pytest.approx(4.87, abs=0.01)  # 1-.05^(1/60)


# --- what is refused


def test_mismatched_items_are_refused_with_the_difference():
    ids = questions(12)
    a = law(A, "old", ids=ids)
    b = law([*B[:4], 1], "new", ids=[*ids[:4], "hkmmlu/hk_law/99"])
    with pytest.raises(ComparisonError) as caught:
        compare(a, b)
    said = str(caught.value)
    assert isinstance(caught.value, HKCantoError)
    assert "8 items are only in old (results.json) (hkmmlu/hk_law/10, hkmmlu/hk_law/11, " in said
    assert "…" in said
    assert "1 items are only in new (results.json) (hkmmlu/hk_law/99)" in said


def test_another_version_of_the_task_is_refused():
    a, b = law(A, "old"), law(B, "new", version="2")
    with pytest.raises(ComparisonError, match=r"old .* is of version 1 .* new .* of version 2"):
        compare(a, b)
    with pytest.raises(ComparisonError, match="of version 2"):
        compare_independent(a, b)
    assert a.comparable_as != b.comparable_as


def test_another_number_of_epochs_is_refused():
    with pytest.raises(ComparisonError, match="hkmmlu/hk_law/0 in epoch 2"):
        compare(law([1, 0], ids=questions(2)), law([1, 0, 1, 0], ids=questions(2) * 2))


@pytest.mark.parametrize(
    ("b", "metric", "message"),
    [
        (evaluation("hkcanto_phonology", {"acc": A}), None, "hkcanto_phonology: these have other"),
        (law(A, data="local-1234567"), None, "ba2a58b and .* on local-1234567"),
        (law(A), "bleu", "no figure 'bleu'; choose one of acc, unparsed_rate"),
        (law(A), "unparsed_rate", "no values of unparsed_rate"),
        (law([np.nan] * 12), None, "no item has a value for acc"),
    ],
)
def test_what_cannot_be_compared_is_refused(b: Evaluation, metric: str | None, message: str):
    with pytest.raises(ComparisonError, match=message):
        compare(law(A), b, metric=metric)


def test_a_number_that_is_no_score_is_refused():
    run = evaluation("hkcanto_summarization", {"n_characters": [200, 300]})
    with pytest.raises(ComparisonError, match="n_characters is no share"):
        compare(run, run, metric="n_characters")


def test_a_corpus_figure_needs_texts():
    run = evaluation("hkmmlu_translation_zh_yue", {"empty": [0, 0]})
    with pytest.raises(ComparisonError, match="--log_samples"):
        compare(run, run)


# --- conditions


def test_conditions_may_differ_and_that_is_said():
    names = first_subjects("hkmmlu", 2)
    a, b = several("hkmmlu", "m", 0, names), several("hkmmlu_cot", "m", 1, names)
    said = notes(blocks(compare(a, b, **FAST)))
    assert any("different conditions" in note and "chain of thought" in note for note in said)
    assert said[0].startswith("m (chain of thought, 0-shot")


def test_log_likelihood_against_generation_is_warned_of():
    names = first_subjects("hkmmlu", 2)
    a, b = several("hkmmlu", "m", 0, names), several("hkmmlu_mc", "m", 1, names)
    (section,) = blocks(compare(a, b, **FAST))
    warnings = [b.text for b in section.blocks if isinstance(b, Note) and b.level == "warning"]
    assert any("two measures" in text for text in warnings)


# --- several models


def test_several_models_are_compared_pairwise_and_adjusted_for_it():
    rng = np.random.default_rng(6)
    runs = [law((rng.random(80) < p).astype(float), f"m{p}") for p in (0.4, 0.6, 0.8)]
    found = compare_many(runs, **FAST)
    assert list(found.comparisons) == [(0, 1), (0, 2), (1, 2)]
    effects = [comparison.overall for comparison in found.comparisons.values()]
    expected = multipletests([effect.p_value for effect in effects], method="holm")[1]
    assert [effect.adjusted for effect in effects] == pytest.approx(list(expected))
    (section,) = blocks(found)
    matrix, pairs = (block for block in section.blocks if isinstance(block, Table))
    assert [row.cells[0].value for row in matrix.rows] == ["m0.4", "m0.6", "m0.8"]
    there, back = matrix.rows[0].cells[3], matrix.rows[2].cells[1]
    assert back.value == pytest.approx(effects[1].difference)
    assert (there.value, there.low, there.high) == (-back.value, -back.high, -back.low)
    assert matrix.rows[1].cells[2].value is None
    assert len(pairs.rows) == 3
    well_formed([section])


def test_the_gate_of_several_models_is_against_the_first():
    runs = [law(A, "base"), law(B, "one"), law(B, "two")]
    found = compare_many(runs, **FAST, gate=2)
    gated = [place for place, one in found.comparisons.items() if one.gate is not None]
    assert gated == [(0, 1), (0, 2)]
    assert sum("Gate" in note for note in notes(blocks(found))) == 2


# --- partners


def test_runs_are_paired_by_task_and_condition():
    a = [law(A), evaluation("hkcanto_g2p", {"cer_published": [0, 1]})]
    b = [evaluation("hkcanto_g2p", {"cer_published": [1, 1]}), law(B), law(B, shots=0)]
    found = pair_up(a, b)
    assert found.pairs == [(a[0], b[1]), (a[1], b[0])]
    assert found.without_partner == [b[2]]


def test_the_only_condition_of_a_task_is_paired_with_the_other_runs_only_one():
    a, b = evaluation("hkmmlu", {"acc": A}), evaluation("hkmmlu_cot", {"acc": B})
    assert pair_up([a], [b]).pairs == [(a, b)]
    c = with_options(a, prompt="yue")
    assert pair_up([a], [b, c]).pairs == []
    assert pair_up([a], [b, c]).without_partner == [a, b, c]


def test_two_models_in_one_run_are_refused():
    with pytest.raises(ComparisonError, match=r"the second run has both m1 .* and m2 "):
        pair_up([law(A)], [law(A, "m1"), law(B, "m2")])


# --- what is shown


def notes(sections: Sequence[Section]) -> list[str]:
    return [block.text for s in sections for block in s.blocks if isinstance(block, Note)]


def well_formed(sections: Sequence[Section]) -> None:
    tables = [block for s in sections for block in s.blocks if isinstance(block, Table)]
    assert len({table.name for table in tables}) == len(tables)
    for table in tables:
        assert table.name.replace("_", "a").isalnum()
        assert all(len(row.cells) == len(table.columns) for row in table.rows)


def test_the_verdict_is_a_sentence():
    assert verdict(compare(law(A, "old"), law(B, "new"), resamples=10_000)).startswith(
        "new is 33.3 points better than old in Accuracy (95 % +0.0 to +66.7), not significant: "
        "exact McNemar p = 0.22; it wins 5 items, loses 1, ties 6."
    )
    assert verdict(compare(law(B, "new"), law(A, "old"), **FAST)).startswith(
        "old is 33.3 points worse than new"
    )


def test_a_small_difference_is_not_called_none():
    a, b = law([1] * 500 + [0] * 1500), law([1] * 501 + [0] * 1499)
    assert "is 0.05 points better than" in verdict(compare(a, b, **FAST))


def test_the_sign_of_nothing_is_plus():
    run = evaluation("hkcanto_law", {"unparsed_rate": A})
    assert "(95 % +0.0 to +0.0)" in verdict(compare(run, run, metric="unparsed_rate", **FAST))


def test_p_values_are_written_as_papers_do():
    assert [p_text(p) for p in (1, 0.25, 0.0412, 0.001, 0.0009)] == [
        "p = 1",
        "p = 0.25",
        "p = 0.041",
        "p = 0.001",
        "p < 0.001",
    ]


def test_tables_and_chart_show_every_part_sorted():
    names = first_subjects("hkmmlu", 6)
    a, b = several("hkmmlu", "old", 0, names), several("hkmmlu", "new", 1, names)
    compared = compare(a, b, **FAST, gate=2)
    sections = blocks(compared)
    well_formed(sections)
    (section,) = sections
    titles = {block.title: block for block in section.blocks if isinstance(block, Table)}
    assert {"Accuracy", "Categories", "Subjects"} <= set(titles)
    assert len(titles["Subjects"].rows) == 6
    headings = [column.name for column in titles["Subjects"].columns]
    by_holm = [row.cells[headings.index("p by Holm")].value for row in titles["Subjects"].rows]
    assert by_holm == [effect.adjusted for effect in compared.subjects]
    difference = titles["Accuracy"].rows[0].cells[3]
    assert difference.value == pytest.approx(compared.overall.difference)
    assert (difference.low, difference.high) == (compared.overall.low, compared.overall.high)
    (chart,) = (block for block in section.blocks if isinstance(block, Chart))
    drawn = max(chart.spec["datasets"].values(), key=len)
    points = [point["difference"] for point in drawn]
    assert points == sorted(points, reverse=True)
    assert points[0] == pytest.approx(100 * max(e.difference for e in compared.subjects))


def test_two_runs_of_one_model_are_told_apart():
    a, b = law(A), replace(law(B), sources=(Path("other.json"),))
    assert verdict(compare(a, b, **FAST)).startswith("model (B) is 33.3 points better than")


def test_files_of_the_users_own_are_compared_if_their_questions_are_as_long():
    """lm-eval signs each subject's file, Inspect all of them together."""
    values = {"acc": [1, 0, 1]}
    a = evaluation("hkcanto_law", values, data="local-mixed", question_lengths=[10, 20, 30])
    b = evaluation("hkcanto_law", values, data="local-1a2b3c4", question_lengths=[10, 20, 30])
    assert compare(a, b).overall.ties == 3


def test_files_of_the_users_own_with_other_questions_are_refused():
    values = {"acc": [1, 0, 1]}
    a = evaluation("hkcanto_law", values, data="local-mixed", question_lengths=[10, 20, 30])
    b = evaluation("hkcanto_law", values, data="local-mixed", question_lengths=[10, 20, 31])
    with pytest.raises(ComparisonError, match="1 questions of"):
        compare(a, b)
