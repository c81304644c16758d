"""An environment for verifiers: multiple-choice questions, with reasoning in a row's language."""

from hkcanto_reasoning.taskset import ReasoningTaskset

__all__ = ["ReasoningTaskset"]
