"""Uncertainty of a model's results: intervals, stability, search and checks."""
