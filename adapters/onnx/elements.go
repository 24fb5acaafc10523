package onnx

import (
	"strconv"
	"strings"
)

// Discovery works on one row: in every shape the batch axis counts as 1, so the
// flat index of an element is the same wherever the batch axis stands, and an
// operator that does not mix rows is an ordinary operator on these shapes.

// RowShape is the shape of one row of v, the batch axis kept with size 1.
func (v *Value) RowShape() []int {
	d := make([]int, len(v.Shape))
	for i, n := range v.Shape {
		d[i] = n
		if n == Batch {
			d[i] = 1
		}
	}
	return d
}

func rowMajor(d []int) []int {
	s := make([]int, len(d))
	p := 1
	for i := len(d) - 1; i >= 0; i-- {
		s[i] = p
		p *= d[i]
	}
	return s
}

// unravel writes the coordinates of flat index e in shape d to c.
func unravel(e int, d, c []int) {
	for i := len(d) - 1; i >= 0; i-- {
		c[i] = e % d[i]
		e /= d[i]
	}
}

// normalAxis maps an axis in [-rank, rank) to [0, rank).
func normalAxis(axis, rank int) (int, bool) {
	if axis < 0 {
		axis += rank
	}
	return axis, axis >= 0 && axis < rank
}

// broadcastIndex maps a flat index in shape out to the flat index of the element
// of an operand of shape in that is broadcast there.
func broadcastIndex(in, out []int) (func(e int) int, bool) {
	if len(in) > len(out) {
		return nil, false
	}
	pad := len(out) - len(in)
	for i, n := range in {
		if n != 1 && n != out[pad+i] {
			return nil, false
		}
	}
	switch Product(in) {
	case Product(out):
		return func(e int) int { return e }, true
	case 1:
		return func(int) int { return 0 }, true
	}
	stride := make([]int, len(out))
	for i, s := range rowMajor(in) {
		if in[i] != 1 {
			stride[pad+i] = s
		}
	}
	c := make([]int, len(out))
	return func(e int) int {
		unravel(e, out, c)
		j := 0
		for i, k := range c {
			j += k * stride[i]
		}
		return j
	}, true
}

// At is element i of a constant as a number.
func (t *Tensor) At(i int) float64 {
	if t.F != nil {
		return t.F[i]
	}
	return float64(t.I[i])
}

// AttrInt is an attribute, def if it is not given.
func (n *Node) AttrInt(name string, def int64) int64 {
	if a, ok := n.Attrs[name]; ok {
		return a.Int
	}
	return def
}

// AttrFloat is an attribute, def if it is not given.
func (n *Node) AttrFloat(name string, def float64) float64 {
	if a, ok := n.Attrs[name]; ok {
		return a.Float
	}
	return def
}

// Product of sizes that are known (at run time, or after the batch axis has
// been excluded).
func Product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Width is the number of elements that each row of v has.
func (v *Value) Width() int {
	n, _ := Elements(v.Shape)
	return n
}

// ShapeText writes a shape with N for the rows: [N 10].
func ShapeText(shape []int) string {
	var s []string
	for _, d := range shape {
		if d == Batch {
			s = append(s, "N")
		} else {
			s = append(s, strconv.Itoa(d))
		}
	}
	return "[" + strings.Join(s, " ") + "]"
}
