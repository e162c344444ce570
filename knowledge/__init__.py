"""Facts and their types: GPUs, instance types, prices, models, precisions, guides."""
