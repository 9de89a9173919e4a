"""Covariates of texts, such as a price or a country."""
