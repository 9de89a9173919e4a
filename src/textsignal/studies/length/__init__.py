"""Skill against the length of reviews."""
