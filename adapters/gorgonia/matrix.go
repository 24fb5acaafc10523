package gorgonia

import (
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/mat"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// matrix is an input's memory.
type matrix struct {
	tensor *tensor.Dense
	f64    []float64 // one of the two
	f32    []float32
}

func newMatrix(shape tensor.Shape, t tensor.Dtype) *matrix {
	m := &matrix{}
	if t == tensor.Float32 {
		m.f32 = make([]float32, shape.TotalSize())
		m.tensor = tensor.New(tensor.WithShape(shape...), tensor.WithBacking(m.f32))
	} else {
		m.f64 = make([]float64, shape.TotalSize())
		m.tensor = tensor.New(tensor.WithShape(shape...), tensor.WithBacking(m.f64))
	}
	return m
}

func (m *matrix) set(i int, v float64) {
	if m.f32 != nil {
		m.f32[i] = float32(v)
	} else {
		m.f64[i] = v
	}
}

// copyRows copies the first n rows of v to rows at to at+n-1 of dst.
func copyRows(dst *mat.Dense, at int, v G.Value, n int) error {
	_, width := dst.Dims()
	x, err := rowMajor(v, n*width)
	if err != nil {
		return err
	}
	for r := range n {
		x.copyTo(dst.RawRowView(at+r), r*width)
	}
	return nil
}

// elements are a tensor's in row-major order.
type elements struct {
	f64 []float64
	f32 []float32
}

func (e elements) copyTo(dst []float64, from int) {
	if e.f64 != nil {
		copy(dst, e.f64[from:])
		return
	}
	for i := range dst {
		dst[i] = float64(e.f32[from+i])
	}
}

// rowMajor reads a value of at least n elements.
func rowMajor(v G.Value, n int) (elements, error) {
	t, ok := v.(*tensor.Dense)
	if !ok {
		return elements{}, fmt.Errorf("the value is a %T, not a tensor", v)
	}
	if t.RequiresIterator() || t.DataOrder().IsColMajor() {
		t = t.Materialize().(*tensor.Dense) // a transposed or sliced view
	}
	var e elements
	switch x := t.Data().(type) {
	case []float64:
		e.f64 = x
	case []float32:
		e.f32 = x
	default:
		return elements{}, fmt.Errorf("the tensor holds %T", x)
	}
	if have := len(e.f64) + len(e.f32); have < n {
		return elements{}, fmt.Errorf("the tensor has shape %v, and %d elements were expected", t.Shape(), n)
	}
	return e, nil
}

type nodes []*G.Node

func (n nodes) withoutNil() nodes {
	return slices.DeleteFunc(n, func(n *G.Node) bool { return n == nil })
}

// tapNodes are in the order of their names.
func tapNodes(n *Network) (out nodes) {
	for _, name := range slices.Sorted(maps.Keys(n.Taps)) {
		out = append(out, n.Taps[name])
	}
	return out
}
