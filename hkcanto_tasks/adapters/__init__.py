"""The parts that the adapters of lm-eval and Inspect share, and the seam for the workbench."""
