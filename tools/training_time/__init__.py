"""Training speed and time: the share of the peak, links and bubble of a job."""

from tools.training_time.estimate import estimate_training_time

__all__ = ["estimate_training_time"]
