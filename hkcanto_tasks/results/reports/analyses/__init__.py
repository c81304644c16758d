"""The analyses of a report: each module has a function `sections`, and `report` lists it."""
