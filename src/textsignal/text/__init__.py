"""Text: words of a text (`tokenise`), texts as numbers (`tokens`), counts and features of them, and a matrix."""
