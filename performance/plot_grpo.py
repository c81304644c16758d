"""Plot the rewards of training runs: `python performance/plot_grpo.py OUTPUT.svg TITLE=CURVES …`.

CURVES: a file written by grpo_curves.py. Each gets a panel with the reward used in training and the
present version's reward of the same completions. Points are means of five steps.
"""

import json
import sys
from pathlib import Path
from statistics import fmean

import hkcanto_metrics

STEPS, WIDTH, HEIGHT, MARGIN = 5, 220, 130, 34
COLUMNS, PANEL = 2, HEIGHT + 70
COLOURS = {"trained on": "#1f77b4", "present reward": "#d62728"}


def panel(title: str, path: Path, left: int, top: int) -> str:
    """Draw one training run."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rewards = [getattr(hkcanto_metrics, name) for name in rows[0]["rewards"]]
    present = hkcanto_metrics.multiply_rewards(*rewards)
    paid = {
        "trained on": [fmean(row["earned"]) for row in rows],
        "present reward": [
            fmean(each or 0.0 for each in present(row["texts"], **row["columns"]))
            for row in rows
        ],
    }
    drawn = [
        f'<g transform="translate(0 {top})">',
        f'<text x="{left}" y="14" font-weight="bold">{title}</text>',
    ]
    for share in (0, 0.5, 1):
        y = MARGIN + HEIGHT * (1 - share)
        drawn += [f'<path d="M{left} {y}h{WIDTH}" stroke="#ccc"/>']
        drawn += [
            f'<text x="{left - 5}" y="{y + 4}" text-anchor="end">{share:g}</text>'
        ]
    for n, (name, values) in enumerate(paid.items()):
        means = [fmean(values[at : at + STEPS]) for at in range(0, len(values), STEPS)]
        points = " ".join(
            f"{left + WIDTH * at / max(1, len(means) - 1):.0f},{MARGIN + HEIGHT * (1 - mean):.0f}"
            for at, mean in enumerate(means)
        )
        dash = ' stroke-dasharray="5 3"' if n else ""
        drawn += [
            f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" '
            f'stroke-width="2"{dash}/>'
        ]
    bottom = MARGIN + HEIGHT + 16
    drawn += [f'<text x="{left}" y="{bottom}">step 1</text>']
    drawn += [
        f'<text x="{left + WIDTH}" y="{bottom}" text-anchor="end">{len(rows)}</text></g>'
    ]
    return "\n".join(drawn)


def main() -> None:
    """Write the picture."""
    output, *given = sys.argv[1:]
    named = [each.partition("=") for each in given]
    panels = [
        panel(
            title,
            Path(path),
            MARGIN + n % COLUMNS * (WIDTH + MARGIN),
            n // COLUMNS * PANEL,
        )
        for n, (title, _, path) in enumerate(named)
    ]
    width, bottom = (
        MARGIN + COLUMNS * (WIDTH + MARGIN),
        -(-len(panels) // COLUMNS) * PANEL + 14,
    )
    legend = "\n".join(
        f'<text x="{MARGIN + 130 * n}" y="{bottom}" fill="{colour}">{"- -" if n else "—"} {name}'
        "</text>"
        for n, (name, colour) in enumerate(COLOURS.items())
    )
    Path(output).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 10}" '
        f'width="{width}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n'
        f"{legend}\n" + "\n".join(panels) + "\n</svg>\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
