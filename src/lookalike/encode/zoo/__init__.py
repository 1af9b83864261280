"""Networks by short name, and what their licences allow."""
