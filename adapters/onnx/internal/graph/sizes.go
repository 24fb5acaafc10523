package graph

import (
	"fmt"
	"slices"
)

// Size is an integer known at load but for the number of rows N: K, or K*N if Rows.
type Size struct {
	K    int64
	Rows bool
}

func (s Size) String() string {
	if s.Rows {
		return fmt.Sprintf("%dN", s.K)
	}
	return fmt.Sprint(s.K)
}

// MaxSizes bounds the integer tensors that are followed: shapes are short.
const MaxSizes = 4096

// Sizes is an integer tensor of such numbers.
type Sizes struct {
	Type  DType // of an operator's result; 0: Int64
	Shape []int
	D     []Size
}

// SizesOf reads a value as numbers that may depend on N.
func (c *checker) SizesOf(v *Value) (Sizes, bool) {
	if v == nil {
		return Sizes{}, false
	}
	if s, ok := c.sizes[v]; ok {
		return s, true
	}
	return SizesOfConstant(v)
}

// SizesOfConstant reads a constant as numbers that do not depend on N; false if it is
// none, or too long.
func SizesOfConstant(v *Value) (Sizes, bool) {
	if v.Const == nil || v.Type.Floating() || v.Type == String || len(v.Const.I) > MaxSizes {
		return Sizes{}, false
	}
	s := Sizes{Shape: v.Shape, D: make([]Size, len(v.Const.I))}
	for i, k := range v.Const.I {
		s.D[i].K = k
	}
	return s, true
}

// followSizes evaluates the nodes exporters write to rebuild a shape around the
// batch axis (Shape -> Gather -> Concat -> Reshape), exactly and for every
// number of rows at once. done: the outputs are known; nothing is left to run.
func (c *Check) followSizes(op *Operator) (done bool, err error) {
	if op.Sizes == nil || op.ReadsShape && c.Inputs[0].Const != nil {
		return false, nil
	}
	in := make([]Sizes, len(c.Inputs))
	if !op.ReadsShape {
		var ok bool
		if in, ok = c.sizedInputs(op); !ok {
			return false, nil
		}
	}
	out, err := op.Sizes(c, in)
	if err != nil || out == nil {
		return false, err
	}
	if out.Type == 0 && !op.ReadsShape {
		if out.Type = c.Inputs[0].Type; out.Type == Bool { // Where's condition
			out.Type = c.Inputs[1].Type
		}
	}
	return true, c.setSizes(*out)
}

// sizedInputs reads all inputs as sizes; ok is false if none depends on N or one is not
// known.
func (c *Check) sizedInputs(op *Operator) (in []Sizes, ok bool) {
	in = make([]Sizes, len(c.Inputs))
	known := true
	for i, v := range c.Inputs {
		if v == nil {
			continue
		}
		if slices.Contains(op.TypeInputs, i) {
			continue
		}
		_, depends := c.sizes[v]
		ok = ok || depends
		s, is := c.SizesOf(v)
		in[i], known = s, known && is
	}
	return in, ok && known
}

// setSizes records a node's output; without N in it, it is a constant.
func (c *Check) setSizes(s Sizes) error {
	v := c.Outputs[0]
	if v == nil {
		return nil
	}
	t := s.Type
	if s.Type = 0; t == 0 {
		t = Int64
	}
	v.Type, v.Shape, v.Producer = t, s.Shape, nil
	if slices.ContainsFunc(s.D, func(d Size) bool { return d.Rows }) {
		c.sizes[v] = s
		return nil
	}
	if err := c.budget.take(len(s.D), fmt.Sprintf("folded constant %q", v.Name), s.Shape); err != nil {
		return err
	}
	v.Const = &Tensor{Type: t, Shape: s.Shape, I: make([]int64, len(s.D))}
	for i, d := range s.D {
		v.Const.I[i] = d.K
	}
	return nil
}
