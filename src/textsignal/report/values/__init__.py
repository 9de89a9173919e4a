"""Every number and sentence of a report, as values."""
