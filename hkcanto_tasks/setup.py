"""TEMPORARY-SHIM."""  # ruff: noqa
from .kinds import find_kind
from .kinds.base import OF_CHOICES, OF_SOME_KINDS, REASONING_TOKENS, Kind, Options

Setup = Kind
from .tasks import RUN_OPTIONS, option_values, refuse_unknown
from .tasks import task_as_run as setup
