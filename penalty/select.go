package penalty

import (
	"errors"
	"math"
)

// Select chooses the smoothing parameters that are not fixed and returns the
// penalised fit.
func Select(p *Problem, o *Options) (*Fit, error) {
	return nil, errors.New("penalty: under construction")
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
