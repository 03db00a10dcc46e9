"""Gradient boosting in function space."""
