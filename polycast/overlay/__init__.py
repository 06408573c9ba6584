"""How brokers and users are wired."""
