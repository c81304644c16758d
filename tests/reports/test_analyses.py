"""The sections of a report behind its first table: subjects, reading problems, all figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hkcanto_tasks import read_runs
from hkcanto_tasks.figures import Pair
from hkcanto_tasks.results.runs import Run

from .building import a_run, notes, tables
from .harness_runs import AnsweringLM, run_lm_eval


def hkmmlu(
    acc: Sequence[float], label: str = "a", task: str = "hkmmlu", **more: object
) -> Run:
    names = ["dentistry", "dentistry", "hkdse_physics", "hk_law"]
    sets: list[tuple[str, ...]] = [(), (), ("hkdse",), ("hk_specific",)]
    ids = [f"hkmmlu/{place}" for place in range(4)]
    return a_run(
        task, {"acc": acc}, subjects=names, parts=sets, label=label, ids=ids, **more
    )  # type: ignore[arg-type]


# ---------------------------------------------------------------- subjects


def test_averages_categories_and_subjects_stand_side_by_side() -> None:
    found = tables([hkmmlu([1, 1, 0, 1]), hkmmlu([0, 0, 0, 1], "b")])
    rows = {row["Part"]: row for row in found["subjects_hkmmlu_0_shot"]}
    assert {name: row["a"] for name, row in rows.items()} == {
        "Accuracy": pytest.approx(3 / 4),
        "Mean over subjects": pytest.approx(2 / 3),
        "STEM": pytest.approx(2 / 3),
        "Humanities": 1.0,
        "HKDSE": 0.0,
        "Hong Kong-specific": 1.0,
        "Non-STEM": 1.0,
        "Dentistry": 1.0,
        "HKDSE Physics": 0.0,
        "Hong Kong Law": 1.0,
    }
    assert (rows["STEM"]["b"], rows["STEM"]["Items"]) == (0.0, 3)
    assert rows["Dentistry"]["In Chinese"]


def test_tmmluplus_averages_a_category_over_its_subjects() -> None:
    names = [
        "physics",
        "physics",
        "physics",
        "physics",
        "organic_chemistry",
        "accounting",
    ]
    run = a_run("tmmluplus_gen", {"acc": [1, 0, 0, 0, 1, 1]}, subjects=names)
    rows = {
        row["Part"]: row["model"]
        for row in tables([run])["subjects_tmmluplus_gen_0_shot"]
    }
    assert rows["STEM"] == pytest.approx((1 / 4 + 1) / 2)
    assert rows["Mean over categories"] == pytest.approx(((1 / 4 + 1) / 2 + 1) / 2)


def test_a_task_without_subjects_has_no_such_table() -> None:
    found = tables([a_run("hkcanto_g2p", {"cer_published": [0.1]})])
    assert not any(name.startswith("subjects") for name in found)


# ---------------------------------------------------------------- reading


def law(count: int = 100, unparsed: int = 0, truncated: int = 0, **more: object) -> Run:
    return a_run(
        "hkcanto_law",
        {
            "acc": [0.0] * count,
            "unparsed_rate": [1.0] * unparsed + [0.0] * (count - unparsed),
        },
        truncated=[1.0] * truncated + [0.0] * (count - truncated),
        **more,  # type: ignore[arg-type]
    )


def test_each_share_is_of_all_responses() -> None:
    reasons = ["none: undecided", "none: refusal", "last", "last"]
    run = law(
        4, unparsed=2, truncated=1, reasons=reasons, output_tokens=[np.nan, 1, 2, 6]
    )
    (row,) = tables([run])["reading"]
    assert (row["Unread"], row["Refusal"], row["Undecided"], row["Truncated"]) == (
        0.5,
        0.25,
        0.25,
        0.25,
    )
    assert row["Output tokens"] == 3
    (row,) = tables([a_run("hkcanto_g2p", {"cer_published": [0.0]})])["reading"]
    assert not {"Unread", "Truncated", "Output tokens"} & row.keys()


def test_empty_responses_of_lm_eval_may_be_failed_requests(tmp_path: Path) -> None:
    class Failing(AnsweringLM):
        def generate_until(
            self, requests: list[Any], disable_tqdm: bool = False
        ) -> Any:
            del disable_tqdm
            replies = [self.answer(request.args[0]) for request in requests]
            return [None, None, *replies[2:]]

    log = run_lm_eval(tmp_path, "hkmmlu", model=Failing(lambda _: "A"), limit=10)
    texts = notes(list(read_runs(log)))
    (text,) = [text for text in texts if "Empty responses" in text]
    assert "sample data 2 of 10. Failed requests?" in text
    assert not any("raise the length limit" in text for text in texts)


def test_many_unread_or_cut_responses_are_warned_of() -> None:
    for run, text, warned in (
        (law(unparsed=2), "No answer could be read", False),
        (law(unparsed=3), "No answer could be read", True),
        (law(truncated=1), "length limit", False),
        (law(truncated=2), "Hong Kong law, 5-shot 2.0 %", True),
    ):
        assert any(text in note for note in notes([run])) == warned, text


def test_the_cost_of_a_second_look_is_told_beside_many_unread() -> None:
    # Each of the unread: 89 characters of the reader's prompt, 20 of the question, the response.
    lengths = [0, 30, 5_000, 10] + [10] * 96
    number = a_run("hkcanto_g2p", {"cer_published": [0.1], "unparsed_rate": [1.0]})
    runs = law(unparsed=4, response_lengths=lengths), law(unparsed=2), number
    (note,) = (note for note in notes(runs) if "could be read" in note)
    tokens = 3 * (89 + 20) + 30 + 4_000 + 10
    assert f"3 requests of {tokens:,} tokens together." in note


def test_log_likelihood_writes_nothing_that_could_be_unparsed() -> None:
    assert (
        len(tables([law(1), a_run("hkcanto_law_mc", {"acc": [1.0]})])["reading"]) == 1
    )


# ---------------------------------------------------------------- texts

WRONG_SCRIPT = Pair("开车唔好饮酒", "開車唔好飲酒", "不要酒後駕車")


def of_figures(run: Run) -> dict[str, float]:
    """Return a run's figures as its table shows them: shares and rates in %."""
    ((_, rows),) = [
        each for each in tables([run]).items() if each[0].startswith("figures_")
    ]
    return {row["Figure"]: row[run.label] for row in rows}


def translated(
    pairs: Sequence[Pair], task: str = "hkmmlu_translation_zh_yue", **values: object
):
    return a_run(task, {"empty": [0.0] * len(pairs), **values}, pairs=pairs)  # type: ignore[dict-item]


def test_the_wrong_script_shows_in_the_raw_score_alone() -> None:
    figures = of_figures(translated([WRONG_SCRIPT], wrong_script=[1.0]))
    assert figures["chrF, one script"] == pytest.approx(100)
    assert figures["ROUGE-L, one script"] == pytest.approx(100)
    assert figures["chrF"] < 50
    assert figures["ROUGE-L"] == pytest.approx(50)  # three of six characters are alike
    assert figures["Wrong script"] == 100


def test_a_judges_figures_are_shown_where_there_was_a_judge() -> None:
    judged = translated(
        [WRONG_SCRIPT] * 2,
        judged_accuracy=[0.8, float("nan")],
        judge_failure_rate=[0.0, 0.5],
        Omission=[0.0, 1.0],
    )
    figures = of_figures(judged)
    assert figures["Judged accuracy"] == pytest.approx(80)  # an unscored item is not 0
    assert (figures["Failed judgements"], figures["Omission"]) == (25, 0.5)
    assert "Orthography" not in figures
