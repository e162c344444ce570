"""Facts newer than the shipped ones: asked of the official interfaces or imported, kept in an overlay."""
