"""hkcanto/g2p through the inspect command."""

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import jiwer
import pytest
from inspect_ai.log import read_eval_log

from hkcanto.tasks import g2p

from ..cases import named
from ..reports.harness_runs import answering_model, run_inspect


def figures(log: Any) -> dict[str, float]:
    (judged,) = log.results.scores
    return {name: metric.value for name, metric in judged.metrics.items()}


def test_inspect_finds_and_runs_the_task(inspect_sample_run: Any) -> None:
    assert inspect_sample_run.log.status == "success"
    assert len(inspect_sample_run.log.samples) >= 40


def test_each_sample_shows_what_was_read_and_where_it_differs(
    inspect_sample_run: Any,
) -> None:
    scores = [sample.scores["judged"] for sample in inspect_sample_run.log.samples]
    wrong = [score for score in scores if score.value["ser"] > 0]
    assert wrong
    assert all("→" in score.explanation for score in wrong)
    for score in scores:
        assert score.answer
        assert score.metadata["judgement"]["details"]["best_variant"]
        assert "published CER" in score.explanation


def test_the_log_carries_the_signature_and_says_sample(inspect_sample_run: Any) -> None:
    log = inspect_sample_run.log
    assert log.eval.metadata["signature"].startswith(
        "hkcanto-g2p|shots:5|turns:single|prompt:paper|examples:paper|data:sample|sent:"
    )
    assert "sample data" in log.eval.tags


def variants(target: str) -> list[str]:
    """The readings that a target accepts: `(ze2|ze5) jung2` is two."""
    groups = [
        part.strip("()").split("|") for part in re.findall(r"\([^)]*\)|[^()]+", target)
    ]
    return ["".join(choice) for choice in product(*groups)]


def fewest_errors(
    measure: Callable[..., Any], target: str, answer: str
) -> tuple[int, int]:
    """The errors of an answer by jiwer and the length, for the variant with the lowest rate."""
    outputs = [measure(variant, answer) for variant in variants(target)]
    counts = [
        (
            output.substitutions + output.deletions + output.insertions,
            output.hits + output.substitutions + output.deletions,
        )
        for output in outputs
    ]
    return min(counts, key=lambda count: count[0] / count[1])


def test_pooled_rates_weigh_sentences_by_length(inspect_sample_run: Any) -> None:
    log = inspect_sample_run.log
    for rate, measure in (
        ("cer", jiwer.process_characters),
        ("ser", jiwer.process_words),
    ):
        counts = [
            fewest_errors(measure, sample.target, sample.scores["judged"].answer)
            for sample in log.samples
        ]
        expected = sum(errors for errors, _ in counts) / sum(size for _, size in counts)
        assert figures(log)[rate] == pytest.approx(expected, abs=1e-12)


def test_the_headline_is_first_and_has_a_standard_error(
    inspect_sample_run: Any,
) -> None:
    log = inspect_sample_run.log
    values = [sample.scores["judged"].value["cer_published"] for sample in log.samples]
    reported = figures(log)
    assert [*reported][:2] == ["cer_published", "cer_published_stderr"]
    assert reported["cer_published"] == pytest.approx(fmean(values), abs=1e-12)
    error = stdev(values) / len(values) ** 0.5
    assert reported["cer_published_stderr"] == pytest.approx(error, abs=1e-12)
    assert log.results.headline.metric == "cer_published"


def test_figures_of_a_diagnosis_are_in_the_samples_alone(
    inspect_sample_run: Any,
) -> None:
    log = inspect_sample_run.log
    of_items = log.samples[0].scores["judged"].value.keys()
    assert of_items - figures(log).keys() == {
        *("onset_error_rate", "nucleus_error_rate", "coda_error_rate")
    }


def test_options_reach_the_prompt(inspect_cli: Callable[..., Any]) -> None:
    run = inspect_cli(
        *("--model", "hkcanto/pycantonese", "--limit", "1"),
        *("-T", "shots=2", "-T", "examples=release", "-T", "multiturn=true"),
    )
    (sample,) = run.log.samples
    assert [message.role for message in sample.input] == [
        *("system", "user", "assistant", "user", "assistant", "user")
    ]
    assert (
        "shots:2|turns:multi|prompt:paper|examples:release"
        in run.log.eval.metadata["signature"]
    )


@pytest.mark.realdata
@pytest.mark.slow
def test_rule_engines_reach_the_release_figures(
    inspect_cli: Callable[..., Any], real_data: Any
) -> None:
    for engine, expected in [
        ("pycantonese", {"cer_published": 0.228714, "levenshtein_published": 0.065845}),
        ("tojyutping", {"cer_published": 0.054876, "levenshtein_published": 0.007916}),
    ]:
        with named(engine, expected):
            run = inspect_cli("--model", f"hkcanto/{engine}", **real_data)
            reported = figures(run.log)
            for name, value in expected.items():
                assert reported[name] == pytest.approx(value, abs=5e-7)
            assert len(run.log.samples) == 145


def test_options_reach_the_prompt_of_a_run_in_this_process(tmp_path: Path) -> None:
    task = g2p(shots=2, examples="release", multiturn=True)
    log = run_inspect(tmp_path, task, answering_model(lambda _: "nei5 hou2"), limit=1)
    (sample,) = read_eval_log(str(log)).samples
    roles = [message.role for message in sample.input]
    assert roles == ["system", *["user", "assistant"] * 2, "user"]
    score = sample.scores["judged"]
    assert score.answer == "nei5 hou2"
    # The best variant's errors, by jiwer.
    errors, size = fewest_errors(jiwer.process_words, sample.target, "nei5 hou2")
    assert score.value["ser"] == pytest.approx(errors / size)
