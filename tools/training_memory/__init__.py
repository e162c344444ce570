"""Training memory: states, activations, logits and overhead of one step on the fullest GPU."""

from tools.training_memory.estimate import estimate_training_memory
from tools.training_memory.plan import TrainingJob, TrainingPlan, plan_training

__all__ = ["TrainingJob", "TrainingPlan", "estimate_training_memory", "plan_training"]
