"""Memory of models that are not text decoders: diffusion, video, speech, encoders, vision."""

from tools.other_memory.estimate import estimate_other_memory

__all__ = ["estimate_other_memory"]
