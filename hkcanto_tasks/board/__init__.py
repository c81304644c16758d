"""A board: a static site over the results of many models and dates, and the papers' own tables."""
