"""Serving speed: step times, steady state of continuous batching, planning, ranges."""

from tools.throughput.estimate import estimate_throughput

__all__ = ["estimate_throughput"]
