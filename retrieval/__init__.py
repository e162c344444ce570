"""Text to ranked excerpts: chunks, embeddings, the Chroma collection, keyword ranking, fused search."""
