package family

import "math"

// The functions below are what remains of log Gamma, psi and psi' without the leading
// terms of their asymptotic series (Abramowitz and Stegun 1964, 6.1.41, 6.3.18, 6.4.12).
// In densities of large shapes the leading terms cancel, and with them the digits;
// remainders that are computed as such keep theirs.

// stirlingSeries is log x! - [x log x - x + log(2 pi x)/2] for x >= 16, where the
// next term is below 1e-17.
func stirlingSeries(x float64) float64 {
	v := 1 / (x * x)
	return (1./12 - v*(1./360-v*(1./1260-v*(1./1680-v*(1./1188-v*691./360360))))) / x
}

// stirling is -log Gamma(x) + x log x - x + log(2 pi)/2, that is log(x)/2 less
// stirlingSeries(x). logX is log x, which may be known where x has underflowed to 0.
func stirling(x, logX float64) float64 {
	if x >= 16 {
		return logX/2 - stirlingSeries(x)
	}
	lg, _ := math.Lgamma(x + 1)
	return logX + log2Pi/2 + times(x, logX) - x - lg
}

// halfStep is log Gamma(x + 1/2) - log Gamma(x) - log(x)/2, which tends to 0 like
// -1/(8x).
func halfStep(x, logX float64) float64 {
	switch {
	case math.IsInf(x, 1):
		return 0
	case x >= 16:
		return stirlingSeries(x+0.5) - stirlingSeries(x) - x*exp1m(math.Log1p(0.5/x))
	}
	a, _ := math.Lgamma(x + 0.5)
	b, _ := math.Lgamma(x + 1)
	return a - b + logX/2
}

// digammaGap is x [log x - psi(x)], from 1 at x = 0 down to 1/2 at infinity.
func digammaGap(x float64) float64 {
	if x == 0 {
		return 1
	}
	sum, z := 0.0, x
	for ; z < 16; z++ { // psi(z) = psi(z + 1) - 1/z
		sum += x / z
	}
	return sum + times(x, math.Log(x/z)) + x/z*digammaSeries(z)
}

// digammaSeries is z [log z - psi(z)] for z >= 16.
func digammaSeries(z float64) float64 {
	v := 1 / (z * z)
	return 0.5 + (1./12-v*(1./120-v*(1./252-v*(1./240-v*(1./132-v*691./32760)))))/z
}

// trigammaGap is x^2 psi'(x) - x, from 1 at x = 0 to 1/2 at infinity.
func trigammaGap(x float64) float64 {
	if x == 0 {
		return 1
	}
	sum, z := 0.0, x
	for ; z < 16; z++ { // psi'(z) = psi'(z + 1) + 1/z^2
		sum += x / z * (x / z)
	}
	v := 1 / (z * z)
	rest := 0.5 + (1./6-v*(1./30-v*(1./42-v*(1./30-v*5./66))))/z // of z^2 psi'(z) - z
	r := x / z
	return sum + r*r*rest + x*(r-1)
}
