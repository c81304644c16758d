"""Right and wrong answers to any constraint, made by rule, and arguments to test each verifier.

No code here reads a text: whether an answer is right follows from how it is made.
"""

import json
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from hkcanto_metrics.constraints import VERIFIERS, Constraint

Make = Callable[[Random, int, dict[str, Any]], str]

# Neutral characters, none of which is in the words below.
CHARACTERS = "山水天光風雲海船橋路車門窗樓梯巷木石火田"
CLAUSES = (
    "今朝落咗好大雨",
    "我哋行路返屋企",
    "隔籬嘅貓瞓醒喇",
    "巴士又遲到咗",
    "阿媽煲咗湯",
)
ENDS = "。！？"
FILLER = ("今朝落雨，", "我哋行路，", "貓瞓醒喇，", "煲咗湯，")
WORDS = ("叮叮", "奶茶", "AI", "𨋢", "哈哈", "MTR", "靚")
EMOJI = ("😀", "👍🏽", "👨‍👩‍👧", "🇭🇰", "❤️", "1️⃣")


class Answers(NamedTuple):
    """An answer that follows a constraint, and one that does not."""

    right: str
    wrong: str


def answers_to(constraint: Constraint, seed: int = 0) -> Answers:
    """Make a right and a wrong answer to a constraint."""
    random, args = Random(seed), dict(constraint.args)
    if constraint.name in _PAIRS:
        return _PAIRS[constraint.name](random, args)
    least = VERIFIERS[constraint.name].least
    bounds = {
        name: args.pop(name, None)
        for name in ("exactly", "at_least", "at_most", "about")
    }
    end = 60 + max(bound or 0 for bound in bounds.values())
    fits = [n for n in range(least or 0, end) if _is_within(n, bounds)]
    others = [n for n in range(end) if n not in fits]
    make = _COUNTS[constraint.name]
    right, wrong = random.choice(fits), random.choice(others)
    return Answers(make(random, right, args), make(random, wrong, args))


def _is_within(n: int, bounds: dict[str, int | None]) -> bool:
    exactly, least, most = (bounds[name] for name in ("exactly", "at_least", "at_most"))
    if bounds["about"] is not None and 10 * abs(n - bounds["about"]) > bounds["about"]:
        return False
    return (
        (exactly is None or n == exactly)
        and (least or 0) <= n
        and (most is None or n <= most)
    )


# Counts: each function makes an answer with a count of n ------------------------------------------


def _han(random: Random, n: int) -> str:
    return "".join(random.choices(CHARACTERS, k=n))


def _characters(random: Random, n: int, args: dict[str, Any]) -> str:
    counting = args.get("counting", "units")
    if counting == "all":
        return " ".join([*"，。𨋢é😀"[: n > 0], *_han(random, max(0, n - 1))])
    words = ["hotpot", "8,999", "don't"] if counting == "units" else []
    noise = [] if counting == "units" else [" VIP ", "3.5"]
    units = [
        random.choice([_han(random, 1), *words[: random.randint(0, 3)]])
        for _ in range(n)
    ]
    return " ".join(units) + "……！？" + "".join(noise)


def _sentences(random: Random, n: int, _: dict[str, Any]) -> str:
    said = (f"佢話：「{random.choice(CLAUSES)}！」喎" for _ in range(n))
    plain = (random.choice(CLAUSES) + "……" + random.choice(CLAUSES) for _ in range(n))
    pairs = zip(said, plain, strict=True)
    return (
        "".join(random.choice(pair) + random.choice(ENDS) for pair in pairs) or "……！"
    )


def _lines(random: Random, n: int, _: dict[str, Any]) -> str:
    marks = ("", "- ", "## ", "1. ", "> ")
    return (
        "\n\n---\n".join(
            random.choice(marks) + random.choice(CLAUSES) for _ in range(n)
        )
        or "---"
    )


def _paragraphs(random: Random, n: int, _: dict[str, Any]) -> str:
    between, wraps = ("\n\n", "\n") if n > 1 else ("", "")
    blocks = [random.choice(CLAUSES) + wraps + random.choice(CLAUSES) for _ in range(n)]
    return between.join(blocks) or "***"


def _verses(random: Random, n: int, _: dict[str, Any]) -> str:
    return (
        "".join(_han(random, 5) + random.choice("，。\n！") for _ in range(n)) or "OK"
    )


def _each(between: str, end: str) -> Make:
    """Three units of n characters."""

    def make(random: Random, n: int, _: dict[str, Any]) -> str:
        return between.join(_han(random, n) + end for _ in range(3)) if n else "---"

    return make


def _filler(*words: str) -> list[str]:
    return [each for each in FILLER if not any(word in each for word in words)]


def _occurrences(random: Random, n: int, args: dict[str, Any]) -> str:
    pieces = [args["word"]] * n + [*args.get("not_in", ())] + _filler(args["word"])
    random.shuffle(pieces)
    return "，".join(pieces)


def _different(random: Random, n: int, args: dict[str, Any]) -> str:
    used = random.sample(args["words"], min(n, len(args["words"])))
    return "，".join([*_filler(*args["words"]), *used, *used[:2]])


def _bullets(random: Random, n: int, args: dict[str, Any]) -> str:
    mark = args.get("mark") or random.choice("-*+•")
    items = (f"{mark} {random.choice(CLAUSES)}\n  - 細項" for _ in range(n))
    return "\n".join(["以下係建議：", *items, "---", "-5 度", "**小心**"])


def _numbers(random: Random, n: int, _: dict[str, Any]) -> str:
    written = random.choice(["{}. ", "{}、", "({}) ", "{}）", "**{}.** ", "### {}. "])
    items = (
        written.format(i + 1) + random.choice(CLAUSES) + "\n   - 細項" for i in range(n)
    )
    return "\n".join(["以下係建議：", *items, "3.5 公里", f"{n + 3}. 後補"])


def _table(random: Random, n: int, args: dict[str, Any]) -> str:
    columns = args.get("columns") or 2
    row = f"| {' | '.join([_han(random, 2)] * columns)} |"
    return "\n".join(["價錢：", row, "|" + "---|" * columns, *[row] * n, "", "多謝"])


def _json_items(random: Random, n: int, _: dict[str, Any]) -> str:
    text = json.dumps([_han(random, 2) for _ in range(n)], ensure_ascii=False)
    return random.choice([text, f"```json\n{text}\n```"])


def _among(*marks: str) -> Make:
    """An answer with n marks, between clauses without marks."""

    def make(random: Random, n: int, _: dict[str, Any]) -> str:
        return "\n".join(
            [
                CLAUSES[0],
                *(random.choice(CLAUSES) + random.choice(marks) for _ in range(n)),
            ]
        )

    return make


def _between(*forms: str) -> Make:
    """An answer with n passages between marks."""

    def make(random: Random, n: int, args: dict[str, Any]) -> str:
        marks = args.get("marks")
        return _among(*(each for each in forms if not marks or each[0] == marks[0]))(
            random, n, {}
        )

    return make


def _punctuation(random: Random, n: int, args: dict[str, Any]) -> str:
    marks = args.get("marks") or "，。、！？,.!?;~「（—"
    return (
        "3.5% @ "
        + "".join(_han(random, 2) + random.choice(marks) for _ in range(n))
        + "茶 9:30"
    )


def _parts(random: Random, n: int, args: dict[str, Any]) -> str:
    parts = [f"{_han(random, 3)}{number}" for number in range(n)]
    return f"\n{args['mark']}\n".join(parts or ["一樣", "一樣"])


def _headings(random: Random, n: int, args: dict[str, Any]) -> str:
    level = args.get("level") or random.randint(1, 6)
    return "\n".join(
        ["#香港 ####", *(f"{'#' * level} {_han(random, 3)}" for _ in range(n))]
    )


def _hashtags(random: Random, n: int, _: dict[str, Any]) -> str:
    return "# 標題\n" + " ".join(
        [CLAUSES[0], *(f"#{_han(random, 3)}" for _ in range(n))]
    )


def _latin(random: Random, n: int, _: dict[str, Any]) -> str:
    words = (
        random.choice(["OK", "ｗｉｆｉ", "don't", "A", "e-mail"]) for _ in range(n)
    )
    return "".join(random.choice(CLAUSES) + word for word in words) + CLAUSES[0] + "3.5"


def _mixed(random: Random, n: int, _: dict[str, Any]) -> str:
    said = [f"我 book 咗{random.choice(CLAUSES)}。" for _ in range(n)]
    return "".join([*said, "See you soon. ", CLAUSES[0], "！"])


def _questions(random: Random, n: int, _: dict[str, Any]) -> str:
    asked = [
        random.choice(CLAUSES) + random.choice(["？", "?", "？！"]) for _ in range(n)
    ]
    return "".join([CLAUSES[0], "。", *asked])


def _sub_items(random: Random, n: int, _: dict[str, Any]) -> str:
    return "\n".join(
        ["- 街市", *(f"  {random.choice('-*')} {_han(random, 2)}" for _ in range(n))]
    )


def _json_depth(random: Random, n: int, _: dict[str, Any]) -> str:
    text = json.dumps(_han(random, 2), ensure_ascii=False)
    for _ in range(n):
        text = random.choice([f"[1, {text}]", f'{{"菜": {text}}}'])
    return text


def _letters(random: Random, n: int, args: dict[str, Any]) -> str:
    return "".join(_han(random, 1) + args["letter"] for _ in range(n)) + "茶"


def _capital(random: Random, n: int, _: dict[str, Any]) -> str:
    return "搭 Tram，".join(
        ["", *(f"{random.choice(['MTR', 'KMB', 'A'])} " for _ in range(n)), "ok"]
    )


def _percent(_: Random, n: int, __: dict[str, Any]) -> str:
    return "茶" * (100 - n) + " ok" * n


_COUNTS: dict[str, Make] = {
    "sub_items": _sub_items,
    "json_depth": _json_depth,
    "letters": _letters,
    "capital_words": _capital,
    "latin_percent": _percent,
    "characters": _characters,
    "sentences": _sentences,
    "lines": _lines,
    "paragraphs": _paragraphs,
    "verses": _verses,
    "characters_per_line": _each("\n", "。"),
    "characters_per_sentence": _each("", "。"),
    "characters_per_verse": _each("", "，"),
    "occurrences": _occurrences,
    "different_words": _different,
    "bullet_items": _bullets,
    "numbered_items": _numbers,
    "table_rows": _table,
    "json_items": _json_items,
    "headings": _headings,
    "bold": _among("**小心**", "__小心__"),
    "placeholders": _between("[姓名]", "【日期】"),
    "quotations": _between("「早晨」", "“早晨”", "『早晨』"),
    "hashtags": _hashtags,
    "parts": _parts,
    "punctuation": _punctuation,
    "emoji": _among(*EMOJI),
    "questions": _questions,
    "latin_words": _latin,
    "code_mixed_sentences": _mixed,
}

# Conditions ---------------------------------------------------------------------------------------


def _fixed(right: tuple[str, ...], wrong: tuple[str, ...]) -> Callable[..., Answers]:
    return lambda random, _: Answers(random.choice(right), random.choice(wrong))


def _verse_lengths(random: Random, args: dict[str, Any]) -> Answers:
    lengths = [*args["lengths"]]
    right = [_han(random, n) for n in lengths]
    lengths[random.randrange(len(lengths))] += 1
    return Answers(
        "，".join(right) + "。", "，".join(_han(random, n) for n in lengths) + "。"
    )


def _equal(random: Random, _: dict[str, Any]) -> Answers:
    n = random.randint(3, 9)
    lines = [_han(random, n) for _ in range(random.randint(2, 5))]
    return Answers("，\n".join(lines), "\n".join([*lines, _han(random, n - 1)]))


def _all_words(_: Random, args: dict[str, Any]) -> Answers:
    first, *others = args["words"]
    said = [*_filler(first), *others]
    return Answers("，".join([*said, first]), "，".join([*said, "嗱"]))


def _avoids(random: Random, args: dict[str, Any]) -> Answers:
    spared = "，".join([*_filler(*args["words"]), *args.get("not_in", ())]) or "好"
    return Answers(spared, f"{spared}，{random.choice(args['words'])}！")


def _starts(random: Random, args: dict[str, Any]) -> Answers:
    rest = "，" + random.choice(CLAUSES)
    before = random.choice(["", "「", "**", "（"])
    return Answers(before + args["text"] + rest, "好。" + args["text"] + rest)


def _ends(random: Random, args: dict[str, Any]) -> Answers:
    rest = random.choice(CLAUSES) + "，"
    after = random.choice(["", "！", "。」", "**", "😀"])
    return Answers(rest + args["text"] + after, rest + args["text"] + "，好。")


def _order(_: Random, args: dict[str, Any]) -> Answers:
    words = [*args["words"]]
    return Answers("貓，".join(["", *words]), "貓，".join(["", *words[1:], words[0]]))


def _one_of(random: Random, args: dict[str, Any]) -> Answers:
    phrase = random.choice(args["phrases"])
    return Answers(
        random.choice(["{}", "**{}**。", "「{}」"]).format(phrase), f"我話{phrase}"
    )


def _in_sentence(_: Random, args: dict[str, Any]) -> Answers:
    said = [CLAUSES[0]] * 6
    wrong = [*said]
    place = args["sentence"] - (args["sentence"] > 0)
    said[place] += "，" + args["word"]
    wrong[place - 1] += "，" + args["word"]
    return Answers("。".join(said), "。".join(wrong))


def _paragraph(random: Random, args: dict[str, Any]) -> Answers:
    n, text = args["paragraph"], args["text"]
    blocks = [random.choice(CLAUSES) for _ in range(n - 1)]
    return Answers(
        "\n\n".join([*blocks, f"{text}，好", "完"]),
        "\n\n".join([*blocks, f"好，{text}", "完"]),
    )


def _each_line(form: str, wrong: str) -> Callable[..., Answers]:
    def make(random: Random, args: dict[str, Any]) -> Answers:
        lines = [form.format(args["text"], random.choice(CLAUSES)) for _ in range(3)]
        return Answers("\n".join(lines), "\n".join([*lines, wrong]))

    return make


def _each_sentence(random: Random, args: dict[str, Any]) -> Answers:
    words = args.get("words") or args.get("particles") or ("啦", "㗎", "喎")
    said = [CLAUSES[1] + random.choice(words) + random.choice(ENDS) for _ in range(3)]
    return Answers("".join(said), "".join([*said, "今朝落雨。"]))


def _postscript(random: Random, args: dict[str, Any]) -> Answers:
    mark = args.get("mark", "P.S.")
    return Answers(
        f"多謝！\n\n{mark} 帶遮",
        random.choice([f"多謝！\n{mark}", f"{mark} 帶遮", "多謝！"]),
    )


def _acrostic(random: Random, args: dict[str, Any]) -> Answers:
    text, is_first = args["text"], args.get("place", "first") == "first"
    between = "\n" if args.get("unit", "lines") == "lines" else "，"

    def spell(spelled: str) -> str:
        lines = (
            c + _han(random, 4) if is_first else _han(random, 4) + c for c in spelled
        )
        return between.join(lines)

    return Answers(
        spell(text), random.choice([spell(text[:-1]), spell(text + text[0])])
    )


def _distinct(_: Random, args: dict[str, Any]) -> Answers:
    unit = args.get("unit", "lines")
    if unit in ("words", "characters"):
        return Answers("今朝落雨，貓瞓醒喇", "今朝落雨，今朝好凍")
    mark, between = (
        "- " if unit == "items" else "",
        "。" if unit == "sentences" else "\n",
    )
    units = [mark + each for each in CLAUSES]
    return Answers(between.join(units), between.join([*units, units[0] + "！"]))


def _json_object(random: Random, args: dict[str, Any]) -> Answers:
    keys = [*args.get("keys", ())]
    text = json.dumps(dict.fromkeys(keys, 1), ensure_ascii=False)
    fenced = f"```json\n{text}\n```"
    wrong = json.dumps(dict.fromkeys(keys[1:], 1)) if keys else "[1]"
    return Answers(
        random.choice([text, fenced]), random.choice([wrong, f"好：{text}", text[:-1]])
    )


def _quoted(random: Random, args: dict[str, Any]) -> Answers:
    opening, closing = args.get("marks", "「」")
    text = random.choice(CLAUSES)
    both = f"{opening}{text}{closing}"
    return Answers(
        both, random.choice([text, f"{both}同{both}", f"{both}。", both[:-1]])
    )


def _title(random: Random, args: dict[str, Any]) -> Answers:
    opening, closing = args.get("marks", "《》")
    named = f"{opening}夜船{closing}"
    right = random.choice(["{}", "# {}", "**{}**"]).format(named) + "\n風好大。"
    return Answers(
        right,
        random.choice(["夜船\n風好大。", f"{named}風好大。", f"風好大。\n{named}"]),
    )


def _width(_: Random, args: dict[str, Any]) -> Answers:
    full, half = "好，買咗 3.5 個！OK, fine.", "好,買咗(3.5 個)!"
    return Answers(full, half) if args["width"] == "full" else Answers(half, full)


_SAID = {
    "cantonese": (
        "佢哋啱啱返咗屋企，仲未食飯。",
        "我哋聽日去邊度玩呀？呢個 app 好好用㗎。",
    ),
    "written_chinese": (
        "他們剛才回家了，還沒有吃飯。",
        "我们明天去哪里玩？这个地方很漂亮。",
    ),
    "english": ("They have just gone home and they have not eaten yet.",),
}


def _language(random: Random, args: dict[str, Any]) -> Answers:
    others = [
        text
        for name, said in _SAID.items()
        if name != args["language"]
        for text in said
    ]
    return Answers(random.choice(_SAID[args["language"]]), random.choice(others))


def _script(random: Random, args: dict[str, Any]) -> Answers:
    hant, hans = random.choice(
        [("說話", "说话"), ("廣東", "广东"), ("嚟睇電視", "嚟睇电视")]
    )
    both = random.choice(["你好", "公里", "皇后", "台", "干涉", "嗰度", "𨋢"])
    right, wrong = (hant, hans) if args["script"] == "traditional" else (hans, hant)
    return Answers(both + right, both + right + wrong)


def _numerals(random: Random, args: dict[str, Any]) -> Answers:
    chinese, arabic = "三月十號下晝兩點一齊去", "3月10號下晝２點一齊去"
    right, wrong = (chinese, arabic) if args["form"] == "chinese" else (arabic, chinese)
    return Answers(right, random.choice([wrong, right + wrong, "今日去"]))


_RIMES = {  # only characters with a single reading
    "ong": "江光堂湯",
    "aan": "山間班還",
    "oi": "開來海愛",
    "ing": "星情京明",
}


def _rhyme(random: Random, args: dict[str, Any]) -> Answers:
    scheme = args.get("scheme") or "AAAA"
    rimes = dict(zip("AB", random.sample([*_RIMES], 2), strict=True))
    used = {letter: iter(_RIMES[rime]) for letter, rime in rimes.items()}
    ends = ["茶" if letter == "-" else next(used[letter]) for letter in scheme]
    wrong = [*ends]
    bound = [
        i for i, each in enumerate(scheme) if scheme.count(each) > 1 and each != "-"
    ]
    wrong[random.choice(bound)] = "杯"
    between = "\n" if args.get("unit", "lines") == "lines" else "，"
    return Answers(
        *(between.join("今日見到" + end for end in each) for each in (ends, wrong))
    )


_TONES = {"1": "天", "2": "水", "3": "去", "4": "人", "5": "我", "6": "月"}
_IN_CLASS = {"平": "14", "仄": "2356", "*": "123456"}


def _sung(random: Random, pattern: str) -> tuple[str, str]:
    """Characters with these tones, and others with one wrong tone."""
    right = [_TONES[random.choice(_IN_CLASS.get(each, each))] for each in pattern]
    place = random.choice([i for i, each in enumerate(pattern) if each != "*"])
    allowed = _IN_CLASS.get(pattern[place], pattern[place])
    wrong = [*right]
    wrong[place] = random.choice(
        [_TONES[tone] for tone in "123456" if tone not in allowed]
    )
    return "".join(right), "".join(wrong)


def _tones(random: Random, args: dict[str, Any]) -> Answers:
    before = "茶\n" * ((args.get("line") or 1) - 1)
    right, wrong = _sung(random, args["pattern"])
    return Answers(
        f"{before}{right}！", random.choice([before + wrong, before + right + "天"])
    )


def _line_tones(random: Random, args: dict[str, Any]) -> Answers:
    right, wrong = _sung(random, args["pattern"])
    return Answers(
        *("，\n".join("茶杯" + end for end in ends) for ends in (right, wrong))
    )


def _starting(random: Random, args: dict[str, Any]) -> Answers:
    said = [
        random.choice(args["words"]) + "，" + CLAUSES[1] + random.choice(ENDS)
        for _ in "123"
    ]
    return Answers("".join(said), "".join([*said, "今朝落雨。"]))


def _framed(random: Random, args: dict[str, Any]) -> Answers:
    frame = "".join(random.sample("山水天光", args.get("length", 1)))
    return Answers(f"{frame}，{CLAUSES[0]}，{frame}。", f"{frame}，{CLAUSES[0]}。")


def _placed(_: Random, args: dict[str, Any]) -> Answers:
    place, word = args["place"], args["word"]
    before, after = (
        ("山" * (place - 1), "水水") if place > 0 else ("水水", "山" * (-place - 1))
    )
    return Answers(f"{before} {word} {after}", f"{before}天 {word} 天{after}")


def _data(_: Random, args: dict[str, Any]) -> Answers:
    right = {"xml": "<菜>魚</菜>", "yaml": "菜: 魚\n價: 58", "csv": "菜,價\n魚,58"}[
        args["form"]
    ]
    wrong = {"xml": "<菜>魚", "yaml": "一條魚", "csv": "菜,價\n魚"}[args["form"]]
    return Answers(f"```\n{right}\n```", wrong)


def _cased(_: Random, args: dict[str, Any]) -> Answers:
    upper, lower = "THE TRAM 好慢", "the tram 好慢"
    right, wrong = (upper, lower) if args["case"] == "upper" else (lower, upper)
    return Answers(right, f"{wrong}，{right}")


_PAIRS: dict[str, Callable[[Random, dict[str, Any]], Answers]] = {
    "each_sentence_starts_with": _starting,
    "ends_as_it_begins": _framed,
    "word_at": _placed,
    "data_format": _data,
    "letter_case": _cased,
    "only_list": _fixed(
        ("- 魚\n- 菜", "1. 魚\n2. 菜\n   - 蝦"),
        ("要買：\n- 魚", "- 魚\n多謝", "魚\n菜"),
    ),
    "verse_lengths": _verse_lengths,
    "equal_lines": _equal,
    "uses_all": _all_words,
    "avoids": _avoids,
    "starts_with": _starts,
    "ends_with": _ends,
    "word_order": _order,
    "one_of": _one_of,
    "word_in_sentence": _in_sentence,
    "paragraph_starts_with": _paragraph,
    "each_line_starts_with": _each_line("- {0}，{1}", "- 好"),
    "each_line_ends_with": _each_line("{1}，{0}。", "好"),
    "each_sentence_ends_with": _each_sentence,
    "final_particles": _each_sentence,
    "postscript": _postscript,
    "acrostic": _acrostic,
    "distinct": _distinct,
    "json_object": _json_object,
    "quoted": _quoted,
    "title": _title,
    "punctuation_width": _width,
    "ends_with_question": _fixed(
        ("食咗飯未？", "佢問：「係咩？」", "係咪?😀"), ("係咪？係。", "食飯。", "？！")
    ),
    "language": _language,
    "script": _script,
    "numerals": _numerals,
    "rhyme": _rhyme,
    "tones": _tones,
    "line_end_tones": _line_tones,
    "only_jyutping": _fixed(
        ("nei5 hou2!", "Ngo5 m4 zi1", "jat1jat1"),
        ("nei hou", "你好 nei5 hou2", "hao3", "123"),
    ),
}

# Arguments ----------------------------------------------------------------------------------------

_word, _words = (
    st.sampled_from(WORDS),
    st.lists(st.sampled_from(WORDS), min_size=2, unique=True),
)
_unit = st.sampled_from(["lines", "verses"])
_pattern = st.text("123456平仄*", min_size=1, max_size=8).filter(
    lambda text: text.strip("*")
)
_ARGUMENTS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "characters": {"counting": st.sampled_from(["units", "han", "all"])},
    "occurrences": {"word": _word},
    "different_words": {"words": st.just(WORDS)},
    "table_rows": {"columns": st.none() | st.integers(1, 5)},
    "headings": {"level": st.none() | st.integers(1, 6)},
    "parts": {
        "mark": st.sampled_from(["***", "---", "【第二個版本】"]),
        "own_line": st.booleans(),
    },
    "punctuation": {"marks": st.none() | st.sampled_from(["，", "!", "。！"])},
    "verse_lengths": {"lengths": st.lists(st.integers(1, 9), min_size=1)},
    "uses_all": {"words": _words},
    "avoids": {"words": _words},
    "starts_with": {"text": _word},
    "ends_with": {"text": _word},
    "word_order": {"words": _words},
    "one_of": {"phrases": _words},
    "word_in_sentence": {"word": _word, "sentence": st.sampled_from([1, 2, 6, -1, -2])},
    "paragraph_starts_with": {"paragraph": st.integers(1, 5), "text": _word},
    "each_line_starts_with": {"text": _word},
    "each_line_ends_with": {"text": _word},
    "each_sentence_ends_with": {"words": st.just(["啦", "OK"])},
    "final_particles": {"particles": st.none() | st.just(["呀", "啫"])},
    "postscript": {"mark": st.none() | st.sampled_from(["P.S.", "又及"])},
    "acrostic": {
        "text": st.sampled_from(["香港", "生日快樂", "𨋢門"]),
        "place": st.sampled_from(["first", "last"]),
        "unit": _unit,
    },
    "distinct": {
        "unit": st.sampled_from(["lines", "items", "sentences", "words", "characters"])
    },
    "each_sentence_starts_with": {"words": st.just(["我", "OK"])},
    "ends_as_it_begins": {"length": st.integers(1, 3)},
    "word_at": {"word": _word, "place": st.sampled_from([1, 2, 5, -1, -3])},
    "data_format": {"form": st.sampled_from(["xml", "yaml", "csv"])},
    "letter_case": {"case": st.sampled_from(["upper", "lower"])},
    "letters": {"letter": st.sampled_from(["a", "Z"])},
    "paragraphs": {"blank_lines": st.booleans()},
    "bullet_items": {"mark": st.none() | st.sampled_from("-*+•")},
    "placeholders": {"marks": st.none() | st.sampled_from(["[]", "【】"])},
    "quotations": {"marks": st.none() | st.sampled_from(["「」", "『』", "“”"])},
    "json_object": {
        "keys": st.sampled_from([[], ["菜"], ["菜", "價"]]),
        "only": st.booleans(),
    },
    "quoted": {"marks": st.sampled_from(["「」", "『』", "“”", '""', "《》"])},
    "title": {"marks": st.sampled_from(["《》", "〈〉", "【】", "「」"])},
    "punctuation_width": {"width": st.sampled_from(["full", "half"])},
    "language": {
        "language": st.sampled_from(["cantonese", "written_chinese", "english"])
    },
    "script": {"script": st.sampled_from(["traditional", "simplified"])},
    "numerals": {"form": st.sampled_from(["arabic", "chinese"])},
    "rhyme": {
        "scheme": st.sampled_from([None, "AA", "AABA", "AABB", "B-B-"]),
        "unit": _unit,
    },
    "tones": {"pattern": _pattern, "line": st.none() | st.integers(1, 3)},
    "line_end_tones": {"pattern": _pattern},
}


def constraints_of(name: str) -> st.SearchStrategy[Constraint]:
    """Constraints with arguments of every type."""
    own, least = st.fixed_dictionaries(_ARGUMENTS.get(name, {})), VERIFIERS[name].least
    if least is None:
        return own.map(lambda args: Constraint(name, args))
    most = {"different_words": 6}.get(name, 20)
    numbers = st.integers(1, most)
    bounds = (
        st.fixed_dictionaries({"exactly": st.integers(least, most)})
        | st.fixed_dictionaries({"about": numbers})
        | st.fixed_dictionaries({"at_least": numbers})
        | st.fixed_dictionaries({"at_most": st.integers(least, most)})
        | st.tuples(numbers, numbers).map(
            lambda both: {"at_least": min(both), "at_most": max(both)}
        )
    )
    return st.builds(lambda args, given: Constraint(name, args | given), own, bounds)
