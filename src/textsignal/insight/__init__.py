"""What topics say: effects and shares on one scale, their table, documents, explanations, and changes by hand."""
