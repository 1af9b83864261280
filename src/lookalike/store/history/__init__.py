"""The history of votes as files: export, import, merge, Label Studio."""
