"""The order of characters tells Cantonese from the same characters in another order."""

import random

from hkcanto_metrics.script import to_simplified
from hkcanto_metrics.word_order import disorder

SENTENCES = [
    "我哋琴晚去咗嗰間新開嘅餐廳食飯，啲餸都幾好食，不過個侍應成日唔記得落單。",
    "你聽日返工嗰陣順便幫我攞返件衫，張單喺枱面，記得問佢有冇得減價。",
    "細佬今次考試考得唔錯，阿媽話聽晚帶佢去食自助餐，佢開心到瞓唔着。",
]


def test_a_text_is_in_better_order_than_its_characters_in_any_other() -> None:
    rng = random.Random(0)
    for sentence in SENTENCES:
        ordered = disorder(sentence)
        assert disorder(sentence[::-1]) > 2 * ordered, sentence
        for _ in range(20):
            scrambled = "".join(rng.sample(sentence, len(sentence)))
            assert disorder(scrambled) > 1.5 * ordered, scrambled


def test_script_and_other_signs_do_not_matter() -> None:
    for sentence in SENTENCES:
        assert disorder(to_simplified(sentence)) == disorder(sentence)
        assert disorder(f"OK, {sentence} :)") == disorder(sentence)
    assert disorder("") == disorder("No Chinese here.") == 0
