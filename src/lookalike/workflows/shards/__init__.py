"""Plan, work, join: long stages as shards that any scheduler can place, on any number of machines."""
