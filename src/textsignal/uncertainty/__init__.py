"""How far what a model says can be trusted."""
