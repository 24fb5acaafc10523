package operator

import "github.com/pho-go/pho/adapters/onnx/internal/graph"

// Discovery works on one row: in every shape the batch axis counts as 1, so the
// flat index of an element is the same wherever the batch axis stands, and an
// operator that does not mix rows is an ordinary operator on these shapes.

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
	switch graph.Product(in) {
	case graph.Product(out):
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
