"""Agreement of the judge in an Inspect log with people who scored the same items."""

from collections import defaultdict
from math import isfinite
from pathlib import Path
from statistics import fmean

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from hkcanto_metrics.agreement import Agreement, Level, agreement, read_human_scores
from hkcanto_metrics.error_spans import ErrorSpan
from hkcanto_tasks.agreement.human_errors import JudgedRun, JudgedTranslation, read_marked

from .summarization import SUMMARY_METRICS
from .translation import TRANSLATION_METRICS, judged_translation

_CRITERIA = {
    scorer: [name for name in metrics if not name.endswith("_rate")]
    for scorer, metrics in {
        "judged_translation": TRANSLATION_METRICS,
        "judged_summary": SUMMARY_METRICS,
    }.items()
}


def judge_agreement(
    log: EvalLog | str | Path, human: str | Path, level: Level = "interval"
) -> list[Agreement]:
    """Compare the judge's scores in a log with people's in a CSV file.

    Args:
        log: A log of a task that was run with a judge, or its path.
        human: A CSV file with the columns ``id`` (the sample's id in the log) and one for each
            criterion, in the judge's units: `judged_accuracy` and `judged_score` from 0 to 1, the
            criteria of summaries from 1 to 5. One row for each item and person.
        level: How Krippendorff's alpha reads the scores, see `krippendorff_alpha`.

    Returns:
        One row for each criterion of the file.

    Raises:
        ValueError: The log has no judge's scores, or the file and the log do not fit together.
    """
    judge = judge_scores(log)
    return agreement(judge, read_human_scores(human, judge), level)


def marked_errors_task(path: str, judgements: int = 4) -> Task:
    """Make the task in which a judge judges translations whose errors people marked.

    Args:
        path: A file of SiniticMTError, see `hkcanto_tasks.agreement.human_errors`.
        judgements: As in `judged_translation`.
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
    return Task(dataset, solver=_given(), scorer=judged_translation("en_yue", judgements))


@solver
def _given() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        state.output = ModelOutput.from_content("none", state.metadata["translation"])
        return state

    return solve


def judged_run(path: str | Path) -> JudgedRun:
    """Read what a judge of translations labelled from a log; what it failed on is left out.

    Raises:
        ValueError: The log has no judge's translations.
    """
    log, samples, judges = read_eval_log(str(path)), dict[str, JudgedTranslation](), set[str]()
    for sample in log.samples or []:
        score = (sample.scores or {}).get("judged_translation")
        judgements = score.metadata["judgements"] if score and score.metadata else []
        made = [each for each in judgements if "errors" in each]
        if score is None or not made:
            continue
        judges |= {each["grader"] for each in made}
        samples[str(sample.id)] = JudgedTranslation(
            score.answer or "",
            fmean(each["judged_accuracy"] for each in made),
            tuple(
                tuple(ErrorSpan(e["category"], e["start"], e["end"]) for e in each["errors"])
                for each in made
            ),
        )
    if not samples:
        raise ValueError(
            f"{path} has no judge's labels of translations; run inspect eval hkcanto/translation "
            "-T judge=true, or hkcanto/marked_errors, with --model-role grader=…"
        )
    return JudgedRun(log.eval.model, " + ".join(sorted(judges)), samples)


def judge_scores(log: EvalLog | str | Path) -> dict[str, dict[str, float]]:
    """Read the judge's scores from a log.

    Args:
        log: The log or its path.

    Returns:
        Criterion → sample id → score, the mean over epochs. Unscored samples are left out.

    Raises:
        ValueError: The log has none.
    """
    opened = log if isinstance(log, EvalLog) else read_eval_log(str(log))
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for sample in opened.samples or []:
        for scorer, criteria in _CRITERIA.items():
            score = (sample.scores or {}).get(scorer)
            if score is None:
                continue
            values = score.as_dict()
            for criterion in criteria:
                value = values[criterion]
                if isinstance(value, float | int) and isfinite(value):
                    scores[criterion][str(sample.id)].append(value)
    if not scores:
        raise ValueError(
            f"the log of {opened.eval.task} has no scores of a judge; run the task with "
            "-T judge=true and --model-role grader=…"
        )
    return {
        criterion: {item: fmean(values) for item, values in items.items()}
        for criterion, items in scores.items()
    }
