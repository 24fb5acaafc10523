package family

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// response draws a y in f's support.
func response(f Family) *rapid.Generator[float64] {
	switch f.(type) {
	case Binomial:
		// math.Log has no digits below 2.2e-308 on amd64.
		return rapid.OneOf(rapid.Float64Range(1e-300, 1), rapid.SampledFrom([]float64{0, 1, 0.5, 1e-20, 1 - 1e-16}))
	case Poisson:
		return rapid.Map(rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 1e12)), func(i int) float64 { return float64(i) })
	}
	return rapid.Float64Range(-1e6, 1e6)
}

// saturated is the predictor at which the mean is y.
func saturated(f Family, y float64) float64 {
	switch f.(type) {
	case Binomial:
		return math.Log(y) - math.Log1p(-y)
	case Poisson:
		return math.Log(y)
	}
	return y
}

func TestDevianceLaws(t *testing.T) {
	for _, f := range []Family{Gaussian{}, Binomial{}, Poisson{}} {
		t.Run(f.Name(), rapid.MakeCheck(func(t *rapid.T) {
			y := response(f).Draw(t, "y")
			w := rapid.Float64Range(0.01, 100).Draw(t, "w")
			eta := rapid.OneOf(rapid.Float64Range(-700, 700), rapid.SampledFrom([]float64{-800, 800})).Draw(t, "eta")
			d := f.Deviance(y, w, []float64{eta})
			if !(d >= 0) {
				t.Fatalf("deviance %v at eta = %v is negative", d, eta)
			}
			top := saturated(f, y)
			if d := f.Deviance(y, w, []float64{top}); d > 1e-28 { // top is rounded
				t.Fatalf("deviance %v at the saturated predictor %v", d, top)
			}
			if double := f.Deviance(y, 2*w, []float64{eta}); math.Abs(double-2*d) > 1e-300 {
				t.Fatalf("deviance %v at weight w, %v at 2w", d, double)
			}
			// d = 2 [loglik(saturated) - loglik(eta)] at phi = 1. The binomial saturated
			// log-likelihood is w times the negative entropy of y.
			l, sat := f.LogLik(y, w, []float64{eta}, 1), f.LogLik(y, w, []float64{top}, 1)
			if math.IsInf(d, 1) != math.IsInf(l, -1) {
				t.Fatalf("deviance %v, log-likelihood %v", d, l)
			}
			if !math.IsInf(d, 0) && math.Abs(d-2*(sat-l)) > 1e-12*(math.Abs(sat)+math.Abs(l))+1e-300 {
				t.Fatalf("deviance %v, twice the drop in log-likelihood %v", d, 2*(sat-l))
			}
			if f.Mass() && l > 0 {
				t.Fatalf("log-probability %v", l)
			}
		}))
	}
}

// TestMeanSaturated: the mean at the saturated predictor is y.
func TestMeanSaturated(t *testing.T) {
	for _, f := range []Family{Gaussian{}, Binomial{}, Poisson{}} {
		t.Run(f.Name(), rapid.MakeCheck(func(t *rapid.T) {
			y := response(f).Draw(t, "y")
			if m := f.Mean([]float64{saturated(f, y)}); math.Abs(m-y) > 1e-13*math.Abs(y) {
				t.Fatalf("mean %v, want %v", m, y)
			}
		}))
	}
}

// TestWeightIsRepetition: integer weights count repetitions of a row, for
// gaussian up to the constant of a variance that is divided.
func TestWeightIsRepetition(t *testing.T) {
	for _, f := range []Family{Binomial{}, Poisson{}} {
		t.Run(f.Name(), rapid.MakeCheck(func(t *rapid.T) {
			y := response(f).Draw(t, "y")
			eta := []float64{rapid.Float64Range(-20, 20).Draw(t, "eta")}
			one, three := f.LogLik(y, 1, eta, 1), f.LogLik(y, 3, eta, 1)
			if math.Abs(three-3*one) > 1e-14*math.Abs(three) {
				t.Fatalf("weight 3: %v, three rows: %v", three, 3*one)
			}
		}))
	}
}

// TestProportions: rows of 0 and 1 have the log-likelihood of the proportion
// they add up to.
func TestProportions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "trials")
		s := rapid.IntRange(0, n).Draw(t, "successes")
		eta := []float64{rapid.Float64Range(-30, 30).Draw(t, "eta")}
		rows := float64(s)*Binomial{}.LogLik(1, 1, eta, 1) + float64(n-s)*Binomial{}.LogLik(0, 1, eta, 1)
		group := Binomial{}.LogLik(float64(s)/float64(n), float64(n), eta, 1)
		if math.Abs(rows-group) > 1e-12*math.Abs(rows) {
			t.Fatalf("rows %v, proportion %v", rows, group)
		}
	})
}

// TestGaussianDispersion: phi and 1/w are one variance; the log-likelihood of
// all rows is largest at phi = sum of deviances over sum of weights (for unit
// weights); two predictors say the same as one and its dispersion.
func TestGaussianDispersion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.Float64Range(-100, 100).Draw(t, "y")
		mu := rapid.Float64Range(-100, 100).Draw(t, "mu")
		w := rapid.Float64Range(0.01, 100).Draw(t, "w")
		phi := rapid.Float64Range(1e-6, 1e6).Draw(t, "phi")
		l := Gaussian{}.LogLik(y, w, []float64{mu}, phi)
		for name, other := range map[string]float64{
			"weights into the dispersion": Gaussian{}.LogLik(y, 1, []float64{mu}, phi/w),
			"log scale":                   GaussianLS{}.LogLik(y, w, []float64{mu, math.Log(phi) / 2}, 0),
			"softplus scale":              GaussianLS{Scale: SoftplusScale}.LogLik(y, w, []float64{mu, logExpm1(math.Sqrt(phi))}, 0),
		} {
			if math.Abs(other-l) > 1e-9*max(1, math.Abs(l)) {
				t.Fatalf("%s: %v, want %v", name, other, l)
			}
		}
		rows := rapid.SliceOfN(rapid.Float64Range(-10, 10), 3, 20).Draw(t, "rows")
		rows = append(rows, 11) // not all on the mean
		total, deviance := func(phi float64) (s float64) {
			for _, y := range rows {
				s += Gaussian{}.LogLik(y, 1, []float64{0}, phi)
			}
			return s
		}, 0.0
		for _, y := range rows {
			deviance += Gaussian{}.Deviance(y, 1, []float64{0})
		}
		best := deviance / float64(len(rows))
		if at := total(best); at <= total(best*1.1) || at <= total(best/1.1) {
			t.Fatalf("the log-likelihood is not largest at phi = %v", best)
		}
	})
}

// logExpm1 is the inverse of softplus.
func logExpm1(x float64) float64 {
	return x + math.Log(-math.Expm1(-x))
}

// At any dispersion two predictors' deviances differ by 2 phi times what their
// log-likelihoods do: whoever has one has the other (package importance).
func TestDeviancesDifferAsLogLikelihoods(t *testing.T) {
	held := func(f Shaped, values ...float64) Family {
		h, err := Hold(f, values...)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	for _, c := range []struct {
		family Family
		y      *rapid.Generator[float64]
	}{
		{Gaussian{}, rapid.Float64Range(-10, 10)},
		{Gamma{}, rapid.Float64Range(0.01, 10)},
		{Binomial{}, rapid.Float64Range(0, 1)},
		{Poisson{}, rapid.Map(rapid.IntRange(0, 40), func(i int) float64 { return float64(i) })},
		{held(NegativeBinomial{}, 1.5), rapid.Map(rapid.IntRange(0, 40), func(i int) float64 { return float64(i) })},
		{held(Beta{}, 3), rapid.Float64Range(0.01, 0.99)},
		{held(StudentT{}, 2, 4), rapid.Float64Range(-10, 10)},
		{Tweedie{1.5}, rapid.OneOf(rapid.Just(0.), rapid.Float64Range(0.01, 10))},
		{Tweedie{1.05}, rapid.OneOf(rapid.Just(0.), rapid.Float64Range(0.01, 10))},
		{InverseGaussian{}, rapid.Float64Range(0.01, 10)},
		{held(ZIP{}, 0.3), rapid.Map(rapid.IntRange(0, 40), func(i int) float64 { return float64(i) })},
		{held(AFT{}, 0.8), rapid.Float64Range(0.01, 10)},
		{held(AFT{Distribution: Weibull}, 0.8), rapid.Float64Range(0.01, 10)},
		{Censored(held(AFT{Distribution: LogLogistic}, 0.8)), rapid.Float64Range(0.01, 10)},
		{Censored(held(AFT{}, 0.8)), rapid.Float64Range(0.01, 10)},
		{twoRates(), rapid.Float64Range(0.01, 1.9)},
		{Censored(twoRates()), rapid.Float64Range(0.01, 10)},
	} {
		t.Run(c.family.Name(), rapid.MakeCheck(func(t *rapid.T) {
			y, w, phi := c.y.Draw(t, "y"), rapid.Float64Range(0.01, 100).Draw(t, "w"), rapid.Float64Range(0.01, 100).Draw(t, "phi")
			if !c.family.HasDispersion() {
				phi = 1
			}
			a, b := rapid.Float64Range(-5, 5).Draw(t, "eta"), rapid.Float64Range(-5, 5).Draw(t, "other")
			da, db := c.family.Deviance(y, w, []float64{a}), c.family.Deviance(y, w, []float64{b})
			la, lb := c.family.LogLik(y, w, []float64{a}, phi), c.family.LogLik(y, w, []float64{b}, phi)
			if scale := da + db + 2*phi*(math.Abs(la)+math.Abs(lb)); !(math.Abs(da-db-2*phi*(lb-la)) <= 1e-11*scale) {
				t.Fatalf("deviances differ by %v, 2 phi times the log-likelihoods by %v", da-db, 2*phi*(lb-la))
			}
		}))
	}
}
