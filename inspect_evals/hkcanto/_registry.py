"""What Inspect finds through our entry point."""

from .metrics import pooled_rate, pooled_stderr
from .models import rule_based
from .scorers import judged
from .tasks import g2p

__all__ = ["g2p", "judged", "pooled_rate", "pooled_stderr", "rule_based"]
