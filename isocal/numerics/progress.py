"""A progress bar around a loop that may be interrupted."""

import importlib.util


def counted(n, what, progress=True):
    """Yields 0, ..., n - 1 under a bar that appears after half a second; progress=False shows none."""
    if not progress:
        yield from range(n)
        return
    if importlib.util.find_spec("ipywidgets"):
        from tqdm.auto import tqdm
    else:
        from tqdm import tqdm
    yield from tqdm(range(n), desc=what, delay=0.5, leave=False)


def collected(n, what, draw, least=20, progress=True):
    """Calls draw(i) for i < n; returns how many were made: fewer than n if interrupted after at least `least`."""
    done = 0
    try:
        for i in counted(n, what, progress):
            draw(i)
            done += 1
    except KeyboardInterrupt:
        if done < least:
            raise
    return done
