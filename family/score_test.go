package family

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// differentiable lists the families with gradients, with a generator of moderate
// responses for each.
func differentiable() map[string]struct {
	f Differentiable
	y *rapid.Generator[float64]
} {
	type entry = struct {
		f Differentiable
		y *rapid.Generator[float64]
	}
	count := rapid.Map(rapid.IntRange(0, 30), func(i int) float64 { return float64(i) })
	positive := rapid.Float64Range(0.01, 20)
	return map[string]entry{
		"gaussian":                       {Gaussian{}, rapid.Float64Range(-5, 5)},
		"gaussian log scale":             {GaussianLS{}, rapid.Float64Range(-5, 5)},
		"gaussian softplus scale":        {GaussianLS{Scale: SoftplusScale}, rapid.Float64Range(-5, 5)},
		"gaussian log scale, floor":      {GaussianLS{Floor: 0.3}, rapid.Float64Range(-5, 5)},
		"gaussian softplus scale, floor": {GaussianLS{SoftplusScale, 0.3}, rapid.Float64Range(-5, 5)},
		"binomial":                       {Binomial{}, rapid.Float64Range(0, 1)},
		"binomial, cloglog":              {Binomial{By: "cloglog"}, rapid.Float64Range(0, 1)},
		"poisson":                        {Poisson{}, count},
		"gamma":                          {Gamma{}, rapid.Float64Range(0.01, 20)},
		"negative binomial":              {NegativeBinomial{}, count},
		"negative binomial, held":        {held(NegativeBinomial{}, 2.5), count},
		"beta":                           {Beta{}, rapid.Float64Range(0.001, 0.999)},
		"beta, held":                     {held(Beta{}, 7), rapid.Float64Range(0.001, 0.999)},
		"student t":                      {StudentT{}, rapid.Float64Range(-20, 20)},
		"student t, df held":             {held(StudentT{}, 4), rapid.Float64Range(-20, 20)},
		"student t, both held":           {held(StudentT{}, 0.7, 4), rapid.Float64Range(-20, 20)},
		"tweedie":                        {Tweedie{1.5}, positive},
		"tweedie next to poisson":        {Tweedie{1.02}, rapid.SampledFrom([]float64{0, 0.3, 2, 5})},
		"tweedie next to gamma":          {Tweedie{1.98}, positive},
		"inverse gaussian":               {InverseGaussian{}, positive},
		"zip":                            {ZIP{}, count},
		"zip, held":                      {held(ZIP{}, 0.3), count},
		"lognormal":                      {AFT{}, positive},
		"weibull":                        {AFT{Distribution: Weibull}, positive},
		"log-logistic":                   {AFT{Distribution: LogLogistic}, positive},
		"lognormal, held":                {held(AFT{}, 0.8), positive},
		"lognormal, censored":            {of(AFT{}), positive},
		"weibull, censored":              {of(AFT{Distribution: Weibull}), positive},
		"log-logistic, censored":         {of(AFT{Distribution: LogLogistic}), positive},
		"weibull, held and censored":     {of(held(AFT{Distribution: Weibull}, 0.8)), positive},
		"cox":                            {twoRates(), positive},
		"cox, censored":                  {of(twoRates()), positive},
	}
}

// of is Censored for families of times that can be fitted by gradients.
func of(f Family) Differentiable { return Censored(f).(Differentiable) }

// twoRates is proportional hazards with three intervals.
func twoRates() Cox {
	e, err := NewExposure([]float64{0.4, 2})
	if err != nil {
		panic(err)
	}
	for i, y := range []float64{0.2, 0.3, 0.4, 1, 1.5, 2, 3, 8} {
		e.Add(y, 1, 0, i%3 != 1)
	}
	h, err := e.Hazard()
	if err != nil {
		panic(err)
	}
	return Cox{Baseline: h}
}

// TestScore compares with central differences of LogLik.
func TestScore(t *testing.T) {
	for name, c := range differentiable() {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			k := c.f.Predictors()
			y, w := c.y.Draw(t, "y"), rapid.Float64Range(0.1, 4).Draw(t, "w")
			phi := rapid.Float64Range(0.2, 3).Draw(t, "phi")
			eta := rapid.SliceOfN(rapid.Float64Range(-2, 2), k, k).Draw(t, "eta")
			grad, info := make([]float64, k), make([]float64, k)
			c.f.Score(grad, info, y, w, eta, phi)
			for i := range eta {
				const h = 1e-5
				old := eta[i]
				eta[i] = old + h
				up := c.f.LogLik(y, w, eta, phi)
				eta[i] = old - h
				want := (up - c.f.LogLik(y, w, eta, phi)) / (2 * h)
				eta[i] = old
				if math.Abs(grad[i]-want) > 1e-6*(1+math.Abs(want)) {
					t.Fatalf("predictor %d: score %v, difference quotient %v", i, grad[i], want)
				}
				if !(info[i] >= 0) {
					t.Fatalf("predictor %d: information %v", i, info[i])
				}
			}
			alone := make([]float64, k)
			if c.f.Score(alone, nil, y, w, eta, phi); !slices.Equal(alone, grad) {
				t.Fatalf("score %v without information, %v with", alone, grad)
			}
			c.f.Score(grad, info, y, 0, eta, phi)
			for i := range grad {
				if grad[i] != 0 || info[i] != 0 {
					t.Fatalf("weight 0: score %v, information %v", grad, info)
				}
			}
		}))
	}
}

// TestInformation: the expected square of the score is the information (w = 1),
// here for families whose expectation is a short sum or a quadrature.
func TestInformation(t *testing.T) {
	check := func(name string, f Differentiable, eta []float64, support func(yield func(y, p float64))) {
		k := f.Predictors()
		grad, info, sum := make([]float64, k), make([]float64, k), make([]float64, k)
		support(func(y, p float64) {
			f.Score(grad, info, y, 1, eta, 1)
			for i, g := range grad {
				sum[i] += p * g * g
			}
		})
		for i := range sum {
			if math.Abs(sum[i]-info[i]) > 1e-4*(1+info[i]) {
				t.Errorf("%s, predictor %d: E score^2 = %v, information %v", name, i, sum[i], info[i])
			}
		}
	}
	check("binomial", Binomial{}, []float64{0.4}, func(yield func(y, p float64)) {
		for _, y := range []float64{0, 1} {
			yield(y, math.Exp(Binomial{}.LogLik(y, 1, []float64{0.4}, 1)))
		}
	})
	check("poisson", Poisson{}, []float64{0.7}, func(yield func(y, p float64)) {
		for y := range 60 {
			yield(float64(y), math.Exp(Poisson{}.LogLik(float64(y), 1, []float64{0.7}, 1)))
		}
	})
	check("gamma", Gamma{}, []float64{0.5}, func(yield func(y, p float64)) {
		const h = 0.001
		for y := h / 2; y < 60; y += h {
			yield(y, h*math.Exp(Gamma{}.LogLik(y, 1, []float64{0.5}, 1)))
		}
	})
	for _, eta := range [][]float64{{0.5, 0.3}, {2, -0.7}, {-1, 2}, {1, 3.5}} {
		check(fmt.Sprint("negative binomial ", eta), NegativeBinomial{}, eta, func(yield func(y, p float64)) {
			for y := range 800 {
				yield(float64(y), math.Exp(NegativeBinomial{}.LogLik(float64(y), 1, eta, 1)))
			}
		})
	}
	for _, eta := range [][]float64{{0.5, 1.5}, {-1, 4}} {
		check(fmt.Sprint("beta ", eta), Beta{}, eta, func(yield func(y, p float64)) {
			const h = 1e-4
			for y := h / 2; y < 1; y += h {
				yield(y, h*math.Exp(Beta{}.LogLik(y, 1, eta, 1)))
			}
		})
	}
	for _, eta := range [][]float64{{0.3, -0.4, 1.6}, {0, 0.2, 0.7}, {0, 0, 7}} {
		check(fmt.Sprint("student t ", eta), StudentT{}, eta, func(yield func(y, p float64)) {
			const h = 1e-3 // y = mu + sigma sinh x
			for x := -20.0; x < 20; x += h {
				y := eta[0] + math.Exp(eta[1])*math.Sinh(x)
				yield(y, h*math.Exp(eta[1]+StudentT{}.LogLik(y, 1, eta, 1))*math.Cosh(x))
			}
		})
	}
	for _, eta := range [][]float64{{0.5, 0.3}, {1.5, -2}, {-1, 2}} {
		check(fmt.Sprint("zip ", eta), ZIP{}, eta, func(yield func(y, p float64)) {
			for y := range 80 {
				yield(float64(y), math.Exp(ZIP{}.LogLik(float64(y), 1, eta, 1)))
			}
		})
	}
	// log y = x; the first of the two predictors alone of families of one.
	line := func(name string, f Differentiable, eta []float64, zero bool) {
		check(name, f, eta, func(yield func(y, p float64)) {
			const h = 1e-3
			if zero {
				yield(0, math.Exp(f.LogLik(0, 1, eta, 1)))
			}
			for x := -45.0; x < 25; x += h {
				yield(math.Exp(x), h*math.Exp(x+f.LogLik(math.Exp(x), 1, eta, 1)))
			}
		})
	}
	for _, d := range []TimeDistribution{LogNormal, Weibull, LogLogistic} {
		line(fmt.Sprint("times ", d), AFT{Distribution: d}, []float64{0.5, 0.1}, false)
	}
	line("tweedie", Tweedie{1.4}, []float64{0.5}, true)
	line("tweedie next to gamma", Tweedie{1.9}, []float64{0.5}, true)
	line("inverse gaussian", InverseGaussian{}, []float64{0.5}, false)
	line("cox", twoRates(), []float64{0.5}, false)
	for name, f := range map[string]Differentiable{"gaussian log scale": GaussianLS{}, "gaussian softplus scale": GaussianLS{Scale: SoftplusScale}, "floor": GaussianLS{SoftplusScale, 0.4}} {
		eta := []float64{0.3, -0.2}
		check(name, f, eta, func(yield func(y, p float64)) {
			const h = 0.002
			for y := -12.0; y < 12; y += h {
				yield(y, h*math.Exp(f.LogLik(y, 1, eta, 1)))
			}
		})
	}
}
