"""The nouns that every room shares: frozen, validated, and without any input or output of their own."""
