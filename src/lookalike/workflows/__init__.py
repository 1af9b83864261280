"""Complete tasks on a workspace. Only this package knows every stage."""
