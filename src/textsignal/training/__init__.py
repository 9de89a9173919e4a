"""Training of topics, weights and effects."""
