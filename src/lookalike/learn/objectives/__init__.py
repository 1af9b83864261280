"""What training minimises, one module for each kind of loss."""
