"""How the wardrobe is drawn: geometry -> canvas and fabric -> garments -> cues -> scene."""
