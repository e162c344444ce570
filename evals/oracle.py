"""An independent judge of recommendations: catalog facts and lower bounds only, nothing from `tools`."""
