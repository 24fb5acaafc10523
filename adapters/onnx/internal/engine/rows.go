package engine

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/base/kernel"
)

// copyTo copies src, unless it is dst itself.
func copyTo(dst, src []float64) {
	if len(src) > 0 && &dst[0] != &src[0] {
		copy(dst, src)
	}
}

// load moves an input, rows first, to its tensor.
func (a *arena[T]) load(v *graph.Value, src []float64) error {
	width, rows := v.Width(), a.rows
	if len(src) != rows*width {
		return fmt.Errorf("onnx: input %q was given %d values, but %d rows of %d need %d", v.Name, len(src), rows, width, rows*width)
	}
	taker, taken := a.takers[v]
	if taken {
		a.execs[taker.node].Source.Rows = nil
	}
	if own := a.View(v); own != nil && len(src) > 0 && &own[0] == &src[0] {
		return nil // written there, and rounded, by the caller
	}
	if taken {
		a.execs[taker.node].Source = operator.Source[T]{Rows: src, Enter: taker.enter}
		return nil
	}
	if v.Type == graph.String {
		for i, x := range src {
			if !(x >= 0 && x < float64(a.Texts().Len())) {
				return fmt.Errorf("onnx: input %q, row %d of the block: %g is not the number of a text", v.Name, i/width, x)
			}
		}
	}
	t, typ := a.tensor(v), v.RoundedTo()
	outer, inner := graph.Around(v.Shape)
	if outer == 1 && t.F != nil {
		Enter(t.F[:len(src)], 1, src, typ)
		return nil
	}
	for r := range rows {
		for o := range outer {
			from, to := r*width+o*inner, (o*rows+r)*inner
			if t.F != nil {
				Enter(t.F[to:to+inner], 1, src[from:from+inner], typ)
				continue
			}
			for i, x := range src[from : from+inner] {
				k, err := Integer(x, v)
				if err != nil {
					return fmt.Errorf("onnx: row %d of the block: %w", r, err)
				}
				t.I[to+i] = k
			}
		}
	}
	return nil
}

// Integer is the number that x enters an input of integers or truth values as, rounded
// where the input rounds: exactly, or not at all. Beyond 2^53 x is not known exactly.
func Integer(x float64, v *graph.Value) (int64, error) {
	lo, hi := -float64(1<<53), float64(1<<53)
	switch {
	case v.Type == graph.Bool:
		lo, hi = 0, 1
	case v.Type.Integer():
		least, most := v.Type.Limits()
		lo, hi = max(lo, float64(least)), min(hi, float64(most))
	}
	if x != math.Trunc(x) || !(x >= lo && x <= hi) {
		return 0, fmt.Errorf("input %q takes %s, and %g is none", v.Name, v.Type, x)
	}
	to := v.RoundedTo()
	rounded := to.Round(x)
	if math.IsInf(rounded, 0) {
		return 0, fmt.Errorf("input %q is cast to %s, whose largest number is %.6g, and %g is beyond", v.Name, to, to.Largest(), x)
	}
	return int64(rounded), nil
}

// toRows moves a tensor to dst, rows first.
func (a *arena[T]) toRows(dst []float64, v *graph.Value) {
	if own := a.View(v); own != nil {
		copyTo(dst, own)
		return
	}
	t, rows := a.tensor(v), a.rows
	outer, inner := graph.Around(v.Shape)
	width := outer * inner
	if f, single := any(t.F).([]float32); single && f != nil && outer == 1 {
		kernel.ToFloat64(dst[:rows*width], f[:rows*width])
		return
	}
	for r := range rows {
		for o := range outer {
			to, from := r*width+o*inner, (o*rows+r)*inner
			d := dst[to : to+inner]
			if t.F != nil {
				for i, x := range t.F[from : from+inner] {
					d[i] = float64(x)
				}
			} else {
				for i, x := range t.I[from : from+inner] {
					d[i] = v.Type.Number(x)
				}
			}
		}
	}
}
