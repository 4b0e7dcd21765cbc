"""The stylist's room: valid outfits, tests of taste (LAT and AAT), and how well a model takes them (A100)."""
