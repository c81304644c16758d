"""The analyses of a report: each module has `sections`, and is listed in `report`."""
