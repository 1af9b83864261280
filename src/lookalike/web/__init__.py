"""The labelling app in the browser: pages, forms and a JSON interface."""
