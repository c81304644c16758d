"""Seeds and mutations for `fuzz_releases.py`: releases of each kind, and changes to them."""

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any

from made_releases import ANSWERS, FORMATS, LETTERS, OPTIONS, WRAPS, File, Release, Row

from hkcanto_tasks.catalogue import BENCHMARKS, find_task

ROWS = 8
"""The number of rows used of each file; with few, a case takes milliseconds."""

MODELS = (
    *("baselines/gpt-4o", "outputs", "results/qwen2.5-7b", "predictions", "submissions/a"),
    *("claude-3-opus", "generations/run1", "llama-3-8b/test"),
)
FOLDERS = (
    *("data", "release", "v1.0", "backup", "old", "copy of data", "test", "en", "zh", "tc", "sc"),
    *("zh-hk", "zh-cn", "hans", "hant", "繁體", "dev", "train", "raw", "2024", "misc/deep/er"),
    *("all", "main", "default", "mmlu", "questions", "data.zip", "csv", "test.csv"),
)
COLUMNS = {
    "question": ("Question", "問題", "題目", "prompt", "stem", "query", "input", "q", "text"),
    "answer": (
        *("Answer", "答案", "answerKey", "correct_answer", "gold", "target", "label", "ans"),
        *("answer_id", "Correct", "key", "正確答案", "correct_option", "solution"),
    ),
    "options": ("options", "choices", "選項", "candidates", "endings", "opts"),
    "source": ("source", "input", "SourceText", "src", "sentence", "cantonese", "text", "Honzi"),
    "target": ("target", "output", "TargetText", "reference", "sentiment", "Jyutping", "label"),
    "number": ("#", "id", "no", "index"),
}
OPTION_NAMES = (
    *("{a}", "{A}", "Option{A}", "option_{a}", "選項{A}", "({A})", "{A}.", "choice{n}", "opt{z}"),
    *("option {n}", "答案{A}", "Ans{n}", "{n}", "{z}", "x{n}", "選項{c}", "{c}", "{A}_option"),
    *("Answer{n}", "choice_{A}", "distractor{n}", "OPTION {A}", "opt_{A}", "{A} ", "\ufeff{A}"),
)
EXTRA: Mapping[str, Sequence[str]] = {
    "subject": ("law", "mixed"),
    "category": ("STEM", "Humanities"),
    "source": ("web",),
    "split": ("test", "train", "validation", "test_v2"),
    "id": ("q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8"),
    "explanation": ("因為如此。",),
    "E": ("",),
    "prediction": ("A", "B", "C", "D"),
    "model_answer": ("B", "A"),
    "label": ("A", "B", "C", "D"),
    "answer_idx": ("0", "1", "2", "3"),
    "answer_text": ("甲", "乙"),
    "score": ("1.0", "0.0"),
    "lang": ("zh", "en"),
    "script": ("tc",),
    "language": ("zh-hk", "zh-cn"),
    "difficulty": ("1", "2", "3"),
    "": ("0", "1", "2", "3", "4", "5", "6", "7"),
    "option": ("A", "B", "C", "D"),
    "choice": ("甲", "乙"),
    "choices": ("[]",),
    "options": ("A/B/C/D",),
    "question_en": ("Which?",),
    "f": ("x", "y"),
    "option_count": ("4",),
    "a_translation": ("x", "y"),
    "topic": ("甲", "乙", "丙"),
}
CODES = ("utf-8-sig", "utf-16", "big5hkscs", "gb18030", "cp1252", "utf-16-le")

# ---------------------------------------------------------------------------------- seeds


def seeds(data: Path | None) -> dict[str, Callable[[Random], Release]]:
    """Return name → a function that makes a release.

    Args:
        data: The folder of the real releases, to use their first rows too.
    """
    found: dict[str, Callable[[Random], Release]] = {}
    for name, make in (
        ("hkmmlu", _hkmmlu),
        ("tmmluplus", _tmmluplus),
        ("hkcanto choice", _hkcanto_choice),
        ("hkcanto translation", _translation),
        ("hkmmlu translation", _hkmmlu_translation),
        ("hkcanto g2p", _g2p),
        ("hkcanto sentiment", _sentiment),
        ("hkcanto summarization", _summarization),
    ):
        found[name] = lambda random, make=make: make(random, None)  # type: ignore[misc]
        if data:
            found[f"{name}, real"] = lambda random, make=make: make(random, data)  # type: ignore[misc]
    return {**found, "outside": _outside, "outside on a hub": _on_a_hub}


def _root(folder: str, name: str, data: Path | None) -> Path:
    return data / folder if data else BENCHMARKS / name / "sample"


def _choice_rows(
    path: Path, stem: str, split: str, letters: str, header: bool, random: Random
) -> list[Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        read = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    rows = []
    for cells in read[header:]:
        if len(cells) == len(letters) + 2 and cells[-1].strip() in [*letters]:
            options = zip(letters, cells[1:-1], strict=True)
            rows.append(
                Row(
                    stem,
                    split,
                    {"question": cells[0], **dict(options), "answer": cells[-1].strip()},
                )
            )
    start = random.randrange(max(1, len(rows) - ROWS + 1))
    return [row for row in rows[start : start + ROWS] if all(row.cells[x].strip() for x in letters)]


def _of_choice(
    release: Release,
    root: Path,
    pattern: Callable[[str, str], str],
    stems: Sequence[str],
    random: Random,
    header: bool = True,
    letters: str = "ABCD",
) -> Release:
    names = ("Question", *letters, "Answer")
    for stem in stems:
        for split in ("test", "dev"):
            path = pattern(stem, split)
            rows = _choice_rows(root / path, stem, split, letters, header, random)
            columns = dict(zip(("question", *letters, "answer"), names, strict=True))
            if rows:
                made = File(path, rows, columns, source=len(release.files), header=header)
                release.files.append(made)
    return release


def _several(paths: Sequence[str], random: Random) -> list[str]:
    return random.sample(sorted(paths), min(len(paths), random.choice((1, 2, 3))))


def _hkmmlu(random: Random, data: Path | None) -> Release:
    root = _root("hkmmlu", "hkmmlu", data)
    stems = _several([path.stem for path in root.glob("test/*.csv")], random)
    names = {each.stem: each.name for each in find_task("hkmmlu").subjects}
    asked = {"subjects": [names[stem] for stem in stems]}
    if random.random() < 0.25:
        asked = {**asked, "script": "sc"}
    made = Release("hkmmlu", "hkmmlu", "hkmmlu", names, [], asked=asked, tells_script=True)
    if len(stems) == 1 and random.random() < 0.5:
        made.task, made.asked = f"hkmmlu_{names[stems[0]]}", {}
    return _of_choice(made, root, lambda stem, split: f"{split}/{stem}.csv", stems, random)


def _tmmluplus(random: Random, data: Path | None) -> Release:
    root = _root("tmmluplus", "tmmluplus", data)
    stems = _several([p.stem.removesuffix("_test") for p in root.glob("data/*_test.csv")], random)
    stems = [stem for stem in stems if (root / f"data/{stem}_dev.csv").is_file()] or ["physics"]
    names = {each.stem: each.name for each in find_task("tmmluplus_gen").subjects}
    asked = {"subjects": [names[stem] for stem in stems]}
    made = Release("tmmluplus", "tmmluplus_gen", "tmmluplus", names, [], asked=asked)
    made.tells_script = any(
        each.script == "sc" for each in find_task("tmmluplus_gen").definition.variants
    )
    return _of_choice(made, root, lambda stem, split: f"data/{stem}_{split}.csv", stems, random)


def _hkcanto_choice(random: Random, data: Path | None) -> Release:
    root = _root("hkeval2025", "hkcanto", data)
    task, folder = random.choice(
        (
            ("hkcanto_law", "hk-law"),
            ("hkcanto_cultural", "cultural"),
            ("hkcanto_phonology", "linguistic_knowledge"),
            ("hkcanto_mmlu_yue", "canto-mmlu"),
        )
    )
    definition = find_task(task).definition
    names = {each.stem: each.name for each in definition.subjects}
    there = [
        path.stem.removesuffix("_test")
        for path in (root / folder / "test").glob("*_test.csv")
        if path.stem.removesuffix("_test") in names
    ]
    stems = _several(there, random)
    asked = {"subjects": [names[stem] for stem in stems]} if len(names) > 1 else {}
    made = Release("hkcanto choice", task, "hkeval2025", names, [], asked=asked)
    return _of_choice(
        made,
        root,
        lambda stem, split: f"{folder}/{split}/{stem}_{split}.csv",
        stems,
        random,
        header=False,
        letters=definition.letters,
    )


def _json_rows(path: Path, roles: Mapping[str, str], stem: str, split: str) -> list[Row]:
    text = path.read_text("utf-8")
    read = json.loads(text) if text.lstrip().startswith("[") else None
    read = read or [json.loads(line) for line in text.split("\n") if line.strip()]
    rows = []
    for each in read[:ROWS]:
        given = {"text": each} if isinstance(each, str) else each
        cells = {role: str(given[name]) for role, name in roles.items() if name in given}
        if all(cells.get(role, "").strip() for role in roles):
            rows.append(Row(stem, split, cells))
    return rows


def _of_json(release: Release, root: Path, roles: Mapping[str, str], **paths: str) -> Release:
    (stem,) = release.subjects if len(release.subjects) == 1 else ("",)
    for split, path in paths.items():
        if rows := _json_rows(root / path, roles, stem, split.rstrip("_")):
            made = File(path, rows, dict(roles), len(release.files), format="jsonl")
            release.files.append(made)
    return release


def _translation(random: Random, data: Path | None) -> Release:
    pair = random.choice(("zh_yue", "yue_zh", "eng_yue", "yue_eng"))
    task = f"hkcanto_translation_{pair.replace('eng', 'en')}"
    stem = find_task(task).subjects[0].stem
    roles = {"number": "#", "source": "SourceText", "target": "TargetText"}
    made = Release("hkcanto translation", task, "hkeval2025", {stem: ""}, [])
    root = _root("hkeval2025", "hkcanto", data)
    return _of_json(
        made, root, roles, test=f"canto-nlp/{pair}_test.json", dev=f"canto-nlp/{pair}_train.json"
    )


def _hkmmlu_translation(random: Random, data: Path | None) -> Release:
    name, pair = random.choice((("can2man", "yue_zh"), ("man2can", "zh_yue")))
    task = f"hkmmlu_translation_{pair}"
    stem = find_task(task).subjects[0].stem
    made = Release("hkmmlu translation", task, "hkmmlu", {stem: ""}, [])
    roles = {"source": "input", "target": "output"}
    root = _root("hkmmlu", "hkmmlu", data)
    return _of_json(made, root, roles, test=f"translation/{name}.jsonl")


def _g2p(random: Random, data: Path | None) -> Release:
    del random
    stem = find_task("hkcanto_g2p").subjects[0].stem
    made = Release("hkcanto g2p", "hkcanto_g2p", "hkeval2025", {stem: ""}, [])
    made.asked = {"examples": "release"}
    roles = {"number": "#", "source": "Honzi", "target": "Jyutping"}
    root = _root("hkeval2025", "hkcanto", data)
    (test,) = [*root.glob("phonetics-g2p/test/*_test_gold.json"),
               *root.glob("phonetics-g2p/test/*_test.json")][:1]  # fmt: skip
    dev = "phonetics-g2p/dev/zh_to_jyutping_dev.json"
    return _of_json(made, root, roles, test=test.relative_to(root).as_posix(), dev=dev)


def _sentiment(random: Random, data: Path | None) -> Release:
    subject = random.choice([*find_task("hkcanto_sentiment").subjects])
    names = {subject.stem: subject.name}
    made = Release("hkcanto sentiment", "hkcanto_sentiment", "hkeval2025", names, [])
    made.asked, made.skipped = {"subjects": [subject.name]}, 1
    roles = {"source": "text", "target": "sentiment"}
    root = _root("hkeval2025", "hkcanto", data)
    return _of_json(made, root, roles, test=f"canto-nlp/sentiment_{subject.stem}.json")


def _summarization(random: Random, data: Path | None) -> Release:
    del random
    stem = find_task("hkcanto_summarization").subjects[0].stem
    made = Release("hkcanto summarization", "hkcanto_summarization", "hkeval2025", {stem: ""}, [])
    root = _root("hkeval2025", "hkcanto", data)
    made = _of_json(made, root, {"source": "text"}, test="canto-nlp/summarization.json")
    for file in made.files:
        file.format, file.wrap = "json", "texts"
    return made


PLACES = (
    ("大澳棚屋", "離島"), ("黃大仙祠", "黃大仙"), ("屯門黃金海岸", "屯門"), ("灣仔會展", "灣仔"),
    ("沙田馬場", "沙田"), ("觀塘海濱", "觀塘"), ("荃灣圓玄學院", "荃灣"), ("元朗大棠", "元朗"),
    ("蘭桂坊", "中西區"), ("深水埗鴨寮街", "深水埗"), ("鰂魚涌", "東區"), ("林村許願樹", "大埔"),
)  # fmt: skip
DISHES = (
    ("雲吞麵", "鮮蝦"), ("絲襪奶茶", "紅茶"), ("菠蘿油", "牛油"), ("燒鵝瀨粉", "鵝"),
    ("豬腸粉", "米漿"),
    ("艇仔粥", "魚片"), ("蛋撻", "雞蛋"), ("馬拉糕", "麵粉"), ("楊枝甘露", "芒果"),
    ("雞蛋仔", "雞蛋漿"),
    ("鹹魚蒸肉餅", "鹹魚"), ("臘味飯", "臘腸"),
)  # fmt: skip
SUBJECTS = {"harbour_places": "Places of the harbour", "street_food": "Food", "sums": "Sums"}


def _own_rows(stem: str, split: str, random: Random, letters: str) -> list[Row]:
    rows = []
    for n in range(ROWS + 4 if split == "test" else 3):
        if stem == "sums":
            top = random.choice((4, 40, 400))
            right = random.randrange(1, top + 1)
            texts = {str(right)}
            while len(texts) < len(letters):
                texts.add(str(random.randrange(1, top + len(letters))))
            asked = f"{right + n} 減 {n}，計埋嚟係幾多？（{split}）"
            shown = sorted(texts, key=int)
            if random.random() < 0.4:
                random.shuffle(shown)
            rightly = str(right)
        else:
            known = PLACES if stem == "harbour_places" else DISHES
            name, rightly = known[(n + 5 * (split == "dev")) % len(known)]
            others = sorted({answer for _, answer in known} - {rightly})
            shown = random.sample([rightly, *random.sample(others, len(letters) - 1)], len(letters))
            what = "喺邊一區" if stem == "harbour_places" else "主要係用乜嘢整"
            asked = f"請問「{name}」{what}？（第{n}題，{split}）"
        cells = dict(zip(letters, shown, strict=True))
        answer = letters[shown.index(rightly)]
        rows.append(Row(stem, split, {"question": asked, **cells, "answer": answer}))
    return rows


def _form(file: File, random: Random, stem: str) -> None:
    """Give a file one of the documented forms that can be recognised from its rows."""
    file.options = random.choice(("columns", "columns", *OPTIONS))
    file.format = random.choice(("csv", "json", "jsonl", "parquet"))
    if file.options != "columns":
        file.format = "json" if file.format == "csv" else file.format
        file.names = {"question": "question", "options": "options", "answer": "answer"}
    choose = ("letter", "letter", "index", "number", "text") if stem != "sums" else ("letter",)
    file.answer = random.choice(choose)


def _outside(random: Random) -> Release:
    letters = random.choice(("ABCD", "ABCD", "ABC", "ABCDE"))
    stems = _several([*SUBJECTS], random)
    header = random.random() < 0.8
    made = Release("outside", "quiz", "quiz", {stem: stem for stem in stems}, [], in_folder=True)
    made.tells_script = random.random() < 0.4
    if made.tells_script and random.random() < 0.5:
        made.asked["script"] = "sc"
    ending = ""
    for stem in stems:
        for split in ("test", "dev"):
            columns = {role: role for role in ("question", *letters, "answer")}
            file = File("", _own_rows(stem, split, random, letters), columns, len(made.files))
            like = next((each for each in made.files), None)
            if like:
                for name in ("options", "format", "names", "answer"):
                    setattr(file, name, getattr(like, name))
                if stem == "sums":
                    file.answer = "letter"
            elif header:
                _form(file, random, stem)
            file.names, file.header = {**file.names}, header
            ending = file.format
            file.path = f"{split}/{stem}.{file.format}"
            made.files.append(file)
    task: dict[str, Any] = {
        "name": "quiz",
        "title": "Quiz",
        "kind": "multiple_choice",
        "files": {"test": f"test/{{stem}}.{ending}", "dev": f"dev/{{stem}}.{ending}"},
        "letters": letters,
        "subjects": [{"name": stem, "title": SUBJECTS[stem]} for stem in stems],
        **({} if header else {"header": False}),
    }
    if made.tells_script:
        task["variants"] = [{"suffix": "sc", "script": "sc"}]
    how = {each.answer for each in made.files}
    if len(how) == 1 and random.random() < 0.5:
        task["answer"] = how.pop()
    if random.random() < 0.3:
        task["blank_options"] = "absent"
    made.declared = {
        "name": "quiz",
        "title": "Quiz",
        "data": {},
        "prompts": {"plain": {"question": "{question}\n{options}\n答案："}},
        "tasks": [task],
    }
    return made


def _on_a_hub(random: Random) -> Release:
    made = _outside(random)
    assert made.declared is not None
    made.seed, made.in_folder, made.folder = "outside on a hub", False, "quiz_data"
    del made.declared["data"]
    made.declared["folder"] = "quiz_data"
    made.declared["hub"] = {"repo_id": "someone/quiz"}
    if random.random() < 0.7:
        del made.declared["tasks"][0]["files"]
        _layout(made, random)
    return made


# ---------------------------------------------------------------------------------- mutations


def _pick(release: Release, random: Random, **has: Any) -> File | None:
    own = [
        file
        for file in release.files
        if file.trust == "own" and all(getattr(file, name) == value for name, value in has.items())
    ]
    tests = [file for file in own if any(row.split == "test" for row in file.rows)]
    return random.choice(tests if tests and random.random() < 0.8 else own) if own else None


def _renamed_columns(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file or (not file.header and file.format in ("csv", "tsv", "semicolon")):
        return ""
    taken = {name.strip().lower() for name in (*file.names.values(), *file.extra)}
    if file.dropped or {*file.extra} & {"label", "option", "answer_idx", "score"}:
        return ""  # any reader could infer the renamed column
    letters = [role for role in file.names if role in [*LETTERS]]
    roles = [role for role in file.names if role not in letters]
    renamed = {}
    if letters and random.random() < 0.5:
        form = random.choice(OPTION_NAMES)
        chosen = letters if random.random() < 0.6 else random.sample(letters, 1)
        for role in chosen:
            at = LETTERS.index(role)
            renamed[role] = form.format(
                a=role.lower(), A=role, n=at + 1, z=at, c="甲乙丙丁戊己庚辛壬癸"[at]
            )
    else:
        role = random.choice(roles)
        names = list(COLUMNS.get(role, ("x",)))
        if file.answer == "index" and role == "answer":
            names += ["answer_idx", "answer_index"]
        renamed[role] = random.choice(names)
    if random.random() < 0.1:
        look = random.choice((str.upper, str.title, " {} ".format, "{} ".format))
        renamed = {role: look(name) for role, name in file.names.items()}
    others = taken - {file.names[role].strip().lower() for role in renamed}
    if others & {name.strip().lower() for name in renamed.values()}:
        return ""
    file.names.update(renamed)
    return f"{file.path}: columns {renamed}"


def _reordered_columns(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file:
        return ""
    roles = [*file.names]
    if not file.header:  # without a header, only a moved answer can be recognised
        roles = [roles[-1], *roles[:-1]]
    else:
        random.shuffle(roles)
    file.names = {role: file.names[role] for role in roles}
    return f"{file.path}: columns in the order {roles}"


def _dropped_column(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file or len(file.names) < 2 or (not file.header and file.format == "csv"):
        return ""
    role = random.choice([*file.names])
    if role == "number":
        return ""
    del file.names[role]
    file.dropped |= {*LETTERS, "question"} if role == "options" else {role}
    return f"{file.path}: no column for {role}"


def _added_column(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file:
        return ""
    name = random.choice([*EXTRA])
    if name.lower() in {each.lower().strip() for each in file.names.values()}:
        return ""
    if name.lower() in ("label", "answer_idx", "source", "option", "choices", "options") and (
        file.names.get("answer", "").lower() != "answer"
    ):
        return ""  # any reader would take it for the answer
    if name == "split" and random.random() < 0.5:
        file.extra[name] = next(row.split for row in file.rows)
    else:
        cells = [*EXTRA[name]]
        file.extra[name] = [random.choice(cells) for _ in file.rows]
    if name == "split":  # it changes which rows are examples, so this is another release
        file.extra[name] = next(row.split for row in file.rows)
    if name in ("lang", "language", "script"):
        file.extra[name] = random.choice(cells if random.random() < 0.5 else ["tc", "zh-hk"])
    return f"{file.path}: a further column {name!r} = {file.extra[name]}"


def _moved(release: Release, random: Random) -> str:
    folder = random.choice(FOLDERS)
    files = release.files if random.random() < 0.4 else [_pick(release, random)]
    way = random.randrange(3)
    named = []
    for file in files:
        if not file or file.trust != "own":
            continue
        path = PurePosixPath(file.path)
        match way:
            case 0:
                moved = PurePosixPath(folder) / path
            case 1:
                moved = path.parent / folder / path.name
            case _:
                parts = path.parts
                moved = PurePosixPath(folder, *parts[1:]) if len(parts) > 1 else path
        _rename(release, file, str(moved))
        named.append(str(moved))
    return f"moved to {named}" if named else ""


def _rename(release: Release, file: File, path: str) -> None:
    shards = [each for each in release.files if each.source == file.source]
    if len(shards) == 1 and all(each.path != path for each in release.files):
        swapped = {"test", "dev"} & {*PurePosixPath(path).parts} - {*PurePosixPath(file.path).parts}
        lost = "dev" in file.path and "dev" not in path
        if lost or (swapped and any(row.split not in swapped for row in file.rows)):
            return  # any reader would take it for the other split
        file.path, file.moved = path, True


def _renamed_file(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file:
        return ""
    path = PurePosixPath(file.path)
    stem, ending = path.stem, path.suffix
    if random.random() < 0.4:
        ending = random.choice(
            (
                ".txt",
                ".CSV",
                ".json",
                ".jsonl",
                ".tsv",
                ".csv",
                ".csv.bak",
                "",
                ".parquet",
                ".csv.gz",
            )
        )
    else:
        swapped = list(stem)
        at = random.randrange(max(1, len(stem) - 1))
        swapped[at : at + 2] = swapped[at : at + 2][::-1]
        stem = random.choice(
            (
                *(f"{stem} (1)", f"copy_of_{stem}", f"{stem}_final", stem.replace("_", "-")),
                *(stem.replace("_", " ").title(), f"foo{random.randrange(9)}", "".join(swapped)),
                *(f"{stem}_v2", f"hk_{stem}", f"{stem}_tc", f"{stem}_sc", f"{stem}.zh-Hant"),
                *(stem.split("_")[0], stem.upper(), f"2024_{stem}", f"~${stem}", f".{stem}"),
                *(f"{stem}_gpt-4o", f"{stem}_results", "test", "data", f"test_{stem}"),
            )
        )
    if "test" in stem and any(row.split != "test" for row in file.rows):
        return ""
    _rename(release, file, str(path.with_name(stem + ending)))
    return f"{path} renamed to {file.path}"


def _other_script(release: Release, random: Random) -> str:
    files = [each for each in release.files if each.trust == "own"]
    picked = _pick(release, random) if random.random() < 0.4 else None
    chosen = [picked] if picked else files
    if "question" not in (chosen[0].rows[0].cells if chosen and chosen[0].rows else {}):
        return ""
    for file in chosen:
        file.in_simplified = file.moved = True
    return f"Simplified: {[file.path for file in chosen]}"


def _cut_file(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file:
        return ""
    share = random.choice((0.0, 0.02, 0.999, random.random(), random.random(), random.random()))
    if file.pack:
        file.cut_packed = share
    else:
        file.cut = share
    return f"{file.path}: cut after {share:.3f}"


def _duplicated(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file:
        return ""
    copy = file.copied(source=len(release.files) + 100, path=_elsewhere(file, random))
    if any(each.path == copy.path for each in release.files) or (
        "test" in PurePosixPath(copy.path).parts and any(row.split != "test" for row in copy.rows)
    ):
        return ""
    if random.random() < 0.3 and "question" in file.rows[0].cells:
        copy.in_simplified = True
        copy.path = str(PurePosixPath(random.choice(("sc", "zh-cn", "hans", "other")), file.path))
    release.files.append(copy)
    return f"{file.path} copied to {copy.path}" + ", Simplified" * copy.in_simplified


def _elsewhere(file: File, random: Random) -> str:
    path = PurePosixPath(file.path)
    return str(
        random.choice(
            (
                PurePosixPath(random.choice(FOLDERS)) / path,
                path.parent / random.choice(FOLDERS) / path.name,
                path.with_name(f"{path.stem}_copy{path.suffix}"),
                path.with_name(f"{path.stem} (1){path.suffix}"),
                PurePosixPath(path.name),
            )
        )
    )


def _second_candidate(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file:
        return ""
    path = PurePosixPath(file.path)
    by_model = random.random() < 0.6
    in_english = (
        by_model
        and release.tells_script
        and random.random() < 0.25
        and "question" in file.rows[0].cells
    )
    if in_english:
        folder = random.choice(("en", "english", "en-US", "eng"))
        place = random.choice((PurePosixPath(folder) / path, path.parent / folder / path.name))
    elif by_model:
        folder = random.choice(MODELS)
        place = random.choice((PurePosixPath(folder) / path, PurePosixPath(folder, path.name)))
    else:
        place = PurePosixPath(_elsewhere(file, random))
    other = file.copied(
        source=len(release.files) + 100, path=str(place), trust="model" if by_model else "neutral"
    )
    if any(each.path == other.path for each in release.files) or (
        "test" in place.parts and any(row.split != "test" for row in file.rows)
    ):
        return ""
    for number, row in enumerate(other.rows):
        if in_english:
            row.cells["question"] = f"Which of these is right, number {number}?"
            row.cells |= {letter: f"Thing {letter} {number}" for letter in row.letters}
        elif "answer" in row.cells:
            row.cells["answer"] = random.choice(row.letters)
        elif "target" in row.cells and "sentiment" not in release.task:
            row.cells["target"] += "嘅"
        else:
            row.cells["source"] += "。"
    if all(a.cells == b.cells for a, b in zip(file.rows, other.rows, strict=True)):
        return ""
    if random.random() < 0.3:
        del other.rows[len(other.rows) // 2 :]
    release.files.append(other)
    return f"another candidate {other.path} ({other.trust})"


def _packed(release: Release, random: Random) -> str:
    if random.random() < 0.3:
        for file in release.files:
            if file.pack:
                return ""
            file.pack, file.moved = "zip all", True
        return "all in data.zip"
    file = _pick(release, random)
    if not file or file.pack:
        return ""
    file.pack, file.moved = random.choice(("gz", "gz", "zip")), True
    return f"{file.path}: {file.pack}"


def _reformatted(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file or (not file.header and random.random() < 0.5):
        return ""
    form = random.choice(FORMATS)
    every = random.random() < 0.5
    wrap = random.choice(("rows", *WRAPS))
    if wrap == "texts" and "question" in file.rows[0].cells:
        wrap = "rows"
    for each in release.files if every else [file]:
        of = {(row.subject, row.split) for row in each.rows}
        if each.trust != "own" or (len(of) > 1 and wrap in ("subject", "split", "both")):
            continue
        each.shift = each.shift if each.header or form not in ("csv", "tsv", "semicolon") else 1
        each.format, each.wrap, each.header = form, wrap, True
        if wrap == "texts" and "target" in each.rows[0].cells and form == "json":
            each.dropped.add("target")
        ending = {"semicolon": "csv"}.get(form, form)
        _rename(release, each, str(PurePosixPath(each.path).with_suffix(f".{ending}")))
    return f"{file.path}{' and all others' * every}: {form}, {wrap}"


def _other_forms(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file or "question" not in file.rows[0].cells:
        return ""
    if random.random() < 0.6:
        form = random.choice(ANSWERS)
        files = [each for each in release.files if each.trust == "own"]
        chosen = files if random.random() < 0.5 else [file]
        for each in chosen:
            each.answer = form
        return f"{[each.path for each in chosen]}: answers as {form}"
    if file.format in ("csv", "tsv", "semicolon") or file.dropped:
        if not file.dropped and file.header and file.format == "csv" and random.random() < 0.5:
            return _one_column(file, random, ("JSON list", "mapping", "records", "list"))
        return ""
    return _one_column(file, random, OPTIONS[1:])


def _one_column(file: File, random: Random, forms: Sequence[str]) -> str:
    file.options = random.choice(forms)
    if "options" not in file.names:
        kept = {role: name for role, name in file.names.items() if role not in [*LETTERS]}
        file.names = {**kept, "options": random.choice(("options", "choices", "選項", "opts"))}
    letters = file.rows[0].letters
    file.order = random.sample(range(len(letters)), len(letters)) if random.random() < 0.6 else ()
    if file.options not in ("list", "JSON list"):
        numbers = ("1234567890", "0123456789")
        file.labels = random.choice((LETTERS, *numbers, LETTERS.lower(), "甲乙丙丁戊己庚辛壬癸"))
    if file.options == "list":
        file.order = ()
    if file.options == "marked" and file.labels[0] not in "A01":
        file.labels = LETTERS
    if file.answer in ("index", "number", "float index") and (file.order or file.labels[0] in "01"):
        file.answer = "letter"  # with another order of the options, an index is another answer
    return f"{file.path}: options as {file.options} {file.labels[:5]} {file.order}"


def _blanked(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file or not file.rows:
        return ""
    file.null = random.random() < 0.5
    named = []
    for _ in range(random.choice((1, 1, 2, 3))):
        row = random.choice(file.rows)
        role = random.choice([role for role in row.cells if role != "number"])
        if role == "answer" and random.random() < 0.6:
            wrong = ("?", "AB", "A, B", "Z", "-1", "99", "N/A", "乜都唔係", "A or B", "[]")
            row.spoiled = random.choice(wrong)
        else:
            row.blank.add(role)
        named.append(f"{role} of row {file.rows.index(row) + 1}")
        if role == row.cells.get("answer") and file.answer == "text":
            row.blank.add("answer")
    return f"{file.path}: blank {named}"


def _encoded(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file or file.format == "parquet":
        return ""
    match random.randrange(6):
        case 0 | 1:
            file.encoding = random.choice(CODES)
            if file.encoding == "cp1252":
                file.encoding = "big5hkscs"
            return f"{file.path}: {file.encoding}"
        case 2:
            file.newline = random.choice(("\n", "\r", "\r\n"))
        case 3:
            file.quoted = True
        case 4:
            file.final_newline = False
        case _:
            file.blank_lines = True
    return f"{file.path}: {file.newline!r}, quoted {file.quoted}, blank lines {file.blank_lines}"


def _second_header(release: Release, random: Random) -> str:
    file = _pick(release, random, format="csv")
    if not file:
        return ""
    if file.header and random.random() < 0.6:
        file.second_header, file.shift = True, file.shift + 1
        return f"{file.path}: a second header"
    file.header = not file.header
    if not file.header:  # the row taken for the header is lost, and must not be
        return f"{file.path}: no header"
    file.shift += 1
    return f"{file.path}: a header"


def _stray(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file:
        return ""
    path = PurePosixPath(file.path)
    header = ",".join([*file.names.values()])
    content = random.choice(
        (b"", b"x", b"name,value\na,1\n", f"{header}\n".encode(), b"\x00\xff\xfe", b"{}", b"[]",
         b'{"a": [1, 2]}', b"---\nconfigs: [\n---\n", b"---\nlicense: mit\n---\n# Card\n",
         b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", b"<!DOCTYPE html>",
         b"Question,A,B,C,D,Answer\nx,1,2,3,4,A\n")
    )  # fmt: skip
    name = random.choice(
        ("notes.txt", "README.md", "checksums.json", "results.json", "index.csv", "stats.csv",
         "subjects.csv", "all.csv", "sample.csv", "val.csv", "test.csv", "train.json", "LICENSE",
         f"{path.parent}/.{path.name}", f"{path.parent}/~${path.name}", f"{path}.bak", f"{path}~",
         f"{path.parent}/._{path.name}", f"__MACOSX/{path}", f"{path.with_suffix('')}_answers.csv",
         f"{path.parent}/extra.csv", "dataset_info.json", "data.zip", "x.parquet", "x.csv.gz",
         "metadata.csv", f"{path.parent}/other_subject.csv", "test/readme.md", "config.json")
    )  # fmt: skip
    release.strays[str(PurePosixPath(name))] = content
    return f"a stray {name}: {content[:20]!r}"


def _layout(release: Release, random: Random) -> str:
    """Arrange all files as on a hub, or in another usual way."""
    form = random.choice(
        (
            *("{stem}/{split}/0000.{e}", "{stem}/{split}-00000-of-00001.{e}", "{split}/{stem}.{e}"),
            *(
                "{stem}_{split}.{e}",
                "{split}_{stem}.{e}",
                "{stem}/{split}.{e}",
                "{stem}/{stem}_{split}.{e}",
            ),
            *("data/{stem}.{split}.{e}", "{stem}-{split}.{e}", "data/{split}/{stem}.{e}"),
        )
    )
    parquet = random.random() < 0.5
    card = random.random() < 0.4
    lines = ["---", "configs:"]
    named: dict[str, list[str]] = {}
    for file in release.files:
        if file.trust != "own" or len({(row.subject, row.split) for row in file.rows}) > 1:
            return ""
    for file in release.files:
        if file.trust != "own":
            continue
        row = file.rows[0]
        if parquet:
            file.shift += not file.header
            file.format, file.header = "parquet", True
        ending = PurePosixPath(file.path).suffix[1:] if not parquet else "parquet"
        file.moved = True
        file.path = form.format(stem=row.subject, split=row.split, e=ending)
        named.setdefault(row.subject, []).append(f"  - split: {row.split}\n    path: {file.path}")
    if len({file.path for file in release.files}) < len(release.files):
        for number, file in enumerate(release.files):
            file.path = f"{number}/{file.path}"
        return f"as {form}, in numbered folders"
    for stem, splits in named.items():
        lines += [f"- config_name: {stem or 'default'}", "  data_files:", *splits]
    if card:
        release.strays["README.md"] = "\n".join([*lines, "---", ""]).encode()
    return f"as {form}{' with a card' * card}"


def _merged(release: Release, random: Random) -> str:
    """Put all subjects into one file, with a column that names them."""
    own = [file for file in release.files if file.trust == "own"]
    if len(own) < 2 or len({tuple(file.names) for file in own}) > 1:
        return ""
    if any(file.pack or file.cut or file.source >= 100 for file in own):
        return ""
    if len({(file.options, file.answer, file.in_simplified, *file.dropped) for file in own}) > 1:
        return ""
    column = random.choice(
        ("subject", "Subject", "category", "科目", "config", "subject_name", "x")
    )
    both = random.random() < 0.5
    kept = [file for file in release.files if file.trust != "own"]
    for split in ("test", "dev"):
        rows = [row for file in own for row in file.rows if both or row.split == split]
        if not rows:
            continue
        extra: dict[str, str | list[str]] = {column: [row.subject for row in rows]}
        if both:
            extra["split"] = [row.split for row in rows]
        ending = {"semicolon": "csv"}.get(own[0].format, own[0].format)
        name = random.choice(("all", "data", "questions")) if both else split
        merged = own[0].copied(
            path=f"{name}.{ending}", rows=rows, extra=extra, header=True, moved=True,
            wrap="rows", shift=max(each.shift + (not each.header) for each in own),
            source=len(kept) + 50, names={**own[0].names}
        )  # fmt: skip
        kept.append(merged)
        if both:
            break
    release.files = kept
    return f"one file for all subjects, by {column}{' and split' * both}"


def _sharded(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file or len(file.rows) < 4 or file.source >= 100 or "part" in file.path:
        return ""
    path = PurePosixPath(file.path)
    half = len(file.rows) // 2
    stem = path.stem.removesuffix("-00000-of-00001")
    form = random.choice(("-{n:05}-of-00002", "-part{n}", "_part_{n}", ".part{n}"))
    parts = [
        file.copied(
            path=str(path.with_name(f"{stem}{form.format(n=n)}{path.suffix}")),
            rows=rows, moved=True,
            extra={k: v if isinstance(v, str) else [*v] for k, v in file.extra.items()},
        )
        for n, rows in enumerate((file.rows[:half], file.rows[half:]))
    ]  # fmt: skip
    if any(isinstance(value, list) for value in file.extra.values()):
        return ""
    at = release.files.index(file)
    lost = random.random() < 0.3
    if lost and form == "-{n:05}-of-00002":
        for row in parts[1].rows:
            row.may_lack = False
        release.files[at : at + 1] = parts[:1]
        release.files.append(parts[1].copied(path=f"{parts[1].path}.part"))
        return f"{path} in two shards, the second one not there"
    release.files[at : at + 1] = parts
    return f"{path} in two shards {[part.path for part in parts]}"


def _declared_otherwise(release: Release, random: Random) -> str:
    """Change the benchmark.toml of a benchmark from outside."""
    declared = release.declared
    if not declared:
        return ""
    task = declared["tasks"][0]
    if random.random() < 0.35:
        what = random.choice(("delete line", "repeat line", "insert", "insert", "cut"))
        more = random.choice(
            ('"', "[", "]", "=", "\n", "{", "}", "'", "#", "\0", "\\", "é", "\ufeff")
        )
        release.lines.append((what, random.random(), more))
        return f"benchmark.toml: {release.lines[-1]}"
    key, value = random.choice(
        (
            ("colums", {"question": "x"}), ("version", 0), ("version", "1"), ("version", 2),
            ("kind", "translation"), ("kind", "multiple-choice"), ("kind", "label"),
            ("kind", "g2p"), ("letters", "AB"), ("letters", "ABCDEFGHIJ"), ("letters", "abcd"),
            ("letters", 4), ("blank_options", "absent"), ("blank_options", "shown"),
            ("columns", {"question": "Question", "answer": "ANSWER"}),
            ("columns", {"question": "nowhere"}), ("columns", {"answer": ["gold", "answer"]}),
            ("columns", {"answer": "nowhere"}), ("columns", {"options": ["A", "B"]}),
            ("columns", {"options": []}), ("columns", {"options": ""}), ("columns", {"answer": 3}),
            ("columns", {"options": ["nowhere", "no", "none", "nil"]}), ("columns", {"answer": []}),
            ("columns", {"otpions": "x"}), ("columns", []), ("answer", "letters"), ("dev_rows", 2),
            ("dev_rows", -1), ("shots", 99), ("shots", 1), ("headline", "cer"), ("headline", "acc"),
            ("header", not task.get("header", True)), ("header", "no"), ("types", {"all": "("}),
            ("types", {"all": ".*"}), ("subjects", []), ("subjects", [{"name": "sums"}]),
            ("subjects", [{"name": "Sums!"}]), ("subjects", [{"stem": "sums"}]),
            ("files", {"test": "test/{stem}"}), ("files", {"test": "{other}/{stem}.csv"}),
            ("files", {"test": "../quiz/test/{stem}.csv"}), ("files", {"test": "/etc/passwd"}),
            ("files", {"test": "{stem.__class__}"}), ("files", {"test": "test/{0}.csv"}),
            ("files", {"test": "test/{stem"}), ("files", {"test": "{stem}{stem}.csv"}),
            ("files", {"test": []}), ("files", {"test": ""}), ("files", {"dev": "dev/{stem}.csv"}),
            ("files", {"test": "test/*.csv"}), ("files", {"tset": "test/{stem}.csv"}),
            ("files", {"test": "test/{stem!r}.csv"}), ("files", {"test": "test/{stem:>9}.csv"}),
            ("prompts", {"paper": "nowhere"}), ("prompts", {}), ("extra_stems", ["sums"]),
            ("name", "Quiz"), ("name", "hkmmlu"), ("answer", "letter"),
            ("answer", "letter_or_number"), ("columns", {"options": "options"}),
            ("examples_from_test", 2),
        )
    )  # fmt: skip
    if random.random() < 0.3:
        prompt = declared["prompts"]["plain"]
        where: dict[str, Any] = random.choice((declared, declared.get("data", prompt)))
        key, value = random.choice(
            (
                ("path", "../.."), ("path", "/"), ("path", "test"), ("path", 3),
                ("path", "nowhere"),
                ("folder", "../x"), ("folder", ""), ("folder", "quiz"), ("revison", "main"),
                ("title", ""), ("name", "hkmmlu"), ("home", "/tmp"),
                ("question", "{stem.__class__}"),
                ("question", "{question"), ("question", "{nowhere}"), ("question", ""),
                ("system", "{question}"), ("stop", "x"), ("stop", [""]), ("cue", "{cue}"),
                ("example", "{number}{question!r}"), ("hub", {"repo_id": "a/b"}), ("paper", []),
                ("github", {"repository": "a/b", "commit": "c"}), ("averages", [{"name": "x"}]),
                ("prompts", {}),
            )
        )  # fmt: skip
        where[key] = value
        return f"benchmark.toml: {key} = {value!r}"
    task[key] = value
    if key == "examples_from_test":
        release.skipped = 2
    return f"benchmark.toml, task: {key} = {value!r}"


def _unknown_key(release: Release, random: Random) -> str:
    """Misspell a key somewhere in the benchmark.toml, which must never be ignored."""
    declared = release.declared
    if not declared:
        return ""
    task = declared["tasks"][0]
    tables = [declared, task, *declared["prompts"].values()]
    tables += [*task.get("subjects", ()), *task.get("variants", ()), task.get("files", {})]
    tables += [declared[name] for name in ("data", "hub", "github") if name in declared]
    table = random.choice([each for each in tables if each])
    key = random.choice([*table])
    misspelt = random.choice((key + key[-1], key[:-1], key.upper(), f"{key}_"))
    if misspelt in ("", "hub", "data"):
        return ""
    if random.random() < 0.5 and isinstance(table[key], str | bool | int):
        table[misspelt] = table[key]
    else:
        table[misspelt] = table.pop(key)
    release.unknown.append(misspelt)
    return f"benchmark.toml: {misspelt} for {key}"


# ------------------------------------------------------- harmless mutations

ALIASES = {
    "question": ("Question", "QUESTION", "題目", "問題"),
    "answer": ("Answer", "答案", "正確答案", "answerKey", "correct_answer"),
}
ALIAS_FORMS = ("{a}", "{A}", "Option{A}", "option_{a}", "選項{A}", "({A})", "{A}.", "choice {a}")
BESIDE = {
    "README.md": b"---\nlicense: mit\n---\n# Card\n",
    "LICENSE": b"MIT",
    ".DS_Store": b"\0\0\0\1Bud1",
    "notes.txt": "一啲筆記。".encode(),
    "dataset_infos.json": b'{"default": {"features": {}}}',
    ".gitattributes": b"*.parquet filter=lfs\n",
    "images/cover.png": b"\x89PNG\r\n",
    "scripts/make.py": b"print(1)\n",
}


def _is_text(file: File) -> bool:
    return file.format in ("csv", "tsv", "semicolon")


def _other_order(release: Release, random: Random) -> str:
    file = _pick(release, random, header=True)
    return _reordered_columns(release, random) if file and _is_text(file) else ""


def _known_names(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file or not file.header or file.extra or "-of-" in file.path:
        return ""
    form = random.choice(ALIAS_FORMS)
    for role in file.names:
        if role in LETTERS:
            place = LETTERS.index(role)
            file.names[role] = form.format(a=role.lower(), A=role, n=place + 1)
        elif role in ALIASES and "question" in file.names:
            file.names[role] = random.choice(ALIASES[role])
        else:
            file.names[role] = random.choice((str.upper, str.title, " {}".format))(file.names[role])
    return f"{file.path}: columns {[*file.names.values()]}"


def _as_bytes(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file or file.format == "parquet":
        return ""
    match random.randrange(6):
        case 0:
            file.encoding = "utf-8-sig"
        case 1:
            file.newline = random.choice(("\n", "\r\n"))
        case 2:
            file.quoted = True
        case 3:
            file.blank_lines = file.header
        case 4:
            file.final_newline = False
        case _:
            file.pack = "gz"
    how = (file.encoding, file.newline, file.quoted, file.blank_lines, file.final_newline)
    return f"{file.path}: {how} {file.pack}"


def _beside(release: Release, random: Random) -> str:
    name = random.choice([*BESIDE])
    release.strays[name] = BESIDE[name]
    return f"{name} beside it"


def _below(release: Release, random: Random) -> str:
    folder = random.choice(("release", "data", "HKMMLU-main", "v1.0", "questions"))
    for file in release.files:
        file.path, file.moved = f"{folder}/{file.path}", True
    return f"all below {folder}"


def _in_another_format(release: Release, random: Random) -> str:
    if not release.is_free or any(not file.header or file.pack for file in release.files):
        return ""
    form = random.choice(("csv", "tsv", "json", "jsonl", "parquet"))
    for file in release.files:
        declared = release.declared["tasks"][0] if release.declared else {}
        no_table = file.options != "columns" or not declared.get("header", True)
        if no_table and form in ("csv", "tsv"):
            return ""
        file.format, file.wrap, file.moved = form, "rows", True
        file.path = str(PurePosixPath(file.path).with_suffix(f".{form}"))
    return f"all as {form}"


def _in_shards(release: Release, random: Random) -> str:
    own = [
        file
        for file in release.files
        if len(file.rows) > 3 and not re.search(r"-of-|/0000\.", file.path)
    ]
    if not release.is_free or not own or any(each.pack or each.extra for each in own):
        return ""
    file = random.choice(own)
    path, half = PurePosixPath(file.path), len(file.rows) // 2
    at = release.files.index(file)
    release.files[at : at + 1] = [
        file.copied(path=str(path.with_name(f"{path.stem}-0000{n}-of-00002{path.suffix}")),
                    rows=rows, moved=True)
        for n, rows in enumerate((file.rows[:half], file.rows[half:]))
    ]  # fmt: skip
    return f"{path} in two shards"


def _one_more_column(release: Release, random: Random) -> str:
    file = _pick(release, random)
    if not file or (_is_text(file) and not file.header) or "-of-" in file.path:
        return ""
    name = random.choice(("difficulty", "year", "explanation", "author", "__index_level_0__"))
    file.extra[name] = [str(2000 + n) for n, _ in enumerate(file.rows)]
    return f"{file.path}: a column {name}"


HARMLESS: Sequence[Callable[[Release, Random], str]] = (
    *(_other_order, _known_names, _as_bytes, _beside, _below, _in_another_format, _in_shards),
    _one_more_column,
)

MUTATIONS: Sequence[Callable[[Release, Random], str]] = (
    *(_renamed_columns, _renamed_columns, _reordered_columns, _dropped_column, _added_column),
    *(_moved, _renamed_file, _other_script, _cut_file, _duplicated, _second_candidate, _packed),
    *(_reformatted, _other_forms, _other_forms, _blanked, _encoded, _second_header, _stray),
    *(_layout, _merged, _sharded, _declared_otherwise, _declared_otherwise),
    *(_unknown_key, _unknown_key),
)


def mutated(release: Release, random: Random, count: int) -> Release:
    """Mutate a release; a harmless one only in ways that leave it readable."""
    while len(release.mutations) < count:
        mutation = random.choice(HARMLESS if release.is_harmless else MUTATIONS)
        if done := mutation(release, random):
            release.mutations.append(f"{mutation.__name__.strip('_')}: {done}")
    return release
