"""The metrics load as Hugging Face `evaluate` modules from any folder, without network."""

from pathlib import Path

import pytest

from ..scripts import load_script, printed_figures

LOAD_AND_COMPUTE = """
import json
from pathlib import Path
import evaluate, hkcanto_metrics
folder = Path(hkcanto_metrics.__file__).parent / "evaluate_modules" / "hkcanto_jyutping"
metric = evaluate.load(str(folder))
figures = metric.compute(predictions=["nei5 hou3", ""], references=["(nei5|lei5) hou2", "aa1"])
print(json.dumps(figures))
"""


@pytest.mark.slow
def test_the_jyutping_module_computes_corpus_figures(tmp_path: Path) -> None:
    figures = printed_figures(LOAD_AND_COMPUTE, tmp_path)
    # One wrong tone in two syllables, and one missing syllable.
    assert figures["ser"] == pytest.approx(2 / 3)
    assert figures["tone_error_rate"] == pytest.approx(2 / 3)
    assert figures["onset_error_rate"] == pytest.approx(1 / 3)
    assert figures["cer_published"] == pytest.approx(0.75)
    assert figures["invalid_rate"] == 0.5


def test_the_modules_class_computes_the_same_in_this_process(tmp_path: Path) -> None:
    pytest.importorskip("evaluate")
    folder = "metrics/hkcanto_metrics/evaluate_modules"
    module = load_script(f"{folder}/hkcanto_jyutping/hkcanto_jyutping.py")
    metric = module.HKCantoJyutping(cache_dir=str(tmp_path))
    figures = metric.compute(
        predictions=["nei5 hou3", ""], references=["(nei5|lei5) hou2", "aa1"]
    )
    assert figures["ser"] == pytest.approx(2 / 3)
    assert figures["onset_error_rate"] == pytest.approx(1 / 3)
    assert figures["invalid_rate"] == 0.5
