"""Read yue-g2p-benchmark: line 7 of a `.lb` file answers line 7 of its `.sent` file."""


def rows(folder, split):
    """Yield the rows of the test split, which is the only one."""
    for file in sorted(folder.glob("*.sent")) if split == "test" else ():
        sentences, answers = (
            path.read_text("utf-8").splitlines()
            for path in (file, file.with_suffix(".lb"))
        )
        for number, pair in enumerate(zip(sentences, answers, strict=True), start=1):
            yield {
                "subject": file.stem,
                "id": number,
                "question": pair[0],
                "answer": pair[1],
            }
