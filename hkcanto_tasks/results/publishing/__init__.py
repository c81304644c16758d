"""Publishing results: model cards, results on the hub, Every Eval Ever records.

Nothing is uploaded.
"""
