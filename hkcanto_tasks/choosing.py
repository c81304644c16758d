"""TEMPORARY-SHIM."""
# ruff: noqa
from .catalogue import chosen_tasks
