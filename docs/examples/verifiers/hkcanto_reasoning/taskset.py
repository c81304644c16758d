"""Read the questions, and reward the right letter and the language of the reasoning."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import verifiers.v1 as vf

from hkcanto_metrics import choice_reward, reasoning_language_reward

ROWS = Path(__file__).with_name("questions.jsonl")


class QuestionData(vf.TaskData):
    """A row: its question and options are not quoted for reward."""

    question: str
    options: list[str]
    answer: str
    language: str


class QuestionTask(vf.Task[QuestionData]):
    """A question with two rewards."""

    @vf.reward
    async def letter(self, trace: vf.Trace) -> float:
        """1 for the right letter."""
        return self._earned(choice_reward, trace, answer=self.data.answer)

    @vf.reward(weight=0.5)
    async def language(self, trace: vf.Trace) -> float:
        """The share of the reasoning that is in the row's language."""
        return self._earned(
            reasoning_language_reward,
            trace,
            question=self.data.question,
            language=self.data.language,
        )

    def _earned(self, reward: Any, trace: vf.Trace, **row: str) -> float:
        messages = [each.model_dump() for each in trace.assistant_messages[-1:]]
        columns = {name: [value] for name, value in row.items()}
        return reward([messages], options=[self.data.options], **columns)[0] or 0.0


class ReasoningTaskset(vf.Taskset[QuestionTask]):
    """The questions of `questions.jsonl`."""

    def load(self) -> Iterable[QuestionTask]:
        """Yield a task for each row."""
        for line in ROWS.read_text("utf-8").splitlines():
            row = json.loads(line)
            shown = zip("ABCD", row["options"], strict=True)
            options = "\n".join(f"{letter}. {text}" for letter, text in shown)
            yield QuestionTask(
                QuestionData(
                    prompt=f"{row['question']}\n{options}\n{row.pop('ask')}", **row
                ),
                self.config.task,
            )
