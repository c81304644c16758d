"""Logs of runs that nobody made, as large as real ones: for the benchmarks of the reports.

    python benchmarks/make_logs.py DIR --models 8 --items 26368 --harness lm-eval
    python benchmarks/make_logs.py DIR --models 8 --items 26368 --harness inspect

The harness itself answers one item of the sample data; its log is then written again with other
questions, responses and scores. The same seed makes the same items in both harnesses.
"""

import argparse
import json
import os
import random
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["HKCANTO_DATA"] = "sample"
os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

from hkcanto_tasks.catalogue import Subject, find_task

MARK = "⟦response⟧"
ITEM = "hkmmlu/hk_law/1"
TEXT = (
    "香港特別行政區嘅居民享有言論、新聞、出版嘅自由，亦有結社、集會、遊行同示威嘅自由。"
    "某公司喺去年嘅財政年度錄得盈利，董事會決定將部分盈利派發俾股東作為股息。"
    "下列哪一項最能夠說明上述現象對本地經濟造成嘅影響？請根據所提供嘅資料選出最合適嘅答案。"
)
FORMS = ("{}", "{}", "{}", "答案：{}", "答案係{}。", "The answer is {}.")
REASONING = "<think>\n{}\n</think>\n\n"


@dataclass(frozen=True)
class Item:
    """An answered question."""

    id: str
    subject: Subject
    question: str
    target: str
    response: str
    correct: bool
    unparsed: bool


def items(model: int, models: int, count: int, seed: int) -> Iterator[Item]:
    """The items of one model; the questions are the same for all."""
    subjects = find_task("hkmmlu").subjects
    rows = sum(subject.rows for subject in subjects)
    asked, answered = random.Random(seed), random.Random(f"{seed}/{model}")
    skill = 0.3 + 0.5 * model / max(models - 1, 1)
    thinks = model % 4 == 3
    for place, subject in enumerate(subjects):
        for number in range(1, max(1, round(subject.rows * count / rows)) + 1):
            start = asked.randrange(len(TEXT))
            length = asked.randint(40, 480)
            question = f"{number}. " + (TEXT * 5)[start : start + length]
            target = asked.choice("ABCD")
            luck = answered.random()
            correct = luck < skill * (0.7 + 0.6 * place / len(subjects))
            unparsed = not correct and luck > 0.97
            wrong = "ABCD".replace(target, "")
            letter = target if correct else answered.choice(wrong)
            form = "對唔住，我無法回答呢條問題。" if unparsed else answered.choice(FORMS)
            response = form.format(letter)
            if thinks:
                response = REASONING.format((TEXT * 3)[: answered.randint(50, 300)]) + response
            yield Item(
                f"hkmmlu/{subject.name}/{number}",
                subject,
                question,
                target,
                response,
                correct,
                unparsed,
            )


def lm_eval_logs(folder: Path, models: int, count: int, seed: int) -> None:
    """Write a results file and 66 files of samples for each model."""
    from lm_eval.loggers import EvaluationTracker

    from tests.lm_eval.evaluating import evaluate
    from tests.reports.harness_runs import AnsweringLM

    tracker = EvaluationTracker(output_path="")
    results = evaluate("hkmmlu", model=AnsweringLM(lambda _: MARK), evaluation_tracker=tracker)
    samples = results.pop("samples")["hkmmlu_hk_law"]
    with TemporaryDirectory() as scratch:
        tracker.output_path = scratch
        tracker.save_results_aggregated(results, {"hkmmlu_hk_law": samples})
        tracker.save_results_samples("hkmmlu_hk_law", samples)
        (file,) = Path(scratch).rglob("results_*.json")
        header = json.loads(file.read_text("utf-8"))
        (file,) = Path(scratch).rglob("samples_*.jsonl")
        sample = json.loads(file.open(encoding="utf-8").readline())
    signature = header["configs"]["hkmmlu_hk_law"]["metadata"]["signature"]
    question = sample["doc"]["question"]
    template = _marked(sample, question) | {"target": "⟦target⟧"}
    template["doc"] |= {"id": "⟦id⟧", "target": "⟦target⟧", "groups": "⟦groups⟧"}
    template |= {name: "⟦acc⟧" for name in template["metrics"] if name != "unparsed_rate"}
    line = json.dumps(template | {"unparsed_rate": "⟦unparsed⟧"}, ensure_ascii=False)
    stamp = "2026-01-01T00-00-00.000000"
    for model in range(models):
        own = folder / f"org__model-{model}"
        own.mkdir(parents=True, exist_ok=True)
        correct: dict[str, list[float]] = {}
        files: dict[str, Any] = {}
        for item in items(model, models, count, seed):
            task = f"hkmmlu_{item.subject.name}"
            if task not in files:
                files[task] = (own / f"samples_{task}_{stamp}.jsonl").open("w", encoding="utf-8")
            files[task].write(_filled(line, item) + "\n")
            correct.setdefault(task, []).append(item.correct)
        for file in files.values():
            file.close()
        for task, values in correct.items():
            leaf = signature.replace("hkmmlu-hk-law", task.replace("_", "-"))
            header["configs"][task]["metadata"]["signature"] = leaf
            header["n-samples"][task] = {"original": len(values), "effective": len(values)}
            header["results"][task] |= {"acc,none": sum(values) / len(values)}
        every = [value for values in correct.values() for value in values]
        header["results"]["hkmmlu"]["acc,none"] = sum(every) / len(every)
        name = f"org/model-{model}"
        header["config"] |= {"model": "hf", "model_args": f"pretrained={name}"}
        header |= {"model_name": name, "model_source": "hf"}
        (own / f"results_{stamp}.json").write_text(
            json.dumps(header, ensure_ascii=False, indent=2), "utf-8"
        )


def inspect_logs(folder: Path, models: int, count: int, seed: int) -> None:
    """Write a log for each model."""
    import zipfile_zstd._zipfile as zstandard_of_zipfile
    import zstandard
    from inspect_ai import eval as inspect_eval

    from hkcanto import tasks
    from tests.reports.harness_runs import answering_model

    # zipfile_zstd starts twelve threads for each member, which takes longer than all the rest.
    compressor = zstandard.ZstdCompressor(level=3)
    zstandard_of_zipfile.zstd.ZstdCompressor = lambda **_: compressor
    with TemporaryDirectory() as scratch:
        inspect_eval(
            tasks.hkmmlu(subjects="hk_law"),
            model=answering_model(lambda _: MARK),
            log_dir=scratch,
            display="none",
            limit=1,
        )
        (log,) = Path(scratch).glob("*.eval")
        with zipfile.ZipFile(log) as archive:
            header = json.loads(archive.read("header.json"))
            start = json.loads(archive.read("_journal/start.json"))
            (name,) = [name for name in archive.namelist() if name.startswith("samples/")]
            sample = json.loads(archive.read(name))
    question = sample["input"][-1]["content"]
    assert sample["id"] == ITEM
    template = _marked(sample, question) | {"target": "⟦target⟧"}
    template["metadata"] |= {"subject": "⟦subject⟧", "groups": "⟦groups⟧"}
    score = template["scores"]["judged"]
    score["value"] = {"acc": "⟦acc⟧", "unparsed_rate": "⟦unparsed⟧"}
    text = json.dumps(template, ensure_ascii=False, separators=(",", ":")).replace(
        f'"{ITEM}"', '"⟦id⟧"'
    )
    folder.mkdir(parents=True, exist_ok=True)
    for model in range(models):
        correct: list[bool] = []
        path = folder / f"2026-01-01T00-00-0{model % 10}_hkmmlu_{model}.eval"
        with zipfile.ZipFile(path, "w", compression=93) as archive:
            start["eval"]["model"] = header["eval"]["model"] = f"hf/org/model-{model}"
            archive.writestr("_journal/start.json", json.dumps(start))
            for item in items(model, models, count, seed):
                archive.writestr(f"samples/{item.id}_epoch_1.json", _filled(text, item))
                correct.append(item.correct)
            figures = header["results"]["scores"][0]["metrics"]
            figures["mean"]["value"] = sum(correct) / len(correct)
            archive.writestr("header.json", json.dumps(header))


def _marked(sample: dict[str, Any], question: str) -> dict[str, Any]:
    """Put a mark in all places where the question and the response are."""
    text = json.dumps(sample, ensure_ascii=False)
    quoted = json.dumps(question, ensure_ascii=False)[1:-1]
    assert quoted in text
    assert MARK in text
    marked: dict[str, Any] = json.loads(text.replace(quoted, "⟦question⟧"))
    return marked


def _filled(text: str, item: Item) -> str:
    question = (
        f"請回答以下問題:\n問題: {item.question}\nA. 第一項\nB. 第二項\nC. 第三項\nD. 第四項\n答案:"
    )
    for mark, value in {
        "⟦id⟧": item.id,
        "⟦question⟧": question,
        "⟦target⟧": item.target,
        "⟦subject⟧": item.subject.name,
        MARK: item.response,
    }.items():
        text = text.replace(mark, json.dumps(value, ensure_ascii=False)[1:-1])
    for mark, number in {"⟦acc⟧": item.correct, "⟦unparsed⟧": item.unparsed}.items():
        text = text.replace(f'"{mark}"', f"{float(number)}")
    return text.replace('"⟦groups⟧"', json.dumps(list(item.subject.groups)))


def main() -> None:
    """Write the logs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--items", type=int, default=26_368)
    parser.add_argument("--harness", choices=["lm-eval", "inspect"], default="lm-eval")
    parser.add_argument("--seed", type=int, default=1234)
    given = parser.parse_args()
    write = lm_eval_logs if given.harness == "lm-eval" else inspect_logs
    write(given.folder, given.models, given.items, given.seed)
    size = sum(file.stat().st_size for file in given.folder.rglob("*") if file.is_file())
    print(f"{given.models} models, {size / 1e6:,.0f} MB in {given.folder}")


if __name__ == "__main__":
    main()
