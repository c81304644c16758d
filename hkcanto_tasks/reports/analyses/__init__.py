"""What a report says of evaluations: each module has `sections`, and is named in `report`."""
