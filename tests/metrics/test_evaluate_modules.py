"""The metrics load as Hugging Face `evaluate` modules from any folder, without network."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..scripts import load_script

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
    source_root = Path(__file__).parents[2] / "metrics"
    done = subprocess.run(
        [sys.executable, "-c", LOAD_AND_COMPUTE],
        cwd=tmp_path,
        env={
            **os.environ,
            "HF_HOME": str(tmp_path / "hf"),
            "HF_HUB_OFFLINE": "1",
            "PYTHONPATH": os.pathsep.join(
                [str(source_root), os.environ.get("PYTHONPATH", "")]
            ),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
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
