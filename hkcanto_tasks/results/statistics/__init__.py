"""Statistics on arrays: intervals, paired tests, gates, selection."""
