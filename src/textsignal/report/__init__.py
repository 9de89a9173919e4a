"""The page people open: numbers from `prepare`, one self-contained HTML file from `render`.

Nothing is imported here: charts are slow to import, and most commands need none.
"""
