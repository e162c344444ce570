"""The requests and reports that pass between rooms; embedders and batch files rely on these names."""
