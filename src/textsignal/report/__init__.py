"""Report: content from `values`, one HTML file from `page`. Nothing is imported here: charts are slow to import."""
