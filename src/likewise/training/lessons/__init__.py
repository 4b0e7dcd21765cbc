"""What accuracy numbers cannot see, shown on toy spaces, on random vectors and on one's own encoders."""
