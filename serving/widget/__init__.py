"""The chat bubble for any web page: script, frame, visits."""
