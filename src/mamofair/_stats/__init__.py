"""Finite-sample statistics: intervals of rates and gaps, and certificates that a gap is within a limit."""

__all__ = ["certificates", "intervals", "simultaneous"]
