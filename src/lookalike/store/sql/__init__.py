"""The database: SQLite or PostgreSQL, its tables, migrations and backup."""
