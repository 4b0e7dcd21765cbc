"""Pages and report sections of training."""
