"""Estimators of many kinds, fitted on small data: what check-estimators judges."""

import warnings
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy
import pandas

N = 700


@dataclass
class Case:
    """A way to make a fitted model, and the rows that it is handed.

    Attributes
    ----------
    name : str
        What it is.
    make : callable
        Returns the model and a DataFrame.
    wanted : callable, optional
        Of model and rows: its own predictions; None: predict_proba, decision_function or predict.
    options : dict
        Of pho.decompose.
    """

    name: str
    make: Callable[[], tuple[Any, pandas.DataFrame]]
    wanted: Any = None
    options: dict = field(default_factory=dict)


def rows():
    """Numbers with ties and zeros, whole numbers, float64 that float32 rounds, texts and categories."""
    random = numpy.random.default_rng(7)
    frame = pandas.DataFrame(
        {
            "temp": numpy.round(random.uniform(0, 1, N), 2),
            "hour": random.integers(0, 24, N),
            "load": numpy.where(random.random(N) < 0.3, 0, random.gamma(2, 1, N)),
            "age": random.integers(18, 80, N).astype(float),
            "region": random.choice(["north", "south", "east", "west"], N),
        }
    )
    eta = numpy.sin(frame.hour / 4) + frame.temp + numpy.where(frame.load == 0, 0.6, 0) + 0.02 * frame.age + (frame.region == "north")
    return frame, eta - eta.mean(), random


NUMBERS = ["temp", "hour", "load", "age"]


def cases():
    """All of them."""
    return [*linear(), *kernels(), *trees(), *pipelines(), *wrappers(), *boosters(), *edges(), *others()]


def of(name, model, columns=NUMBERS, target="regression", change=None, wanted=None, fit=None, matrix=False, **options):
    """A case of an estimator that is fitted here."""

    def make():
        frame, eta, random = rows()
        frame = frame if change is None else change(frame)
        y = targets(target, eta, random)
        x = frame[columns]
        own = model() if callable(model) and not hasattr(model, "fit") else model
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (fit or (lambda m, a, b: m.fit(a, b)))(own, x.to_numpy() if matrix else x, y)
        return own, x

    return Case(name, make, wanted, options)


def targets(kind, eta, random):
    """A response of a kind."""
    noise = 0.2 * random.normal(size=len(eta))
    if kind == "regression":
        return eta + noise
    if kind == "positive":
        return numpy.exp(eta + noise)
    if kind == "count":
        return random.poisson(numpy.exp(eta))
    if kind == "share":
        return 1 / (1 + numpy.exp(-(eta + noise)))
    if kind == "two":
        return (eta + noise > 0).astype(int)
    if kind == "words":
        return numpy.where(eta + noise > 0, "yes", "no")
    if kind == "three":
        return numpy.digitize(eta + noise, [-0.5, 0.5])
    if kind == "three words":
        return numpy.array(["low", "mid", "high"])[numpy.digitize(eta + noise, [-0.5, 0.5])]
    if kind == "targets":
        return numpy.column_stack([eta + noise, noise - eta / 2])
    if kind == "labels":
        return numpy.column_stack([eta + noise > 0, eta - noise > 0.3]).astype(int)
    raise ValueError(kind)


def scaled(*steps):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), *steps)


def linear():
    from sklearn import cross_decomposition, discriminant_analysis
    from sklearn import linear_model as lm

    yield from (
        of(type(m).__name__, m)
        for m in (
            lm.LinearRegression(),
            lm.Ridge(),
            lm.RidgeCV(),
            lm.Lasso(0.01),
            lm.LassoCV(),
            lm.ElasticNet(0.01),
            lm.ElasticNetCV(),
            lm.Lars(),
            lm.LassoLars(0.001),
            lm.LassoLarsIC(),
            lm.BayesianRidge(),
            lm.ARDRegression(),
            lm.HuberRegressor(max_iter=500),
            lm.TheilSenRegressor(random_state=0),
            lm.RANSACRegressor(random_state=0),
            lm.OrthogonalMatchingPursuit(),
            lm.QuantileRegressor(alpha=0.01),
            cross_decomposition.PLSRegression(2),
            cross_decomposition.CCA(1),
        )
    )
    yield of("SGDRegressor, scaled", scaled(lm.SGDRegressor(random_state=0)))
    yield of("PassiveAggressive or SGD, squared epsilon", scaled(lm.SGDRegressor(loss="squared_epsilon_insensitive", random_state=0)))
    yield of("PoissonRegressor", lm.PoissonRegressor(alpha=0.1, max_iter=500), target="count")
    yield of("GammaRegressor", lm.GammaRegressor(alpha=0.1, max_iter=500), target="positive")
    yield of("TweedieRegressor 1.5", lm.TweedieRegressor(power=1.5, alpha=0.1, max_iter=500), target="positive")
    yield of("TweedieRegressor 0", lm.TweedieRegressor(power=0), target="positive")
    yield of("LogisticRegression", lm.LogisticRegression(max_iter=2000), target="two")
    yield of("LogisticRegression, words", lm.LogisticRegression(max_iter=2000), target="words")
    yield of("LogisticRegression, three", lm.LogisticRegression(max_iter=2000), target="three words")
    yield of("LogisticRegressionCV", lm.LogisticRegressionCV(max_iter=2000, cv=3), target="two")
    yield of("SGDClassifier log", scaled(lm.SGDClassifier(loss="log_loss", random_state=0)), target="two")
    yield of("SGDClassifier hinge", scaled(lm.SGDClassifier(random_state=0)), target="two")
    yield of("SGDClassifier modified huber", scaled(lm.SGDClassifier(loss="modified_huber", random_state=0)), target="two")
    yield of("Perceptron", scaled(lm.Perceptron(random_state=0)), target="three")
    yield of("RidgeClassifier", lm.RidgeClassifier(), target="two")
    yield of("RidgeClassifier, three", lm.RidgeClassifier(), target="three words")
    yield of("LDA, two", discriminant_analysis.LinearDiscriminantAnalysis(), target="two")
    yield of("LDA, three", discriminant_analysis.LinearDiscriminantAnalysis(), target="three")
    yield of("QDA", discriminant_analysis.QuadraticDiscriminantAnalysis(), target="two")
    yield of("MultiTaskLasso", lm.MultiTaskLasso(0.01), target="targets")
    yield of("LinearRegression, two targets", lm.LinearRegression(), target="targets")
    yield of("LinearRegression, matrix", lm.LinearRegression(), matrix=True)


def kernels():
    from sklearn import gaussian_process as gp
    from sklearn import isotonic, kernel_ridge, mixture, naive_bayes, neighbors, neural_network, semi_supervised, svm

    yield of("KNeighborsRegressor", neighbors.KNeighborsRegressor())
    yield of("KNeighborsRegressor, distance", neighbors.KNeighborsRegressor(weights="distance"))
    yield of("RadiusNeighborsRegressor", scaled(neighbors.RadiusNeighborsRegressor(2.5)))
    yield of("KNeighborsClassifier", neighbors.KNeighborsClassifier(), target="two")
    yield of("KNeighborsClassifier, three words", neighbors.KNeighborsClassifier(9), target="three words")
    yield of("RadiusNeighborsClassifier", scaled(neighbors.RadiusNeighborsClassifier(2.5)), target="two")
    yield of("NearestCentroid", neighbors.NearestCentroid(), target="three words")
    yield of("SVR", scaled(svm.SVR()))
    yield of("NuSVR", scaled(svm.NuSVR()))
    yield of("LinearSVR", scaled(svm.LinearSVR(random_state=0)))
    yield of("SVC", scaled(svm.SVC()), target="two")
    yield of("SVC, three", scaled(svm.SVC()), target="three")
    yield of("NuSVC", scaled(svm.NuSVC(nu=0.3)), target="two")
    yield of("LinearSVC", scaled(svm.LinearSVC(random_state=0)), target="two")
    yield of("LinearSVC, three", scaled(svm.LinearSVC(random_state=0)), target="three words")
    yield of("OneClassSVM", scaled(svm.OneClassSVM()))
    yield of("GaussianProcessRegressor", scaled(gp.GaussianProcessRegressor(alpha=0.1, optimizer=None)))
    yield of("GaussianProcessClassifier", scaled(gp.GaussianProcessClassifier(optimizer=None)), target="two")
    yield of("KernelRidge", scaled(kernel_ridge.KernelRidge(kernel="rbf")))
    yield of("IsotonicRegression", isotonic.IsotonicRegression(out_of_bounds="clip"), columns=["temp"])
    yield of("GaussianNB", naive_bayes.GaussianNB(), target="two")
    yield of("MultinomialNB", naive_bayes.MultinomialNB(), target="three")
    yield of("ComplementNB", naive_bayes.ComplementNB(), target="two")
    yield of("BernoulliNB", naive_bayes.BernoulliNB(), target="two")
    yield of("CategoricalNB", naive_bayes.CategoricalNB(), columns=["hour"], target="two")
    yield of("MLPRegressor", scaled(neural_network.MLPRegressor(hidden_layer_sizes=(16,), max_iter=60, random_state=0)))
    yield of("MLPClassifier", scaled(neural_network.MLPClassifier((16,), max_iter=60, random_state=0)), target="words")
    yield of("MLPClassifier, three", scaled(neural_network.MLPClassifier((16,), max_iter=60, random_state=0)), target="three")
    yield of("LabelSpreading", scaled(semi_supervised.LabelSpreading(kernel="knn")), target="two")
    yield of("GaussianMixture", scaled(mixture.GaussianMixture(2, random_state=0)), wanted=lambda m, x: m.predict_proba(x))


def trees():
    from sklearn import ensemble as e
    from sklearn import tree

    few = {"n_estimators": 10, "random_state": 0}
    hist = {"max_iter": 12, "random_state": 0}
    yield of("DecisionTreeRegressor", tree.DecisionTreeRegressor(max_depth=6, random_state=0))
    yield of("DecisionTreeRegressor, poisson", tree.DecisionTreeRegressor(max_depth=4, criterion="poisson"), target="count")
    yield of("DecisionTreeClassifier", tree.DecisionTreeClassifier(max_depth=4), target="two")
    yield of("ExtraTreeRegressor", tree.ExtraTreeRegressor(max_depth=6, random_state=0))
    yield of("RandomForestRegressor", e.RandomForestRegressor(**few))
    yield of("RandomForestRegressor, two targets", e.RandomForestRegressor(max_depth=5, **few), target="targets")
    yield of("RandomForestClassifier", e.RandomForestClassifier(max_depth=5, **few), target="words")
    yield of("RandomForestClassifier, three", e.RandomForestClassifier(max_depth=5, **few), target="three words")
    yield of("RandomForestClassifier, labels", e.RandomForestClassifier(max_depth=5, **few), target="labels")
    yield of("ExtraTreesRegressor", e.ExtraTreesRegressor(**few))
    yield of("ExtraTreesClassifier", e.ExtraTreesClassifier(max_depth=5, **few), target="three")
    yield of("GradientBoostingRegressor", e.GradientBoostingRegressor(**few))
    yield of("GradientBoostingRegressor, quantile", e.GradientBoostingRegressor(loss="quantile", **few))
    yield of("GradientBoostingClassifier", e.GradientBoostingClassifier(**few), target="two")
    yield of("GradientBoostingClassifier, three", e.GradientBoostingClassifier(**few), target="three")
    yield of("AdaBoostRegressor", e.AdaBoostRegressor(**few))
    yield of("AdaBoostClassifier", e.AdaBoostClassifier(**few), target="two")
    yield of("BaggingRegressor", e.BaggingRegressor(**few))
    yield of("BaggingClassifier", e.BaggingClassifier(tree.DecisionTreeClassifier(max_depth=3), **few), target="three")
    yield of("IsolationForest", e.IsolationForest(**few))
    yield of("HistGradientBoostingRegressor", e.HistGradientBoostingRegressor(**hist))
    yield of("HistGradientBoosting, whole numbers as categories", e.HistGradientBoostingRegressor(categorical_features=["hour"], **hist))
    yield of("HistGradientBoosting, poisson", e.HistGradientBoostingRegressor(loss="poisson", **hist), target="count")
    yield of("HistGradientBoosting, gamma", e.HistGradientBoostingRegressor(loss="gamma", **hist), target="positive")
    yield of("HistGradientBoosting, absolute error", e.HistGradientBoostingRegressor(loss="absolute_error", **hist))
    yield of(
        "HistGradientBoosting, pandas category",
        e.HistGradientBoostingRegressor(categorical_features="from_dtype", **hist),
        [*NUMBERS, "region"],
        change=category,
    )
    yield of("HistGradientBoosting, missing values", e.HistGradientBoostingRegressor(**hist), change=holes, na="keep")
    yield of("HistGradientBoostingClassifier", e.HistGradientBoostingClassifier(**hist), target="two")
    yield of("HistGradientBoostingClassifier, three", e.HistGradientBoostingClassifier(**hist), target="three words")
    yield of("HistGradientBoostingClassifier, categories", e.HistGradientBoostingClassifier(categorical_features=["hour"], **hist), target="two")
    yield of("time stamps in a tree", tree.DecisionTreeRegressor(max_depth=8), change=seconds)
    yield of("time stamps in histogram boosting", e.HistGradientBoostingRegressor(**hist), change=seconds)


def category(frame):
    return frame.assign(region=frame.region.astype("category"))


def hours(frame):
    return frame.assign(hour=(frame.hour + 1).astype("category"))


def holes(frame):
    return frame.assign(load=frame.load.where(frame.load > 0))


def seconds(frame):
    return frame.assign(age=1_700_000_000.0 + numpy.arange(len(frame)) * 37)


def encoded(last, number=None, text=None):
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    made = ColumnTransformer([("n", number or StandardScaler(), NUMBERS), ("c", text or OneHotEncoder(handle_unknown="ignore"), ["region"])])
    return make_pipeline(made, last)


def pipelines():
    from sklearn import ensemble as e
    from sklearn import feature_extraction, feature_selection, impute
    from sklearn import linear_model as lm
    from sklearn import preprocessing as p
    from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline

    every = [*NUMBERS, "region"]
    tree = e.GradientBoostingRegressor(n_estimators=10, random_state=0)
    yield of("scaled, one-hot, ridge", encoded(lm.Ridge()), every)
    yield of("scaled, one-hot, boosting", encoded(tree), every)
    yield of(
        "imputed, one-hot, logistic",
        encoded(lm.LogisticRegression(max_iter=2000), make_pipeline(impute.SimpleImputer(), p.StandardScaler())),
        every,
        "words",
    )
    yield of("imputed with indicator", make_pipeline(impute.SimpleImputer(add_indicator=True), lm.Ridge()), change=holes, na="keep")
    yield of("KNNImputer", make_pipeline(impute.KNNImputer(), lm.Ridge()), change=holes, na="keep")
    yield of("ordinal codes", encoded(tree, text=p.OrdinalEncoder()), every)
    yield of("target encoder", encoded(lm.Ridge(), text=p.TargetEncoder(random_state=0)), every)
    for step in (
        p.MinMaxScaler(),
        p.RobustScaler(),
        p.MaxAbsScaler(),
        p.PowerTransformer(),
        p.QuantileTransformer(n_quantiles=100, random_state=0),
        p.PolynomialFeatures(2),
        p.SplineTransformer(n_knots=5),
        p.KBinsDiscretizer(5, quantile_method="averaged_inverted_cdf"),
        p.Normalizer(),
        PCA(3),
        Nystroem(n_components=20, random_state=0),
        RBFSampler(n_components=20, random_state=0),
        feature_selection.SelectKBest(k=2),
        p.Binarizer(threshold=0.5),
    ):
        yield of(f"{type(step).__name__}, ridge", make_pipeline(step, lm.Ridge()))
    yield of("FunctionTransformer, ridge", make_pipeline(p.FunctionTransformer(numpy.log1p), lm.Ridge()))
    yield of("own FunctionTransformer, ridge", make_pipeline(p.FunctionTransformer(lambda x: numpy.sin(x)), lm.Ridge()))
    yield of("FeatureUnion", make_pipeline(FeatureUnion([("a", p.StandardScaler()), ("b", PCA(2))]), lm.Ridge()))
    yield of("nested pipelines", Pipeline([("a", make_pipeline(p.StandardScaler(), PCA(3))), ("b", make_pipeline(p.StandardScaler(), lm.Ridge()))]))
    yield of(
        "text",
        make_pipeline(ColumnTransformer([("t", feature_extraction.text.TfidfVectorizer(), "region"), ("n", "passthrough", NUMBERS)]), lm.Ridge()),
        every,
    )
    yield of(
        "names with spaces, brackets and umlauts",
        scaled(lm.Ridge()),
        ["Größe (cm)", "a [b]", "x<1"],
        change=lambda f: f.rename(columns={"temp": "Größe (cm)", "load": "a [b]", "age": "x<1"}),
    )
    yield of(
        "such names in a ColumnTransformer",
        make_pipeline(ColumnTransformer([("a", p.StandardScaler(), ["Größe (cm)", "a [b]"])]), lm.Ridge()),
        ["Größe (cm)", "a [b]"],
        change=lambda f: f.rename(columns={"temp": "Größe (cm)", "load": "a [b]"}),
    )
    yield of("TransformedTargetRegressor, log", TransformedTargetRegressor(lm.Ridge(), func=numpy.log, inverse_func=numpy.exp), target="positive")
    yield of("TransformedTargetRegressor, scaled", TransformedTargetRegressor(lm.Ridge(), transformer=p.StandardScaler()))


def wrappers():
    from sklearn import calibration, ensemble, feature_selection, model_selection, multiclass, multioutput, semi_supervised, svm, tree
    from sklearn import linear_model as lm

    small = tree.DecisionTreeRegressor(max_depth=4, random_state=0)
    classes = tree.DecisionTreeClassifier(max_depth=3, random_state=0)
    log = lm.LogisticRegression(max_iter=2000)
    yield of("GridSearchCV", model_selection.GridSearchCV(small, {"max_depth": [2, 4]}, cv=3))
    yield of("RandomizedSearchCV", model_selection.RandomizedSearchCV(log, {"C": [0.1, 1]}, n_iter=2, cv=3, random_state=0), target="two")
    yield of("GridSearchCV of a pipeline", model_selection.GridSearchCV(scaled(lm.Ridge()), {"ridge__alpha": [0.1, 1]}, cv=3))
    yield of("CalibratedClassifierCV, sigmoid", calibration.CalibratedClassifierCV(svm.LinearSVC(random_state=0, max_iter=5000), cv=3), target="two")
    yield of("CalibratedClassifierCV, isotonic", calibration.CalibratedClassifierCV(log, method="isotonic", cv=3), target="two")
    yield of("CalibratedClassifierCV, three", calibration.CalibratedClassifierCV(log, cv=3), target="three words")
    yield of("VotingRegressor", ensemble.VotingRegressor([("a", lm.Ridge()), ("b", small)]))
    yield of("VotingClassifier, soft", ensemble.VotingClassifier([("a", log), ("b", classes)], voting="soft"), target="two")
    yield of(
        "VotingClassifier, hard",
        ensemble.VotingClassifier([("a", log), ("b", classes), ("c", lm.RidgeClassifier())]),
        target="words",
        wanted=lambda m, x: numpy.column_stack([m.predict(x) == c for c in m.classes_]).astype(float),
    )
    yield of("StackingRegressor", ensemble.StackingRegressor([("a", lm.Ridge()), ("b", small)], cv=3))
    yield of("StackingClassifier", ensemble.StackingClassifier([("a", log), ("b", classes)], cv=3), target="three")
    yield of("OneVsRestClassifier", multiclass.OneVsRestClassifier(log), target="three")
    yield of("OneVsOneClassifier", multiclass.OneVsOneClassifier(log), target="three")
    yield of(
        "OutputCodeClassifier",
        multiclass.OutputCodeClassifier(log, random_state=0),
        target="three",
        wanted=lambda m, x: numpy.column_stack([m.predict(x) == c for c in m.classes_]).astype(float),
    )
    yield of("MultiOutputRegressor", multioutput.MultiOutputRegressor(lm.Ridge()), target="targets")
    yield of("MultiOutputClassifier", multioutput.MultiOutputClassifier(log), target="labels")
    yield of("ClassifierChain", multioutput.ClassifierChain(log, random_state=0), target="labels")
    yield of("RegressorChain", multioutput.RegressorChain(lm.Ridge(), random_state=0), target="targets")
    yield of("RFE", feature_selection.RFE(lm.Ridge(), n_features_to_select=2))
    yield of("SelfTrainingClassifier", semi_supervised.SelfTrainingClassifier(log), target="two")
    yield of("TunedThresholdClassifierCV", model_selection.TunedThresholdClassifierCV(log, cv=3, random_state=0), target="two")
    yield of("FixedThresholdClassifier", model_selection.FixedThresholdClassifier(log, threshold=0.4), target="two")


def boosters():
    import catboost
    import lightgbm
    import xgboost
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    def light(kind="Regressor", **settings):
        return getattr(lightgbm, "LGBM" + kind)(n_estimators=12, verbose=-1, n_jobs=1, random_state=0, **settings)

    def extreme(kind="Regressor", **settings):
        return getattr(xgboost, "XGB" + kind)(**{"n_estimators": 12, "max_depth": 4, "n_jobs": 1, **settings})

    def cat(kind="Regressor", **settings):
        return getattr(catboost, "CatBoost" + kind)(
            **{"iterations": 15, "depth": 4, "verbose": 0, "thread_count": 1, "allow_writing_files": False, **settings}
        )

    every = [*NUMBERS, "region"]
    yield of("LGBMRegressor", light())
    yield of("LGBMRegressor, matrix", light(), matrix=True)
    for name, settings in {
        "zero_as_missing": {"zero_as_missing": True},
        "reg_sqrt": {"reg_sqrt": True},
        "dart": {"boosting_type": "dart"},
        "rf": {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.7},
        "linear_tree": {"linear_tree": True},
        "quantile": {"objective": "quantile"},
        "huber": {"objective": "huber"},
        "l1": {"objective": "l1"},
    }.items():
        yield of(f"LGBMRegressor, {name}", light(**settings))
    yield of("LGBMRegressor, poisson", light(objective="poisson"), target="count")
    yield of("LGBMRegressor, gamma", light(objective="gamma"), target="positive")
    yield of("LGBMRegressor, tweedie", light(objective="tweedie"), target="positive")
    yield of("LGBMRegressor, cross_entropy", light(objective="cross_entropy"), target="share")
    yield of("LGBMRegressor, missing values", light(), change=holes, na="keep")
    yield of("LGBMRegressor, pandas category", light(min_data_per_group=5, cat_smooth=1), every, change=category)
    yield of("LGBMRegressor, category of whole numbers", light(min_data_per_group=5, cat_smooth=1), change=hours)
    yield of("LGBMRegressor, time stamps", light(), change=seconds)
    yield of("LGBMRegressor, names with spaces", light(), ["my temp", "hour", "load"], change=lambda f: f.rename(columns={"temp": "my temp"}))
    yield of("LGBMClassifier", light("Classifier"), target="two")
    yield of("LGBMClassifier, words", light("Classifier"), target="words")
    yield of("LGBMClassifier, three", light("Classifier"), target="three words")
    yield of("LGBMClassifier, sigmoid", light("Classifier", sigmoid=0.5), target="two")
    yield of("LGBMClassifier, multiclassova", light("Classifier", objective="multiclassova"), target="three")
    yield of("scaler before LightGBM", scaled(light()))
    yield of("one-hot before LightGBM", encoded(light()), every)
    yield booster("LightGBM's Booster", lambda x, y: lightgbm.train({"verbose": -1}, lightgbm.Dataset(x, y), 12), lambda m, x: m.predict(x))
    yield booster(
        "LightGBM's Booster, binary",
        lambda x, y: lightgbm.train({"verbose": -1, "objective": "binary"}, lightgbm.Dataset(x, y > 0), 12),
        lambda m, x: m.predict(x),
    )
    yield of("XGBRegressor", extreme())
    yield of("XGBRegressor, matrix", extreme(), matrix=True)
    for name, settings in {
        "dart": {"booster": "dart", "rate_drop": 0.2},
        "gblinear": {"booster": "gblinear"},
        "base_score": {"base_score": 3.0},
        "quantile": {"objective": "reg:quantileerror", "quantile_alpha": 0.7},
        "three quantiles": {"objective": "reg:quantileerror", "quantile_alpha": [0.2, 0.5, 0.8]},
        "forest": {"n_estimators": 1, "num_parallel_tree": 5, "subsample": 0.7},
    }.items():
        yield of(f"XGBRegressor, {name}", extreme(**settings))
    yield of("XGBRegressor, two targets", extreme(), target="targets")
    yield of("XGBRegressor, poisson", extreme(objective="count:poisson"), target="count")
    yield of("XGBRegressor, gamma", extreme(objective="reg:gamma"), target="positive")
    yield of("XGBRegressor, tweedie", extreme(objective="reg:tweedie"), target="positive")
    yield of("XGBRegressor, reg:logistic", extreme(objective="reg:logistic"), target="share")
    yield of("XGBRegressor, survival:cox", extreme(objective="survival:cox"), target="positive")
    yield of("XGBRegressor, missing values", extreme(), change=holes, na="keep")
    yield of("XGBRegressor, pandas category", extreme(enable_categorical=True), every, change=category)
    yield of("XGBRegressor, time stamps", extreme(), change=seconds)
    yield of("XGBClassifier", extreme("Classifier"), target="two")
    yield of("XGBClassifier, three", extreme("Classifier"), target="three")
    yield of("XGBClassifier, overfitted", extreme("Classifier", n_estimators=300, learning_rate=1.0), target="two")
    yield of("XGBRFRegressor", extreme("RFRegressor"))
    yield of("XGBRanker", extreme("Ranker"), target="two", fit=lambda m, x, y: m.fit(x, y, qid=numpy.arange(len(x)) // 20))
    yield of("scaler before XGBoost", scaled(extreme()))
    yield of("one-hot before XGBoost", encoded(extreme()), every)
    yield of("XGBoost as the only step", make_pipeline(extreme()))
    yield of("GridSearchCV of XGBoost", GridSearchCV(extreme(), {"max_depth": [2, 3]}, cv=3))
    yield of("XGBoost of the logarithm", TransformedTargetRegressor(extreme(), func=numpy.log, inverse_func=numpy.exp), target="positive")
    yield booster("XGBoost's Booster", lambda x, y: xgboost.train({}, xgboost.DMatrix(x, y), 12), lambda m, x: m.predict(xgboost.DMatrix(x)))
    yield booster("XGBoost's Booster, aft", lambda x, y: aft(xgboost, x, y), lambda m, x: m.predict(xgboost.DMatrix(x)))
    yield of("CatBoostRegressor", cat())
    for name, settings in {
        "Quantile": {"loss_function": "Quantile:alpha=0.7"},
        "MultiQuantile": {"loss_function": "MultiQuantile:alpha=0.2,0.8"},
    }.items():
        yield of(f"CatBoostRegressor, {name}", cat(**settings))
    yield of("CatBoostRegressor, MultiRMSE", cat(loss_function="MultiRMSE"), target="targets")
    yield of("CatBoostRegressor, Poisson", cat(loss_function="Poisson"), target="count")
    yield of("CatBoostRegressor, Tweedie", cat(loss_function="Tweedie:variance_power=1.5"), target="positive")
    yield of("CatBoostRegressor, missing values", cat(), change=holes, na="keep")
    yield of("CatBoostRegressor, text", cat(cat_features=["region"]), every)
    yield of("CatBoostRegressor, text, each category by itself", cat(cat_features=["region"], one_hot_max_size=10), every)
    yield of("CatBoostClassifier, text", cat("Classifier", cat_features=["region"], max_ctr_complexity=2), every, target="three")
    yield of("CatBoostRegressor, numbers as categories", cat(cat_features=["hour", "region"]), every)
    yield of("CatBoostClassifier", cat("Classifier"), target="two")
    yield of("CatBoostClassifier, three words", cat("Classifier"), target="three words")
    yield of("CatBoostClassifier, OneVsAll", cat("Classifier", loss_function="MultiClassOneVsAll"), target="three")
    yield of("CatBoostClassifier, MultiLogloss", cat("Classifier", loss_function="MultiLogloss"), target="labels")


def booster(name, train, wanted):
    def make():
        frame, eta, random = rows()
        return train(frame[NUMBERS], targets("regression", eta, random)), frame[NUMBERS]

    return Case(name, make, wanted)


def aft(xgboost, x, y):
    data = xgboost.DMatrix(x)
    data.set_float_info("label_lower_bound", numpy.exp(y))
    data.set_float_info("label_upper_bound", numpy.exp(y))
    return xgboost.train({"objective": "survival:aft"}, data, 12)


class Duck:
    """An object with a predict, of no library."""

    def predict(self, frame):
        return numpy.sin(frame["hour"].to_numpy() / 4) * frame["temp"].to_numpy()


def function(frame):
    return frame["temp"] * frame["hour"] + (frame["region"] == "north")


def edges():
    import catboost
    import lightgbm
    from sklearn import calibration, ensemble, pipeline, preprocessing
    from sklearn import linear_model as lm
    from sklearn.feature_extraction.text import TfidfVectorizer

    light = lightgbm.LGBMRegressor(n_estimators=12, verbose=-1, n_jobs=1)
    every = [*NUMBERS, "region"]
    forest = ensemble.RandomForestRegressor(5, max_depth=4, random_state=0)
    yield of("a large mean", forest, fit=lambda m, x, y: m.fit(x, y + 1e7))
    yield of("a constant", forest, fit=lambda m, x, y: m.fit(x, 0 * y + 3.3))
    yield of("codes above 2^24, LightGBM", light, change=lambda f: f.assign(hour=f.hour + 2**30))
    yield of("codes above 2^24, line", lm.LinearRegression(), change=lambda f: f.assign(hour=f.hour + 2**30))
    yield of(
        "categories with missing values", light, every, change=lambda f: f.assign(region=f.region.where(f.hour > 3).astype("category")), na="keep"
    )
    yield of("calibrated LightGBM", calibration.CalibratedClassifierCV(lightgbm.LGBMClassifier(n_estimators=5, verbose=-1), cv=3), target="two")
    yield of("scaler that keeps names", pipeline.make_pipeline(preprocessing.StandardScaler().set_output(transform="pandas"), light))
    yield of(
        "mean and its uncertainty",
        catboost.CatBoostRegressor(iterations=5, verbose=0, loss_function="RMSEWithUncertainty", allow_writing_files=False),
    )
    yield of("classes 1 and 2", lm.LogisticRegression(max_iter=1000), fit=lambda m, x, y: m.fit(x, (y > 0) + 1))
    yield of("truth values", lm.LogisticRegression(max_iter=1000), fit=lambda m, x, y: m.fit(x, y > 0), change=lambda f: f.assign(age=f.age > 40))
    yield of("pandas' own types", light, change=lambda f: f.astype({"temp": "Float64", "hour": "Int64"}))

    def words():
        frame, eta, _ = rows()
        return pipeline.make_pipeline(TfidfVectorizer(), lm.Ridge()).fit(frame.region, eta), frame[["region"]]

    yield Case("a vectorizer first", words, lambda m, x: m.predict(x.region))


def others():
    import statsmodels.api as sm
    import statsmodels.formula.api as smf
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    every = [*NUMBERS, "region"]
    few = {"n_jobs": 1, "outer_bags": 2, "max_rounds": 60, "random_state": 0}
    yield of("ExplainableBoostingRegressor", ExplainableBoostingRegressor(interactions=0, **few))
    yield of("ExplainableBoostingRegressor, interactions and text", ExplainableBoostingRegressor(interactions=2, **few), every)
    yield of(
        "ExplainableBoostingRegressor, poisson", ExplainableBoostingRegressor(objective="poisson_deviance", interactions=0, **few), target="count"
    )
    yield of("ExplainableBoostingClassifier", ExplainableBoostingClassifier(interactions=1, **few), target="words")
    yield of("ExplainableBoostingClassifier, three", ExplainableBoostingClassifier(interactions=0, **few), target="three")

    def fitted(fit, kind="regression"):
        def make():
            frame, eta, random = rows()
            frame["y"] = targets(kind, eta, random)
            return fit(frame), frame[every]

        return make

    named = lambda m, x: m.predict(x)  # noqa: E731
    yield Case("statsmodels OLS by formula", fitted(lambda f: smf.ols("y ~ temp + hour + C(region)", f).fit()), named)
    yield Case("statsmodels OLS of columns", fitted(lambda f: sm.OLS(f.y, f[NUMBERS]).fit()), lambda m, x: m.predict(x[NUMBERS]))
    yield Case("statsmodels GLM poisson", fitted(lambda f: smf.glm("y ~ temp + hour", f, family=sm.families.Poisson()).fit(), "count"), named)
    yield Case("statsmodels GLM binomial", fitted(lambda f: smf.glm("y ~ temp + hour", f, family=sm.families.Binomial()).fit(), "two"), named)
    yield Case("statsmodels Logit", fitted(lambda f: smf.logit("y ~ temp + hour", f).fit(disp=0), "two"), named)
    yield Case(
        "statsmodels MNLogit",
        fitted(lambda f: sm.MNLogit(f.y, f[["temp", "hour"]]).fit(disp=0), "three"),
        lambda m, x: m.predict(x[["temp", "hour"]]),
    )
    yield Case("statsmodels GLMGam or robust", fitted(lambda f: smf.rlm("y ~ temp + hour", f).fit()), named)
    yield Case("a function", fitted(lambda f: function), lambda m, x: m(x))
    yield Case("a function of classes", fitted(lambda f: shares), lambda m, x: m(x), {"link": "softmax"})
    yield Case("an object with predict", fitted(lambda f: Duck()), named)
    yield Case("a bound method", fitted(lambda f: Duck().predict), lambda m, x: m(x))
    yield Case("an array", fitted(lambda f: function(f).to_numpy()), lambda m, x: m)
    yield Case("a Series", fitted(lambda f: function(f)), lambda m, x: m)
    yield Case("an array of classes", fitted(lambda f: shares(f)), lambda m, x: m, {"link": "softmax"})
    yield Case("an array of probabilities", fitted(lambda f: shares(f)[:, 0]), lambda m, x: m, {"link": "logit"})


def shares(frame):
    e = numpy.exp(numpy.column_stack([frame["temp"], frame["hour"] / 9, 0 * frame["load"]]))
    return e / e.sum(axis=1, keepdims=True)
