"""What GRPO makes of a reward: `python performance/grpo_curves.py MODEL REWARD OUTPUT`.

REWARD is `now` or `before`: `cantonese_reward`, or what it was when it paid for any text with a
Chinese character and without words of Written Chinese. Each step's completions are written to
OUTPUT, a line each, with what both would pay.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from datasets import Dataset
from measuring import arguments
from trl import GRPOConfig, GRPOTrainer

from hkcanto_metrics import cantonese_reward
from hkcanto_metrics.fluency import MIN_CANTONESE_RATIO, count_features
from hkcanto_metrics.repetition import is_degenerate
from hkcanto_metrics.script import is_han

QUESTIONS = {
    "落雨天可以去邊度玩？": "落雨天可以去商場行下，",
    "點樣先可以早啲瞓？": "想早啲瞓，",
    "去飲茶你鍾意食乜嘢？": "我飲茶最鍾意食",
    "點解咁多人搭電車？": "好多人搭電車，",
}
SEED = 1


def before(completions: Sequence[str], **_: object) -> list[float]:
    """The reward of version 0.2: any Chinese without words of Written Chinese, and no loop."""
    return [
        float(
            any(map(is_han, text)) and not is_degenerate(text) and (not written or ratio >= least)
        )
        for text in completions
        for ratio, written in [count_features(text)]
        for least in [MIN_CANTONESE_RATIO]
    ]


def now(completions: Sequence[str], **_: object) -> list[float]:
    """The reward as it is."""
    return [reward or 0.0 for reward in cantonese_reward(completions)]


def main() -> None:
    """Train, and write what was rewarded."""
    given = arguments(__doc__, {"model": None, "reward": "now", "output": "curves.jsonl"})
    output, paid = Path(given.output), {"before": before, "now": now}[given.reward]
    output.write_text("", encoding="utf-8")
    steps: list[int] = []

    def reward(completions: Sequence[str], **_: object) -> list[float]:
        steps.append(len(steps))
        with output.open("a", encoding="utf-8") as lines:
            row = {"step": steps[-1], "trained": given.reward, "texts": [*completions]}
            row |= {"before": before(completions), "now": now(completions)}
            row |= {"han": [len(re.findall(r"[\u4e00-\u9fff]", text)) for text in completions]}
            print(json.dumps(row, ensure_ascii=False), file=lines)
        return paid(completions)

    trainer = GRPOTrainer(
        model=given.model,
        reward_funcs=[reward],
        train_dataset=Dataset.from_list(
            [{"prompt": f"問：{asked}\n答："} for asked in QUESTIONS for _ in range(50)]
        ),
        args=GRPOConfig(
            output_dir=str(output.with_suffix("")),
            max_steps=200,
            learning_rate=1e-5,
            lr_scheduler_type="constant",
            per_device_train_batch_size=8,
            num_generations=8,
            max_completion_length=16,
            beta=0.0,
            use_cpu=True,
            bf16=False,
            seed=SEED,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
    )
    trainer.train()


if __name__ == "__main__":
    main()
