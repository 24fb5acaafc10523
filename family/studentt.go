package family

import "math"

// StudentT has three predictors: the location mu, the logarithm of the scale sigma
// and the logarithm of the degrees of freedom df; (y - mu)/sigma has Student's t
// distribution. With df infinite it is gaussian. Hold gives the families of one
// predictor (sigma and df are numbers) and two (df is a number).
type StudentT struct{}

// Name is "student-t".
func (StudentT) Name() string { return "student-t" }

// Predictors is 3.
func (StudentT) Predictors() int { return 3 }

// Link is the identity of the location, and the logarithm of scale and df.
func (StudentT) Link(k int) Link {
	if k == 0 {
		return Gaussian{}.Link(0)
	}
	return Link{Name: "log"}
}

// Parameters are mu, sigma and df.
func (StudentT) Parameters() []string { return []string{"mu", "sigma", "df"} }

// Check accepts every finite y.
func (f StudentT) Check(y float64) error { return checkReal(f.Name(), y) }

// LogLik is w {log Gamma((df + 1)/2) - log Gamma(df/2) - log(pi df)/2 - log sigma -
// (df + 1)/2 log[1 + (y - mu)^2/(df sigma^2)]}; phi is ignored.
func (f StudentT) LogLik(y, w float64, eta []float64, _ float64) float64 {
	if len(eta) != 3 || !(w >= 0) {
		return math.NaN()
	}
	if w == 0 {
		return 0
	}
	return w * (halfStep(math.Exp(eta[2])/2, eta[2]-math.Ln2) - log2Pi/2 - eta[1] - f.deviance(y, eta)/2)
}

// Deviance is NaN: it belongs to a scale that is held.
func (StudentT) Deviance(y, w float64, eta []float64) float64 { return math.NaN() }

// deviance is (df + 1) log[1 + (y - mu)^2/(df sigma^2)].
func (StudentT) deviance(y float64, eta []float64) float64 {
	r, df := y-eta[0], math.Exp(eta[2])
	if r == 0 {
		return 0
	}
	if z := r * math.Exp(-eta[1]); df > 1e30 {
		return z * z // the limit
	} else if t := z * z / df; t < 1e300 && t > 1e-300 {
		return (df + 1) * math.Log1p(t)
	}
	return (df + 1) * softplus(2*(math.Log(math.Abs(r))-eta[1])-eta[2])
}

// HasDispersion is false: sigma takes its place.
func (StudentT) HasDispersion() bool { return false }

// Mass is false: a density.
func (StudentT) Mass() bool { return false }

// Traits: a location family.
func (StudentT) Traits() Traits { return Traits{Location: true, Units: true} }

// Mean is eta[0]: the mean for df > 1, and the median always.
func (StudentT) Mean(eta []float64) float64 {
	if len(eta) != 3 {
		return math.NaN()
	}
	return eta[0]
}

// Score: with u = z^2/(df + z^2), w (df + 1) u/(y - mu), w [(df + 1) u - 1] and, with x =
// df/2, w {x [psi(x + 1/2) - psi(x) - log(1 + z^2/df)] - 1/2 + (x + 1/2) u}; information
// w (df + 1)/((df + 3) sigma^2), 2w df/(df + 3), and that of log df (Lange, Little and
// Taylor 1989, appendix B).
func (StudentT) Score(grad, info []float64, y, w float64, eta []float64, _ float64) {
	// With a df above exp(60) it is gaussian in float64; below exp(-700) df would be 0, and
	// 0 times infinity is NaN.
	df, inv := math.Exp(max(-700, min(eta[2], 60))), math.Exp(-eta[1])
	x, r := df/2, y-eta[0]
	if w == 0 {
		r, inv = 0, 0
	}
	u, logTail := 0.0, 0.0
	if r != 0 {
		q := 2*(math.Log(math.Abs(r))-eta[1]) - math.Log(df)
		u, logTail = logistic(q), softplus(q)
		grad[0] = w * (df + 1) * u / r
	} else {
		grad[0] = 0
	}
	grad[1] = w * ((df+1)*u - 1)
	// x [psi(x + 1/2) - psi(x)], with log(1 + 1/(2x)) taken out
	step := digammaGap(x) - x/(x+0.5)*digammaGap(x+0.5)
	grad[2] = w * (step + x*(math.Log1p(0.5/x)-logTail) - 0.5 + (x+0.5)*u)
	if info != nil {
		info[0] = w * (df + 1) / (df + 3) * inv * inv
		info[1] = w * 2 * df / (df + 3)
		info[2] = w * degreesInformation(df)
	}
}

// degreesInformation is the expected information of log df: df^2/4 [psi'(df/2) -
// psi'((df + 1)/2)] - df (df + 5)/(2 (df + 1)(df + 3)).
func degreesInformation(df float64) float64 {
	if df > 300 { // the terms cancel: the leading ones of the expansion in 1/df
		return (3.5 - 13/df) / (df * df)
	}
	x := df / 2
	s := x / (x + 0.5)
	return max(0, trigammaGap(x)+x-s*s*(trigammaGap(x+0.5)+x+0.5)-df*(df+5)/(2*(df+1)*(df+3)))
}

// Start has the given mean, and the variance with 5 degrees of freedom.
func (StudentT) Start(mean, variance float64) []float64 {
	const df = 5
	return []float64{mean, math.Log(variance*(df-2)/df) / 2, math.Log(df)}
}
