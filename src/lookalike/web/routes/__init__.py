"""The addresses of the app, one file per part; each router declares who may use it."""
