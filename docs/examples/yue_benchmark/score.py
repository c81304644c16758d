"""Score the public responses of Yue-Benchmark's models by four rules.

    git clone https://github.com/jiangjyjy/Yue-Benchmark yue_benchmark
    pip install Levenshtein tqdm
    python docs/examples/yue_benchmark/score.py yue_benchmark scored

The clone is 1.5 GB. The script also needs the extras lm-eval and report. On two cores it takes
about 25 minutes. It writes into `scored`:

* `answers/`: a file for each model, task and number of shots, as `hkcanto rescore` reads them;
* `logs/0shot` and `logs/5shot`: the logs of `hkcanto rescore`, for `hkcanto report`;
* `scores.csv`: a model's accuracy on a task by each rule, from 0 to 1, with 95 % intervals;
* `scores.md`: the tables of the README.

The authors' rules are their own code, which the script imports from the clone. "Published" is what
they published, which their code does not give.
"""

import argparse
import csv
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

RESULTS = "results&src"
"""The folder of the clone with responses and scores."""

TRANSLATION = r"Translation/prediction/(?P<model>[^/]+)/{}_(?P<shots>\d)shot\.json"
RESPONSES = {
    "yue_benchmark_mmlu": (
        r"CMMLU/CMMLU-yue/predictions/"
        r"(?P<model>.+)_CMMLU-(?P<subject>.+)_cantonese_(?P<shots>\d)shot\.json"
    ),
    "yue_benchmark_arc_c": (
        r"ARC_c/ARC_c-yue/(?P<model>.+)_ARC-c_cantonese_(?P<shots>\d)shot\.json"
    ),
    "yue_benchmark_gsm8k": (
        r"GSM8K/GSM8K-yue/predictions/"
        r"(?P<model>.+)_gsm8k_cantonese_(?P<shots>\d)shot\.json"
    ),
    "yue_benchmark_trans_en_yue": TRANSLATION.format("en-yue"),
    "yue_benchmark_trans_zh_yue": TRANSLATION.format("zh-yue"),
}
"""The files with responses to each task, below `RESULTS`."""

EVALUATIONS = {
    "yue_benchmark_mmlu": "CMMLU/CMMLU-yue/evaluation",
    "yue_benchmark_arc_c": "ARC_c/ARC-eval",
    "yue_benchmark_gsm8k": "GSM8K/GSM8K-eval",
}
"""The folders with the authors' rule and the scores that they published, below `RESULTS`."""

NAMES = {
    "gpt-3.5-turbo-instruct": "ChatGPT",
    "Claude-3.5": "claude-3.5-sonnet",
    "Claude3.5-Sonnet": "claude-3.5-sonnet",
    "ERNIE-Bot-Turbo": "ERNIE-turbo",
    "ERNIE-Lite-8K": "ERNIE-Lite",
    "ERNIE-Speed-8K": "ERNIE-Speed",
    "ERNIE-Tiny-8K": "ERNIE-Tiny",
    "GLM4": "GLM-4",
    "Sensechat-5": "SenseChat-5",
    "SenseChat-5-Cantonese": "SenseChat-5",
    "SenseChat": "SenseChat-5",
    "mixtral-large-2-instruct": "mistral-large-2-instruct",
}
"""Names for models that the release calls differently from task to task."""

Rule = Callable[[Sequence[str], Sequence[Any]], list[bool]]
"""Takes responses and their samples, and returns which responses are right."""

RULES = {
    "published": "published",
    "authors_code": "authors' code",
    "first_or_last": "first letter, last number",
    "flexible_extract": "flexible-extract",
}
"""The columns of `scores.csv` with other rules' accuracies, and their titles."""


@dataclass(frozen=True)
class Responses:
    """A model's responses to a task.

    Attributes:
        task: The task, by its name in hkcanto.
        model: The model.
        shots: The number of worked examples in the prompt.
        texts: The responses, by the items' ids.
        published: The accuracy that the authors published; None if they published none.
    """

    task: str
    model: str
    shots: int
    texts: Mapping[str, str]
    published: float | None

    @property
    def path(self) -> Path:
        """The file of answers below the folder of answers."""
        return Path(f"{self.shots}shot", self.task, f"{self.model}.jsonl")


# ---------------------------------------------------------------------- the clone


def read_responses(clone: Path, task: str) -> list[Responses]:
    """Return all models' responses to a task."""
    results = clone / RESULTS
    texts: dict[tuple[str, int], dict[str, str]] = {}
    right: dict[tuple[str, int], list[float]] = {}
    published = published_accuracies(results, task)
    for path in sorted(results.rglob("*.json")):
        name = path.relative_to(results).as_posix()
        found = re.fullmatch(RESPONSES[task], name)
        if not found:
            continue
        parts = found.groupdict()
        key = model_name(parts["model"]), int(parts["shots"])
        prefix = "/".join(filter(None, [task, parts.get("subject")]))
        responses = responses_in(path)
        for number, text in enumerate(responses, 1):
            texts.setdefault(key, {})[f"{prefix}/{number}"] = text
        if path.stem in published:
            right.setdefault(key, []).append(published[path.stem] * len(responses))
    found_responses = []
    for key, of_model in texts.items():
        accuracy = sum(right[key]) / len(of_model) if key in right else None
        found_responses.append(Responses(task, *key, of_model, accuracy))
    return found_responses


def model_name(name: str) -> str:
    """Return one name for a model.

    Examples:
        >>> model_name("qwen2_5-72b-instruct-hf")
        'qwen2.5-72b-instruct'
    """
    name = re.sub(r"(?<=\d)_(?=\d)", ".", name.removesuffix("-hf"))
    return NAMES.get(name, name)


def responses_in(path: Path) -> list[str]:
    """Return the responses of a file, in the order of the task's items."""
    rows = json.loads(path.read_text("utf-8"))
    if isinstance(rows, dict):
        rows = list(rows.values())
    responses = []
    for row in rows:
        response = row["llm_output"] if "llm_output" in row else row["prediction"]
        if isinstance(response, list):
            response = response[0]
        responses.append(response)
    return responses


def published_accuracies(results: Path, task: str) -> dict[str, float]:
    """Return the accuracies that the authors published, by the names of files of responses."""
    accuracies = {}
    if task in EVALUATIONS:
        for path in sorted((results / EVALUATIONS[task]).glob("*_results.csv")):
            for line in path.read_text("utf-8").splitlines()[1:]:
                # Commas stand for some of the underscores of a file's name.
                *name, accuracy = line.split(",")
                accuracies["_".join(name)] = float(accuracy)
    return accuracies


# ---------------------------------------------------------------------- the rules


def options_of(sample: Any) -> list[str]:
    """Return the options of a sample, with a text for those that the question lacks."""
    return [option or "no such option" for option in sample.choices]


def target_number(sample: Any) -> str:
    """Return the target of a sample without commas."""
    return str(sample.target).replace(",", "")


def authors_rule(clone: Path, task: str) -> Rule:
    """Return the authors' rule for a task, from the clone."""
    path = clone / RESULTS / EVALUATIONS[task] / "Evaluation.py"
    spec = importlib.util.spec_from_file_location(f"authors_{task}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if task == "yue_benchmark_gsm8k":
        return authors_numbers(module)
    return authors_letters(module)


def authors_letters(module: ModuleType) -> Rule:
    """Return the authors' rule for letters."""

    def rule(responses: Sequence[str], samples: Sequence[Any]) -> list[bool]:
        right = []
        for response, sample in zip(responses, samples, strict=True):
            options = options_of(sample)
            lines = [
                f"{letter}. {text}"
                for letter, text in zip("ABCD", options, strict=False)
            ]
            letter = module.extract_answer(
                response, choices=options, prompt="\n".join(lines)
            )
            right.append(letter == sample.target)
        return right

    return rule


def authors_numbers(module: ModuleType) -> Rule:
    """Return the authors' rule for numbers: one of up to two numbers is the target."""
    evaluator = module.GSM8KEvaluator()

    def rule(responses: Sequence[str], samples: Sequence[Any]) -> list[bool]:
        right = []
        for response, sample in zip(responses, samples, strict=True):
            numbers = evaluator.extract_answers(response)
            equal = [
                evaluator.is_equal(number, target_number(sample)) for number in numbers
            ]
            right.append(any(equal))
        return right

    return rule


def first_letter(responses: Sequence[str], samples: Sequence[Any]) -> list[bool]:
    """Take the first capital letter from A to D."""
    right = []
    for response, sample in zip(responses, samples, strict=True):
        letter = re.search("[A-D]", response)
        right.append(letter is not None and letter[0] == sample.target)
    return right


def last_number(responses: Sequence[str], samples: Sequence[Any]) -> list[bool]:
    """Take the last number."""
    right = []
    for response, sample in zip(responses, samples, strict=True):
        numbers = re.findall(r"-?\d+(?:\.\d+)?", response.replace(",", ""))
        is_right = bool(numbers) and float(numbers[-1]) == float(target_number(sample))
        right.append(is_right)
    return right


def flexible_letter(responses: Sequence[str], samples: Sequence[Any]) -> list[bool]:
    """Take the letter of lm-eval's `flexible-extract` in mmlu_flan_cot_zeroshot."""
    from lm_eval.filters.extraction import MultiChoiceRegexFilter

    rule = MultiChoiceRegexFilter(
        r"(\([A-Z]\))", -1, ignore_case=True, ignore_punctuation=True
    )
    documents = [{"choices": options_of(sample)} for sample in samples]
    letters = rule.apply([[response] for response in responses], documents)
    return [
        letter.strip("().") == sample.target
        for [letter], sample in zip(letters, samples, strict=True)
    ]


def flexible_number(responses: Sequence[str], samples: Sequence[Any]) -> list[bool]:
    """Take the number of lm-eval's `flexible-extract` in gsm8k."""
    from lm_eval.filters.extraction import RegexFilter

    rule = RegexFilter(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", -1)
    numbers = rule.apply([[response] for response in responses], list(samples))
    return [
        re.sub(r",|\$|\.$", "", number) == target_number(sample)
        for [number], sample in zip(numbers, samples, strict=True)
    ]


def rules_for(clone: Path, task: str) -> dict[str, Rule]:
    """Return the rules that ours is compared with, by their columns in `scores.csv`."""
    authors = authors_rule(clone, task)
    if task == "yue_benchmark_gsm8k":
        return {
            "authors_code": authors,
            "first_or_last": last_number,
            "flexible_extract": flexible_number,
        }
    return {
        "authors_code": authors,
        "first_or_last": first_letter,
        "flexible_extract": flexible_letter,
    }


# ---------------------------------------------------------------------- the scores


def write_answers(responses: Responses, folder: Path) -> None:
    """Write a model's responses as `hkcanto rescore` reads them."""
    path = folder / responses.path
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for item, text in responses.texts.items():
            file.write(json.dumps({"id": item, "response": text}) + "\n")


def rescore(answers: Path, task: str, logs: Path) -> None:
    """Run `hkcanto rescore` on a folder of answers."""
    program = shutil.which("hkcanto", path=Path(sys.executable).parent) or "hkcanto"
    files = sorted(answers.glob("*.jsonl"))
    subprocess.run([program, "rescore", *files, "--task", task, "-o", logs], check=True)


def wilson(share: float, items: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, as `to_frame` gives it."""
    from scipy.stats import binomtest

    interval = binomtest(round(share * items), items).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def scores_of(
    responses: Responses,
    ours: Any,
    rules: Mapping[str, Rule],
    samples: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a row of `scores.csv`.

    Args:
        responses: A model's responses to a task.
        ours: The rows of `to_frame` for this model, by figure.
        rules: The other rules.
        samples: The task's samples by id.
    """
    accuracy = ours.loc["acc"]
    row: dict[str, Any] = {
        "task": responses.task,
        "shots": responses.shots,
        "model": responses.model,
        "items": len(responses.texts),
        "ours": accuracy.value,
        "ours_low": accuracy.low,
        "ours_high": accuracy.high,
        "unread": ours.loc["unparsed_rate"].value,
    }
    asked = [samples[item] for item in responses.texts]
    for name, rule in rules.items():
        right = rule([*responses.texts.values()], asked)
        share = sum(right) / len(right)
        low, high = wilson(share, len(right))
        row |= {name: share, f"{name}_low": low, f"{name}_high": high}
    row["published"] = responses.published
    for name, value in row.items():
        if isinstance(value, float):
            row[name] = round(value, 5)
    return row


def score_task(clone: Path, task: str, folder: Path) -> Iterator[dict[str, Any]]:
    """Make the logs of a task, and yield a row of `scores.csv` for each model."""
    from hkcanto_tasks import load_task, read_runs

    found = read_responses(clone, task)
    for responses in found:
        write_answers(responses, folder / "answers")
    samples = {sample.id: sample for sample in load_task(task).samples}
    for shots in sorted({responses.shots for responses in found}):
        part = Path(f"{shots}shot", task)
        rescore(folder / "answers" / part, task, folder / "logs" / part)
        if task not in EVALUATIONS:
            continue  # translations have no letter or number
        rules = rules_for(clone, task)
        frame = read_runs(folder / "logs" / part).to_frame()
        frame = frame[frame.subject.isna()].set_index(["model", "figure"])
        for responses in found:
            if responses.shots == shots:
                ours = frame.loc[responses.model]
                yield scores_of(responses, ours, rules, samples)


# ---------------------------------------------------------------------- the tables


def read_scores(path: Path) -> list[dict[str, Any]]:
    """Return the rows of `scores.csv`."""
    rows = []
    with path.open(encoding="utf-8", newline="") as file:
        for cells in csv.DictReader(file):
            row: dict[str, Any] = dict(cells)
            for name, cell in cells.items():
                if name not in ("task", "model"):
                    row[name] = float(cell) if cell else None
            rows.append(row)
    return rows


def points(row: Mapping[str, Any], rule: str) -> float | None:
    """Return how many points a model gains by another rule; None without a score."""
    if row[rule] is None:
        return None
    return 100 * float(row[rule] - row["ours"])


def signed(value: float | None) -> str:
    """Return points with a sign.

    Examples:
        >>> signed(-0.04)
        '0.0'
        >>> signed(-1.25)
        '−1.2'
    """
    if value is None:
        return "–"
    text = f"{value:+.1f}"
    if float(text) == 0:
        return "0.0"
    return text.replace("-", "−")


def model_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of models: our score, and the points that they gain by other rules."""
    lines = [
        " | ".join(["| model | ours, 95 % | unread", *RULES.values()]) + " |",
        "|---" * (3 + len(RULES)) + "|",
    ]
    for row in sorted(rows, key=lambda row: -float(row["ours"])):
        interval = f"{100 * row['ours_low']:.1f} to {100 * row['ours_high']:.1f}"
        cells = [
            row["model"],
            f"{100 * row['ours']:.1f} ({interval})",
            f"{100 * row['unread']:.1f}",
        ]
        cells += [signed(points(row, rule)) for rule in RULES]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def mean_and_range(gains: Sequence[float]) -> str:
    """Return the mean, least and greatest of some points."""
    if not gains:
        return "–"
    mean = sum(gains) / len(gains)
    return f"{signed(mean)} ({signed(min(gains))} to {signed(max(gains))})"


def task_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of tasks: the points that models gain by other rules, mean and extremes."""
    groups: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["task"], int(row["shots"])), []).append(row)
    lines = [
        " | ".join(["| task, shots | models", *RULES.values()]) + " |",
        "|---" * (2 + len(RULES)) + "|",
    ]
    for (task, shots), group in groups.items():
        cells = [f"`{task}`, {shots}", str(len(group))]
        for rule in RULES:
            found = [points(row, rule) for row in group]
            gains = [gain for gain in found if gain is not None]
            cells.append(mean_and_range(gains))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def tables(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the tables of the README."""
    shown = []
    for row in rows:
        if row["task"] == "yue_benchmark_arc_c" and row["shots"] == 0:
            shown.append(row)
    return f"{model_table(shown)}\n{task_table(rows)}"


def main() -> None:
    """Score the responses of a clone."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("clone", type=Path, help="the clone, named yue_benchmark")
    parser.add_argument("folder", type=Path, help="the folder for answers and logs")
    arguments = parser.parse_args()
    clone = arguments.clone.absolute()
    if clone.name != "yue_benchmark":
        parser.error(
            f"{clone} is not named yue_benchmark: hkcanto looks for its items there."
        )
    # hkcanto reads the items from the clone, too.
    os.environ["HKCANTO_DATA_DIR"] = str(clone.parent)
    rows: list[dict[str, Any]] = []
    for task in RESPONSES:
        rows += score_task(clone, task, arguments.folder)
    with (arguments.folder / "scores.csv").open(
        "w", encoding="utf-8", newline=""
    ) as file:
        writer = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    scores = tables(rows)
    (arguments.folder / "scores.md").write_text(scores, encoding="utf-8")


if __name__ == "__main__":
    main()
