package operator

import "github.com/pho-go/pho/adapters/onnx/internal/graph"

// number is what elementwise arithmetic runs on.
type number interface{ float32 | float64 | int64 }

// walk describes a broadcast of up to three operands over an output after axes
// have been merged: sizes and, per operand, element strides (0: repeated).
type walk struct {
	n      int
	size   [graph.MaxRank]int
	stride [3][graph.MaxRank]int
}

// plan merges adjacent axes on which every operand is either dense or repeated.
// The innermost axis then has stride 0 or 1 for each operand.
func (w *walk) plan(out []int, in ...[]int) {
	w.n = 0
	var dense [3]int
	for k := range in {
		dense[k] = 1
	}
	for i := len(out) - 1; i >= 0; i-- {
		var s [3]int
		for k, shape := range in {
			if j := i - len(out) + len(shape); j >= 0 && shape[j] != 1 {
				s[k] = dense[k]
				dense[k] *= shape[j]
			}
		}
		if out[i] == 1 {
			continue
		}
		merge := w.n > 0
		for k := range in {
			merge = merge && s[k] == w.stride[k][w.n-1]*w.size[w.n-1]
		}
		if merge {
			w.size[w.n-1] *= out[i]
			continue
		}
		w.size[w.n] = out[i]
		for k := range in {
			w.stride[k][w.n] = s[k]
		}
		w.n++
	}
	if w.n == 0 {
		w.n, w.size[0] = 1, 1
		for k := range in {
			w.stride[k][0] = 0
		}
	}
}

// each calls f with the operands' offsets for every run along axis 0 (the
// innermost); the output is dense.
func (w *walk) each(f func(out, a, b, c int)) {
	var at [graph.MaxRank]int
	var off [3]int
	total := 1
	for i := 1; i < w.n; i++ {
		total *= w.size[i]
	}
	if w.size[0] == 0 {
		return
	}
	for run := range total {
		f(run*w.size[0], off[0], off[1], off[2])
		for i := 1; i < w.n; i++ {
			at[i]++
			for k := range off {
				off[k] += w.stride[k][i]
			}
			if at[i] < w.size[i] {
				break
			}
			for k := range off {
				off[k] -= w.stride[k][i] * w.size[i]
			}
			at[i] = 0
		}
	}
}

// zip applies an operator to two broadcast operands. vv works on runs of equal
// length; a repeated operand is passed as a slice of one element.
func zip[A number, B number](dst []B, out []int, a []A, ashape []int, b []A, bshape []int, vv func(dst []B, a, b []A)) {
	var w walk
	w.plan(out, ashape, bshape)
	n, sa, sb := w.size[0], w.stride[0][0], w.stride[1][0]
	w.each(func(o, i, j, _ int) {
		x, y := a[i:i+1], b[j:j+1]
		if sa != 0 {
			x = a[i : i+n]
		}
		if sb != 0 {
			y = b[j : j+n]
		}
		vv(dst[o:o+n], x, y)
	})
}

// lift turns a scalar function into one on runs.
func lift[A number, B number](f func(x, y A) B) func(dst []B, a, b []A) {
	return func(dst []B, a, b []A) {
		switch {
		case len(a) == len(dst) && len(b) == len(dst):
			for i, x := range a {
				dst[i] = f(x, b[i])
			}
		case len(a) == len(dst):
			y := b[0]
			for i, x := range a {
				dst[i] = f(x, y)
			}
		case len(b) == len(dst):
			x := a[0]
			for i, y := range b {
				dst[i] = f(x, y)
			}
		default:
			v := f(a[0], b[0])
			for i := range dst {
				dst[i] = v
			}
		}
	}
}
