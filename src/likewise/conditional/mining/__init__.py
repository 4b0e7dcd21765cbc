"""Training triplets from captions: relations, their filters, and triplets drawn from what is left (GeneCIS)."""
