"""Who wants a publication, and in which form."""
