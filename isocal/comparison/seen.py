"""How many of the rows judged has a fit been trained on?"""

import numpy as np

SURE = 5.0  # standard deviations by which matches must exceed those of new rows from the same source


def seen_share(own, judged):
    """Share of judged rows that are rows of the fit, from hashes of label and scores; 0.0 unless beyond doubt.

    New rows of discrete scores match rows of the fit by chance. The share of new rows that would is 1 - n1/n, n1 of
    the n rows of the fit occurring once (Good 1953, doi:10.1093/biomet/40.3-4.237): nearly 0 for continuous scores,
    1 where every row repeats. Then only rows that are exactly those of the fit are known.
    """
    if len(own) == len(judged) and np.array_equal(np.sort(own), np.sort(judged)):
        return 1.0
    distinct, counts = np.unique(own, return_counts=True)
    at = np.searchsorted(distinct, judged)
    found = float(np.mean(distinct[np.minimum(at, len(distinct) - 1)] == judged))
    chance = 1 - np.count_nonzero(counts == 1) / len(own)
    spread = SURE * np.sqrt(chance * (1 - chance) * (1 / len(judged) + 1 / len(own)))
    if chance == 1 or found <= chance + spread + 0.01:
        return 0.0
    return (found - chance) / (1 - chance)
