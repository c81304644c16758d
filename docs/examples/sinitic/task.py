"""An Inspect task: a model judges translations in which people marked the errors.

inspect eval docs/examples/sinitic/task.py -T path=cantonese.jsonl --limit 300 --model none \\
    --model-role grader=openai/gpt-4o
"""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from marked_errors import read_marked

from hkcanto.judges import judged_translation


@task
def marked_errors(path: str, judgements: int = 4) -> Task:
    """Let a model judge the translations of SiniticMTError.

    Args:
        path: The file `cantonese.jsonl` of github.com/hannliu/SiniticMTError.
        judgements: How many times each translation is judged.
    """
    samples = [
        Sample(
            id=each.id,
            input=each.source,
            target=each.reference,
            metadata={"source": each.source, "translation": each.translation},
        )
        for each in read_marked(Path(path))
    ]
    dataset = MemoryDataset(samples, name="marked_errors")
    dataset.shuffle(seed=0)  # the beginning is a fair sample, for --limit
    return Task(
        dataset, solver=_given(), scorer=judged_translation("en_yue", judgements)
    )


@solver
def _given() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        state.output = ModelOutput.from_content("none", state.metadata["translation"])
        return state

    return solve
