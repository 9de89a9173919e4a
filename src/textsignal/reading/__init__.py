"""A fitted model applied to texts: themes, tone and contributions of every sentence."""
