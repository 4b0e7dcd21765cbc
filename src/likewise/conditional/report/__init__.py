"""Pages of similarity under a condition: mined triplets, studies, what a search found."""
