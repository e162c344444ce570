"""The evaluation set: cases, an independent oracle, scorers, the runner and its reports."""
