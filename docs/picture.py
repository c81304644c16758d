"""Make `docs/report.png`, the first screen of a report on ten models.

    python docs/picture.py scored/logs/0shot

The logs are those of `docs/examples/yue_benchmark/score.py`. The script needs the extras dev and
report, Pillow, and Chromium with its driver.
"""

import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from PIL import Image  # noqa: E402

from hkcanto_tasks import read_runs  # noqa: E402
from hkcanto_tasks.results.reports.renderers import render  # noqa: E402
from hkcanto_tasks.results.reports.summary import build_report  # noqa: E402
from tests.reports.browser import chromium  # noqa: E402

MODELS = (
    "GLM-4",
    "SenseChat-5",
    "gemma2-27b-it",
    "gpt-4-0125",
    "gpt-4o",
    "llama-3.1-70b-instruct",
    "mistral-large-2-instruct",
    "qwen2-72b",
    "qwen2.5-72b-instruct",
    "yi-1.5-34b-chat",
)


def main(logs: Path) -> None:
    """Render the report, open it in the browser and photograph it."""
    folders = [folder for folder in sorted(logs.glob("*/*")) if folder.name in MODELS]
    report = build_report([*read_runs(folders)])
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page = Path(folder) / "report.html"
        page.write_text(render(report, "html"), encoding="utf-8")
        browser.open(page, width=1280, height=800)
        shot = page.with_suffix(".png")
        browser.driver.save_screenshot(str(shot))
        Image.open(shot).convert("RGB").quantize(64).save(
            DOCS / "report.png", optimize=True
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
