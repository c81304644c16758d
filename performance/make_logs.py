"""Make logs of real size for benchmarks of the reports: HKMMLU at its full size.

    HKCANTO_DATA_DIR=… python performance/make_logs.py DIR --models 8 --harness lm-eval
    HKCANTO_DATA_DIR=… python performance/make_logs.py DIR --models 8 --harness inspect

The harness itself runs, with mock models of different accuracy that phrase answers in several ways.
The same seed gives the same answers in both harnesses. Inspect takes minutes for each model.
"""

import argparse
import os
import random
import tempfile
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from bench_full_size import make

REASONING = "<think>\n{}\n</think>\n\n"
TEXT = (
    "香港特別行政區嘅居民享有言論、新聞、出版嘅自由，亦有結社、集會、遊行同示威嘅自由。"
    "某公司喺去年嘅財政年度錄得盈利，董事會決定將部分盈利派發俾股東作為股息。"
)
FORMS = ("{}", "{}", "{}", "答案：{}", "答案係{}。", "The answer is {}.")


class Answers:
    """A model: good at some questions, silent at a few; every fourth model writes its reasoning."""

    def __init__(self, number: int, of: int, seed: int) -> None:
        self.name = f"model-{number}"
        self._skill = 0.3 + 0.5 * number / max(of - 1, 1)
        self._thinks = number % 4 == 3
        self._seed = f"{seed}/{number}"

    def to(self, item: str, target: str, letters: Iterable[str]) -> str:
        """Answer an item."""
        luck = random.Random(f"{self._seed}/{item}")
        drawn = luck.random()
        wrong = [letter for letter in letters if letter != target]
        letter = target if drawn < self._skill else luck.choice(wrong)
        text = (
            luck.choice(FORMS).format(letter)
            if drawn < 0.97
            else "對唔住，我無法回答呢條問題。"
        )
        thought = (
            REASONING.format((TEXT * 3)[: luck.randint(50, 300)])
            if self._thinks
            else ""
        )
        return thought + text


def letters(sample: Mapping[str, Any]) -> list[str]:
    """Return the letters that a sample has an option for."""
    return [
        letter
        for letter, choice in zip("ABCD", sample.get("choices") or "ABCD", strict=False)
        if choice
    ]


def lm_eval_logs(
    folder: Path, models: Iterable[Answers], tasks: Iterable[str] = ("hkmmlu",)
) -> None:
    """Run lm-eval for each model and task; the logs of a model are in a folder `org__NAME`."""
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    from hkcanto_lm_eval import task_path

    class Knows(LM):  # type: ignore[misc]
        tokenizer_name = "knows"

        def __init__(self, answers: Answers) -> None:
            super().__init__()
            self._answers = answers

        def generate_until(
            self, requests: list[Any], disable_tqdm: bool = False
        ) -> list[str]:
            del disable_tqdm
            docs = [request.doc for request in requests]
            return [
                self._answers.to(doc["id"], str(doc["target"]), letters(doc))
                for doc in docs
            ]

        def loglikelihood(self, *_: Any, **__: Any) -> list[tuple[float, bool]]:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    manager = TaskManager(include_path=[task_path()], include_defaults=False)
    for answers, task in product(models, tasks):
        tracker = EvaluationTracker(output_path=str(folder))
        results = simple_evaluate(
            model=Knows(answers),
            tasks=[task],
            task_manager=manager,
            bootstrap_iters=0,
            evaluation_tracker=tracker,
            log_samples=True,
        )
        assert results is not None
        name = f"org/{answers.name}"
        results["config"] |= {"model": "hf", "model_args": f"pretrained={name}"}
        tracker.general_config_tracker.model_name = name
        tracker.general_config_tracker.model_name_sanitized = name.replace("/", "__")
        samples = results.pop("samples")
        tracker.save_results_aggregated(results=results, samples=samples)
        tracker.save_results_samples(task_name=task, samples=samples[task])


def inspect_logs(folder: Path, models: list[Answers]) -> None:
    """Run Inspect for each model."""
    from inspect_ai import eval as inspect_eval
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from hkcanto import tasks

    for answers in models:
        task = tasks.hkmmlu()
        known = {str(sample.input[-1].content): sample for sample in task.dataset}

        def output(
            messages: list[Any], *_: Any, known: Any = known, answers: Answers = answers
        ) -> ModelOutput:
            sample = known[messages[-1].text]
            said = answers.to(sample.id, sample.target, letters(sample.metadata))
            made = ModelOutput.from_content(f"org/{answers.name}", said)
            made.usage = ModelUsage()
            return made

        inspect_eval(
            task,
            model=get_model("mockllm/" + answers.name, custom_outputs=output),
            log_dir=str(folder / answers.name),
            display="none",
            log_realtime=False,
        )


def main() -> None:
    """Write the logs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--harness", choices=["lm-eval", "inspect"], default="lm-eval")
    parser.add_argument("--seed", type=int, default=1234)
    given = parser.parse_args()
    if not os.environ.get("HKCANTO_DATA_DIR"):
        os.environ["HKCANTO_DATA"] = "sample"
    with tempfile.TemporaryDirectory() as release:
        make(Path(release), 1)
        os.environ |= {
            "HKCANTO_DATA": "",
            "HKCANTO_DATA_DIR": release,
            "HF_HUB_OFFLINE": "1",
        }
        models = [
            Answers(number, given.models, given.seed) for number in range(given.models)
        ]
        write = lm_eval_logs if given.harness == "lm-eval" else inspect_logs
        write(given.folder, models)
    size = sum(
        file.stat().st_size for file in given.folder.rglob("*") if file.is_file()
    )
    print(f"{given.models} models, {size / 1e6:,.0f} MB in {given.folder}")


if __name__ == "__main__":
    main()
