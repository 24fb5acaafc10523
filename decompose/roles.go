package decompose

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/data"
)

// response reads y, which the family has to allow, and the offset (nil without one).
func response(b *data.Batch, o *Options) (y, offset []float64, err error) {
	if y, err = b.Numeric(o.Response); err != nil {
		return nil, nil, fmt.Errorf("response: %w", err)
	}
	if o.Offset != "" {
		if offset, err = b.Numeric(o.Offset); err != nil {
			return nil, nil, fmt.Errorf("offset: %w", err)
		}
	}
	for i, v := range y {
		if err := o.Family.Check(v); err != nil {
			return nil, nil, fmt.Errorf("response %q, data row %d: %w", o.Response, b.Row(i)+1, err)
		}
	}
	return y, offset, nil
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
