"""Publishing results: the figures of a report as model cards, Hub results and EEE records.

Nothing is computed here: figures, intervals and checks are the report's; titles, units, ranges and
directions are the catalogue's. Nothing is uploaded, either.
"""
