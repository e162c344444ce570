"""Accuracy against published measurements, and latency of the built-in answer."""
