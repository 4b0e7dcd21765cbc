"""Learning from people: an adapter over stored vectors that sees what experts, or a crowd, said looks alike."""
