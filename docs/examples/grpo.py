"""GRPO with TRL on questions of your own: `python grpo.py MODEL --output FOLDER`.

Replace these questions by your own, never by items of a benchmark: test items cannot evaluate a
model that was trained on them. `hkcanto contamination FILE` finds benchmark items in your data.
"""

import argparse

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from hkcanto_metrics import (
    cantonese_reward,
    choice_reward,
    jyutping_reward,
    multiply_rewards,
)


def choice(question: str, options: list[str], answer: str) -> dict[str, object]:
    """Return a question to answer with the right letter and an explanation in Cantonese."""
    shown = "\n".join(
        f"{letter}. {text}" for letter, text in zip("ABCD", options, strict=False)
    )
    prompt = f"{question}\n{shown}\n用廣東話解釋，最後一行寫「答案：X」。"
    return {
        "prompt": _asked(prompt),
        "options": options,
        "answer": answer,
        "jyutping": None,
    }


def pronunciation(sentence: str, jyutping: str) -> dict[str, object]:
    """Return a sentence to write in Jyutping."""
    prompt = f"將呢句寫做粵拼，淨係寫粵拼：{sentence}"
    return {
        "prompt": _asked(prompt),
        "options": None,
        "answer": None,
        "jyutping": jyutping,
    }


def _asked(prompt: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": prompt}]


QUESTIONS = [
    choice("電車公司嘅綽號係咩？", ["叮叮", "豬籠車", "水翼船", "纜車"], "A"),
    choice("邊種點心係用蝦做餡？", ["叉燒包", "蝦餃", "馬拉糕", "芋角"], "B"),
    pronunciation("聽日落雨", "ting1 jat6 lok6 jyu5"),
    pronunciation("我去買餸", "ngo5 heoi3 maai5 sung3"),
]


def main() -> None:
    """Train, and save the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a Hugging Face model, by name or folder")
    parser.add_argument("--output", default="trained")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--generations", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=512)
    given = parser.parse_args()
    trainer = GRPOTrainer(
        model=given.model,
        reward_funcs=[
            multiply_rewards(choice_reward, cantonese_reward),
            jyutping_reward,
        ],
        train_dataset=Dataset.from_list(QUESTIONS),
        args=GRPOConfig(
            output_dir=given.output,
            max_steps=given.steps,
            per_device_train_batch_size=given.generations,
            num_generations=given.generations,
            max_completion_length=given.tokens,
            use_cpu=not torch.cuda.is_available(),
            bf16=torch.cuda.is_available(),
            logging_steps=1,
            log_completions=True,  # writes them to the folder `completions`
            save_strategy="no",
            report_to="none",
        ),
    )
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    main()
