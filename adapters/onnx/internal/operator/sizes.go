package operator

import (
	"cmp"
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// How operators act on numbers that may be multiples of the number of rows: what
// exporters write to rebuild a shape around the batch axis. A nil result means that the
// node is not followed.

func identitySizes(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) { return &in[0], nil }

// shapeSizes is Shape (with start and end, opset 15).
func shapeSizes(c *graph.Check, _ []graph.Sizes) (*graph.Sizes, error) {
	var d []graph.Size
	for _, n := range c.Inputs[0].Shape {
		d = append(d, sizeOf(n))
	}
	from, to := clampRange(c.AttrInt("start", 0), c.AttrInt("end", int64(len(d))), len(d))
	return vector(d[from:max(from, to)]), nil
}

func sizeOf(n int) graph.Size {
	return graph.Size{K: int64(graph.PerRow(n)), Rows: graph.IsRows(n)}
}

func vector(d []graph.Size) *graph.Sizes { return &graph.Sizes{Shape: []int{len(d)}, D: d} }

func scalar(d []graph.Size) *graph.Sizes { return &graph.Sizes{Shape: []int{}, D: d} }

func sizeSizes(c *graph.Check, _ []graph.Sizes) (*graph.Sizes, error) {
	v := c.Inputs[0]
	return scalar([]graph.Size{{K: int64(v.Width()), Rows: v.BatchAxis() >= 0}}), nil
}

func squeezeSizes(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	if len(in[0].D) != 1 {
		return nil, nil
	}
	return scalar(in[0].D), nil
}

func reshapeSizes(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	x, target := in[0], in[1]
	switch {
	case len(x.D) == 1 && len(target.D) == 0:
		return scalar(x.D), nil
	case len(target.D) == 1:
		return vector(x.D), nil
	}
	return nil, nil
}

func unsqueezeSizes(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	if len(in[0].Shape) != 0 {
		return nil, nil
	}
	return vector(in[0].D), nil
}

func concatSizes(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	var d []graph.Size
	for _, s := range in {
		if d = append(d, s.D...); len(s.Shape) != 1 || len(d) > graph.MaxSizes {
			return nil, nil
		}
	}
	return vector(d), nil
}

func addSizes(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) { return zipSizes(in, addSize) }

func subSizes(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	return zipSizes(in, func(x, y graph.Size) (graph.Size, bool, error) {
		y.K = -y.K
		return addSize(x, y)
	})
}

func mulSizes(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	return zipSizes(in, func(x, y graph.Size) (graph.Size, bool, error) {
		z, err := mulSize(x, y)
		return z, true, err
	})
}

func divSizes(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) { return zipSizes(in, divSize) }

// comparedSizes is a comparison that holds for signs of x - y from least to most, where
// that is decided for every number of rows.
func comparedSizes(least, most int) func(*graph.Check, []graph.Sizes) (*graph.Sizes, error) {
	return func(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
		out, err := zipSizes(in, func(x, y graph.Size) (graph.Size, bool, error) {
			lo, hi := signs(x, y)
			always := least <= lo && hi <= most
			return graph.Size{K: toInt(always)}, always || hi < least || most < lo, nil
		})
		if out != nil {
			out.Type = graph.Bool
		}
		return out, err
	}
}

// extremeSizes is Max (sign 1) or Min (sign -1).
func extremeSizes(sign int) func(*graph.Check, []graph.Sizes) (*graph.Sizes, error) {
	pick := func(x, y graph.Size) (graph.Size, bool, error) {
		least, most := signs(x, y)
		if sign*least >= 0 && sign*most >= 0 {
			return x, true, nil
		}
		return y, sign*least <= 0 && sign*most <= 0, nil
	}
	return func(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
		out := &in[0]
		for _, s := range in[1:] {
			var err error
			if out, err = zipSizes([]graph.Sizes{*out, s}, pick); out == nil {
				return nil, err
			}
		}
		return out, nil
	}
}

func gatherSizes(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	x, index := in[0], in[1]
	if len(x.Shape) != 1 || len(index.Shape) > 1 {
		return nil, nil
	}
	out := graph.Sizes{Shape: index.Shape}
	for _, i := range index.D {
		k := i.K
		if k < 0 {
			k += int64(len(x.D))
		}
		if i.Rows || k < 0 || k >= int64(len(x.D)) {
			return nil, fmt.Errorf("index %d is outside a vector of %d", i.K, len(x.D))
		}
		out.D = append(out.D, x.D[k])
	}
	return &out, nil
}

func sliceSizes(c *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	x := in[0]
	one := func(attr string, i int) (int64, bool) {
		if c.Version < 10 {
			a := c.Attrs[attr].Ints
			return append(a, 0)[0], len(a) == 1
		}
		if len(in) > i && len(in[i].D) == 1 && !in[i].D[0].Rows {
			return in[i].D[0].K, true
		}
		return 0, false
	}
	from, ok1 := one("starts", 1)
	to, ok2 := one("ends", 2)
	if !ok1 || !ok2 || len(x.Shape) != 1 {
		return nil, nil
	}
	if c.Has(4) && (len(in[4].D) != 1 || in[4].D[0] != graph.Size{K: 1, Rows: false}) {
		return nil, nil
	}
	i, j := clampRange(from, to, len(x.D))
	d := x.D[i:max(i, j)]
	return vector(d), nil
}

func productSizes(c *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	if len(in) != 1 {
		return nil, nil
	}
	p := graph.Size{K: 1, Rows: false}
	for _, d := range in[0].D {
		q, err := mulSize(p, d)
		if err != nil {
			return nil, err
		}
		p = q
	}
	out := graph.Sizes{Shape: []int{}, D: []graph.Size{p}}
	if c.AttrInt("keepdims", 1) != 0 {
		out.Shape = []int{1}
	}
	return &out, nil
}

func mulSize(a, b graph.Size) (graph.Size, error) {
	if a.Rows && b.Rows {
		return graph.Size{}, fmt.Errorf("the square of the number of rows is not a size that keeps rows apart")
	}
	k := a.K * b.K
	if a.K != 0 && k/a.K != b.K {
		return graph.Size{}, fmt.Errorf("a size overflows")
	}
	return graph.Size{K: k, Rows: a.Rows || b.Rows}, nil
}

// zipSizes is elementwise arithmetic with broadcasting of scalars; nil if a
// result is neither k nor k*N.
func zipSizes(in []graph.Sizes, f func(x, y graph.Size) (graph.Size, bool, error)) (*graph.Sizes, error) {
	a, b := in[0], in[1]
	n := max(len(a.D), len(b.D))
	if len(a.D) != n && len(a.D) != 1 || len(b.D) != n && len(b.D) != 1 {
		return nil, nil
	}
	out := graph.Sizes{Shape: a.Shape, D: make([]graph.Size, n)}
	if len(b.Shape) > len(a.Shape) || len(b.D) > len(a.D) {
		out.Shape = b.Shape
	}
	if len(out.Shape) > 1 {
		return nil, nil
	}
	for i := range out.D {
		x, y := a.D[min(i, len(a.D)-1)], b.D[min(i, len(b.D)-1)]
		z, ok, err := f(x, y)
		if err != nil || !ok {
			return nil, err
		}
		out.D[i] = z
	}
	return &out, nil
}

func divSize(x, y graph.Size) (graph.Size, bool, error) {
	if y.K == 0 || x.K%y.K != 0 || y.Rows && !x.Rows {
		return graph.Size{}, false, nil
	}
	return graph.Size{K: x.K / y.K, Rows: x.Rows && !y.Rows}, true, nil
}

func addSize(x, y graph.Size) (graph.Size, bool, error) {
	if x.Rows != y.Rows && x.K != 0 && y.K != 0 {
		return graph.Size{}, false, nil
	}
	if sum := x.K + y.K; (sum > x.K) != (y.K > 0) && y.K != 0 {
		return graph.Size{}, false, nil // it overflows
	}
	z := graph.Size{K: x.K + y.K, Rows: x.Rows && x.K != 0 || y.Rows && y.K != 0}
	return graph.Size{K: z.K, Rows: z.Rows && z.K != 0}, true, nil
}

// signs bounds the sign of x - y, of which N, at least 1, may be a part.
func signs(x, y graph.Size) (least, most int) {
	sign := cmp.Compare(x.K, y.K)
	if x.Rows == y.Rows || x.K == 0 && y.K == 0 {
		return sign, sign
	}
	// With k > 0 kN is at least k, with k < 0 at most.
	if x.Rows && x.K > 0 || y.Rows && y.K < 0 {
		return sign, 1
	}
	return -1, sign
}

func whereSizes(_ *graph.Check, in []graph.Sizes) (*graph.Sizes, error) {
	cond, x, y := in[0], in[1], in[2]
	n := max(len(cond.D), len(x.D), len(y.D))
	out := graph.Sizes{Shape: []int{n}, D: make([]graph.Size, n)}
	for i := range n {
		for _, s := range in {
			if len(s.Shape) > 1 || len(s.D) != n && len(s.D) != 1 {
				return nil, nil
			}
		}
		c := cond.D[min(i, len(cond.D)-1)]
		if c.Rows {
			return nil, nil
		}
		if out.D[i] = x.D[min(i, len(x.D)-1)]; c.K == 0 {
			out.D[i] = y.D[min(i, len(y.D)-1)]
		}
	}
	if len(cond.Shape)+len(x.Shape)+len(y.Shape) == 0 {
		out.Shape = []int{}
	}
	return &out, nil
}

func clampRange(from, to int64, n int) (int, int) {
	clamp := func(i int64) int {
		if i < 0 {
			i += int64(n)
		}
		return int(min(max(i, 0), int64(n)))
	}
	return clamp(from), clamp(to)
}
