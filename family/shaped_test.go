package family

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLimits: where a shape is out of the way, another family is left; where a
// predictor is far off, the log-likelihood has its limit. Derived by hand.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		what           string
		got, want, tol float64
	}{
		// log-likelihood of a large theta: Poisson's + ((y - mu)^2 - y)/(2 theta)
		{"theta = 1e9", NegativeBinomial{}.LogLik(2, 1, []float64{1, math.Log(1e9)}, 1),
			Poisson{}.LogLik(2, 1, []float64{1}, 1) + ((2-math.E)*(2-math.E)-2)/2e9, 1e-15},
		{"theta = exp(300)", NegativeBinomial{}.LogLik(7, 1, []float64{1, 300}, 1), Poisson{}.LogLik(7, 1, []float64{1}, 1), 1e-15},
		{"theta infinite", NegativeBinomial{}.LogLik(7, 1, []float64{1, 800}, 1), Poisson{}.LogLik(7, 1, []float64{1}, 1), 1e-15},
		{"theta -> 0 of a 0", NegativeBinomial{}.LogLik(0, 1, []float64{1, -800}, 1), 0, 0},
		{"theta = 1e-200 of a 1", NegativeBinomial{}.LogLik(1, 1, []float64{1, -460}, 1), -460, 1e-12},
		{"mean exp(800) of a 0", NegativeBinomial{}.LogLik(0, 1, []float64{800, 0}, 1), -800, 1e-15},
		{"mean exp(-800) of a 3", NegativeBinomial{}.LogLik(3, 1, []float64{-800, 0}, 1), -2400, 1e-14},
		{"mean exp(800) of a 3", NegativeBinomial{}.LogLik(3, 1, []float64{800, 0}, 1), -800, 1e-14},
		{"a count of 1e9", NegativeBinomial{}.LogLik(1e9, 1, []float64{math.Log(1e9), 0}, 1), -math.Log(1e9) - 1, 1e-9},
		{"beta(1, 1) is uniform", Beta{}.LogLik(1e-300, 3, []float64{0, math.Ln2}, 1), 0, 1e-11},
		{"beta(2, 1) next to 0", Beta{}.LogLik(1e-300, 1, []float64{math.Ln2, math.Log(3)}, 1), math.Log(2e-300), 1e-14},
		{"beta, mean next to 0", Beta{}.LogLik(0.5, 1, []float64{-800, 0}, 1), -800 + math.Ln2, 1e-13},
		{"beta, precision next to 0", Beta{}.LogLik(0.5, 1, []float64{0, -800}, 1), -800, 1e-13},
		{"beta, precision 1e12 at its mode", Beta{}.LogLik(0.5, 1, []float64{0, math.Log(1e12)}, 1), math.Log(4e12/(2*math.Pi)) / 2, 1e-12},
		{"df = 1e12", StudentT{}.LogLik(3, 1, []float64{0, 0, math.Log(1e12)}, 1), GaussianLS{}.LogLik(3, 1, []float64{0, 0}, 1), 1e-11},
		{"df infinite", StudentT{}.LogLik(3, 1, []float64{0, 0.3, 800}, 1), GaussianLS{}.LogLik(3, 1, []float64{0, 0.3}, 1), 1e-15},
		{"cauchy, far", StudentT{}.LogLik(1e200, 1, []float64{0, 0, 0}, 1), -math.Log(math.Pi) - 400*math.Ln10, 1e-14},
		{"cauchy, scale exp(-800)", StudentT{}.LogLik(1, 1, []float64{0, -800, 0}, 1), -math.Log(math.Pi) - 800, 1e-14},
		{"cauchy, scale exp(800)", StudentT{}.LogLik(1, 1, []float64{0, 800, 0}, 1), -math.Log(math.Pi) - 800, 1e-14},
	} {
		if c.got != c.want && !(math.Abs(c.got-c.want) <= c.tol*math.Max(1, math.Abs(c.want))) {
			t.Errorf("%s: %.17g, want %.17g", c.what, c.got, c.want)
		}
	}
}

// shapedCases are the shaped families with responses over all of their support.
func shapedCases() map[string]struct {
	f Shaped
	y *rapid.Generator[float64]
} {
	type entry = struct {
		f Shaped
		y *rapid.Generator[float64]
	}
	return map[string]entry{
		"negative-binomial": {NegativeBinomial{}, rapid.Map(rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 1e12)), func(i int) float64 { return float64(i) })},
		"beta":              {Beta{}, rapid.OneOf(rapid.Float64Range(1e-300, 1-1e-16), rapid.SampledFrom([]float64{1e-300, 0.5, 1 - 1e-16}))},
		"zip":               {ZIP{}, rapid.Map(rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 1e12)), func(i int) float64 { return float64(i) })},
		"lognormal":         {AFT{}, rapid.Float64Range(1e-3, 1e3)},
		"weibull":           {AFT{Distribution: Weibull}, rapid.Float64Range(1e-3, 1e3)},
		"log-logistic":      {AFT{Distribution: LogLogistic}, rapid.Float64Range(1e-3, 1e3)},
		"student-t":         {StudentT{}, rapid.OneOf(rapid.Float64Range(-1e3, 1e3), rapid.Float64Range(-1e300, 1e300))},
	}
}

// TestHeldLaws: a held family says what the whole one says; its deviance is twice
// the drop of the log-likelihood below its largest.
func TestHeldLaws(t *testing.T) {
	for name, c := range shapedCases() {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			k := c.f.Predictors()
			y, w := c.y.Draw(t, "y"), rapid.Float64Range(0.01, 100).Draw(t, "w")
			eta := rapid.SliceOfN(rapid.Float64Range(-8, 8), k, k).Draw(t, "eta")
			values := make([]float64, k-1)
			for i, v := range eta[1:] {
				values[i] = math.Exp(v)
				if name == "zip" {
					values[i] = logistic(v)
				}
			}
			h := held(c.f, values...)
			l := c.f.LogLik(y, w, eta, 1)
			if got := h.LogLik(y, w, eta[:1], 1); math.Abs(got-l) > 1e-12*(1+math.Abs(l)) {
				t.Fatalf("held %v, whole %v", got, l)
			}
			if m := c.f.Mean(eta); h.Mean(eta[:1]) != m && math.Abs(h.Mean(eta[:1])-m) > 1e-12*math.Abs(m) || h.HasDispersion() || h.Mass() != c.f.Mass() || h.Predictors() != 1 || h.Free().Predictors() != 1 {
				t.Fatalf("%+v", h)
			}
			back, err := Parse(h.Name(), []string{""})
			if err != nil || back.Name() != h.Name() {
				t.Fatalf("%s is read as %v, %v", h.Name(), back, err)
			}
			d := h.Deviance(y, w, eta[:1])
			top := []float64{y}
			switch name {
			case "negative-binomial", "zip", "lognormal", "weibull", "log-logistic":
				top[0] = math.Log(y)
			case "beta":
				top[0] = betaSaturated(y, eta[1])
			}
			sat := h.LogLik(y, w, top, 1)
			if !(d >= 0) || math.Abs(d-2*(sat-l)) > 1e-9*(1+math.Abs(sat)+math.Abs(l)) {
				t.Fatalf("deviance %v, twice the drop in log-likelihood %v", d, 2*(sat-l))
			}
			if double := h.Deviance(y, 2*w, eta[:1]); math.Abs(double-2*d) > 1e-14*d+1e-300 {
				t.Fatalf("deviance %v at weight w, %v at 2w", d, double)
			}
			if name == "beta" {
				for _, step := range []float64{-0.01, 0.01} {
					if l := h.LogLik(y, w, []float64{top[0] + step}, 1); l > sat+1e-10*(1+math.Abs(sat)) {
						t.Fatalf("log-likelihood %v beside the maximum %v", l, sat)
					}
				}
			}
			if three := c.f.LogLik(y, 3*w, eta, 1); math.Abs(three-3*l) > 1e-14*math.Abs(three)+1e-300 {
				t.Fatalf("weight 3: %v, three rows: %v", three, 3*l)
			}
		}))
	}
}

// TestEstimate recovers what was simulated, and its score vanishes there.
func TestEstimate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 40000
	gamma := func(shape float64) float64 { // Marsaglia and Tsang 2000, shape >= 1
		d := shape - 1./3
		for {
			x := rng.NormFloat64()
			v := math.Pow(1+x/math.Sqrt(9*d), 3)
			if v > 0 && math.Log(rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
				return d * v
			}
		}
	}
	poisson := func(mean float64) (k float64) {
		for s := rng.ExpFloat64(); s < mean; s += rng.ExpFloat64() {
			k++
		}
		return k
	}
	for _, c := range []struct {
		family string
		draw   func(eta float64) float64
		want   []float64
	}{
		{"negative-binomial", func(eta float64) float64 { return poisson(math.Exp(eta) * gamma(2.5) / 2.5) }, []float64{2.5}},
		{"beta", func(eta float64) float64 {
			a, b := gamma(12*logistic(eta)), gamma(12*logistic(-eta))
			return a / (a + b)
		}, []float64{12}},
		{"student-t", func(eta float64) float64 { return eta + 0.01*rng.NormFloat64()*math.Sqrt(2/gamma(2)) }, []float64{0.01, 4}},
		{"zip", func(eta float64) float64 {
			if rng.Float64() < 0.3 {
				return 0
			}
			return poisson(math.Exp(eta))
		}, []float64{0.3}},
		{"lognormal", func(eta float64) float64 { return math.Exp(eta + 0.7*rng.NormFloat64()) }, []float64{0.7}},
		{"weibull", func(eta float64) float64 { return math.Exp(eta + 1.4*math.Log(rng.ExpFloat64())) }, []float64{1.4}},
		{"student-t(df=4)", func(eta float64) float64 { return eta + 50*rng.NormFloat64()*math.Sqrt(2/gamma(2)) }, []float64{50, 4}},
	} {
		t.Run(c.family, func(t *testing.T) {
			f, err := Parse(c.family, []string{""})
			if err != nil {
				t.Fatal(err)
			}
			h := f.(Held)
			y, w, eta := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range y {
				eta[i], w[i] = 2*rng.Float64()-1, float64(rng.IntN(3))
				y[i] = c.draw(eta[i])
			}
			if v := h.LogLik(y[0], 1, eta[:1], 1); !math.IsNaN(v) {
				t.Errorf("log-likelihood %v of unknown parameters", v)
			}
			found, err := Estimate(h, Sample{Y: y, W: w, Eta: eta})
			if err != nil {
				t.Fatal(err)
			}
			got := found.(Held)
			for i, want := range c.want {
				v := math.Exp(got.values[i])
				if c.family == "zip" {
					v = logistic(got.values[i])
				}
				if math.Abs(v/want-1) > 0.1 {
					t.Errorf("estimate %d is %v, simulated %v", i, v, want)
				}
			}
			k := len(h.Unknown())
			grad, at := make([]float64, 1+k), make([]float64, 1+k)
			sum, total := make([]float64, k), 0.0
			for i := range y {
				at[0] = eta[i]
				copy(at[1:], got.values[:k])
				h.Free().Score(grad, nil, y[i], w[i], at, 1)
				total += w[i]
				for j := range sum {
					sum[j] += grad[1+j]
				}
			}
			for j, v := range sum {
				if math.Abs(v/total) > 1e-9 {
					t.Errorf("mean score %d is %v", j, v/total)
				}
			}
		})
	}
	// Counts that vary less than Poisson have no finite theta.
	h := held(NegativeBinomial{}, math.NaN())
	got, err := Estimate(h, Sample{Y: []float64{2, 2, 3, 3}, Eta: []float64{1, 1, 1, 1}})
	if err != nil || got.(Held).values[0] < 10 {
		t.Errorf("even counts: %s, %v", got.Name(), err)
	}
	for want, c := range map[string]struct{ y, w, eta []float64 }{
		"row 1: family negative-binomial: response 0.5 is outside":   {[]float64{1, 0.5}, nil, []float64{0, 0}},
		"family negative-binomial: the weight of row 0 is -1":        {[]float64{1}, []float64{-1}, []float64{0}},
		"family negative-binomial: no row has a positive weight":     {[]float64{1}, []float64{0}, []float64{0}},
		"family negative-binomial: the predictor of row 0 is NaN":    {[]float64{1}, nil, []float64{math.NaN()}},
		"family negative-binomial: 1 responses, 0 weights, 0 events": {[]float64{1}, nil, []float64{0, 0}},
	} {
		if _, err := Estimate(h, Sample{Y: c.y, W: c.w, Eta: c.eta}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestHoldErrors(t *testing.T) {
	for _, c := range []struct {
		f      Shaped
		values []float64
		want   string
	}{
		{Beta{}, nil, "family beta has 2 parameters, of which 0 cannot be held: hold 1 to 1"},
		{Beta{}, []float64{1, 2}, "family beta has 2 parameters, of which 2 cannot be held: hold 1 to 1"},
		{StudentT{}, []float64{1, 2, 3}, "family student-t has 3 parameters, of which 3 cannot be held: hold 1 to 2"},
		{Beta{}, []float64{0}, "family beta: phi is 0: it is a positive number"},
		{StudentT{}, []float64{2, math.NaN()}, "family student-t: df is unknown while parameters before it are given: give df too"},
	} {
		if _, err := Hold(c.f, c.values...); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// FuzzFamilies: on the support, at finite predictors, no figure is NaN, scores of
// moderate predictors are finite and masses are at most 1.
func FuzzFamilies(f *testing.F) {
	f.Add(3.0, 1.0, 0.5, 0.1, 0.2)
	f.Add(0.0, 2.0, -800.0, 800.0, -800.0)
	f.Add(1e-300, 0.5, 800.0, -800.0, 800.0)
	f.Add(1e15, 1.0, 30.0, 36.0, 40.0)
	f.Add(0.9999999999999999, 1.0, 700.0, 709.7, -708.0)
	f.Fuzz(func(t *testing.T, y, w, a, b, c float64) {
		eta := []float64{a, b, c}
		for _, v := range append(eta, y, w) {
			if v-v != 0 {
				return
			}
		}
		if !(w >= 0 && w < 1e100) {
			return
		}
		moderate := math.Abs(a) < 300 && math.Abs(b) < 300 && math.Abs(c) < 300 && math.Abs(y) < 1e100 && w < 1e6
		for _, fam := range []Differentiable{Gaussian{}, GaussianLS{}, Binomial{}, Poisson{}, Gamma{}, NegativeBinomial{}, Beta{}, StudentT{},
			held(NegativeBinomial{}, 2), held(Beta{}, 2), held(StudentT{}, 2), held(StudentT{}, 2, 2),
			Tweedie{1.01}, Tweedie{1.5}, Tweedie{1.99}, InverseGaussian{}, ZIP{}, held(ZIP{}, 0.3), twoRates(),
			AFT{}, AFT{Distribution: Weibull}, AFT{Distribution: LogLogistic}, held(AFT{}, 2), held(AFT{Distribution: Weibull}, 2), held(AFT{Distribution: LogLogistic}, 2),
			of(AFT{}), of(AFT{Distribution: Weibull}), of(AFT{Distribution: LogLogistic}), of(held(AFT{}, 2)), of(held(AFT{Distribution: Weibull}, 2)), of(twoRates())} {
			if fam.Check(y) != nil {
				continue
			}
			what := fmt.Sprintf("%T %[1]v: y %v, w %v, eta %v", fam, y, w, eta)
			k := fam.Predictors()
			if l := fam.LogLik(y, w, eta[:k], 1); math.IsNaN(l) || fam.Mass() && l > 1e-6 {
				t.Errorf("%s: log-likelihood %v", what, l)
			}
			if d := fam.Deviance(y, w, eta[:k]); k == 1 && !(d >= 0) {
				t.Errorf("%s: deviance %v", what, d)
			}
			if m := fam.Mean(eta[:k]); math.IsNaN(m) {
				t.Errorf("%s: mean %v", what, m)
			}
			if !moderate {
				continue
			}
			grad, info := make([]float64, k), make([]float64, k)
			fam.Score(grad, info, y, w, eta[:k], 1)
			for i := range grad {
				if math.IsNaN(grad[i]) || !(info[i] >= 0) {
					t.Errorf("%s: score %v, information %v", what, grad, info)
				}
			}
		}
	})
}

// TestStart: where training begins a distribution has the mean and the variance of the responses.
func TestStart(t *testing.T) {
	for _, c := range []struct {
		f              Shaped
		mean, variance float64
		from, to, step float64
	}{
		{ZIP{}, 2.1, 3.99, 0, 200, 1},
		{ZIP{}, 5, 9, 0, 200, 1},
		{NegativeBinomial{}, 3, 7, 0, 1000, 1},
		{Beta{}, 0.3, 0.02, 5e-5, 1, 1e-4},
		{StudentT{}, -1, 4, -400, 400, 0.01},
		{AFT{}, 3, 2, 5e-4, 100, 1e-3},
		{AFT{Distribution: LogLogistic}, 3, 0.5, 5e-4, 400, 1e-3},
	} {
		eta := c.f.Start(c.mean, c.variance)
		var sum, first, second float64
		for y := c.from; y < c.to; y += c.step {
			p := c.step * math.Exp(c.f.LogLik(y, 1, eta, 1))
			sum, first, second = sum+p, first+p*y, second+p*y*y
		}
		if variance := second - first*first; math.Abs(sum-1) > 1e-3 || math.Abs(first-c.mean) > 1e-2 || math.Abs(variance/c.variance-1) > 0.05 {
			t.Errorf("%s: of a density of %v mean %v and variance %v, want %v and %v", c.f.Name(), sum, first, variance, c.mean, c.variance)
		}
	}
}
