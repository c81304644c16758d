# Made by `python -m hkcanto_lm_eval.generate` from the catalogue; do not edit.
"""The class of the tasks in this folder."""

from hkcanto_lm_eval.task import CatalogueTask

__all__ = ["CatalogueTask"]
