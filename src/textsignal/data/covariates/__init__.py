"""Covariates: what is known of documents beside their text, such as a price or a country."""
