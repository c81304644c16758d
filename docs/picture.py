"""Make `docs/report.png`, the first screen of a report on two models with made-up answers.

    python docs/picture.py

It needs the extras dev and report, Pillow, and Chromium with its driver.
"""

import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from PIL import Image  # noqa: E402

from hkcanto_tasks.results.reports.renderers import render  # noqa: E402
from hkcanto_tasks.results.reports.summary import build_report  # noqa: E402
from tests.reports.browser import chromium  # noqa: E402
from tests.reports.many import many  # noqa: E402


def main() -> None:
    """Render the report, open it in the browser and photograph it."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page = Path(folder) / "report.html"
        report = build_report(many(["base-7b", "tuned-7b"], seed=3))
        page.write_text(render(report, "html"), encoding="utf-8")
        browser.open(page, width=1280, height=800)
        shot = page.with_suffix(".png")
        browser.driver.save_screenshot(str(shot))
        Image.open(shot).convert("RGB").quantize(64).save(
            DOCS / "report.png", optimize=True
        )


if __name__ == "__main__":
    main()
