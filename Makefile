# `make` lists what there is. Everything runs in .venv, as README's test command makes it.
PYTHON = .venv/bin/python
export HF_HUB_OFFLINE = 1

.PHONY: help install test check slow docs generate pins
help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

install:  ## make .venv with everything that the tests need
	python3 -m venv .venv
	.venv/bin/pip install -q -e ".[dev,lm-eval,inspect,g2p,report]" ./lm_eval_tasks/hook

test:  ## run the quick tests
	$(PYTHON) -m pytest -n auto --dist loadfile

check:  ## check format, lint and types
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/inspect-evals-lint --all --output-format markdown

slow:  ## run the slow tests: commands of the harnesses, releases, the browser
	$(PYTHON) -m pytest -n auto --dist loadfile -m "slow and not e2e"

docs:  ## build the documentation site into SITE, by default site/
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict -q -f .ci/mkdocs.yml -d "$(abspath $(or $(SITE),site))"

generate:  ## write the generated files again: lm-eval's YAML, the tasks' pages, eval.yaml
	$(PYTHON) -m hkcanto_lm_eval.generate
	$(PYTHON) docs/generate.py
	$(PYTHON) docs/assistants.py
	$(PYTHON) docs/register.py

pins:  ## pin what each version of a task sends and reads, after raising `version`
	$(PYTHON) -m tests.tasks.test_versions
