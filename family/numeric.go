package family

import "math"

// softplus is log(1 + exp(x)) without overflow.
func softplus(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// exp1m is exp(x) - 1 - x >= 0, by its series where the terms cancel.
func exp1m(x float64) float64 {
	if math.Abs(x) > 0.5 {
		if math.IsInf(x, 1) {
			return x
		}
		return math.Expm1(x) - x
	}
	sum, term := 0.0, x
	for k := 2.0; k < 17; k++ { // 0.5^15/17! is far below 2^-53
		term *= x / k
		sum += term
	}
	return sum
}

// times is a b, and 0 if a is 0 even where b is infinite: the limit that is meant.
func times(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return a * b
}

// logistic is 1/(1 + exp(-x)) without overflow.
func logistic(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x >= 0 {
		return 1 / (1 + e)
	}
	return e / (1 + e)
}
