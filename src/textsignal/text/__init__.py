"""Text: words of texts (`tokenise`), where they stand (`spans`), and a matrix of them (`vectorise`)."""
