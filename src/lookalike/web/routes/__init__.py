"""The addresses of the app, one file per part; each router says who may use it."""
