"""How topics, weights and effects are learnt."""
