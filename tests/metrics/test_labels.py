"""The label that a response settles on, and macro-F1."""

import re
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.labels import label_statistics, macro_f1, read_label

SENTIMENT = {"正面": ["Positive"], "負面": ["Negative"], "中性": ["Neutral", "中立"]}
NLI = {"entailment": ["蘊含"], "not_entailment": ["唔蘊含"]}
SAME = {"似": [], "唔似": []}
SENSE = {"similar": ["相同", "相似"], "different": ["唔同"]}
GRADES = {"1": [], "10": [], "1.5": []}
COLOURS: dict[str, list[str]] = {f"{name}色": [] for name in "紅橙黃綠青藍紫黑白灰"}


def test_the_label_that_a_response_settles_on() -> None:
    for labels, response, label, reason in [
        # The longest word counts.
        (NLI, "not_entailment", "not_entailment", "named"),
        (NLI, "Not Entailment.", "not_entailment", "named"),
        (NLI, r"**not\_entailment**", "not_entailment", "named"),
        (NLI, "NOT-ENTAILMENT", "not_entailment", "named"),
        (NLI, "答案係唔蘊含。", "not_entailment", "named"),
        (NLI, "唔蕴含", "not_entailment", "named"),  # in the other script
        (NLI, "ｅｎｔａｉｌｍｅｎｔ", "entailment", "named"),
        (SAME, "唔似", "唔似", "named"),
        (GRADES, "10", "10", "named"),
        (GRADES, "1.5", "1.5", "named"),
        (GRADES, "The grade is 1.", "1", "named"),
        (GRADES, "2.1", None, "none: no label"),
        # Latin words match as whole words, a single Chinese character only by itself.
        (SENSE, "dissimilar", None, "none: no label"),
        (SAME, "好似係。", None, "none: no label"),
        (SAME, "答案係似。", "似", "named"),
        # With two labels, denying one means the other.
        (NLI, "呢個唔係蘊含。", "not_entailment", "named"),
        (NLI, "It is not not_entailment.", "entailment", "named"),
        (NLI, "未必蘊含，前提冇講。", "not_entailment", "named"),
        (SENSE, "兩者並不相同。", "different", "named"),
        (SENSE, "The senses aren't similar.", "different", "named"),
        (SENSE, "唔相似，係 different。", "different", "named"),
        # With three labels, it means none.
        (SENTIMENT, "唔係負面。", None, "none: no label"),
        (SENTIMENT, "冇負面字眼，係正面。", "正面", "named"),
        (SENTIMENT, "毫無正面嘅地方，負面。", "負面", "named"),
        (SENTIMENT, "非常正面", "正面", "named"),
        # The question repeated.
        (SENTIMENT, "正面、負面定中性？中性。", "中性", "named"),
        (SENTIMENT, "中立／正面／負面", None, "none: no label"),
        (
            NLI,
            "entailment or not_entailment? not_entailment",
            "not_entailment",
            "named",
        ),
        (SAME, "似唔似？唔似。", "唔似", "named"),
        (SENSE, "相唔相似？相似。", "similar", "named"),
        # Several.
        (SENTIMENT, "食物正面，服務負面。總括：中性", "中性", "settled"),
        (SENTIMENT, "A. 正面\nB. 負面\nC. 中性\n答案：B", "負面", "settled"),
        (SENTIMENT, "正面或負面", None, "none: several"),
        (SENSE, "first similar, then different", None, "none: several"),
        (
            SENTIMENT,
            "正面：服務好。負面：味道差。因此最適合的類別是負面。",
            "負面",
            "settled",
        ),
        (SENTIMENT, "睇落似正面多過中性。級別係中性。", "中性", "settled"),
        (
            SENTIMENT,
            "It reads as 負面 rather than 中性. I'd label it 負面.",
            "負面",
            "settled",
        ),
        (SENTIMENT, "I'd label it 正面 or 中性.", None, "none: several"),
        (SENTIMENT, "別選正面，應選負面。", "負面", "settled"),
        # Ten have a letter each; more have not.
        (COLOURS, "紅色或藍色。答案：藍色", "藍色", "settled"),
        ({**COLOURS, "啡色": []}, "紅色或藍色。答案：藍色", None, "none: several"),
        # None.
        (SENTIMENT, "", None, "none: empty"),
        (SENTIMENT, "B", None, "none: no label"),
        (SENTIMENT, "我唔可以判斷。", None, "none: no label"),
    ]:
        reading = read_label(response, labels)
        assert (reading.label, reading.reason) == (label, reason), (
            labels,
            response,
            label,
            reason,
        )


def test_indistinguishable_labels_are_an_error() -> None:
    for labels, message in [
        ({"a": []}, "two labels or more"),
        ({"a": ["x"], "b": ["X"]}, "'x' is a word of two labels"),
        ({"負面": [], "负面": []}, "'负面' is a word of two labels"),
        ({"a": ["？"], "b": []}, "a word is blank"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            read_label("a", labels)


@given(st.text(max_size=300))
def test_any_text_is_read_as_one_of_the_labels_or_none(text: str) -> None:
    for labels in (SENTIMENT, NLI, SAME):
        assert read_label(text, labels).label in {*labels, None}


def test_a_loop_is_read_in_time() -> None:
    start = process_time()
    for label in ["正面", "唔", "not ", "positive, ", "zz0zz "]:
        read_label(label * 20_000, SENTIMENT)
    read_label("positive" + " ," * 60 + " so negative", SENTIMENT)
    assert process_time() - start < 30  # seconds; a pattern that backtracks takes hours


ITEMS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", ""]), st.sampled_from("abc"))
)


@settings(deadline=None)  # the first call imports it
@given(ITEMS.filter(bool))
def test_macro_f1_is_sklearns(items: list[tuple[str, str]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    read, gold = (list(each) for each in zip(*items, strict=True))
    expected = metrics.f1_score(
        gold, read, average="macro", labels=[*"abcd"], zero_division=0
    )
    assert macro_f1(read, gold, "abcd") == pytest.approx(expected)


def test_macro_f1_by_hand() -> None:
    # a: P = 2/3, R = 2/2, F1 = 4/5. b: P = 1/1, R = 1/3, F1 = 1/2. c: never right, F1 = 0.
    read, gold = ["a", "a", "b", "a", ""], ["a", "a", "b", "b", "b"]
    assert macro_f1(read, gold, ["a", "b", "c"]) == pytest.approx((0.8 + 0.5 + 0) / 3)


def test_sums_of_some_items_make_their_macro_f1() -> None:
    read, gold = ["a", "b", "a", "", "b"], ["a", "a", "b", "b", "b"]
    rows, score = label_statistics(read, gold, "ab")
    weights = np.array([2, 0, 1, 1, 1])
    repeated = [place for place, times in enumerate(weights) for _ in range(times)]
    drawn = [[each[place] for place in repeated] for each in (read, gold)]
    assert score(weights @ rows) == pytest.approx(macro_f1(*drawn, "ab"))


def test_no_items_have_no_macro_f1() -> None:
    with pytest.raises(ValueError, match="0 labels read but 0 right ones"):
        macro_f1([], [], "ab")


def test_labels_in_the_other_language_and_described_parts() -> None:
    chinese = {"正面": ["正面"], "負面": ["負面"], "中性": ["中性"]}
    english = {"Positive": ["positive"], "Negative": ["negative"], "Neutral": []}
    for text, labels, label in [
        ("The sentiment is positive.", chinese, "正面"),
        ("呢段文字係負面。", english, "Negative"),
        ("I change my answer from positive to negative.", english, "Negative"),
        ("我將答案由正面改為負面。", chinese, "負面"),
        ("There is nothing positive or negative, so neutral.", english, "Neutral"),
        ("The mood shifts from positive to negative.", english, None),
        ("The first half is positive. The second half complains of", english, None),
        ("前半段稱讚食物，屬於正面。後半段就話服務好", chinese, None),
    ]:
        assert read_label(text, labels).label == label, text


def test_a_refusal_to_call_a_text_something_denies_that_label() -> None:
    spam = {"Spam": ["垃圾訊息"], "Not spam": ["正常訊息"]}
    for response, label in [
        (
            "It reads like a message from a friend, so I would not call it spam.",
            "Not spam",
        ),
        ("I would not hesitate to call it spam.", "Spam"),
    ]:
        assert read_label(response, spam).label == label
    relation = {"entailment": ["蘊含"], "contradiction": ["矛盾"]}
    response = "前提說他在家，假設說他出門了，兩者互相矛盾。"
    assert read_label(response, relation).label == "contradiction"


ENGLISH: dict[str, list[str]] = {"positive": [], "negative": [], "neutral": []}
CHINESE: dict[str, list[str]] = {"積極": [], "消極": [], "中立": []}
VERDICT: dict[str, list[str]] = {"正確": [], "錯誤": []}
RELATION: dict[str, list[str]] = {"entailment": [], "neutral": [], "contradiction": []}
STANCE: dict[str, list[str]] = {"support": [], "oppose": [], "neutral": []}
YES_NO: dict[str, list[str]] = {"yes": [], "no": []}


@pytest.mark.parametrize(
    ("labels", "response", "label"),
    [
        # A label as the first sentence, with an explanation that has another one.
        (VERDICT, "錯誤。地球圍住太陽轉先係正確嘅講法。", "錯誤"),
        (ENGLISH, "Positive. There is nothing negative in it.", "positive"),
        (VERDICT, "錯誤。等等，應該係正確。", "正確"),
        (ENGLISH, "Positive. The end is bad. Overall: negative.", "negative"),
        # The only one that is not denied.
        (ENGLISH, "It's neither positive nor negative.", "neutral"),
        (CHINESE, "既唔積極又唔消極。", "中立"),
        (ENGLISH, "It's not negative or neutral.", "positive"),
        (ENGLISH, "It isn't negative.", None),
        # Verbs, and words of the other language.
        (RELATION, "The first sentence entails the second.", "entailment"),
        (RELATION, "The premise does not entail the hypothesis.", None),
        (RELATION, "前提同假設互相矛盾。", "contradiction"),
        (STANCE, "He does not support it. He opposes it.", "oppose"),
        (CHINESE, "I would classify it as Neutral.", "中立"),
        # "No" before a noun is no answer; an auxiliary is one.
        (YES_NO, "There's no doubt: yes.", "yes"),
        (YES_NO, "It has no wings, but yes, it can fly.", "yes"),
        (YES_NO, "No, it has wings.", "no"),
        (YES_NO, "It surely does.", "yes"),
        (YES_NO, "The town lies inland, so it doesn't.", "no"),
        (YES_NO, "I don't know whether it does.", None),
    ],
)
def test_denials_verbs_and_short_answers(
    labels: dict[str, list[str]], response: str, label: str | None
) -> None:
    assert read_label(response, labels).label == label


def test_probabilities_the_other_label_and_questions_are_read() -> None:
    moods: dict[str, list[str]] = {"joy": [], "anger": [], "fear": []}
    varieties: dict[str, list[str]] = {"Cantonese": [], "Mandarin": []}
    spam: dict[str, list[str]] = {"垃圾訊息": [], "非垃圾訊息": []}
    for text, labels, label in [
        ("joy: 0.05\nanger: 0.80\nfear: 0.15", moods, "anger"),
        ("joy 10%, anger 15%, fear 75%", moods, "fear"),
        ("joy: 0.3\nanger: 0.4\nfear: 0.3", moods, "anger"),
        ("First answer: joy. On reflection, I revise my label to fear.", moods, "fear"),
        ("Half joy, half fear. It could be either one; I won't pick.", moods, None),
        (
            "It has none of the words of Mandarin, so it's the other one.",
            varieties,
            "Cantonese",
        ),
        ("呢個唔似 Mandarin，係另外嗰個。", varieties, "Cantonese"),
        ("只係約食飯，邊會係垃圾訊息吖。", spam, "非垃圾訊息"),
        ("歸入【anger】類，不是 joy。", moods, "anger"),
    ]:
        assert read_label(text, labels).label == label, text


def test_a_json_object_has_the_label_in_one_member() -> None:
    text = '{"id": 0, "label": "joy", "alternatives": ["anger", "fear"]}'
    labels: dict[str, list[str]] = {"joy": [], "anger": [], "fear": []}
    assert read_label(clean_output(text).text, labels).label == "joy"


@pytest.mark.parametrize(
    ("response", "label"),
    [
        ("Label: 正面\nReason: 「趕」單獨睇係負面，但係講者話值得。", "正面"),
        (
            "Sentiment: Positive\nExplanation: Slow sounds negative, but it's praise.",
            "正面",
        ),
        ("**分類結果：** 負面\n**理由：** 「真係好」係正面，但係反話。", "負面"),
        ("標籤：中立\n\n原因：有正面亦有負面。", "中性"),
        ('{"label": "負面", "reason": "雖然開頭係正面，但係話唔會再去"}', "負面"),
        ("Text: negative words.\nLabel: positive\nReason: negative is a joke.", "正面"),
        ("原因：開頭係正面。\n標籤：負面", "負面"),
        ("Label: positive\nReason: nice.\nLabel: negative", None),
        ("Label: positive or negative\nReason: both.", None),
    ],
)
def test_a_labelled_reason_names_other_labels(response: str, label: str | None) -> None:
    assert read_label(response, SENTIMENT).label == label


TOPICS = {"財經": ["finance"], "體育": ["sports"], "政治": ["politics"]}


@pytest.mark.parametrize(
    ("response", "label"),
    [
        ("唔係體育，亦唔關政治事。", "財經"),
        ("呢篇同體育、政治都無關。", "財經"),
        ("Sports and politics are out.", "財經"),
        ("亦與政治無關。", None),
        ("和政治没有任何关系。", None),
        ("體育可以排除。", None),
        ('"Politics" is out.', None),
        ("It has nothing to do with sports.", None),
        ("Sports doesn't apply here.", None),
        ("政治新聞，同體育無關。", "政治"),
        ("Politics is irrelevant; it's about finance.", "財經"),
        ("Sports is out today", "體育"),
    ],
)
def test_labels_that_are_rejected_in_other_words(
    response: str, label: str | None
) -> None:
    assert read_label(response, TOPICS).label == label


def test_of_two_labels_the_one_that_is_not_out() -> None:
    labels = {"ham": [], "spam": []}
    assert read_label("Ham is out.", labels).label == "spam"
