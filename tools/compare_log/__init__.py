"""A start-up log, an out-of-memory trace or nvidia-smi output beside the estimate."""

from tools.compare_log.compare import compare_log

__all__ = ["compare_log"]
