"""The files around the package: checksums, dependencies, and set-up on a machine that lacks something."""

import configparser
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from isocal import versions

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def setup_cfg():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def lines(text):
    """The non-empty lines of a setup.cfg value."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def test_checksums_in_data_readme_are_those_of_the_files():
    readme = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    stated = dict((name, digest) for digest, name in re.findall(r"sha256 ([0-9a-f]{64})  (\S+)", readme))
    assert set(stated) == {path.name for path in (ROOT / "data").glob("*.csv")}
    for name, digest in stated.items():
        assert hashlib.sha256((ROOT / "data" / name).read_bytes()).hexdigest() == digest


def test_every_core_dependency_has_a_lower_bound(setup_cfg):
    requirements = [Requirement(line) for line in lines(setup_cfg["options"]["install_requires"])]
    for requirement in requirements:
        assert any(part.operator == ">=" for part in requirement.specifier), str(requirement)
    assert tuple(requirement.name for requirement in requirements) == versions.CORE


def test_extras(setup_cfg):
    assert {"test", "bench", "sklearn", "dask", "docs"} <= set(setup_cfg["options.extras_require"])


def test_pyproject_names_the_build_backend_and_nothing_else():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    assert [line.split(" = ")[0] for line in text] == ["[build-system]", "requires", "build-backend"]


def test_wheel_carries_the_data_and_their_readme(setup_cfg):
    carried = lines(setup_cfg["options.data_files"]["share/isocal/data"])
    tables = {f"data/{path.name}" for path in (ROOT / "data").glob("*.csv")}
    assert set(carried) == {"data/README.md"} | tables


def test_show_versions(capsys):
    versions.show_versions()
    printed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if line)
    assert printed["Python"] == sys.version.split()[0]
    assert {"system", "isocal", *versions.CORE} <= set(printed)
    assert printed["numpy"] == sys.modules["numpy"].__version__


def fake_python(folder, version_check, venv):
    """A python3 whose version check and whose venv module end with the given exit statuses."""
    path = folder / "bin" / "python3"
    path.parent.mkdir()
    path.write_text(
        "#!/bin/sh\n"
        f'case "$1" in -c) exit {version_check};; --version) echo Python 3.9.2;;\n'
        f'-m) mkdir -p "$4/bin"; exit {venv};; esac\n'
    )
    path.chmod(0o755)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("version_check", "venv", "message"),
    [
        (1, 0, r"needs Python 3\.10 or later; python3 is Python 3\.9\.2(.|\n)*apt-get install python3"),
        (0, 1, r"comes without a working venv module(.|\n)*sudo apt-get install python3-venv"),
    ],
    ids=["old Python", "no venv"],
)
@pytest.mark.parametrize("target", ["demo", "test"])
def test_set_up_that_cannot_work_says_what_to_install(target, version_check, venv, message, tmp_path):
    for name in ("Makefile", "setup.cfg", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    fake_python(tmp_path, version_check, venv)
    # Under `make test` the outer make hands its own settings down; they are not this machine's.
    env = {key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MAKELEVEL", "PYTHON"}}
    env["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{env['PATH']}"
    made = subprocess.run(["make", target], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert made.returncode != 0
    assert re.search(message, made.stderr), made.stderr
    assert not (tmp_path / ".venv").exists()
