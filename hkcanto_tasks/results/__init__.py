"""The workbench: it reads logs of both harnesses, and runs no model."""
