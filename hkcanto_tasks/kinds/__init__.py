"""The kinds of task: each module here reads, renders and scores one form of question.

Which there are, ours included, the entry point group `hkcanto.kinds` says.
"""
