"""Labels: pools, the queue, the team, imports and exports."""
