"""Fair training: the Reality Check's protocol, fine-tuned baselines, and models that learn from people."""
