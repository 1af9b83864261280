"""Work in shards: a plan and what workers made of it, as immutable files in a folder or an object store."""
