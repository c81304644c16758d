"""`python -m hkcanto_lm_eval …` is `lm_eval …` with our tasks and model, without the hook."""

import os

from lm_eval.__main__ import cli_evaluate

from ._autoload import install

os.environ.pop("HKCANTO_AUTOLOAD", None)
install()
cli_evaluate()
