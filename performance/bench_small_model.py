"""Wall time of the linguistic tasks on the small real model, against a plain transformers loop.

    HKCANTO_DATA_DIR=… python performance/bench_small_model.py [MODEL] [--batch 8] [--rounds 1]

The reference does the same as the released code: the same prompts in batches, three new tokens
each, greedy decoding, and the first character of the answer. lm-eval's start-up (its index of
14,000 files) and loading the model are left out on both sides. On a noisy machine, look at the
ratio of the medians. --log-likelihood times the _mc tasks, too.
"""

from time import perf_counter

from measuring import arguments, ratios

from hkcanto_tasks import load_task

TASKS = ("hkcanto_phonology", "hkcanto_orthography")


def reference(model: object, tokenizer: object, batch: int) -> tuple[float, float]:
    """Return seconds and accuracy of the plain loop."""
    import torch

    loaded = [load_task(name) for name in TASKS]
    prompts = [
        task.at(shots=5).prompt(sample).text()
        for task in loaded
        for sample in task.samples
    ]
    answers = [sample.target for task in loaded for sample in task.samples]
    tokenizer.padding_side = "left"  # type: ignore[attr-defined]
    start = perf_counter()
    right = 0
    for first in range(0, len(prompts), batch):
        part = tokenizer(
            prompts[first : first + batch], return_tensors="pt", padding=True
        )  # type: ignore[operator]
        with torch.inference_mode():
            out = model.generate(**part, max_new_tokens=3, do_sample=False)  # type: ignore[attr-defined]
        texts = tokenizer.batch_decode(  # type: ignore[attr-defined]
            out[:, part["input_ids"].shape[1] :], skip_special_tokens=True
        )
        for text, answer in zip(texts, answers[first : first + batch], strict=True):
            right += text.strip()[:1].upper() == answer
    return perf_counter() - start, right / len(prompts)


def ours(lm: object, tasks: tuple[str, ...]) -> tuple[float, float]:
    """Return seconds and accuracy of our tasks in lm-eval, without the time for its index."""
    from lm_eval import evaluator
    from lm_eval.tasks import TaskManager

    from hkcanto_lm_eval import task_path

    manager = TaskManager(include_path=[task_path()], include_defaults=False)
    start = perf_counter()
    results = evaluator.evaluate(
        lm=lm, task_dict=manager.load(list(tasks)), bootstrap_iters=0, log_samples=True
    )
    assert results is not None
    scores = [
        sample["acc"] for samples in results["samples"].values() for sample in samples
    ]
    return perf_counter() - start, sum(scores) / len(scores)


def main() -> None:
    """Run both, in turn, and print the ratio."""
    import sys
    from pathlib import Path

    from lm_eval.models.huggingface import HFLM
    from transformers import AutoModelForCausalLM, AutoTokenizer

    given = arguments(__doc__, {"model": None}, batch=8, rounds=1, log_likelihood=False)
    if given.model is None:
        sys.path.insert(0, str(Path(__file__).parents[1]))
        from tests.e2e.small_model import small_model

        given.model = str(small_model())
    tokenizer = AutoTokenizer.from_pretrained(given.model)
    model = AutoModelForCausalLM.from_pretrained(given.model, dtype="bfloat16").eval()
    lm = HFLM(
        pretrained=model, tokenizer=tokenizer, batch_size=given.batch, device="cpu"
    )
    times: dict[str, list[float]] = {}
    for _ in range(given.rounds):
        runs = {
            "plain transformers, 3 tokens": lambda: reference(
                model, tokenizer, given.batch
            ),
            "lm-eval, generative": lambda: ours(lm, TASKS),
        }
        if given.log_likelihood:
            runs["lm-eval, _mc"] = lambda: ours(
                lm, tuple(f"{name}_mc" for name in TASKS)
            )
        for name, run in runs.items():
            seconds, accuracy = run()
            times.setdefault(name, []).append(seconds)
            print(f"{name:30}{seconds:8.1f} s   accuracy {accuracy:.3f}", flush=True)
    ratios(times)


if __name__ == "__main__":
    main()
