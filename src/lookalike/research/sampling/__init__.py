"""How samples of labels do where every answer is known: coverage and errors."""
