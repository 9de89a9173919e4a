"""A report's values as one HTML file."""
