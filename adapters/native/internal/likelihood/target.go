// Package likelihood is the response of some rows and how well predictors explain it: the
// loss of training with its gradient, the model of intercepts alone, and the working
// response of Fisher scoring.
package likelihood

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/family"
)

// Target is the response of some rows with prior weights and offset. In the units of
// training, y = (response - shift)/scale, and the offset likewise: see Units.
type Target struct {
	Y, W   []float64
	Event  []float64 // 0: the response is right censored; nil: none is
	Offset []float64 // nil: none
	SumW   float64   // sum of W
}

// Columns are the names of the columns of a Target; Weights "": ones, Event and Offset "":
// none.
type Columns struct{ Response, Event, Weights, Offset string }

// Read takes the columns c of f and checks every response against the support of the
// family. what names the rows in messages: training, or validation.
func Read(f *rows.Frame, c Columns, of family.Family, what string) (*Target, error) {
	if f.Rows() == 0 {
		return nil, fmt.Errorf("native: there are no %s rows", what)
	}
	t := &Target{}
	var err error
	if t.Y, err = f.Batch.Numeric(c.Response); err != nil {
		return nil, err
	}
	for i, y := range t.Y {
		if err := of.Check(y); err != nil {
			return nil, fmt.Errorf("native: response %q, data row %d: %w", c.Response, f.Batch.Row(i)+1, err)
		}
	}
	if t.W, err = weights(f, c.Weights); err != nil {
		return nil, err
	}
	if err := t.readEvents(f, c, what); err != nil {
		return nil, err
	}
	for _, w := range t.W {
		t.SumW += w
	}
	if t.SumW == 0 {
		return nil, fmt.Errorf("native: all weights %q of the %s rows are zero: give some rows a positive weight", c.Weights, what)
	}
	if c.Offset != "" {
		if t.Offset, err = f.Batch.Numeric(c.Offset); err != nil {
			return nil, err
		}
		for i, v := range t.Offset {
			if v-v != 0 {
				return nil, fmt.Errorf("native: offset %q, data row %d: %g is not a finite number", c.Offset, f.Batch.Row(i)+1, v)
			}
		}
	}
	return t, nil
}

// readEvents reads the column of events. One row of positive weight has to have one: of
// times that are all censored nothing is known but that they may be infinite.
func (t *Target) readEvents(f *rows.Frame, c Columns, what string) (err error) {
	if c.Event == "" {
		return nil
	}
	if t.Event, err = f.Batch.Numeric(c.Event); err != nil {
		return err
	}
	seen := false
	for i, v := range t.Event {
		if err := family.CheckEvent(v); err != nil {
			return fmt.Errorf("native: events %q, data row %d: %w", c.Event, f.Batch.Row(i)+1, err)
		}
		seen = seen || v == 1 && t.W[i] > 0
	}
	if !seen {
		return fmt.Errorf("native: events %q: all %s rows of positive weight are censored (0): the times of events (1) are what is learned from", c.Event, what)
	}
	return nil
}

// of is the family of row i, both being what states gives.
func (t *Target) of(both [2]family.Differentiable, i int) family.Differentiable {
	if t.Event == nil {
		return both[1]
	}
	return both[int(t.Event[i])]
}

// states is the family at place 1, and what it says of censored rows at place 0.
func (t *Target) states(f family.Differentiable) [2]family.Differentiable {
	both := [2]family.Differentiable{nil, f}
	if t.Event != nil {
		both[0] = family.Censored(f).(family.Differentiable)
	}
	return both
}

// Deviance is the sum over rows at predictors that at gives, NaN with more than one.
func (t *Target) Deviance(f family.Differentiable, at func(i int) []float64) float64 {
	sum, both := 0.0, t.states(f)
	for i, y := range t.Y {
		sum += t.of(both, i).Deviance(y, t.W[i], at(i))
	}
	return sum
}

// LogLik is the sum over rows at predictors that at gives, offset included.
func (t *Target) LogLik(f family.Differentiable, at func(i int) []float64) float64 {
	sum, both := 0.0, t.states(f)
	for i, y := range t.Y {
		sum += t.of(both, i).LogLik(y, t.W[i], at(i), 1)
	}
	return sum
}

func weights(f *rows.Frame, column string) ([]float64, error) {
	if column == "" {
		w := make([]float64, f.Rows())
		for i := range w {
			w[i] = 1
		}
		return w, nil
	}
	w, err := f.Batch.Numeric(column)
	if err != nil {
		return nil, err
	}
	for i, v := range w {
		if !(v >= 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("native: weights %q, data row %d: %g is not a finite number >= 0", column, f.Batch.Row(i)+1, v)
		}
	}
	return w, nil
}

// Varies is an error if a response of the given name does not vary among the rows of
// positive weight: there is nothing to learn, and the scale would be 0.
func (t *Target) Varies(response string, of family.Family) error {
	first := math.NaN()
	for i, y := range t.Y {
		if t.W[i] == 0 {
			continue
		}
		if math.IsNaN(first) {
			first = y
		}
		if y != first {
			return nil
		}
	}
	if family.TraitsOf(of).Binary {
		return fmt.Errorf("native: the response %q has one class only: it is %g on all training rows of positive weight, and both classes are needed", response, first)
	}
	return fmt.Errorf("native: the response %q is constant: it is %g on all training rows of positive weight, so there is nothing to learn", response, first)
}

// Moments are the weighted mean and variance of y, or of y less its offset.
func (t *Target) Moments(less bool) (mean, variance float64) {
	y := func(i int) float64 {
		if t.Offset == nil || !less {
			return t.Y[i]
		}
		return t.Y[i] - t.Offset[i]
	}
	for i, w := range t.W {
		mean += w * y(i) / t.SumW
	}
	for i, w := range t.W {
		variance += w * (y(i) - mean) * (y(i) - mean) / t.SumW
	}
	return mean, variance
}

// At writes the predictors of row i as the family sees them, eta plus the offset, to dst.
func (t *Target) At(dst, eta []float64, i int) {
	copy(dst, eta)
	if t.Offset != nil {
		dst[0] += t.Offset[i]
	}
}
