"""Predictions against responses: metrics, baselines, comparison with other methods."""
