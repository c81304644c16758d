"""hkcanto_g2p through the lm_eval command."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hkcanto_lm_eval import task_path
from hkcanto_tasks.catalogue import BENCHMARKS

from ..cases import named
from .evaluating import evaluate, first_prompt

G2P = "hkcanto_g2p"
SAMPLE = BENCHMARKS / "hkcanto/sample/phonetics-g2p"


def test_the_table_shows_headline_figures_with_errors_and_arrows(
    lm_eval_sample_run: Any,
) -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lm_eval_sample_run.table.splitlines()
        if line.startswith("|")
    ]
    by_metric = {row[4]: row for row in rows}
    assert by_metric["cer_published"][5] == "↓"
    assert float(by_metric["cer_published"][8]) > 0
    assert float(by_metric["levenshtein_published"][8]) > 0
    assert by_metric["tone_error_rate"][5] == "↓"
    assert any("sample data" in row[0] for row in rows)


def test_per_item_figures_are_in_the_samples_log(lm_eval_sample_run: Any) -> None:
    gold = [
        json.loads(line)
        for line in (SAMPLE / "test/zh_to_jyutping_test_gold.json").open("rb")
    ]
    assert {s["doc"]["id"] for s in lm_eval_sample_run.samples} == {
        f"hkcanto_g2p/{row['#']}" for row in gold
    }
    for sample in lm_eval_sample_run.samples:
        assert isinstance(sample["cer_published"], float)
        assert isinstance(sample["ser"], float)


def test_without_variants_syllable_error_rate_is_jiwers(
    lm_eval_sample_run: Any,
) -> None:
    import jiwer

    single = [s for s in lm_eval_sample_run.samples if "(" not in s["target"]]
    assert len(single) > 10
    for sample in single:
        expected = jiwer.wer(sample["target"], sample["filtered_resps"][0])
        assert sample["ser"] == pytest.approx(expected)


def test_the_signature_names_the_shots_and_examples_that_were_used() -> None:
    results = evaluate(G2P, num_fewshot=2, limit=2, metadata={"examples": "release"})
    signature = results["configs"]["hkcanto_g2p"]["metadata"]["signature"]
    parts = "shots:2|turns:single|prompt:paper|examples:release|data:sample"
    assert signature.startswith(f"hkcanto-g2p|{parts}|")
    dev = [
        json.loads(line) for line in (SAMPLE / "dev/zh_to_jyutping_dev.json").open("rb")
    ]
    shown = "".join(
        f"Example {n}\n{row['Honzi']}\n{row['Jyutping']}\n\n"
        for n, row in enumerate(dev[:2], 1)
    )
    assert shown in first_prompt(results, G2P)
    assert "Example 3" not in first_prompt(results, G2P)


def test_shots_can_be_set_through_metadata() -> None:
    assert (
        first_prompt(evaluate(G2P, limit=1, metadata={"shots": 3}), G2P).count(
            "Example "
        )
        == 3
    )


def test_chat_templates_and_multiturn_examples_work() -> None:
    results = evaluate(
        G2P, limit=2, apply_chat_template=True, metadata={"multiturn": True}
    )
    assert results["results"]["hkcanto_g2p"]["invalid_rate,none"] == 0
    assert first_prompt(results, G2P).count("Example ") == 5


def test_predict_only_scores_nothing() -> None:
    results = evaluate(G2P, limit=2, predict_only=True)
    assert results["results"]["hkcanto_g2p"]["bypass,none"] == 999


def test_a_model_without_an_answer_costs_no_run() -> None:
    results = evaluate(G2P, model="dummy", limit=3)
    assert results["results"]["hkcanto_g2p"]["cer_published,none"] == 1.0
    assert results["results"]["hkcanto_g2p"]["invalid_rate,none"] == 1.0


def test_a_user_yaml_overrides_the_catalogue(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        f"include: {task_path()}/hkcanto/hkcanto_g2p.yaml\n"
        "task: my_g2p\ndataset_name: hkcanto_g2p\nnum_fewshot: 1\n",
        encoding="utf-8",
    )
    results = evaluate("my_g2p", include_path=[str(tmp_path)], limit=1)
    assert first_prompt(results, "my_g2p").count("Example ") == 1


@pytest.mark.realdata
@pytest.mark.slow
def test_rule_engines_reach_the_release_figures(
    lm_eval_cli: Callable[..., Any], real_data: Any
) -> None:
    for engine, expected in [
        ("pycantonese", {"cer_published": 0.228714, "levenshtein_published": 0.065845}),
        ("tojyutping", {"cer_published": 0.054876, "levenshtein_published": 0.007916}),
    ]:
        with named(engine, expected):
            run = lm_eval_cli(
                "--model",
                "hkcanto-g2p",
                "--model_args",
                f"engine={engine}",
                **real_data,
            )
            results = run.results["results"]["hkcanto_g2p"]
            for name, value in expected.items():
                assert results[f"{name},none"] == pytest.approx(value, abs=5e-7)
            assert len(run.samples) == 145
