"""Skill against the number of reviews, and over-fitting."""
