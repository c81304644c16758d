"""The kinds of task: each module here reads, renders and scores one form of item.

The entry point group `hkcanto.kinds` lists all kinds, including ours.
"""
