"""Skill against the number of reviews on Google Local hotels (the paper's appendix)."""

from textsignal.studies.sample_size.claims import appendix_claims
from textsignal.studies.sample_size.study import size_study

OVERFITTING = size_study("overfitting", "Overfitting on Google Local hotels", "hotel", appendix_claims)
