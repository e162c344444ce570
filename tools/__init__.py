"""Calculators: pure functions from frozen requests to frozen reports, and their doors."""
