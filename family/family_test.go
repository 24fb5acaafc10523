package family

import (
	"math"
	"strings"
	"testing"
)

// TestExtremes: values far from the data, where the textbook formulas overflow
// or cancel. Expected values are derived by hand.
func TestExtremes(t *testing.T) {
	inf := math.Inf(1)
	soft := GaussianLS{Scale: SoftplusScale}
	half := -log2Pi / 2
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"binomial 1 at 800", Binomial{}.LogLik(1, 1, []float64{800}, 1), 0},
		{"binomial 0 at 800", Binomial{}.LogLik(0, 1, []float64{800}, 1), -800},
		{"binomial 1 at -800", Binomial{}.LogLik(1, 2, []float64{-800}, 1), -1600},
		{"binomial 1 at 40 keeps its digits", Binomial{}.LogLik(1, 1, []float64{40}, 1), -math.Exp(-40)},
		{"binomial half at 800", Binomial{}.LogLik(0.5, 1, []float64{800}, 1), -400},
		{"binomial 1 at +Inf", Binomial{}.LogLik(1, 1, []float64{inf}, 1), 0},
		{"binomial 0 at +Inf", Binomial{}.LogLik(0, 1, []float64{inf}, 1), -inf},
		{"binomial 1 at -Inf, no weight", Binomial{}.LogLik(1, 0, []float64{-inf}, 1), 0},
		{"binomial deviance of 0 at 800", Binomial{}.Deviance(0, 1, []float64{800}), 1600},
		{"binomial deviance of a half at 800", Binomial{}.Deviance(0.5, 1, []float64{800}), 800 - 2*math.Ln2},
		{"binomial deviance of 1e-20 at 1", Binomial{}.Deviance(1e-20, 1, []float64{1}), 2 * math.Log1p(math.E)},
		{"binomial deviance next to its mean", Binomial{}.Deviance(0.5, 1, []float64{1e-6}), 0.25e-12},
		{"cloglog 1 at 800", Binomial{By: "cloglog"}.LogLik(1, 1, []float64{800}, 1), 0},
		{"cloglog 1 at -800", Binomial{By: "cloglog"}.LogLik(1, 2, []float64{-800}, 1), -1600},
		{"cloglog 0 at +Inf", Binomial{By: "cloglog"}.LogLik(0, 1, []float64{inf}, 1), -inf},
		{"cloglog deviance of 0 at 3", Binomial{By: "cloglog"}.Deviance(0, 1, []float64{3}), 2 * math.Exp(3)},
		{"cloglog mean at -700", Binomial{By: "cloglog"}.Mean([]float64{-700}), math.Exp(-700)},
		{"binomial mean at 800", Binomial{}.Mean([]float64{800}), 1},
		{"binomial mean at -700", Binomial{}.Mean([]float64{-700}), math.Exp(-700)},
		{"poisson 0 at -800", Poisson{}.LogLik(0, 1, []float64{-800}, 1), 0},
		{"poisson 3 at -800", Poisson{}.LogLik(3, 1, []float64{-800}, 1), -2400 - math.Log(6)},
		{"poisson 3 at 800", Poisson{}.LogLik(3, 1, []float64{800}, 1), -inf},
		{"poisson 0 at -Inf", Poisson{}.LogLik(0, 1, []float64{-inf}, 1), 0},
		{"poisson 1 at -Inf", Poisson{}.LogLik(1, 1, []float64{-inf}, 1), -inf},
		{"poisson 1 at +Inf", Poisson{}.LogLik(1, 1, []float64{inf}, 1), -inf},
		{"poisson 1e9 at its mean", Poisson{}.LogLik(1e9, 1, []float64{math.Log(1e9)}, 1), half - math.Log(1e9)/2 - 1/12e9},
		{"poisson deviance next to its mean", Poisson{}.Deviance(1, 1, []float64{1e-7}), 1e-14 * (1 + 1e-7/3)},
		{"poisson deviance of 0 at -800", Poisson{}.Deviance(0, 1, []float64{-800}), 0},
		{"gaussian met exactly, no dispersion", Gaussian{}.LogLik(2, 1, []float64{2}, 0), inf},
		{"gaussian missed, no dispersion", Gaussian{}.LogLik(2, 1, []float64{3}, 0), -inf},
		{"gaussian of no weight", Gaussian{}.LogLik(2, 0, []float64{3}, 0), 0},
		{"gaussian at -Inf", Gaussian{}.LogLik(2, 1, []float64{-inf}, 1), -inf},
		{"gaussian deviance of no weight at Inf", Gaussian{}.Deviance(2, 0, []float64{inf}), 0},
		{"gaussian, residual and deviation of 1e-150", Gaussian{}.LogLik(0, 1, []float64{1e-150}, 1e-300), half + 150*math.Ln10 - 0.5},
		{"floor 0.5, log scale -800", GaussianLS{Floor: 0.5}.LogLik(1, 1, []float64{0, -800}, 1), half - math.Log(0.5) - 2},
		{"floor 0.5, log scale 800", GaussianLS{Floor: 0.5}.LogLik(1, 1, []float64{0, 800}, 1), half - 800},
		{"floor 0.5, softplus scale", GaussianLS{SoftplusScale, 0.5}.LogLik(1, 1, []float64{1, 0}, 1), half - math.Log(0.5+math.Ln2)},
		{"log scale 800", GaussianLS{}.LogLik(1, 1, []float64{0, 800}, 1), half - 800},
		{"log scale -800, met", GaussianLS{}.LogLik(1, 1, []float64{1, -800}, 1), half + 800},
		{"log scale -800, missed", GaussianLS{}.LogLik(1, 1, []float64{0, -800}, 1), -inf},
		{"softplus scale 800", soft.LogLik(1, 1, []float64{1, 800}, 1), half - math.Log(800)},
		{"softplus scale -800, met", soft.LogLik(1, 1, []float64{1, -800}, 1), half + 800},
		{"gaussian of two predictors: mean", soft.Mean([]float64{3, -800}), 3},
	} {
		tol := 4e-15
		if c.what == "binomial deviance next to its mean" {
			tol = 1e-9 // absolute error 1e-16 |delta|; without its own formula it would be 1e-4
		}
		if c.got != c.want && !(math.Abs(c.got-c.want) <= tol*math.Abs(c.want)) {
			t.Errorf("%s: %.17g, want %.17g", c.what, c.got, c.want)
		}
	}
}

func TestMisuseIsNaN(t *testing.T) {
	one, two, none := []float64{0}, []float64{0, 0}, []float64(nil)
	for _, f := range []Family{Gaussian{}, Binomial{}, Poisson{}, GaussianLS{}, Tweedie{1.5}, InverseGaussian{}, ZIP{}, AFT{}, twoRates(), held(ZIP{}, 0.5), Censored(AFT{})} {
		right, wrong := one, two
		if f.Predictors() == 2 {
			right, wrong = two, one
		}
		for what, v := range map[string]float64{
			"LogLik with another K":         f.LogLik(1, 1, wrong, 1),
			"LogLik without predictors":     f.LogLik(1, 1, none, 1),
			"LogLik of a negative weight":   f.LogLik(1, -1, right, 1),
			"LogLik of weight NaN":          f.LogLik(1, math.NaN(), right, 1),
			"Deviance with another K":       f.Deviance(1, 1, wrong),
			"Deviance of a negative weight": f.Deviance(1, -1, right),
			"Mean with another K":           f.Mean(wrong),
		} {
			if !math.IsNaN(v) {
				t.Errorf("%T: %s is %v, want NaN", f, what, v)
			}
		}
	}
	if v := (Gaussian{}).LogLik(1, 1, one, -1); !math.IsNaN(v) {
		t.Errorf("negative dispersion: %v, want NaN", v)
	}
	if v := (GaussianLS{Floor: -1}).LogLik(1, 1, two, 1); !math.IsNaN(v) {
		t.Errorf("a negative floor gives %v", v)
	}
	if v := (GaussianLS{Scale: 7}).LogLik(1, 1, two, 1); !math.IsNaN(v) {
		t.Errorf("unknown scale link: %v, want NaN", v)
	}
}

func TestCheckMessages(t *testing.T) {
	const binomial = " is outside the support, 0 or 1 or a proportion between them (with the number of trials as the weight)"
	for _, c := range []struct {
		f    Family
		y    float64
		want string
	}{
		{Gaussian{}, math.NaN(), "family gaussian: response NaN is outside the support, the finite real numbers"},
		{GaussianLS{}, math.Inf(-1), "family gaussian: response -Inf is outside the support, the finite real numbers"},
		{Gaussian{}, -1e300, ""},
		{GaussianLS{}, 0, ""},
		{Binomial{}, 2, "family binomial: response 2" + binomial},
		{Binomial{}, -0.5, "family binomial: response -0.5" + binomial},
		{Binomial{}, math.NaN(), "family binomial: response NaN" + binomial},
		{Binomial{}, 0, ""},
		{Binomial{}, 0.25, ""},
		{Binomial{}, 1, ""},
		{Poisson{}, 2.5, "family poisson: response 2.5 is outside the support, the non-negative integers"},
		{Poisson{}, -1, "family poisson: response -1 is outside the support, the non-negative integers"},
		{Poisson{}, math.Inf(1), "family poisson: response +Inf is outside the support, the non-negative integers"},
		{Poisson{}, math.NaN(), "family poisson: response NaN is outside the support, the non-negative integers"},
		{Tweedie{1.5}, -0.5, "family tweedie: response -0.5 is outside the support, 0 and the finite positive numbers"},
		{Tweedie{1.5}, 0, ""},
		{InverseGaussian{}, 0, "family inverse-gaussian: response 0 is outside the support, the finite positive numbers"},
		{AFT{}, 0, "family lognormal: response 0 is outside the support, the finite positive numbers"},
		{AFT{Distribution: Weibull}, -1, "family weibull: response -1 is outside the support, the finite positive numbers"},
		{held(AFT{Distribution: LogLogistic}, 2), math.NaN(), "family log-logistic: response NaN is outside the support, the finite positive numbers"},
		{ZIP{}, 0.5, "family zip: response 0.5 is outside the support, the non-negative integers"},
		{Cox{}, 0, "family cox: response 0 is outside the support, the finite positive numbers"},
		{Gamma{}, 0, "family gamma: response 0 is outside the support, the finite positive numbers"},
		{Gamma{}, 2.5, ""},
		{NegativeBinomial{}, 2.5, "family negative-binomial: response 2.5 is outside the support, the non-negative integers"},
		{held(NegativeBinomial{}, 2), -1, "family negative-binomial: response -1 is outside the support, the non-negative integers"},
		{Beta{}, 0, "family beta: response 0 is outside the support, the numbers between 0 and 1, both excluded"},
		{held(Beta{}, 2), 1, "family beta: response 1 is outside the support, the numbers between 0 and 1, both excluded"},
		{Beta{}, math.NaN(), "family beta: response NaN is outside the support, the numbers between 0 and 1, both excluded"},
		{Beta{}, 1e-300, ""},
		{StudentT{}, math.Inf(1), "family student-t: response +Inf is outside the support, the finite real numbers"},
		{held(StudentT{}, 2), -1e300, ""},
		{Poisson{}, 0, ""},
		{Poisson{}, 1e15, ""},
	} {
		got := ""
		if err := c.f.Check(c.y); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%T.Check(%v):\n got %q\nwant %q", c.f, c.y, got, c.want)
		}
	}
}

// held is Hold where it cannot fail.
func held(f Shaped, values ...float64) Held {
	h, err := Hold(f, values...)
	if err != nil {
		panic(err)
	}
	return h
}

func TestParse(t *testing.T) {
	const known = "(known: gaussian, binomial, poisson, negative-binomial, gamma, beta, student-t, categorical, ordinal, tweedie, inverse-gaussian, zip, lognormal, weibull, log-logistic, cox)"
	for _, c := range []struct {
		name  string
		heads []string
		want  Family
		err   string
	}{
		{name: "gaussian", heads: []string{""}, want: Gaussian{}},
		{name: "gaussian", heads: []string{"", ""}, want: GaussianLS{Scale: LogScale}},
		{name: "gaussian", heads: []string{"", "exp"}, want: GaussianLS{Scale: LogScale}},
		{name: "gaussian", heads: []string{"", "softplus"}, want: GaussianLS{Scale: SoftplusScale}},
		{name: "gaussian", heads: []string{"", "softplus+0.1"}, want: GaussianLS{SoftplusScale, 0.1}},
		{name: "gaussian", heads: []string{"", "exp+1e-02"}, want: GaussianLS{LogScale, 0.01}},
		{name: "gaussian", heads: []string{"", "sigmoid+1"}, err: `family gaussian: predictor 2 of the model ends in "sigmoid+1", which is not the inverse of the family's link: want no head or exp or softplus`},
		{name: "gaussian", heads: []string{"", "softplus+NaN"}, err: `family gaussian: predictor 2 of the model ends in "softplus+NaN", which is not the inverse of the family's link: want no head or exp or softplus`},
		{name: "poisson", heads: []string{"exp+0.1"}, err: `family poisson: predictor 1 of the model ends in "exp+0.1", which is not the inverse of the family's link: want no head or exp`},
		{name: "binomial", heads: []string{""}, want: Binomial{}},
		{name: "binomial", heads: []string{"sigmoid"}, want: Binomial{}},
		{name: "poisson", heads: []string{""}, want: Poisson{}},
		{name: "poisson", heads: []string{"exp"}, want: Poisson{}},
		{name: "gamma", heads: []string{"exp"}, want: Gamma{}},
		{name: "binomial", heads: []string{"inv_cloglog"}, want: Binomial{By: "cloglog"}},
		{name: "binomial(link=cloglog)", heads: []string{""}, want: Binomial{By: "cloglog"}},
		{name: "binomial(link=logit)", heads: []string{"sigmoid"}, want: Binomial{}},
		{name: "binomial(link=cloglog)", heads: []string{"sigmoid"}, err: `family binomial: predictor 1 of the model ends in "sigmoid", which is not the inverse of the family's link: want no head or inv_cloglog`},
		{name: "binomial(link=probit)", heads: []string{""}, err: `family binomial: the link is "probit": it is logit or cloglog`},
		{name: "categorical(link=identity)", heads: []string{"", "", ""}, want: Categorical{classes: 3, identity: true}},
		{name: "categorical(link=identity)", heads: []string{"softmax", "softmax"}, err: `family categorical: predictor 1 of the model ends in "softmax", and with the link identity the predictors are the probabilities of the classes`},
		{name: "categorical(link=identity)", heads: []string{""}, err: "family categorical: with the link identity it takes the probabilities of two classes or more, but the model has 1 predictors"},
		{name: "negative-binomial", heads: []string{"exp"}, want: held(NegativeBinomial{}, math.NaN())},
		{name: "negative-binomial(theta=2.5)", heads: []string{""}, want: held(NegativeBinomial{}, 2.5)},
		{name: "negative-binomial", heads: []string{"", "exp"}, want: NegativeBinomial{}},
		{name: "beta(phi=30)", heads: []string{"sigmoid"}, want: held(Beta{}, 30)},
		{name: "beta", heads: []string{"sigmoid", "exp"}, want: Beta{}},
		{name: "student-t", heads: []string{""}, want: held(StudentT{}, math.NaN(), math.NaN())},
		{name: "student-t(df=4)", heads: []string{""}, want: held(StudentT{}, math.NaN(), 4)},
		{name: "student-t(sigma=0.5,df=4)", heads: []string{""}, want: held(StudentT{}, 0.5, 4)},
		{name: "student-t(df=4)", heads: []string{"", "exp"}, want: held(StudentT{}, 4)},
		{name: "student-t", heads: []string{"", "", ""}, want: StudentT{}},
		{name: "student-t", heads: make([]string, 4), err: "family student-t takes 1 (the location), 2 (and the logarithm of the scale) or 3 (and that of df), but the model has 4 predictors"},
		{name: "student-t(df=4)", heads: make([]string, 3), err: "family student-t: df is a predictor of the model, so no number can be given for it"},
		{name: "student-t(sigma=1)", heads: []string{""}, err: "family student-t: df is unknown while parameters before it are given: give df too"},
		{name: "beta(theta=1)", heads: []string{""}, err: `family beta has no parameter "theta": it has phi, as in beta(phi=4)`},
		{name: "poisson(theta=1)", heads: []string{""}, err: `family poisson has no parameter "theta": it has none`},
		{name: "beta(phi=-1)", heads: []string{""}, err: `family "beta(phi=-1)": "phi=-1" is not a parameter with a positive number, as in negative-binomial(theta=2)`},
		{name: "beta(phi=1", heads: []string{""}, err: `family "beta(phi=1": the parenthesis is not closed`},
		{name: "beta", heads: []string{"exp"}, err: `family beta: predictor 1 of the model ends in "exp", which is not the inverse of the family's link: want no head or sigmoid`},
		{name: "negbin", heads: []string{""}, err: `unknown family "negbin": did you mean negative-binomial? ` + known},
		{name: "student", heads: []string{""}, err: `unknown family "student": did you mean student-t? ` + known},
		{name: "gaussian", heads: make([]string, 3), err: "family gaussian takes 1 (the mean) or 2 (the mean and the scale), but the model has 3 predictors"},
		{name: "gaussian", err: "family gaussian takes 1 (the mean) or 2 (the mean and the scale), but the model has 0 predictors"},
		{name: "binomial", heads: []string{"softmax", "softmax"}, err: "family binomial takes 1 (the log odds), but the model has 2 predictors"},
		{name: "poisson", heads: []string{"", "exp"}, err: "family poisson takes 1 (the logarithm of the mean), but the model has 2 predictors"},
		{name: "poisson", heads: []string{"softplus"}, err: `family poisson: predictor 1 of the model ends in "softplus", which is not the inverse of the family's link: want no head or exp`},
		{name: "gaussian", heads: []string{"sigmoid"}, err: `family gaussian: predictor 1 of the model ends in "sigmoid", which is not the inverse of the family's link: want no head`},
		{name: "gaussian", heads: []string{"", "sigmoid"}, err: `family gaussian: predictor 2 of the model ends in "sigmoid", which is not the inverse of the family's link: want no head or exp or softplus`},
		{name: "guassian", heads: []string{""}, err: `unknown family "guassian": did you mean gaussian? ` + known},
		{name: "Poisson", heads: []string{""}, err: `unknown family "Poisson": did you mean poisson? ` + known},
		{name: "binom", heads: []string{""}, err: `unknown family "binom": did you mean binomial? ` + known},
		{name: "normal", heads: []string{""}, err: `unknown family "normal": did you mean gaussian? ` + known},
		{name: "bernoulli", heads: []string{""}, err: `unknown family "bernoulli": did you mean binomial? ` + known},
		{name: "weib", heads: []string{""}, err: `unknown family "weib": did you mean weibull? ` + known},
		{name: "survreg", heads: []string{""}, err: `unknown family "survreg": did you mean weibull? ` + known},
		{name: "coxph", heads: []string{""}, err: `unknown family "coxph": did you mean cox? ` + known},
		{name: "Tweedy", heads: []string{""}, err: `unknown family "Tweedy": did you mean tweedie? ` + known},
		{name: "tweedie", heads: []string{"exp"}, want: Tweedie{}},
		{name: "tweedie(p=1.5)", heads: []string{""}, want: Tweedie{1.5}},
		{name: "tweedie(p=2)", heads: []string{""}, err: "family tweedie: p is 2: it is a number between 1 and 2, both excluded; 1 is poisson, 2 gamma, 3 inverse-gaussian"},
		{name: "tweedie(phi=2)", heads: []string{""}, err: `family tweedie has no parameter "phi": it has p, as in tweedie(p=1.5)`},
		{name: "tweedie(p=1.5)", heads: []string{"", ""}, err: "family tweedie takes 1 (the logarithm of the mean), but the model has 2 predictors"},
		{name: "inverse-gaussian", heads: []string{"exp"}, want: InverseGaussian{}},
		{name: "zip", heads: []string{"exp", "sigmoid"}, want: ZIP{}},
		{name: "zip", heads: []string{""}, want: held(ZIP{}, math.NaN())},
		{name: "zip(pi=0.3)", heads: []string{"exp"}, want: held(ZIP{}, 0.3)},
		{name: "zip(pi=3)", heads: []string{"exp"}, err: "family zip: pi is 3: it is a number between 0 and 1"},
		{name: "zip(p=3)", heads: []string{"exp"}, err: `family zip has no parameter "p": it has pi, as in zip(pi=0.3)`},
		{name: "lognormal", heads: []string{"", "exp"}, want: AFT{}},
		{name: "lognormal(sigma=2)", heads: []string{""}, want: held(AFT{}, 2)},
		{name: "weibull", heads: []string{"exp", ""}, want: AFT{Distribution: Weibull}},
		{name: "weibull(scale=0.5)", heads: []string{"exp"}, want: held(AFT{Distribution: Weibull}, 0.5)},
		{name: "log-logistic", heads: []string{""}, want: held(AFT{Distribution: LogLogistic}, math.NaN())},
		{name: "cox", heads: []string{""}, want: Cox{}},
		{name: "cox(intervals=7)", heads: []string{"exp"}, want: Cox{Intervals: 7}},
		{name: "cox(intervals=1.5)", heads: []string{"exp"}, err: "family cox: intervals is 1.5: it is a whole number from 1 to 1000"},
		{name: "", heads: []string{""}, err: `unknown family "" ` + known},
		{name: "a\nb", heads: []string{""}, err: `unknown family "a\nb" ` + known},
	} {
		f, err := Parse(c.name, c.heads)
		if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("Parse(%q, %q):\n got error %v\nwant error %s", c.name, c.heads, err, c.err)
		}
		if f != c.want {
			t.Errorf("Parse(%q, %q) = %#v, want %#v", c.name, c.heads, f, c.want)
		}
		without := func(name string) string { // its link, which heads tell as well
			name, _, _ = strings.Cut(name, "(link=")
			return name
		}
		if f != nil && (without(f.Name()) != without(c.name) || f.Predictors() != len(c.heads)) {
			t.Errorf("Parse(%q, %q) is %s with %d predictors", c.name, c.heads, f.Name(), f.Predictors())
		}
	}
}

func TestSuggested(t *testing.T) {
	for _, c := range []struct {
		heads []string
		want  string
	}{{[]string{"sigmoid"}, "binomial"}, {[]string{"exp"}, "poisson"}, {[]string{""}, "gaussian"}, {[]string{"exp", "exp"}, "gaussian"}, {nil, "gaussian"}} {
		if got := Suggested(c.heads); got != c.want {
			t.Errorf("heads %q suggest %q, want %q", c.heads, got, c.want)
		}
	}
}
