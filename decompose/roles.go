package decompose

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/family"
)

// responses are what the rows of a batch hold for the family.
type responses struct {
	y             []float64
	event, offset []float64 // nil: none
}

// readResponses reads y, which the family has to allow, events and offset.
func readResponses(b *data.Batch, o *Options) (r *responses, err error) {
	r = new(responses)
	if r.y, err = b.Numeric(o.Response); err != nil {
		return nil, fmt.Errorf("response: %w", err)
	}
	if o.Event != "" {
		if r.event, err = b.Numeric(o.Event); err != nil {
			return nil, fmt.Errorf("events: %w", err)
		}
	}
	if o.Offset != "" {
		if r.offset, err = b.Numeric(o.Offset); err != nil {
			return nil, fmt.Errorf("offset: %w", err)
		}
	}
	for i, v := range r.y {
		if err := o.Family.Check(v); err != nil {
			return nil, fmt.Errorf("response %q, data row %d: %w", o.Response, b.Row(i)+1, err)
		}
		if r.event != nil {
			if err := family.CheckEvent(r.event[i]); err != nil {
				return nil, fmt.Errorf("events %q, data row %d: %w", o.Event, b.Row(i)+1, err)
			}
		}
	}
	return r, nil
}

// weights reads the weights; nil means ones.
func weights(b *data.Batch, column string) ([]float64, error) {
	if column == "" {
		return nil, nil
	}
	w, err := b.Numeric(column)
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	for i, v := range w {
		if !(v >= 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("weights %q, data row %d: %g is not a finite number >= 0", column, b.Row(i)+1, v)
		}
	}
	return w, nil
}

func weight(w []float64, i int) float64 {
	if w == nil {
		return 1
	}
	return w[i]
}
