"""Report: content from `values`, one self-contained HTML file from `page`.

Nothing is imported here: charts are slow to import, and most commands do not need them.
"""
