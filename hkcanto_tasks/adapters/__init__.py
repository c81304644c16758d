"""What the adapters of lm-eval and Inspect share, and what the workbench may ask of one."""
