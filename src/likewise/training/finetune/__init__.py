"""The VSD paper's fine-tuned baselines: networks trained on with the catalog's ids, its categories, or neither."""
