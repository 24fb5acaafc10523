"""What people read of a decomposition: plots, rows explained, tables, cards, periods."""

import math
import re
import subprocess

import pytest

import pho
import pho._command
from pho import _links

pandas = pytest.importorskip("pandas")
numpy = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def made(demo):
    return pho.load(demo / "ssn")


@pytest.fixture(scope="module")
def frame(demo):
    return pandas.read_csv(demo / "data.csv")


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """Predictions of a count, on its mean, by a factor and a column."""
    random = numpy.random.default_rng(5)
    rows = pandas.DataFrame({"x": random.uniform(-2, 2, 600), "g": random.choice(["a", "b", "c_d"], 600)})
    rate = numpy.exp(0.5 + numpy.sin(rows.x) + 0.3 * (rows.g == "b"))
    y = random.poisson(rate)
    return pho.decompose(rate.to_numpy(), rows, "~ s(x, k=8) + g", response=y, link="log", family="poisson"), rows


@pytest.fixture
def plt():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_one_term_by_its_name_its_sum_or_its_column(made, plt):
    effects = made.effects
    for name in ("x2 + s(x2)", "x2"):
        ax = made.plot("x2 + s(x2)") if name != "x2" else made.plot(name)
        drawn = ax.lines[-1].get_ydata()
        own = effects[(effects["term"] == name) & (effects["stage"] == "after")]["value"]
        assert numpy.allclose(drawn, own), name
        assert len(ax.figure.axes) == 1  # a figure of its own, whatever was drawn before
        assert ax.lines[0].get_marker() == "|"  # where the rows are
    with pytest.raises(pho.UsageError, match="there is no term or column 'x77'"):
        made.plot("x77")


def test_a_column_stands_for_its_sum(counted, plt):
    d, _ = counted
    assert d.plot("x").get_title() == "s(x)"


def test_all_terms_are_one_panel_each_and_sums_stand_for_their_terms(made, plt):
    figure = made.plot()
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == [f"x{i} + s(x{i})" for i in range(10)]
    with pytest.raises(pho.UsageError, match="ax= is for one term"):
        made.plot(ax=plt.gca())


def test_the_scale_of_the_response(counted, plt):
    d, _ = counted
    link = d.plot("s(x)", before=False).lines[-1].get_ydata()
    ax = d.plot("s(x)", scale="response")
    intercept = d.predictor()["intercept"]
    assert numpy.allclose(ax.lines[-1].get_ydata(), numpy.exp(intercept + link))
    assert "all else at its mean" in ax.get_ylabel()
    with pytest.raises(pho.UsageError, match="scale='log'"):
        d.plot("s(x)", scale="log")


def test_links_are_those_of_the_program():
    """The same inverses: the reference is each link's definition at points apart from their formulas in the package."""
    definitions = {
        "identity": lambda m: m,
        "log": math.log,
        "logit": lambda m: math.log(m / (1 - m)),
        "cloglog": lambda m: math.log(-math.log(1 - m)),
        "softplus": lambda m: math.log(math.exp(m) - 1),
        "log hazard ratio": math.log,
    }
    for name, forward in definitions.items():
        for m in (0.01, 0.3, 0.9):
            assert _links.inverse({"name": name})(forward(m)) == pytest.approx(m, rel=1e-12), name
    shifted = _links.inverse({"name": "softplus", "shift": 0.1, "beta": 2.0})
    assert shifted(0.7) == pytest.approx(0.1 + math.log(1 + math.exp(1.4)) / 2, rel=1e-12)
    assert _links.inverse({"name": "multinomial logit"}) is None and _links.inverse(None) is None
    assert _links.inverse({"name": "log"})(1e5) < math.inf


def test_terms_known_only_in_sum_say_so(plt):
    rows = pandas.DataFrame({"a": ["x", "x", "y", "z"] * 60, "n": numpy.arange(240) % 7})
    rows["twice"] = rows.a.map({"x": 1.0, "y": 2.0, "z": 5.0})
    d = pho.decompose(rows.n + 3.0 * rows.twice, rows, "~ a + twice + n")
    titles = [" ".join(ax.get_title().split()) for ax in d.plot().axes]
    assert titles == ["a known only in sum with twice", "twice known only in sum with a", "n"]


def test_a_title(counted):
    d, _ = counted
    assert "<h1>How many came</h1>" in d.report(title="How many came").html()
    assert "<h1>How many came</h1>" in d.report().html()
    assert "<h1>y, as the model predicts it</h1>" in d.report(title="").html()


def test_levels_are_drawn_from_above(counted, plt):
    d, _ = counted
    ax = d.plot("g")
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b", "c_d"]
    assert ax.yaxis_inverted()


def test_members_are_drawn(demo, frame, plt):
    d = pho.decompose([str(demo / "ssn.onnx"), str(demo / "nam.onnx")], frame.drop(columns="y"), "~ s(x1) + s(x2)", no_structure=True)
    without = len(d.plot("s(x1)").lines)
    assert len(d.plot("s(x1)", members=True).lines) == without + 2


def test_parts_of_rows_sum_to_the_output(made, frame, plt):
    for e in (made.explain(16), made.explain(frame.iloc[[16]]), made.explain(frame.iloc[16]), made.explain(dict(frame.iloc[16]))):
        parts = e.parts()
        assert parts[0][0] == "intercept" and parts[-1][0] == "unstructured"
        assert sum(v for _, v in parts) == pytest.approx(made.contributions["eta"][16], rel=1e-9)
        assert "x3 + s(x3)" in str(e)
    several = made.explain(frame.head(3))
    table = several.to_frame()
    assert sorted(set(table["row"])) == [0, 1, 2]
    sums = table.groupby("row")["contribution"].sum()
    assert numpy.allclose(sums, made.contributions["eta"][:3])
    with pytest.raises(pho.UsageError, match="explanation is of 3 rows"):
        several.parts(3)
    with pytest.raises(pho.UsageError, match="counted from 0"):
        made.explain(-1)
    ax = several.plot(1, most=4)
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert len(names) == 6 and names[4] == "7 more" and names[5].startswith("prediction = ")
    assert ax.lines[-1].get_xdata()[0] == pytest.approx(made.contributions["eta"][1])


def test_explanations_of_predictions(counted, plt):
    d, rows = counted
    with pytest.raises(pho.UsageError):
        d.explain(rows.head(1))  # what the model predicts of them is not known
    e = d.explain(3)
    assert len(e.parts()) == 4
    mean = e.document["rows"][0]["response"][0]
    assert e.plot().get_title() == f"{mean['name']}: {mean['value']:.3g}"


def test_tables_are_those_of_the_summary(counted):
    d, _ = counted
    said = d.summary()
    coefficients = d.coefficients
    assert list(coefficients["name"]) == ["(Intercept)", "gb", "gc_d"]
    assert (coefficients["lower"] < coefficients["estimate"]).all()
    for name, estimate in zip(coefficients["name"], coefficients["estimate"]):
        shown = float(re.search(re.escape(name) + r"\s+(-?[\d.]+)", said).group(1))
        assert shown == pytest.approx(estimate, abs=1e-3)
    table = d.to_frame()
    assert list(table["term"]) == ["s(x)", "g"]
    assert table["share"].sum() == pytest.approx(d.predictor()["variance"]["structured"] / d.predictor()["variance"]["total"], abs=0.02)


def test_latex_html_and_card(counted, made):
    d, _ = counted
    latex = d.to_latex()
    assert latex.count(r"\toprule") == 2 and r"gc\_d &" in latex
    assert " & ".join(["Term", "edf", "Share of variance", "sd (logarithms)", "Verdict"]) in latex
    assert all(line.count(" & ") == 4 for line in latex.splitlines() if line.endswith(r"\\"))
    html = d.summary(html=True)
    assert html._repr_html_() == html and "<td>gc_d</td>" in html
    card = d.card()
    assert card.startswith("## What the model has learned") and r"gc\_d" in card and "Explained by terms" in card
    assert made.card().count("| x2 + s(x2) |") == 1
    assert "only the sum is determined" in made.card() and "only the sum" not in card


def test_names_cannot_break_tables(tmp_path):
    rows = pandas.DataFrame({"<b>x|y</b> 50%": numpy.linspace(0, 1, 80)})
    d = pho.decompose(rows.iloc[:, 0].to_numpy() ** 2, rows, "~ .")
    assert "<b>" not in d.summary(html=True) and "&lt;b&gt;" in d.summary(html=True)
    assert r"\%" in d.to_latex() and r"50%" not in d.to_latex().replace(r"\%", "")
    assert r"\<b\>x\|y" in d.card()


def test_periods(made, frame, tmp_path):
    state = tmp_path / "drift.json"
    pho.monitor(made, frame.head(2000), state=state, period="a")
    moved = frame.tail(2000).assign(x4=lambda f: f.x4 + 1)
    found = pho.monitor(made, moved, state=state, period="b")
    table = found.changes
    drifted = set(table[table["drift"]]["part"])
    assert "s(x4)" in drifted and "s(x2)" not in drifted
    assert "b against a" in found.summary() and "<html" in found.report().html()[:300]
    assert list(pho.monitor(None, state=state).changes["period"]) == list(table["period"])
    with pytest.raises(pho.UsageError, match="a decomposition and rows, or neither"):
        pho.monitor(made, state=state)
    with pytest.raises(pho.Error):
        pho.monitor(None, state=tmp_path / "none.json")
    with pytest.raises(pho.UsageError, match="state= is missing"):
        pho.monitor(None)
    both = pandas.concat([frame.head(2000).assign(of="a"), moved.assign(of="b")])
    assert pho.monitor(made, both, time="of", by="label").changes.equals(found.changes)  # nothing is kept
    with pytest.raises(pho.UsageError, match="b is a DataFrame, not a decomposition"):
        pho.compare(made, frame)


def test_inspect_and_verify(demo, made, tmp_path):
    found = pho.inspect(demo / "ssn.onnx", no_structure=True)
    assert found.document["parameters"] == 9740 and "9740 parameters" in repr(found)
    made.verify()
    made.save(tmp_path / "kept")
    path = tmp_path / "kept" / "decomposition.json"
    path.write_text(path.read_text().replace('"rows": 5000', '"rows": 5001'))
    with pytest.raises(pho.Error):
        pho.load(tmp_path / "kept").verify()


# What a command is here. A command that is new in the program is missing below, and so is a flag of one that a
# function's own arguments stand for.
DOORS = {
    "accumulate": pho.spark.decompose,
    "apply": pho.Decomposition.apply,
    "compare": pho.compare,
    "decompose": pho.decompose,
    "demo": None,  # networks that the program brings along
    "explain": pho.Decomposition.explain,
    "inspect": pho.inspect,
    "merge": pho.spark.decompose,
    "monitor": pho.monitor,
    "plan": pho.spark.decompose,
    "report": pho.Decomposition.report,
    "serve": pho.Decomposition.session,
    "solve": pho.spark.decompose,
    "summary": pho.Decomposition.summary,
    "train": pho.SSNRegressor,
    "verify": pho.Decomposition.verify,
}


def help_of(*words):
    return subprocess.run([pho._command.binary(), *words, "--help"], check=True, capture_output=True, encoding="utf-8").stdout


def test_every_command_has_a_door(program):
    listed = re.search(r"Available Commands:\n(.*?)\n\n", help_of(), re.DOTALL).group(1)
    commands = {line.split()[0] for line in listed.splitlines()} - {"help", "completion"}
    assert commands == set(DOORS)


def test_every_flag_of_decompose_is_an_option(demo, frame):
    """The program itself is asked: an option that it does not know is an error that says so."""
    flags = re.findall(r"^ +(?:-\w, )?--([a-z][a-z-]*)", help_of("decompose"), re.MULTILINE)
    assert len(flags) > 50
    with pytest.raises(pho.UsageError, match="unknown option"):
        pho.decompose(str(demo / "ssn.onnx"), frame, no_such=True)
    for flag in set(flags) - {"help"}:
        try:
            pho.decompose(str(demo / "ssn.onnx"), frame.head(30), check=False, **{flag.replace("-", "_"): "no such thing"})
        except (pho.Error, pho.UsageError, TypeError) as fault:
            assert "unknown option" not in str(fault), (flag, fault)
