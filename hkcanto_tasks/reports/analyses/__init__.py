"""What a report says of runs: each module has `sections`, and is named in `report`."""
