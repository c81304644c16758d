from .kinds import find_kind
from .kinds.base import REASONING_TOKENS, Kind as Setup, Options
from .tasks import RUN_OPTIONS, option_values, refuse_unknown, task_as_run as setup
