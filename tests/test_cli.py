"""The command line: what it prints and writes, odd tables, one-line errors, outputs that are never half."""

import gzip
import io
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import isocal
from isocal import store
from isocal.cli import main, tables


@pytest.fixture(scope="module")
def data():
    frame = isocal.datasets.simulate_scores(120, M=2, rng=3).assign(age=np.arange(120), w=np.arange(120) % 2 + 1.0)
    return frame.assign(label=np.where(frame["y"] == 1, "yes", "no"), flag=frame["y"] == 1)


@pytest.fixture(scope="module")
def files(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("files")
    data.to_csv(folder / "data.csv", index=False)
    data.to_csv(folder / "data.csv.gz", index=False)
    data.to_parquet(folder / "data.parquet")
    isocal.bernstein("y ~ ecdf(s1) + s2", data, K=2).fit().save(folder / "fit.json")
    return folder


@pytest.fixture
def run(capsys):
    """Run a command; returns (status, stdout, stderr)."""

    def call(*argv):
        status = main([str(a) for a in argv])
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def refused(run):
    """Run a command that must fail in one line; returns the line."""

    def call(*argv):
        status, out, err = run(*argv)
        last = err.splitlines()[-1]
        assert status == 2 and out == "" and last.startswith("isocal: error: ") and "Traceback" not in err
        assert all(line.startswith("isocal: ") for line in err.splitlines())
        return last

    return call


# fit


def test_fit_prints_the_summary_and_saves_the_same_fit(files, data, run, tmp_path):
    path = tmp_path / "fit.json"
    status, out, err = run("fit", files / "data.csv", "y ~ ecdf(s1) + s2", "--K", "3", "--save", path)
    res = isocal.bernstein("y ~ ecdf(s1) + s2", data, K=3).fit()
    assert (status, err) == (0, "") and out == f"{res.summary()}\n"
    assert isocal.load(path).predict(data).equals(res.predict(data))
    assert run("summary", path) == (0, out, "")


OPTIONS = [
    (["--K", "2,3"], {"K": (2, 3)}),
    (["--K", "s1=2,s2=1"], {"K": {"s1": 2, "s2": 1}}),
    (["--monotone", "decreasing"], {"monotone": "decreasing"}),
    (["--monotone", "s2=decreasing"], {"monotone": {"s2": "decreasing"}}),
    (["--monotone", "s1=none", "--monotone", "s2=decreasing"], {"monotone": {"s1": "none", "s2": "decreasing"}}),
    (["--option", "tie_break=1e-8", "--method", "Bernstein"], {"tie_break": 1e-8}),
    (["--weights", "w", "--subset", "age > 30"], {"weights": "w", "subset": "age > 30"}),
]


@pytest.mark.parametrize(("words", "options"), OPTIONS, ids=[" ".join(w) for w, _ in OPTIONS])
def test_options_are_those_of_the_formula_door(words, options, files, data, run):
    status, out, err = run("fit", files / "data.csv", "y ~ s1 + s2", *words)
    assert (status, err) == (0, "")
    assert out == f"{isocal.bernstein('y ~ s1 + s2', data, **options).fit().summary()}\n"


def test_a_rule_for_K(files, run):
    status, out, err = run("fit", files / "data.csv", "y ~ s1", "--K", "bic")
    assert (status, err) == (0, "") and "(by BIC)" in out


EVENTS = [("y", "0", "0"), ("y", "1.0", "1"), ("label", "no", "'no'"), ("flag", "true", "True"), ("flag", "0", "False")]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize(("column", "text", "shown"), EVENTS)
def test_the_event_is_read_as_the_type_of_its_column(column, text, shown, ending, files, run):
    status, out, _ = run("fit", files / f"data.{ending}", f"{column} ~ s1", "--event", text, "--K", "1")
    assert status == 0 and f"P({column} = {shown})" in out


def test_an_event_that_looks_like_a_number_in_a_column_of_text(run, tmp_path):
    (tmp_path / "t.csv").write_text("y,s\n1,.2\nx,.3\n1,.4\nx,.1\n")
    status, out, _ = run("fit", tmp_path / "t.csv", "y ~ s", "--event", "1", "--K", "1")
    assert status == 0 and "P(y = '1')" in out


@pytest.mark.skipif(not hasattr(isocal.Results, "plot"), reason="Results.plot is absent")
@pytest.mark.parametrize(("name", "start"), [("fit.png", b"\x89PNG"), ("fit.pdf", b"%PDF"), ("fit.SVG", b"<?xml")])
def test_a_picture(name, start, files, run, tmp_path):
    status, _, err = run("fit", files / "data.csv", "y ~ s1", "--K", "2", "--plot", tmp_path / name)
    assert (status, err) == (0, "") and (tmp_path / name).read_bytes().startswith(start)
    assert [p.name for p in tmp_path.iterdir()] == [name]


# predict


def test_predictions_stand_beside_the_text_of_the_input(files, run, tmp_path):
    text = 'id,s1,s2,date,note,\n007,0.10,.30,2020-01-01,"a, ""b""",x\n010,,.2,NA,,\n1e5,5,-3,,"two\nlines",\n'
    (tmp_path / "new.csv").write_text(text)
    status, out, _ = run("predict", files / "fit.json", tmp_path / "new.csv")
    new = pd.DataFrame({"s1": [0.1, np.nan, 5.0], "s2": [0.3, 0.2, -3.0]})
    p = isocal.load(files / "fit.json").predict(new).tolist()
    assert status == 0 and out == (
        "id,s1,s2,date,note,,predicted,extrapolated,supported\n"
        f'007,0.10,.30,2020-01-01,"a, ""b""",x,{p[0]!r},False,True\n'
        "010,,.2,NA,,,,False,False\n"
        f'1e5,5,-3,,"two\nlines",,{p[2]!r},True,True\n'
    )


@pytest.mark.parametrize("source", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("target", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("only", [False, True])
def test_every_kind_of_table_in_and_out(source, target, only, files, data, run, tmp_path):
    out = tmp_path / f"out.{target}"
    words = ["--only"] if only else []
    assert run("predict", files / "fit.json", files / f"data.{source}", "-o", out, *words) == (0, "", "")
    found = pd.read_parquet(out) if target == "parquet" else pd.read_csv(out)
    wanted = isocal.load(files / "fit.json").predict_frame(data)
    wanted = wanted if only else pd.concat([data, wanted], axis=1)
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False, check_exact=True)
    assert list(tmp_path.iterdir()) == [out]


def test_gzip_holds_no_clock(files, run, tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        run("predict", files / "fit.json", files / "data.csv", "-o", tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_parquet_keeps_types_and_index(files, data, run, tmp_path):
    odd = data.assign(n=pd.array([None, 2] * 60, dtype="Int64"), c=data["label"].astype("category"))
    odd.set_index("age").to_parquet(tmp_path / "in.parquet")
    assert run("predict", files / "fit.json", tmp_path / "in.parquet", "-o", tmp_path / "out.parquet")[0] == 0
    before, after = pd.read_parquet(tmp_path / "in.parquet"), pd.read_parquet(tmp_path / "out.parquet")
    assert after.index.name == "age" and after["n"].isna().sum() == 60 and after["n"].dropna().tolist() == [2] * 60
    assert after["s1"].tolist() == before["s1"].tolist() and list(after.columns[: before.shape[1]]) == list(before)
    _, out, _ = run("predict", files / "fit.json", tmp_path / "in.parquet")
    assert pd.read_csv(io.StringIO(out))["age"].tolist() == list(range(120))


def test_a_header_without_rows(files, run, refused, tmp_path):
    (tmp_path / "new.csv").write_text("s1,s2,y\n")
    status, out, _ = run("predict", files / "fit.json", tmp_path / "new.csv")
    assert (status, out) == (0, "s1,s2,y,predicted,extrapolated,supported\n")
    assert refused("fit", tmp_path / "new.csv", "y ~ s1").endswith("new.csv: has no rows")


# Odd tables


def table(folder, content):
    path = folder / "odd.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_byte_order_mark_line_ends_and_blank_lines(files, run, tmp_path):
    plain = run("predict", files / "fit.json", table(tmp_path, "s1,s2\n.1,.2\n.3,.4\n"))
    assert plain[0] == 0 and plain[1].startswith("s1,s2,predicted")
    marked = table(tmp_path, b"\xef\xbb\xbfs1,s2\r\n\r\n.1,.2\r\n   \r\n.3,.4\r\n\r\n")
    assert run("predict", files / "fit.json", marked) == plain


@pytest.mark.parametrize(("delimiter", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_another_delimiter_is_found_and_said(delimiter, word, files, run, tmp_path):
    path = table(tmp_path, "s1,s2,t\n.1,.2,a\n.3,.4,b\n".replace(",", delimiter))
    status, out, err = run("predict", files / "fit.json", path)
    assert status == 0 and err == f"isocal: note: {path}: read as columns separated by {word}\n"
    assert out.splitlines()[0].split(delimiter) == ["s1", "s2", "t", "predicted", "extrapolated", "supported"]


def test_decimal_commas(files, run, tmp_path):
    path = table(tmp_path, "s1;s2;y\n0,1;0,2;1\n0,3;1;0\n")
    status, out, err = run("predict", files / "fit.json", path, "--only")
    p = isocal.load(files / "fit.json").predict({"s1": [0.1, 0.3], "s2": [0.2, 1.0]})
    assert status == 0 and err.endswith("read with decimal commas\n")
    assert [float(line.split(";")[0].replace(",", ".")) for line in out.splitlines()[1:]] == p.tolist()


def test_a_hundred_thousand_columns(files, run, tmp_path):
    n = 100_000
    header = "y,s1,s2," + ",".join(f"x{i}" for i in range(n))
    rows = [f"{i % 2},{i / 20},{(7 * i % 20) / 20}" + ",1" * n for i in range(20)]
    path = table(tmp_path, "\n".join([header, *rows]) + "\n")
    status, out, err = run("fit", path, "y ~ s1 + s2", "--K", "1")
    assert (status, err) == (0, "") and "Rows:" in out
    status, out, err = run("predict", files / "fit.json", path)
    assert (status, err) == (0, "") and [len(line.split(",")) for line in out.splitlines()] == [n + 6] * 21


ODD = [
    ("", "the file is empty"),
    ("\n \n", "the file is empty"),
    ("é,s1,s2,y\n1,.2,.3,1\n".encode("latin-1"), "not UTF-8 text (byte 0xe9): save it as UTF-8 first"),
    ("s1,s2,y\n.1,.2,1\n".encode("utf-16"), "not UTF-8 text (byte 0xff): save it as UTF-8 first"),
    (b"s1,s2,y\n" + b".1,.2,1\n" * 50_000 + b"\xe9,1,1\n", "not UTF-8 text"),
    ("s1,s2,y\n.1,.2,1\n.3,.4,0,9\n", "Expected 3 fields in line 3, saw 4"),
    ("s1,s2,y\n.1,.2,1,\n.3,.4,0,\n", "the header names 3 columns, but the first row has 4 fields"),
    ("s1,s2,s1,y\n.1,.2,1,1\n", "2 columns are called 's1': rename one"),
    ("s1,s2,y\nabc,.2,1\n.3,.4,0\n", "column 's1' holds text such as 'abc'"),
    ('s1,s2,y\n".1,.2,1\n.3,.4,0\n', "EOF inside string"),
    ("s1;y\n.1;1\n", "'s2' is not a column"),
    ("S1,s2,y\n.1,.2,1\n", "'s1' is not a column of data: did you mean 'S1'"),
]


@pytest.mark.parametrize(("content", "reason"), ODD, ids=range(len(ODD)))
def test_odd_tables_are_refused_in_one_line(content, reason, files, refused, tmp_path):
    path = table(tmp_path, content)
    assert reason in refused("predict", files / "fit.json", path)
    assert reason in refused("fit", path, "y ~ s1 + s2")


def test_files_that_are_no_tables(files, refused, tmp_path):
    assert "there is no such file" in refused("fit", tmp_path / "absent.csv", "y ~ s1")
    assert "must end in .csv, .csv.gz or .parquet" in refused("fit", files / "fit.json", "y ~ s1")
    (tmp_path / "d.csv").mkdir()
    assert "a folder, not a file" in refused("fit", tmp_path / "d.csv", "y ~ s1")
    (tmp_path / "x.parquet").write_text("x")
    assert "no Parquet file" in refused("fit", tmp_path / "x.parquet", "y ~ s1")
    (tmp_path / "x.csv.gz").write_text("x")
    assert "Not a gzipped file" in refused("fit", tmp_path / "x.csv.gz", "y ~ s1")
    (tmp_path / "y.csv.gz").write_bytes(gzip.compress(b"s1,y\n" + b".1,1\n" * 1000)[:-20])
    assert "cannot be read" in refused("fit", tmp_path / "y.csv.gz", "y ~ s1")


# Errors

WRONG = [
    (["--K", "banana"], "K must be an integer of at least 1"),
    (["--K", "0"], "K must be an integer of at least 1"),
    (["--K", "5,5,5"], "K has 3 entries for 2 scores"),
    (["--method", "banana"], "there is no method 'banana': the methods are "),
    (["--option", "L=3"], "Bernstein has no option 'L'"),
    (["--option", "L"], "--option takes NAME=VALUE; got 'L'"),
    (["--monotone", "up"], "monotone is 'increasing', 'decreasing' or 'none'"),
    (["--monotone", "z=none"], "'z' is not a score of this formula"),
    (["--weights", "v"], "weights 'v': 'v' is not a column of data"),
    (["--subset", "age >"], "age >"),
    (["--subset", "nosuch > 3"], "'nosuch' is not a column"),
    (["--event", "maybe"], "event='maybe' is not a value of 'y': its values are 0, 1"),
    (["--save", "absent/fit.json"], "the folder 'absent' does not exist"),
    (["--plot", "fit.banana"], "a picture ends in one of "),
    (["--frobnicate"], "unrecognized arguments: --frobnicate (see isocal --help)"),
    (["--K"], "argument --K: expected one argument (see isocal fit --help)"),
]


@pytest.mark.parametrize(("words", "reason"), WRONG, ids=[" ".join(w) for w, _ in WRONG])
def test_wrong_options_are_one_line(words, reason, files, refused):
    assert reason in refused("fit", files / "data.csv", "y ~ s1 + s2", *words)


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("y ~ s1 + s3", "term 's3': 's3' is not a column of data: did you mean 's2' or 's1'?"),
        ("z ~ s1", "response: 'z' is not a column"),
        ("y ~", "formula 'y ~' "),
        ("y ~ s1 * s2", "interaction"),
        ("y ~ np.sqrt(s1)", "term 'np.sqrt(s1)' is an expression: the command line takes columns and ecdf()"),
        ("y ~ __import__('os').system('touch trap')", "expression|holds no column"),
        ("label ~ s1", "say which one is the event"),
    ],
)
def test_wrong_formulas_are_one_line(formula, reason, files, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = refused("fit", files / "data.csv", formula)
    assert any(part in line for part in reason.split("|")) and list(tmp_path.iterdir()) == []


def test_wrong_commands_are_one_line(files, refused, tmp_path):
    assert "required: {fit,predict,summary,check}" in refused()
    assert "invalid choice: 'frobnicate'" in refused("frobnicate")
    assert "required: fit, data" in refused("predict")
    assert "not a fit that isocal saved" in refused("summary", files / "data.csv")
    assert "there is no such file" in refused("summary", tmp_path / "absent.json")
    assert "'s1' is not a column" in refused("predict", files / "fit.json", table(tmp_path, "a,b\n1,2\n"))
    (tmp_path / "again.csv").write_text("s1,s2,predicted\n.1,.2,.3\n")
    assert "has a column 'predicted' already" in refused("predict", files / "fit.json", tmp_path / "again.csv")
    assert "must end in .csv" in refused("predict", files / "fit.json", files / "data.csv", "-o", tmp_path / "x.txt")


def test_what_nobody_foresaw_is_one_line_too(files, refused, monkeypatch):
    def fail(self):
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr(isocal.Model, "fit", fail)
    assert "unforeseen, please report it: ZeroDivisionError: two lines" in refused("fit", files / "data.csv", "y ~ s1")


def test_warnings_are_one_line(files, run, monkeypatch):
    fitted = isocal.Model.fit

    def warn(self):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("take\ncare", stacklevel=1)
        return fitted(self)

    monkeypatch.setattr(isocal.Model, "fit", warn)
    status, _, err = run("fit", files / "data.csv", "y ~ s1")
    assert (status, err) == (0, "isocal: warning: take care\n")


# Outputs are whole or as they were


def test_existing_outputs_are_left_and_nothing_is_fitted(files, refused, run, tmp_path, monkeypatch):
    path = tmp_path / "fit.json"
    path.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(isocal.Model, "__init__", lambda *a: pytest.fail("fitted all the same"))
        patch.setattr(tables, "open_table", lambda *a: pytest.fail("read all the same"))
        for option in ("--save", "--plot"):
            line = refused("fit", files / "data.csv", "y ~ s1", option, path)
            assert "exists already and is left as it is (--force replaces it)" in line
        (tmp_path / "out.csv").write_text("old")
        line = refused("predict", files / "fit.json", files / "data.csv", "-o", tmp_path / "out.csv")
        assert "(--force replaces it)" in line
    assert path.read_text() == "old"
    assert run("fit", files / "data.csv", "y ~ s1", "--save", path, "--force")[0] == 0
    assert isocal.load(path).formula == "y ~ s1"
    assert run("predict", path, files / "data.csv", "-o", tmp_path / "out.csv", "--force") == (0, "", "")


def test_the_data_are_never_replaced_by_the_fit(data, refused, tmp_path):
    path = tmp_path / "data.csv"
    data.to_csv(path, index=False)
    before = path.read_bytes()
    assert "the data themselves" in refused("fit", path, "y ~ s1", "--save", path, "--force")
    assert path.read_bytes() == before


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_an_interrupted_output_leaves_the_old_file_and_nothing_else(ending, files, run, tmp_path, monkeypatch):
    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(store.os, "replace", stop)
    out = tmp_path / f"out.{ending}"
    out.write_text("old")
    status, printed, err = run("predict", files / "fit.json", files / "data.csv", "-o", out, "--force")
    assert (status, printed, err) == (130, "", "isocal: error: interrupted\n")
    assert out.read_text() == "old" and list(tmp_path.iterdir()) == [out]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_killed_in_mid_write_the_old_file_is_whole(files, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")
    code = (
        "import os, signal, sys, isocal.store; from isocal.cli import main\n"
        "isocal.store.os.fsync = lambda *a: os.kill(os.getpid(), signal.SIGKILL)\nmain(sys.argv[1:])"
    )
    argv = ["predict", str(files / "fit.json"), str(files / "data.csv"), "-o", str(out), "--force"]
    done = subprocess.run([sys.executable, "-c", code, *argv], check=False)
    assert done.returncode == -signal.SIGKILL and out.read_text() == "old"


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_as_a_module_with_a_reader_that_goes_away(files):
    command = f"{sys.executable} -m isocal predict {files / 'fit.json'} {files / 'data.csv'} | head -c 3"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) in ((141, "s1,", ""), (0, "s1,", ""))


def test_help_and_version(capsys):
    for words in (["--help"], ["fit", "--help"], ["predict", "--help"], ["--version"]):
        with pytest.raises(SystemExit) as done:
            main(words)
        assert done.value.code == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"isocal {isocal.__version__}"
