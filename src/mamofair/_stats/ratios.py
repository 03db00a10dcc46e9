"""Certificates for ratios: an upper limit on how far one group's rate falls short of another's."""

from math import inf, log

from scipy.special import betaincinv

from mamofair._stats.certificates import Sample

__all__ = ["log_ratio_limit", "ratio_lower_limit", "ratio_upper_limit"]


def ratio_upper_limit(a: Sample, b: Sample, delta: float) -> float:
    """Return U with P(1 − r_b/r_a > U) ≤ δ, for any number of rows: negative if r_b is sure to be larger.

    1 − l_b/u_a, with the exact limits of either rate (Clopper and Pearson 1934) at δ/2: it is too small only if one of
    them is wrong. It also takes effective numbers of rows, and is then approximate.

    >>> round(ratio_upper_limit((400, 2000), (380, 2000), 0.05), 3)
    0.207
    """
    (x, n), (y, m) = a, b
    high = 1.0 if x >= n else float(betaincinv(x + 1, n - x, 1 - delta / 2))
    low = 0.0 if y <= 0 else float(betaincinv(y, m - y + 1, delta / 2))
    return 1 - low / high


def ratio_lower_limit(a: Sample, b: Sample, delta: float) -> float:
    """Return L with P(1 − r_b/r_a < L) ≤ δ, from the upper limit of 1 − r_a/r_b.

    >>> round(ratio_lower_limit((400, 2000), (100, 2000), 0.05), 3)
    0.669
    """
    upper = ratio_upper_limit(b, a, delta)
    return -upper / (1 - upper) if upper < 1 else -inf


def log_ratio_limit(a: Sample, b: Sample, delta: float) -> float:
    """Return an upper limit on log(r_a/r_b) at level δ: on this scale a ratio and its inverse differ in sign only."""
    upper = ratio_upper_limit(a, b, delta)
    return -log(1 - upper) if upper < 1 else inf
