"""Tables: from `files` (`read`), checked row by row (`rows`), to a model (`analyse`), and out again (`write`)."""
