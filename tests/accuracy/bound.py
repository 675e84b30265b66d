# SPDX-License-Identifier: Apache-2.0
"""How sure a counted rate is (Wilson, 95 %), and how well a sampler of n samples can match known shares."""
import math

Z = 1.96


def wilson(hits, n):
    """(lower, upper) bound of a rate in percent."""
    if n == 0:
        return 0.0, 100.0
    p = hits / n
    middle = p + Z * Z / (2 * n)
    spread = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return (100 * max(0.0, (middle - spread) / (1 + Z * Z / n)),
            100 * min(1.0, (middle + spread) / (1 + Z * Z / n)))


def overlap(found, true):
    """Sum of the smaller of both shares, in percent; both are dicts of anything summable."""
    n, total = sum(found.values()), sum(true.values())
    if not n or not total:
        return 0.0
    return 100 * sum(min(found.get(k, 0) / n, true[k] / total) for k in true)


def expected_overlap(true, n):
    """What a perfect sampler gets on average, less three standard deviations of it (a safe side of both)."""
    total = sum(true.values()) or 1
    error = [math.sqrt(p * (1 - p) / n) for p in (v / total for v in true.values())]
    mean = sum(e * math.sqrt(2 / math.pi) for e in error) / 2
    return 100 * (1 - mean - 3 * math.sqrt(sum(e * e for e in error)) / 2)
