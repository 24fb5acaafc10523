package family

import (
	"math"
	"testing"
)

// TestResponseLimits: extremes of the predictor, the dispersion and the weight, by hand.
func TestResponseLimits(t *testing.T) {
	inf, one := math.Inf(1), []float64{0}
	weibull, normal, logistic := AFT{Distribution: Weibull}, AFT{}, AFT{Distribution: LogLogistic}
	for _, c := range []struct {
		what           string
		got, want, tol float64
	}{
		{"tweedie, 0 at mean 0", Tweedie{1.5}.LogLik(0, 1, []float64{-inf}, 1), 0, 0},
		{"tweedie, 0 at an infinite mean", Tweedie{1.5}.LogLik(0, 1, []float64{inf}, 1), -inf, 0},
		{"tweedie, 1 at mean 0", Tweedie{1.5}.LogLik(1, 1, []float64{-inf}, 1), -inf, 0},
		{"tweedie, weight 0", Tweedie{1.5}.LogLik(3, 0, one, 1), 0, 0},
		{"tweedie, phi 0, met", Tweedie{1.5}.LogLik(1, 1, one, 0), inf, 0},
		{"tweedie, phi 0, not met", Tweedie{1.5}.LogLik(2, 1, one, 0), -inf, 0},
		{"tweedie, phi 1e-300", Tweedie{1.5}.LogLik(1, 1, one, 1e-300), -(log2Pi + math.Log(1e-300)) / 2, 1e-14},
		{"tweedie, unknown power", Tweedie{}.LogLik(1, 1, one, 1), math.NaN(), 0},
		{"tweedie, phi negative", Tweedie{1.5}.LogLik(1, 1, one, -1), math.NaN(), 0},
		{"tweedie, half a weight is twice phi", Tweedie{1.5}.LogLik(2, 0.5, one, 1), Tweedie{1.5}.LogLik(2, 1, one, 2), 1e-15},
		{"tweedie next to gamma", Tweedie{2 - 1e-9}.LogLik(2, 1, []float64{0.3}, 0.5), Gamma{}.LogLik(2, 1, []float64{0.3}, 0.5), 1e-7},
		{"tweedie far off", Tweedie{1.5}.Deviance(1, 1, []float64{1400}), 4 * math.Exp(700), 1e-13},
		{"tweedie deviance next to poisson", Tweedie{1 + 1e-9}.Deviance(3, 1, []float64{0.3}), Poisson{}.Deviance(3, 1, []float64{0.3}), 1e-7},
		{"inverse gaussian, phi 0, met", InverseGaussian{}.LogLik(1, 1, one, 0), inf, 0},
		{"inverse gaussian, phi 0, not met", InverseGaussian{}.LogLik(2, 1, one, 0), -inf, 0},
		{"inverse gaussian at mean 0", InverseGaussian{}.LogLik(2, 1, []float64{-inf}, 1), -inf, 0},
		{"inverse gaussian at an infinite mean", InverseGaussian{}.Deviance(2, 1, []float64{inf}), 0.5, 1e-15},
		{"inverse gaussian, weight 0", InverseGaussian{}.Deviance(2, 0, []float64{-inf}), 0, 0},
		{"zip, 0 at lambda infinite", ZIP{}.LogLik(0, 1, []float64{inf, 0}, 1), -math.Ln2, 1e-15},
		{"zip, 0 at pi 1", ZIP{}.LogLik(0, 1, []float64{1, inf}, 1), 0, 0},
		{"zip, 1 at pi 1", ZIP{}.LogLik(1, 1, []float64{1, inf}, 1), -inf, 0},
		{"zip, pi 0 is poisson", ZIP{}.LogLik(0, 1, []float64{1, -inf}, 1), -math.E, 1e-15},
		{"zip, 0 at lambda exp(5), pi exp(-800)", ZIP{}.LogLik(0, 1, []float64{5, -800}, 1), -math.Exp(5), 1e-14},
		{"weibull, event at eta -inf", weibull.LogLik(1, 1, []float64{-inf, 0}, 1), -inf, 0},
		{"weibull, censored at eta inf", Censored(weibull).LogLik(1, 1, []float64{inf, 0}, 1), 0, 0},
		{"weibull, censored at eta -inf", Censored(weibull).LogLik(1, 1, []float64{-inf, 0}, 1), -inf, 0},
		{"weibull, sigma 1 is exponential", weibull.LogLik(2, 3, []float64{1, 0}, 1), 3 * (-1 - 2/math.E), 1e-15},
		{"lognormal at sigma 0, met", normal.LogLik(1, 1, []float64{0, -inf}, 1), inf, 0},
		{"lognormal at sigma 0, not met", normal.LogLik(2, 1, []float64{0, -inf}, 1), -inf, 0},
		{"lognormal, censored 40 sigma out", Censored(normal).LogLik(math.Exp(40), 1, one2(0, 0), 1), -800 - math.Log(40) - log2Pi/2 - 1/1600. + 2.5/1600/1600, 1e-11},
		{"lognormal, censored 1e8 sigma out", Censored(normal).LogLik(math.Exp(1), 1, one2(0, -math.Log(1e8)), 1), -5e15 - math.Log(1e8) - log2Pi/2, 1e-13},
		{"lognormal, censored at the median", Censored(normal).LogLik(1, 2, one2(0, 0), 1), -2 * math.Ln2, 1e-15},
		{"log-logistic, censored far out", Censored(logistic).LogLik(math.Exp(600), 1, one2(0, 0), 1), -600, 1e-15},
		{"a censored row of weight 0", Censored(normal).LogLik(1, 0, one2(-inf, 0), 1), 0, 0},
		{"log-logistic, infinite mean", logistic.Mean([]float64{0, 0}), inf, 0},
		{"cox without a baseline", Cox{}.LogLik(1, 1, one, 1), math.NaN(), 0},
		{"cox, event at eta -inf", twoRates().LogLik(1, 1, []float64{-inf}, 1), -inf, 0},
		{"cox, censored at eta -inf", Censored(twoRates()).LogLik(1, 1, []float64{-inf}, 1), 0, 0},
		{"cox, event at eta inf", twoRates().LogLik(1, 1, []float64{inf}, 1), -inf, 0},
	} {
		same := c.got == c.want || math.IsNaN(c.got) && math.IsNaN(c.want)
		if !same && !(math.Abs(c.got-c.want) <= c.tol*math.Max(1, math.Abs(c.want))) {
			t.Errorf("%s: %.17g, want %.17g", c.what, c.got, c.want)
		}
	}
}

func one2(a, b float64) []float64 { return []float64{a, b} }

// TestTweedieIsADistribution: the probability of 0 and the integral of the density of
// positive responses, over their logarithm, add up to 1, and their mean is mu.
func TestTweedieIsADistribution(t *testing.T) {
	for _, p := range []float64{1.1, 1.5, 1.9} {
		for _, phi := range []float64{0.5, 2} {
			f, eta := Tweedie{p}, []float64{0.7}
			sum, mean := math.Exp(f.LogLik(0, 1, eta, phi)), 0.0
			const h = 4e-3
			for x := -200.0; x < 6; x += h {
				y := math.Exp(x)
				mass := h * math.Exp(x+f.LogLik(y, 1, eta, phi))
				sum, mean = sum+mass, mean+y*mass
			}
			if math.Abs(sum-1) > 1e-8 || math.Abs(mean-math.Exp(0.7)) > 1e-8 {
				t.Errorf("p %v, phi %v: total %.12g, mean %.12g", p, phi, sum, mean)
			}
		}
	}
}

// TestMeans: means of times are those of their densities, and of survival functions.
func TestMeans(t *testing.T) {
	for name, f := range map[string]Family{
		"lognormal": held(AFT{}, 0.6), "weibull": held(AFT{Distribution: Weibull}, 1.3), "log-logistic": held(AFT{Distribution: LogLogistic}, 0.4), "cox": closed(),
	} {
		eta := []float64{0.4}
		const h = 1e-3
		byDensity, bySurvival := 0.0, 0.0
		for x := -30.0; x < 40; x += h {
			y := math.Exp(x)
			if mass := h * math.Exp(2*x+f.LogLik(y, 1, eta, 1)); mass > 0 {
				byDensity += mass
			}
			bySurvival += h * math.Exp(x+Censored(f).LogLik(y, 1, eta, 1))
		}
		want := f.Mean(eta)
		if math.Abs(byDensity/want-1) > 1e-3 || math.Abs(bySurvival/want-1) > 1e-3 { // the hazard of cox jumps
			t.Errorf("%s: mean %v, by the density %v, by survival %v", name, want, byDensity, bySurvival)
		}
	}
}

// closed is a hazard whose last interval has events.
func closed() Cox {
	f := twoRates()
	f.Baseline = &Hazard{cuts: f.Baseline.cuts, logRate: []float64{-1, 0.3, -0.2}, cumulative: f.Baseline.cumulative}
	f.Baseline.cumulative = []float64{0, 0.4 * math.Exp(-1), 0.4*math.Exp(-1) + 1.6*math.Exp(0.3)}
	return f
}
