"""Logs of the quiz in both harnesses to forge: each forgery agrees with itself when it is saved."""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

Json = dict[str, Any]


class LmEvalLog:
    """lm-eval's results and samples of one task."""

    def __init__(self, file: Path) -> None:
        self.file = file
        (self.samples_file,) = file.parent.glob("samples_*.jsonl")
        self.results: Json = json.loads(file.read_text("utf-8"))
        lines = self.samples_file.read_text("utf-8").splitlines()
        self.samples: list[Json] = [*map(json.loads, lines)]
        (self.task,) = self.results["configs"]

    @property
    def metadata(self) -> Json:
        """The task's metadata, with its signature."""
        metadata: Json = self.results["configs"][self.task]["metadata"]
        return metadata

    def sign(self, old: str, new: str) -> None:
        """Replace a part of the signature."""
        assert old in self.metadata["signature"]
        self.metadata["signature"] = self.metadata["signature"].replace(old, new)

    def wrong(self) -> Json:
        """The first sample whose answer is wrong."""
        return next(
            s for s in self.samples if not s["doc"]["judgement"]["values"]["acc"]
        )

    def answer(self, sample: Json, letter: str) -> None:
        """Change the answer of a sample everywhere but before the filters."""
        sample["filtered_resps"] = [letter]
        is_right = float(letter == sample["doc"]["target"])
        judgement = sample["doc"]["judgement"]
        judgement |= {
            "answer": letter,
            "values": {"acc": is_right, "unparsed_rate": 0.0},
        }

    def prompt(self, sample: Json, change: Callable[[str], str]) -> None:
        """Change a logged prompt."""
        request = sample["arguments"]["gen_args_0"]
        request["arg_0"] = change(request["arg_0"])

    def save(self) -> Path:
        """Write the log with the figures of its samples; return its folder."""
        judged = [sample["doc"]["judgement"]["values"] for sample in self.samples]
        for name in judged[0]:
            values = [value[name] for value in judged if value[name] is not None]
            self.results["results"][self.task][f"{name},none"] = fmean(values)
        counts = self.results["n-samples"][self.task]
        counts |= dict.fromkeys(("original", "effective"), len(self.samples))
        self.file.write_text(json.dumps(self.results), "utf-8")
        lines = "".join(f"{json.dumps(sample)}\n" for sample in self.samples)
        self.samples_file.write_text(lines, "utf-8")
        return self.file.parent


class InspectLog:
    """Inspect's log in JSON."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.log: Json = json.loads(file.read_text("utf-8"))
        self.samples: list[Json] = self.log["samples"]

    @property
    def metadata(self) -> Json:
        """The task's metadata, with its signature."""
        metadata: Json = self.log["eval"]["metadata"]
        return metadata

    def sign(self, old: str, new: str) -> None:
        """Replace a part of the signature."""
        assert old in self.metadata["signature"]
        self.metadata["signature"] = self.metadata["signature"].replace(old, new)

    def judged(self, sample: Json) -> Json:
        """The score of our scorer."""
        score: Json = sample["scores"]["judged"]
        return score

    def wrong(self) -> Json:
        """The first sample whose answer is wrong."""
        return next(s for s in self.samples if not self.judged(s)["value"]["acc"])

    def save(self) -> Path:
        """Write the log with the figures of its samples, and return it."""
        values = [self.judged(sample)["value"] for sample in self.samples]
        for score in self.log["results"]["scores"]:
            for name, metric in score["metrics"].items():
                if name in values[0]:
                    metric["value"] = fmean(value[name] for value in values)
        self.file.write_text(json.dumps(self.log), "utf-8")
        return self.file
