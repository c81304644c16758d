"""One item of a task, from the file that it is read from to the judgement of its answer."""

import msgspec


class Sample(msgspec.Struct, frozen=True, gc=False):
    """One item: what the loader reads, both harnesses carry whole, and `Setup.judge` is given.

    Attributes:
        id: Stable across harnesses, runs and machines, such as `hkcanto_g2p/121`.
        subject: The subject's name; empty for a task without subjects.
        category: The category that the paper counts the subject under.
        parts: The sets of items, reported apart, that it belongs to: its category, sets of the
            subject such as `hk_specific`, types of question.
        question: The question as the release has it, in the script that is asked for.
        cells: What else of the row the prompt shows, such as the passage that a question is about:
            the name of the place in the template → the text.
        choices: The options of a multiple-choice question, in the order of their letters; None
            where a letter has no option.
        source: The text to convert, to translate, to classify or to sum up.
        target: The gold answer in the form that the kind of task reads.
        reasoning: The release's way to the answer, shown in worked examples; scored items have
            none.

    Examples:
        >>> Sample(id="law/1", question="邊個啱？", choices=("甲", "乙"), target="B").target
        'B'
    """

    id: str
    subject: str = ""
    category: str = ""
    parts: tuple[str, ...] = ()
    question: str = ""
    cells: dict[str, str] = {}
    choices: tuple[str | None, ...] = ()
    source: str = ""
    target: str = ""
    reasoning: str = ""

    def __hash__(self) -> int:  # that of a struct does not take `cells`
        return hash((self.id, self.subject, self.question, self.source, self.target))

    @property
    def text(self) -> str:
        """All that is asked, without the words of a prompt: to measure it, and to match it."""
        given = (*self.cells.values(), self.question, self.source, *self.choices)
        return "\n".join(part for part in given if part)
