"""Write `docs/AGENTS.md` and `docs/llms.txt`, which tell an assistant how to use hkcanto.

    python docs/assistants.py

A test fails when they are stale.
"""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
import yaml

from hkcanto_tasks.catalogue import BENCHMARKS, benchmarks
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import DOCS
from hkcanto_tasks.results.reports.gate import STATUSES

HERE = Path(__file__).parent
SITE = HERE.parent / ".ci" / "mkdocs.yml"
_MADE = "<!-- Made by `python docs/assistants.py`; do not edit. -->"

_AGENTS = """# hkcanto for agents

You evaluate a language model with hkcanto: install, run, read, compare. [These pages](index.md)
explain more; `--help` lists a command's options. Guess no task name, option or score.

<!-- not run: installs packages -->
```bash
pip install "hkcanto[lm-eval,inspect,g2p,servers,report] @ git+https://github.com/hkcanto/hkcanto"
hkcanto autoload on   # lm_eval finds the tasks
hkcanto doctor        # status 1: something is wrong
```

Try it without a model, a network or a key, then on your model (one harness is enough):

<!-- not run: a model -->
```bash
HKCANTO_DATA=sample inspect eval hkcanto/g2p --model hkcanto/pycantonese --log-dir try
lm_eval --model hf --model_args pretrained=MODEL --tasks hkmmlu --apply_chat_template \\
  --batch_size 8 --limit 200 --output_path runs/base --log_samples
inspect eval hkcanto/hkmmlu --model openai/MODEL --limit 200 --log-dir runs/base
```

Do the same with a second model in `runs/tuned`, by the same harness. Read and compare:

```bash
hkcanto report runs --format json
hkcanto compare runs/base runs/tuned --gate 2.0
```

"""

_RULES = """Rules:

* Report the headline with its interval and signature; scores with other signatures do not compare.
* Claim a difference only if `hkcanto compare` finds it significant. Pass on every warning.
* Sample data and `--limit` give no benchmark score. Over 10 % unread answers give no verdict.
* Keep `--log_samples`. Logs hold benchmark items: never publish, commit or train on them.
* HKCanto-Eval's data has no licence; do not copy it. An API sees the questions.
"""


def agents_page() -> str:
    """Return the page for agents, with the commands, the tasks and the statuses of a gate."""
    statuses = ", ".join(f"{status} {verdict}" for verdict, status in STATUSES.items())
    tasks = ", ".join(f"`{name}`" for name in task_names())
    group: Any = typer.main.get_command(app)
    commands = ", ".join(f"`{name}`" for name in group.commands)
    facts = textwrap.fill(
        f"Exit status of a gate: {statuses}. Commands: {commands}. Tasks, by their names in lm-eval "
        f"(`hkcanto list` has those in Inspect): {tasks}.",
        width=100,
        break_on_hyphens=False,
    )
    return f"{_MADE}\n\n{_AGENTS}{facts}\n\n{_RULES}"


def task_names() -> list[str]:
    """Return the names of the tasks that the package has, without their parts and variants."""
    ours = [each for each in benchmarks() if Path(each.home).parent == BENCHMARKS]
    return [task.name for benchmark in ours for task in benchmark.tasks]


def llms_text() -> str:
    """Return the links to all pages, in the form of https://llmstxt.org."""
    site = yaml.safe_load(SITE.read_text("utf-8"))
    lines = [
        f"# {site['site_name']}",
        "",
        f"> {site['site_description']}: the same answer gets the same score in both.",
        "",
        first_paragraph("index.md"),
    ]
    for section in site["nav"]:
        ((title, pages),) = section.items()
        if isinstance(pages, str):
            continue
        lines += ["", f"## {'Optional' if title == 'Reference' else title}", ""]
        lines += links(pages)
    return "\n".join(lines) + "\n"


def links(pages: list[Any]) -> Iterator[str]:
    """Yield a link for each page of a section."""
    for page in pages:
        ((title, path),) = page.items() if isinstance(page, dict) else (("", page),)
        is_one_task = path.startswith("tasks/") and path != "tasks/README.md"
        if path.endswith(".md") and not is_one_task:
            yield f"- [{title or heading(path)}]({DOCS}/{path}){_description(path)}"


def heading(path: str) -> str:
    """Return a page's heading."""
    (found,) = re.findall(r"^# (.+)$", (HERE / path).read_text("utf-8"), re.M)[:1]
    return str(found)


def first_paragraph(path: str) -> str:
    """Return the paragraph below a page's heading, as plain text; empty if there is none."""
    below = f"\n{(HERE / path).read_text('utf-8')}".partition("\n# ")[2]
    paragraph = below.partition("\n\n")[2].partition("\n\n")[0]
    is_prose = re.match(r"[\w`*]", paragraph) and ":::" not in paragraph
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", paragraph) if is_prose else ""
    return " ".join(text.replace("**", "").split())


def _description(path: str) -> str:
    """Return the first sentence of a page, after a colon."""
    sentence = re.split(r"(?<=[.:])\s|(?<=。)", first_paragraph(path))[0].rstrip(":.。")
    return f": {sentence}" if sentence else ""


def main() -> list[Path]:
    """Write both files, and return them."""
    made = {HERE / "AGENTS.md": agents_page(), HERE / "llms.txt": llms_text()}
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    return [*made]


if __name__ == "__main__":
    for written in main():
        print(written)
