"""How accurate a release will be: margins of error, and budgets that keep them."""
