package onnx

import (
	"fmt"
	"slices"
)

// dim is an integer known at load but for the number of rows N: k, or k*N.
type dim struct {
	k    int64
	rows bool
}

// maxDims bounds the integer tensors that are followed: shapes are short.
const maxDims = 4096

// dims is an integer tensor of such numbers.
type dims struct {
	shape []int
	d     []dim
}

// dimsOf reads a value as numbers that may depend on N.
func (c *checker) dimsOf(v *Value) (dims, bool) {
	if v == nil {
		return dims{}, false
	}
	if s, ok := c.dims[v]; ok {
		return s, true
	}
	if v.Const == nil || v.Type.Floating() || len(v.Const.I) > maxDims {
		return dims{}, false
	}
	s := dims{shape: v.Shape, d: make([]dim, len(v.Const.I))}
	for i, k := range v.Const.I {
		s.d[i].k = k
	}
	return s, true
}

// symbolic evaluates the nodes exporters write to rebuild a shape around the
// batch axis (Shape -> Gather -> Concat -> Reshape), exactly and for every
// number of rows at once. done: the outputs are known; nothing is left to run.
func (c *nodeCheck) symbolic() (done bool, err error) {
	switch c.Op {
	case "Shape", "Size":
		if c.Domain != "" || c.Inputs[0].Const != nil {
			return false, nil
		}
		return true, c.shapeOf()
	}
	in := make([]dims, len(c.Inputs))
	any := false
	for i, v := range c.Inputs {
		if v == nil {
			continue
		}
		if s, ok := c.dims[v]; ok {
			in[i], any = s, true
		}
	}
	if !any || c.Domain != "" {
		return false, nil
	}
	for i, v := range c.Inputs {
		if v == nil || in[i].d != nil {
			continue
		}
		s, ok := c.dimsOf(v)
		if !ok {
			return false, nil
		}
		in[i] = s
	}
	out, err := c.evalDims(in)
	if err != nil || out == nil {
		return false, err
	}
	t := Int64
	switch c.Op {
	case "Equal":
		t = Bool
	case "Cast":
		if t, err = dtype(int32(c.attrInt("to", 0))); err != nil {
			return false, err
		}
	}
	return true, c.setDims(t, *out)
}

// setDims records a symbolic output; without N in it, it is a constant.
func (c *nodeCheck) setDims(t DType, s dims) error {
	v := c.Outputs[0]
	if v == nil {
		return nil
	}
	v.Type, v.Shape, v.Producer = t, s.shape, nil
	if slices.ContainsFunc(s.d, func(d dim) bool { return d.rows }) {
		c.dims[v] = s
		return nil
	}
	if err := c.budget.take(len(s.d), fmt.Sprintf("folded constant %q", v.Name), s.shape); err != nil {
		return err
	}
	v.Const = &Tensor{Type: t, Shape: s.shape, I: make([]int64, len(s.d))}
	for i, d := range s.d {
		v.Const.I[i] = d.k
	}
	return nil
}

// shapeOf is Shape (with start and end, opset 15) and Size.
func (c *nodeCheck) shapeOf() error {
	in := c.Inputs[0].Shape
	var d []dim
	for _, n := range in {
		if n == Batch {
			d = append(d, dim{1, true})
		} else {
			d = append(d, dim{int64(n), false})
		}
	}
	if c.Op == "Size" {
		n, _ := elements(in)
		return c.setDims(Int64, dims{shape: []int{}, d: []dim{{int64(n), c.Inputs[0].BatchAxis() >= 0}}})
	}
	from, to := clampRange(c.attrInt("start", 0), c.attrInt("end", int64(len(d))), len(d))
	d = d[from:max(from, to)]
	return c.setDims(Int64, dims{shape: []int{len(d)}, d: d})
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

// evalDims applies the operator to vectors and scalars of such numbers; nil
// means that it is not one of those followed.
func (c *nodeCheck) evalDims(in []dims) (*dims, error) {
	x := in[0]
	switch c.Op {
	case "Identity":
		return &x, nil
	case "Cast":
		t, err := dtype(int32(c.attrInt("to", 0)))
		if err != nil || t != Int32 && t != Int64 {
			return nil, err
		}
		return &x, nil
	case "Squeeze", "Reshape":
		if c.Op == "Reshape" && len(x.d) == 1 && len(in) == 2 && len(in[1].d) == 0 || c.Op == "Squeeze" && len(x.d) == 1 {
			return &dims{shape: []int{}, d: x.d}, nil
		}
		if c.Op == "Reshape" && len(in) == 2 && len(in[1].d) == 1 {
			return &dims{shape: []int{len(x.d)}, d: x.d}, nil
		}
	case "Unsqueeze":
		if len(x.shape) == 0 {
			return &dims{shape: []int{1}, d: x.d}, nil
		}
	case "Concat":
		var d []dim
		for _, s := range in {
			if d = append(d, s.d...); len(s.shape) != 1 || len(d) > maxDims {
				return nil, nil
			}
		}
		return &dims{shape: []int{len(d)}, d: d}, nil
	case "Gather":
		return gatherDims(x, in[1])
	case "Slice":
		return c.sliceDims(x, in)
	case "ReduceProd":
		if len(in) == 1 {
			return c.prodDims(x)
		}
	case "Mul", "Div", "Add", "Sub", "Equal":
		return zipDims(x, in[1], c.Op)
	case "Where":
		return whereDims(in)
	}
	return nil, nil
}

func gatherDims(x, index dims) (*dims, error) {
	if len(x.shape) != 1 || len(index.shape) > 1 {
		return nil, nil
	}
	out := dims{shape: index.shape}
	for _, i := range index.d {
		k := i.k
		if k < 0 {
			k += int64(len(x.d))
		}
		if i.rows || k < 0 || k >= int64(len(x.d)) {
			return nil, fmt.Errorf("index %d is outside a vector of %d", i.k, len(x.d))
		}
		out.d = append(out.d, x.d[k])
	}
	return &out, nil
}

func (c *nodeCheck) sliceDims(x dims, in []dims) (*dims, error) {
	one := func(attr string, i int) (int64, bool) {
		if c.Version < 10 {
			a := c.Attrs[attr].Ints
			return append(a, 0)[0], len(a) == 1
		}
		if len(in) > i && len(in[i].d) == 1 && !in[i].d[0].rows {
			return in[i].d[0].k, true
		}
		return 0, false
	}
	from, ok1 := one("starts", 1)
	to, ok2 := one("ends", 2)
	if !ok1 || !ok2 || len(x.shape) != 1 {
		return nil, nil
	}
	if c.has(4) && (len(in[4].d) != 1 || in[4].d[0] != dim{1, false}) {
		return nil, nil
	}
	i, j := clampRange(from, to, len(x.d))
	d := x.d[i:max(i, j)]
	return &dims{shape: []int{len(d)}, d: d}, nil
}

func (c *nodeCheck) prodDims(x dims) (*dims, error) {
	p := dim{1, false}
	for _, d := range x.d {
		q, err := mulDim(p, d)
		if err != nil {
			return nil, err
		}
		p = q
	}
	out := dims{shape: []int{}, d: []dim{p}}
	if c.attrInt("keepdims", 1) != 0 {
		out.shape = []int{1}
	}
	return &out, nil
}

func mulDim(a, b dim) (dim, error) {
	if a.rows && b.rows {
		return dim{}, fmt.Errorf("the square of the number of rows is not a size that keeps rows apart")
	}
	k := a.k * b.k
	if a.k != 0 && k/a.k != b.k {
		return dim{}, fmt.Errorf("a size overflows")
	}
	return dim{k, a.rows || b.rows}, nil
}

// zipDims is elementwise arithmetic with broadcasting of scalars; nil if a
// result is neither k nor k*N.
func zipDims(a, b dims, op string) (*dims, error) {
	n := max(len(a.d), len(b.d))
	if len(a.d) != n && len(a.d) != 1 || len(b.d) != n && len(b.d) != 1 {
		return nil, nil
	}
	out := dims{shape: a.shape, d: make([]dim, n)}
	if len(b.shape) > len(a.shape) || len(b.d) > len(a.d) {
		out.shape = b.shape
	}
	if len(out.shape) > 1 {
		return nil, nil
	}
	for i := range out.d {
		x, y := a.d[min(i, len(a.d)-1)], b.d[min(i, len(b.d)-1)]
		z, ok, err := zipDim(x, y, op)
		if err != nil || !ok {
			return nil, err
		}
		out.d[i] = z
	}
	return &out, nil
}

func zipDim(x, y dim, op string) (dim, bool, error) {
	switch op {
	case "Mul":
		z, err := mulDim(x, y)
		return z, true, err
	case "Div":
		if y.k == 0 || x.k%y.k != 0 || y.rows && !x.rows {
			return dim{}, false, nil
		}
		return dim{x.k / y.k, x.rows && !y.rows}, true, nil
	case "Add", "Sub":
		if op == "Sub" {
			y.k = -y.k
		}
		if x.rows != y.rows && x.k != 0 && y.k != 0 {
			return dim{}, false, nil
		}
		z := dim{x.k + y.k, x.rows && x.k != 0 || y.rows && y.k != 0}
		return dim{z.k, z.rows && z.k != 0}, true, nil
	}
	// Equal: N is at least 1, so k*N differs from any number of another sign.
	switch {
	case x.rows == y.rows:
		return boolDim(x.k == y.k), true, nil
	case x.rows && (x.k > 0 && y.k <= 0 || x.k < 0 && y.k >= 0), y.rows && (y.k > 0 && x.k <= 0 || y.k < 0 && x.k >= 0):
		return boolDim(false), true, nil
	}
	return dim{}, false, nil
}

func boolDim(b bool) dim {
	if b {
		return dim{1, false}
	}
	return dim{}
}

func whereDims(in []dims) (*dims, error) {
	cond, x, y := in[0], in[1], in[2]
	n := max(len(cond.d), len(x.d), len(y.d))
	out := dims{shape: []int{n}, d: make([]dim, n)}
	for i := range n {
		for _, s := range in {
			if len(s.shape) > 1 || len(s.d) != n && len(s.d) != 1 {
				return nil, nil
			}
		}
		c := cond.d[min(i, len(cond.d)-1)]
		if c.rows {
			return nil, nil
		}
		if out.d[i] = x.d[min(i, len(x.d)-1)]; c.k == 0 {
			out.d[i] = y.d[min(i, len(y.d)-1)]
		}
	}
	if len(cond.shape)+len(x.shape)+len(y.shape) == 0 {
		out.shape = []int{}
	}
	return &out, nil
}
