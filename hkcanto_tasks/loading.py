"""TEMPORARY-SHIM."""  # ruff: noqa
from .tasks import LoadedTask, load_task, stratified, _warn
