"""Publishing results: the figures of a report as model cards, Hub results and EEE records.

Nothing is computed here: figures, intervals and checks come from the report; titles, units, ranges
and directions from the catalogue. Nothing is uploaded either.
"""
