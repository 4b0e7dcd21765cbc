"""One deep network: its preparation, its weights, and how it runs (torch or onnxruntime)."""
