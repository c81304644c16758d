"""A name by which the board imports the papers' tables."""

from collections.abc import Sequence

from .blocks import Section
from .standings import Beside
from .summary import paper_table


def published_sections(beside: Sequence[Beside], _: int) -> list[Section]:
    """Return a section for each published table with a result in it."""
    made = [(each.table, paper_table(each)) for each in beside]
    return [
        Section(f"{paper.source}: {paper.title}", [block], block.name.replace("_", "-"))
        for paper, block in made
    ]
