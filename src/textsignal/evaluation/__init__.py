"""A model against simpler ways to predict the same responses, on the user's own data."""
