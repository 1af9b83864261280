"""Every measure: the table of names, and one file per formula."""
