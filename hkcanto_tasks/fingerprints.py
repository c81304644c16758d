"""TEMPORARY-SHIM."""
# ruff: noqa
from .signatures import fingerprints
