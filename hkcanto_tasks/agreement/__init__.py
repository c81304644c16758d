"""Does a judge agree with people, does a metric: `hkcanto agreement`."""
