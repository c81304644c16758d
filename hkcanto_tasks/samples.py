"""The record of one item of a task, from the release's file to the judged answer."""

import msgspec

_MARK = "【題組】"
"""Stands between a passage and one of its questions in exams of Taiwan."""


class Sample(msgspec.Struct, frozen=True, gc=False):
    """One item: the loader reads it, both harnesses carry it, and `Kind.judge` receives it.

    Attributes:
        id: Stable across harnesses, runs and machines, such as `hkcanto_g2p/121`.
        subject: The subject's name; empty for a task without subjects.
        category: The category that the paper counts the subject under.
        parts: The sets of items with figures of their own that it belongs to: its category, sets
            of the subject such as `hk_specific`, types of question.
        question: The release's question, in the chosen script.
        cells: Further cells of the row that the prompt shows, such as the passage of a question:
            placeholder in the template → text.
        choices: The options of a multiple-choice question, in the order of their letters; None for
            a letter without an option.
        source: The text to convert, translate, classify or summarise.
        target: The right answer in the form that the kind of task reads.
        reasoning: The release's reasoning, shown in worked examples; scored items have none.

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

    def __hash__(self) -> int:  # a struct's own hash cannot hash `cells`
        return hash((self.id, self.subject, self.question, self.source, self.target))

    @property
    def release_id(self) -> str:
        """The release's number or name for the item: its id without task and subject.

        Examples:
            >>> Sample(id="quiz/law/7", subject="law").release_id
            '7'
        """
        return self.id.split("/", 2 if self.subject else 1)[-1]

    @property
    def text(self) -> str:
        """All texts of the item without the prompt's own words, for measuring and matching."""
        texts = (*self.cells.values(), self.question, self.source, *self.choices)
        return "\n".join(text for text in texts if text)

    @property
    def passage(self) -> str:
        """The text that makes questions depend on one another; empty without one.

        It is a cell named `passage`; another cell, the text before the mark 【題組】, or the text
        before the last line, each if it is longer than the question after it.

        Examples:
            >>> Sample(id="1", question="香港喺1842年割讓。\\n邊年？").passage
            '香港喺1842年割讓。'
            >>> Sample(id="2", question="香港邊年割讓？").passage
            ''
        """
        if "passage" in self.cells:
            return self.cells["passage"]
        longest = max(self.cells.values(), key=len, default="")
        if len(longest) > len(self.question):
            return longest
        text = self.question.strip()
        before, _, question = text.rpartition(_MARK)
        if not before:
            before, _, question = text.rpartition("\n")
        before = before.strip()
        return before if len(before) > len(question) else ""
