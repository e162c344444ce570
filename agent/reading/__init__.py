"""Text to intent and slots, in English and Chinese, over a whole conversation."""
