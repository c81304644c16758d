"""Train a model on a reward with GRPO: `python performance/grpo_curves.py MODEL TASK OUTPUT`.

MODEL is a folder with Gemma 3 270M. On a CPU, its vocabulary of 262,144 tokens takes most of the
time, so it is trained with only 38,094: those of Chinese and Japanese, and the most common others.

TASK is a key of `TASKS`. Each step's completions are written to OUTPUT, one step a line, with the
columns of their rows and what they earned. An older version's rewards are trained on if its
`metrics` folder comes first in PYTHONPATH.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from datasets import Dataset
from measuring import arguments
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

import hkcanto_metrics

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
WRITTEN_QUESTIONS = (
    "下雨天可以去哪裏玩？",
    "怎樣才能早點睡？",
    "去喝茶你喜歡吃甚麼？",
    "為甚麼這麼多人坐電車？",
    "第一次養貓要買甚麼？",
    "怎樣和弟弟和好？",
    "行山要帶甚麼？",
    "晚上肚子餓應該吃甚麼？",
)
CHOICES = (
    ("一個星期有幾多日？", ("五日", "六日", "七日", "八日"), "C"),
    ("邊種動物識飛？", ("雀仔", "水牛", "山羊", "烏龜"), "A"),
    ("落雨嗰陣最啱帶乜出街？", ("風扇", "雨遮", "墨鏡", "毛巾"), "B"),
    ("邊樣嘢係凍嘅？", ("熱茶", "蒸飯", "火鍋", "雪條"), "D"),
    ("三加四係幾多？", ("六", "七", "八", "九"), "B"),
    ("邊個係水果？", ("蘿蔔", "白菜", "薯仔", "橙"), "D"),
    ("太陽喺邊個方向升起？", ("東面", "南面", "西面", "北面"), "A"),
    ("邊樣用嚟寫字？", ("飯碗", "枕頭", "鉛筆", "毛巾"), "C"),
)
WORDS = {
    "多謝": "do1 ze6",
    "香港": "hoeng1 gong2",
    "朋友": "pang4 jau5",
    "學校": "hok6 haau6",
    "天氣": "tin1 hei3",
    "飲茶": "jam2 caa4",
    "電車": "din6 ce1",
    "返工": "faan1 gung1",
}
REASONED = (
    "問：好熱，去邊度好？\n<think>日頭咁曬，行山實中暑，不如搵個有冷氣嘅地方。</think>\n"
    "去睇戲啦。\n\n"
)
MIXED = (
    "問：好熱，去邊度好？\n答：去圖書館啦，嗰度凍冰冰。那裏有很多書，人也不多。\n\n"
    "問：買咩送畀阿媽好？\n答：可以送一束花給她。佢實會好開心㗎。\n\n"
)
WRITTEN = (
    "問：很熱，去哪裏好？\n"
    "答：去圖書館吧，那裏有很多書，人也不多，我們可以坐着看書，嗰度凍冰冰。\n\n"
    "問：買甚麼送給媽媽？\n"
    "答：可以送一束花給她，她會很喜歡的，這是最好的禮物，佢實會好開心。\n\n"
)
OPENING = "我認為這要看情況，沒有一定的答案。不過我們還是可以想想。"
SPELT = "你好 = nei5 hou2\n早晨 = zou2 san4\n食飯 = sik6 faan6\n"


@dataclass(frozen=True)
class Task:
    """A training task: rows with a prompt and columns, and the rewards that are multiplied.

    Every answer begins with the opening, which is part of the prompt and of what is rewarded.
    """

    rewards: Sequence[str]
    rows: Sequence[dict[str, Any]]
    max_tokens: int = 20
    opening: str = ""


TASKS = {
    "cantonese": Task(
        ["cantonese_reward"],
        [{"prompt": f"問：{each}\n答：", "question": each} for each in QUESTIONS],
    ),
    "mixed": Task(
        ["cantonese_reward"],
        [
            {"prompt": f"{MIXED}問：{each}\n答：", "question": each}
            for each in QUESTIONS
        ],
        max_tokens=40,
    ),
    "opened": Task(
        ["cantonese_reward"],
        [
            {"prompt": f"{WRITTEN}問：{each}\n答：{OPENING}", "question": each}
            for each in WRITTEN_QUESTIONS
        ],
        max_tokens=40,
        opening=OPENING,
    ),
    "reasoning": Task(
        ["reasoning_language_reward"],
        [
            {"prompt": f"{REASONED}問：{each}\n<think>", "question": each}
            for each in QUESTIONS
        ],
        max_tokens=40,
    ),
    "choice": Task(
        ["choice_reward", "cantonese_reward"],
        [
            {
                "prompt": f"用廣東話答，講埋點解。\n問：{question}\n"
                + "".join(
                    f"{letter}. {text}\n"
                    for letter, text in zip("ABCD", options, strict=True)
                )
                + "答：",
                "question": question,
                "options": options,
                "answer": answer,
            }
            for question, options, answer in CHOICES
        ],
        max_tokens=30,
    ),
    "jyutping": Task(
        ["jyutping_reward"],
        [
            {"prompt": f"{SPELT}{word} =", "jyutping": gold}
            for word, gold in WORDS.items()
        ],
    ),
}
SEED = 1
SPECIAL = ("<bos>", "<eos>", "<pad>", "<unk>", "<mask>")
CHINESE_OR_JAPANESE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]+|<0x..>")
COMMON, IS_ASCII = 20_000, re.compile("[▁\n!-~]+")


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
    embedding = (
        model.get_input_embeddings().weight.data[[old[token] for token in kept]].clone()
    )
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
    """Train, and write the completions with what they earned."""
    places = {"model": None, "task": "cantonese", "output": "curves.jsonl"}
    given = arguments(__doc__, places, steps=200, generations=4, learning_rate=1e-5)
    output, task = Path(given.output), TASKS[given.task]
    output.write_text("", encoding="utf-8")
    rewards: list[Callable[..., list[float | None]]] = [
        getattr(hkcanto_metrics, name) for name in task.rewards
    ]
    earns = hkcanto_metrics.multiply_rewards(*rewards)

    def reward(completions: Sequence[str], **given: Any) -> list[float]:
        columns = {name: given[name] for name in task.rows[0] if name != "prompt"}
        texts = [task.opening + each for each in completions]
        earned = [each or 0.0 for each in earns(texts, **columns)]
        row = {
            "rewards": task.rewards,
            "texts": texts,
            "columns": columns,
            "earned": earned,
        }
        with output.open("a", encoding="utf-8") as lines:
            print(json.dumps(row, ensure_ascii=False), file=lines)
        return earned

    with TemporaryDirectory() as folder:
        model = with_fewer_tokens(Path(given.model), Path(folder))
        trainer = GRPOTrainer(
            model=AutoModelForCausalLM.from_pretrained(model),
            processing_class=AutoTokenizer.from_pretrained(model, padding_side="left"),
            reward_funcs=[reward],
            train_dataset=Dataset.from_list([*task.rows] * 100),
            args=GRPOConfig(
                output_dir=folder,
                max_steps=given.steps,
                learning_rate=given.learning_rate,
                lr_scheduler_type="constant",
                per_device_train_batch_size=given.generations,
                num_generations=given.generations,
                max_completion_length=task.max_tokens,
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
