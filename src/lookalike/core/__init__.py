"""The types, errors and checks that all other packages use. Depends on numpy only."""
