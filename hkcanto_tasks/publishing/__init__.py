"""Results that travel: the figures of a report, in the forms in which others collect them.

Nothing is computed here: a figure, its interval and whether to trust it are the report's, and its
title, unit, range and direction the catalogue's. Nothing is uploaded, either.
"""
