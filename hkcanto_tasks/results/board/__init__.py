"""The board: a page of models × tasks and a page for each task, from records and logs."""
