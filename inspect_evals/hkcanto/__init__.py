"""HKCanto-Eval, HKMMLU and TMMLU+ for Inspect: `inspect eval hkcanto/g2p`."""
