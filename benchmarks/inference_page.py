def page(lines):
    return ""
