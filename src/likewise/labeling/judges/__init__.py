"""Machine judges: models that answer pairs, disclosed as machines; their answers are never votes or labels."""
