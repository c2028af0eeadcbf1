"""MiniLM's layers: weights, tokens, packed sequences, and forward passes by ONNX Runtime or PyTorch."""
