"""Names of the board's tables by which it imports them."""

from .standings import Contest as Contest
from .standings import columns_of as columns_of
from .standings import contests as contests
from .summary import averages_of as averages_of
from .summary import matrix as matrix
