"""Outfits of the wardrobe, where it is known what goes together: stylists, people who answer, a complete test."""
