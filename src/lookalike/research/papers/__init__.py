"""The papers' tables: their figures as printed, impossible figures, and ours in the same layout.

    published("eds-table-2") -> PublishedTable     a golden file: rows as printed, notes, the data it needs
    overlap_table(figures) -> ComputedTable             ours in the same layout, unrounded
    consistency_table(audit, full) -> ComputedTable     the tables of the audits: `audited`
    text_of(published, ours)                       both as text; cells_of as (name, column, paper, ours)

A further table is a file in `golden/` and, for ours, a function in `builders` or `audited`.
"""
