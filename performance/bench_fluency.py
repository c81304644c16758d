"""Time of judging one text: `python performance/bench_fluency.py`.

The slow part is finding the features, which is done twice: by the detector for its label, and by us
for the places of the features, which the detector does not return.
"""

from collections.abc import Callable

from cantonesedetect import CantoneseDetector
from measuring import seconds

from hkcanto_metrics.fluency import cantonese_fluency
from hkcanto_metrics.repetition import is_degenerate
from hkcanto_metrics.script import simplified_share

CANTONESE = (
    "佢哋琴晚喺茶餐廳傾到三點先捨得走，仲話「下次再來吧」，搞到我今朝返工遲咗成個鐘。"
)
WRITTEN_CHINESE = "他們昨晚在餐廳裏談到三點才捨得離開，還說「下次再來吧」，害得我今天上班遲了一個小時。"
STEPS: dict[str, Callable[[str], object]] = {
    "cantonese_fluency": cantonese_fluency,
    "detector's label": CantoneseDetector().judge,
    "is_degenerate": is_degenerate,
    "simplified_share": simplified_share,
}


def main() -> None:
    """Print one row per kind and length of text."""
    print(f"{'text':>16} {'characters':>11}" + "".join(f"{step:>20}" for step in STEPS))
    for name, sentence in (
        ("Cantonese", CANTONESE),
        ("Written Chinese", WRITTEN_CHINESE),
    ):
        for length in (len(sentence), 300, 2_000, 100_000, 1_000_000):
            text = (sentence * (length // len(sentence) + 1))[:length]
            repeats = 200 if length < 10_000 else 3
            times = [
                1000 * seconds(judge, text, repeats=repeats) for judge in STEPS.values()
            ]
            print(
                f"{name:>16} {length:>11,}"
                + "".join(f"{time:>17.3f} ms" for time in times)
            )


if __name__ == "__main__":
    main()
