"""Read folders and tables into catalog rows."""
