"""Models in memory: estimators, boosters, torch modules; predictions stay theirs."""

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
    assert list(d.terms["features"]) == fed  # income, not (income - mean)/sd; region, not its dummies
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
