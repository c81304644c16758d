"""Tests of `hkcanto board`."""
