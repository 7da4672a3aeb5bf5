"""Which versions are at work here: what a bug report needs."""

import importlib.metadata
import platform

__all__ = ["show_versions"]

CORE = (
    "numpy",
    "scipy",
    "pandas",
    "patsy",
    "statsmodels",
    "cvxopt",
    "matplotlib",
    "narwhals",
    "joblib",
    "tqdm",
)
OPTIONAL = (
    "scikit-learn",
    "polars",
    "pyarrow",
    "dask",
    "distributed",
    "datasketches",
    "ipywidgets",
    "cvxpy",
    "clarabel",
    "lightgbm",
    "probcal",
)


def show_versions():
    """Print the versions of Python, the system, isocal and what it needs or can use.

    Optional packages are listed if installed. Reads package metadata and imports nothing.

    Examples
    --------
    >>> import isocal.versions
    >>> isocal.versions.show_versions()
    Python        3...
    system        ...
    isocal        ...
    <BLANKLINE>
    numpy         ...
    """
    rows = [("Python", platform.python_version()), ("system", platform.platform())]
    rows += [("isocal", _version("isocal")), ("", "")]
    rows += [(name, _version(name)) for name in CORE]
    found = [(name, _version(name)) for name in OPTIONAL]
    found = [(name, version) for name, version in found if version != "not installed"]
    rows += [("", ""), *found] if found else []
    print("\n".join(f"{name:<14}{version}".rstrip() for name, version in rows))


def _version(name):
    """Version of an installed distribution."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
