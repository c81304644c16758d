"""Options of Inspect's `eval` for runs that nobody watches."""

from typing import Any

# Live displays and logs take a third of the time of a small evaluation.
UNWATCHED: dict[str, Any] = {
    "display": "none",
    "score_display": False,
    "log_realtime": False,
    "log_buffer": 1000,
}
