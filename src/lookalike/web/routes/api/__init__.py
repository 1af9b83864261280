"""The REST API for programs: search, images of the catalog, health and metrics."""
