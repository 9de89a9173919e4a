"""Covariates of documents, such as a price or a country."""
