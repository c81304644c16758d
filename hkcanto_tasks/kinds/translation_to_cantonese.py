"""Translation into Cantonese: as `translation`, and how Cantonese the outputs are."""

from collections.abc import Sequence
from dataclasses import replace

from hkcanto_metrics.fluency import cantonese_fluency

from ..records import Judgement
from . import translation, writing

METRICS = (*translation.METRICS, *writing.FLUENCY_METRICS)

Options = translation.Options
read, prompt, system = translation.read, translation.prompt, translation.system
samples, examples = translation.samples, translation.examples
stop, max_tokens = translation.stop, translation.max_tokens


def score(response: str, target: str, choices: Sequence[str | None] = ()) -> Judgement:
    """Judge a translation into Cantonese as far as it can be by itself.

    Args:
        response: What the model wrote.
        target: The reference.
        choices: The source, and nothing else.

    Example:
        >>> score("他是我的朋友。", "佢係我嘅朋友。", ["他是我的朋友。"]).values["fluent"]
        0.0
    """
    judgement = translation.score(response, target, choices)
    fluency = cantonese_fluency(judgement.hypothesis)
    return replace(
        judgement,
        values={**judgement.values, **writing.fluency_values(fluency)},
        weights=writing.fluency_weights(fluency),
        explanation=f"{writing.explain_fluency(fluency)}\n\n{judgement.explanation}",
    )
