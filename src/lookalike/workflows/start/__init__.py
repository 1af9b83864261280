"""Set up a workspace: init, embed, catalog changes, status, backup."""
