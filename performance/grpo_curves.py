"""Train a model on a reward with GRPO: `python performance/grpo_curves.py MODEL REWARD OUTPUT`.

MODEL is a folder with Gemma 3 270M. On a CPU, its vocabulary of 262,144 tokens takes most of the
time, so it is trained with only 38,094: those of Chinese and Japanese, and the most common others.

REWARD is `now` or `before`: the present `cantonese_reward`, or that of version 0.2, which rewarded
any text with a Chinese character and without words of Written Chinese. Each step's completions are
written to OUTPUT, one a line, with both rewards.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from datasets import Dataset
from measuring import arguments
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from hkcanto_metrics import cantonese_reward
from hkcanto_metrics.fluency import MIN_CANTONESE_RATIO, count_features
from hkcanto_metrics.repetition import is_degenerate
from hkcanto_metrics.script import is_han

QUESTIONS = (
    "落雨天可以去邊度玩？",
    "點樣先可以早啲瞓？",
    "去飲茶你鍾意食乜嘢？",
    "點解咁多人搭電車？",
    "第一次養貓要買啲乜？",
    "點樣同細佬和好？",
    "行山要帶啲咩？",
    "夜晚肚餓應該食乜？",
)
SEED = 1
SPECIAL = ("<bos>", "<eos>", "<pad>", "<unk>", "<mask>")
CHINESE_OR_JAPANESE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]+|<0x..>")
COMMON, IS_ASCII = 20_000, re.compile("[▁\n!-~]+")


def before(completions: Sequence[str], **_: object) -> list[float]:
    """The reward of version 0.2: for any Chinese without words of Written Chinese or loops."""
    return [
        float(
            any(map(is_han, text)) and not is_degenerate(text) and (not written or ratio >= least)
        )
        for text in completions
        for ratio, written in [count_features(text)]
        for least in [MIN_CANTONESE_RATIO]
    ]


def now(completions: Sequence[str], question: Sequence[str], **_: object) -> list[float]:
    """The present reward."""
    return [reward or 0.0 for reward in cantonese_reward(completions, question)]


def with_fewer_tokens(source: Path, target: Path) -> Path:
    """Write a copy of a model without the tokens of most languages; return its folder."""
    spec = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    old = spec["model"]["vocab"]
    kept = [
        token
        for token, number in sorted(old.items(), key=lambda each: each[1])
        if token in SPECIAL
        or CHINESE_OR_JAPANESE.fullmatch(token)
        or (number < COMMON and IS_ASCII.fullmatch(token))
    ]
    new = {token: number for number, token in enumerate(kept)}
    spec["model"]["vocab"] = new
    spec["model"]["merges"] = [
        [one, other]
        for one, other in spec["model"]["merges"]
        if one in new and other in new and one + other in new
    ]
    spec["added_tokens"] = [
        {**each, "id": new[each["content"]]}
        for each in spec["added_tokens"]
        if each["content"] in SPECIAL
    ]
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32)
    embedding = model.get_input_embeddings().weight.data[[old[token] for token in kept]].clone()
    model.resize_token_embeddings(len(kept))
    model.get_input_embeddings().weight.data.copy_(embedding)
    for config in (model.config, model.generation_config):
        config.bos_token_id, config.eos_token_id, config.pad_token_id = map(
            new.get, ("<bos>", "<eos>", "<pad>")
        )
    model.save_pretrained(target)
    (target / "tokenizer.json").write_text(json.dumps(spec), encoding="utf-8")
    told = (source / "tokenizer_config.json").read_text(encoding="utf-8")
    (target / "tokenizer_config.json").write_text(told, encoding="utf-8")
    return target


def main() -> None:
    """Train, and write the completions with their rewards."""
    given = arguments(
        __doc__, {"model": None, "reward": "now", "output": "curves.jsonl"}, steps=200
    )
    output, paid = Path(given.output), {"before": before, "now": now}[given.reward]
    output.write_text("", encoding="utf-8")
    steps: list[int] = []

    def reward(completions: Sequence[str], **columns: Sequence[str]) -> list[float]:
        steps.append(len(steps))
        row = {"step": steps[-1], "trained": given.reward, "question": columns["question"]}
        row |= {"texts": [*completions]}
        row |= {"before": before(completions, **columns), "now": now(completions, **columns)}
        with output.open("a", encoding="utf-8") as lines:
            print(json.dumps(row, ensure_ascii=False), file=lines)
        return paid(completions, **columns)

    with TemporaryDirectory() as folder:
        model = with_fewer_tokens(Path(given.model), Path(folder))
        trainer = GRPOTrainer(
            model=AutoModelForCausalLM.from_pretrained(model),
            processing_class=AutoTokenizer.from_pretrained(model, padding_side="left"),
            reward_funcs=[reward],
            train_dataset=Dataset.from_list(
                [{"prompt": f"問：{each}\n答：", "question": each} for each in QUESTIONS] * 100
            ),
            args=GRPOConfig(
                output_dir=folder,
                max_steps=given.steps,
                learning_rate=1e-5,
                lr_scheduler_type="constant",
                per_device_train_batch_size=4,
                num_generations=4,
                max_completion_length=20,
                gradient_checkpointing=False,
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
