package engine

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
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
	if own := a.View(v); own != nil && len(src) > 0 && &own[0] == &src[0] {
		return nil // written there, and rounded, by the caller
	}
	if v.Type == graph.String {
		for i, x := range src {
			if !(x >= 0 && x < float64(a.Texts().Len())) {
				return fmt.Errorf("onnx: input %q, row %d of the block: %g is not the number of a text", v.Name, i/width, x)
			}
		}
	}
	t, typ := a.tensor(v), v.RoundedTo()
	outer, inner := aroundBatch(v)
	if outer == 1 && t.F != nil {
		Enter(t.F, 1, src, typ)
		return nil
	}
	for r := range rows {
		for o := range outer {
			from, to := r*width+o*inner, (o*rows+r)*inner
			if t.F != nil {
				Enter(t.F[to:], 1, src[from:from+inner], typ)
				continue
			}
			for i, x := range src[from : from+inner] {
				k, err := Integer(x, v.Type)
				if err != nil {
					return fmt.Errorf("onnx: input %q, row %d of the block: %w", v.Name, r, err)
				}
				t.I[to+i] = int64(typ.Round(float64(k)))
			}
		}
	}
	return nil
}

// Integer converts exactly or not at all.
func Integer(x float64, t graph.DType) (int64, error) {
	limit := float64(1 << 53)
	if t == graph.Int32 {
		limit = math.MaxInt32
	}
	if x != math.Trunc(x) || math.Abs(x) > limit || math.IsNaN(x) || t == graph.Bool && x != 0 && x != 1 {
		return 0, fmt.Errorf("%g is not a value of type %s", x, t)
	}
	return int64(x), nil
}

// toRows moves a tensor to dst, rows first.
func (a *arena[T]) toRows(dst []float64, v *graph.Value) {
	if own := a.View(v); own != nil {
		copyTo(dst, own)
		return
	}
	t, rows := a.tensor(v), a.rows
	outer, inner := aroundBatch(v)
	width := outer * inner
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
					d[i] = float64(x)
				}
			}
		}
	}
}

// aroundBatch is the number of elements before and after v's batch axis.
func aroundBatch(v *graph.Value) (outer, inner int) {
	at := v.BatchAxis()
	return graph.Product(v.Shape[:at]), graph.Product(v.Shape[at+1:])
}
