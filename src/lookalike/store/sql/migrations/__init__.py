"""Numbered steps from one version of the database to the next; a database is never edited otherwise."""
