package onnxfile

import (
	"fmt"

	"github.com/pho-go/pho/adapters/internal/onnxbasis"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// spline writes the columns of a smooth of one column, N x d.
func (w *writer) spline(name string, t *basis.SmoothTerm) (string, error) {
	e, err := basis.Express(t)
	if err != nil {
		return "", err
	}
	return w.splines.Times(name, e, nil)
}

// columns are the writer as bases see it: every name is new, and columns are float64.
type columns struct{ *writer }

func newSplines(w *writer) *onnxbasis.Writer { return onnxbasis.New(columns{w}, columns{w}) }

// newName is name or, if a tensor is called so, the first of name#2, name#3, ... that none is.
func (c columns) newName(name string) string {
	own := name
	for n := 2; c.b.Has(own); n++ {
		own = fmt.Sprintf("%s#%d", name, n)
	}
	return own
}

// Node adds a node.
func (c columns) Node(op, name string, inputs []string, attrs ...onnxpb.Attr) string {
	return c.node(op, c.newName(name), inputs, attrs...)
}

// Doubles adds a constant.
func (c columns) Doubles(name string, shape []int, values ...float64) string {
	name = c.newName(name)
	c.b.AddDouble(name, shape, values...)
	return name
}

// Ints adds a vector of integers.
func (c columns) Ints(name string, values ...int64) string {
	name = c.newName(name)
	c.b.AddInts(name, values...)
	return name
}

// Number is a column in float64.
func (c columns) Number(column string) (string, error) { return c.double(column), nil }

// Code is the place of each row's level among the levels, from 1; 0: none of them.
func (c columns) Code(of basis.Indicators) (string, error) {
	values := make([]float64, len(of.Levels))
	for i, level := range of.Levels {
		v, err := c.number(of.Column, level)
		if err != nil {
			return "", err
		}
		values[i] = v
	}
	return c.splines.Find(of.Column+".level", c.double(of.Column), values), nil
}
