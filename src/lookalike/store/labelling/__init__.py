"""The labelling in the database: votes, leases, the queue, discussions, guidelines."""
