"""The workspace on disk: one folder, its settings, its database and its arrays. All file formats live here."""
