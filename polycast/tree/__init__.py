"""The way a stream travels: trees that keep readers fresh."""
