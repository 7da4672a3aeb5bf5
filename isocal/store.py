"""Plain dicts to versioned JSON files and back. Knows plain Python types only, and runs nothing that it reads.

The text is strict JSON. What JSON lacks is an object with one marked key: {"$float": "nan", "inf" or "-inf"},
{"$tuple": [...]}, {"$dict": [[key, value], ...]} where a key is no text or begins with "$".
"""

import json
import math
import os
import secrets
import shutil
import stat
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

SCHEMA = 1  # one more with every change of what stands in a file; tests/reference/fits keeps a file of each
PARTS = {"recipe": dict, "curve": dict, "terms": dict, "response": dict, "facts": dict, "cross_validated": dict}
MOST_BYTES = 128 * 2**20
MOST_CHARACTERS = 64  # of one number; float64 needs at most 24
INTEGERS = 2**63
FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def write_fit(path, parts, version, overwrite=True):
    """Write the parts of a fit, plain types, under the schema number and the version of isocal."""
    document = {"format": "isocal fit", "schema": SCHEMA, "isocal": version, **parts}
    lines = [f"{json.dumps(k)}: {json.dumps(encode(v, k), allow_nan=False)}" for k, v in document.items()]
    text = ("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii")
    if len(text) > MOST_BYTES:
        raise ValueError(f"{path}: the fit takes {len(text):,} bytes, and files of at most {MOST_BYTES:,} are read")
    with written_beside(path, overwrite) as file:
        file.write(text)


def read_fit(path, version):
    """The parts of a fit; a file that is not one, a newer schema or a broken text is a ValueError with the reason."""
    document = _parse(path, _text(path))
    if not isinstance(document, dict) or document.get("format") != "isocal fit":
        raise ValueError(f"{path}: not a fit that isocal saved")
    schema, writer = document.get("schema"), document.get("isocal")
    if type(schema) is not int or schema < 1:
        raise ValueError(f"{path}: schema must be a number from 1 to {SCHEMA}; got {short(schema)}")
    if schema > SCHEMA:
        raise ValueError(
            f"{path}: schema {schema} of isocal {short(writer)} is newer than schema {SCHEMA}, the last that isocal "
            f"{version} reads: upgrade isocal"
        )
    for name, kind in {"isocal": str, **PARTS}.items():
        if not isinstance(document.get(name), kind):
            found = f"got {short(document[name])}" if name in document else "it is missing"
            raise ValueError(f"{path}: {name!r} must be {'text' if kind is str else 'an object'}; {found}")
    return {name: document[name] for name in PARTS}


def encode(value, where="value"):
    """A value in JSON types, with NaN, infinities, tuples and odd keys marked; other types are errors."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        if not -INTEGERS <= value < INTEGERS:
            raise ValueError(f"{where} holds an integer beyond 64 bits")
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(float(value))}
    if isinstance(value, list):
        kinds = set(map(type, value))
        if kinds <= {str, bool} or (kinds == {float} and all(map(math.isfinite, value))):
            return value
        return [encode(v, f"{where}[{i}]") for i, v in enumerate(value)]
    if isinstance(value, tuple):
        return {"$tuple": encode(list(value), where)}
    if isinstance(value, dict):
        if all(isinstance(k, str) and not k.startswith("$") for k in value):
            return {k: encode(v, f"{where}.{k}") for k, v in value.items()}
        return {"$dict": [[encode(k, where), encode(v, f"{where}.{k}")] for k, v in value.items()]}
    raise ValueError(f"{where} holds a {type(value).__name__}, which cannot be written to JSON: use plain Python types")


def _decoded(pairs):
    """One JSON object with its marks undone; its parts are decoded already."""
    found = dict(pairs)
    if len(found) != len(pairs):
        seen = set()
        twice = next(k for k, _ in pairs if k in seen or seen.add(k))
        raise ValueError(f"the key {short(twice)} stands twice in one object")
    mark = next((k for k in found if k.startswith("$")), None)
    if mark is None:
        return found
    value = found[mark]
    if len(found) == 1 and mark == "$float" and isinstance(value, str) and value in FLOATS:
        return FLOATS[value]
    if len(found) == 1 and mark == "$tuple" and isinstance(value, list):
        return tuple(value)
    if len(found) == 1 and mark == "$dict" and isinstance(value, list):
        with suppress(TypeError, ValueError):
            return dict(value)
    raise ValueError(f"the mark {short(mark)} is not understood")


def _text(path):
    """The text of a regular file of bearable size."""
    path = Path(path).expanduser()
    try:
        kind = path.stat()
        if stat.S_ISDIR(kind.st_mode):
            raise IsADirectoryError(f"{path}: a folder, not a file")
        if not stat.S_ISREG(kind.st_mode):
            raise ValueError(f"{path}: not a regular file")
        if kind.st_size > MOST_BYTES:
            raise ValueError(f"{path}: {kind.st_size:,} bytes; files of at most {MOST_BYTES:,} are read")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a fit that isocal saved (no UTF-8 text)") from None
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no such file") from None
    except OSError as error:
        raise _explained(error, path, "read") from None


def _parse(path, text):
    if not text.strip():
        raise ValueError(f"{path}: the file is empty")
    if not text.lstrip().startswith("{"):
        raise ValueError(f"{path}: not a fit that isocal saved")
    try:
        return json.loads(
            text, object_pairs_hook=_decoded, parse_float=_float, parse_int=_int, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"{path}: not whole JSON text, truncated or corrupted: {error.msg} ({where})") from None
    except RecursionError:
        raise ValueError(f"{path}: objects are nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _float(text):
    _refuse_long(text)
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text} is beyond float64")
    return value


def _int(text):
    _refuse_long(text)
    if not -INTEGERS <= int(text) < INTEGERS:
        raise ValueError(f"the integer {short(text)} is beyond 64 bits")
    return int(text)


def _refuse_long(text):
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"a number of {len(text):,} characters, {text[:12]}...; at most {MOST_CHARACTERS} are read")


def _constant(text):
    raise ValueError(f"{text} is not JSON: isocal writes it as {{'$float': ...}}")


def short(value):
    """A value as text for an error message, one line of bounded length."""
    if isinstance(value, dict | list | tuple):
        return f"a {type(value).__name__} of {len(value):,}"
    text = repr(value[:60] if isinstance(value, str) else value)
    return text if len(text) <= 70 else f"{text[:60]}..."


def target(path, overwrite=True):
    """The place to write to, after links; raises what stands in the way."""
    path = Path(path).expanduser()
    real = Path(os.path.realpath(path))
    try:
        mode = os.stat(real).st_mode
    except FileNotFoundError:
        mode = None
    except OSError as error:
        raise _explained(error, path, "written") from None
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path}: a folder; give the name of a file in it")
    if mode is not None and not stat.S_ISREG(mode):
        raise ValueError(f"{path}: not a regular file, which is never replaced")
    if not real.parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder {str(path.parent)!r} does not exist; make it first")
    if mode is not None and not overwrite:
        raise FileExistsError(f"{path}: exists already and is left as it is")
    if not os.access(real.parent, os.W_OK):
        raise PermissionError(f"{path}: the folder {str(path.parent)!r} cannot be written to")
    return real


@contextmanager
def written_beside(path, overwrite=True):
    """A binary file that becomes `path` in one step when the block ends; until then path stays as it is."""
    real = target(path, overwrite)
    temporary = real.with_name(f".isocal-{secrets.token_hex(6)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if real.exists():
            shutil.copymode(real, temporary)
        os.replace(temporary, real)
    except OSError as error:
        if error.filename is not None and os.fspath(error.filename) not in (str(temporary), str(real)):
            raise  # about another file
        raise _explained(error, path, "written") from None
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def _explained(error, path, done):
    """The same kind of OSError with the file's name and one plain sentence."""
    if error.errno is None:
        return error
    return type(error)(f"{path}: cannot be {done}: {error.strerror}")
