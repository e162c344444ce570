"""Bots: one small interface, and an adapter for each platform."""
