"""One module per family of encoders; a family that needs other encoders is handed `open_encoder` by the registry."""
