"""Check the requirements of our tasks before Inspect loads the model.

Inspect first imports our entry point, then creates the model, then the tasks.
"""

import argparse
import logging
import os
import sys
from typing import Any

from inspect_ai._cli.util import parse_cli_config

import hkcanto
from hkcanto_tasks.errors import HKCantoError, OptionError, in_command, said

from . import tasks
from .judges.panel import ROLE
from .solvers import no_model

_ELSEWHERE = ("INSPECT_EVAL_TASK_ARGS", "INSPECT_EVAL_TASK_CONFIG", "INSPECT_EVAL_RUN_CONFIG")


def check() -> None:
    """Create the tasks on the command line, if this is `inspect eval` or `eval-set`.

    Raises:
        SystemExit: A task cannot be created, or needs a judge and there is no grader. (Inspect
            ignores any other error of an import.)
    """
    _, command, *arguments = [*sys.argv, ""]
    if not in_command() or command not in ("eval", "eval-set"):
        return
    if any(name in os.environ for name in _ELSEWHERE) or "--run-config" in arguments:
        return
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("-T", action="append", default=[])
    parser.add_argument("--task-config")
    parser.add_argument("--model-role", action="append", default=[])
    logging.disable(logging.WARNING)  # Inspect creates the tasks again, with the same warnings
    try:
        given, others = parser.parse_known_args(arguments)
        options: dict[str, Any] = parse_cli_config(given.T, given.task_config)
        roles = [*given.model_role, *os.environ.get("INSPECT_EVAL_MODEL_ROLE", "").split()]
        for each in others:
            if (name := each.removeprefix("hkcanto/")) != each and name in hkcanto.__all__:
                made = getattr(tasks, name)(**options)
                judges = "judge" in (made.metadata or {})
                if judges and not any(r.startswith(f"{ROLE}=") for r in roles):
                    raise OptionError(f"{name}: {no_model(ROLE)}")
    except HKCantoError as error:
        sys.exit(f"\n{said(error)}")
    except (Exception, SystemExit):  # Inspect reports these better
        return
    finally:
        logging.disable(logging.NOTSET)
