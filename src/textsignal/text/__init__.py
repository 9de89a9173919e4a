"""Text in: tables from files (`read`), words from texts (`tokenise`), a matrix from words (`vectorise`)."""
