"""Skill against the number of reviews on Google Local hotels (the paper's appendix)."""

from textsignal.studies.sample_size import size_study
from textsignal.studies.size_claims import appendix_claims

OVERFITTING = size_study("overfitting", "Overfitting on Google Local hotels", "hotel", appendix_claims)
