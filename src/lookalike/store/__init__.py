"""The workspace on disk: settings, database, arrays, and all file formats."""
