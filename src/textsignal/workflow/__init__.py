"""From a table and its column roles to an analysis and a folder of results."""
