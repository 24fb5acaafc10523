package family

import (
	"errors"
	"math"
)

// climb is where f of two variables is largest, next to at: Newton's method with
// difference quotients, steepest ascent where f is not concave, steps of at most 1 that
// are halved while they do not climb. Variables end at +-15, beyond which a shape changes
// nothing that matters; the second, a logarithm in units of the response, where it leads.
func climb(f func([2]float64) float64, at [2]float64) ([2]float64, error) {
	const h, enough, maxSteps = 1e-3, 1e-7, 100
	here := f(at)
	for range maxSteps {
		if here-here != 0 {
			return at, errors.New("the log-likelihood is not finite")
		}
		var grad [2]float64
		var hess [2][2]float64
		beside := func(a, b float64) float64 { return f([2]float64{at[0] + a, at[1] + b}) }
		up, down, right, left := beside(h, 0), beside(-h, 0), beside(0, h), beside(0, -h)
		grad[0], grad[1] = (up-down)/(2*h), (right-left)/(2*h)
		hess[0][0], hess[1][1] = (up-2*here+down)/(h*h), (right-2*here+left)/(h*h)
		hess[0][1] = (beside(h, h) - beside(h, -h) - beside(-h, h) + beside(-h, -h)) / (4 * h * h)
		hess[1][0] = hess[0][1]
		step := newton(hess, grad, 2)
		if math.IsNaN(step[0]) {
			step = grad
		}
		longest := max(math.Abs(step[0]), math.Abs(step[1]))
		scale := min(1, 1/longest)
		next, there := at, here
		for ; scale*longest > enough; scale /= 2 {
			next = [2]float64{max(-15, min(15, at[0]+scale*step[0])), at[1] + scale*step[1]}
			if there = f(next); there > here {
				break
			}
		}
		if !(scale*longest > enough) || next == at {
			return at, nil
		}
		at, here = next, there
	}
	return at, errors.New("the estimates do not settle")
}
