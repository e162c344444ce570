"""Speed of models that are not text decoders: images, video, speech, embeddings, reranking, vision."""

from tools.other_speed.estimate import estimate_other_speed

__all__ = ["estimate_other_speed"]
