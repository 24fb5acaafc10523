package likelihood

import (
	"math"

	"github.com/pho-go/pho/family"
)

// Units take training's predictors back to the response's units: location
// becomes shift + scale * location, a log scale grows by log scale. Families of
// other links have shift 0 and scale 1.
type Units struct{ Shift, Scale float64 }

// Of is the way back of predictor k: shift + scale times what was trained.
func (s Units) Of(k int) (scale, shift float64) {
	switch {
	case s == Units{0, 1}:
	case k == 0:
		return s.Scale, s.Shift
	case k == 1: // a log scale
		return 1, math.Log(s.Scale)
	}
	return 1, 0
}

// Standard are the units in which y less its offset has standard deviation 1 and, if
// centre, mean 0: weighted, and only for families that allow other units.
func (t *Target) Standard(of family.Family, centre bool) Units {
	s := Units{0, 1}
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
	if s == (Units{0, 1}) {
		return t
	}
	u := &Target{W: t.W, SumW: t.SumW, Y: make([]float64, len(t.Y))}
	for i, y := range t.Y {
		u.Y[i] = (y - s.Shift) / s.Scale
	}
	if t.Offset != nil {
		u.Offset = make([]float64, len(t.Y))
		for i, v := range t.Offset {
			u.Offset[i] = v / s.Scale
		}
	}
	return u
}
