"""An MkDocs hook that adds the leaderboard (papers' scores and rule-based engines) to the site."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from hkcanto_tasks.results.board.folders import read_results
from hkcanto_tasks.results.board.pages import pages

PLACE = "leaderboard"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the board to the site."""
    results, refused = read_results([str(Path(config.docs_dir) / PLACE)])
    if refused:
        raise SystemExit(f"The records of {PLACE}/ must be made again: {refused}")
    for path, text in pages(results, refused, "Cantonese leaderboard").items():
        files.append(File.generated(config, f"{PLACE}/{path}", content=text))
    return files
