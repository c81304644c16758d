"""A name by which other modules import the checks of a run."""

from .presentation import trust as trust
