"""Models in memory: estimators, boosters, torch modules; predictions stay theirs."""

import os

import numpy
import pandas
import pytest

import pho

sklearn = pytest.importorskip("sklearn")
pytest.importorskip("skl2onnx")


@pytest.fixture(scope="module")
def people():
    random = numpy.random.default_rng(1)
    n = 1500
    frame = pandas.DataFrame(
        {
            "age": random.integers(18, 80, n),
            "income": random.lognormal(3, 0.5, n).astype("float32").astype(float),
            "region": random.choice(["north", "south", "east"], n),
            "smoker": random.random(n) < 0.3,
        }
    )
    frame["y"] = numpy.sin(frame.age / 10) + 0.05 * frame.income + (frame.region == "north") + 2 * frame.smoker
    frame["y"] += random.normal(size=n) * 0.1
    return frame


@pytest.fixture(scope="module")
def numbers(people):
    return people.assign(region=people.region.astype("category").cat.codes.astype(int), smoker=people.smoker.astype(int))


COLUMNS = ["age", "income", "region", "smoker"]


def test_pipeline_keeps_raw_columns(people):
    from sklearn.compose import ColumnTransformer
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    fed = ["age", "income", "region"]
    pipe = make_pipeline(
        ColumnTransformer([("n", StandardScaler(), ["age", "income"]), ("c", OneHotEncoder(), ["region"])]),
        MLPRegressor(hidden_layer_sizes=(20,), max_iter=50, random_state=0),
    ).fit(people[fed], people.y)
    d = pho.decompose(pipe, people, response="y")
    numpy.testing.assert_allclose(d.contributions["eta"], pipe.predict(people[fed]), atol=1e-4)
    assert list(d.terms["features"])[:3] == fed  # and pairs: income, not (income - mean)/sd; region, not its dummies
    assert set(d.effects.loc[d.effects.term == "region", "x"]) == {"north", "south", "east"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "sklearn"])
def test_boosted_trees(library, numbers):
    if library == "lightgbm":
        model = pytest.importorskip("lightgbm").LGBMRegressor(n_estimators=30, verbose=-1)
    elif library == "xgboost":
        model = pytest.importorskip("xgboost").XGBRegressor(n_estimators=30)
    else:
        from sklearn.ensemble import GradientBoostingRegressor

        model = GradientBoostingRegressor(n_estimators=30)
    pytest.importorskip("onnxmltools")
    model.fit(numbers[COLUMNS], numbers.y)
    before = list(model.get_booster().feature_names) if library == "xgboost" else None
    d = pho.decompose(model, numbers, "~ .", response="y")
    numpy.testing.assert_allclose(d.contributions["eta"], model.predict(numbers[COLUMNS]), atol=1e-4)
    assert before is None or model.get_booster().feature_names == before  # the model is as it was


@pytest.mark.filterwarnings("ignore")
def test_boosters(numbers):
    lightgbm = pytest.importorskip("lightgbm")
    xgboost = pytest.importorskip("xgboost")
    pytest.importorskip("onnxmltools")
    light = lightgbm.train({"verbose": -1}, lightgbm.Dataset(numbers[COLUMNS], numbers.y), 20)
    d = pho.decompose(light, numbers, "~ .", response="y")
    numpy.testing.assert_allclose(d.contributions["eta"], light.predict(numbers[COLUMNS]), atol=1e-4)
    x = xgboost.train({}, xgboost.DMatrix(numbers[COLUMNS], label=numbers.y), 20)
    d = pho.decompose(x, numbers, "~ .", response="y")
    numpy.testing.assert_allclose(d.contributions["eta"], x.predict(xgboost.DMatrix(numbers[COLUMNS])), atol=1e-4)


@pytest.mark.parametrize("settings", [{"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.7}, {"linear_tree": True}])
def test_what_onnxmltools_writes_wrongly_is_predicted(settings, numbers):
    lightgbm = pytest.importorskip("lightgbm")
    pytest.importorskip("onnxmltools")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, **settings)
    for fitted in (model, make_pipeline(StandardScaler(), model)):
        fitted.fit(numbers[COLUMNS], numbers.y)
        d = pho.decompose(fitted, numbers, "~ age", response="y")
        numpy.testing.assert_allclose(d.contributions["eta"], fitted.predict(numbers[COLUMNS]), atol=1e-12)
        assert any("is the model, and no exported file" in w for w in d.warnings) == (fitted is not model)  # it has a file of its own


def test_catboost(numbers):
    """Its files have two sigmoids for two classes, and labels of text that no runtime computes."""
    catboost = pytest.importorskip("catboost")
    settings = {"iterations": 20, "verbose": 0, "allow_writing_files": False, "random_seed": 1}
    model = catboost.CatBoostRegressor(**settings).fit(numbers[COLUMNS], numbers.y)
    d = pho.decompose(model, numbers, "~ .", response="y")
    numpy.testing.assert_allclose(d.contributions["eta"], model.predict(numbers[COLUMNS]), atol=1e-4)
    for low, high in ((0, 1), ("no", "yes")):
        rows = numbers.assign(rich=numpy.where(numbers.y > numbers.y.median(), high, low)).drop(columns="y")
        two = catboost.CatBoostClassifier(**settings).fit(rows[COLUMNS], rows.rich)
        d = pho.decompose(two, rows.assign(rich=rows.rich == high), "~ age + income", response="rich")
        assert d.predictors == ["eta"] and d.artifact["family"] == "binomial"
        numpy.testing.assert_allclose(d.contributions["eta"], two.predict(rows[COLUMNS], prediction_type="RawFormulaVal"), atol=1e-4)
    rows = rows.assign(kind=numpy.where(numbers.y > 2, "high", numpy.where(numbers.y > 1, "mid", "low")))
    three = catboost.CatBoostClassifier(**settings).fit(rows[COLUMNS], rows.kind)
    d = pho.decompose(three, rows[[*COLUMNS, "kind"]], "~ age + income", response="kind")
    raw = three.predict(rows[COLUMNS], prediction_type="RawFormulaVal")
    eta = d.contributions[[f"{c}.eta" for c in three.classes_]]
    numpy.testing.assert_allclose(eta, raw - raw.mean(axis=1, keepdims=True), atol=1e-4)
    texts = numbers.assign(smoker=numpy.where(numbers.smoker, "b", "c"))[["age", "smoker"]]
    own = catboost.CatBoostRegressor(**settings, cat_features=["smoker"]).fit(texts, numbers.y)
    numpy.testing.assert_allclose(pho.decompose(own, texts).contributions["eta"], own.predict(texts), atol=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("objective, family", [("count:poisson", "poisson"), ("reg:gamma", "gamma"), ("reg:tweedie", None)])
def test_xgboost_log_link(numbers, objective, family):
    """Its files multiply the exponential of the trees by a constant, whose logarithm belongs to eta."""
    xgboost = pytest.importorskip("xgboost")
    pytest.importorskip("onnxmltools")
    y = numpy.round(numpy.exp(numbers.y / numbers.y.std())) + (family == "gamma")
    rows = numbers.assign(y=y)
    model = xgboost.XGBRegressor(n_estimators=10, objective=objective).fit(rows[COLUMNS], y)
    for given in (model, model.get_booster()):
        d = pho.decompose(given, rows, "~ age + income", response="y", inputs=COLUMNS, **({"family": family} if family else {}))
        numpy.testing.assert_allclose(numpy.exp(d.contributions["eta"]), model.predict(rows[COLUMNS]), rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_torch_module(numbers):
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Dropout(), torch.nn.Linear(16, 1))
    assert net.training
    d = pho.decompose(net, numbers, response="y")
    assert net.training
    net.eval()
    want = net(torch.tensor(numbers[COLUMNS].to_numpy("float32"))).detach().numpy().ravel()
    numpy.testing.assert_allclose(d.contributions["eta"], want, atol=1e-4)
    again = pho.decompose(net, numbers[[*reversed(COLUMNS), "y"]], response="y", inputs=COLUMNS)
    numpy.testing.assert_allclose(again.contributions["eta"], want, atol=1e-4)
    with pytest.raises(pho.UsageError, match="inputs="):
        pho.decompose(net, "rows.csv")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("missing", [False, True])
def test_histogram_boosting(missing, numbers):
    from sklearn.ensemble import HistGradientBoostingRegressor

    rows = numbers.copy()
    if missing:
        rows.loc[::9, "income"] = numpy.nan
    model = HistGradientBoostingRegressor(max_iter=20).fit(rows[COLUMNS], rows.y)
    d = pho.decompose(model, rows, "~ age + region", response="y", na="keep" if missing else None)
    numpy.testing.assert_allclose(d.contributions["eta"], model.predict(rows[COLUMNS]), atol=1e-4)
    numpy.testing.assert_allclose(d.apply(rows.head(20), **({"na": "keep"} if missing else {}))["eta"], d.contributions["eta"].head(20), atol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "sklearn", "forest"])
def test_classifiers(library, numbers):
    pytest.importorskip("onnxmltools")
    if library == "lightgbm":
        model = pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=15, verbose=-1)
    elif library == "xgboost":
        model = pytest.importorskip("xgboost").XGBClassifier(n_estimators=15)
    elif library == "sklearn":
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression()
    else:
        from sklearn.ensemble import RandomForestClassifier

        model = RandomForestClassifier(n_estimators=15, max_depth=5, random_state=0)
    rows = numbers.assign(rich=(numbers.y > numbers.y.median()).astype(int)).drop(columns="y")
    model.fit(rows[COLUMNS], rows.rich)
    d = pho.decompose(model, rows.drop(columns="rich"), "~ age + income")
    eta = d.contributions[["eta"] if len(d.predictors) == 1 else [f"{p}.eta" for p in d.predictors]].to_numpy()
    assert d.predictors == ["eta"] or library == "forest"
    last = eta[:, -1]
    p = last if library == "forest" else 1 / (1 + numpy.exp(-last))
    numpy.testing.assert_allclose(p, model.predict_proba(rows[COLUMNS])[:, 1], atol=1e-4)


def test_pipeline_of_classes_and_texts(people):
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    fed = ["age", "income", "region", "smoker"]
    rows = people.astype({"smoker": float}).assign(kind=numpy.where(people.y > 2, "high", numpy.where(people.y > 1, "mid", "low"))).drop(columns="y")
    pipe = make_pipeline(
        ColumnTransformer(
            [
                ("n", make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income", "smoker"]),
                ("c", OneHotEncoder(handle_unknown="ignore"), ["region"]),
            ]
        ),
        LogisticRegression(),
    ).fit(rows[fed], rows.kind)
    d = pho.decompose(pipe, rows, response="kind")
    eta = d.contributions[[f"{c}.eta" for c in pipe.classes_]].to_numpy()
    p = numpy.exp(eta) / numpy.exp(eta).sum(axis=1, keepdims=True)
    numpy.testing.assert_allclose(p, pipe.predict_proba(rows[fed]), atol=1e-4)
    assert d.predictors == ["high", "low", "mid"]


@pytest.mark.filterwarnings("ignore")
def test_torch_module_of_several_inputs(numbers):
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    torch.manual_seed(2)

    class Wide(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.levels, self.line = torch.nn.Embedding(3, 2), torch.nn.Linear(4, 1)

        def forward(self, numbers, codes):
            return self.line(torch.cat([numbers, self.levels(codes).flatten(1)], 1))

    net = Wide()
    d = pho.decompose(net, numbers, "~ age", inputs={"codes": ["region"], "numbers": ["age", "income"]})
    x = torch.tensor(numbers[["age", "income"]].to_numpy("float32")), torch.tensor(numbers[["region"]].to_numpy("int64"))
    numpy.testing.assert_allclose(d.contributions["eta"], net(*x).detach().numpy().ravel(), atol=1e-3)
    with pytest.raises(pho.UsageError, match="does not take 1 matrices"):
        pho.decompose(net, numbers, inputs=["age", "income"])


def test_several_networks(numbers, tmp_path):
    from sklearn.neural_network import MLPRegressor

    nets = [MLPRegressor(hidden_layer_sizes=(8,), max_iter=30, random_state=s).fit(numbers[COLUMNS], numbers.y) for s in range(3)]
    d = pho.decompose(nets, numbers, "~ age + income", response="y")
    mean = numpy.mean([n.predict(numbers[COLUMNS]) for n in nets], axis=0)
    numpy.testing.assert_allclose(d.contributions["eta"], mean, atol=1e-3)
    few = d.apply(numbers.head(4))
    names = d.artifact["model"]["members"]
    assert len(names) == 3
    one = d.apply(numbers.head(4), member=names[1]["name"])
    numpy.testing.assert_allclose(one["eta"], nets[1].predict(numbers[COLUMNS].head(4)), atol=1e-3)
    d.save(tmp_path / "result")
    del d
    pandas.testing.assert_frame_equal(pho.load(tmp_path / "result").apply(numbers.head(4)), few)


def test_numbers_as_categories(people):
    rows = people.assign(size=pandas.Categorical(numpy.arange(len(people)) % 3 * 10))
    from sklearn.linear_model import LinearRegression

    fed = ["age", "size"]
    model = LinearRegression().fit(rows[fed].astype(float), rows.y)
    d = pho.decompose(model, rows[fed], "~ factor(size)")
    assert set(d.effects.loc[d.effects.term == "factor(size)", "x"].astype(float)) == {0, 10, 20}
    pandas.testing.assert_frame_equal(d.apply(rows.head(8)), d.contributions.head(8))


def test_matrices_and_responses(numbers):
    from sklearn.linear_model import LinearRegression

    X, y = numbers[COLUMNS].to_numpy(float), numbers.y.to_numpy()
    model = LinearRegression().fit(X, y)
    d = pho.decompose(model, X, "~ .", response=y)
    assert (d.artifact["response"] == "y" and next(iter(d.terms["term"])).endswith("(x0)")) or "x0" in set(d.terms["term"])
    numpy.testing.assert_allclose(d.apply(X[:5])["eta"], model.predict(X[:5]), atol=1e-3)
    with pytest.raises(pho.UsageError, match="3 values"):
        pho.decompose(model, X, response=y[:3])


def test_keras_is_told(people):
    keras = type("Model", (), {"__module__": "keras.models"})()
    with pytest.raises(pho.UsageError, match=r"model\.export"):
        pho.decompose(keras, people)


def _by_file(model, rows, target, wanted=None, **more):
    """The decomposition of a fitted model, which has to go by a file that predicts what the model does."""
    d = pho.decompose(model.fit(rows, target), rows, "~ age", **more)
    assert d.artifact["model"]["checked"]["rows"] == len(rows) and not any("no exported file" in w for w in d.warnings)
    if wanted is not None:
        numpy.testing.assert_allclose(d.contributions["eta"], wanted(model), atol=1e-9)
    return d


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("columns", [["age"], ["age", "region"]])
def test_histogram_boosting_hands_its_trees_over(columns, people):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    rows = people[["region", "age", "income"]].assign(age=people.age.round(-1))
    if "region" not in columns:
        rows = rows.drop(columns="region")
    settings = {"max_iter": 15, "categorical_features": columns}
    _by_file(HistGradientBoostingRegressor(**settings), rows, people.y, lambda m: m.predict(rows))
    _by_file(HistGradientBoostingRegressor(loss="poisson", **settings), rows, numpy.exp(people.y / 4), lambda m: numpy.log(m.predict(rows)))
    d = _by_file(HistGradientBoostingClassifier(**settings), rows, numpy.where(people.y > 2, "high", numpy.where(people.y > 1, "mid", "low")))
    assert sorted(d.predictors) == ["high", "low", "mid"]


@pytest.mark.filterwarnings("ignore")
def test_catboost_goes_by_its_file(people):
    catboost = pytest.importorskip("catboost")
    rows = people[["region", "age", "income"]].assign(decade=(people.age // 10).astype(int))
    settings = {"iterations": 10, "verbose": 0, "allow_writing_files": False, "cat_features": ["region", "decade"]}
    for largest in (20, 1):  # each category by itself, and their statistics
        model = catboost.CatBoostRegressor(one_hot_max_size=largest, max_ctr_complexity=2, **settings)
        _by_file(model, rows, people.y, lambda m: m.predict(rows))
    words = rows.assign(words=["old" if a > 40 else "young at heart" for a in people.age])
    texts = catboost.CatBoostRegressor(text_features=["words"], **settings).fit(words, people.y)
    d = pho.decompose(texts, words, "~ age")
    assert any("columns of text" in w for w in d.warnings)


@pytest.mark.filterwarnings("ignore")
def test_interpret_goes_by_its_file(people):
    glassbox = pytest.importorskip("interpret.glassbox")
    rows = people[["region", "age", "income"]]
    _by_file(glassbox.ExplainableBoostingRegressor(interactions=1, outer_bags=2, max_rounds=40, n_jobs=1), rows, people.y, lambda m: m.predict(rows))


LIBRARIES = ["xgboost", "lightgbm", "catboost", "interpret", "sklearn", "two classes", "three classes", "linear leaves"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
def test_boosters_as_onnx(library, people):
    """ONNX Runtime computes of the file what the library predicts, of missing cells, unknown categories and numbers on thresholds."""
    runtime = pytest.importorskip("onnxruntime")
    rows = people[["region", "age", "income"]].copy()
    rows["income"] = rows.income.where(people.index % 7 > 0)
    y, known, settings = people.y, ["east", "north", "south"], {}
    if library in ("xgboost", "lightgbm", "linear leaves"):
        rows["region"] = pandas.Categorical(rows.region)
    if library == "xgboost":
        model = pytest.importorskip("xgboost").XGBRegressor(n_estimators=30, max_depth=2, enable_categorical=True)
    elif library in ("lightgbm", "linear leaves"):
        model = pytest.importorskip("lightgbm").LGBMRegressor(n_estimators=30, num_leaves=5, verbose=-1, linear_tree=library == "linear leaves")
    elif library == "interpret":
        model = pytest.importorskip("interpret.glassbox").ExplainableBoostingRegressor(interactions=1, outer_bags=2, max_rounds=40, n_jobs=1)
    elif library == "sklearn":
        from sklearn.ensemble import HistGradientBoostingRegressor

        model = HistGradientBoostingRegressor(max_iter=30, max_depth=2, categorical_features=["region"])
    else:
        catboost = pytest.importorskip("catboost")
        settings = {"iterations": 30, "depth": 2, "verbose": 0, "allow_writing_files": False, "cat_features": ["region"], "one_hot_max_size": 9}
        kind, y = (catboost.CatBoostRegressor, y) if library == "catboost" else (catboost.CatBoostClassifier, people.y > 2)
        if library == "three classes":
            y = numpy.where(people.y > 2, "high", numpy.where(people.y > 1, "mid", "low"))
        model = kind(**settings)
    model.fit(rows, y)
    d = pho.decompose(model, rows, "~ s(age) + region", na="keep", export_onnx=True)
    assert not any("no exported file" in w for w in d.warnings)
    session = runtime.InferenceSession(d.adapted_onnx())
    new = rows.head(300).reset_index(drop=True)
    floats = numpy.nextafter(new.age.to_numpy("float32"), numpy.float32(99)).astype(float)  # as near to thresholds as numbers come
    new["age"] = numpy.where(new.index % 3 == 0, numpy.nextafter(new.age.astype(float), 99), numpy.where(new.index % 3 == 1, floats, new.age))
    if library not in ("xgboost", "lightgbm", "linear leaves"):  # which code texts
        new["region"] = numpy.where(new.index % 5 == 0, "west", new.region)
    feed = {}
    for given in session.get_inputs():
        column = new[given.name]
        if "string" not in given.type and given.name == "region":
            column = column.map({level: i for i, level in enumerate(known)})
        kind = {"tensor(string)": object, "tensor(float)": "float32", "tensor(double)": "float64"}[given.type]
        feed[given.name] = column.to_numpy(kind)[:, None]
    outputs = dict(zip((o.name for o in session.get_outputs()), session.run(None, feed)))
    want = model.predict(new) if not hasattr(model, "predict_proba") else model.predict_proba(new)[:, -1 if library == "two classes" else slice(None)]
    got = outputs["probabilities" if library == "three classes" else "prediction"].reshape(numpy.shape(want))
    numpy.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 if library == "xgboost" else 0)
    parts = d.contributions.head(300)
    same = (new.age == rows.age.head(300)) & (new.region == rows.region.head(300).reset_index(drop=True))
    name = "low/eta" if library == "three classes" else "eta"
    numpy.testing.assert_allclose(outputs[name][same, 0], parts[name.replace("/", ".")][same], atol=3e-6 if library == "xgboost" else 1e-9)


def test_boosters_never_onnx(people):
    """A model that ONNX cannot compute is called, and the reason is told; its structured part is written."""
    model = pytest.importorskip("catboost").CatBoostRegressor(
        iterations=5, verbose=0, allow_writing_files=False, cat_features=["region"], one_hot_max_size=1
    )
    rows = people[["region", "age"]]
    model.fit(rows, people.y)
    d = pho.decompose(model, rows, "~ s(age) + region", export_onnx=True)
    assert any("called on the rows" in w and "CTR" in w for w in d.warnings)
    assert os.path.exists(d.file("surrogate.onnx"))


def test_missing_categories() -> None:
    """Where a category is missing the file predicts what LightGBM does, and the column has a term with a level for that."""
    lightgbm = pytest.importorskip("lightgbm")
    rng = numpy.random.default_rng(8)
    drawn = rng.integers(0, 3, 300)
    rows = pandas.DataFrame({"x": rng.normal(size=300), "c": pandas.Categorical(numpy.array(["a", "b", None], object)[drawn])})
    rows["y"] = rows["x"] + numpy.array([2.0, -1.0, 0.5])[drawn]
    model = lightgbm.LGBMRegressor(n_estimators=15, num_leaves=3, min_child_samples=5, verbose=-1).fit(rows[["x", "c"]], rows["y"])
    d = pho.decompose(model, rows, response="y", na="keep")
    assert numpy.allclose(d.contributions["eta"], model.predict(rows[["x", "c"]]), atol=1e-12)
    assert "c" in d.terms["term"].tolist() and not any("no term is chosen" in w for w in d.warnings)
    assert "(missing)" in d.effects["x"].astype(str).tolist()
