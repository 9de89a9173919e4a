def page(lines): return ""
