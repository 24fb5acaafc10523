package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/pho-go/pho/internal/kernel"
)

// selectOps move or repeat elements.
func selectOps[T kernel.Float](t table[T]) {
	t["Transpose"] = operator[T]{min: 1, max: 1, outputs: 1, infer: inferTranspose, compile: compileTranspose[T]}
	t["Concat"] = operator[T]{min: 1, max: -1, outputs: 1, infer: inferConcat, compile: compileConcat[T]}
	t["Slice"] = operator[T]{min: 1, max: 5, outputs: 1, shapes: []int{1, 2}, infer: inferSlice, compile: compileSlice[T]}
	t["Gather"] = operator[T]{min: 2, max: 2, outputs: 1, infer: inferGather, compile: compileGather[T]}
	t["Split"] = operator[T]{min: 1, max: 2, outputs: -1, infer: inferSplit, compile: compileSplit[T]}
	t["Expand"] = operator[T]{min: 2, max: 2, outputs: 1, shapes: []int{1}, infer: inferExpand, compile: compileExpand[T]}
	t["Tile"] = operator[T]{min: 2, max: 2, outputs: 1, infer: inferTile, compile: compileTile[T]}
}

// strided copies src into dst, a dense tensor of shape size, reading with the
// given element strides from the given start.
func strided[E any](dst, src []E, start int, size, stride []int) {
	if product(size) == 0 {
		return
	}
	if len(size) == 0 {
		dst[0] = src[start]
		return
	}
	var at [4 * maxRank]int // einsum has more labels than a tensor has axes
	last := len(size) - 1
	for last > 0 && size[last] == 1 { // a column of a matrix is one run
		last--
	}
	n, step := size[last], stride[last]
	for o := 0; ; o += n {
		if step == 1 {
			copy(dst[o:o+n], src[start:start+n])
		} else {
			for i, p := 0, start; i < n; i, p = i+1, p+step {
				dst[o+i] = src[p]
			}
		}
		i := last - 1
		for ; i >= 0; i-- {
			at[i]++
			start += stride[i]
			if at[i] < size[i] {
				break
			}
			start -= stride[i] * size[i]
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// denseStrides appends the element strides of a dense tensor.
func denseStrides(dst []int, shape []int) []int {
	n := len(shape)
	dst = slices.Grow(dst, n)[:n]
	s := 1
	for i := n - 1; i >= 0; i-- {
		dst[i] = s
		s *= shape[i]
	}
	return dst
}

func stridedTensor[T kernel.Float](out, in tensor[T], start int, stride []int) {
	if out.f != nil {
		strided(out.f, in.f, start, out.shape, stride)
	} else {
		strided(out.i, in.i, start, out.shape, stride)
	}
}

func permutation(n *Node) ([]int, error) {
	rank := len(n.Inputs[0].Shape)
	perm := make([]int, rank)
	a, ok := n.Attrs["perm"]
	if !ok {
		for i := range perm {
			perm[i] = rank - 1 - i
		}
		return perm, nil
	}
	set, err := axisSet(a.Ints, rank)
	if err != nil || len(a.Ints) != rank || slices.Contains(set, false) {
		return nil, fmt.Errorf("perm %v is not a permutation of %d axes", a.Ints, rank)
	}
	for i, p := range a.Ints {
		perm[i], _ = axis(p, rank)
	}
	return perm, nil
}

func inferTranspose(c *nodeCheck) error {
	perm, err := permutation(c.Node)
	if err != nil {
		return err
	}
	out := make([]int, len(perm))
	for i, p := range perm {
		out[i] = c.Inputs[0].Shape[p]
	}
	return c.set(0, c.Inputs[0].Type, out)
}

func compileTranspose[T kernel.Float](n *Node) (step[T], error) {
	perm, err := permutation(n)
	return func(x *exec[T]) error {
		var b1, b2 [maxRank]int
		dense, stride := denseStrides(b1[:0], x.in[0].shape), b2[:len(perm)]
		for i, p := range perm {
			stride[i] = dense[p]
		}
		stridedTensor(x.out[0], x.in[0], 0, stride)
		return nil
	}, err
}

func inferConcat(c *nodeCheck) error {
	if err := c.same(); err != nil {
		return err
	}
	first := c.Inputs[0].Shape
	at, err := axis(c.attrInt("axis", 1), len(first))
	if err != nil {
		return err
	}
	out := slices.Clone(first)
	for i, v := range c.Inputs {
		if v == nil {
			return fmt.Errorf("input %d is left out", i)
		}
		if len(v.Shape) != len(first) {
			return fmt.Errorf("inputs have shapes %s and %s", showShape(first), showShape(v.Shape))
		}
		for j, d := range v.Shape {
			if j == at {
				if d == Batch || first[j] == Batch {
					return fmt.Errorf("mixes rows: it concatenates along the batch axis %d", at)
				}
				if i > 0 {
					out[j] += d
				}
				if _, ok := elements(out); !ok {
					return fmt.Errorf("the output overflows")
				}
				continue
			}
			if d == first[j] {
				continue
			}
			return fmt.Errorf("inputs have shapes %s and %s, which differ outside axis %d", showShape(first), showShape(v.Shape), at)
		}
	}
	return c.set(0, c.Inputs[0].Type, out)
}

func compileConcat[T kernel.Float](n *Node) (step[T], error) {
	at, err := axis(n.attrInt("axis", 1), len(n.Inputs[0].Shape))
	return func(x *exec[T]) error {
		out := x.out[0]
		outer, width, from := product(out.shape[:at]), product(out.shape[at:]), 0
		for _, in := range x.in {
			w := product(in.shape[at:])
			for r := range outer {
				if out.f != nil {
					copy(out.f[r*width+from:], in.f[r*w:(r+1)*w])
				} else {
					copy(out.i[r*width+from:], in.i[r*w:(r+1)*w])
				}
			}
			from += w
		}
		return nil
	}, err
}

func inferSplit(c *nodeCheck) error {
	in := c.Inputs[0]
	at, err := axis(c.attrInt("axis", 0), len(in.Shape))
	if err != nil {
		return err
	}
	if in.Shape[at] == Batch {
		return fmt.Errorf("mixes rows: it splits the batch axis %d", at)
	}
	sizes := c.Attrs["split"].Ints
	if c.has(1) {
		if sizes, err = c.ints(1); err != nil {
			return err
		}
	}
	if sizes == nil {
		n := len(c.Outputs)
		chunk := (in.Shape[at] + n - 1) / n
		for left := in.Shape[at]; len(sizes) < n; left -= chunk {
			sizes = append(sizes, int64(max(min(chunk, left), 0)))
		}
	}
	if len(sizes) != len(c.Outputs) {
		return fmt.Errorf("splits into %d parts but has %d outputs", len(sizes), len(c.Outputs))
	}
	left := int64(in.Shape[at])
	for i, s := range sizes {
		if s < 0 || s > left {
			return fmt.Errorf("parts %v do not fit axis %d of size %d", sizes, at, in.Shape[at])
		}
		left -= s
		out := slices.Clone(in.Shape)
		out[at] = int(s)
		if err := c.set(i, in.Type, out); err != nil {
			return err
		}
	}
	if left != 0 {
		return fmt.Errorf("parts %v do not fill axis %d of size %d", sizes, at, in.Shape[at])
	}
	c.Node.split = sizes
	return nil
}

func compileSplit[T kernel.Float](n *Node) (step[T], error) {
	at, err := axis(n.attrInt("axis", 0), len(n.Inputs[0].Shape))
	return func(x *exec[T]) error {
		in := x.in[0]
		outer, inner, width := product(in.shape[:at]), product(in.shape[at+1:]), product(in.shape[at:])
		from := 0
		for i, s := range n.split {
			w := int(s) * inner
			if n.Outputs[i] != nil {
				for r := range outer {
					if in.f != nil {
						copy(x.out[i].f[r*w:(r+1)*w], in.f[r*width+from:])
					} else {
						copy(x.out[i].i[r*w:(r+1)*w], in.i[r*width+from:])
					}
				}
			}
			from += w
		}
		return nil
	}, err
}

// targetShape reads input i as sizes in which N may stand for the batch axis.
func (c *nodeCheck) targetShape(i int) ([]int, error) {
	s, ok := c.dimsOf(c.Inputs[i])
	if !ok || len(s.shape) > 1 {
		return nil, fmt.Errorf("the shape (%q) must be known at load", c.Inputs[i].Name)
	}
	if len(s.d) > maxRank {
		return nil, fmt.Errorf("a shape of %d axes; at most %d are supported", len(s.d), maxRank)
	}
	out := []int{}
	for _, d := range s.d {
		switch {
		case d.rows && d.k == 1:
			out = append(out, Batch)
		case d.rows:
			return nil, fmt.Errorf("mixes rows: an axis of %d times the number of rows", d.k)
		case d.k < 0 || d.k > 1<<40:
			return nil, fmt.Errorf("impossible size %d", d.k)
		default:
			out = append(out, int(d.k))
		}
	}
	return out, nil
}

func inferExpand(c *nodeCheck) error {
	target, err := c.targetShape(1)
	if err != nil {
		return err
	}
	out, err := broadcast(c.Inputs[0].Shape, target)
	if err != nil {
		return err
	}
	return c.set(0, c.Inputs[0].Type, out)
}

func compileExpand[T kernel.Float](*Node) (step[T], error) {
	return func(x *exec[T]) error {
		var b1, b2 [maxRank]int
		in, out := x.in[0], x.out[0]
		dense, stride := denseStrides(b1[:0], in.shape), b2[:len(out.shape)]
		for i := range stride {
			stride[i] = 0
			if j := i - len(out.shape) + len(in.shape); j >= 0 && in.shape[j] != 1 {
				stride[i] = dense[j]
			}
		}
		stridedTensor(out, in, 0, stride)
		return nil
	}, nil
}

func inferTile(c *nodeCheck) error {
	repeats, err := c.ints(1)
	if err != nil {
		return err
	}
	in := c.Inputs[0].Shape
	if len(repeats) != len(in) {
		return fmt.Errorf("%d repeats for %d axes", len(repeats), len(in))
	}
	out := slices.Clone(in)
	for i, r := range repeats {
		switch {
		case in[i] == Batch && r != 1:
			return fmt.Errorf("mixes rows: it repeats the batch axis %d", i)
		case r < 0 || r > 1<<40:
			return fmt.Errorf("impossible repeat %d", r)
		case in[i] != Batch:
			if r != 0 && in[i] > math.MaxInt/int(r) {
				return fmt.Errorf("the output overflows")
			}
			out[i] *= int(r)
		}
	}
	return c.set(0, c.Inputs[0].Type, out)
}

func compileTile[T kernel.Float](*Node) (step[T], error) {
	return func(x *exec[T]) error {
		in, out := x.in[0], x.out[0]
		var at [maxRank]int
		var buf [maxRank]int
		dense := denseStrides(buf[:0], in.shape)
		for o := range product(out.shape) {
			from := 0
			for i := range dense {
				from += at[i] % in.shape[i] * dense[i]
			}
			if out.f != nil {
				out.f[o] = in.f[from]
			} else {
				out.i[o] = in.i[from]
			}
			for i := len(dense) - 1; i >= 0; i-- {
				if at[i]++; at[i] < out.shape[i] {
					break
				}
				at[i] = 0
			}
		}
		return nil
	}, nil
}
