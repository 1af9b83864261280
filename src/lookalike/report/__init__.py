"""The report: frozen values in, one self-contained HTML page out.

Nothing is read but the package's own templates.
"""
