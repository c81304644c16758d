"""The leaderboard: a static site of many models' results over time, with the papers' tables."""
