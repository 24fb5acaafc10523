package likelihood

import (
	"math"

	"github.com/pho-go/pho/family"
)

// Units take training's predictors back to the response's units: location
// becomes shift + scale * location, a log scale grows by log scale. Families of
// other links have shift 0 and scale 1; or, if Log, the response is over Scale and the first
// predictor grows by its logarithm.
type Units struct {
	Shift, Scale float64
	Log          bool
}

// Of is the way back of predictor k: shift + scale times what was trained.
func (s Units) Of(k int) (scale, shift float64) {
	switch {
	case s == Units{Scale: 1}:
	case s.Log && k == 0:
		return 1, math.Log(s.Scale)
	case s.Log:
	case k == 0:
		return s.Scale, s.Shift
	case k == 1: // a log scale
		return 1, math.Log(s.Scale)
	}
	return 1, 0
}

// Standard are the units in which y less its offset has standard deviation 1 and, if
// centre, mean 0: weighted, and only for families that allow other units. For those that
// allow another scale alone, y has mean 1, if the intercept can take the difference.
func (t *Target) Standard(of family.Family, centre bool) Units {
	s := Units{Scale: 1}
	if family.TraitsOf(of).Ratio && centre {
		if mean, _ := t.Moments(false); mean > 0 && mean < math.MaxFloat64 {
			return Units{Scale: mean, Log: true}
		}
	}
	if !family.TraitsOf(of).Units {
		return s
	}
	mean, variance := t.Moments(true)
	if variance > 0 {
		s.Scale = math.Sqrt(variance)
	}
	if centre {
		s.Shift = mean
	}
	return s
}

// In is the target in other units; itself if they are its own.
func (t *Target) In(s Units) *Target {
	if s == (Units{Scale: 1}) {
		return t
	}
	u := &Target{W: t.W, SumW: t.SumW, Event: t.Event, Y: make([]float64, len(t.Y))}
	for i, y := range t.Y {
		u.Y[i] = (y - s.Shift) / s.Scale
	}
	if s.Log {
		u.Offset = t.Offset
	} else if t.Offset != nil {
		u.Offset = make([]float64, len(t.Y))
		for i, v := range t.Offset {
			u.Offset[i] = v / s.Scale
		}
	}
	return u
}
