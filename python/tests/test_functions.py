"""Models that are called, and predictions that are given."""

import pickle

import numpy
import pandas
import pytest

import pho
import pho._columns

N = 600


@pytest.fixture(scope="module")
def rows():
    random = numpy.random.default_rng(3)
    frame = pandas.DataFrame({"age": random.integers(18, 80, N), "income": random.lognormal(3, 0.5, N), "region": random.choice(["n", "s", "e"], N)})
    frame["y"] = score(frame) + 0.1 * random.normal(size=N)
    return frame


def score(frame):
    return numpy.sin(frame["age"] / 10) + 0.5 * (frame["region"] == "n")


def share(frame):
    return 1 / (1 + numpy.exp(-score(frame)))


def shares(frame):
    e = numpy.exp(numpy.column_stack([score(frame), frame["age"] / 50, 0 * frame["age"]]))
    return e / e.sum(axis=1, keepdims=True)


def test_a_function_of_a_frame(rows):
    d = pho.decompose(score, rows, response="y")
    numpy.testing.assert_allclose(d.contributions["eta"], score(rows), atol=1e-12)
    assert list(d.terms["term"]) == ["s(age)", "s(income)", "region"]  # of all columns but the response
    assert not [w for w in d.warnings if "file" in w]
    pandas.testing.assert_frame_equal(d.apply(rows.head(5)), d.contributions.head(5))
    one = d.apply({"age": 41, "income": 20.0, "region": "n"})
    assert abs(one["eta"] - float(score(pandas.DataFrame({"age": [41], "region": ["n"]})).iloc[0])) < 1e-12
    with d.session() as session:
        assert abs(session.apply(rows.iloc[3])["eta"] - score(rows).iloc[3]) < 1e-12


def test_it_is_called_once_for_each_row_but_a_few(rows):
    asked = []

    def counted(frame):
        asked.append(len(frame))
        return score(frame)

    many = pandas.concat([rows] * 40, ignore_index=True)
    pho.decompose(counted, many, "~ s(age)", response="y")
    assert sorted(asked) == [32, 4000, 10000, 10000]


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "polars", "dict", "table"])
def test_rows_of_any_kind(kind, rows, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    given = rows
    if kind == "csv":
        given = tmp_path / "rows.csv"
        rows.to_csv(given, index=False)
    elif kind == "parquet":
        given = tmp_path / "rows.parquet"
        rows.to_parquet(given)
    elif kind == "arrow":
        given = tmp_path / "rows.arrow"
        table = pyarrow.Table.from_pandas(rows)
        with pyarrow.ipc.new_file(str(given), table.schema) as writer:
            writer.write_table(table, 100)
    elif kind == "polars":
        given = pytest.importorskip("polars").from_pandas(rows)
    elif kind == "dict":
        given = {c: rows[c].tolist() for c in rows}
    elif kind == "table":
        given = pyarrow.Table.from_pandas(rows)
    d = pho.decompose(score, given, "~ s(age) + region", response="y")
    numpy.testing.assert_allclose(d.contributions["eta"], score(rows), atol=1e-12)
    numpy.testing.assert_allclose(d.apply(given)["eta"], score(rows), atol=1e-12)


def test_saved_pickled_and_loaded(rows, tmp_path):
    d = pho.decompose(score, rows, "~ s(age)", response="y")
    parts = d.apply(rows.head(4))
    pandas.testing.assert_frame_equal(pickle.loads(pickle.dumps(d)).apply(rows.head(4)), parts)
    d.save(tmp_path / "result")
    pandas.testing.assert_frame_equal(pho.load(tmp_path / "result", score).apply(rows.head(4)), parts)
    alone = pho.load(tmp_path / "result")
    with pytest.raises(pho.UsageError, match="predictions="):
        alone.apply(rows.head(4))
    pandas.testing.assert_frame_equal(alone.apply(rows.head(4), predictions=score(rows.head(4))), parts)


def test_links(rows):
    d = pho.decompose(share, rows.assign(y=rows.y > 0.3), "~ s(age)", response="y", link="logit")
    assert d.artifact["predictors"][0]["head"] == "sigmoid" and d.artifact["family"] == "binomial"
    numpy.testing.assert_allclose(d.contributions["eta"], score(rows), atol=1e-9)
    d = pho.decompose(lambda frame: numpy.exp(score(frame)), rows, "~ s(age)", link="log")
    numpy.testing.assert_allclose(d.contributions["eta"], score(rows), atol=1e-9)
    d = pho.decompose(shares, rows, "~ s(age)", link="softmax")
    eta = d.contributions[[f"{p}.eta" for p in d.predictors]].to_numpy()
    numpy.testing.assert_allclose(numpy.exp(eta) / numpy.exp(eta).sum(axis=1, keepdims=True), shares(rows), atol=1e-9)


def test_predictions_that_are_given(rows, tmp_path):
    for given in (score(rows), score(rows).to_numpy(), score(rows).tolist()):
        d = pho.decompose(given, rows, "~ s(age)", response="y")
        numpy.testing.assert_allclose(d.contributions["eta"], score(rows), atol=1e-12)
    with pytest.raises(pho.UsageError, match="predictions="):
        d.apply(rows.head(3))
    numpy.testing.assert_allclose(d.apply(rows.head(3), predictions=score(rows.head(3)))["eta"], score(rows.head(3)), atol=1e-12)
    rows.assign(prediction=score(rows)).to_csv(tmp_path / "rows.csv", index=False)
    numpy.testing.assert_allclose(d.apply(tmp_path / "rows.csv")["eta"], score(rows), atol=1e-12)


def test_several_models(rows, tmp_path):
    d = pho.decompose([score, lambda frame: 2 * score(frame)], rows, "~ s(age)", response="y")
    numpy.testing.assert_allclose(d.contributions["eta"], 1.5 * score(rows), atol=1e-12)
    assert len(d.artifact["model"]["members"]) == 2
    d.save(tmp_path / "result")
    again = pho.load(tmp_path / "result", [score, lambda frame: 2 * score(frame)])
    pandas.testing.assert_frame_equal(again.apply(rows.head(4)), d.apply(rows.head(4)))
    with pytest.raises(pho.UsageError, match="of 2 models, and 1 are given"):
        pho.load(tmp_path / "result", score)


def test_labels_leave_what_was_said(rows):
    pytest.importorskip("sklearn")
    from sklearn.kernel_ridge import KernelRidge

    d = pho.decompose(KernelRidge().fit(rows[["age", "income"]], rows.y), rows, "~ s(age)", response="y")
    said = d.warnings
    assert d.label({"columns": {"age": {"name": "Age"}}}).warnings == said and "is the model" in said[0]


@pytest.mark.parametrize(
    ("model", "options", "said"),
    [
        (lambda f: f["nope"], {}, "raised KeyError: 'nope'"),
        (lambda f: numpy.where(f["age"] > 30, numpy.nan, 1.0), {}, "returns nan in [0-9]+ of 600 rows, first in row"),
        (lambda f: numpy.where(f["age"] > 30, numpy.inf, 1.0), {}, "returns inf"),
        (lambda f: 3.0, {}, r"shape \(\) for 600 rows"),
        (lambda f: numpy.ones((len(f), 2, 2)), {}, r"shape \(600, 2, 2\)"),
        (lambda f: numpy.ones(len(f) + 1), {}, r"shape \(601, 1\) for 600 rows"),
        (lambda f: ["yes"] * len(f), {}, "text 'yes'"),
        (lambda f: numpy.full(len(f), 1j), {}, "complex"),
        (lambda f: numpy.random.default_rng().random(len(f)), {}, "changes its answer"),
        (lambda f: f["age"] - f["age"].mean(), {}, "by the rows beside a row"),
        (shares, {"link": "log", "clip": 2.0}, "clip=2.0"),
        (lambda f: 0.5 * shares(f), {"link": "softmax"}, "do not sum to one, but to 0.5"),
        (score, {"link": "log"}, "negative predictions"),
        (score, {"link": "logit"}, "negative predictions"),
        (lambda f: 1.0 * (f["age"] > 40), {"link": "logit"}, "probabilities of 0 and .* of 1, .*clip=1e-6"),
        (score, {"link": "probit"}, "is none of identity, log, logit, softmax"),
        (numpy.ones(N - 1), {}, r"shape \(599,\), the rows are 600"),
        (numpy.full(N, numpy.nan), {}, "600 of 600 predictions are missing or infinite, first in row 0"),
        (numpy.full(N, "a"), {}, "text 'a'"),
    ],
)
def test_what_is_no_prediction(model, options, said, rows):
    with pytest.raises(pho.Error, match=said):
        pho.decompose(model, rows, "~ s(age)", **options)


def test_probabilities_on_the_edge(rows):
    d = pho.decompose(lambda f: 1.0 * (f["age"] > 40), rows, "~ s(age)", link="logit", clip=1e-3)
    numpy.testing.assert_allclose(numpy.abs(d.contributions["eta"]), numpy.log(999), atol=1e-9)
    d = pho.decompose(lambda f: numpy.ones(len(f)), rows, "~ s(age)")
    assert "the predictor is constant" in " ".join(d.warnings)


def test_missing_cells(rows):
    holes = rows.assign(income=rows.income.where(rows.income > 10))

    def strict(frame):
        if frame["income"].isna().any():
            raise ValueError("NaN")
        return score(frame) + frame["income"]

    with pytest.raises(pho.Error, match="raised ValueError: NaN; missing values are in income: na='drop'"):
        pho.decompose(strict, holes, "~ s(age)", inputs=["age", "income", "region"])
    d = pho.decompose(strict, holes, "~ s(age)", inputs=["age", "income", "region"], na="drop")
    assert d.rows == holes.income.notna().sum()


def test_columns_that_nobody_reads(rows):
    sparse = pandas.arrays.SparseArray(numpy.zeros(N))
    odd = rows.assign(mixed=[1, "a"] * (N // 2), complex=1j, sparse=sparse, when=pandas.Timestamp("2026-01-01"), any=[object()] * N)
    odd = pandas.concat([odd, odd[["mixed"]].rename(columns={"mixed": "any"})], axis=1)  # a doubled name
    d = pho.decompose(score, odd, "~ s(age)", inputs=["age", "region"], response="y")
    numpy.testing.assert_allclose(d.contributions["eta"], score(rows), atol=1e-12)
    for name in ("mixed", "complex", "any"):
        with pytest.raises(pho.Error, match=f'column "{name}"'):
            pho.decompose(score, odd, f"~ {name}", inputs=["age", "region"])


@pytest.fixture(scope="module")
def classified(rows):
    return rows.assign(y=numpy.where(rows.y > 0.3, "yes", "no"))


def test_estimators_without_a_file(rows, classified):
    pytest.importorskip("sklearn")
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.neighbors import KNeighborsClassifier

    fed = ["age", "income"]
    model = KernelRidge().fit(rows[fed], rows.y)
    d = pho.decompose(model, rows, response="y")
    numpy.testing.assert_allclose(d.contributions["eta"], model.predict(rows[fed]), atol=1e-12)
    assert d.warnings[0].startswith("predict of the KernelRidge, called on the rows, is the model")
    assert d.artifact["model"]["checked"] == {"against": "predict of the KernelRidge"}
    matrix = KernelRidge().fit(rows[fed].to_numpy(), rows.y)
    with pytest.raises(pho.UsageError, match=r"2 columns without names, and is given 3: .*inputs="):
        pho.decompose(matrix, rows, response="y")
    numpy.testing.assert_allclose(pho.decompose(matrix, rows, inputs=fed).contributions["eta"], matrix.predict(rows[fed].to_numpy()), atol=1e-12)
    two = KNeighborsClassifier().fit(rows[fed], classified.y)
    d = pho.decompose(two, classified, response="y")  # probabilities of 0 and 1: as they are
    numpy.testing.assert_allclose(d.contributions["eta"], two.predict_proba(rows[fed])[:, 1], atol=1e-12)
    assert not d.artifact["predictors"][0].get("head")
    d = pho.decompose(two, classified, response="y", link="logit", clip=1e-3)
    assert d.artifact["family"] == "binomial"
    three = KNeighborsClassifier().fit(rows[fed], numpy.digitize(rows.y, [0, 1]))
    d = pho.decompose(three, rows.assign(y=numpy.digitize(rows.y, [0, 1])), response="y")
    assert len(d.predictors) == 3


def test_a_file_is_compared(rows, classified):
    pytest.importorskip("skl2onnx")
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LinearRegression, LogisticRegression

    fed = ["age", "income"]
    d = pho.decompose(LinearRegression().fit(rows[fed], rows.y), rows, response="y")
    assert d.artifact["model"]["checked"]["rows"] == N and d.artifact["model"]["checked"]["largest"] < 1e-5
    wrong = LinearDiscriminantAnalysis().fit(rows[fed], classified.y)
    d = pho.decompose(wrong, classified, response="y")
    numpy.testing.assert_allclose(1 / (1 + numpy.exp(-d.contributions["eta"])), wrong.predict_proba(rows[fed])[:, 1], atol=1e-9)
    assert "doubles the log odds" in d.warnings[0] and "in row" in d.warnings[0] and "600 of 600 rows" in d.warnings[0]
    assert "doubles the log odds" in d.report().html()
    d = pho.decompose(wrong, classified, response="y", check=False)
    assert "was not compared" in d.warnings[0]
    two = LogisticRegression(max_iter=1000).fit(rows[fed], classified.y)
    d = pho.decompose(two, classified, response="y")  # a text response of two classes
    assert d.artifact["family"] == "binomial" and "checked" in d.artifact["model"]
    assert pho.decompose(two, classified, "y ~ s(age)").artifact["response"] == "y"


def test_a_text_response_of_two_classes_in_a_file(classified, tmp_path):
    pytest.importorskip("skl2onnx")
    from sklearn.linear_model import LogisticRegression

    path = tmp_path / "rows.csv"
    classified.to_csv(path, index=False)
    model = LogisticRegression(max_iter=1000).fit(classified[["age", "income"]], classified.y)
    d = pho.decompose(model, path, response="y")
    numpy.testing.assert_allclose(1 / (1 + numpy.exp(-d.contributions["eta"])), model.predict_proba(classified[["age", "income"]])[:, 1], atol=1e-5)


def test_estimators_that_are_not_fitted(rows):
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression

    with pytest.raises(pho.UsageError, match="the LinearRegression is not fitted"):
        pho.decompose(LinearRegression(), rows[["age", "income"]])
    with pytest.raises(pho.UsageError, match="needs the column 'income', which the rows do not have"):
        pho.decompose(LinearRegression().fit(rows[["age", "income"]], rows.y), rows[["age"]])
    order = LinearRegression().fit(rows[["age", "income"]], rows.y)
    numpy.testing.assert_allclose(
        pho.decompose(order, rows[["income", "age"]].astype("float32")).contributions["eta"], order.predict(rows[["age", "income"]]), atol=1e-4
    )


def test_inputs_of_files_in_memory(rows):
    skl2onnx = pytest.importorskip("skl2onnx")
    import onnx
    from sklearn.linear_model import LinearRegression

    fed = ["age", "income"]
    model = LinearRegression().fit(rows[fed].to_numpy(), rows.y)
    content = skl2onnx.to_onnx(model, rows[fed].to_numpy("float32")[:1]).SerializeToString()
    for given in (content, onnx.load_from_string(content)):
        d = pho.decompose(given, rows, response="y", inputs=fed)
        numpy.testing.assert_allclose(d.contributions["eta"], model.predict(rows[fed].to_numpy()), atol=1e-4)


def test_inputs_that_are_arrays(rows):
    onnx, pyarrow = pytest.importorskip("onnx"), pytest.importorskip("pyarrow")
    helper, double = onnx.helper, onnx.TensorProto.DOUBLE
    nodes = [helper.make_node("ReduceSum", ["img", "axes"], ["sum"], keepdims=0), helper.make_node("Unsqueeze", ["sum", "one"], ["out"])]
    constants = [onnx.numpy_helper.from_array(numpy.array(v), k) for k, v in (("axes", [1, 2]), ("one", [1]))]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("img", double, ["n", 2, 3])], [helper.make_tensor_value_info("out", double, ["n", 1])], constants
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    images = numpy.random.default_rng(1).normal(size=(N, 2, 3))
    d = pho.decompose(model, rows, "~ s(age)", inputs={"img": images})
    numpy.testing.assert_allclose(d.contributions["eta"], images.sum(axis=(1, 2)), atol=1e-9)
    numpy.testing.assert_allclose(d.apply(rows.head(5), inputs={"img": images[:5]})["eta"], images[:5].sum(axis=(1, 2)), atol=1e-9)
    assert d.explain(rows.head(5), inputs={"img": images[:5]}).document["rows"][4]["predictors"][0]["eta"] == d.contributions["eta"][4]
    drawn = d.explain(rows.head(5), inputs={"img": images[:5]}).plot()
    assert "img, beyond the table" in [t.get_text() for t in drawn.get_yticklabels()]
    told = pho.decompose(model, rows, "~ s(age)", inputs={"img": images}, learned="img").artifact["deep_features"]
    assert told[0]["columns"] == ["img"] and told[0]["width"] == 1 and told[0]["functions"] == []  # noise
    age = rows.age.to_numpy()[:5]
    for table in (
        {"age": age, "img": images[:5]},
        {"age": age.tolist(), "img": images[:5].reshape(5, 6).tolist()},
        pandas.DataFrame({"age": age, "img": list(images[:5])}),
        pyarrow.table({"age": age, "img": images[:5].tolist()}),
    ):
        assert list(d.apply(table)["eta"]) == list(d.contributions["eta"][:5])
        assert list(d.apply(table, precision="float64")["eta"]) == list(d.contributions["eta"][:5])  # through files
        assert d.explain(table).document["rows"][4]["predictors"][0]["eta"] == d.contributions["eta"][4]
    for table in ({"age": rows.age, "img": images}, pandas.DataFrame({"age": rows.age, "img": list(images)})):
        assert list(pho.decompose(model, table, "~ s(age)").contributions["eta"]) == list(d.contributions["eta"])
    for img in (images[3], images[3].tolist()):
        assert d.apply({"age": age[3], "img": img})["eta"] == d.contributions["eta"][3]
        assert d.explain({"age": age[3], "img": img}).document["rows"][0]["predictors"][0]["eta"] == d.contributions["eta"][3]
    of_one = d.apply(pandas.Series({"age": age[3]}, name="a"), inputs={"img": images[3:4]})
    assert of_one.name == "a" and of_one["eta"] == d.contributions["eta"][3]
    with pytest.raises(pho.Error, match=r"column 'img', row 0: the array has the shape \(3, 2\), the network takes \(2, 3\)"):
        d.apply({"age": age[3], "img": images[3].T})
    with pytest.raises(pho.Error, match=r"column 'img', row 1: the array has the shape \(5,\), that of row 0 has \(2, 3\)"):
        d.explain({"age": age[:2], "img": [images[0], images[1].ravel()[:5]]})
    with pytest.raises(pho.Error, match="column 'age' holds values of type list"):
        d.apply({"age": images[:5, 0], "img": images[:5]})


def test_nested_lists_of_polars_are_arrays():
    polars = pytest.importorskip("polars")
    cells = numpy.random.default_rng(1).normal(size=(4, 2, 3))
    for column in (polars.Series("img", cells.tolist()), polars.Series("img", cells)):
        assert bytes(pho._columns.arrays("img", column, (2, 3)).values) == cells.tobytes()
